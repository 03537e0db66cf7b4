//! `/prices`: what accelerators are offered for, beside what the organization pays.

pub(super) mod form;
pub(super) mod tokens;
pub(super) mod words;

use std::collections::BTreeSet;

use askama::Template;
use axum::response::Response;
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::PgConnection;

use super::csv;
use super::error::{Error, Result};
use super::extract::Reading;
use super::format::{File, Format};
use super::layout::{Layout, Pages};
use super::table::page_of;
use super::{Access, filters, paths, respond};
use crate::accelerator;
use crate::accounts::Viewer;
use crate::changes::{self, Outcome, Right};
use crate::money::Currency;
use crate::period::{BillingMonth, Period};
use crate::price_catalogue;
use crate::price_catalogue::read::DOLLARS;
use crate::price_catalogue::{Catalogue, Listed, Mark, Origin, Tier};
use crate::report::{Answers, PaidPrice, PaidPrices};

const ROWS: usize = 100;

/// What of the list is asked for. What stands at its default is not printed.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Asked {
    #[serde(skip_serializing_if = "String::is_empty")]
    accelerator: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    tier: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    supplier: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    region: String,
    /// `odd`: with a mark; `entered`: not those that come with the program.
    #[serde(skip_serializing_if = "String::is_empty")]
    only: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    sort: String,
    /// As of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u64>,
}

/// Orders that can be asked for, the usual one first.
const SORTS: [(&str, &str); 4] = [
    ("", "accelerator and tier"),
    ("price", "price, cheapest first"),
    ("supplier", "supplier"),
    ("-date", "date read, latest first"),
];
const ONLY: [(&str, &str); 3] = [("", "all"), ("odd", "odd or old"), ("entered", "entered or imported")];

impl Asked {
    fn check(&self) -> Result<()> {
        let tiers = Tier::ALL.map(Tier::as_str);
        let refuse = |name: &str, found: &str, known: Vec<&str>| {
            let known: Vec<&str> = known.into_iter().filter(|it| !it.is_empty()).collect();
            Err(Error::BadRequest(format!("{name}: found “{found}”, expected {}.", known.join(", "))))
        };
        if !self.tier.is_empty() && !tiers.contains(&self.tier.as_str()) {
            return refuse("tier", &self.tier, tiers.to_vec());
        }
        if !self.accelerator.is_empty() && accelerator::model(&self.accelerator).is_none() {
            return refuse(
                "accelerator",
                &self.accelerator,
                vec!["an ID of the catalog such as nvidia-h100-sxm"],
            );
        }
        for (name, found, known) in [
            ("sort", &self.sort, SORTS.map(|it| it.0).to_vec()),
            ("only", &self.only, ONLY.map(|it| it.0).to_vec()),
        ] {
            if !known.contains(&found.as_str()) {
                return refuse(name, found, known);
            }
        }
        Ok(())
    }

    fn keeps(&self, row: &Row) -> bool {
        let price = &row.listed.price;
        let is = |asked: &str, found: &str| asked.is_empty() || asked.eq_ignore_ascii_case(found);
        let is_wanted = match self.only.as_str() {
            "odd" => !row.marks.is_empty(),
            "entered" => row.listed.origin == Origin::Entered,
            _ => true,
        };
        is(&self.accelerator, &price.accelerator)
            && is(&self.tier, price.tier.as_str())
            && is(&self.supplier, &price.supplier)
            && is(&self.region, &price.region)
            && is_wanted
    }

    fn sort(&self, rows: &mut [Row]) {
        match self.sort.as_str() {
            // The list is in the usual order.
            "price" => rows.sort_by(|a, b| a.amount().cmp(&b.amount())),
            "supplier" => rows.sort_by_key(|row| row.listed.price.supplier.to_lowercase()),
            "-date" => rows.sort_by_key(|row| std::cmp::Reverse(row.listed.price.date)),
            _ => {}
        }
    }

    fn link(&self, path: impl axum_extra::routing::TypedPath) -> String {
        paths::with_query(path, &Self { page: None, ..self.clone() }).trim_end_matches('?').to_owned()
    }
}

/// An offer with what is said of it.
#[derive(Clone, Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    listed: Listed,
    marks: Vec<Mark>,
    /// What the organization paid for an hour of this accelerator, bought as this is; none for whoever sees their
    /// teams alone.
    ours: Option<PaidPrice>,
    /// That it is in, which is not always that of the list.
    own_currency: Option<Currency>,
}

