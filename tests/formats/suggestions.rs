//! What a file suggests of its columns: a mapping that people correct.

use std::collections::BTreeMap;
use std::io::Cursor;

use gpuledger::billing::mapping::{
    self, DateForm, Decimals, Draft, LastDay, LeaveOut, Length, Mapping, PricedBy, Said, Sample, Separator,
    Suggestion, Use,
};
use gpuledger::billing::{self, ReadAs, Refusal};
use proptest::prelude::*;

use super::{Reading, read};
use crate::support::workbooks::{Cell, Sheet, texts, workbook};
use crate::support::{files, number};

fn said(separator: Option<Separator>, header_row: Option<u32>) -> Said {
    Said { separator, header_row, sheet: None }
}

fn sample_as(text: &str, (separator, line): (Option<Separator>, Option<u32>)) -> Result<Sample, Refusal> {
    let bytes = text.as_bytes().to_vec();
    mapping::sample(&|| billing::unpack(Cursor::new(bytes.clone())), &said(separator, line))
}

fn sample(text: &str) -> Sample {
    sample_as(text, (None, None)).unwrap()
}

fn suggest(text: &str) -> Suggestion {
    mapping::suggest(&sample(text))
}

fn invoice(name: &str) -> String {
    std::fs::read_to_string(files::fixture(&format!("invoices/{name}"))).unwrap()
}

/// What each column that is used is for: `Amount: cost`.
fn uses(text: &str) -> Vec<String> {
    let (sample, suggestion) = (sample(text), suggest(text));
    assert_eq!(sample.names.len(), suggestion.uses.len());
    let used = sample.names.iter().zip(&suggestion.uses);
    used.filter_map(|(name, used)| Some(format!("{name}: {}", (*used)?.as_str()))).collect()
}

/// The column of a use.
fn column(text: &str, of: Use) -> Option<String> {
    let at = suggest(text).uses.iter().position(|used| *used == Some(of))?;
    Some(sample(text).names[at].clone())
}

/// What is suggested, with the texts that nobody can guess.
fn draft(text: &str, texts: &[(Use, &str)]) -> Draft {
    let (sample, suggested) = (sample(text), suggest(text));
    let guessed = [(Use::Currency, suggested.currency), (Use::Unit, suggested.unit)];
    let guessed = guessed.into_iter().filter_map(|(of, text)| Some((of, text?)));
    Draft {
        name: "suggested".to_owned(),
        separator: sample.separator,
        header_row: sample.header_row,
        names: sample.names,
        uses: suggested.uses,
        texts: texts.iter().map(|(of, text)| (*of, (*text).to_owned())).chain(guessed).collect(),
        end_is: suggested.end_is,
        length: suggested.length,
        dates: suggested.dates,
        spread: suggested.spread,
        states: suggested.states,
        decimal: suggested.decimal.unwrap_or_default(),
        category_words: suggested.category_words,
        leave_out: suggested.leave_out,
        ..Draft::default()
    }
}

/// What a file becomes by what it suggests.
fn read_as_suggested(text: &str, texts: &[(Use, &str)]) -> Reading {
    let mapping = draft(text, texts).mapping().unwrap();
    let read_as = ReadAs::any().with_mappings([mapping::read_by(mapping, 1)].into());
    read(billing::open("invoice", Cursor::new(text.as_bytes().to_vec()), &read_as).unwrap()).unwrap()
}

const ACME: [(Use, &str); 2] = [(Use::Provider, "Acme"), (Use::Account, "1")];

#[test]
fn invoices_suggest_the_mappings_that_people_wrote() {
    for (name, provider, account) in [
        ("lambda-weekly", "Lambda", "default"),
        ("rechnung", "Rechenzentrum Nord", "2026"),
        ("reseller", "", ""),
    ] {
        let text = invoice(&format!("{name}.csv"));
        let texts = [(Use::Provider, provider), (Use::Account, account)];
        let texts = if provider.is_empty() { &[][..] } else { &texts[..] };
        let mapping = Mapping::parse(&invoice(&format!("{name}.toml"))).unwrap();
        let written = Draft::of(&mapping);
        let suggested = draft(&text, texts);
        let mut expected = Draft {
            name: suggested.name.clone(),
            category_words: suggested.category_words.clone(),
            leave_out: suggested.leave_out.clone(),
            ..written.clone()
        };
        if name == "rechnung" {
            // One column can be used for one thing, and people used this one twice.
            expected.uses[1] = Some(Use::Description);
        }
        assert_eq!(suggested, expected, "{name}");
        for (word, category) in &written.category_words {
            assert_eq!(suggested.category_words.get(word), Some(category), "{name}: {word}");
        }
        let reading = read_as_suggested(&text, texts);
        let by_people = ReadAs::any().with_mappings([mapping::read_by(mapping, 1)].into());
        let by_people =
            read(billing::open(name, Cursor::new(text.into_bytes()), &by_people).unwrap()).unwrap();
        assert_eq!(reading.rejected, by_people.rejected, "{name}");
        assert_eq!(reading.skipped, by_people.skipped, "{name}");
        assert_eq!(reading.notes, by_people.notes, "{name}");
        assert_eq!(reading.billed(), by_people.billed(), "{name}");
    }
}

