//! What is unallocated: how much of a period it is, how that changed, which keys it is, and who could own them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use serde_json::Value;
use sqlx::{FromRow, PgConnection, Postgres, QueryBuilder, Row};
use uuid::Uuid;

use super::as_of::{Error, as_of};
use super::cache::Ask;
use super::charges_and_credits::{ChargedAndCredited, MonthChargesAndCredits};
use super::denominate::denominate;
use super::snapshot::{AsOf, Snapshot};
use super::sql::{Column, Measure, Rows, items_source_of, keys_source_of};
use super::statement::{Cents, month_in_cents, months_in_cents};
use super::{Answers, ChargesAndCredits, DataStatus, Days, Filter, Group, Grouping, Question, Spend};
use crate::accelerator::accelerator_hours;
use crate::allocation::{Facts, KeyRow, MonthConfiguration, Neighbours, RuleEngine, Suggestion, suggest};
use crate::cache::SizeInCache;
use crate::money::Decimal;
use crate::period::{BillingMonth, Period};

/// Months that coverage is shown for: one sees the same month of the year before.
const MONTHS: u32 = 13;
const PLACES: u8 = 6;

/// How a period is covered, and what is not.
#[derive(Clone, Debug, Serialize)]
pub struct Unallocated {
    pub period: Period,
    #[serde(flatten)]
    pub data_status: DataStatus,
    /// Null where nothing was billed.
    pub coverage: Option<Coverage>,
    /// The same in cents, as what teams are charged states them.
    pub stated: StatedCoverage,
    /// The last thirteen months up to the period's last, as far as something was billed in them.
    pub months: Vec<MonthCoverage>,
    pub keys: Vec<UnallocatedKey>,
    /// Of all unallocated keys.
    pub count: i64,
    /// Whether somebody could own anything in the period's last month.
    pub has_teams: bool,
}

/// A cost in its parts, which sum to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Coverage {
    pub total: Decimal,
    /// Allocated to teams directly.
    pub direct: Decimal,
    /// Allocated to teams through pools of shared costs.
    pub shared: Decimal,
    pub unallocated: Decimal,
    /// Of the unallocated, what stands in pools that could not be divided.
    pub undivided: Decimal,
    /// The unallocated, what is above zero and what is below apart.
    pub unallocated_gross: ChargesAndCredits,
    /// The allocated part of everything that was charged or credited, each counted for what it is, so that a credit
    /// hides no charge; null where there is nothing.
    pub covered: Option<Decimal>,
}

/// Its parts in cents, which sum to the total as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StatedCoverage {
    pub total: Decimal,
    pub direct: Decimal,
    pub shared: Decimal,
    pub unallocated: Decimal,
}

#[derive(Clone, Debug, Serialize)]
pub struct MonthCoverage {
    pub month: BillingMonth,
    #[serde(flatten)]
    pub coverage: Coverage,
    pub stated: StatedCoverage,
}

/// A charge key that is unallocated, whole or in part.
#[derive(Clone, Debug, Serialize)]
pub struct UnallocatedKey {
    pub charge_key_id: Uuid,
    pub provider: String,
    /// The sub-account, else the billing account.
    pub account: String,
    pub service: String,
    /// The instance type, meter or SKU.
    pub item: String,
    pub region: String,
    pub category: String,
    pub pricing: String,
    pub accelerator: Option<String>,
    pub resource: Option<String>,
    pub tags: Value,
    /// The pool of shared costs that it stands in, which could not be divided.
    pub pool: Option<String>,
    pub cost: Decimal,
    pub accelerator_hours: Decimal,
    pub owned_hours: Decimal,
    /// Null where none of it belongs to a day.
    pub days: Option<Days>,
    /// Of the unallocated charges; of the credits, where it is one.
    pub share: Decimal,
    /// Who could own it, the surest first.
    pub suggestions: Vec<Suggestion>,
}

