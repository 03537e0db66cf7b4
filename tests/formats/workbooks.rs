//! Workbooks: invoices that mappings read, and exports that were saved as one.

use std::fs;
use std::io::Cursor;
use std::sync::{Arc, Mutex};

use gpuledger::billing::mapping::{self, Mapping};
use gpuledger::billing::{self, Charge, ReadAs, Refusal, Rejection};

use super::{Reading, read, read_path};
use crate::support::workbooks::{Cell, Sheet, parts, texts, workbook, workbook_of_1904, zip};
use crate::support::{containers, files, number};

const GERMAN: &str = r#"
name = "rechenzentrum"

[file]
header-row = 4
columns = ["Datum", "Leistung", "Menge", "Einheit", "Betrag", "Kostenstelle"]

[period]
start = "Datum"
length = "month"

[numbers]
decimal = "comma"

[fields]
provider = { text = "Rechenzentrum Nord" }
account = { text = "2026" }
cost = "Betrag"
currency = { text = "EUR" }
description = { column = "Leistung" }
accelerator = { column = "Leistung" }
quantity = "Menge"
unit = { column = "Einheit" }

[tags]
cost-center = "Kostenstelle"

[[leave-out]]
column = "Datum"
is = "Summe*"
is-total = true
"#;

fn read_as(text: &str) -> ReadAs {
    ReadAs::any().with_mappings(Arc::from([mapping::read_by(Mapping::parse(text).unwrap(), 1)]))
}

fn read_by(file: Vec<u8>, read_as: &ReadAs) -> Result<Reading, Refusal> {
    read(billing::open("invoice.xlsx", Cursor::new(file), read_as)?)
}

fn refused(file: Vec<u8>) -> String {
    read_by(file, &ReadAs::any()).err().unwrap().to_string()
}

/// An invoice with titles, days of 2026-09 as numbers, a blank row and a total that a formula sums up.
fn invoice() -> Sheet {
    use Cell::{Date, Formula, Nothing, Number};
    let row = |day, what: &str, hours, cost, center: &str| {
        vec![day, what.into(), Number(hours), "Stunden".into(), cost, center.into()]
    };
    Sheet {
        name: "Rechnung",
        rows: vec![
            (1, texts(&["Rechenzentrum Nord GmbH"])),
            (2, texts(&["Rechnung", "2026-0917"])),
            (4, texts(&["Datum", "Leistung", "Menge", "Einheit", "Betrag", "Kostenstelle"])),
            (5, row(Date("46266"), "H100", "720", Number("14400.5"), "4711")),
            (6, row(Nothing, "A100", "1.234", Formula("0.1"), "")),
            (9, row(Date("46280"), "L40S", "0.5", "1.234,50 €".into(), "4712")),
            (10, vec!["Summe netto".into(), Nothing, Nothing, Nothing, Formula("15635.1")]),
        ],
        merged: vec!["A1:F1", "A5:A6", "F5:F8", "B9:C9"],
        ..Sheet::default()
    }
}

fn costs(reading: &Reading) -> Vec<String> {
    let line = |charge: &Charge| {
        let hours = charge.consumed_quantity.unwrap_or_default();
        let center = charge.tags.get("cost-center").unwrap_or("none").to_owned();
        format!("{} {} {hours} {center}", charge.period.start.date_naive(), charge.billed_cost)
    };
    reading.charges.iter().map(line).collect()
}

const COSTS: [&str; 3] =
    ["2026-09-01 14400.5 720 4711", "2026-09-01 0.1 1.234 4711", "2026-09-15 1234.50 0.5 4712"];

#[test]
fn an_invoice_with_titles_dates_formulas_and_merged_cells_is_read_by_its_mapping() {
    let reading = read_by(workbook(&[invoice()]), &read_as(GERMAN)).unwrap();
    assert_eq!(reading.rejected, []);
    assert_eq!(costs(&reading), COSTS);
    assert_eq!(reading.rows, 4, "blank rows are none");
    assert_eq!(reading.notes, ["The file’s own total, 15635.1, is the sum of its rows."]);
}

#[test]
fn days_that_are_counted_from_1904_on_are_the_same_days() {
    let mut sheet = invoice();
    for (_, cells) in &mut sheet.rows {
        match &mut cells[0] {
            Cell::Date(days @ "46266") => *days = "44804",
            Cell::Date(days) => *days = "44818",
            _ => {}
        }
    }
    assert_eq!(costs(&read_by(workbook_of_1904(&[sheet]), &read_as(GERMAN)).unwrap()), COSTS);
}

