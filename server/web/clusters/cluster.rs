//! `/clusters/h100-east`: what a cluster costs, by component over time, and per hour; what of it counts.

use askama::Template;
use axum::response::Response;
use serde::Deserialize;

use super::super::csv;
use super::super::error::{Error, Result};
use super::super::extract::{Form, Reading, Writing};
use super::super::format::Format;
use super::super::layout::Layout;
use super::super::question::Asked;
use super::super::rate_cards::internal_price;
use super::super::{filters, jobs as of_jobs, paths, respond};
use super::{chart, to, words};
use crate::billing::usage_tags;
use crate::changes::{Document as _, Entry as _};
use crate::chart::Stack;
use crate::jobs::{self, Submitted};
use crate::money::{Currency, Decimal, Money};
use crate::onprem::{self, AssetRegister, ClusterMonth, Component, Entry, Kind, Meter, State as Stands};
use crate::period::{BillingMonth, Period};
use crate::report::{self, ClusterReport, EnteredHours, Grouping, InCurrency};

#[derive(Template)]
#[template(path = "clusters/cluster.html")]
struct Page {
    layout: Layout,
    it: ClusterReport,
    /// Of cost, and of book values, where anything is paid.
    charts: Option<(Stack, Stack)>,
    energy: Stack,
    /// Months that differ from what the asset register says.
    due: Vec<(BillingMonth, Stands, Vec<Money>, Vec<Money>)>,
    /// Those of them that were final: what teams are charged in them changes.
    final_months: Vec<BillingMonth>,
    submitted: usize,
    /// Months of which only words differ since.
    reworded: Vec<BillingMonth>,
    /// How months of the table stand.
    states: Vec<Stands>,
    /// Entries by kind: how many, and what they say.
    kinds: Vec<(Kind, Vec<(i64, String)>)>,
    meters: Vec<(i64, String, Option<onprem::Read>)>,
    gpus: u32,
    weeks: Stack,
}

impl Page {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hold references")]
    fn month(&self, month: &BillingMonth) -> String {
        to_month(&self.it.cluster.handle, *month)
    }

    /// The same hours in spend.
    fn use_of_hours(&self, hours: &EnteredHours) -> String {
        let asked = Asked::default()
            .only(&Grouping::Provider, Some(onprem::PROVIDER))
            .only(&Grouping::Account, Some(&self.it.cluster.handle))
            .by(Grouping::Tag(usage_tags::USE.to_owned()));
        let asked = Asked { convert_into: self.it.currency.clone(), ..asked };
        asked.link(paths::Spend { period: hours.period })
    }

    /// From paid to productive hours, by team.
    fn hours_by_team(&self, hours: &EnteredHours) -> String {
        let asked = Asked::default()
            .only(&Grouping::Provider, Some(onprem::PROVIDER))
            .only(&Grouping::Account, Some(&self.it.cluster.handle))
            .by(Grouping::Team);
        let asked = Asked { convert_into: self.it.currency.clone(), ..asked };
        of_jobs::hours::address(&asked, hours.period)
    }

    fn components(&self) -> Vec<Component> {
        let has = |component: &Component| {
            self.it.recent().iter().any(|it| it.summary.components.contains_key(component))
        };
        Component::ALL.into_iter().filter(has).collect()
    }

    /// What the months of the table were charged in each other currency.
    fn in_other_currencies(&self) -> Vec<(&Currency, Decimal)> {
        let of_months = |currency: &Currency| {
            let others = self.it.recent().iter().flat_map(|it| &it.others);
            others.filter(|it| it.currency == *currency).map(|it| it.effective).sum()
        };
        let sums = self.it.other_currencies.iter().map(|currency| (currency, of_months(currency)));
        sums.filter(|(_, sum): &(_, Decimal)| !sum.is_zero()).collect()
    }

    /// What no rate converts, with its month.
    fn left_out(&self) -> Vec<(&InCurrency, BillingMonth)> {
        let months = self.it.recent().iter();
        months.flat_map(|it| it.left_out().map(|missing| (missing, it.summary.month))).collect()
    }

    /// A scenario of its last active months, up to three.
    fn scenario(&self) -> Option<String> {
        let counting = self.it.months.iter().filter(|it| it.delivery.is_some());
        let last = counting.map(|it| it.summary.month).max()?;
        let first = last.minus(2).max(self.it.months.first()?.summary.month);
        Some(super::scenario(&self.it.cluster.handle, Period::new(first, last)?))
    }

    fn internal_price(&self) -> String {
        internal_price(&self.it.cluster.handle)
    }

    fn are_all_new(&self) -> bool {
        self.due.iter().all(|(_, state, _, _)| *state == Stands::New)
    }

    fn publish(&self) -> paths::ClusterPublish {
        paths::ClusterPublish { cluster: self.it.cluster.handle.clone() }
    }

