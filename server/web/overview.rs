//! `/overview`: the latest month so far beside the one before it, and what needs attention. Where everyone begins.

use askama::Template;
use chrono::{DateTime, NaiveDate, Utc};
use sqlx::PgConnection;

use super::csv;
use super::error::{Error, Result};
use super::extract::{Pairs, Reading};
use super::format::{File, Format};
use super::layout::Layout;
use super::question::Asked;
use super::spend::chart;
use super::{Access, clusters, filters, paths, respond, usage};
use crate::accounts::Person;
use crate::changes::Kind;
use crate::chart::Stack;
use crate::exchange::Used;
use crate::money::{Decimal, Money};
use crate::onprem::{self, Months, State as Stands};
use crate::period::BillingMonth;
use crate::report::{
    self, Answers, Attention, CostMetric, Group, Grouping, MonthOfProvider, Overview, ProviderDays, SHARED,
    Spend, Step, Unconverted,
};
use crate::telemetry::prometheus::Trouble;

/// Providers with a color of their own in the chart.
const COLORED: usize = 7;
/// Things to look at that are shown at once; the others are folded below.
const SHOWN: usize = 8;
/// Files of an upload that are named.
const NAMED: usize = 3;

#[derive(Template)]
#[template(path = "overview.html")]
struct Page {
    layout: Layout,
    shown: Option<Shown>,
}

/// What there is to see where there is a month.
struct Shown {
    overview: Overview,
    chart: Stack,
    cost: CostMetric,
    items: Vec<Item>,
}

/// One thing to look at, in words.
struct Item {
    state: &'static str,
    kind: &'static str,
    sentence: String,
    href: String,
    /// What one does there.
    act: &'static str,
}

/// The address that everyone types.
pub async fn home(_: paths::Home) -> Result {
    Ok(respond::see_other(paths::Overview))
}

pub async fn show(_: paths::Overview, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { now, layout, person, query: pairs, app, mut db } = reading;
    let cost = cost(&pairs)?;
    let overview = find(&mut db, &app.answers, (&app.months, now.date_naive()), &person, cost).await?;
    match format {
        Format::Json => respond::json(&overview),
        // The months of the chart, a line a month and provider.
        Format::Csv => csv::answer("overview", overview.iter().flat_map(|overview| &overview.months)),
        Format::Html => {
            let shown = overview.map(|overview| Shown {
                chart: chart::stack(&overview.year, Step::Month, overview.series.clone()),
                items: overview.attention.iter().map(|it| item(it, layout.may(Access::Admin))).collect(),
                cost,
                overview,
            });
            respond::html(Page { layout, shown })
        }
    }
}

async fn find(
    db: &mut PgConnection,
    answers: &Answers,
    (months, today): (&Months, NaiveDate),
    person: &Person,
    cost: CostMetric,
) -> Result<Option<Overview>> {
    // On the heap, since so much is held while it waits.
    let viewer = person.viewer();
    let overview = report::overview(db, answers, &viewer, cost, COLORED, (months, today));
    Ok(Box::pin(overview).await?)
}

/// `?cost=billed` is all there is to ask.
fn cost(pairs: &[(String, String)]) -> Result<CostMetric> {
    let mut cost = CostMetric::default();
    for (name, value) in pairs {
        if name != "cost" {
            return Err(Error::BadRequest(format!(
                "{name} cannot be used here; only cost can. For other questions use an address such as /spend/2026-09."
            )));
        }
        cost = value.parse().map_err(|error| Error::BadRequest(format!("cost: {error}.")))?;
    }
    Ok(cost)
}

