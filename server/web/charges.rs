//! The charges behind a figure (`/charges/2026-09?service=AmazonEC2`), and one of them with the row of the
//! file it comes from (`/charges/12/0/4711`).

use std::sync::Arc;

use askama::Template;
use chrono::{DateTime, Utc};
use futures_util::{StreamExt as _, stream};
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;
use uuid::Uuid;

use super::csv;
use super::downloads::Slot;
use super::error::Result;
use super::extract::{Pairs, Reading};
use super::format::{File, Format};
use super::layout::{Layout, Pages};
use super::question::Asked;
use super::{Access, Error, choices, filters, imports, paths, respond};
use crate::accelerator::Catalog;
use crate::billing::ReadAs;
use crate::exchange;
use crate::ledger::{self, Archived, ChargeOfRow, OriginalRow, Originals};
use crate::money::{Currency, Decimal};
use crate::period::Period;
use crate::report::{
    self, Answers, ChargeLine, Charges, CostMetric, DataStatus, EveryCharge, FileOfDelivery, Grouping, Order,
    PricedBy, Question, RejectedRow, RowAddress, Spend, Trace,
};

#[derive(Template)]
#[template(path = "charges.html")]
struct ListPage {
    layout: Layout,
    period: Period,
    asked: Asked,
    /// Only the charges of this key; where a page of changes leads.
    key: Option<Uuid>,
    charges: Option<Charges>,
    data_status: DataStatus,
    reporting_currency: Option<Currency>,
}

pub async fn list(path: paths::Charges, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { layout, person, query: mut pairs, app, mut db, .. } = reading;
    let period = path.period;
    let key = take_key(&mut pairs)?;
    let mut asked = Asked::read(pairs)?;
    let mut question = asked.question(period, person.viewer());
    question.hides_payers = !person.may_see_billing_accounts();
    if format == Format::Csv {
        let question = of_list(&question);
        let spend = app.answers.spend(&mut db, &question).await?;
        drop(db);
        let slot = app.downloads.slot(person.user_id)?;
        return download(slot, &question, &spend, key).await;
    }
    let (spend, charges) = find(&mut db, &app.answers, &question, key, asked.page).await?;
    match format {
        Format::Html => {
            let data_status = DataStatus::from(&spend);
            choices::keep_currency(&mut asked, &data_status);
            let reporting_currency = exchange::reporting_currency(&mut db).await?;
            respond::html(ListPage { layout, period, asked, key, charges, data_status, reporting_currency })
        }
        Format::Json | Format::Csv => respond::json(&charges),
    }
}

/// What a list sums to, and a page of it.
pub(super) async fn find(
    db: &mut PgConnection,
    answers: &Answers,
    question: &Question,
    key: Option<Uuid>,
    page: u64,
) -> Result<(Spend, Option<Charges>), Error> {
    let question = of_list(question);
    let spend = answers.spend(&mut *db, &question).await?;
    let page = report::Page { first: (page - 1) as i64 * report::PAGE_SIZE, size: report::PAGE_SIZE };
    let charges = answers.charges(db, &question, &spend, key, page).await?;
    Ok((spend, charges))
}

/// A list has no groups; whatever it is summed by, its total is the same.
fn of_list(question: &Question) -> Question {
    Question { by: Grouping::Provider, then: None, ..question.clone() }
}

/// All of them, however many, on one of the connections for downloads. Whoever goes away, or stops reading, ends the
/// query.
async fn download(slot: Slot, question: &Question, spend: &Spend, key: Option<Uuid>) -> Result {
    let name = format!("charges-{}", question.period);
    let opened = EveryCharge::open(slot.pool(), question, spend, key).await;
    let mut charges = opened.map_err(Slot::busy)?;
    // The first part before the answer begins: what is wrong by then is shown as an error. It is written even where
    // it is empty, for the names of the columns.
    let first = charges.next().await?;
    let rest = stream::try_unfold(charges, async |mut charges| {
        let part = charges.next().await?;
        Ok((!part.is_empty()).then_some((part, charges)))
    });
    let currency = spend.currency.clone();
    let lines = move |part: Vec<ChargeLine>| -> Vec<Line> {
        part.into_iter().map(|charge| Line { charge, currency: currency.clone() }).collect()
    };
    let parts = stream::once(async { Ok(first) }).chain(rest).map(move |part| part.map(&lines));
    Ok(csv::answer_in_parts(&name, slot.hand_out(parts, Slot::IDLE)))
}