impl Row {
    fn amount(&self) -> (&Currency, crate::money::Decimal) {
        (&self.listed.price.currency, self.listed.price.amount)
    }

    fn model(&self) -> String {
        words::model(&self.listed.price.accelerator)
    }

    fn words(&self) -> Vec<(&'static str, String)> {
        self.marks.iter().map(|it| words::mark(it, &self.listed.price)).collect()
    }

    fn to(&self) -> paths::PriceOffer {
        paths::PriceOffer { offer: self.listed.id.clone() }
    }

    fn is_entered(&self) -> bool {
        self.listed.origin == Origin::Entered
    }
}

/// Of a select: value, label, whether it is asked for.
type Choices = Vec<(String, String, bool)>;

/// The last quarter that is over.
pub(in crate::web) fn last_quarter(today: NaiveDate) -> Period {
    Period::quarter_of(BillingMonth::of(today)).previous()
}

/// The list as it is asked for.
struct List {
    revision: i64,
    catalogue: Catalogue,
    paid: Option<PaidPrices>,
    rows: Vec<Row>,
}

impl List {
    async fn find(
        db: &mut PgConnection,
        answers: &Answers,
        asked: &Asked,
        viewer: Viewer,
        today: NaiveDate,
    ) -> Result<Self> {
        asked.check()?;
        let last = changes::Kind::Prices.version(&mut *db).await?;
        let revision = asked.revision.unwrap_or(last);
        if !(0..=last).contains(&revision) {
            return Err(Error::BadRequest(format!("revision: found {revision}, expected 0 to {last}.")));
        }
        let catalogue = price_catalogue::as_of(&mut *db, revision).await?;
        let paid = match viewer {
            Viewer::Everything => {
                let dollars = Currency::exactly(DOLLARS);
                Some(answers.paid_prices(db, last_quarter(today), &dollars, viewer).await?)
            }
            // What everybody pays is not theirs to see, and what their teams pay is on the pages of these.
            Viewer::Teams(_) => None,
        };
        let of = |listed: &Listed| {
            let model = accelerator::model(&listed.price.accelerator);
            let ours = model.zip(paid.as_ref()).and_then(|(model, paid)| paid.of(model, listed.price.tier));
            let own_currency = ours.and(paid.as_ref()).map(|paid| paid.currency.clone());
            let marks = catalogue.marks(listed, today);
            Row { marks, listed: listed.clone(), ours: ours.cloned(), own_currency }
        };
        let mut rows: Vec<Row> = catalogue.listed().iter().map(of).filter(|row| asked.keeps(row)).collect();
        asked.sort(&mut rows);
        Ok(Self { revision, catalogue, paid, rows })
    }
}

#[derive(Template)]
#[template(path = "prices/index.html")]
struct Page {
    layout: Layout,
    asked: Asked,
    list: List,
    waiting: i64,
    pages: Pages,
    last_revision: i64,
}

impl Page {
    fn shown(&self) -> &[Row] {
        page_of(&self.list.rows, self.pages.page, ROWS)
    }

    fn may_change(&self) -> bool {
        self.layout.may(Access::Finance)
    }

    fn choices(&self, of: impl Fn(&Listed) -> (String, String), asked: &str) -> Choices {
        let all = (String::new(), "all".to_owned(), asked.is_empty());
        let found: BTreeSet<(String, String)> = self.list.catalogue.listed().iter().map(of).collect();
        let known = found.into_iter().filter(|(value, _)| !value.is_empty()).map(|(value, label)| {
            let is_current = value.eq_ignore_ascii_case(asked);
            (value, label, is_current)
        });
        std::iter::once(all).chain(known).collect()
    }

