//! `/clusters`: our own racks side by side, and what everything of them shares.

pub(super) mod asset_register;
mod chart;
pub(super) mod cluster;
pub(super) mod month;
pub(super) mod new;
pub(super) mod readings;
mod words;

use askama::Template;
use axum::response::Response;
use chrono::NaiveDate;
use serde::Serialize;
use sqlx::PgConnection;

use super::changes::conflicts;
use super::csv;
use super::error::Result;
use super::extract::Reading;
use super::format::Format;
use super::layout::Layout;
use super::{Access, filters, paths, respond};
use crate::audit::Act;
use crate::changes::{self, About, Document as _, Outcome, Problem, Right};
use crate::exchange::Rates;
use crate::money::{Currency, Decimal};
use crate::onprem::{
    self, AssetRegister, Cluster, ClusterMonth, Edit, Kind, MonthSummary, Months, currencies,
};
use crate::period::{BillingMonth, Period};
use crate::report::{self, Filter, Grouping, MonthOfCluster};
use crate::web::question::Asked;

/// How a cluster stands: its last whole month, and what waits.
#[derive(Serialize)]
pub struct ClusterStatus {
    pub cluster: String,
    pub name: String,
    pub site: String,
    /// The last month that is over; without one, the one that goes on.
    pub month: Option<MonthSummary>,
    /// Months that differ from what the asset register says.
    pub due: usize,
    pub accelerators: u32,
    pub other_currencies: Vec<Currency>,
    /// What the month is charged in each of them.
    #[serde(skip)]
    others: Vec<MonthSummary>,
    /// With what is charged in other currencies; none where the month has no rate for one of them.
    pub per_owned_hour: Option<Decimal>,
    /// By the productive share that was entered.
    pub per_productive_hour: Option<Decimal>,
}

impl ClusterStatus {
    fn of(
        asset_register: &AssetRegister,
        cluster: &Cluster,
        months: &[ClusterMonth],
        rates: &Rates,
        this_month: BillingMonth,
    ) -> Self {
        let mut stated = months.iter().filter(|it| !it.sums.is_empty());
        let last = stated.clone().rfind(|it| it.month < this_month).or_else(|| stated.next_back());
        let known = last.map(|it| currencies(&it.sums.summaries)).unwrap_or_default();
        let month = last.and_then(|it| it.sums.summaries.first().cloned());
        let with_others = last.zip(known.first()).map(|(it, own)| MonthOfCluster::of(it, own, rates));
        let is_whole = |it: &MonthOfCluster| it.without_rate().next().is_none();
        let per_owned_hour = with_others.filter(is_whole).and_then(|it| it.per_owned_hour);
        Self {
            cluster: cluster.handle.clone(),
            name: cluster.name.clone(),
            site: cluster.site.clone(),
            due: months.iter().filter(|it| it.state.is_due()).count(),
            accelerators: last.map(|it| it.sums.accelerators).unwrap_or_default(),
            other_currencies: known.get(1..).unwrap_or_default().to_vec(),
            others: last.and_then(|it| it.sums.summaries.get(1..)).unwrap_or_default().to_vec(),
            per_productive_hour: per_owned_hour.zip(month.as_ref()).and_then(|(price, it)| {
                price.divide(asset_register.shares(cluster, it.month).productive(), 12)
            }),
            per_owned_hour,
            month,
        }
    }

    fn href(&self) -> String {
        to(&self.cluster)
    }
}

/// The address of a cluster's page.
pub(super) fn to(cluster: &str) -> String {
    paths::Cluster { cluster: cluster.to_owned() }.to_string()
}

/// A scenario of what a cluster did in a period.
fn scenario(cluster: &str, period: Period) -> String {
    let filters = vec![
        Filter::keep(Grouping::Provider, vec![onprem::PROVIDER.to_owned()]),
        Filter::keep(Grouping::Account, vec![cluster.to_owned()]),
    ];
    Asked { filters, ..Asked::default() }.scenario(period)
}

/// The form of a tariff that begins in a month.
fn new_tariff(cluster: &str, first: BillingMonth) -> String {
    let pairs = [("cluster", cluster), ("first", &first.to_string())];
    paths::with_query(paths::AssetRegisterNew { kind: Kind::Tariffs }, &pairs)
}