fn rule(column: &str, is: &str, is_total: bool) -> LeaveOut {
    LeaveOut { column: column.to_owned(), is: is.to_owned(), is_total }
}

#[test]
fn totals_are_left_out_and_tax_between_them_is_asked_about() {
    let suggestion = suggest(&invoice("rechnung.csv"));
    assert_eq!(
        suggestion.leave_out,
        [
            rule("Datum", "Summe netto", true),
            rule("Datum", "USt.*", false),
            rule("Datum", "Gesamtbetrag", false),
        ]
    );
    assert_eq!(
        suggestion.questions,
        [
            "The line “USt. 19 %” (2,879.36) is left out, so its tax is not counted. To count it, give it a date in the file, or a column."
        ]
    );
    let suggestion = suggest(&invoice("reseller.csv"));
    assert_eq!(suggestion.leave_out, [rule("Period", "Subtotal", true), rule("Period", "Total due", true)]);
    assert_eq!(suggestion.questions, Vec::<String>::new());
    assert_eq!(suggest(&invoice("lambda-weekly.csv")).questions, Vec::<String>::new());
}

#[test]
fn words_of_categories_are_suggested() {
    let words = suggest(&invoice("reseller.csv")).category_words;
    let expected = [("Discount", "Credit"), ("Service", "Usage"), ("Tax", "Tax")];
    assert_eq!(words, expected.map(|(word, category)| (word.to_owned(), category.to_owned())).into());
    // What nobody knows is asked about, and is no usage before.
    let other = suggest(&invoice("reseller.csv").replace("\tDiscount", "\tHaircut"));
    assert_eq!(other.category_words.keys().collect::<Vec<_>>(), ["Service", "Tax"]);
    assert_eq!(
        other.questions,
        ["“Type” has a word of which the category is not known, “Haircut”: choose one."]
    );
}

#[test]
fn a_french_invoice_suggests_net_amounts_with_their_tax() {
    let text = invoice("facture.csv");
    let sampled = sample(&text);
    assert_eq!((sampled.separator, sampled.header_row), (Separator::Semicolon, 4));
    assert_eq!(sampled.above, ["GPU Cloud SAS", "Facture n° F-2026-118 du 05/10/2026", ""]);
    assert_eq!(
        uses(&text),
        [
            "Date de début: start",
            "Date de fin: end",
            "Désignation: description",
            "Type d’instance: accelerator",
            "Quantité: quantity",
            "Unité: unit",
            "Montant HT: cost",
            "TVA: tax",
            "Projet: tag",
        ]
    );
    let suggestion = suggest(&text);
    assert_eq!(suggestion.decimal, Some(Decimals::Comma));
    assert_eq!((suggestion.dates, suggestion.has_open_dates), (Some(DateForm::DayFirst), false));
    assert_eq!((suggestion.end_is, suggestion.spread), (LastDay::Included, false));
    assert_eq!(suggestion.currency.as_deref(), Some("EUR"));
    assert_eq!(suggestion.questions, Vec::<String>::new());
    let reading = read_as_suggested(&text, &ACME);
    assert_eq!(reading.rejected, []);
    assert_eq!(reading.billed(), number("15669.60"));
    assert_eq!(reading.notes, ["The file’s own total, 15669.60, is the sum of its rows with their tax."]);
}