#[test]
fn amounts_that_are_merged_over_rows_count_once() {
    for cost in [Cell::Number("14400.5"), "14.400,50 €".into()] {
        let mut sheet = invoice();
        sheet.rows[3].1[4] = cost;
        sheet.rows[4].1[4] = Cell::Nothing;
        sheet.merged.push("E5:E6");
        let reading = read_by(workbook(&[sheet]), &read_as(GERMAN)).unwrap();
        let [rejected] = reading.rejected.as_slice() else { panic!("{:?}", reading.rejected) };
        assert_eq!(
            (rejected.row, rejected.column.as_str(), rejected.found.as_str()),
            (2, "Betrag", "nothing in row 6 of the sheet")
        );
    }
}

#[test]
fn quantities_that_are_merged_over_rows_count_once() {
    for quantity in [Cell::Number("720"), "720".into(), "720,0".into()] {
        let mut sheet = invoice();
        sheet.rows[3].1[2] = quantity;
        sheet.rows[4].1[2] = Cell::Nothing;
        sheet.merged.push("C5:C6");
        let reading = read_by(workbook(&[sheet]), &read_as(GERMAN)).unwrap();
        let hours: Vec<_> = reading.charges.iter().map(|charge| charge.consumed_quantity).collect();
        assert_eq!(reading.rejected, []);
        assert_eq!(hours, [Some(number("720")), None, Some(number("0.5"))]);
    }
}

#[test]
fn merged_cells_that_would_fill_memory_or_time_are_refused() {
    let with_merges = |merges: &str| {
        let mut parts = parts(&[invoice()], false);
        let part = parts.iter_mut().find(|(part, _)| part == "xl/worksheets/sheet1.xml").unwrap();
        let text = String::from_utf8(part.1.clone()).unwrap();
        let end = text.find("<mergeCell ").unwrap();
        part.1 = format!("{}{merges}{}", &text[..end], &text[end..]).into_bytes();
        zip(&parts)
    };
    let many = "<mergeCell ref=\"A20:A21\"/>".repeat(300_000);
    let refusal = refused(with_merges(&many));
    assert!(
        refusal.contains("a workbook whose part xl/worksheets/sheet1.xml has more than 262144 merged cells"),
        "{refusal}"
    );
    let few = "<mergeCell ref=\"C6:C20\"/><mergeCell ref=\"C8:C9\"/>";
    let refusal = read_by(with_merges(few), &read_as(GERMAN)).err().unwrap().to_string();
    assert!(refusal.contains("a damaged workbook (merged cells that overlap at C8)"), "{refusal}");
    // A text of a few bytes in the file that would be repeated to a gigabyte.
    let mut sheet = invoice();
    sheet.rows.truncate(4);
    sheet.rows[3].1[1] = Cell::Text("H100 ".repeat(8_000));
    sheet.rows.extend((6..30_000).map(|number| {
        (number, vec![Cell::Date("46266"), Cell::Nothing, Cell::Number("1"), "h".into(), Cell::Number("1")])
    }));
    sheet.merged = vec!["B5:B30000"];
    let refusal = read_by(workbook(&[sheet]), &read_as(GERMAN)).err().unwrap().to_string();
    assert!(refusal.contains("merged cells whose texts repeat to more than"), "{refusal}");
}

#[test]
fn a_formula_that_failed_rejects_its_row_with_the_error() {
    for (column, name) in [(0, "Datum"), (2, "Menge"), (4, "Betrag")] {
        for error in ["#REF!", "#N/A", "#DIV/0!"] {
            let mut sheet = invoice();
            sheet.rows[5].1[column] = Cell::Error(error);
            let reading = read_by(workbook(&[sheet]), &read_as(GERMAN)).unwrap();
            let [rejected] = reading.rejected.as_slice() else { panic!("{:?}", reading.rejected) };
            assert_eq!((rejected.row, rejected.column.as_str()), (3, name));
            assert_eq!(rejected.found, format!("“{error}” in row 9 of the sheet"));
        }
    }
}

#[test]
fn the_sheet_is_the_one_that_is_named_or_the_first_with_a_table() {
    let note = Sheet { name: "Notes", rows: vec![(1, texts(&["Only words"]))], ..Sheet::default() };
    let hidden = Sheet {
        name: "Old",
        is_hidden: true,
        rows: vec![(1, texts(&["a", "b"])), (2, texts(&["1", "2"]))],
        ..Sheet::default()
    };
    let other = Sheet { is_hidden: false, ..hidden.clone() };
    let file = |before: &[Sheet]| workbook(&[before, &[invoice()]].concat());
    assert_eq!(costs(&read_by(file(&[note.clone(), hidden]), &read_as(GERMAN)).unwrap()), COSTS);
    let refusal = read_by(file(std::slice::from_ref(&other)), &read_as(GERMAN)).err().unwrap().to_string();
    assert!(refusal.contains("columns of no billing export that is known (a, b)"), "{refusal}");
    let named = read_as(&GERMAN.replacen("[file]", "[file]\nsheet = \"Rechnung\"", 1));
    assert_eq!(costs(&read_by(file(&[other]), &named).unwrap()), COSTS);
    assert!(refused(workbook(&[note])).contains("a workbook without a table"));
}