/// The form of an entry.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
fn to_entry(entry: &i64) -> String {
    paths::AssetRegisterEntry { entry: *entry }.to_string()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
fn to_removal(entry: &i64) -> String {
    paths::AssetRegisterRemove { entry: *entry }.to_string()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
fn to_delivery(delivery: &i64) -> String {
    paths::Delivery { delivery: *delivery }.to_string()
}

#[derive(Template)]
#[template(path = "clusters/index.html")]
struct Page {
    layout: Layout,
    clusters: Vec<ClusterStatus>,
    /// Proposals that wait for a decision.
    waiting: i64,
}

async fn cluster_statuses(
    db: &mut PgConnection,
    computed: &Months,
    today: NaiveDate,
) -> Result<Vec<ClusterStatus>> {
    let (revision, asset_register) = AssetRegister::current(&mut *db).await?;
    let mut cluster_statuses = Vec::new();
    for cluster in asset_register.clusters() {
        let months = computed.of(&mut *db, (revision, &asset_register), &cluster.handle, today).await?;
        let rates = report::rates_of_months(&mut *db, &months).await?;
        cluster_statuses.push(ClusterStatus::of(
            &asset_register,
            cluster,
            &months,
            &rates,
            BillingMonth::of(today),
        ));
    }
    Ok(cluster_statuses)
}

pub async fn index(_: paths::Clusters, format: Format, reading: Reading) -> Result {
    let Reading { now, layout, app, mut db, .. } = reading;
    let clusters = cluster_statuses(&mut db, &app.months, now.date_naive()).await?;
    match format {
        Format::Json => respond::json(&clusters),
        Format::Csv => csv::answer("clusters", &clusters),
        Format::Html => {
            let waiting = changes::waiting(&mut db, Some(AssetRegister::KIND)).await?;
            respond::html(Page { layout, clusters, waiting })
        }
    }
}

csv::record! {
    |it: ClusterStatus|
    "cluster" => &it.cluster,
    "name" => &it.name,
    "site" => &it.site,
    "accelerators" => i64::from(it.accelerators),
    "month" => it.month.as_ref().map(|month| month.month),
    "effective_cost" => it.month.as_ref().map(|month| month.effective),
    "currency" => it.month.as_ref().map(|month| &month.currency),
    "owned_hours" => it.month.as_ref().map(|month| month.owned_hours),
    "per_owned_hour" => it.per_owned_hour,
    "per_productive_hour" => it.per_productive_hour,
    "months_due" => it.due as i64,
}

/// Whether whoever looks may change the asset register at once, or only propose to.
fn right(layout: &Layout) -> Right {
    if layout.may(Access::Admin) { Right::Apply } else { Right::Propose }
}

/// What became of edits that somebody sent.
enum Sent {
    To(Response),
    /// Nothing changed, for these reasons.
    Refused(Vec<Problem>),
}

/// Makes edits, or proposes them, and goes on to `next`.
async fn send(
    db: &mut PgConnection,
    edits: Vec<Edit>,
    about: About<'_>,
    right: Right,
    next: &str,
    act: Act<'_>,
) -> Result<Sent> {
    let outcome = changes::change::<AssetRegister>(db, edits, about, right, act).await?;
    Ok(described(outcome, about.summary, next))
}

/// Says what became of a wish.
fn described(outcome: Outcome, summary: &str, next: &str) -> Sent {
    let (sentence, next) = match outcome {
        Outcome::At { .. } => {
            (format!("Saved: {summary}. Publish the changed months to update them."), next.to_owned())
        }
        Outcome::Waits(change) => (
            format!("Proposed: {summary}. An administrator decides."),
            paths::AssetRegisterChange { change }.to_string(),
        ),
        Outcome::Nothing | Outcome::Decided => {
            ("Nothing changed: this was saved before.".to_owned(), next.to_owned())
        }
        Outcome::Refused(problems) => return Sent::Refused(problems),
        Outcome::Conflict(of) => return Sent::Refused(conflicts(&of)),
    };
    Sent::To(respond::flash(next, &sentence))
}