#[test]
fn a_resellers_list_of_aws_suggests_what_is_left_of_the_list_cost() {
    let text = invoice("aws-reseller.csv");
    assert_eq!(
        uses(&text),
        [
            "Invoice ID: invoice",
            "Linked Account ID: sub-account",
            "Service: service",
            "Usage Type: sku",
            "Instance Type: accelerator",
            "Region: region",
            "Usage Start Date: start",
            "Usage End Date: end",
            "Usage Quantity: quantity",
            "Unit: unit",
            "Net Cost: cost",
            "Currency: currency",
            "Cost Center: tag",
        ]
    );
    let suggestion = suggest(&text);
    assert_eq!((suggestion.dates, suggestion.end_is), (Some(DateForm::MonthFirst), LastDay::Included));
    assert_eq!(suggestion.leave_out, [rule("Invoice ID", "Grand Total", true)]);
    assert_eq!(suggestion.questions, Vec::<String>::new());
    let reading = read_as_suggested(&text, &[(Use::Provider, "AWS"), (Use::Account, "999988887777")]);
    assert_eq!(reading.rejected, []);
    assert_eq!(reading.billed(), number("38356.66"));
}

#[test]
fn json_lines_suggest_by_their_paths() {
    let text = invoice("usage.jsonl");
    let sampled = sample(&text);
    assert_eq!((sampled.separator, sampled.header_row), (Separator::Comma, 1));
    assert_eq!(sampled.above, Vec::<String>::new());
    assert_eq!(
        uses(&text),
        [
            "started_at: start",
            "ended_at: end",
            "gpu_type: accelerator",
            "gpus: accelerator-count",
            "gpu_hours: quantity",
            "cost: cost",
            "currency: currency",
            "project.name: tag",
        ]
    );
    let suggestion = suggest(&text);
    assert_eq!((suggestion.unit.as_deref(), suggestion.end_is), (Some("GPU-Hours"), LastDay::Excluded));
    let list = format!("[{}]", text.trim_end().replace('\n', ","));
    assert_eq!(sample(&list).names, sampled.names);
    assert_eq!(sample(&list).rows, sampled.rows);
}

#[test]
fn amounts_with_two_readings_are_asked_about() {
    let text = |cells: [&str; 2]| format!("Datum;Betrag\n1.9.2026;{}\n2.9.2026;{}\n", cells[0], cells[1]);
    for (cells, expected) in [
        (["1.234", "2.500"], None),
        (["1,234", "2,500"], None),
        (["1.234", "2.500,5"], Some(Decimals::Comma)),
        (["1.234", "2.50"], Some(Decimals::Point)),
        (["1.234", "0.125"], Some(Decimals::Point)),
        (["1,234", "0,125"], Some(Decimals::Comma)),
        (["1.234", "1.234.567"], Some(Decimals::Comma)),
        (["1,234.50", "2"], Some(Decimals::Point)),
        (["12,5", "2"], Some(Decimals::Comma)),
        (["12", "2"], Some(Decimals::Point)),
    ] {
        let suggestion = suggest(&text(cells));
        assert_eq!(suggestion.decimal, expected, "{cells:?}");
        assert_eq!(suggestion.questions.is_empty(), expected.is_some(), "{:?}", suggestion.questions);
        assert_eq!(column(&text(cells), Use::Cost).as_deref(), Some("Betrag"), "{cells:?}");
    }
    let questions = suggest(&text(["1.234", "2.500"])).questions;
    assert_eq!(questions, ["“1.234” can be 1.234 or 1,234.00: choose what stands before decimals."]);
    let questions = suggest(&text(["1.234,50", "2.50"])).questions;
    assert!(
        questions[0].starts_with("Amounts are written in two ways, “2.50” and “1.234,50”"),
        "{questions:?}"
    );
}

#[test]
fn dates_with_two_readings_are_asked_about() {
    let text = |dates: [&str; 2]| format!("Date,Item,Cost\n{},a,1.50\n{},b,2.50\n", dates[0], dates[1]);
    for (dates, expected, is_open) in [
        (["03/04/2026", "05/04/2026"], None, true),
        (["03/04/2026", "15/04/2026"], Some(DateForm::DayFirst), false),
        (["03/04/2026", "04/15/2026"], Some(DateForm::MonthFirst), false),
        (["13/04/2026", "04/15/2026"], None, false),
        (["04/04/2026", "05/05/2026"], None, false),
        (["2026-04-03", "2026-04-05"], None, false),
    ] {
        let suggestion = suggest(&text(dates));
        assert_eq!((suggestion.dates, suggestion.has_open_dates), (expected, is_open), "{dates:?}");
    }
    assert_eq!(
        suggest(&text(["03/04/2026", "05/04/2026"])).questions,
        [
            "“03/04/2026” can be March 4, 2026 or April 3, 2026, and no date says which: choose the order of dates."
        ]
    );
    assert_eq!(
        suggest(&text(["13/04/2026", "04/15/2026"])).questions,
        ["Dates are in two orders: “13/04/2026” has the day first, “04/15/2026” the month."]
    );
    // Weeks in the one order, half a year in the other.
    let weeks = "From,To,Cost\n03/04/2026,09/04/2026,1.50\n10/04/2026,12/04/2026,2.50\n";
    assert_eq!(suggest(weeks).dates, Some(DateForm::DayFirst));
}

