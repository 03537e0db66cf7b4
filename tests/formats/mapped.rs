//! Invoices that no format knows, read by mappings.

use std::io::Cursor;
use std::sync::Arc;

use gpuledger::accelerator;
use gpuledger::billing::mapping::{self, Draft, Mapping, PricedBy, Said, Use};
use gpuledger::billing::{self, ChargeCategory, ReadAs, Refusal};

use super::{Reading, read};
use crate::support::{containers, files, number};

const WEEKLY: &str = include_str!("../fixtures/invoices/lambda-weekly.toml");

const GERMAN: &str = include_str!("../fixtures/invoices/rechnung.toml");

const RESELLER: &str = include_str!("../fixtures/invoices/reseller.toml");

fn mappings() -> ReadAs {
    let read_by = |text| mapping::read_by(Mapping::parse(text).unwrap(), 1);
    ReadAs::any()
        .with_mappings([WEEKLY, GERMAN, RESELLER].map(read_by).into_iter().collect::<Vec<_>>().into())
}

fn read_text(text: impl Into<Vec<u8>>) -> Result<Reading, Refusal> {
    read(billing::open("invoice.csv", Cursor::new(text.into()), &mappings())?)
}

fn invoice(name: &str) -> String {
    std::fs::read_to_string(files::fixture(&format!("invoices/{name}"))).unwrap()
}

/// Month, category and cost of each charge.
fn charges(reading: &Reading) -> Vec<String> {
    let line = |charge: &billing::Charge| {
        format!("{} {} {}", charge.billing_month(), charge.key.category.as_str(), charge.billed_cost)
    };
    reading.charges.iter().map(line).collect()
}

/// Accelerator-hours of all charges.
fn accelerator_hours(reading: &Reading) -> gpuledger::money::Decimal {
    let hours = reading.charges.iter().filter(|charge| charge.is_metered).filter_map(|charge| {
        let found = accelerator::recognize(&charge.key)?;
        Some(charge.consumed_quantity?.times(found.per_unit.parts()).times(found.seconds_per_unit.into()))
    });
    accelerator::accelerator_hours(hours.sum(), 6).normalize()
}

#[test]
fn weeks_are_spread_over_months_and_tax_is_a_charge_of_its_own() {
    let reading = read_text(invoice("lambda-weekly.csv")).unwrap();
    assert_eq!((reading.format.as_str(), reading.rows), ("lambda-weekly@1", 4));
    assert_eq!(reading.rejected, []);
    assert_eq!(
        charges(&reading),
        [
            "2026-09 Usage 3827.20",
            "2026-09 Tax 306.18",
            "2026-09 Usage 42.00",
            "2026-09 Tax 3.36",
            "2026-09 Usage 1722.24",
            "2026-10 Usage 2296.32",
            "2026-09 Tax 137.77714286",
            "2026-10 Tax 183.70285714",
            "2026-09 Usage 6.75",
            "2026-10 Usage 9",
            "2026-09 Tax 0.54",
            "2026-10 Tax 0.72",
        ]
    );
    assert_eq!(reading.billed(), number("8535.79"), "as the file sums to");
    let usage = &reading.charges[0];
    assert_eq!((usage.key.provider.as_str(), usage.key.billing_account.as_str()), ("Lambda", "default"));
    assert_eq!((usage.invoice_id.as_str(), usage.tags.get("project")), ("INV-2041", Some("vision")));
    let tax = &reading.charges[1];
    assert_eq!((tax.key.instance_type.as_str(), tax.consumed_quantity, tax.is_metered), ("", None, false));
}

#[test]
fn titles_decimal_commas_and_totals_of_a_german_invoice_are_understood() {
    let reading = read_text(invoice("rechnung.csv")).unwrap();
    assert_eq!(reading.rejected, []);
    assert_eq!(
        charges(&reading),
        ["2026-09 Usage 14400.00", "2026-09 Usage 1234.50", "2026-09 Usage -480.00"]
    );
    assert_eq!(
        reading.skipped,
        ["a total of other rows", "left out by the mapping", "left out by the mapping"]
    );
    assert_eq!(
        reading.notes,
        [
            "The file’s own total, 15154.50, is the sum of its rows.",
            "1 line of tax left out: 2879.36 is not counted. To count it, give it a date in the file, or a column.",
        ]
    );
    assert_eq!(reading.charges[0].tags.get("cost-center"), Some("4711"));
}