/// What happened, and where one does something about it.
fn item(attention: &Attention, may_decide: bool) -> Item {
    let delivery = |id: i64| paths::Delivery { delivery: id }.to_string();
    match attention {
        Attention::Waiting { delivery: id, files, since } => Item {
            state: "Needs review",
            kind: "wait",
            sentence: format!(
                "Import {id} ({}) of {} needs review. Until then it is in no figure.",
                named(files),
                day(since)
            ),
            href: delivery(*id),
            act: "Review import",
        },
        Attention::Failed { batch, files, since } => Item {
            state: "Failed",
            kind: "bad",
            sentence: format!("The upload of {} failed on {}.", named(files), day(since)),
            href: paths::Batch { batch: *batch }.to_string(),
            act: "Retry or cancel",
        },
        Attention::Proposed { changes } => {
            proposed(*changes, "allocation", super::changes::list::proposed(Kind::Allocation), may_decide)
        }
        Attention::AssetRegisterProposed { changes } => {
            proposed(*changes, "clusters", super::changes::list::proposed(Kind::AssetRegister), may_decide)
        }
        Attention::PricesProposed { changes } => {
            proposed(*changes, "prices", super::changes::list::proposed(Kind::Prices), may_decide)
        }
        Attention::Rejected { delivery: id, rows, months } => Item {
            state: "Incomplete",
            kind: "bad",
            sentence: format!(
                "{} of import {id} could not be read and {} missing from {}.",
                counted(*rows, "row"),
                if *rows == 1 { "is" } else { "are" },
                listed(months)
            ),
            href: delivery(*id),
            act: "Show rejected rows",
        },
        Attention::Shrank { delivery: id, lost_by, provider, billing_account, month, loss } => Item {
            state: "Smaller",
            kind: "bad",
            sentence: format!(
                "Import {lost_by} reduced {} of {provider} {billing_account} by {loss}.",
                month.name(),
            ),
            href: delivery(*id),
            act: "Review what is missing",
        },
        Attention::Absent { provider, billing_account, month } if provider == onprem::PROVIDER => Item {
            state: "Missing",
            kind: "wait",
            sentence: format!(
                "The bill of cluster {billing_account} for {} is not published yet.",
                month.name()
            ),
            href: clusters::cluster::to_month(billing_account, *month),
            act: "Open bill",
        },
        Attention::Absent { provider, billing_account, month } => Item {
            state: "Missing",
            kind: "wait",
            sentence: format!(
                "{provider} account {billing_account} was billed in {}, but has no charges in {} yet.",
                month.previous().name(),
                month.name()
            ),
            href: paths::Imports.to_string(),
            act: "Import bill",
        },
        Attention::Cluster { cluster, name, state, months } => {
            let months_are = listed(months);
            let (state, kind, sentence, act) = match state {
                Stands::New => (
                    "Not published",
                    "wait",
                    format!("{months_are} of cluster {name} {} over and not published yet.", are(months)),
                    "Review and publish",
                ),
                Stands::Gone => (
                    "Differs",
                    "bad",
                    format!(
                        "{months_are} of cluster {name}: published, but no longer in the asset register."
                    ),
                    "Review and publish",
                ),
                _ => (
                    "Differs",
                    "bad",
                    format!(
                        "{months_are} of cluster {name}: the published bill differs from the asset register."
                    ),
                    "Compare and publish",
                ),
            };
            Item { state, kind, sentence, href: clusters::to(cluster), act }
        }
        Attention::WithoutRate { currency, months } => Item {
            state: "No rate",
            kind: "bad",
            sentence: format!(
                "Amounts in {currency} of {} are left out: there is no exchange rate.",
                listed(months)
            ),
            href: paths::Rates.to_string(),
            act: if months.len() == 1 { "Enter rate" } else { "Enter rates" },
        },
        Attention::Unpriced { provider, months, accelerator_hours } => Item {
            state: "Unpriced",
            kind: "wait",
            sentence: if accelerator_hours.is_zero() {
                format!("Usage of {provider} in {} came without cost, and no rate covers it.", listed(months))
            } else {
                format!(
                    "{} GPU-hours of {provider} in {} came without cost, and no rate covers them.",
                    filters::figure(*accelerator_hours, 1),
                    listed(months)
                )
            },
            href: paths::RateCards.to_string(),
            act: "Enter rates",
        },
        Attention::NotAdjusted { bills } => Item {
            state: "Not adjusted",
            kind: "wait",
            sentence: if *bills == 1 {
                "The adjustments of a bill are not active or not up to date.".to_owned()
            } else {
                format!("The adjustments of {bills} bills are not active or not up to date.")
            },
            href: paths::Adjustments.to_string(),
            act: "See why",
        },
        Attention::NotDivided { bills } => Item {
            state: "Not divided",
            kind: "wait",
            sentence: if *bills == 1 {
                "The machines of a bill are not divided among those who used them.".to_owned()
            } else {
                format!("The machines of {bills} bills are not divided among those who used them.")
            },
            href: paths::Usage.to_string(),
            act: "See why",
        },
        Attention::NotMatched { nodes, accelerator_hours } => Item {
            state: "Not matched",
            kind: "wait",
            sentence: format!(
                "{} no machine of a bill: {} GPU-hours of jobs have no cost.",
                if *nodes == 1 { "A node is".to_owned() } else { format!("{nodes} nodes are") },
                filters::figure(*accelerator_hours, 1),
            ),
            href: format!("{}#nodes", paths::Usage),
            act: "Match nodes",
        },
        Attention::Prometheus { server, name, trouble } => Item {
            state: if matches!(trouble, Trouble::Failing { .. }) { "Not read" } else { "No GPUs" },
            kind: "bad",
            sentence: format!("Prometheus {name}: {}", usage::prometheus::sentence(trouble)),
            href: paths::Prometheus { server: *server }.to_string(),
            act: "See why",
        },
        Attention::Unrecognized { names, billed_cost } => Item {
            state: "Not recognized",
            kind: "wait",
            sentence: format!(
                "{} {} and {} not recognized: {} billed.",
                if *names == 1 {
                    "A machine or meter".to_owned()
                } else {
                    format!("{names} machines or meters")
                },
                if *names == 1 { "looks like an accelerator" } else { "look like accelerators" },
                if *names == 1 { "is" } else { "are" },
                billed_cost
                    .iter()
                    .map(|cost| format!("{} {}", filters::figure(cost.amount, 2), cost.currency))
                    .collect::<Vec<_>>()
                    .join(", "),
            ),
            href: paths::Catalog.to_string(),
            act: "Open catalog",
        },
        Attention::Invoice { provider, billing_account, month, difference } => Item {
            state: "Differs",
            kind: "bad",
            sentence: format!(
                "The invoices of {provider} {billing_account} for {} are {} {} {} its charges.",
                month.name(),
                filters::figure(difference.amount.abs(), 2),
                difference.currency,
                if difference.amount.is_negative() { "below" } else { "above" },
            ),
            href: paths::Invoices { period: (*month).into() }.to_string(),
            act: "Compare invoices",
        },
        Attention::Budget { budget, name, period, spent, amount, reached, forecast } => Item {
            state: "Budget",
            kind: if spent.amount > amount.amount { "bad" } else { "wait" },
            sentence: format!(
                "{name} has spent {} of {} {} in {}, {}%{}.",
                filters::figure(spent.amount, 2),
                filters::figure(amount.amount, 2),
                amount.currency,
                period.name(),
                filters::figure(reached.times(100), 1),
                match forecast {
                    Some(expected) => format!("; forecast {}", filters::figure(*expected, 2)),
                    None => String::new(),
                }
            ),
            href: paths::Budget { budget: *budget }.to_string(),
            act: "Open budget",
        },
        Attention::Provisional { provider, month, accounts } => Item {
            state: "Provisional",
            kind: "wait",
            sentence: format!(
                "{} has no invoice yet for {} of {provider}.",
                month.name(),
                counted(*accounts as i64, "account")
            ),
            href: Asked::default()
                .only(&Grouping::Provider, Some(provider))
                .link(paths::Spend { period: (*month).into() }),
            act: "Open month",
        },
    }
}