#[test]
fn a_column_of_dates_and_months_is_asked_about() {
    let text = "Period,Cost\n2026-09-01,1.50\n2026-09-02,1.00\nSep 2026,2.50\n";
    assert_eq!(
        suggest(text).questions,
        [
            "“Period” holds dates such as “2026-09-01” and months such as “Sep 2026”: rows with the latter are rejected."
        ]
    );
    let text = "Date,Item,Cost\n2026-09-01,a,1\n2026-09-02,b,2\n2026-09-03,c,2\n2026-09-04,d,2\nsoon,e,1\n";
    assert_eq!(
        suggest(text).questions,
        [
            "“Date” has 1 cell that is no date, such as “soon”.",
            "1 line has an amount and no date, “soon”: leave it out, or it is rejected."
        ]
    );
}

#[test]
fn the_last_day_of_a_period_is_told_from_the_day_behind_it() {
    for (periods, expected, is_spread) in [
        (["2026-09-01,2026-09-30", "2026-10-01,2026-10-31"], LastDay::Included, false),
        (["2026-09-01,2026-10-01", "2026-10-01,2026-11-01"], LastDay::Excluded, false),
        (["2026-09-21,2026-09-27", "2026-09-28,2026-10-04"], LastDay::Included, true),
        (["2026-09-21,2026-09-28", "2026-09-28,2026-10-05"], LastDay::Excluded, true),
        (["2026-09-03,2026-09-05", "2026-09-05,2026-09-08"], LastDay::Excluded, false),
        (["2026-09-03,2026-09-04", "2026-09-05,2026-09-08"], LastDay::Included, false),
        (["2026-09-03,2026-09-03", "2026-09-04,2026-09-04"], LastDay::Included, false),
        (
            ["2026-09-03 01:00,2026-09-03 02:00", "2026-09-03 23:00,2026-09-04 00:00"],
            LastDay::Excluded,
            false,
        ),
    ] {
        let suggestion = suggest(&format!("Start,End,Cost\n{},1.5\n{},2.5\n", periods[0], periods[1]));
        assert_eq!((suggestion.end_is, suggestion.spread), (expected, is_spread), "{periods:?}");
    }
    let year = suggest("Start,End,Cost\n2026-09-01,2027-08-31,1200.5\n2026-09-01,2026-09-30,2.5\n");
    assert!(!year.spread);
    assert_eq!(
        year.questions,
        ["A charge lasts 365 days: choose whether such charges are spread over their months."]
    );
}

#[test]
fn a_date_alone_lasts_as_long_as_its_name_and_its_likes_say() {
    for (text, expected) in [
        ("Week of,Cost\n2026-09-07,1.5\n2026-09-14,2\n", Length::Week),
        ("Date,Cost\n2026-09-07,1.5\n2026-09-14,2\n2026-09-21,2\n", Length::Week),
        ("Date,Cost\n2026-09-07,1.5\n2026-09-14,2\n", Length::Day),
        ("Date,Cost\n2026-09-01,1.5\n2026-10-01,2\n", Length::Month),
        ("Month,Cost\nSep 2026,1.5\nOct 2026,2\n", Length::Day),
        ("Hour,Cost\n2026-09-07T01:00:00Z,1.5\n2026-09-07T02:00:00Z,2\n", Length::Hour),
        ("Time,Cost\n2026-09-07T01:12:00Z,1.5\n2026-09-07T02:00:00Z,2\n", Length::Day),
        ("Bill of September 2026\nDate,Cost\n2026-09-07,1.5\n2026-09-09,2\n", Length::Month),
        ("Bill of August 2026\nDate,Cost\n2026-09-07,1.5\n2026-09-09,2\n", Length::Day),
    ] {
        assert_eq!(suggest(text).length, expected, "{text}");
    }
}

