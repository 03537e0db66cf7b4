//! `/invoices/2026-09`: whether what the ledger holds is what the invoices say.

use askama::Template;
use serde::Deserialize;

use super::csv;
use super::error::Result;
use super::extract::{Form, Reading, Writing};
use super::form::{Fields, amount};
use super::format::Format;
use super::layout::Layout;
use super::question::Asked;
use super::{choices, filters, paths, respond};
use crate::accounts::Viewer;
use crate::ledger::{self, NewInvoice};
use crate::money::{Decimal, Money};
use crate::period::{BillingMonth, Period};

use crate::report::{Agreement, CostMetric, Grouping, ReconciledLine, ReconciledTotal, Reconciliation};

/// No issuer numbers its invoices with more.
const LONGEST_NUMBER: usize = 80;

#[derive(Template)]
#[template(path = "invoices.html")]
struct Page {
    layout: Layout,
    period: Period,
    it: Reconciliation,
    fields: Fields,
}

/// A row that sums the lines of one kind.
struct Subtotal {
    label: &'static str,
    in_files: Decimal,
    in_ledger: Decimal,
    tax: Decimal,
    /// Whether it shows what was invoiced and the difference: those of the total, which are of these lines alone.
    has_invoice: bool,
}

/// The month that was billed last, or this one.
pub async fn latest(_: paths::AnyInvoices, reading: Reading) -> Result {
    let Reading { now, app, mut db, .. } = reading;
    let month = app.answers.latest_month(&mut db, &Viewer::Everything).await?;
    let month = month.unwrap_or_else(|| BillingMonth::of(now.date_naive()));
    Ok(respond::see_other(paths::Invoices { period: month.into() }))
}

/// `?line=17-USD`: the line that an invoice is to be entered for. `?sequence=12`: as the ledger stood then, beside the
/// invoices that there are now.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chosen {
    line: Option<String>,
    sequence: Option<i64>,
}

pub async fn show(path: paths::Invoices, format: Format, reading: Reading<Chosen>) -> Result {
    let Reading { layout, query: chosen, app, mut db, .. } = reading;
    let period = path.period;
    let it = app.answers.reconciliation(&mut db, period, chosen.sequence).await?;
    match format {
        Format::Json => respond::json(&it),
        Format::Csv => csv::answer(&format!("invoices-{period}"), &it.lines),
        Format::Html => {
            let fields = Fields::new([("line", chosen.line.as_deref().unwrap_or_default())]);
            respond::html(Page { layout, period, it, fields })
        }
    }
}

#[derive(Deserialize)]
pub struct InvoiceForm {
    line: String,
    number: String,
    amount: String,
}

pub async fn enter(path: paths::Invoices, writing: Writing, Form(form): Form<InvoiceForm>) -> Result {
    let Writing { now, layout, by, app, mut db, .. } = writing;
    let period = path.period;
    let fields = [("line", &*form.line), ("number", &form.number), ("amount", &form.amount)];
    let mut fields = Fields::new(fields);
    let it = app.answers.reconciliation(&mut db, period, None).await?;
    if let Some(invoice) = form.read(&it, &mut fields) {
        if ledger::enter_invoice(&mut db, &invoice, by.at(now)).await? {
            let it = app.answers.reconciliation(&mut db, period, None).await?;
            return Ok(respond::flash(at(period), &said(&it, &invoice)));
        }
        fields.refuse("number", "This invoice number exists already. To change it, remove it first.");
    }
    respond::refused(Page { layout, period, it, fields })
}

impl InvoiceForm {
    fn read(&self, it: &Reconciliation, fields: &mut Fields) -> Option<NewInvoice> {
        let line = it.lines.iter().find(|line| line.name() == self.line);
        let line = fields.check("line", line.ok_or("Choose an account and month."));
        let number = match self.number.trim() {
            "" => Err("Enter the invoice number."),
            number if number.chars().count() > LONGEST_NUMBER => Err("Enter at most 80 characters."),
            number => Ok(number.to_owned()),
        };
        let number = fields.check("number", number);
        let amount =
            amount(&self.amount).ok_or("Enter an amount without thousands separators, such as 12920931.15.");
        let amount = fields.check("amount", amount);
        let line = line?;
        let total = Money { amount: amount?, currency: line.in_ledger.currency.clone() };
        Some(NewInvoice { scope_id: line.scope_id, number: number?, total })
    }
}

/// What is different now.
fn said(it: &Reconciliation, invoice: &NewInvoice) -> String {
    let line = it
        .lines
        .iter()
        .find(|line| line.scope_id == invoice.scope_id && line.in_ledger.currency == invoice.total.currency);
    let agrees = match line.map(|line| line.agreement) {
        Some(Agreement::Agrees) => "It matches the charges.",
        Some(Agreement::AgreesWithoutTax) => "It matches the charges without tax.",
        _ => "It differs from the charges.",
    };
    format!("Invoice {} entered. {agrees}", invoice.number)
}

#[derive(Deserialize)]
pub struct RemoveForm {
    invoice: i64,
}

pub async fn remove(path: paths::InvoiceRemove, writing: Writing, Form(form): Form<RemoveForm>) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let removed = ledger::remove_invoice(&mut db, form.invoice, by.at(now)).await?;
    let sentence = removed.map_or_else(
        || "Nothing changed: this invoice does not exist.".to_owned(),
        |number| format!("Invoice {number} removed."),
    );
    Ok(respond::flash(at(path.period), &sentence))
}

impl Page {
    fn here(&self) -> String {
        at(self.period)
    }

    fn remove(&self) -> String {
        paths::InvoiceRemove { period: self.period }.to_string()
    }