fn proposed(changes: i64, of: &str, href: String, may_decide: bool) -> Item {
    Item {
        state: "Proposed",
        kind: "wait",
        sentence: format!(
            "{} to {of} {} for {}.",
            counted(changes, "proposed change"),
            if changes == 1 { "is waiting" } else { "are waiting" },
            if may_decide { "your review" } else { "review" },
        ),
        href,
        act: if may_decide { "Review changes" } else { "View changes" },
    }
}

fn counted(n: i64, what: &str) -> String {
    let number = filters::figure(Decimal::from(n), 0);
    if n == 1 { format!("{number} {what}") } else { format!("{number} {what}s") }
}

fn day(at: &DateTime<Utc>) -> String {
    at.format("%b %-d, %Y").to_string()
}

fn named(files: &[String]) -> String {
    match files {
        [] => "no file".to_owned(),
        _ if files.len() > NAMED => {
            format!("{} and {} more", files[..NAMED].join(", "), files.len() - NAMED)
        }
        _ => files.join(", "),
    }
}

fn are(months: &[BillingMonth]) -> &'static str {
    if months.len() == 1 { "is" } else { "are" }
}

fn listed(months: &[BillingMonth]) -> String {
    match months {
        [] => "no month".to_owned(),
        [only] => only.name(),
        [first, last] => format!("{} and {}", first.name(), last.name()),
        [first, .., last] => format!("{} months ({} to {})", months.len(), first.name(), last.name()),
    }
}