#[test]
fn a_running_total_is_not_the_cost() {
    let both = "Date,Cost,Total\n2026-09-01,5,5\n2026-09-02,3,8\n2026-09-03,4,12\n2026-09-04,1,13\n";
    assert_eq!(column(both, Use::Cost).as_deref(), Some("Cost"));
    assert_eq!(suggest(both).questions, Vec::<String>::new());
    let renamed = both.replace("Date,Cost,Total", "Date,Total,Cost");
    assert_eq!(column(&renamed, Use::Cost).as_deref(), Some("Total"));
    let rows: Vec<String> = (1..=9).map(|day| format!("2026-09-0{day},{}.5\n", day * day)).collect();
    let alone = format!("Date,Cost\n{}", rows.concat());
    assert_eq!(column(&alone, Use::Cost).as_deref(), Some("Cost"));
    assert_eq!(
        suggest(&alone).questions,
        ["“Cost” may be a running total, which counts every charge again in each row below it."]
    );
}

#[test]
fn gross_net_and_tax_are_told_apart_by_their_sums() {
    let columns = |names: &str| format!("Date,{names}\n2026-09-01,100,119,19\n2026-09-02,50,59.5,9.5\n");
    for (names, cost, tax) in [
        ("Net,Gross,Tax", "Net", Some("Tax")),
        ("Amount,Total,VAT", "Amount", Some("VAT")),
        // The names are the wrong way round.
        ("Total,Amount,VAT", "Total", Some("VAT")),
        ("Netto,Brutto,MwSt.", "Netto", Some("MwSt.")),
        ("x,Amount,y", "Amount", None),
    ] {
        let text = columns(names);
        let found = (column(&text, Use::Cost), column(&text, Use::Tax));
        assert_eq!((found.0.as_deref(), found.1.as_deref()), (Some(cost), tax), "{names}");
    }
    let gross = "Date,Total incl. VAT,VAT\n2026-09-01,119,19\n2026-09-02,59.5,9.5\n";
    assert_eq!(uses(gross), ["Date: start", "Total incl. VAT: cost"]);
    assert_eq!(
        suggest(gross).questions,
        [
            "“Total incl. VAT” holds the tax of “VAT”, so the tax is not counted once more: both are one charge."
        ]
    );
    let product = "Date,Hours,Rate,Tax,Total\n2026-09-01,10,2,2,22\n2026-09-02,5,4,2,22\n";
    assert_eq!(uses(product), ["Date: start", "Hours: quantity", "Total: cost"]);
    let rate = "Date,Cost,VAT\n2026-09-01,100.5,20\n2026-09-02,50.5,20\n";
    assert_eq!(uses(rate), ["Date: start", "Cost: cost"]);
    assert_eq!(
        suggest(rate).questions,
        ["“VAT” looks like a rate, the same in rows of any cost, and is not used as tax."]
    );
}

#[test]
fn a_price_is_not_the_cost() {
    for (names, cost) in [
        ("Hours,Price,Amount", "Amount"),
        ("Hours,Rate ($/hr),Cost", "Cost"),
        ("GPU-hours,Price per GPU-hour,Cost", "Cost"),
        ("Menge,Einzelpreis,Gesamtpreis", "Gesamtpreis"),
        ("Menge,Preis,Summe", "Summe"),
        // The names are the wrong way round.
        ("Hours,Amount,Price", "Price"),
        ("Hours,Cost,x", "x"),
    ] {
        let text = format!("Date,{names}\n2026-09-01,10,2.49,24.90\n2026-09-02,7.5,1.10,8.25\n");
        assert_eq!(column(&text, Use::Cost).as_deref(), Some(cost), "{names}");
        assert_eq!(column(&text, Use::Quantity).as_deref(), names.split(',').next(), "{names}");
        assert_eq!(suggest(&text).questions, Vec::<String>::new(), "{names}");
    }
    let alone = "Date,Hours,Price\n2026-09-01,10,24.90\n2026-09-02,7.5,8.25\n";
    assert_eq!(column(alone, Use::Cost).as_deref(), Some("Price"));
    assert_eq!(
        suggest(alone).questions,
        ["“Price” is taken as the cost of a row: check that it is no price per unit."]
    );
}