    /// A select each: its name, its label, its choices.
    fn selects(&self) -> Vec<(&'static str, &'static str, Choices)> {
        let twice = |text: &str| (text.to_owned(), text.to_owned());
        let mut tiers = vec![(String::new(), "all".to_owned(), self.asked.tier.is_empty())];
        tiers.extend(
            Tier::ALL
                .map(|it| (it.as_str().to_owned(), it.name().to_owned(), it.as_str() == self.asked.tier)),
        );
        let fixed = |choices: &[(&str, &str)], asked: &str| {
            let of =
                |(value, label): &(&str, &str)| ((*value).to_owned(), (*label).to_owned(), *value == asked);
            choices.iter().map(of).collect::<Vec<_>>()
        };
        let model = |it: &Listed| (it.price.accelerator.clone(), words::model(&it.price.accelerator));
        vec![
            ("accelerator", "Accelerator", self.choices(model, &self.asked.accelerator)),
            ("tier", "Tier", tiers),
            ("supplier", "Supplier", self.choices(|it| twice(&it.price.supplier), &self.asked.supplier)),
            ("region", "Region", self.choices(|it| twice(&it.price.region), &self.asked.region)),
            ("only", "Show", fixed(&ONLY, &self.asked.only)),
            ("sort", "Sort by", fixed(&SORTS, &self.asked.sort)),
        ]
    }

    fn csv(&self) -> String {
        File::Csv.of(self.asked.link(paths::Prices))
    }

    fn json(&self) -> String {
        File::Json.of(self.asked.link(paths::Prices))
    }

    fn is_as_of(&self) -> bool {
        self.list.revision != self.last_revision
    }
}

pub async fn index(_: paths::Prices, format: Format, reading: Reading<Asked>) -> Result {
    let Reading { now, layout, person, query: asked, app, mut db } = reading;
    let list = List::find(&mut db, &app.answers, &asked, person.viewer(), now.date_naive()).await?;
    match format {
        Format::Html => {}
        Format::Json => {
            return respond::json(
                &json!({ "revision": list.revision, "own_prices": list.paid, "prices": list.rows }),
            );
        }
        Format::Csv => return csv::answer("prices", &list.rows),
    }
    let waiting = changes::waiting(&mut db, Some(changes::Kind::Prices)).await?;
    let last_revision = changes::Kind::Prices.version(&mut db).await?;
    let page = asked.page.unwrap_or(1).max(1);
    let pages = Pages::of(page, list.rows.len() as u64, ROWS as u64, &asked.link(paths::Prices));
    respond::html(Page { layout, asked, list, waiting, pages, last_revision })
}

// What the page reads back, and what it says besides.
csv::record! {
    |it: Row|
    "accelerator" => &it.listed.price.accelerator,
    "supplier" => &it.listed.price.supplier,
    "tier" => it.listed.price.tier.as_str(),
    "paid" => it.listed.price.paid.as_str(),
    "price" => it.listed.price.amount,
    "currency" => &it.listed.price.currency,
    "gpus" => it.listed.price.gpus.map(|gpus| gpus.to_string()),
    "sku" => &it.listed.price.sku,
    "region" => &it.listed.price.region,
    "term_months" => it.listed.price.term_months.map(i64::from),
    "increment_seconds" => it.listed.price.increment_seconds.map(i64::from),
    "date" => it.listed.price.date,
    "source" => &it.listed.price.source,
    "origin" => if it.is_entered() { "entered" } else { "shipped" },
    "marks" => it.marks.iter().map(words::word).collect::<Vec<_>>().join(" "),
    "own_effective_price" => it.ours.as_ref().map(|ours| ours.per_hour),
    "own_currency" => it.own_currency.as_ref(),
}

/// Whether whoever looks may change the list at once, or only propose to.
fn right(layout: &Layout) -> Right {
    if layout.may(Access::Admin) { Right::Apply } else { Right::Propose }
}

/// What became of edits that somebody sent: where to go on, or why nothing changed.
fn described(outcome: Outcome, summary: &str) -> Result<Response, Vec<String>> {
    let (sentence, next) = match outcome {
        Outcome::At { .. } => (format!("Saved: {summary}."), paths::Prices.to_string()),
        Outcome::Waits(change) => {
            (format!("Proposed: {summary}. An administrator decides."), to_change(change))
        }
        Outcome::Nothing | Outcome::Decided => {
            ("Nothing changed: this was saved before.".to_owned(), paths::Prices.to_string())
        }
        Outcome::Refused(problems) => return Err(problems.into_iter().map(|it| it.of).collect()),
        Outcome::Conflict(of) => return Err(of),
    };
    Ok(respond::flash(next, &sentence))
}

fn to_change(change: i64) -> String {
    paths::PriceChange { change }.to_string()
}