/// The charge key that the address names beside the question.
fn take_key(pairs: &mut Vec<(String, String)>) -> Result<Option<Uuid>> {
    let Some(at) = pairs.iter().position(|(name, _)| name == "key") else {
        return Ok(None);
    };
    let (_, key) = pairs.remove(at);
    key.parse().map(Some).map_err(|_| Error::BadRequest("key: enter the ID of a group of charges.".into()))
}

impl ListPage {
    fn at(&self, asked: &Asked) -> String {
        self.with_key(asked.link(paths::Charges { period: self.period }))
    }

    fn with_key(&self, href: String) -> String {
        match self.key {
            None => href,
            Some(key) => format!("{href}{}key={key}", if href.contains('?') { '&' } else { '?' }),
        }
    }

    fn chips(&self) -> Vec<(String, String)> {
        let mut chips = self.asked.chips(|asked| self.at(asked));
        if self.key.is_some() {
            let without = self.asked.link(paths::Charges { period: self.period });
            chips.push(("One group of charges".to_owned(), without));
        }
        chips
    }

    /// Each currency alone, and all in one, where there are several.
    fn currencies(&self) -> Vec<choices::Choice> {
        choices::currencies(&self.asked, &self.data_status, self.reporting_currency.as_ref(), |asked| {
            self.at(asked)
        })
    }

    fn spend(&self) -> String {
        Asked { page: 1, ..self.asked.clone() }.link(paths::Spend { period: self.period })
    }

    fn file(&self, file: File) -> String {
        file.of(self.at(&self.asked))
    }

    fn order(charges: &Charges) -> &'static str {
        match charges.order {
            Order::LargestFirst => "Largest first.",
            Order::LargestKeyFirst => {
                "Grouped by service, meter, account, region and tags, largest group first."
            }
            Order::Ledger => "Not sorted: too many charges.",
        }
    }

    fn pages(&self) -> Pages {
        let count = self.charges.as_ref().map_or(0, |charges| charges.count as u64);
        let first = self.at(&Asked { page: 1, ..self.asked.clone() });
        Pages::of(self.asked.page, count, report::PAGE_SIZE as u64, &first)
    }
}

impl ChargeLine {
    /// The page of its row, and of it there: a credit may stand beside what it is for, and the key of a pod's part of a machine
    /// follows from no row alone.
    fn address(&self) -> String {
        let row = paths::Charge { delivery: self.delivery, file: self.file_no, row: self.row };
        OfRow::of(self.charge_key_id, self.charge_period_start).at(row)
    }
}

#[derive(Template)]
#[template(path = "charge.html")]
struct RowPage {
    layout: Layout,
    at: RowAddress,
    file: FileOfDelivery,
    /// The charge that was asked for, else the first of the row; `None` where the row made none.
    trace: Option<Trace>,
    /// Where it arrived without cost.
    priced_by: Option<PricedBy>,
    /// All charges of the row, where these are several: a usage and its credits, or what each day cost.
    charges: Vec<Trace>,
    /// Why it did not, where it was rejected.
    rejection: Option<RejectedRow>,
    /// `None` where the original cannot be read.
    original: Option<OriginalRow>,
}

/// Which of a row's charges is asked for: its key, and when it begins.
#[derive(Debug, Serialize, Deserialize)]
pub struct OfRow {
    charge: Option<Uuid>,
    start: Option<DateTime<Utc>>,
}

impl OfRow {
    fn of(charge: Uuid, start: DateTime<Utc>) -> Self {
        Self { charge: Some(charge), start: Some(start) }
    }

    fn at(&self, row: paths::Charge) -> String {
        paths::with_query(row, self)
    }

    fn is(&self, charge: &Trace) -> bool {
        self.charge.is_none_or(|key| key == charge.charge_key)
            && self.start.is_none_or(|start| start == charge.charge_period_start)
    }
}

/// Charges of a row that are listed.
const MOST_OF_ROW: usize = 1_000;