impl Page {
    fn may_import(&self) -> bool {
        self.layout.may(Access::Finance)
    }
}

impl Shown {
    fn heading(&self) -> String {
        let name = self.overview.month.name();
        if self.overview.through.is_some() { format!("{name} so far") } else { name }
    }

    /// What is beside a figure of the month before, all of which it is of: `October 2026, full month` beside a part of
    /// November.
    fn previous_in_words(&self) -> String {
        let name = self.overview.previous.name();
        if self.overview.through.is_some() { format!("{name}, full month") } else { name }
    }

    /// All of the month before, of a provider.
    fn whole_before(&self, group: &Group) -> Decimal {
        let mut before = self.overview.previous_by_provider.groups.iter();
        before.find(|it| it.key == group.key).map(|it| it.cost.amount).unwrap_or_default()
    }

    /// Providers of all of the month before that this month has nothing of yet.
    fn providers_only_before(&self) -> Vec<&Group> {
        let overview = &self.overview;
        if overview.up_to_same_day.is_none() {
            return Vec::new();
        }
        only_before(&overview.by_provider, &overview.previous_by_provider)
    }

    /// Accelerators of the month before that this month has nothing of. The column of that month sums with these.
    fn accelerators_only_before(&self) -> Vec<&Group> {
        only_before(&self.overview.by_accelerator, &self.overview.previous_by_accelerator)
    }

    fn file(&self, file: File) -> String {
        file.of(Asked { cost: self.cost, ..Asked::default() }.link(paths::Overview))
    }

    fn costs(&self) -> Vec<(String, String, bool)> {
        let offered = CostMetric::ALL
            .into_iter()
            .filter(|cost| matches!(cost, CostMetric::Effective | CostMetric::Billed) || *cost == self.cost);
        let choice = |cost: CostMetric| {
            let asked = Asked { cost, ..Asked::default() };
            (cost.label(), asked.link(paths::Overview), cost == self.cost)
        };
        let mut costs: Vec<_> = offered.map(choice).collect();
        // Effective first: it is what one sees without asking.
        costs[..2].swap(0, 1);
        costs
    }

    /// The same question on the spend page.
    fn asked(&self) -> Asked {
        let has_others = !self.overview.year.rates.is_empty() || !self.overview.year.unconverted.is_empty();
        let has_to_say = has_others && !self.overview.is_chosen;
        let convert_into = self.overview.by_provider.currency.clone().filter(|_| has_to_say);
        Asked { cost: self.cost, convert_into, ..Asked::default() }
    }

    fn month(&self) -> String {
        at(&self.asked().by(Grouping::Provider), self.overview.month)
    }

    fn previous_month(&self) -> String {
        at(&self.asked().by(Grouping::Provider), self.overview.previous)
    }

    /// Why the month differs from the one before it.
    fn variance(&self) -> String {
        self.asked().link(paths::Variance { period: self.overview.month.into() })
    }

    fn of_provider(&self, group: &Group) -> String {
        at(&self.asked().only(&Grouping::Provider, group.key.as_deref()), self.overview.month)
    }

    fn of_accelerator(&self, group: &Group) -> String {
        let narrowed = self.asked().only(&Grouping::Accelerator, group.key.as_deref());
        at(&narrowed.by(Grouping::Provider), self.overview.month)
    }

    fn of_all_accelerators(&self) -> String {
        at(&self.asked().by(Grouping::Accelerator), self.overview.month)
    }

    fn days_of(&self, group: &Group) -> Option<&ProviderDays> {
        let key = group.key.as_deref().unwrap_or_default();
        self.overview.up_to_same_day.as_ref()?.providers.iter().find(|days| days.provider == key)
    }

    /// The last day that a provider states, of the month that is shown.
    fn last_day(&self, group: &Group) -> Option<String> {
        Some(self.days_of(group)?.through.format("%b %-d").to_string())
    }