#[test]
fn discounts_and_taxes_of_a_reseller_are_no_usage() {
    let reading = read_text(invoice("reseller.csv")).unwrap();
    assert_eq!(reading.rejected, []);
    let categories: Vec<_> = reading.charges.iter().map(|charge| charge.key.category).collect();
    let expected =
        [ChargeCategory::Usage, ChargeCategory::Usage, ChargeCategory::Credit, ChargeCategory::Tax];
    assert_eq!(categories, expected);
    assert_eq!(reading.billed(), number("30594.57"));
    assert_eq!(reading.notes, ["The file’s own total, 30594.57, is the sum of its rows."]);
    assert_eq!(reading.charges[0].key.provider, "CoreWeave");
}

#[test]
fn a_machine_of_eight_counts_eight_accelerator_hours_an_hour() {
    for (name, hours) in [("lambda-weekly.csv", "2645"), ("reseller.csv", "11712"), ("rechnung.csv", "5760")]
    {
        let reading = read_text(invoice(name)).unwrap();
        assert_eq!(accelerator_hours(&reading), number(hours), "{name}");
    }
}

#[test]
fn a_file_whose_columns_changed_asks() {
    let gone = invoice("lambda-weekly.csv").replacen("Amount", "Amount due", 1);
    let refusal = read_text(gone).err().unwrap().to_string();
    assert!(
        refusal.contains("most columns of the mapping lambda-weekly (version 1), but not the same"),
        "{refusal}"
    );
    let more = invoice("rechnung.csv").replacen("Kostenstelle", "Kostenstelle;Bemerkung", 1);
    assert!(read_text(more).err().unwrap().to_string().contains("mapping rechenzentrum"));
    let other = read_text("a,b\n1,2\n").err().unwrap().to_string();
    assert!(other.contains("columns of no billing export that is known"), "{other}");
}

#[test]
fn rows_that_cannot_be_read_are_rejected_with_column_and_reason() {
    let good = invoice("rechnung.csv");
    for (from, to, column, expected) in [
        ("14.400,00 €", "14,400.00 €", "Betrag", "an amount with a comma before its decimals"),
        ("14.400,00 €", "$ 14.400,00", "Betrag", "an amount in EUR, the currency of its row"),
        ("14.400,00 €", "", "Betrag", "an amount with a comma before its decimals"),
        ("15.09.2026", "September 2026", "Datum", "one form in the whole column: the rows before have dates"),
        ("15.09.2026", "soon", "Datum", "a date such as 2026-09-03"),
        (";720;", ";many;", "Menge", "an amount with a comma"),
    ] {
        let reading = read_text(good.replacen(from, to, 1)).unwrap();
        let [rejected] = reading.rejected.as_slice() else { panic!("{to}: {:?}", reading.rejected) };
        assert_eq!(rejected.column, column, "{to}");
        assert!(rejected.expected.starts_with(expected), "{to}: {}", rejected.expected);
    }
}

#[test]
fn a_total_that_is_not_the_sum_is_said_with_both_numbers() {
    let wrong = invoice("rechnung.csv").replacen("15.154,50", "15.200,00", 1);
    let notes = read_text(wrong).unwrap().notes;
    assert!(notes[0].contains("total is 15200.00, its rows sum to 15154.50: 45.50 less"), "{notes:?}");
}

