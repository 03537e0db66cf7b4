//! What tokens of language models cost: by provider, model and kind, per million.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row as _};

use super::cache::Ask;
use super::denominate::denominate;
use super::snapshot::AsOf;
use super::sql::{Column, Measure, Rows, items_source_of};
use super::{Answers, DataStatus, Error, Grouping, Question, Spend};
use crate::cache::SizeInCache;
use crate::money::{Decimal, Money, written};
use crate::period::Period;
use crate::tokens::{TokenKind, recognize};

/// Digits of a price per million tokens.
const PLACES: u8 = 6;
const MILLION: i64 = 1_000_000;

/// Tokens of a model that were billed, of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TokenCost {
    pub provider: String,
    pub model: String,
    pub kind: TokenKind,
    pub tokens: Decimal,
    pub cost: Decimal,
    /// Null where nothing was metered.
    pub per_million: Option<Decimal>,
}

/// What tokens cost in a period.
#[derive(Clone, Debug, Serialize)]
pub struct TokenReport {
    pub period: Period,
    #[serde(flatten)]
    pub data_status: DataStatus,
    /// Null where nothing was billed.
    pub total: Option<Money>,
    /// Models by their cost, the largest first, and in them kinds in their order.
    pub tokens: Vec<TokenCost>,
}

/// Asks for everything that the page of tokens shows.
pub async fn token_report(
    db: &mut PgConnection,
    answers: &Answers,
    question: &Question,
) -> Result<TokenReport, Error> {
    let spend = answers.priced_spend(&mut *db, &question.by(Grouping::Month)).await?;
    let tokens = answers.token_costs(db, question, &spend).await?;
    let total = spend.total.as_ref().map(|total| Money {
        amount: tokens.iter().map(|it| it.cost).sum(),
        currency: total.currency.clone(),
    });
    Ok(TokenReport { period: question.period, data_status: DataStatus::from(&spend), total, tokens })
}

/// Models by their cost, the largest first, and in them kinds in their order.
#[derive(Clone, PartialEq, Eq, Hash)]
struct FindTokens;

impl Answers {
    /// What tokens cost, beside an answer of the same question: in its currency, and as of its version.
    pub async fn token_costs(
        &self,
        db: &mut PgConnection,
        question: &Question,
        spend: &Spend,
    ) -> Result<Vec<TokenCost>, Error> {
        let question = question.beside(spend).by(Grouping::Month);
        Ok(Vec::clone(&*self.ask(db, &question, spend.sequence, FindTokens).await?))
    }
}

impl Ask for FindTokens {
    type Answer = Vec<TokenCost>;

    async fn ask(&self, db: &mut PgConnection, asked: AsOf<'_>) -> sqlx::Result<Vec<TokenCost>> {
        let AsOf { question, snapshot, .. } = asked;
        // Most bills have none, and a look at the kinds of charges is cheaper than one at a month.
        if !are_billed(&mut *db).await? {
            return Ok(Vec::new());
        }
        let Some(denomination) = denominate(&mut *db, asked).await?.denomination else {
            return Ok(Vec::new());
        };
        let source = items_source_of(&mut *db, (question.dimensions(), &question.viewer), snapshot).await?;
        let rows = Rows::of_period(question, snapshot, source, Some(&denomination));
        let mut query = QueryBuilder::<Postgres>::new("select ");
        for (name, _) in TEXTS {
            query.push(format!("{} as {name}, ", rows.visible(name)));
        }
        query.push(format!(
            "sum({}) as cost, sum({}) as quantity",
            rows.amount("cost"),
            rows.sum("quantity")
        ));
        let columns = TEXTS.map(|(name, sql)| Column::Sql(name, sql));
        rows.push(&mut query, &[Measure::Cost, Measure::Quantity], &columns);
        query.push(
            " and (c.unit ilike '%token%' or c.meter ilike '%token%' or c.sku ilike '%token%') group by 1, 2, 3, 4, 5",
        );
        let mut found: BTreeMap<(String, String, TokenKind), (Decimal, Decimal)> = BTreeMap::new();
        for row in query.build().fetch_all(db).await? {
            let text = |name: &str| row.try_get::<String, _>(name);
            let (service, sku, meter, unit) = (text("service")?, text("sku")?, text("meter")?, text("unit")?);
            let Some(it) = recognize(&service, &sku, &meter, &unit) else { continue };
            let quantity: Decimal = row.try_get("quantity")?;
            let cost: Decimal = row.try_get("cost")?;
            let (tokens, sum) = found.entry((text("provider")?, it.model, it.kind)).or_default();
            *tokens += quantity.times(i64::from(it.per_unit));
            *sum += cost;
        }
        Ok(sorted(found))
    }
}

/// What is asked of a charge: its names as columns, and where they stand.
const TEXTS: [(&str, &str); 5] = [
    ("provider", "k.provider"),
    ("service", "k.service"),
    ("sku", "k.sku"),
    ("meter", "k.meter"),
    ("unit", "k.unit"),
];

async fn are_billed(db: &mut PgConnection) -> sqlx::Result<bool> {
    sqlx::query_scalar!(
        r#"select exists (
               select from charge_keys where unit ilike '%token%' or meter ilike '%token%' or sku ilike '%token%'
           ) as "are_billed!""#
    )
    .fetch_one(db)
    .await
}

fn sorted(found: BTreeMap<(String, String, TokenKind), (Decimal, Decimal)>) -> Vec<TokenCost> {
    let mut of_model: BTreeMap<(String, String), Decimal> = BTreeMap::new();
    for ((provider, model, _), (_, cost)) in &found {
        *of_model.entry((provider.clone(), model.clone())).or_default() += *cost;
    }
    let mut costs: Vec<TokenCost> = found
        .into_iter()
        .map(|((provider, model, kind), (tokens, cost))| TokenCost {
            per_million: cost.times(MILLION).divide(tokens, PLACES).map(Decimal::normalize),
            provider,
            model,
            kind,
            tokens: tokens.normalize(),
            cost,
        })
        .collect();
    // Stable: kinds stay in their order.
    costs.sort_by_cached_key(|it| {
        let whole = of_model.get(&(it.provider.clone(), it.model.clone())).copied().unwrap_or_default();
        (std::cmp::Reverse(whole), it.provider.clone(), it.model.clone())
    });
    costs
}

/// The first lines of what tokens cost, and what the others cost together.
pub struct TokenTable<'a> {
    pub lines: &'a [TokenCost],
    /// How many are not shown.
    pub others: usize,
    pub cost_of_others: Decimal,
    pub total: Decimal,
}

impl<'a> TokenTable<'a> {
    pub fn of(tokens: &'a [TokenCost], most: usize) -> Self {
        let (lines, others) = tokens.split_at(most.min(tokens.len()));
        let sum = |of: &[TokenCost]| of.iter().map(|it| it.cost).sum();
        Self { lines, others: others.len(), cost_of_others: sum(others), total: sum(tokens) }
    }
}

impl TokenCost {
    pub fn millions(&self) -> Decimal {
        self.tokens.divide(Decimal::from(MILLION), PLACES).unwrap_or_default()
    }

    /// A price as a page writes it: some are below a cent.
    pub fn price(&self) -> Option<String> {
        let price = self.per_million?;
        Some(written(price, if price.abs() < Decimal::from(1) { 4 } else { 2 }))
    }
}

impl SizeInCache for TokenCost {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.provider.len() + self.model.len()
    }
}
