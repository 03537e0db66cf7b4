//! `/unallocated/2026-09`: what is unallocated, how much that is, and who could own it.

use askama::Template;

use super::super::choices::Choices;
use super::super::csv::{self, RowInCurrency};
use super::super::default_month::in_one_currency;
use super::super::error::Result;
use super::super::extract::{Pairs, Reading};
use super::super::format::{File, Format};
use super::super::layout::{Layout, Pages};
use super::super::question::Asked;
use super::super::{filters, paths, respond};
use crate::accounts::Viewer;
use crate::allocation::{Field, How, Suggestion};
use crate::chart;
use crate::money::{Currency, Decimal};
use crate::period::{BillingMonth, Period};
use crate::report::{self, Coverage, MonthCoverage, Offer, SuggestedRule, Unallocated, UnallocatedKey};

/// Ways on a page.
const PAGE: usize = 50;
/// Keys that are looked at, the largest; a file has them all.
pub const KEYS: i64 = 2_000;
/// Keys of a suggested rule that are shown.
const SHOWN: usize = 20;

#[derive(Template)]
#[template(path = "unallocated.html")]
struct Page {
    layout: Layout,
    period: Period,
    choices: Choices,
    it: Unallocated,
    chart: chart::Stack,
}

/// The month that was billed last, or this one; of several currencies all in one.
pub async fn latest(_: paths::AnyUnallocated, reading: Reading<Pairs>) -> Result {
    let Reading { now, query: pairs, app, mut db, .. } = reading;
    let asked = Asked::read(pairs)?;
    let month = app.answers.latest_month(&mut db, &Viewer::Everything).await?;
    let month = month.unwrap_or_else(|| BillingMonth::of(now.date_naive()));
    let asked = in_one_currency(&mut db, &app.answers, asked, month, &Viewer::Everything).await?;
    Ok(respond::see_other(asked.link(paths::Unallocated { period: month.into() })))
}

pub async fn show(path: paths::Unallocated, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { layout, person, query: pairs, app, mut db, .. } = reading;
    let period = path.period;
    let asked = Asked::read(pairs)?;
    let question = asked.question(period, person.viewer());
    let limit = asked.limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
    let limit = match format {
        Format::Csv | Format::Json => limit,
        Format::Html => Some(KEYS),
    };
    // On the heap, since so much is held while it waits.
    let it = Box::pin(app.answers.unallocated(&mut db, &question, 0, limit)).await?;
    match format {
        Format::Json => respond::json(&it),
        Format::Csv => {
            let currency = it.data_status.currency.as_ref();
            let lines = RowInCurrency::all(&it.keys, currency);
            csv::answer(&format!("unallocated-{period}"), &lines)
        }
        Format::Html => {
            let address = |asked: &Asked, period| asked.link(paths::Unallocated { period });
            let choices = Choices::find(&mut db, asked, period, &it.data_status, address).await?;
            let chart = over_time(&it);
            respond::html(Page { layout, period, choices, it, chart })
        }
    }
}

impl Page {
    fn has_owned(&self) -> bool {
        self.it.keys.iter().any(|key| !key.owned_hours.is_zero())
    }

    /// Those that are not shown, and all in one.
    fn other_currencies(&self) -> Vec<(String, String)> {
        let others = self.choices.currencies().into_iter().filter(|(_, _, is_current)| !is_current);
        others.map(|(label, href, _)| (label, href)).collect()
    }

    fn coverage(&self) -> Option<(&Coverage, &Currency)> {
        self.it.coverage.as_ref().zip(self.it.data_status.currency.as_ref())
    }