    fn periods(&self) -> Vec<(String, String, bool)> {
        choices::periods(self.period, at)
    }

    fn lines_of(&self, total: &ReconciledTotal) -> impl Iterator<Item = &ReconciledLine> {
        let currency = &total.in_ledger.currency;
        self.it.lines.iter().filter(move |line| line.in_ledger.currency == *currency)
    }

    /// Lines with an invoice, those that lack one and our own, summed apart: only where all of a row has an invoice do its
    /// columns subtract, but for what each line rounds. None where all lines are of one kind, which the total sums.
    fn subtotals(&self, total: &ReconciledTotal) -> Vec<Subtotal> {
        type IsOfKind = fn(&ReconciledLine) -> bool;
        let kinds: [(&str, IsOfKind); 4] = [
            ("With invoice", |line| line.invoiced.is_some()),
            ("No invoice yet", |line| line.agreement == Agreement::NoInvoice),
            ("On-prem, no invoice needed", |line| line.agreement == Agreement::Own),
            ("Adjustments, no invoice needed", |line| line.agreement == Agreement::Adjustment),
        ];
        let mut subtotals = Vec::new();
        for (label, is_of_kind) in kinds {
            let lines: Vec<_> = self.lines_of(total).filter(|line| is_of_kind(line)).collect();
            if lines.is_empty() {
                continue;
            }
            let sum = |amount: fn(&ReconciledLine) -> Decimal| lines.iter().map(|line| amount(line)).sum();
            subtotals.push(Subtotal {
                label,
                in_files: sum(|line| line.in_files.amount),
                in_ledger: sum(|line| line.in_ledger.amount),
                tax: sum(|line| line.tax.amount),
                has_invoice: lines.iter().all(|line| line.invoiced.is_some()),
            });
        }
        if subtotals.len() > 1 { subtotals } else { Vec::new() }
    }

    /// What an invoice can be entered for; those that lack one first.
    fn choices(&self) -> Vec<(String, String)> {
        let mut lines: Vec<&ReconciledLine> = self.it.lines.iter().collect();
        lines.sort_by_key(|line| line.agreement != Agreement::NoInvoice);
        let name = |line: &ReconciledLine| {
            let ReconciledLine { month, provider, billing_account, in_ledger, .. } = line;
            format!("{}, {provider} {billing_account}, {}", month.name(), in_ledger.currency)
        };
        lines.into_iter().map(|line| (line.name(), name(line))).collect()
    }

    /// Whether a spend page can show exactly this line: it can be narrowed to a provider, not to a billing account.
    fn is_alone(&self, line: &ReconciledLine) -> bool {
        let is_beside = |other: &&ReconciledLine| {
            (other.month, &other.provider, &other.in_ledger.currency)
                == (line.month, &line.provider, &line.in_ledger.currency)
        };
        self.it.lines.iter().filter(is_beside).count() == 1
    }

    fn enter(&self, line: &ReconciledLine) -> String {
        let page = paths::Invoices { period: self.period };
        format!("{}#enter", paths::with_query(page, &[("line".to_owned(), line.name())]))
    }
}

fn at(period: Period) -> String {
    paths::Invoices { period }.to_string()
}

impl ReconciledTotal {
    /// Lines that have an invoice or should have one.
    pub fn lines_to_invoice(&self) -> usize {
        self.lines - self.lines_own - self.lines_adjusted
    }
}

impl ReconciledLine {
    /// What the ledger's figure is made of.
    pub fn charges(&self) -> String {
        let currency = Some(self.in_ledger.currency.clone());
        let asked = Asked { cost: CostMetric::Billed, currency, ..Asked::default() };
        let asked = asked.only(&Grouping::Provider, Some(&self.provider)).by(Grouping::Category);
        asked.link(paths::Spend { period: self.month.into() })
    }

    /// How a form names it.
    pub fn name(&self) -> String {
        format!("{}-{}", self.scope_id, self.in_ledger.currency)
    }

    /// A word and its look.
    pub fn state(&self) -> (&'static str, &'static str) {
        match self.agreement {
            Agreement::Agrees => ("Matches", "good"),
            Agreement::AgreesWithoutTax => ("Matches without tax", "good"),
            Agreement::AgreesWithAdjustments => ("Matches with adjustments", "good"),
            Agreement::Differs => ("Differs", "bad"),
            Agreement::NoInvoice => ("No invoice", ""),
            Agreement::Own => ("On-prem", ""),
            Agreement::Adjustment => ("Adjustment", ""),
        }
    }

    /// What may explain a difference.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.rejected_rows > 0 {
            remarks.push(format!("{} rows could not be read", self.rejected_rows));
        }
        match (self.is_provisional, self.agreement) {
            (false, _) | (true, Agreement::Adjustment) => {}
            (true, Agreement::Own) => remarks.push("published before the month ended".to_owned()),
            (true, _) => remarks.push("provisional: no invoice number in the file yet".to_owned()),
        }
        remarks
    }
}

csv::record! {
    |it: ReconciledLine|
    "month" => it.month,
    "provider" => &it.provider,
    "billing_account" => &it.billing_account,
    "currency" => &it.in_ledger.currency,
    "in_files" => it.in_files.amount,
    "in_ledger" => it.in_ledger.amount,
    "tax" => it.tax.amount,
    "invoices" => it.invoices.iter().map(|invoice| invoice.number.as_str()).collect::<Vec<_>>().join(" "),
    "invoiced" => it.invoiced.as_ref().map(|invoiced| invoiced.amount),
    "difference" => it.difference.as_ref().map(|difference| difference.amount),
    "agreement" => it.state().0,
    "rejected_rows" => it.rejected_rows,
    "provisional" => it.is_provisional,
}