/// The keys of an answer, without who could own them.
#[derive(Clone, Debug)]
struct Keys {
    found: Vec<(UnallocatedKey, Facts)>,
    count: i64,
    neighbours: Neighbours,
}

impl Answers {
    /// How a question's period is covered, and the unallocated keys from `first` on, at most `limit`, the largest
    /// first. Who could own them is decided by the configuration of the period's last month.
    pub async fn unallocated(
        &self,
        db: &mut PgConnection,
        question: &Question,
        first: i64,
        limit: Option<i64>,
    ) -> Result<Unallocated, Error> {
        let sequence = as_of(db, question.sequence).await?;
        let asked = Question {
            by: Grouping::Team,
            then: Some(Grouping::Pool),
            sequence: Some(sequence),
            ..question.of_everything()
        };
        let spend = self.spend(db, &asked).await?;
        let configuration = self.configuration(db, sequence).await?;
        let of_month = configuration.of_month(question.period.last());
        let mut found = Unallocated {
            period: question.period,
            data_status: DataStatus::from(&spend),
            coverage: None,
            stated: StatedCoverage::default(),
            months: Vec::new(),
            keys: Vec::new(),
            count: 0,
            has_teams: !of_month.teams.is_empty(),
        };
        // Nothing is compared here.
        found.data_status.rates.retain(|used| used.month >= question.period.first());
        found.data_status.previous_unconverted.clear();
        let Some(total) = &spend.total else { return Ok(found) };
        // The months before are shown in the same currency, whichever was the most used one in them.
        let asked = asked.beside(&spend);
        let mut amounts = MonthChargesAndCredits::default();
        for month in question.period.months() {
            amounts += self.charges_and_credits_of_month(db, &asked, month, sequence).await?;
        }
        let coverage = coverage(&spend, total.amount, &amounts);
        found.coverage = Some(coverage);
        if asked.filters.is_empty() {
            for (_, cents) in months_in_cents(db, self, &asked, &configuration).await? {
                found.stated += StatedCoverage::of(&cents);
            }
        } else {
            found.stated = StatedCoverage::rounded(&coverage);
        }
        found.months = self.coverage_by_month(db, &asked, sequence).await?;
        let of_nobody = asked.filtered(Filter::no_value(Grouping::Team));
        let of_nobody = Question { by: Grouping::Month, then: None, ..of_nobody };
        let keys = self.ask(db, &of_nobody, sequence, FindKeys { first, limit }).await?;
        found.count = keys.count;
        found.keys = owned(&keys, &of_month, &amounts.unallocated)?;
        Ok(found)
    }

    async fn charges_and_credits_of_month(
        &self,
        db: &mut PgConnection,
        asked: &Question,
        month: BillingMonth,
        sequence: i64,
    ) -> sqlx::Result<MonthChargesAndCredits> {
        let of_month = Question { period: month.into(), then: None, ..asked.clone() };
        Ok(*self.ask(db, &of_month, sequence, ChargedAndCredited).await?)
    }

    async fn coverage_by_month(
        &self,
        db: &mut PgConnection,
        asked: &Question,
        sequence: i64,
    ) -> Result<Vec<MonthCoverage>, Error> {
        let last = asked.period.last();
        let period = Period::up_to(last, MONTHS);
        let by_month = Question { period, by: Grouping::Month, then: Some(Grouping::Team), ..asked.clone() };
        let whole = self.spend(db, &by_month).await?;
        let of_pools = by_month.filtered(Filter::no_value(Grouping::Pool).left_out());
        let shared = self.spend(db, &of_pools).await?;
        let mut months = Vec::new();
        for of_month in &whole.groups {
            let Some(month) = of_month.key.as_deref().and_then(|key| key.parse().ok()) else { continue };
            let pools = shared.groups.iter().find(|pools| pools.key == of_month.key);
            let coverage = Coverage::of(
                of_month.cost.amount,
                nobodys(of_month),
                pools.map_or(Decimal::ZERO, |pools| pools.cost.amount),
                pools.map_or(Decimal::ZERO, nobodys),
                &self.charges_and_credits_of_month(db, asked, month, sequence).await?,
            );
            let stated = if asked.filters.is_empty() {
                let asked = Question { period: BillingMonth::into(month), ..asked.clone() };
                StatedCoverage::of(&month_in_cents(db, self, &asked).await?)
            } else {
                StatedCoverage::rounded(&coverage)
            };
            months.push(MonthCoverage { month, coverage, stated });
        }
        Ok(months)
    }
}

