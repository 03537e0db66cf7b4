//! `/clusters/h100-east/2026-09`: what a month is charged, line by line, and how each line came about.

use crate::changes::Document as _;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use askama::Template;
use serde::Serialize;

use super::super::csv;
use super::super::error::{Error, Result};
use super::super::extract::Reading;
use super::super::format::Format;
use super::super::layout::Layout;
use super::super::{filters, paths, respond};
use super::cluster::to_month;
use crate::enum_words::words;
use crate::money::{Currency, Decimal};
use crate::onprem::{
    self, Amounts, Cluster, ClusterMonth, Component, Line, MonthSummary, State as Stands, UnpricedEnergy,
};
use crate::period::BillingMonth;

/// A month, for scripts.
#[derive(Serialize)]
struct Month<'a> {
    cluster: &'a str,
    #[serde(flatten)]
    it: &'a ClusterMonth,
    totals: &'a [MonthSummary],
    unpriced_energy: Option<&'a UnpricedEnergy>,
    lines: Vec<Stated>,
}

#[derive(Serialize)]
struct Stated {
    from: chrono::NaiveDate,
    until: chrono::NaiveDate,
    /// The unit, where it is one's.
    resource: Option<String>,
    #[serde(flatten)]
    line: Line,
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
    sums: Vec<Sum<'a>>,
    /// The months that have a page.
    months: RangeInclusive<BillingMonth>,
}

impl Page<'_> {
    /// A month to go to, where it has a page.
    fn step(&self, month: BillingMonth) -> Option<(String, String)> {
        self.months.contains(&month).then(|| (month.name(), self.to(month)))
    }

    fn unpriced(&self) -> Option<&UnpricedEnergy> {
        unpriced(self.it)
    }

    fn to(&self, month: BillingMonth) -> String {
        to_month(&self.cluster.handle, month)
    }

    fn charges(&self) -> String {
        let path = paths::Charges { period: self.it.month.into() };
        paths::with_query(path, &[("provider", onprem::PROVIDER), ("account", &self.cluster.handle)])
    }

    /// None before anything of it counts.
    fn scenario(&self) -> Option<String> {
        self.it.delivery.map(|_| super::scenario(&self.cluster.handle, self.it.month.into()))
    }

    fn here(&self) -> String {
        self.to(self.it.month)
    }

    fn sums_in<'a>(&'a self, currency: &'a Currency) -> impl Iterator<Item = &'a Sum<'a>> {
        self.sums.iter().filter(move |sum| sum.currency == currency)
    }

    fn new_tariff(&self) -> String {
        super::new_tariff(&self.cluster.handle, self.it.month)
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
                format!("{} units, daily. Example: {}", self.resources, self.description)
            }
            _ => format!("Daily. Example: {}", self.description),
        }
    }

    fn amount(&self) -> String {
        // The bill's unit has a capital, as FOCUS writes it.
        let written = |(quantity, unit): (Decimal, &str)| {
            let unit = if unit == "Hours" { "hours" } else { unit };
            format!("{} {unit}", filters::figure(quantity, 2))
        };
        self.quantity.map(written).unwrap_or_default()
    }
}

// What a state is called on pages and in files, the kind of its badge, and what it means.
words! {
    impl Stands: on_page, name, look, meaning {
        Published = "published", "published", "good",
            "The active import matches the asset register.";
        New = "not published", "not published", "wait",
            "No import of this month is active yet. Publish the month to import it.";
        Differs = "changed since publishing", "differs from what is active", "bad",
            "Amounts, tags, site or names changed since the month was published. Publish it again to update it.";
        Reworded = "only descriptions changed", "only words changed", "",
            "Amounts match the asset register. Names or descriptions changed since; publish again to update them.";
        Running = "in progress", "goes on", "",
            "The month is not over. Monthly payments are included in full, so hours cost more than they will.";
        Submitted = "being imported", "being loaded", "wait",
            "The month was published and is being imported.";
        Uploaded = "imported from a file", "a file that somebody uploaded", "",
            "An uploaded file is active, not the bill from the asset register.";
        Gone = "no costs left", "nothing is left of it", "bad",
            "The asset register has no more costs for this month, but an import is active. Publishing undoes it.";
        Empty = "no costs", "nothing", "",
            "The asset register has no costs for this month.";
    }
}