    /// What would give the keys an owner, of this page.
    fn suggested_rules(&self) -> Vec<SuggestedRule<'_>> {
        let first = usize::try_from(self.choices.asked.page - 1).unwrap_or(usize::MAX).saturating_mul(PAGE);
        report::suggested_rules(&self.it.keys).into_iter().skip(first).take(PAGE).collect()
    }

    fn pages(&self) -> Pages {
        let first = self.choices.at(&Asked { page: 1, ..self.choices.asked.clone() });
        Pages::of(
            self.choices.asked.page,
            report::suggested_rules(&self.it.keys).len() as u64,
            PAGE as u64,
            &first,
        )
    }

    /// Keys that are too small to be looked at.
    fn smaller(&self) -> i64 {
        self.it.count - self.it.keys.len() as i64
    }

    /// Of the unallocated charges; of the credits, where it is for nothing else.
    fn share(&self, suggested: &SuggestedRule<'_>) -> Option<Decimal> {
        let amounts = &self.it.coverage.as_ref()?.unallocated_gross;
        let of = if suggested.amounts.charges.is_zero() {
            suggested.amounts.credits
        } else {
            suggested.amounts.charges
        };
        Some(amounts.share(of))
    }

    /// Whether something that is unallocated is a credit, which is distinguished then.
    fn has_credits(&self) -> bool {
        let has = |it: &Coverage| !it.unallocated_gross.credits.is_zero();
        self.it.coverage.iter().chain(self.it.months.iter().map(|month| &month.coverage)).any(has)
    }

    /// The form that makes it so, filled in from the page's first month on, and what the link to it says.
    fn link(&self, suggestion: &Suggestion) -> (String, &'static str) {
        match &suggestion.how {
            How::Team { .. } => (paths::new_team(), "Create team"),
            How::Rule { when, to } => {
                let name = match when.first() {
                    Some((field, value)) => format!("{} {value}", field.name()),
                    None => "Labels".to_owned(),
                };
                (paths::new_rule(when, Some(to), &name, Some(self.period.first())), "Create rule")
            }
        }
    }

    /// The form of a rule for what is like a key, where no owner is suggested.
    fn rule(&self, key: &UnallocatedKey) -> String {
        let when = [
            (Field::Provider, &key.provider),
            (Field::Account, &key.account),
            (Field::Service, &key.service),
        ];
        let when: Vec<_> = when
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(field, value)| (field, value.clone()))
            .collect();
        let name = if key.service.is_empty() { &key.category } else { &key.service };
        paths::new_rule(&when, None, &format!("{name} of {}", key.account), Some(self.period.first()))
    }

    /// The charges of a key.
    fn charges(&self, key: &UnallocatedKey) -> String {
        let asked = Asked { page: 1, filters: Vec::new(), ..self.choices.asked.clone() };
        let list = asked.link(paths::Charges { period: self.period });
        format!("{list}{}key={}", if list.contains('?') { '&' } else { '?' }, key.charge_key_id)
    }

    fn month(&self, it: &MonthCoverage) -> String {
        self.choices.during(it.month.into())
    }
}

impl UnallocatedKey {
    /// What it is, in as few words as tell it.
    pub fn title(&self) -> &str {
        if self.item.is_empty() { &self.category } else { &self.item }
    }

    /// Where it is.
    pub fn place(&self) -> String {
        let usage = (self.category != "Usage" && !self.item.is_empty()).then_some(&self.category);
        let parts = [&self.provider, &self.account, &self.service, &self.region].into_iter().chain(usage);
        let parts: Vec<&str> = parts.map(String::as_str).filter(|part| !part.is_empty()).collect();
        parts.join(", ")
    }
}

impl SuggestedRule<'_> {
    /// The keys that are shown, and how many are not.
    pub fn shown(&self) -> (&[&UnallocatedKey], usize) {
        let shown = &self.keys[..self.keys.len().min(SHOWN)];
        (shown, self.keys.len() - shown.len())
    }

    /// What the keys have in common, where nothing in them says whose they are.
    pub fn place(&self) -> String {
        let Some(key) = self.keys.first() else { return String::new() };
        let parts = [&key.provider, &key.account, &key.service].into_iter().map(String::as_str);
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

/// Coverage as columns: what is owned below, what is not on top.
fn over_time(it: &Unallocated) -> chart::Stack {
    let series = |label: &str, is_other: bool, value: fn(&Coverage) -> Decimal| chart::Series {
        label: label.to_owned(),
        values: it.months.iter().map(|month| value(&month.coverage)).collect(),
        is_other,
    };
    chart::Stack {
        title: format!("{} by month: allocated and unallocated", it.data_status.cost.label()),
        description: "Stacked columns; the table below has the same figures.".to_owned(),
        unit: it.data_status.currency.as_ref().map(ToString::to_string).unwrap_or_default(),
        buckets: chart::Bucket::months(&it.months.iter().map(|it| it.month).collect::<Vec<_>>()),
        series: vec![
            series("Allocated directly", false, |it| it.direct),
            series("Shared costs", false, |it| it.shared),
            series("Unallocated", true, |it| it.unallocated),
        ],
        format: |amount: Decimal| filters::figure(amount, 2),
    }
}

csv::record! {
    |it: RowInCurrency<'_, UnallocatedKey>|
    "provider" => &it.row.provider,
    "account" => &it.row.account,
    "service" => &it.row.service,
    "item" => &it.row.item,
    "region" => &it.row.region,
    "category" => &it.row.category,
    "pricing" => &it.row.pricing,
    "accelerator" => &it.row.accelerator,
    "resource" => &it.row.resource,
    "tags" => it.row.tags.to_string(),
    "undivided_pool" => &it.row.pool,
    "cost" => it.row.cost,
    "currency" => it.currency,
    "accelerator_hours" => it.row.accelerator_hours,
    "owned_hours" => it.row.owned_hours,
    "share" => it.row.share,
    "could_be" => it.row.suggestions.first().map(|surest| &surest.who),
    "why" => it.row.suggestions.first().map(|surest| &surest.why),
    "first_day" => it.row.days.as_ref().map(|days| days.first),
    "last_day" => it.row.days.as_ref().map(|days| days.last),
    "days" => it.row.days.as_ref().map(|days| days.count as i64),
    "charge_key" => it.row.charge_key_id.to_string(),
}