impl StatedCoverage {
    /// Of the cents of teams and, under no name, of what is unallocated.
    fn of(cents: &BTreeMap<Option<String>, Cents>) -> Self {
        let of_teams: Cents = cents.iter().filter(|(team, _)| team.is_some()).map(|(_, cents)| *cents).sum();
        let unallocated = cents.get(&None).map(|cents| cents.total).unwrap_or_default();
        let (direct, shared) = (of_teams.direct, of_teams.shared);
        Self { total: of_teams.total + unallocated, direct, shared, unallocated }
    }

    /// Of a part of the charges, for which nothing is stated elsewhere.
    fn rounded(coverage: &Coverage) -> Self {
        let parts = [coverage.direct, coverage.shared, coverage.unallocated];
        let cents = Decimal::round_parts(&parts, 2);
        Self { total: cents.iter().copied().sum(), direct: cents[0], shared: cents[1], unallocated: cents[2] }
    }
}

impl std::ops::AddAssign for StatedCoverage {
    fn add_assign(&mut self, other: Self) {
        self.total += other.total;
        self.direct += other.direct;
        self.shared += other.shared;
        self.unallocated += other.unallocated;
    }
}

impl Coverage {
    /// From what everything came to, what of it is unallocated, the same two of pools alone, and charges and credits apart.
    fn of(
        total: Decimal,
        unallocated: Decimal,
        pools: Decimal,
        undivided: Decimal,
        amounts: &MonthChargesAndCredits,
    ) -> Self {
        let shared = pools - undivided;
        let allocated = total - unallocated;
        Self {
            total: total.normalize(),
            direct: (allocated - shared).normalize(),
            shared: shared.normalize(),
            unallocated: unallocated.normalize(),
            undivided: undivided.normalize(),
            unallocated_gross: ChargesAndCredits {
                charges: amounts.unallocated.charges.normalize(),
                credits: amounts.unallocated.credits.normalize(),
            },
            covered: amounts.covered(),
        }
    }
}

/// Of spend by team and pool.
fn coverage(spend: &Spend, total: Decimal, amounts: &MonthChargesAndCredits) -> Coverage {
    let of_pools = |group: &Group| -> Decimal {
        group.groups.iter().filter(|pool| pool.key.is_some()).map(|pool| pool.cost.amount).sum()
    };
    let pools = spend.groups.iter().map(of_pools).sum();
    let nobody = spend.groups.iter().find(|group| group.key.is_none());
    let unallocated = nobody.map_or(Decimal::ZERO, |group| group.cost.amount);
    Coverage::of(total, unallocated, pools, nobody.map_or(Decimal::ZERO, of_pools), amounts)
}

/// What of a group by team has none.
fn nobodys(group: &Group) -> Decimal {
    group.groups.iter().filter(|team| team.key.is_none()).map(|team| team.cost.amount).sum()
}

/// The keys with who could own them.
fn owned(
    keys: &Keys,
    configuration: &MonthConfiguration<'_>,
    unallocated: &ChargesAndCredits,
) -> sqlx::Result<Vec<UnallocatedKey>> {
    // A pattern that is none is refused before it is kept.
    let attributor = RuleEngine::new(configuration).map_err(|error| sqlx::Error::Decode(error.into()))?;
    let key = |(key, facts): &(UnallocatedKey, Facts)| {
        let mut key = key.clone();
        key.share = unallocated.share(key.cost);
        // What stands in a pool is claimed by a rule already.
        if key.pool.is_none() {
            key.suggestions = suggest(configuration, &attributor, facts, &keys.neighbours);
        }
        if let Some(pool) = key.pool.as_deref().and_then(|handle| configuration.pool(handle)) {
            key.pool = Some(pool.name.clone());
        }
        key
    };
    Ok(keys.found.iter().map(key).collect())
}

