//! `/prices/tokens`: what suppliers ask for a million tokens, beside what the organization paid.

use askama::Template;
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;

use super::super::extract::{Form, Pairs, Writing};
use super::super::form::{Fields, amount};
use super::{Access, csv, filters, paths, respond};
use crate::accounts::Viewer;
use crate::money::{Currency, Decimal};
use crate::price_catalogue::{self, ListedTokenPrice, Removal, TokenPrice};
use crate::report::{self, Answers, CostMetric, Question, TokenCost, TokenReport};
use crate::tokens::TokenKind;
use crate::web::error::Result;
use crate::web::extract::Reading;
use crate::web::format::{File, Format};
use crate::web::layout::Layout;

/// Characters of a name.
const LONGEST: usize = 200;

#[derive(Template)]
#[template(path = "prices/tokens.html")]
struct Page {
    layout: Layout,
    list: List,
    fields: Fields,
}

/// The prices, and what was paid in the latest month.
#[derive(Serialize)]
struct List {
    prices: Vec<Row>,
    #[serde(skip)]
    removed: Vec<ListedTokenPrice>,
    paid: Option<TokenReport>,
}

#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    listed: ListedTokenPrice,
    /// What the same was paid for in the latest month, in the currency of that.
    #[serde(rename = "own_effective_price")]
    paid: Option<Decimal>,
    #[serde(rename = "own_currency")]
    paid_in: Option<Currency>,
}

impl List {
    async fn find(db: &mut PgConnection, answers: &Answers, viewer: Viewer) -> Result<Self> {
        // As of accelerators, leads see what others ask, and neither what was paid nor where it is from.
        let sees_all = viewer == Viewer::Everything;
        let paid = match answers.latest_month(&mut *db, &viewer).await?.filter(|_| sees_all) {
            Some(month) => {
                let question = Question { cost: CostMetric::Effective, ..Question::of(month.into(), viewer) };
                let report = report::token_report(&mut *db, answers, &question).await?;
                Some(report).filter(|report| !report.tokens.is_empty())
            }
            None => None,
        };
        let (removed, mut listed): (Vec<_>, Vec<_>) =
            price_catalogue::token_prices(db).await?.into_iter().partition(|it| it.is_removed);
        if !sees_all {
            for it in &mut listed {
                it.price.source.clear();
                it.added_by.clear();
            }
        }
        let prices = listed
            .into_iter()
            .map(|listed| {
                let own = paid.as_ref().and_then(|paid| paid_for(&listed.price, &paid.tokens));
                let paid_in = own.and(paid.as_ref().and_then(|paid| paid.data_status.currency.clone()));
                Row { listed, paid: own, paid_in }
            })
            .collect();
        Ok(Self { prices, removed, paid })
    }
}

/// What was paid for the same: of a model of that name, whoever bills it.
fn paid_for(price: &TokenPrice, paid: &[TokenCost]) -> Option<Decimal> {
    let is_same = |it: &&TokenCost| it.kind == price.kind && it.model.eq_ignore_ascii_case(&price.model);
    let mut same = paid.iter().filter(is_same);
    match (same.next(), same.next()) {
        (Some(it), None) => it.per_million,
        // Of several providers that have it, the one who is the supplier.
        (Some(_), Some(_)) => paid
            .iter()
            .filter(is_same)
            .find(|it| it.provider.eq_ignore_ascii_case(&price.supplier))
            .and_then(|it| it.per_million),
        (None, _) => None,
    }
}

/// What a form may begin with: a price that was paid.
pub async fn index(_: paths::TokenPrices, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { layout, person, query, app, mut db, now, .. } = reading;
    let list = List::find(&mut db, &app.answers, person.viewer()).await?;
    match format {
        Format::Html => {
            let mut fields =
                Fields::default().with("date", &now.date_naive().to_string()).with("kind", "input");
            for name in NAMES {
                if let Some((_, value)) = query.iter().find(|(of, _)| of == name) {
                    fields = fields.with(name, value);
                }
            }
            respond::html(Page { layout, list, fields })
        }
        Format::Json => respond::json(&list),
        Format::Csv => csv::answer("token-prices", &list.prices),
    }
}

/// Fields that an address may fill in.
const NAMES: [&str; 4] = ["supplier", "model", "kind", "currency"];

#[derive(Deserialize)]
pub struct PriceForm {
    supplier: String,
    model: String,
    kind: String,
    price: String,
    currency: String,
    date: String,
    source: String,
}

pub async fn add(_: paths::TokenPrices, writing: Writing, Form(form): Form<PriceForm>) -> Result {
    let Writing { now, layout, person, by, app, mut db } = writing;
    let mut fields = Fields::new([
        ("supplier", &*form.supplier),
        ("model", &form.model),
        ("kind", &form.kind),
        ("price", &form.price),
        ("currency", &form.currency),
        ("date", &form.date),
        ("source", &form.source),
    ]);
    if let Some(price) = form.read(&mut fields, now.date_naive()) {
        if price_catalogue::add_token_price(&mut db, &price, by.at(now)).await? {
            let TokenPrice { supplier, model, amount, currency, .. } = price;
            let sentence = format!("Saved: {supplier} {model}, {amount} {currency} per million tokens.");
            return Ok(respond::flash(paths::TokenPrices, &sentence));
        }
        fields.refuse("date", "There is a price of this supplier, model and kind of that day. Remove it first, or enter another day.");
    }
    let list = List::find(&mut db, &app.answers, person.viewer()).await?;
    respond::refused(Page { layout, list, fields })
}