    fn readings(&self) -> paths::ClusterReadings {
        paths::ClusterReadings { cluster: self.it.cluster.handle.clone() }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hold references")]
    fn new_entry(&self, kind: &Kind) -> String {
        paths::with_query(paths::AssetRegisterNew { kind: *kind }, &[("cluster", &self.it.cluster.handle)])
    }

    /// Of the first month that has none.
    fn new_tariff(&self) -> Option<String> {
        let (first, _) = self.it.unpriced().first().copied()?;
        Some(super::new_tariff(&self.it.cluster.handle, first))
    }

    fn new_meter(&self) -> String {
        self.new_entry(&Kind::Meters)
    }

    fn here(&self) -> paths::Cluster {
        paths::Cluster { cluster: self.it.cluster.handle.clone() }
    }
}

pub(in crate::web) fn to_month(cluster: &str, month: BillingMonth) -> String {
    paths::ClusterMonth { cluster: cluster.to_owned(), month }.to_string()
}

pub async fn show(path: paths::Cluster, format: Format, reading: Reading) -> Result {
    let Reading { now, layout, app, mut db, .. } = reading;
    let handle = path.cluster;
    let today = now.date_naive();
    let (revision, asset_register) = onprem::AssetRegister::current(&mut db).await?;
    let months = app.months.of(&mut db, (revision, &asset_register), &handle, today).await?;
    let it =
        Box::pin(app.answers.cluster(&mut db, (revision, &asset_register), &handle, &months, today)).await?;
    let it = it.ok_or(Error::NotFound)?;
    match format {
        Format::Json => respond::json(&it),
        Format::Csv => csv::answer(&handle, &rows(&it)),
        Format::Html => {
            let meters = meters(&mut db, &asset_register, &handle).await?;
            let charts = it
                .currency
                .as_ref()
                .map(|currency| (chart::over_time(&it, currency), chart::book_values(&it, currency)));
            let is_due = |it: &&ClusterMonth| it.state.is_due();
            let due = months.iter().filter(is_due);
            let due = due.map(|it| (it.month, it.state, it.counts.clone(), it.computed.clone())).collect();
            let submitted = months.iter().filter(|it| it.state == Stands::Submitted).count();
            let gpus = months.iter().rfind(|it| !it.sums.is_empty()).map(|it| it.sums.accelerators);
            let reworded = months.iter().filter(|it| it.state == Stands::Reworded).map(|it| it.month);
            let mut states: Vec<Stands> = Vec::new();
            for month in it.months.iter().rev() {
                if !states.contains(&month.state) {
                    states.push(month.state);
                }
            }
            let kinds = kinds(&asset_register, &handle);
            let of_due = months.iter().filter(is_due).map(|it| it.month);
            let final_months = report::final_months(&mut db, of_due).await?;
            respond::html(Page {
                layout,
                energy: chart::energy(&it),
                weeks: chart::weeks(&it),
                it,
                charts,
                due,
                final_months,
                submitted,
                reworded: reworded.collect(),
                states,
                kinds,
                meters,
                gpus: gpus.unwrap_or_default(),
            })
        }
    }
}

/// What was entered, kind by kind.
fn kinds(asset_register: &AssetRegister, cluster: &str) -> Vec<(Kind, Vec<(i64, String)>)> {
    let entries = asset_register.of_cluster(cluster);
    Kind::ALL
        .into_iter()
        .map(|kind| {
            let of_kind = entries.iter().filter(|(_, entry)| Kind::of(entry) == kind);
            (kind, of_kind.map(|(id, entry)| (*id, in_short(entry))).collect())
        })
        .collect()
}

/// An entry in a few words.
pub(super) fn in_short(entry: &Entry) -> String {
    let span = |span: onprem::Span| match span.last {
        Some(last) => format!("{} to {last}", span.first),
        None => format!("from {}", span.first),
    };
    match entry {
        Entry::Cluster(it) => format!("{}, {}, since {}", it.name, it.site, it.since),
        Entry::Asset(it) => format!(
            "{}: {} × {} at {} {}, in service from {}, {}",
            it.name,
            it.count,
            it.what_it_is(),
            filters::figure(it.price, 2),
            it.currency,
            it.in_service,
            match it.paid {
                onprem::Paid::Leased { months, .. } => format!("leased for {months} months"),
                _ => format!("{} months, {}", it.life_months, it.depreciation),
            }
        ),
        Entry::Event(it) => entry.title().replacen(&it.asset, &format!("{} {}", it.asset, units(it)), 1),
        Entry::Utilization(it) => format!(
            "{}% of available hours productive, {}% downtime{}, from {}",
            it.utilization.times(100).normalize(),
            it.downtime.times(100).normalize(),
            it.repeated
                .map_or_else(String::new, |it| format!(", {}% repeated work", it.times(100).normalize())),
            it.first
        ),
        Entry::Pue(it) => format!("{} from {}", it.value, it.first),
        Entry::Meter(it) => it.name.clone(),
        Entry::Tariff(it) => format!(
            "{}: {} {} a kWh{}, {}",
            it.name,
            it.price.price_per_kwh,
            it.price.currency,
            if it.price.bands.is_empty() { "" } else { ", other prices by time of day" },
            span(it.months)
        ),
        Entry::Colocation(it) => format!(
            "{}: {} kW at {} {} a month, energy {}, {}",
            it.name,
            it.contracted_kw,
            it.price_per_kw,
            it.currency,
            if it.includes_energy { "included" } else { "not included" },
            span(it.months)
        ),
        Entry::Staff(it) => format!(
            "{}: {} FTE at {} {} a year, {}%, {}",
            it.role,
            it.fte,
            filters::figure(it.loaded_cost, 2),
            it.currency,
            it.share.times(100).normalize(),
            span(it.months)
        ),
        Entry::StaffHours(it) => {
            format!("{}: {} h at {} {} in {}", it.role, it.hours, it.hourly_cost, it.currency, it.month)
        }
        Entry::Cost(it) => format!(
            "{}: {} {}{}, {}{}",
            it.name,
            filters::figure(it.amount, 2),
            it.currency,
            match it.every {
                onprem::Every::Once => " once",
                onprem::Every::Month => " a month",
                onprem::Every::Quarter => " a quarter",
                onprem::Every::Year => " a year",
            },
            span(it.months),
            cut_off(it)
        ),
    }
}

/// What ends before what was paid for it does.
fn cut_off(it: &onprem::Cost) -> String {
    let Some(left) = it.cut_off() else { return String::new() };
    let of = it.every.months();
    format!("; last payment billed for {left} of {of} months")
}

fn units(event: &onprem::Event) -> String {
    match event.units.len() {
        0 => "(all units)".to_owned(),
        1 => format!("(unit {})", event.units[0]),
        count => format!("({count} units)"),
    }
}

async fn meters(
    db: &mut sqlx::PgConnection,
    asset_register: &AssetRegister,
    cluster: &str,
) -> Result<Vec<(i64, String, Option<onprem::Read>)>> {
    let meters: Vec<(i64, &Meter)> =
        asset_register.meters().filter(|(_, it)| it.cluster == cluster).collect();
    let ids: Vec<i64> = meters.iter().map(|(id, _)| *id).collect();
    let read = onprem::meters_read(db, &ids).await?;
    Ok(meters
        .into_iter()
        .map(|(id, it)| (id, it.name.clone(), read.iter().find(|it| it.meter_id == id).cloned()))
        .collect())
}

/// A component of a month, for files.
struct Row<'a> {
    month: BillingMonth,
    component: Component,
    amount: Decimal,
    currency: &'a Currency,
    state: Stands,
}