pub async fn show(path: paths::ClusterMonth, format: Format, reading: Reading) -> Result {
    let Reading { now, layout, app, mut db, .. } = reading;
    let month = path.month;
    let (revision, asset_register) = onprem::AssetRegister::current(&mut db).await?;
    let cluster = asset_register.cluster(&path.cluster).ok_or(Error::NotFound)?;
    let (at, today) = ((revision, &asset_register), now.date_naive());
    let it = app.months.one(&mut db, at, &cluster.handle, month, today).await?;
    let months = BillingMonth::of(cluster.since)..=BillingMonth::of(today);
    let has_been = months.contains(&month);
    // What was published of a time before or after is shown all the same.
    let it = it.filter(|it| has_been || it.state != Stands::Empty).ok_or(Error::NotFound)?;
    if format == Format::Csv {
        let file = onprem::file_of(&mut db, at, &cluster.handle, month, today).await?;
        let file = file.ok_or(Error::NotFound)?;
        return Ok(csv::answer_of_bytes(&format!("{}-{month}", cluster.handle), file.bytes));
    }
    let lines = onprem::lines_of(&mut db, at, &cluster.handle, month, today).await?;
    if format == Format::Json {
        let (cluster, totals) = (cluster.handle.as_str(), it.sums.summaries.as_slice());
        return respond::json(&Month {
            cluster,
            it: &it,
            totals,
            unpriced_energy: unpriced(&it),
            lines: lines.iter().flat_map(stated).collect(),
        });
    }
    respond::html(Page { layout, cluster, sums: sums(&lines), it: &it, months })
}

/// What of a month's energy no tariff has a price for.
fn unpriced(it: &ClusterMonth) -> Option<&UnpricedEnergy> {
    it.sums.energy.as_ref()?.unpriced.as_ref()
}

/// A line for each of its units.
fn stated(line: &Line) -> impl Iterator<Item = Stated> {
    line.parts().map(|(resource, Amounts { billed, effective, quantity })| Stated {
        from: line.days.start,
        until: line.days.end,
        resource,
        line: Line { billed, effective, quantity, ..line.clone() },
    })
}

fn sums(lines: &[Line]) -> Vec<Sum<'_>> {
    let mut sums: Vec<Sum<'_>> = Vec::new();
    // Each once, however many assets there are: where its sum stands, and which units it is of.
    let mut places: BTreeMap<(Component, i64, &Currency), usize> = BTreeMap::new();
    let mut resources: BTreeSet<(usize, u32)> = BTreeSet::new();
    for line in lines {
        let at = *places.entry((line.component, line.input, &line.currency)).or_insert_with(|| {
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
        sum.count += line.count() as usize;
        sum.billed += line.billed;
        sum.effective += line.effective;
        if let Some((quantity, unit)) = line.quantity {
            let so_far = sum.quantity.map_or(Decimal::ZERO, |(so_far, _)| so_far);
            sum.quantity = Some((so_far + quantity, unit));
        }
        let basis = match line.basis.as_str() {
            "modelled" => "modeled",
            other => other,
        };
        if !sum.basis.contains(&basis) {
            sum.basis.push(basis);
        }
        let units = line.units.iter().flat_map(|it| it.numbers.iter().copied());
        resources.extend(units.map(|unit| (at, unit)));
    }
    for (at, _) in resources {
        sums[at].resources += 1;
    }
    sums.sort_by_key(|sum| (sum.component, std::cmp::Reverse(sum.effective)));
    sums
}