/// A currency by its code. What bills call credits or tokens is none that a supplier asks.
fn currency(text: &str) -> Option<Currency> {
    Currency::parse(text).filter(|currency| currency.as_str().len() == 3)
}

impl PriceForm {
    fn read(&self, fields: &mut Fields, today: NaiveDate) -> Option<TokenPrice> {
        let mut text = |name: &'static str, typed: &str, what: &str| {
            let typed = typed.trim().to_owned();
            let is_one = !typed.is_empty() && typed.chars().count() <= LONGEST && !typed.contains('\0');
            fields.check(
                name,
                is_one.then_some(typed).ok_or(format!("Enter {what}, at most {LONGEST} characters.")),
            )
        };
        let supplier = text("supplier", &self.supplier, "who sells it");
        let model = text("model", &self.model, "the model, as bills name it");
        let source = text("source", &self.source, "where the price was read");
        let kind =
            fields.check("kind", self.kind.parse::<TokenKind>().map_err(|_| "Choose a kind of tokens."));
        let amount = fields.check(
            "price",
            amount(&self.price)
                .filter(|it| !it.is_negative())
                .ok_or("Enter the price of a million tokens, such as 0.15."),
        );
        let currency =
            fields.check("currency", currency(&self.currency).ok_or("Enter a currency such as USD."));
        let date = self.date.trim().parse::<NaiveDate>().ok().filter(|date| *date <= today);
        let date = fields.check(
            "date",
            date.ok_or("Enter the day on which it was read, such as 2026-11-01, not after today."),
        );
        Some(TokenPrice {
            supplier: supplier?,
            model: model?,
            kind: kind?,
            amount: amount?,
            currency: currency?,
            date: date?,
            source: source?,
        })
    }
}

pub async fn remove(path: paths::TokenPriceRemove, writing: Writing) -> Result {
    set_removed(path.price, true, writing).await
}

pub async fn restore(path: paths::TokenPriceRestore, writing: Writing) -> Result {
    set_removed(path.price, false, writing).await
}

async fn set_removed(id: i64, is_removed: bool, writing: Writing) -> Result {
    let Writing { now, by, mut db, .. } = writing;
    let changed = price_catalogue::set_token_price_removed(&mut db, id, is_removed, by.at(now)).await?;
    let sentence = match (changed, is_removed) {
        (Removal::Done(price), true) => {
            format!("Removed: {} {}. You can restore it below.", price.supplier, price.model)
        }
        (Removal::Done(price), false) => format!("Restored: {} {}.", price.supplier, price.model),
        (Removal::Taken, _) => {
            "Nothing changed: the list has another price of the same offer and day. Remove that first."
                .to_owned()
        }
        (Removal::Already, _) => "Nothing changed: this was done before.".to_owned(),
    };
    Ok(respond::flash(paths::TokenPrices, &sentence))
}

impl Page {
    fn may_change(&self) -> bool {
        self.layout.may(Access::Admin)
    }

    fn paid_currency(&self) -> Option<&Currency> {
        self.list.paid.as_ref()?.data_status.currency.as_ref()
    }

    /// The form, filled in with what was paid.
    fn to_form(&self, it: &TokenCost) -> String {
        let mut pairs =
            vec![("supplier", it.provider.as_str()), ("model", &it.model), ("kind", it.kind.as_str())];
        pairs.extend(self.paid_currency().map(|currency| ("currency", currency.as_str())));
        format!("{}#add", paths::with_query(paths::TokenPrices, &pairs))
    }
}

fn kinds() -> Vec<(&'static str, &'static str)> {
    TokenKind::ALL.map(|it| (it.as_str(), it.label())).to_vec()
}

fn to_tokens(paid: &TokenReport) -> paths::Tokens {
    paths::Tokens { period: paid.period }
}

fn removal(row: &Row) -> paths::TokenPriceRemove {
    paths::TokenPriceRemove { price: row.listed.id }
}

fn restoring(it: &ListedTokenPrice) -> paths::TokenPriceRestore {
    paths::TokenPriceRestore { price: it.id }
}

fn file(file: File) -> String {
    file.of(paths::TokenPrices.to_string())
}

csv::record! {
    |it: Row|
    "supplier" => &it.listed.price.supplier,
    "model" => &it.listed.price.model,
    "kind" => it.listed.price.kind.as_str(),
    "price" => it.listed.price.amount,
    "currency" => &it.listed.price.currency,
    "date" => it.listed.price.date,
    "source" => &it.listed.price.source,
    "own_effective_price" => it.paid,
    "own_currency" => it.paid_in.as_ref(),
}