#[test]
fn dates_with_slashes_are_read_in_the_order_that_the_file_proves() {
    let text = |last: &str| {
        invoice("rechnung.csv").replace("01.09.2026", "09/01/2026").replacen("15.09.2026", last, 1)
    };
    let months = |text: String| {
        let reading = read_text(text).unwrap();
        assert_eq!(reading.rejected, []);
        reading.charges.iter().map(|charge| charge.billing_month().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(months(text("09/15/2026")), ["2026-09"; 3]);
    assert_eq!(months(text("15/09/2026")), ["2026-01", "2026-01", "2026-09"]);
    let refusal = read_text(text("09/02/2026")).err().unwrap().to_string();
    assert!(refusal.contains("no date of the file says which"), "{refusal}");
}

#[test]
fn ranges_with_slashes_are_read_with_blanks_between_them_and_without() {
    let text = |range: &str| {
        let invoice = invoice("rechnung.csv").replace("01.09.2026", range).replace("15.09.2026", range);
        read_text(invoice)
    };
    for (range, days) in [
        ("01/09/2026-07/09/2026", None),
        ("01/09/2026 - 17/09/2026", Some(17)),
        ("01/09/2026-17/09/2026", Some(17)),
        ("09/01/2026–09/17/2026", Some(17)),
        ("25/09/2026-01/10/2026", Some(7)),
    ] {
        let Some(days) = days else {
            let refusal = text(range).err().unwrap().to_string();
            assert!(refusal.contains("no date of the file says which"), "{refusal}");
            continue;
        };
        let reading = text(range).unwrap();
        assert_eq!(reading.rejected, [], "{range}");
        let found = reading.charges.iter().map(|charge| (charge.period.end - charge.period.start).num_days());
        assert_eq!(found.collect::<Vec<_>>(), [days; 3], "{range}");
    }
}

#[test]
fn a_mapping_is_written_as_it_is_read() {
    for text in [WEEKLY, GERMAN, RESELLER] {
        let mapping = Mapping::parse(text).unwrap();
        assert_eq!(Mapping::parse(&mapping.text()).unwrap(), mapping, "{}", mapping.text());
    }
}

#[test]
fn a_mapping_that_cannot_be_used_says_what_is_wrong() {
    for (from, to, expected) in [
        (
            "name = \"lambda-weekly\"",
            "name = \"Lambda weekly\"",
            "name: found “Lambda weekly”; expected lower-case",
        ),
        ("cost = \"Amount\"", "cost = \"Cost\"", "the column Cost that the mapping “lambda-weekly” names"),
        (
            "provider = { text = \"Lambda\" }",
            "provider = { text = \" \" }",
            "provider and account: found nothing",
        ),
        ("spread = true", "spreads = true", "unknown field `spreads`"),
        ("text = \"Hours\"", "text = \"Hou\\u0000rs\"", "expected text without NUL characters"),
        (
            "[tags]",
            "[category]\ncolumn = \"Project\"\nwords = { x = \"Rent\" }\n[tags]",
            "expected one of Usage",
        ),
    ] {
        let text = WEEKLY.replacen(from, to, 1);
        assert_ne!(text, WEEKLY);
        let error = Mapping::parse(&text).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_mapping_that_is_named_reads_what_it_fits() {
    let named = |name: &str| {
        let read_by = mapping::read_by(Mapping::parse(WEEKLY).unwrap(), 3);
        ReadAs::named(Some(name)).with_mappings(Arc::from([read_by]))
    };
    let open = |text: String, name| billing::open("a.csv", Cursor::new(text.into_bytes()), &named(name));
    // A column more does not matter to who says so.
    let more = invoice("lambda-weekly.csv")
        .replace("Invoice,", "Invoice,Invoice date,")
        .replace("\nINV-2041,", "\nINV-2041,x,")
        .replace("\nINV-2042,", "\nINV-2042,x,");
    assert_eq!(read(open(more, "lambda-weekly@3").unwrap()).unwrap().rows, 4);
    let gone = invoice("lambda-weekly.csv").replacen("Amount", "Amount due", 1);
    let refusal = open(gone, "lambda-weekly@3").err().unwrap().to_string();
    assert!(refusal.contains("a file without the column Amount that the mapping"), "{refusal}");
    let refusal = open(invoice("lambda-weekly.csv"), "lambda-weekly@2").err().unwrap().to_string();
    assert!(refusal.contains("the unknown format “lambda-weekly@2”"), "{refusal}");
}

/// A mapping of few columns, to which tests add.
const SMALL: &str = r#"
name = "small"

[file]
columns = ["Date", "Item", "Amount"]

[period]
start = "Date"

[fields]
provider = { text = "Acme" }
account = { text = "1" }
cost = "Amount"
currency = { text = "USD" }
description = { column = "Item" }
"#;

/// [`SMALL`] with other columns, and with this behind it.
fn small(columns: &[&str], more: &str) -> String {
    format!("{SMALL}{more}").replace(r#"["Date", "Item", "Amount"]"#, &format!("{columns:?}"))
}

/// What a mapping makes of a file that it is named for.
fn try_by(mapping: &str, content: impl Into<Vec<u8>>) -> Result<Reading, Refusal> {
    let format = mapping::read_by(Mapping::parse(mapping).unwrap(), 1);
    let read_as = ReadAs::named(Some(format.name())).with_mappings(Arc::from([Arc::clone(&format)]));
    read(billing::open("invoice.csv", Cursor::new(content.into()), &read_as)?)
}

fn read_by(mapping: &str, content: impl Into<Vec<u8>>) -> Reading {
    try_by(mapping, content).unwrap()
}

/// The draft of a file whose columns are used so, and what it is for.
fn drafted(content: &str, uses: &[Option<Use>]) -> Draft {
    let bytes = content.as_bytes().to_vec();
    let open = || billing::unpack(Cursor::new(bytes.clone()));
    let said = Said { separator: None, header_row: None, sheet: None };
    Draft {
        name: "drafted".to_owned(),
        header_row: 1,
        names: mapping::sample(&open, &said).unwrap().names,
        uses: uses.to_vec(),
        texts: [(Use::Provider, "Acme"), (Use::Account, "1"), (Use::Currency, "USD")]
            .map(|(of, text)| (of, text.to_owned()))
            .into(),
        ..Draft::default()
    }
}

#[test]
fn range_in_one_cell_ends_as_its_dates_or_the_mapping_say() {
    let file = "Date,Item,Amount\n\
                2026-09-01 - 2026-10-01,a,1\n\
                1 Sep 2026 - 30 Sep 2026,b,1\n\
                2026-09-24 - 2026-10-01,c,1\n";
    let ends = |reading: &Reading| -> Vec<String> {
        reading.charges.iter().map(|charge| charge.period.end.date_naive().to_string()).collect()
    };
    let whole = "1 period from the first of a month to the first of another was read as whole months, without the last date.";
    let reading = read_by(SMALL, file);
    assert_eq!(ends(&reading), ["2026-10-01", "2026-10-01", "2026-10-02"]);
    assert_eq!(reading.notes, [whole]);
    let excluded = SMALL.replace("[fields]", "end-is = \"excluded\"\n[fields]");
    let reading = read_by(&excluded, file);
    assert_eq!(ends(&reading), ["2026-10-01", "2026-09-30", "2026-10-01"]);
    assert_eq!(reading.notes, Vec::<String>::new());
}

#[test]
fn month_first_is_said_of_dates_with_dots_too() {
    let file = "Date,Item,Amount\n09.03.2026,a,1\n";
    let months = |mapping: &str| read_by(mapping, file).charges[0].billing_month().to_string();
    assert_eq!(months(SMALL), "2026-03");
    let month_first = SMALL.replace("[fields]", "dates = \"month-first\"\n[fields]");
    assert_eq!(months(&month_first), "2026-09");
    let rejected = read_by(&month_first, "Date,Item,Amount\n13.09.2026,a,1\n").rejected;
    assert_eq!((rejected[0].column.as_str(), rejected[0].found.as_str()), ("Date", "“13.09.2026”"));
}

#[test]
fn second_of_two_columns_of_a_name_is_read_as_itself() {
    for (file, uses) in [
        (
            "Date,Amount,Amount\n2026-09-01,720,5.50\n",
            &[Some(Use::Start), Some(Use::Quantity), Some(Use::Cost)][..],
        ),
        ("Date,Amount,AMOUNT\n2026-09-01,5.50,9\n", &[Some(Use::Start), Some(Use::Cost), Some(Use::Tag)]),
        ("Date,Item,,\n2026-09-01,a,720,5.50\n", &[Some(Use::Start), None, None, Some(Use::Cost)]),
    ] {
        let draft = drafted(file, uses);
        let mapping = draft.mapping().unwrap();
        assert_eq!(Draft::of(&mapping).uses, uses, "{file}");
        let format = mapping::read_by(mapping, 1);
        // Recognized without a name, too.
        let read_as = ReadAs::any().with_mappings(Arc::from([format]));
        let opened = billing::open("a.csv", Cursor::new(file.as_bytes().to_vec()), &read_as);
        let reading = read(opened.unwrap()).unwrap();
        assert_eq!((reading.rejected.as_slice(), reading.billed()), (&[][..], number("5.50")), "{file}");
        assert_eq!(reading.notes, Vec::<String>::new(), "{file}");
    }
}

#[test]
fn word_that_no_category_is_stated_for_rejects_its_row() {
    let words = "[category]\ncolumn = \"Kind\"\nwords = { Discount = \"Credit\", Compute = \"Usage\" }\n";
    let mapping = small(&["Date", "Item", "Amount", "Kind"], words);
    for (word, expected) in [
        ("compute", Ok(ChargeCategory::Usage)),
        (" Discount ", Ok(ChargeCategory::Credit)),
        // As FOCUS has it.
        ("tax", Ok(ChargeCategory::Tax)),
        ("", Ok(ChargeCategory::Usage)),
        ("Rebate", Err("“Rebate”")),
    ] {
        let reading = read_by(&mapping, format!("Date,Item,Amount,Kind\n2026-09-01,a,-1,{word}\n"));
        match expected {
            Ok(category) => assert_eq!(reading.charges[0].key.category, category, "{word}"),
            Err(found) => {
                let [rejected] = reading.rejected.as_slice() else { panic!("{word}: {:?}", reading.charges) };
                assert_eq!((rejected.column.as_str(), rejected.found.as_str()), ("Kind", found));
                assert_eq!(
                    rejected.expected,
                    "one of the words that the mapping states a category for: Compute, Discount, or a category of FOCUS"
                );
            }
        }
    }
}

#[test]
fn words_of_categories_are_previewed_as_far_as_the_file_is_read() {
    let words = "[category]\ncolumn = \"Kind\"\nwords = { Compute = \"Usage\" }\n";
    let mapping = Mapping::parse(&small(&["Date", "Item", "Amount", "Kind"], words)).unwrap();
    let mut file = "Date,Item,Amount,Kind\n".to_owned();
    file.extend(std::iter::repeat_n("2026-09-01,a,1,Compute\n", 500));
    file.push_str("2026-09-01,a,1, Rebate\n2026-09-01,a,1,\n");
    let catalog = accelerator::Catalog::default();
    let preview = mapping::preview(Box::new(Cursor::new(file.into_bytes())), &mapping, &catalog).unwrap();
    assert_eq!(preview.words.iter().collect::<Vec<_>>(), ["Compute", "Rebate"]);
    assert_eq!((preview.charges, preview.rejected), (501, 1));
}

#[test]
fn credits_without_a_minus_sign_are_taken_off_the_cost() {
    let mapping = small(
        &["Date", "Item", "Amount", "VAT", "Kind"],
        "tax = \"VAT\"\n[category]\ncolumn = \"Kind\"\nwords = { Discount = \"Credit\" }\n",
    );
    let file = |credits: &[&str]| {
        let rows: Vec<String> =
            credits.iter().map(|credit| format!("2026-09-01,b,{credit},Discount\n")).collect();
        let rows = rows.concat();
        format!("Date,Item,Amount,VAT,Kind\n2026-09-01,a,100,10,Usage\n{rows}")
    };
    let reading = read_by(&mapping, file(&["30,3", "5.50,"]));
    assert_eq!(reading.rejected, []);
    assert_eq!(
        charges(&reading),
        [
            "2026-09 Usage 100",
            "2026-09 Tax 10",
            "2026-09 Credit -30",
            "2026-09 Tax -3",
            "2026-09 Credit -5.50"
        ]
    );
    assert_eq!(
        reading.notes,
        [
            "2 credits without a minus sign were taken off the cost: 38.50 USD. If they are no credits, state another category for their words."
        ]
    );
    // Among corrected rows no other credit says how their file prints them.
    let corrected = |credit: &str| {
        format!(
            "Date,Item,Amount,VAT,Kind,gpuledger/Row\n2026-09-01,b,{credit},,Discount,delivery-1/file-0/row-2\n"
        )
    };
    let reading = read_by(&mapping, corrected("5"));
    assert_eq!((reading.charges.len(), reading.rejected.len()), (0, 1));
    assert_eq!(read_by(&mapping, corrected("-5")).billed(), number("-5"));

    let reading = read_by(&mapping, file(&["-30,-3"]));
    assert_eq!(reading.billed(), number("77"));
    assert_eq!(reading.notes, Vec::<String>::new());
    for (credits, column) in
        [(["-30,-3", "5,"], "Amount"), (["30,3", "-5,"], "Amount"), (["0,0", "30,-3"], "VAT")]
    {
        let reading = read_by(&mapping, file(&credits));
        let [rejected] = reading.rejected.as_slice() else { panic!("{credits:?}: {:?}", reading.charges) };
        assert_eq!((rejected.row, rejected.column.as_str()), (3, column), "{credits:?}");
    }
}

#[test]
fn totals_are_compared_by_column_and_currency_and_as_exactly_as_they_are_printed() {
    let rules = "[[leave-out]]\ncolumn = \"Date\"\nis = \"Total\"\nis-total = true\n";
    let taxed = small(&["Date", "Item", "Amount", "VAT"], &format!("tax = \"VAT\"\n{rules}"));
    let of_currencies = small(&["Date", "Item", "Amount", "Currency"], rules)
        .replace("currency = { text = \"USD\" }", "currency = { column = \"Currency\" }");
    let plain = small(&["Date", "Item", "Amount"], rules);
    let notes = |mapping: &str, header: &str, rows: &[&str]| {
        read_by(mapping, format!("{header}\n{}\n", rows.join("\n"))).notes.join(" ")
    };
    for (rows, expected) in [
        (["0.1", "0.2", "0.30000000000000004"], "total, 0.3, is the sum"),
        (["1234.56", "0.1", "1234.6600000000001"], "total, 1234.66, is the sum"),
        (["0.333333", "0.333333", "0.67"], "total, 0.67, is the sum"),
        (["0.333333", "0.333333", "0.68"], "total is 0.68, its rows sum to 0.666666"),
        (["1.004", "1.004", "2.00"], "total is 2.00, its rows sum to 2.008"),
        // A spreadsheet drops zeros at the end: 3.1 is 3.10.
        (["1.06", "2.06", "3.1"], "total is 3.1, its rows sum to 3.12"),
        (["1.2", "1.2", "2"], "total is 2, its rows sum to 2.4"),
    ] {
        let rows = [("2026-09-01,a,", rows[0]), ("2026-09-01,b,", rows[1]), ("Total,,", rows[2])];
        let rows = rows.map(|(start, cell)| format!("{start}{cell}"));
        let found = notes(&plain, "Date,Item,Amount", &rows.each_ref().map(String::as_str));
        assert!(found.contains(expected), "{rows:?}: {found}");
    }
    for (total, expected) in [
        (
            "Total,,100,19",
            "own total, 100, is the sum of its rows. The file’s own total of tax, 19, is the sum of its rows.",
        ),
        ("Total,,100,", "own total, 100, is the sum of its rows."),
        ("Total,,119,", "own total, 119, is the sum of its rows with their tax."),
        ("Total,,110,", "own total is 110, its rows sum to 100 without tax and 119 with it. Look for"),
        ("Total,,100,20", "own total of tax is 20, the tax of its rows sums to 19: 1 less."),
    ] {
        let found =
            notes(&taxed, "Date,Item,Amount,VAT", &["2026-09-01,a,60,9", "2026-09-01,b,40,10", total]);
        assert!(found.contains(expected), "{total}: {found}");
    }
    for (total, expected) in [
        ("Total,,5,EUR", "own total in EUR, 5, is the sum of its rows."),
        ("Total,,$7,", "own total in USD, 7, is the sum of its rows."),
        (
            "Total,,12,",
            "own total, 12, names no currency, and its rows have several (EUR, USD): it is compared with none of their sums.",
        ),
    ] {
        let rows = ["2026-09-01,a,5,EUR", "2026-09-01,b,7,USD", total];
        let found = notes(&of_currencies, "Date,Item,Amount,Currency", &rows);
        assert!(found.contains(expected), "{total}: {found}");
    }
}

#[test]
fn sign_of_a_currency_in_a_name_tells_columns_apart() {
    let euros = small(&["Date", "Item", "Betrag €"], "").replace("cost = \"Amount\"", "cost = \"Betrag €\"");
    let format = mapping::read_by(Mapping::parse(&euros).unwrap(), 1);
    let open = |header: &str, read_as: &ReadAs| {
        let text = format!("Date,Item,{header}\n2026-09-01,a,1\n");
        billing::open("a.csv", Cursor::new(text.into_bytes()), read_as)
            .map(|export| export.format().name().to_owned())
    };
    let any = ReadAs::any().with_mappings(Arc::from([Arc::clone(&format)]));
    let named = ReadAs::named(Some("small@1")).with_mappings(Arc::from([format]));
    for header in ["Betrag €", "betrag (€)"] {
        assert_eq!(open(header, &any).unwrap(), "small@1", "{header}");
    }
    for header in ["Betrag $", "Betrag"] {
        let refusal = open(header, &any).err().unwrap().to_string();
        assert!(
            refusal.contains("most columns of the mapping small (version 1), but not the same"),
            "{refusal}"
        );
        let refusal = open(header, &named).err().unwrap().to_string();
        assert!(refusal.contains("without the column Betrag € that the mapping"), "{refusal}");
    }
}

#[test]
fn rule_that_leaves_out_every_row_is_refused() {
    for is in ["*", " * "] {
        let rule = format!("[[leave-out]]\ncolumn = \"Item\"\nis = \"{is}\"\n");
        let error = Mapping::parse(&format!("{SMALL}{rule}")).unwrap_err();
        assert!(
            error.starts_with("leave-out, column Item: found “*”, which leaves out every row;"),
            "{error}"
        );
    }
}

#[test]
fn columns_that_a_mapping_names_are_read_out_of_parquet() {
    let row = serde_json::json!({"Date": "2026-09-01", "Item": "a", "Amount": "5.50"});
    let file =
        containers::parquet(&[row.as_object().unwrap().clone()], parquet::basic::Compression::UNCOMPRESSED);
    let reading = read_by(SMALL, file);
    assert_eq!((reading.rejected.as_slice(), reading.billed()), (&[][..], number("5.50")));
}

#[test]
fn tag_columns_of_like_names_stay_apart() {
    let file = "Date,Amount,Cost Center,Cost-Center,#\n2026-09-01,5,a,b,c\n";
    let draft =
        drafted(file, &[Some(Use::Start), Some(Use::Cost), Some(Use::Tag), Some(Use::Tag), Some(Use::Tag)]);
    let mapping = draft.mapping().unwrap();
    let tags: Vec<_> = mapping.tags.iter().map(|(key, column)| (key.as_str(), column.as_str())).collect();
    assert_eq!(
        tags,
        [("column-5", "#"), ("cost-center", "Cost Center"), ("cost-center-2", "Cost-Center (2)")]
    );
    let alike = small(
        &["Date", "Item", "Amount", "A", "B"],
        "[tags]\n\"Cost_Center\" = \"A\"\ncost-center = \"B\"\n",
    );
    let error = Mapping::parse(&alike).unwrap_err();
    assert_eq!(
        error,
        "tags: found Cost_Center and cost-center, which are one tag; expected keys that differ in more than spelling"
    );
}

/// A file of hours without a cost, which rate cards price.
const HOURS: &str = include_str!("../fixtures/invoices/gpu-hours.toml");

#[test]
fn hours_of_a_file_without_cost_are_usage_that_lacks_its_cost() {
    let reading = read_by(HOURS, invoice("gpu-hours.csv"));
    assert_eq!(reading.rejected, []);
    assert_eq!(reading.skipped, ["a total of other rows"]);
    assert_eq!(
        charges(&reading),
        ["2026-09 Usage 0", "2026-09 Usage 0", "2026-09 Usage 0", "2026-10 Usage 0"]
    );
    assert!(reading.charges.iter().all(|charge| charge.lacks_cost && charge.is_metered));
    let first = &reading.charges[0];
    assert_eq!((first.consumed_quantity, first.key.unit.as_str()), (Some(number("1440")), "GPU-Hours"));
    assert_eq!((first.key.currency.as_str(), first.tags.get("team")), ("USD", Some("vision")));
    let key = &first.key;
    assert_eq!((key.provider.as_str(), key.billing_account.as_str()), ("GPU Reseller", "contract-7"));
    assert_eq!(accelerator_hours(&reading), number("2560.5"));
    assert_eq!(reading.notes, ["The file’s own total, 2560.5, is the sum of its rows."]);
    let wrong = read_by(HOURS, invoice("gpu-hours.csv").replace("2,560.5", "2,600"));
    assert!(wrong.notes[0].contains("is 2600, its rows sum to 2560.5"), "{:?}", wrong.notes);
}

#[test]
fn file_without_cost_is_recognized_by_its_columns_and_has_no_billed_column() {
    let format = mapping::read_by(Mapping::parse(HOURS).unwrap(), 3);
    assert_eq!(format.billed_columns(), Vec::<Vec<&str>>::new());
    let read_as = ReadAs::any().with_mappings(Arc::from([Arc::clone(&format)]));
    let open = |text: String| billing::open("hours.csv", Cursor::new(text.into_bytes()), &read_as);
    assert_eq!(read(open(invoice("gpu-hours.csv")).unwrap()).unwrap().format, "gpu-hours@3");
    // A column that was added may be the cost.
    let more = invoice("gpu-hours.csv").replacen("GPU-hours", "GPU-hours,Cost", 1);
    let refusal = open(more).err().unwrap().to_string();
    assert!(
        refusal.contains("most columns of the mapping gpu-hours (version 3), but not the same"),
        "{refusal}"
    );
    assert_eq!(format.feeds_by_name("GPU-hours"), Some("ConsumedQuantity"));
}

#[test]
fn only_usage_with_a_quantity_and_a_unit_can_lack_its_cost() {
    let mapping = HOURS
        .replace(r#""GPU", "GPU-hours"]"#, r#""GPU", "GPU-hours", "Unit", "Kind"]"#)
        .replace(r#"{ text = "GPU-Hours" }"#, r#"{ column = "Unit" }"#)
        + "[category]\ncolumn = \"Kind\"\nwords = { Compute = \"Usage\", MwSt = \"Tax\" }\n";
    let file = "Month,Cluster,Team,GPU,GPU-hours,Unit,Kind\n\
                2026-09,north,vision,H100,10,GPU-Stunden,Compute\n\
                2026-09,north,vision,H100,10,GPU-Hours,MwSt\n\
                2026-09,north,vision,H100,10,GPU-Hours,Credit\n\
                2026-09,north,vision,H100,,GPU-Hours,\n\
                2026-09,north,vision,H100,many,GPU-Hours,\n\
                2026-09,north,vision,H100,10,,\n\
                2026-09,north,vision,H100,-2.5,GPU-Hours,\n";
    let reading = read_by(&mapping, file);
    let quantities: Vec<_> = reading.charges.iter().filter_map(|charge| charge.consumed_quantity).collect();
    assert_eq!(quantities, [number("10"), number("-2.5")]);
    assert_eq!(reading.charges[0].key.unit, "GPU-Hours");
    let rejected: Vec<_> = reading
        .rejected
        .iter()
        .map(|it| (it.row, it.column.as_str(), it.found.as_str(), it.expected.as_ref()))
        .collect();
    let usage = "usage, the only category that rate cards price: leave other rows out, or import them from a file with their cost";
    let amount = "an amount with a point before its decimals, such as 1,234.50";
    assert_eq!(
        rejected,
        [
            (2, "Kind", "“MwSt”", usage),
            (3, "Kind", "“Credit”", usage),
            (4, "GPU-hours", "nothing", amount),
            (5, "GPU-hours", "“many”", amount),
            (6, "Unit", "nothing", "the unit of the quantity, such as GPU-Hours"),
        ]
    );
}

#[test]
fn usage_without_cost_is_divided_between_months_by_its_quantity() {
    let mapping = HOURS.replace(r#"start = "Month""#, "start = \"Month\"\nlength = \"week\"\nspread = true");
    let reading = read_by(&mapping, "Month,Cluster,Team,GPU,GPU-hours\n2026-09-28,north,vision,H100,168\n");
    assert_eq!(charges(&reading), ["2026-09 Usage 0", "2026-10 Usage 0"]);
    let quantities: Vec<_> = reading.charges.iter().filter_map(|charge| charge.consumed_quantity).collect();
    assert_eq!(quantities, [number("72"), number("96")]);
    assert!(reading.charges.iter().all(|charge| charge.lacks_cost && charge.is_metered));
}

#[test]
fn mapping_says_where_costs_are_or_that_rate_cards_price_its_usage() {
    let priced = "priced-by = \"rate-cards\"\n";
    let quantity = "quantity = \"GPU-hours\"\n";
    let unit = "unit = { text = \"GPU-Hours\" }\n";
    for (found, instead, expected) in [
        (
            priced,
            "",
            "fields: found neither cost nor priced-by; expected cost, the column of what a row costs, or priced-by",
        ),
        (priced, "priced-by = \"somebody\"\n", "expected `rate-cards`"),
        (
            priced,
            "priced-by = \"rate-cards\"\ncost = \"GPU\"\n",
            "found cost = “GPU” and priced-by; expected one of them",
        ),
        (
            priced,
            "priced-by = \"rate-cards\"\ntax = \"GPU\"\n",
            "fields.tax: found “GPU” beside priced-by; expected none",
        ),
        (quantity, "", "fields.quantity: found nothing beside priced-by; expected the column of the hours"),
        (unit, "", "fields.unit: found nothing beside priced-by; expected the unit of the quantity"),
        (unit, "unit = { text = \" \" }\n", "fields.unit: found nothing"),
    ] {
        assert!(HOURS.contains(found));
        let error = Mapping::parse(&HOURS.replace(found, instead)).unwrap_err();
        assert!(error.contains(expected), "{instead}: {error}");
    }
    let mapping = Mapping::parse(HOURS).unwrap();
    assert!(mapping.lacks_cost() && mapping.text().contains(priced), "{}", mapping.text());
    assert_eq!(Mapping::parse(&mapping.text()).as_ref(), Ok(&mapping));
    assert_eq!(Draft::of(&mapping).mapping().unwrap(), mapping);
    let with_cost = Mapping::parse(GERMAN).unwrap();
    assert!(!with_cost.lacks_cost() && !with_cost.text().contains("priced-by"));
}

#[test]
fn preview_of_usage_without_cost_sums_its_quantity_by_unit() {
    let text = "Date,GPU,Used\n2026-09-01,H100,720\n2026-09-02,H100,30.5\n2026-10-01,H100,1\n";
    let mut draft = drafted(text, &[Some(Use::Start), Some(Use::Accelerator), Some(Use::Quantity)]);
    draft.texts.insert(Use::Unit, "GPU-Hours".to_owned());
    let lacks = draft.mapping().unwrap_err();
    assert_eq!(lacks[0].sentence, "Choose the column of the cost, or say that the file states no cost.");
    draft.priced_by = Some(PricedBy::RateCards);
    let mapping = draft.mapping().unwrap();
    let catalog = accelerator::Catalog::default();
    let preview =
        mapping::preview(Box::new(Cursor::new(text.as_bytes().to_vec())), &mapping, &catalog).unwrap();
    assert!(preview.lacks_cost());
    let months: Vec<_> = preview.months.values().collect();
    let hours = |at: usize| (months[at].without_cost["GPU-Hours"], months[at].accelerator_hours.normalize());
    assert_eq!([hours(0), hours(1)], ["750.5", "1"].map(|it| (number(it), number(it))));
}