pub async fn show(path: paths::Charge, format: Format, reading: Reading<OfRow>) -> Result {
    let Reading { layout, person, query, app, mut db, .. } = reading;
    let row = path.row;
    let at = RowAddress { delivery: path.delivery, file: path.file, row };
    let mut file = report::file_of(&mut db, at).await?.ok_or(Error::NotFound)?;
    // Read first: it tells the keys, by which the charges are found at once.
    let catalog = ledger::catalog(&mut db).await?;
    let read_as = ledger::read_as(&mut db, file.format.as_deref()).await?;
    let mut original = read_original(app.originals, &file, row, (catalog, read_as)).await;
    let made = original.as_ref().map_or(0, |it| it.charges.len());
    let of_original = original.iter().flat_map(|it| &it.charges).map(|charge| charge.key);
    let keys: Vec<Uuid> = of_original.chain(query.charge).collect();
    let mut charges = report::charges_of_row(&mut db, at, (&keys, made), &person.viewer()).await?;
    let mut trace = charges.iter().find(|charge| query.is(charge)).or(charges.first()).cloned();
    if charges.len() == 1 {
        charges.clear();
    }
    if !person.may_see_billing_accounts()
        && let Some(trace) = &mut trace
        && let Some(payer) = trace.payer(original.iter().flat_map(OriginalRow::billing_accounts))
    {
        trace.hide(&payer);
        for charge in &mut charges {
            charge.hide(&payer);
        }
        file.name = payer.hide(&file.name);
        if let Some(original) = &mut original {
            original.hide(&payer);
        }
    }
    // A row without a charge belongs to nobody's team.
    if trace.is_none() && (!layout.may(Access::Finance) || !(1..=file.rows).contains(&row)) {
        return Err(Error::NotFound);
    }
    let rejection = match trace {
        Some(_) => None,
        None => report::rejection(&mut db, at).await?,
    };
    if trace.is_none() && rejection.is_none() {
        Archived::check(&mut db, &[at.delivery]).await?;
    }
    // A key and day may have usage with cost, too: the row says which this is, where it can still be read.
    let states_cost = |trace: &Trace| {
        let of_row = original.iter().flat_map(|it| &it.charges);
        of_row.clone().any(|it| it.key == trace.charge_key && !it.lacks_cost)
    };
    let mut priced_by = match &trace {
        Some(trace) if !states_cost(trace) => report::priced_by(&mut db, trace).await?,
        Some(_) | None => None,
    };
    // What was agreed with whom, and for more than they use, is no team's matter.
    if let Some(priced_by) = &mut priced_by
        && !layout.may(Access::Finance)
    {
        priced_by.rates.truncate(1);
        for rate in &mut priced_by.rates {
            (rate.contract, rate.source, rate.billing_account) = Default::default();
        }
    }
    match format {
        Format::Csv => Err(Error::NotFound),
        Format::Json => {
            let original = original.map(|original| original.columns);
            let mut answer =
                serde_json::json!({ "charge": trace, "rejection": rejection, "original": original });
            if let Some(priced_by) = priced_by {
                answer["priced_by"] = serde_json::json!(priced_by);
            }
            if !charges.is_empty() {
                answer["charges_of_row"] = serde_json::json!(charges);
            }
            respond::json(&answer)
        }
        Format::Html => {
            respond::html(RowPage { layout, at, file, trace, priced_by, charges, rejection, original })
        }
    }
}

async fn read_original(
    originals: Originals,
    file: &FileOfDelivery,
    row: i64,
    (catalog, read_as): (Arc<Catalog>, ReadAs),
) -> Option<OriginalRow> {
    let (sha256, row) = (file.sha256.filter(|_| !file.is_removed)?, u64::try_from(row).ok()?);
    let noisy_tags = file.noisy_tags.clone();
    let read = tokio::task::spawn_blocking(move || {
        ledger::original_row(&originals, &sha256, row, &read_as, noisy_tags, catalog)
    });
    match read.await {
        Ok(Ok(original)) => Some(original),
        Ok(Err(error)) => {
            tracing::warn!(%error, %sha256, row, "an original could not be read");
            None
        }
        Err(_) => None,
    }
}