    /// How final a provider's month is: a word and its look.
    fn state(&self, group: &Group) -> (String, &'static str) {
        let key = group.key.as_deref().unwrap_or_default();
        match self.overview.states.iter().find(|state| state.provider == key) {
            None if key.starts_with(SHARED) => ("Shared".to_owned(), ""),
            None => ("Nothing yet".to_owned(), "wait"),
            Some(state) if state.provisional == 0 => ("Final".to_owned(), "good"),
            Some(state) if state.provisional == state.accounts => ("Provisional".to_owned(), "wait"),
            Some(state) => (format!("{} of {} provisional", state.provisional, state.accounts), "wait"),
        }
    }

    /// The months of the page that may still change, with who has not invoiced all of them: `October 2026 (AWS, Lambda)`.
    /// Nobody invoices what is our own.
    fn without_invoice(&self) -> Vec<String> {
        let Overview { month, states, previous, previous_states, .. } = &self.overview;
        let of_month = |(month, states): (&BillingMonth, &[report::State])| {
            let open = states.iter().filter(|it| it.provisional > 0 && it.provider != onprem::PROVIDER);
            let open: Vec<&str> = open.map(|it| it.provider.as_str()).collect();
            (!open.is_empty()).then(|| format!("{} ({})", month.name(), open.join(", ")))
        };
        [(month, states.as_slice()), (previous, previous_states)].into_iter().filter_map(of_month).collect()
    }

    /// The same accelerator in the month before.
    fn before(&self, group: &Group) -> Option<&Group> {
        self.overview.previous_by_accelerator.groups.iter().find(|before| before.key == group.key)
    }

    fn has_hours(&self) -> bool {
        !self.overview.by_accelerator.accelerator_hours.is_zero()
            || !self.overview.previous_by_accelerator.accelerator_hours.is_zero()
    }

    /// Whether any accelerator is owned, in this month or the one before.
    fn has_owned(&self) -> bool {
        self.overview.by_accelerator.has_owned_hours()
            || self.overview.previous_by_accelerator.has_owned_hours()
    }

    /// Who bills the month, and has no line of figures because nothing of theirs is converted.
    fn without_figures(&self) -> Vec<&str> {
        let has_figures = |provider: &str| {
            let mut groups = self.overview.by_provider.groups.iter();
            groups.any(|group| group.key.as_deref().unwrap_or_default() == provider)
        };
        let providers = self.overview.states.iter().map(|state| state.provider.as_str());
        providers.filter(|provider| !has_figures(provider)).collect()
    }

    /// What no rate converts: that of the month, then that of the months before it together.
    fn left_out(&self) -> Vec<(Money, String)> {
        let mut found: Vec<(bool, Money, Vec<BillingMonth>)> = Vec::new();
        for Unconverted { month, cost } in &self.overview.year.unconverted {
            let is_before = *month != self.overview.month;
            let same = |(before, sum, _): &&mut (bool, Money, _)| {
                *before == is_before && sum.currency == cost.currency
            };
            match found.iter_mut().find(same) {
                Some((_, sum, months)) => {
                    sum.amount += cost.amount;
                    months.push(*month);
                }
                None => found.push((is_before, cost.clone(), vec![*month])),
            }
        }
        found.sort_by_key(|(is_before, ..)| *is_before);
        found.into_iter().map(|(_, sum, months)| (sum, listed(&months))).collect()
    }

    /// Rates of the months that are shown.
    fn rates(&self) -> Vec<&Used> {
        let year = self.overview.year.period;
        self.overview.year.rates.iter().filter(|used| used.month >= year.first()).collect()
    }

    fn first_items(&self) -> &[Item] {
        &self.items[..self.items.len().min(SHOWN)]
    }

    fn more_items(&self) -> &[Item] {
        self.items.get(SHOWN..).unwrap_or_default()
    }
}

fn at(asked: &Asked, month: BillingMonth) -> String {
    asked.link(paths::Spend { period: month.into() })
}

csv::record! {
    |it: MonthOfProvider|
    "month" => it.month,
    "provider" => &it.provider,
    "cost" => it.cost.amount,
    "currency" => &it.cost.currency,
}

/// Groups of the month before that this one does not have.
fn only_before<'a>(now: &Spend, before: &'a Spend) -> Vec<&'a Group> {
    let is_missing = |group: &&Group| now.groups.iter().all(|it| it.key != group.key);
    before.groups.iter().filter(is_missing).collect()
}