#[test]
fn names_are_believed_only_where_cells_agree() {
    let text = "Date,Amount,Charge\n2026-09-01,10 hours,5.50\n2026-09-02,8 hours,4.40\n";
    assert_eq!(uses(text), ["Date: start", "Charge: cost"]);
    let text = "Date,Amount\n2026-09-01,ten\n2026-09-02,two\n";
    assert_eq!(uses(text), ["Date: start"]);
    assert_eq!(
        suggest(text).questions,
        ["“Amount” is named as a cost and holds “ten”, which is no amount: choose the column of the cost."]
    );
    let text = "Date,When,Cost\nnow,2026-09-01,5.50\nthen,2026-09-02,4.40\n";
    assert_eq!(uses(text), ["When: start", "Cost: cost"]);
    let text = "Month,Cost\n9,5.50\nx,4.40\n";
    assert!(suggest(text).questions[0].starts_with("“Month” is named as a date and holds “9”"));
    let text = "Date,Type,Cost\n2026-09-01,H100 SXM,5.50\n2026-09-02,gpu_8x_h100_sxm5,4.40\n";
    assert_eq!(uses(text), ["Date: start", "Type: accelerator", "Cost: cost"]);
    let text = "Date,Type,Cost\n2026-09-01,Usage,5.50\n2026-09-02,Refund,-4.40\n";
    assert_eq!(uses(text), ["Date: start", "Type: category", "Cost: cost"]);
    let words: BTreeMap<String, String> = suggest(text).category_words;
    assert_eq!(words["Refund"], "Adjustment");
    let text = "Date,Hours,Cost\n2026-09-01,10 h,5.50\n2026-09-02,8 h,4.40\n";
    assert_eq!(
        suggest(text).questions,
        ["“Hours” holds “10 h”, which is no plain number, and is not used as the quantity."]
    );
}

#[test]
fn two_columns_that_could_be_the_cost_are_asked_about() {
    let text = "Date,Cost,Amount\n2026-09-01,5.50,7\n2026-09-02,4.40,3\n";
    assert_eq!(suggest(text).questions, ["“Cost” is taken as the cost; “Amount” could be, too."]);
    let parts = "Date,Compute cost,Storage cost,Total cost\n2026-09-01,5,2,7\n2026-09-02,4,1,5\n";
    assert_eq!(column(parts, Use::Cost).as_deref(), Some("Total cost"));
    assert_eq!(suggest(parts).questions, Vec::<String>::new());
    let same = "Date,Cost,Amount\n2026-09-01,5.50,5.50\n2026-09-02,4.40,4.40\n";
    assert_eq!(suggest(same).questions, Vec::<String>::new());
}

#[test]
fn currencies_are_found_in_names_signs_and_titles() {
    for (text, expected) in [
        ("Date,Cost (USD)\n2026-09-01,5\n", Some("USD")),
        ("Date,cost_eur\n2026-09-01,5\n", Some("EUR")),
        ("Date,Cost\n2026-09-01,$5\n", Some("USD")),
        ("Date,Cost\n2026-09-01,C$5\n", Some("CAD")),
        ("Date,Cost\n2026-09-01,5 CHF\n", Some("CHF")),
        ("Date,Currency,Cost\n2026-09-01,€,5\n", Some("EUR")),
        ("Date,Currency,Cost\n2026-09-01,EUR,5\n", None),
        ("All amounts in GBP\nDate,Cost\n2026-09-01,5\n", Some("GBP")),
        ("Date,Cost\n2026-09-01,5\n", None),
        ("Date,Cost\n2026-09-01,¥5\n", None),
        ("Date,Cost\n2026-09-01,$5\n2026-09-02,€5\n", None),
    ] {
        assert_eq!(suggest(text).currency.as_deref(), expected, "{text}");
    }
    let several = suggest("Date,Cost\n2026-09-01,$5\n2026-09-02,€5\n").questions;
    assert_eq!(
        several,
        ["Amounts are in several currencies (EUR, USD), and no column says which: only one can be read."]
    );
}