#[test]
fn columns_that_changed_are_told() {
    let mut sheet = invoice();
    sheet.rows[2].1[5] = "Projekt".into();
    let refusal = read_by(workbook(&[sheet]), &read_as(GERMAN)).err().unwrap().to_string();
    assert!(refusal.contains("most columns of the mapping rechenzentrum"), "{refusal}");
}

#[test]
fn cells_beside_the_table_are_no_silent_loss() {
    let mut sheet = invoice();
    sheet.rows[5].1.push("verified".into());
    let reading = read_by(workbook(&[sheet]), &read_as(GERMAN)).unwrap();
    let [rejected] = reading.rejected.as_slice() else { panic!("{:?}", reading.rejected) };
    assert_eq!((rejected.row, rejected.found.as_str()), (3, "7 fields in row 9 of the sheet"));
}

/// Our own exports of FOCUS, as a workbook of texts.
#[test]
fn an_export_as_a_workbook_is_the_export_as_csv() {
    let folder = files::fixture("exports/focus");
    let mut tried = 0;
    for case in fs::read_dir(folder).unwrap() {
        let path = case.unwrap().path().join("input.csv");
        let Some(objects) = containers::objects(&fs::read(&path).unwrap()) else { continue };
        let Some(first) = objects.first() else { continue };
        let of_csv = read_path(&path).unwrap();
        let names = texts(&first.keys().map(String::as_str).collect::<Vec<_>>());
        let rows = objects.iter().map(|row| {
            let cells: Vec<&str> = row.values().map(|cell| cell.as_str().unwrap_or_default()).collect();
            texts(&cells)
        });
        let rows = std::iter::once(names).chain(rows).zip(1..).map(|(cells, number)| (number, cells));
        let sheet = Sheet { name: "Data", rows: rows.collect(), ..Sheet::default() };
        let reading = read_by(workbook(&[sheet]), &ReadAs::any()).unwrap();
        let charges = |reading: &Reading| -> Vec<String> {
            let plain = |charge: &Charge| Charge { key_cells: Vec::new(), ..charge.clone() };
            reading.charges.iter().map(|charge| format!("{:?}", plain(charge))).collect()
        };
        assert_eq!(reading.format, of_csv.format);
        assert_eq!(charges(&reading), charges(&of_csv), "{}", path.display());
        // Beside what was found, those of a workbook name the row of the sheet: the header is the first.
        let in_sheet = |mut rejection: Rejection| {
            rejection.found = format!("{} in row {} of the sheet", rejection.found, rejection.row + 1);
            rejection
        };
        let rejected: Vec<_> = of_csv.rejected.into_iter().map(in_sheet).collect();
        assert_eq!((reading.rows, reading.rejected), (of_csv.rows, rejected), "{}", path.display());
        tried += 1;
    }
    assert!(tried > 2, "fixtures are found");
}

#[test]
fn rows_are_found_again_by_their_number() {
    let mut charge = Charge::default();
    let file = workbook(&[invoice()]);
    let mut export = billing::open_at("a.xlsx", Cursor::new(file), 3, &read_as(GERMAN)).unwrap();
    assert_eq!(export.next(&mut charge).unwrap(), Some(billing::Step::Charge));
    assert_eq!((export.row(), export.position(), charge.billed_cost), (3, None, number("1234.50")));
    let original = export.original();
    assert_eq!(original[0], ("Datum".to_owned(), "2026-09-15".to_owned()));
    assert_eq!(original[2], ("Menge".to_owned(), "0,5".to_owned()));
}

#[test]
fn a_sheet_of_a_million_rows_hands_out_those_with_a_value() {
    let mut sheet = invoice();
    let far = sheet.rows[5].1.clone();
    sheet.rows.push((1_000_000, far));
    let reading = read_by(workbook(&[sheet]), &read_as(GERMAN)).unwrap();
    assert_eq!(reading.rows, 5);
    // Rows that have formats and no values, as a sheet has that was formatted to its end.
    let mut sheet = invoice();
    sheet.rows.extend((11..100_000).map(|number| (number, vec![Cell::Nothing])));
    assert_eq!(read_by(workbook(&[sheet]), &read_as(GERMAN)).unwrap().rows, 4);
}

#[test]
fn many_rows_come_in_order() {
    let row =
        || vec![Cell::Time("46266.5"), "H100".into(), Cell::Number("1"), "h".into(), Cell::Number("0.25")];
    let mut sheet = invoice();
    sheet.rows.truncate(3);
    sheet.rows.extend((5..20_005).map(|number| (number, row())));
    let reading = read_by(workbook(&[sheet]), &read_as(GERMAN)).unwrap();
    assert_eq!((reading.rows, reading.billed()), (20_000, number("5000")));
}

