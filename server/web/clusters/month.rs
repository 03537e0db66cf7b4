//! `/clusters/h100-east/2026-09`: what a month is charged, line by line, and how each line came about.

use askama::Template;
use serde::Serialize;

use super::super::error::{Error, Result};
use super::super::extract::Db;
use super::super::layout::Layout;
use super::super::respond::{As, Format};
use super::super::{filters, paths, respond};
use super::cluster::to_month;
use crate::clock;
use crate::money::{Currency, Decimal};
use crate::onprem::{self, Cluster, ClusterMonth, Component, Line, MonthSummary, State, currencies};
use crate::period::BillingMonth;

/// A month, for scripts.
#[derive(Serialize)]
struct Month<'a> {
    cluster: &'a str,
    #[serde(flatten)]
    it: &'a ClusterMonth,
    totals: &'a [MonthSummary],
    lines: Vec<Stated<'a>>,
}

#[derive(Serialize)]
struct Stated<'a> {
    from: chrono::NaiveDate,
    until: chrono::NaiveDate,
    #[serde(flatten)]
    line: &'a Line,
}

/// Lines that are alike but for the day and the unit: what people read.
struct Sum<'a> {
    component: Component,
    name: &'a str,
    input: i64,
    currency: &'a Currency,
    count: usize,
    resources: usize,
    billed: Decimal,
    effective: Decimal,
    quantity: Option<(Decimal, &'static str)>,
    basis: Vec<&'static str>,
    description: &'a str,
}

#[derive(Template)]
#[template(path = "clusters/month.html")]
struct Page<'a> {
    layout: Layout,
    cluster: &'a Cluster,
    it: &'a ClusterMonth,
    totals: Vec<MonthSummary>,
    sums: Vec<Sum<'a>>,
}

impl Page<'_> {
    fn to(&self, month: BillingMonth) -> String {
        to_month(&self.cluster.handle, month)
    }

    fn charges(&self) -> String {
        let path = paths::Charges { period: As::page(self.it.month.into()) };
        paths::with_query(path, &[("provider", onprem::PROVIDER), ("account", &self.cluster.handle)])
    }

    fn here(&self) -> String {
        self.to(self.it.month)
    }

    fn sums_in<'a>(&'a self, currency: &'a Currency) -> impl Iterator<Item = &'a Sum<'a>> {
        self.sums.iter().filter(move |sum| sum.currency == currency)
    }

    fn publish(&self) -> paths::ClusterPublish {
        paths::ClusterPublish { cluster: self.cluster.handle.clone() }
    }

    fn counted(&self, currency: &Currency) -> Decimal {
        self.it.counts.iter().find(|money| money.currency == *currency).map_or(Decimal::ZERO, |it| it.amount)
    }
}

impl Sum<'_> {
    fn how(&self) -> String {
        match self.count {
            1 => self.description.to_owned(),
            _ if self.resources > 1 => {
                format!("{} units, day by day. For example: {}", self.resources, self.description)
            }
            _ => format!("Day by day. For example: {}", self.description),
        }
    }

    fn amount(&self) -> String {
        self.quantity
            .map(|(quantity, unit)| format!("{} {unit}", filters::figure(quantity, 2)))
            .unwrap_or_default()
    }
}

/// What it is called where states are told.
impl State {
    pub fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::New => "not published",
            Self::Differs => "differs from what counts",
            Self::Running => "goes on",
            Self::HandedIn => "being loaded",
            Self::Uploaded => "a file that somebody loaded",
            Self::Gone => "nothing is left of it",
            Self::Empty => "nothing",
        }
    }

    /// The kind of its badge.
    pub fn look(self) -> &'static str {
        match self {
            Self::Published => "good",
            Self::New | Self::HandedIn => "wait",
            Self::Differs | Self::Gone => "bad",
            Self::Running | Self::Uploaded | Self::Empty => "",
        }
    }
}

pub async fn show(path: paths::ClusterMonth, layout: Layout, mut db: Db) -> Result {
    let As { value: month, format } = path.month;
    let (_, register) = onprem::current(&mut db).await?;
    let cluster = register.cluster(&path.cluster).ok_or(Error::NotFound)?;
    let it = onprem::month(&mut db, &path.cluster, month, clock::now().date_naive()).await?;
    let this_month = BillingMonth::of(clock::now().date_naive());
    let has_been = BillingMonth::of(cluster.since) <= month && month <= this_month;
    // What was published of a time before or after is told all the same.
    let it = it.filter(|it| has_been || it.state != State::Empty).ok_or(Error::NotFound)?;
    let totals: Vec<MonthSummary> =
        currencies(&it.lines).iter().map(|currency| MonthSummary::of(month, &it.lines, currency)).collect();
    match format {
        Format::Csv => Ok(respond::csv_bytes(&format!("{}-{month}", cluster.handle), it.file)),
        Format::Json => {
            let lines = it.lines.iter();
            let lines = lines.map(|line| Stated { from: line.days.start, until: line.days.end, line });
            respond::json(&Month {
                cluster: &cluster.handle,
                it: &it,
                totals: &totals,
                lines: lines.collect(),
            })
        }
        Format::Html => respond::html(Page { layout, cluster, sums: sums(&it.lines), it: &it, totals }),
    }
}

fn sums(lines: &[Line]) -> Vec<Sum<'_>> {
    let mut sums: Vec<Sum<'_>> = Vec::new();
    for line in lines {
        let is_it = |sum: &Sum<'_>| {
            sum.component == line.component && sum.input == line.input && *sum.currency == line.currency
        };
        let at = sums.iter().position(is_it);
        let at = at.unwrap_or_else(|| {
            sums.push(Sum {
                component: line.component,
                name: &line.name,
                input: line.input,
                currency: &line.currency,
                count: 0,
                resources: 0,
                billed: Decimal::ZERO,
                effective: Decimal::ZERO,
                quantity: None,
                basis: Vec::new(),
                description: &line.description,
            });
            sums.len() - 1
        });
        let sum = &mut sums[at];
        sum.count += 1;
        sum.billed += line.billed;
        sum.effective += line.effective;
        if let Some((quantity, unit)) = line.quantity {
            let so_far = sum.quantity.map_or(Decimal::ZERO, |(so_far, _)| so_far);
            sum.quantity = Some((so_far + quantity, unit));
        }
        if !sum.basis.contains(&line.basis.as_str()) {
            sum.basis.push(line.basis.as_str());
        }
    }
    for sum in &mut sums {
        let of_it = lines.iter().filter(|line| line.component == sum.component && line.input == sum.input);
        let mut resources: Vec<&str> = of_it.filter_map(|line| line.resource.as_deref()).collect();
        resources.sort_unstable();
        resources.dedup();
        sum.resources = resources.len();
    }
    sums.sort_by_key(|sum| (sum.component, std::cmp::Reverse(sum.effective)));
    sums
}