#[test]
fn only_totals_that_are_sums_are_compared_with_them() {
    let text =
        |lines: &str| format!("Date,Item,Hours,Cost\n2026-09-01,a,2,10.00\n2026-09-02,b,3,20.00\n{lines}");
    for (lines, expected, questions) in [
        ("Total,,5,30.00\n", vec![rule("Date", "Total", true)], 0),
        ("Total,,5,31.00\n", vec![rule("Date", "Total", true)], 1),
        ("Total,,5,99.00\n", vec![rule("Date", "Total", false)], 1),
        (",Total for INV-7,5,30.00\n", vec![rule("Item", "Total for*", true)], 0),
        (
            ",VAT 20%,,6.00\n,Total,,36.00\n",
            vec![rule("Item", "VAT*", false), rule("Item", "Total", false)],
            1,
        ),
        (
            "Subtotal,,5,30.00\n2026-09-03,c,1,5.00\nSubtotal,,1,5.00\nTotal,,6,35.00\n",
            vec![rule("Date", "Subtotal", false), rule("Date", "Total", true)],
            0,
        ),
        // Charges that are called so.
        ("2026-09-03,Total Memory Upgrade,1,5.00\n", vec![], 0),
        ("2026-09-03,VAT,1,5.00\n", vec![], 0),
        // A rule for all that begins like it would leave out a charge.
        ("2026-09-03,VAT filing,1,5.00\n,VAT 20%,,7.00\n", vec![rule("Item", "VAT 20%", false)], 1),
    ] {
        let suggestion = suggest(&text(lines));
        assert_eq!(suggestion.leave_out, expected, "{lines}");
        assert_eq!(suggestion.questions.len(), questions, "{lines}: {:?}", suggestion.questions);
    }
    assert_eq!(
        suggest(&text("Total,,5,31.00\n")).questions,
        ["The line “Total” is left out as a total: it says 31.00, and the rows before it sum to 30.00."]
    );
    let with_tax = "Date,Cost,Tax\n2026-09-01,10.00,1.90\n2026-09-02,20.00,3.80\n";
    let total = |amount: &str| suggest(&format!("{with_tax}Total,{amount},5.70\n")).leave_out;
    assert_eq!(total("30.00"), [rule("Date", "Total", false)], "a mapping compares with taxes");
    assert_eq!(total("35.70"), [rule("Date", "Total", true)]);
}

#[test]
fn lines_without_date_or_amount_are_asked_about() {
    let text = "Date,Item,Cost\n2026-09-01,a,10.00\n,Discount,-2.00\nThank you,,\nSee you,,\n";
    assert_eq!(column(text, Use::Start).as_deref(), Some("Date"));
    assert_eq!(
        suggest(text).questions,
        [
            "1 line has an amount and no date, “Discount”: leave it out, or it is rejected.",
            "2 lines have neither date nor amount, such as “Thank you”: leave them out, or they are rejected.",
        ]
    );
}

#[test]
fn a_sheet_suggests_as_a_text_does() {
    let row = |hours, cost| {
        [texts(&["2026-09-01", "8x H100"]), vec![Cell::Number(hours), Cell::Number(cost)]].concat()
    };
    let rows = vec![
        (2, texts(&["Nord GmbH"])),
        (4, texts(&["Datum", "Leistung", "Stunden", "Betrag (EUR)"])),
        (5, row("720", "12.5")),
        (6, row("24", "12.5")),
        (8, [texts(&["Summe", "", ""]), vec![Cell::Number("25")]].concat()),
    ];
    let file = workbook(&[Sheet { name: "Rechnung", rows, ..Sheet::default() }]);
    let open = || billing::unpack(Cursor::new(file.clone()));
    let sampled = mapping::sample(&open, &Said::default()).unwrap();
    assert_eq!(sampled.header_row, 4);
    assert_eq!(sampled.above, ["", "Nord GmbH", ""]);
    let suggestion = mapping::suggest(&sampled);
    assert_eq!(suggestion.uses, [Use::Start, Use::Description, Use::Quantity, Use::Cost].map(Some));
    assert_eq!(suggestion.leave_out, [rule("Datum", "Summe", true)]);
    assert_eq!((suggestion.currency.as_deref(), suggestion.unit.as_deref()), (Some("EUR"), Some("Hours")));
    let refused = mapping::sample(&open, &said(None, Some(2))).unwrap_err().message();
    assert!(refused.starts_with("found a single column in row 2"), "{refused}");
}

#[test]
fn what_people_say_of_a_file_goes_before_what_is_guessed() {
    let text = invoice("rechnung.csv");
    let said = sample_as(&text, (Some(Separator::Semicolon), Some(5))).unwrap();
    assert_eq!((said.header_row, said.names[1].as_str()), (5, "8x NVIDIA H100 SXM Server"));
    assert_eq!(said.above.len(), 4);
    let refused = |separator, line| sample_as(&text, (separator, line)).unwrap_err().message();
    assert_eq!(
        refused(Some(Separator::Tab), Some(4)),
        "found columns separated by semicolons; expected columns separated by commas: export the file again, for a \
         spreadsheet set to a language with decimal commas has saved it; or say what its columns are at Imports, Mappings"
    );
    for line in [0, 99] {
        assert!(
            refused(None, Some(line))
                .starts_with(&format!("found no line {line}; expected the line that names"))
        );
    }
    assert!(
        refused(None, Some(3))
            .starts_with("found no columns in line 3, read with a semicolon between columns")
    );
}

