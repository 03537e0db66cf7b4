//! `/clusters/new`: a cluster from a handful of figures, with what comes of them beside the form.

use std::collections::BTreeMap;

use askama::Template;
use chrono::NaiveDate;

use super::super::error::Result;
use super::super::extract::{Form, Now, Pairs, Query, Writing};
use super::super::layout::Layout;
use super::super::{filters, paths, respond};
use super::{Sent, right, send, words};
use crate::changes::{self, About, Problem, Right};
use crate::economics::Finding;
use crate::economics::owning::Hours;
use crate::money::Decimal;
use crate::money::arithmetic::quotient;
use crate::onprem::{
    AssetRegister, Economics, Field, MonthSummary, RefusedCell, Start, System, economics, lines, system,
    systems,
};
use crate::period::BillingMonth;

#[derive(Template)]
#[template(path = "clusters/new.html")]
struct Page {
    layout: Layout,
    texts: BTreeMap<String, String>,
    refused: Vec<RefusedCell>,
    problems: Vec<Problem>,
    figure: Option<Figure>,
}

/// What comes of the form.
struct Figure {
    start: Start,
    /// The first whole month.
    month: MonthSummary,
    per_owned_hour: Option<Decimal>,
    per_productive_hour: Option<Decimal>,
    /// The same cluster with the cost of capital; or why there is no such figure.
    economics: Result<Economics, Vec<Finding>>,
}

/// Parts of the form, in its order.
const PARTS: [(&str, &[&str]); 4] = [
    ("What it is", &["name", "site", "since", "system", "nodes", "spares"]),
    ("What it cost", &["currency", "node_price", "network_price", "life_months", "residual"]),
    (
        "Power, people, upkeep",
        &["pue", "price_per_kwh", "housing", "colocation_price", "fte", "loaded_cost", "maintenance"],
    ),
    ("How it is used", &["downtime", "utilization", "cost_of_capital"]),
];

impl Figure {
    fn of(start: Start) -> Option<Self> {
        let entries = start.entries();
        let asset_register = AssetRegister { entries: (1..).zip(entries).collect() };
        let month = BillingMonth::of(start.since).next();
        let lines = lines(&asset_register, &[], &start.handle(), month);
        let month = MonthSummary::of(month, &lines, &start.currency);
        let per_owned_hour = month.per_owned_hour();
        let share = start.utilization.multiply(Decimal::from(1) - start.downtime);
        let per_productive_hour = per_owned_hour.and_then(|price| price.divide(share, 12));
        let economics = economics(
            &asset_register,
            &start.handle(),
            month.month.first_day(),
            &start.currency,
            &BTreeMap::new(),
        )?;
        let economics = economics.map_err(|refused| refused.0);
        Some(Self { start, month, per_owned_hour, per_productive_hour, economics })
    }

    fn available(&self) -> Decimal {
        self.month.owned_hours.multiply(Decimal::from(1) - self.start.downtime)
    }

    fn productive(&self) -> Decimal {
        self.available().multiply(self.start.utilization)
    }

    /// What a twelfth of a year costs by the economic view.
    fn twelfth(&self) -> Option<Decimal> {
        quotient(self.economics.as_ref().ok()?.total, 12.into())
    }
}

impl Page {
    fn new(layout: Layout, texts: BTreeMap<String, String>) -> Self {
        let refused = Start::read(&texts).err().unwrap_or_default();
        let figure = Start::read(&named(&texts)).ok().and_then(Figure::of);
        Self { layout, texts, refused, problems: Vec::new(), figure }
    }

    fn value(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    /// What is wrong with a field that something was typed into.
    fn problem(&self, name: &str) -> Option<&str> {
        self.refused.iter().find(|it| it.column == name).map(|it| it.expected.as_str())
    }

    fn system(&self) -> &'static System {
        system(self.value("system")).unwrap_or(&systems()[0])
    }

    /// Where a figure that the system decides comes from.
    fn hint(&self, field: &Field) -> String {
        let system = self.system();
        match field.name {
            "node_price" => format!(
                "{} USD. {}. Quotes: {} to {}.",
                system.price, system.price_source, system.price_low, system.price_high
            ),
            "system" => format!(
                "Draws {} kW at work, {} at rest, rated {}. {}.",
                system.load_kw, system.idle_kw, system.rated_kw, system.power_source
            ),
            _ => field.hint.to_owned(),
        }
    }

    fn is_proposal(&self) -> bool {
        right(&self.layout) == Right::Propose
    }
}

/// Texts by field: what was typed over what the system suggests.
fn texts(pairs: Vec<(String, String)>, today: NaiveDate) -> BTreeMap<String, String> {
    let typed: BTreeMap<String, String> = pairs.into_iter().collect();
    let of = typed.get("system").and_then(|id| system(id)).unwrap_or(&systems()[0]);
    let mut texts = Start::defaults(of, today);
    // Another system brings prices of its own.
    let is_another = typed.get("was").is_some_and(|was| *was != of.id);
    for (name, value) in typed {
        if !(is_another && ["node_price", "network_price"].contains(&name.as_str())) {
            texts.insert(name, value);
        }
    }
    texts.insert("was".to_owned(), of.id.clone());
    texts
}

/// What people call a field.
fn label(name: &str) -> &str {
    Start::fields().iter().find(|field| field.name == name).map_or(name, |field| field.label)
}

/// The fields of each part, under its title.
fn parts() -> Vec<(&'static str, Vec<&'static Field>)> {
    let find = |name: &&str| Start::fields().iter().find(|field| field.name == *name);
    PARTS.iter().map(|(title, names)| (*title, names.iter().filter_map(find).collect())).collect()
}

/// With a name and a site where there are none yet: it costs the same whatever it is called.
fn named(texts: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut texts = texts.clone();
    for name in ["name", "site"] {
        let text = texts.entry(name.to_owned()).or_default();
        if text.trim().is_empty() {
            "unnamed".clone_into(text);
        }
    }
    texts
}

pub async fn show(_: paths::NewCluster, Now(now): Now, layout: Layout, Query(pairs): Query<Pairs>) -> Result {
    let is_new = pairs.is_empty();
    let mut page = Page::new(layout, texts(pairs, now.date_naive()));
    if is_new {
        // Nothing was typed yet.
        page.refused.clear();
    }
    respond::html(page)
}

/// What comes of what is typed so far.
pub async fn figure(
    _: paths::NewClusterFigure,
    Now(now): Now,
    layout: Layout,
    Query(pairs): Query<Pairs>,
) -> Result {
    respond::html(Page::new(layout, texts(pairs, now.date_naive())))
}

pub async fn create(_: paths::NewCluster, writing: Writing, Form(pairs): Form<Pairs>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let texts = texts(pairs, now.date_naive());
    let mut page = Page::new(layout, texts);
    let Ok(start) = Start::read(&page.texts) else { return respond::refused(page) };
    let edits = changes::additions(&mut db, start.entries()).await?;
    let summary = format!("New cluster “{}”", start.name);
    let about = About { summary: &summary, reason: None };
    let next = super::to(&start.handle());
    match send(&mut db, edits, about, right(&page.layout), &next, by.at(now)).await? {
        Sent::To(response) => Ok(response),
        Sent::Refused(problems) => {
            page.problems = problems;
            respond::refused(page)
        }
    }
}