#[test]
fn the_whole_file_is_kept() {
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (file, kept) = (workbook(&[invoice()]), Kept::default());
    let export =
        billing::open_with_sink("a.xlsx", Cursor::new(file.clone()), &read_as(GERMAN), kept.clone()).unwrap();
    read(export).unwrap();
    assert!(*kept.0.lock().unwrap() == file);
    assert!(file.starts_with(billing::WORKBOOK));
}

#[test]
fn workbooks_that_would_fill_the_memory_are_refused() {
    let with = |name: &str, content: Vec<u8>| {
        let mut parts = parts(&[invoice()], false);
        parts.retain(|(part, _)| part != name);
        parts.push((name.to_owned(), content));
        zip(&parts)
    };
    // As the table of contents has it, without the work of packing so much.
    let stated = |name: &str, bytes: u32, says: u32| {
        let (mut file, bytes) = (with(name, vec![b' '; bytes as usize]), bytes.to_le_bytes());
        while let Some(at) = file.windows(4).position(|found| found == bytes) {
            file[at..at + 4].copy_from_slice(&says.to_le_bytes());
        }
        refused(file)
    };
    for (name, says) in [
        ("xl/sharedStrings.xml", 65 << 20),
        ("xl/sharedStrings.xml", 20 << 20),
        ("xl/styles.xml", 9 << 20),
        ("xl/worksheets/sheet1.xml", 600 << 20),
    ] {
        let bomb = stated(name, 123_457, says);
        assert!(bomb.contains(&format!("a zip bomb inside: {name} unpacks from")), "{bomb}");
    }
    // It says less than there is.
    let refusal = stated("xl/worksheets/sheet1.xml", 4_000_003, 1000);
    assert!(refusal.contains("content that unpacks from"), "{refusal}");
    let refusal = stated("xl/worksheets/sheet1.xml", 300_003, 1000);
    assert!(refusal.contains("damaged zip data (300003 bytes instead of 1000"), "{refusal}");
    for count in ["99999999999", "18446744073709551615", "99999999999999999999999999"] {
        let texts = format!("<sst uniqueCount = '{count}'><si><t>a</t></si></sst>");
        let refusal = refused(with("xl/sharedStrings.xml", texts.into_bytes()));
        assert!(refusal.contains("more texts than fit into it"), "{refusal}");
    }
    let utf_16 = "<sst/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(refused(with("xl/sharedStrings.xml", utf_16)).contains("not in UTF-8"));
}

#[test]
fn workbooks_with_a_password_and_other_documents_are_refused_by_name() {
    let mut encrypted = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    encrypted.resize(4096, 0);
    encrypted.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    assert!(refused(encrypted).contains("a workbook with a password, or an old Excel workbook"));
    let binary = [("[Content_Types].xml", ""), ("xl/workbook.bin", "")];
    let binary = binary.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    assert!(refused(zip(&binary)).contains("an Office document that is no .xlsx workbook"));
}

#[test]
fn damaged_workbooks_end_with_a_reason() {
    let good = workbook(&[invoice()]);
    for at in (0..good.len()).step_by(101) {
        let mut damaged = good.clone();
        damaged[at] ^= 0x55;
        // Whatever is made of it, nothing panics.
        let _ = read_by(damaged, &read_as(GERMAN));
        let _ = read_by(good[..at].to_vec(), &read_as(GERMAN));
    }
    for (name, from, to) in [
        ("xl/worksheets/sheet1.xml", "A5", "A9999999"),
        ("xl/worksheets/sheet1.xml", "A5", "ZZZZZZZZZZZ5"),
        ("xl/worksheets/sheet1.xml", "A5", "5"),
        ("xl/worksheets/sheet1.xml", "<v>46266</v>", "<v>46266"),
        ("xl/worksheets/sheet1.xml", "</sheetData>", ""),
        ("xl/worksheets/sheet1.xml", "</row><row r=\"6\">", "</row><row r=\"6\"><c r=\"A3\"><v>1</v></c>"),
        ("xl/_rels/workbook.xml.rels", "rId1", "rId9"),
    ] {
        let mut parts = parts(&[invoice()], false);
        let part = parts.iter_mut().find(|(part, _)| part == name).unwrap();
        part.1 = String::from_utf8(part.1.clone()).unwrap().replacen(from, to, 1).into_bytes();
        let refusal = read_by(zip(&parts), &read_as(GERMAN)).err().unwrap_or_else(|| panic!("{to}"));
        assert!(refusal.found.starts_with("a damaged workbook ("), "{to}: {refusal}");
    }
}