#[test]
fn what_has_no_columns_is_refused() {
    for (text, expected) in [
        ("Thank you for your business.\nSee you.\n", "found a single column in line 1"),
        ("{\"data\": [{\"cost\": 5}]}", "found a single column; expected objects of names and values"),
        ("[1, 2]", "found JSON without names and values"),
        ("", "found an empty file"),
        ("\n\n\n", "found a file of blank lines"),
        ("<html></html>", "found HTML or XML"),
    ] {
        let refusal = sample_as(text, (None, None)).unwrap_err().message();
        assert!(refusal.starts_with(expected), "{text:?}: {refusal}");
    }
}

#[test]
fn a_sample_is_bounded_and_as_wide_as_its_header() {
    let row = |row: u32| format!("2026-09-01,{row},\"a, \"\"b\"\"\",more\n");
    let rows = (0..500).map(row).collect::<Vec<_>>().concat();
    let sampled = sample(&format!("Date,Cost,Item\n2026-09-01,7\n\n{rows}"));
    assert_eq!(sampled.rows.len(), 200);
    assert_eq!(sampled.rows[0], ["2026-09-01", "7", ""]);
    assert_eq!(sampled.rows[1], ["2026-09-01", "0", "a, \"b\""], "blank lines are no rows");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_file_gets_a_suggestion_or_a_refusal(bytes in prop::collection::vec(any::<u8>(), 0..600), says: bool, line in 0u32..9) {
        let said = said(says.then_some(Separator::Semicolon), says.then_some(line));
        if let Ok(sample) = mapping::sample(&|| billing::unpack(Cursor::new(bytes.clone())), &said) {
            mapping::suggest(&sample);
        }
    }

    #[test]
    fn any_cells_get_a_suggestion(
        names in prop::collection::vec(prop::sample::select(vec![
            "Date", "Start", "End", "Cost", "Amount", "Net", "Gross", "Tax", "VAT", "Hours", "Price", "Total", "Type",
            "Currency", "GPUs", "Unit", "Item", "Balance", "Discount", "Team", "", "Cost",
        ]), 2..8),
        cells in prop::collection::vec(prop::sample::select(vec![
            "", "-", "0", "1", "-5", "12.50", "1.234", "1,234.5", "1.234,5", "99999999999999999999999999999999999999",
            "1e-40", "1e40", "$5", "5 €", "¥1", "Total", "Subtotal 7", "VAT 20 %", "2026-09-01", "01/02/2026", "13/02/2026",
            "Sep 2026", "1.9.2026 – 7.9.2026", "2199-12-31", "1990-01-01", "USD", "H100", "Tax", "é\u{301}…", "0.000",
        ]), 0..120),
    ) {
        let rows = cells.chunks(names.len()).map(|row| {
            let mut row: Vec<String> = row.iter().map(|cell| (*cell).to_owned()).collect();
            row.resize(names.len(), String::new());
            row
        });
        let sample = Sample {
            separator: Separator::Comma,
            header_row: 1,
            above: vec!["Bill of Sep 2026".to_owned()],
            rows: rows.collect(),
            sheets: Vec::new(),
            sheet: None,
            is_other_sheet: false,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        let suggestion = mapping::suggest(&sample);
        prop_assert_eq!(suggestion.uses.len(), names.len());
        for of in Use::ALL.into_iter().filter(|of| *of != Use::Tag) {
            prop_assert!(suggestion.uses.iter().filter(|used| **used == Some(of)).count() < 2);
        }
    }
}

#[test]
fn hours_of_a_file_without_cost_are_no_cost_and_their_total_is_found() {
    let text = invoice("gpu-hours.csv");
    assert_eq!(
        uses(&text),
        ["Month: start", "Cluster: resource", "Team: tag", "GPU: accelerator", "GPU-hours: quantity",]
    );
    let suggestion = suggest(&text);
    assert_eq!(suggestion.unit.as_deref(), Some("GPU-Hours"));
    let asked = "No column looks like the cost of a row: choose it, or say that the file states no cost.";
    assert!(suggestion.questions.iter().any(|it| it == asked), "{:?}", suggestion.questions);
    assert_eq!(
        suggestion.leave_out,
        [LeaveOut { column: "Month".to_owned(), is: "Total".to_owned(), is_total: true }]
    );
    // Nothing but somebody's word makes it usage that is priced by rate cards.
    let mut draft = draft(&text, &[(Use::Provider, "Acme"), (Use::Account, "1"), (Use::Currency, "USD")]);
    assert!(draft.mapping().is_err() && draft.priced_by.is_none());
    draft.priced_by = Some(PricedBy::RateCards);
    assert!(draft.mapping().unwrap().lacks_cost());
}