/// The keys of a question for what has no team, from a place on and at most so many, and whose the rest is of their accounts
/// and resources.
#[derive(Clone, PartialEq, Eq, Hash)]
struct FindKeys {
    first: i64,
    limit: Option<i64>,
}

impl Ask for FindKeys {
    type Answer = Keys;

    async fn ask(&self, db: &mut PgConnection, asked: AsOf<'_>) -> sqlx::Result<Keys> {
        let AsOf { question, snapshot, .. } = asked;
        let mut keys = Keys { found: Vec::new(), count: 0, neighbours: Neighbours::default() };
        let Some(denomination) = denominate(db, asked).await?.denomination else {
            return Ok(keys);
        };
        let source = keys_source_of(db, question.dimensions(), snapshot).await?;
        let rows = Rows::of_period(question, snapshot, source, Some(&denomination));
        let mut query = QueryBuilder::<Postgres>::new("with keys as (select c.charge_key_id, c.pool, ");
        query.push(format!(
            "sum({}) as cost, sum({}) as part_seconds, sum({}) as owned_seconds",
            rows.amount("cost"),
            rows.sum("part_seconds"),
            rows.sum("owned_seconds")
        ));
        let measures = [Measure::Cost, Measure::PartSeconds, Measure::OwnedSeconds];
        let columns =
            [Column::Sql("charge_key_id", "c.charge_key_id"), Column::Value("pool", &Grouping::Pool)];
        rows.push(&mut query, &measures, &columns);
        query.push(
            " group by 1, 2), chosen as (select *, count(*) over () as keys from keys \
         order by abs(cost) desc, charge_key_id, pool limit ",
        );
        query.push_bind(self.limit);
        query.push(" offset ");
        query.push_bind(self.first);
        query.push(
        ") select chosen.*, k.provider, k.billing_account, k.sub_account, k.service, k.service_category, k.sku, \
         k.region, k.accelerator, k.instance_type, k.meter, k.pricing, k.category, k.resource_id, \
         k.commitment_discount_id, k.is_unused_commitment, k.tags from chosen join charge_keys k on k.charge_key_id = chosen.charge_key_id \
         order by abs(chosen.cost) desc, chosen.charge_key_id, chosen.pool",
    );
        for row in query.build().fetch_all(&mut *db).await? {
            keys.count = row.try_get("keys")?;
            let pool: String = row.try_get("pool")?;
            let facts = Facts::from(KeyRow::from_row(&row)?);
            let item = [&facts.instance_type, &facts.meter, &facts.sku];
            let key = UnallocatedKey {
                charge_key_id: row.try_get("charge_key_id")?,
                provider: facts.provider.clone(),
                account: account_of(&facts).to_owned(),
                service: facts.service.clone(),
                item: item.into_iter().find(|text| !text.is_empty()).cloned().unwrap_or_default(),
                region: facts.region.clone(),
                category: facts.category.clone(),
                pricing: facts.pricing.clone(),
                accelerator: row.try_get("accelerator")?,
                resource: row.try_get("resource_id")?,
                tags: row.try_get("tags")?,
                pool: Some(pool).filter(|pool| !pool.is_empty()),
                cost: row.try_get("cost")?,
                accelerator_hours: accelerator_hours(row.try_get("part_seconds")?, PLACES).normalize(),
                owned_hours: accelerator_hours(row.try_get("owned_seconds")?, PLACES).normalize(),
                days: None,
                share: Decimal::ZERO,
                suggestions: Vec::new(),
            };
            keys.found.push((key, facts));
        }
        let days = days_of_keys(db, question.period, snapshot, &keys.found).await?;
        for (key, _) in &mut keys.found {
            key.days = days.get(&key.charge_key_id).copied();
        }
        if keys.found.iter().any(|(key, _)| key.pool.is_none()) {
            keys.neighbours = neighbours(db, &rows, &keys.found).await?;
        }
        Ok(keys)
    }
}