/// Of every month, in each of its currencies.
fn rows(it: &ClusterReport) -> Vec<Row<'_>> {
    it.months
        .iter()
        .flat_map(|month| {
            let own = std::iter::once((&month.summary.currency, &month.summary.components));
            let others = month.others.iter().map(|it| (&it.currency, &it.components));
            own.chain(others).flat_map(|(currency, components)| {
                components.iter().map(|(component, amount)| Row {
                    month: month.summary.month,
                    component: *component,
                    amount: *amount,
                    currency,
                    state: month.state,
                })
            })
        })
        .collect()
}

csv::record! {
    |it: Row<'_>|
    "month" => it.month,
    "component" => it.component.name(),
    "effective_cost" => it.amount,
    "currency" => it.currency.as_str(),
    "state" => it.state.name(),
}

#[derive(Deserialize)]
pub struct PublishForm {
    /// One month, or all that are due.
    #[serde(default)]
    month: Option<BillingMonth>,
}

/// Submits months that differ from what the asset register says.
pub async fn publish(
    path: paths::ClusterPublish,
    writing: Writing,
    Form(form): Form<PublishForm>,
) -> Result<Response> {
    let Writing { now, by, app, mut db, .. } = writing;
    let (_, asset_register) = onprem::AssetRegister::current(&mut db).await?;
    asset_register.cluster(&path.cluster).ok_or(Error::NotFound)?;
    let with = (&app.inbox, &*app.months);
    let submitted = jobs::submit_cluster(&mut db, with, &path.cluster, form.month, by.at(now)).await?;
    app.notifier.notify();
    let Submitted { batch, months, gone } = submitted;
    let mut sentence = match batch {
        Some(_) if months == 1 => "Publishing one month.".to_owned(),
        Some(_) => format!("Publishing {months} months."),
        None if gone == 0 => "Nothing changed: all months are up to date.".to_owned(),
        None => String::new(),
    };
    if gone > 0 {
        sentence = format!("{sentence} {gone} without costs became inactive.");
    }
    let next = batch.map_or_else(|| to(&path.cluster), |batch| paths::Batch { batch }.to_string());
    Ok(respond::flash(next, sentence.trim()))
}