impl RowPage {
    /// Why the charge that is shown pays for accelerators or does not.
    fn why(&self) -> Option<&str> {
        let charges = &self.original.as_ref()?.charges;
        let shown = |charge: &&ChargeOfRow| self.trace.as_ref().is_some_and(|it| it.charge_key == charge.key);
        charges.iter().find(shown).or(charges.first()).map(|charge| charge.why.as_str())
    }

    /// What an adjustment is for, as its row says.
    fn adjustment(&self) -> Option<&str> {
        let is_one = self.file.format.as_deref() == Some("adjustments");
        let columns = self.original.as_ref().filter(|_| is_one).map(|it| &it.columns)?;
        let column = columns.iter().find(|column| column.feeds == Some("ChargeDescription"))?;
        Some(&column.value)
    }

    /// The page of another charge of the row.
    fn of_row(&self, charge: &Trace) -> String {
        let RowAddress { delivery, file, row } = self.at;
        OfRow::of(charge.charge_key, charge.charge_period_start).at(paths::Charge { delivery, file, row })
    }

    fn is_shown(&self, charge: &Trace) -> bool {
        self.trace.as_ref().is_some_and(|shown| {
            (shown.charge_key, shown.charge_period_start) == (charge.charge_key, charge.charge_period_start)
        })
    }

    fn listed(&self) -> &[Trace] {
        &self.charges[..self.charges.len().min(MOST_OF_ROW)]
    }

    fn not_listed(&self) -> usize {
        self.charges.len() - self.listed().len()
    }

    /// Whether it is what several times cost, so that the list says which.
    fn has_times(&self) -> bool {
        let starts = self.charges.iter().map(|charge| charge.charge_period_start);
        starts.clone().min() != starts.max()
    }

    fn sum_is_of(&self) -> &'static str {
        let has_credits = self.charges.iter().any(|charge| charge.category() == "Credit");
        if has_credits { "Row after credits" } else { "All charges of the row" }
    }

    /// What the charges of the row add up to, in one of the four costs.
    fn sum(&self, cost: CostMetric) -> Decimal {
        self.charges.iter().map(|charge| charge.cost(cost)).fold(Decimal::ZERO, |sum, cost| sum + cost)
    }

    fn trail(&self) -> [(String, String); 1] {
        match &self.trace {
            Some(trace) => [(trace.billing_period.clone(), format!("/spend/{}", trace.billing_period))],
            None => [(format!("Import {}", self.at.delivery), imports::at(self.at.delivery).to_string())],
        }
    }

    fn may_see_delivery(&self) -> bool {
        self.layout.may(Access::Finance)
    }

    /// The rows of the file before and after; whose they are is not known here, so only who sees all is led there.
    fn beside(&self, by: i64) -> Option<(String, String)> {
        let row = self.at.row + by;
        let is_there = self.may_see_delivery() && (1..=self.file.rows).contains(&row);
        let path = paths::Charge { delivery: self.at.delivery, file: self.at.file, row };
        is_there.then(|| (format!("Row {row}"), path.to_string()))
    }
}

/// A charge, and what the file counts its cost in.
struct Line {
    charge: ChargeLine,
    currency: Option<Currency>,
}

csv::record! {
    |it: Line|
    "delivery" => it.charge.delivery,
    "file" => i64::from(it.charge.file_no),
    "row" => it.charge.row,
    "charge_period_start" => it.charge.charge_period_start.to_rfc3339(),
    "charge_period_end" => it.charge.charge_period_end.to_rfc3339(),
    "provider" => &it.charge.provider,
    "account" => &it.charge.account,
    "service" => &it.charge.service,
    "region" => &it.charge.region,
    "category" => &it.charge.category,
    "pricing" => &it.charge.pricing,
    "meter" => &it.charge.meter,
    "accelerator" => &it.charge.accelerator,
    "resource" => &it.charge.resource,
    "quantity" => it.charge.quantity,
    "unit" => &it.charge.unit,
    "billed_cost" => it.charge.billed_cost,
    "effective_cost" => it.charge.effective_cost,
    "contracted_cost" => it.charge.contracted_cost,
    "list_cost" => it.charge.list_cost,
    "currency" => it.charge.currency.as_str(),
    "tags" => it.charge.tags.to_string(),
    "cost" => it.charge.cost,
    // What no rate converts has no cost, as on the page.
    "cost_currency" => it.currency.as_ref().filter(|_| it.charge.cost.is_some()),
}