impl SizeInCache for Keys {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + self.found.len() * 2048
    }
}

/// The days on which these keys were charged.
async fn days_of_keys(
    db: &mut PgConnection,
    period: Period,
    snapshot: &Snapshot,
    keys: &[(UnallocatedKey, Facts)],
) -> sqlx::Result<HashMap<Uuid, Days>> {
    let mut query = QueryBuilder::<Postgres>::new(
        "select c.charge_key_id, min(c.day) as first, max(c.day) as last, count(distinct c.day) as count \
         from daily_costs c where not c.is_whole_period and c.charge_key_id = any(",
    );
    query.push_bind(keys.iter().map(|(key, _)| key.charge_key_id).collect::<Vec<_>>());
    query.push(") and c.billing_month >= ");
    query.push_bind(period.first().first_day());
    query.push(" and c.billing_month <= ");
    query.push_bind(period.last().first_day());
    snapshot.visible.push(&mut query);
    query.push(" group by 1");
    let rows = query.build().fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            let count: i64 = row.try_get("count")?;
            let count = usize::try_from(count).unwrap_or_default();
            let days = Days { first: row.try_get("first")?, last: row.try_get("last")?, count };
            Ok((row.try_get("charge_key_id")?, days))
        })
        .collect()
}

/// What teams have directly in the accounts, and of the resources, of these keys.
async fn neighbours(
    db: &mut PgConnection,
    rows: &Rows<'_>,
    keys: &[(UnallocatedKey, Facts)],
) -> sqlx::Result<Neighbours> {
    let accounts: BTreeSet<&String> = keys.iter().map(|(key, _)| &key.account).collect();
    let resources: BTreeSet<&String> = keys.iter().filter_map(|(key, _)| key.resource.as_ref()).collect();
    let mut found = Neighbours::default();
    for (dimension, values) in [(Grouping::Account, accounts), (Grouping::Resource, resources)] {
        let values: Vec<String> = values.into_iter().filter(|value| !value.is_empty()).cloned().collect();
        if values.is_empty() {
            continue;
        }
        let filters = vec![
            Filter::no_value(Grouping::Team).left_out(),
            Filter::no_value(Grouping::Pool),
            Filter::keep(dimension.clone(), values),
        ];
        let question = Question { filters, ..rows.question.clone() };
        let source = match dimension {
            Grouping::Account => {
                items_source_of(db, (question.dimensions(), &question.viewer), rows.snapshot).await?
            }
            // What is one machine's, keys tell.
            _ => rows.source,
        };
        let rows = Rows { question: &question, source, ..*rows };
        let mut query = QueryBuilder::<Postgres>::new("select c.value, c.team, ");
        query.push(format!("sum({}) as cost", rows.amount("cost")));
        let columns = [Column::Value("value", &dimension), Column::Value("team", &Grouping::Team)];
        rows.push(&mut query, &[Measure::Cost], &columns);
        query.push(" group by 1, 2");
        for row in query.build().fetch_all(&mut *db).await? {
            let (value, team, cost) = (row.try_get("value")?, row.try_get("team")?, row.try_get("cost")?);
            match dimension {
                Grouping::Account => found.add_account(value, team, cost),
                _ => found.add_resource(value, team, cost),
            }
        }
    }
    Ok(found)
}

fn account_of(facts: &Facts) -> &str {
    if facts.sub_account.is_empty() { &facts.billing_account } else { &facts.sub_account }
}
