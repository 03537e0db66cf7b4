//! Rows of days, put into the hours of a period by what the accelerators are and how they are paid for.
//!
//! It reads rows of days, which carry their 24 hours. Hours are UTC. What names no hour of its day is spread over that
//! day; what is of more than a day (machines of our own are stated by the month) from its day to the end of its billing
//! month; and what is of a day outside the period over its billing month. So the hours of a period sum to those that
//! spend shows for the same question, less those of shared costs, which are hours of no one team.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use sqlx::{Connection as _, PgConnection, Postgres, QueryBuilder, Row as _};

use super::cache::Ask;
use super::denominate::denominate;
use super::denomination::Denomination;
use super::snapshot::{AsOf, Snapshot};
use super::sql::{Column, Measure, Rows, Source};
use super::{Filter, Grouping, Question};
use crate::allocation::IS_UNUSED_COMMITMENT;
use crate::billing::PricingCategory;
use crate::cache::SizeInCache;
use crate::money::Decimal;
use crate::period::{BillingMonth, Period};

/// Hours of a day.
const DAY: usize = 24;
/// Decimals of an hour's part of what names no hour.
const PLACES: u8 = 6;

/// Accelerators of one name, of one provider, paid for in one way.
#[derive(Clone, Debug)]
pub struct HourlyWay {
    /// `H100`, whichever its form.
    pub accelerator: String,
    pub provider: String,
    /// FOCUS PricingCategory.
    pub pricing: String,
    /// Of what is owned, the account: its cluster.
    pub account: String,
    /// Part-seconds in each hour of the period.
    pub hours: Vec<Decimal>,
    /// Effective cost of this use.
    pub cost: Decimal,
}

impl HourlyWay {
    pub fn is_owned(&self) -> bool {
        self.pricing == PricingCategory::Owned.as_str()
    }
}

/// What is remembered of it.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    pub all: Vec<HourlyWay>,
    /// What commitments for accelerators cost that nothing used, by accelerator.
    pub unused: BTreeMap<String, Decimal>,
    /// What was paid beside accelerators, by kind: FOCUS ServiceCategory, support, tax, credits.
    pub besides: BTreeMap<String, Decimal>,
    /// Part-seconds that name no hour.
    pub spread: Decimal,
    /// The machines that accelerators came in.
    pub instances: Vec<Instance>,
}

/// Accelerators of one name in one type of machine.
#[derive(Clone, Debug)]
pub struct Instance {
    pub accelerator: String,
    pub provider: String,
    pub instance_type: String,
    /// Paid for and owned.
    pub part_seconds: Decimal,
}

/// What a question's accelerators are, and how they are paid for.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct FindWays;

impl Ask for FindWays {
    type Answer = Ways;

    async fn ask(&self, db: &mut PgConnection, asked: AsOf<'_>) -> sqlx::Result<Ways> {
        let AsOf { question, snapshot, .. } = asked;
        let Some(denomination) = denominate(db, asked).await?.denomination else {
            return Ok(Ways::default());
        };
        // Rows without an accelerator have no hours.
        let with_accelerator = question.filtered(Filter::no_value(Grouping::Accelerator).left_out());
        let rows = Rows::of_period(&with_accelerator, snapshot, Source::Days, Some(&denomination));
        let columns = [
            Column::Sql("day", "c.day"),
            Column::Sql("is_whole_period", "c.is_whole_period"),
            Column::Sql("accelerator", "k.accelerator"),
            Column::Sql("provider", "k.provider"),
            Column::Sql("pricing", "k.pricing"),
            Column::Sql("instance_type", "k.instance_type"),
            Column::Sql(
                "account",
                "case when k.pricing = 'Owned' then coalesce(nullif(k.sub_account, ''), k.billing_account) else '' end",
            ),
            Column::Sql(
                "kind",
                "case when k.is_unused_commitment or k.category = 'Purchase' then 'unused' \
             when k.category = 'Usage' then 'usage' else 'other' end",
            ),
            Column::Sql("weight", "coalesce(k.unit_seconds * k.accelerator_parts, 0)"),
        ];
        let mut query = QueryBuilder::<Postgres>::new(
            "select c.billing_month, c.day, c.is_whole_period, c.accelerator, c.provider, c.pricing, c.account, c.kind, \
         c.instance_type, c.weight, c.hours, c.quantity, ",
        );
        query.push(rows.amount("cost"));
        query.push(" as cost");
        rows.push(&mut query, &[Measure::Cost, Measure::Hours, Measure::Quantity], &columns);
        // PostgreSQL takes columns for independent, expects a hundred times as many groups as there are, and would sort a row for
        // every machine and day, which takes three times as long.
        let mut tx = db.begin().await?;
        sqlx::query("set local hash_mem_multiplier = 16").execute(&mut *tx).await?;
        sqlx::query("set local enable_sort = off").execute(&mut *tx).await?;
        let found = query.build().fetch_all(&mut *tx).await?;
        tx.commit().await?;
        let mut adding = Adding::new(question.period);
        for row in &found {
            adding.add(Row {
                month: BillingMonth::of(row.try_get("billing_month")?),
                day: row.try_get("day")?,
                is_whole_period: row.try_get("is_whole_period")?,
                key: [
                    row.try_get("accelerator")?,
                    row.try_get("provider")?,
                    row.try_get("pricing")?,
                    row.try_get("account")?,
                ],
                instance_type: row.try_get("instance_type")?,
                kind: row.try_get("kind")?,
                weight: row.try_get("weight")?,
                hours: row.try_get("hours")?,
                quantity: row.try_get("quantity")?,
                cost: row.try_get("cost")?,
            });
        }
        let mut ways = adding.done();
        besides(db, question, snapshot, &denomination, &mut ways).await?;
        Ok(ways)
    }
}

impl SizeInCache for Ways {
    fn size_in_cache(&self) -> usize {
        let hours = |it: &HourlyWay| size_of_val(it.hours.as_slice());
        let ways: usize = self.all.iter().map(|it| size_of_val(it) + hours(it)).sum();
        size_of_val(self) + ways + 2 * size_of_val(self.instances.as_slice())
    }
}

/// What was paid beside the use of accelerators and what is owned. A commitment whose fee names no machine is for the
/// accelerators that it covers elsewhere.
async fn besides(
    db: &mut PgConnection,
    question: &Question,
    snapshot: &Snapshot,
    denomination: &Denomination,
    ways: &mut Ways,
) -> sqlx::Result<()> {
    let asked = question.filtered(Filter::owned().left_out());
    let by_day = question.dimensions().any(|it| *it == Grouping::Day);
    let source = if by_day { Source::Days } else { Source::Months };
    let rows = Rows::of_period(&asked, snapshot, source, Some(denomination));
    let columns = [
        Column::Sql("kind", KIND_BESIDES),
        Column::Sql("is_unused", IS_UNUSED_COMMITMENT),
        Column::Sql("commitment", UNUSED_COMMITMENT_ID),
    ];
    let mut query = QueryBuilder::<Postgres>::new("select c.kind, c.is_unused, c.commitment, sum(");
    query.push(rows.amount("cost"));
    query.push(") as cost");
    rows.push(&mut query, &[Measure::Cost], &columns);
    query.push(" group by 1, 2, 3");
    let found = query.build().fetch_all(&mut *db).await?;
    let mut of_commitments: BTreeMap<String, Decimal> = BTreeMap::new();
    for row in &found {
        let (kind, cost): (String, Decimal) = (row.try_get("kind")?, row.try_get("cost")?);
        if kind == "accelerators" || cost.is_zero() {
            continue;
        }
        if row.try_get("is_unused")? {
            *of_commitments.entry(row.try_get("commitment")?).or_default() += cost;
        } else {
            *ways.besides.entry(kind).or_default() += cost;
        }
    }
    if of_commitments.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = of_commitments.keys().cloned().collect();
    let covered: Vec<(String, String)> = sqlx::query_as(
        "select commitment_discount_id, min(accelerator) from charge_keys \
         where commitment_discount_id = any($1) and commitment_discount_id <> '' and accelerator is not null \
         group by 1",
    )
    .bind(&ids)
    .fetch_all(db)
    .await?;
    let covered: BTreeMap<String, String> = covered.into_iter().collect();
    for (commitment, cost) in of_commitments {
        let place = match covered.get(&commitment) {
            Some(accelerator) => ways.unused.entry(accelerator.clone()),
            None => ways.besides.entry("Unused commitments of other services".to_owned()),
        };
        *place.or_default() += cost;
    }
    Ok(())
}

/// Of a row of a key `k`, what kind of cost it is. FOCUS has no category for support, so it stands under "Other" or under none,
/// and goes by its name: AWS writes it in one word in its own report (`AWSSupportEnterprise`, `AWSDeveloperSupport`), and
/// everybody else with spaces (`AWS Support (Business)`, `Azure Support`, `Google Cloud Premium Support`).
const KIND_BESIDES: &str = "case when k.accelerator is not null and k.category in ('Usage', 'Purchase') then 'accelerators' \
     when k.category = 'Tax' then 'Tax' when k.category = 'Credit' then 'Credits' \
     when k.category = 'Adjustment' then 'Adjustments' \
     when k.service_category in ('', 'Other', 'Support') \
         and (k.service ~* '\\msupport\\M' or k.service ~ '^AWS([A-Z][a-z]+)?Support') then 'Support' \
     when k.service_category = '' then 'Other' else k.service_category end";

/// Of a row of a key `k`, the commitment that nothing used.
const UNUSED_COMMITMENT_ID: &str = "case when k.is_unused_commitment or k.category = 'Purchase' \
     then k.commitment_discount_id else '' end";

/// A sum of rows of a day.
struct Row {
    month: BillingMonth,
    day: NaiveDate,
    is_whole_period: bool,
    /// Accelerator, provider, pricing, account.
    key: [String; 4],
    instance_type: String,
    kind: String,
    /// Part-seconds of a unit of quantity.
    weight: i64,
    hours: Vec<Decimal>,
    quantity: Decimal,
    cost: Decimal,
}

/// Rows of days, put into the hours of a period.
struct Adding {
    period: Period,
    hours: usize,
    ways: BTreeMap<[String; 4], (Vec<Decimal>, Decimal)>,
    unused: BTreeMap<String, Decimal>,
    /// By accelerator, provider and type.
    instances: BTreeMap<[String; 3], Decimal>,
    spread: Decimal,
}

impl Adding {
    fn new(period: Period) -> Self {
        let hours = period.hours();
        let (unused, instances) = (BTreeMap::new(), BTreeMap::new());
        Self { period, hours, ways: BTreeMap::new(), unused, instances, spread: Decimal::ZERO }
    }

    fn add(&mut self, row: Row) {
        match row.kind.as_str() {
            "usage" => {}
            "unused" => {
                let [accelerator, ..] = row.key;
                *self.unused.entry(accelerator).or_default() += row.cost;
                return;
            }
            // Credits and the like are no price of use.
            _ => return,
        }
        let begins = self.period.hour_of(row.day);
        let described: Decimal = row.hours.iter().copied().sum();
        let rest = (row.quantity - described).times(row.weight);
        let over = self.period.hours_of_row(row.month, row.day, row.is_whole_period);
        let [accelerator, provider, ..] = &row.key;
        let instance = [accelerator.clone(), provider.clone(), row.instance_type.clone()];
        *self.instances.entry(instance).or_default() += row.quantity.times(row.weight);
        // A period has thousands of hours, and a way of paying thousands of rows.
        let empty = || (vec![Decimal::ZERO; self.hours], Decimal::ZERO);
        let (hours, cost) = self.ways.entry(row.key).or_insert_with(empty);
        *cost += row.cost;
        let mut untold = rest;
        match begins {
            Some(begins) => {
                for (at, quantity) in row.hours.iter().take(DAY).enumerate() {
                    hours[begins + at] += quantity.times(row.weight);
                }
            }
            None => untold += described.times(row.weight),
        }
        if untold.is_zero() || over.is_empty() {
            return;
        }
        self.spread += untold;
        let parts = untold.split(u32::try_from(over.len()).unwrap_or(u32::MAX), PLACES);
        for (hour, part) in over.zip(parts) {
            hours[hour] += part;
        }
    }

    fn done(self) -> Ways {
        let ways = self.ways.into_iter().map(|([accelerator, provider, pricing, account], (hours, cost))| {
            HourlyWay { accelerator, provider, pricing, account, hours, cost }
        });
        // What costs nothing and takes no time is nothing.
        let is_there = |it: &HourlyWay| !it.cost.is_zero() || it.hours.iter().any(|hour| !hour.is_zero());
        let instances =
            self.instances.into_iter().map(|([accelerator, provider, instance_type], part_seconds)| {
                Instance { accelerator, provider, instance_type, part_seconds }
            });
        Ways {
            all: ways.filter(is_there).collect(),
            unused: self.unused,
            besides: BTreeMap::new(),
            spread: self.spread,
            instances: instances.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(day: &str, is_whole_period: bool, hours: &[(usize, i64)], quantity: i64) -> Row {
        let mut of_day = vec![Decimal::ZERO; DAY];
        for (hour, quantity) in hours {
            of_day[*hour] = (*quantity).into();
        }
        Row {
            month: "2026-09".parse().unwrap(),
            day: day.parse().unwrap(),
            is_whole_period,
            key: ["H100", "AWS", "Standard", ""].map(str::to_owned),
            instance_type: "p5.48xlarge".to_owned(),
            kind: "usage".to_owned(),
            weight: 10,
            hours: of_day,
            quantity: quantity.into(),
            cost: 7.into(),
        }
    }

    fn added(rows: impl IntoIterator<Item = Row>) -> Ways {
        let mut adding = Adding::new("2026-Q3".parse().unwrap());
        rows.into_iter().for_each(|row| adding.add(row));
        adding.done()
    }

    /// Days of July and August, in hours.
    const SEPTEMBER: usize = 62 * DAY;

    #[test]
    fn every_hour_has_what_was_used_in_it() {
        let found =
            added([row("2026-09-01", false, &[(0, 2), (23, 1)], 3), row("2026-09-01", false, &[(0, 1)], 1)]);
        let [way] = &found.all[..] else { panic!("{found:?}") };
        assert_eq!(way.hours.len(), 92 * DAY);
        assert_eq!(way.hours[SEPTEMBER], 30.into());
        assert_eq!(way.hours[SEPTEMBER + 23], 10.into());
        assert_eq!((way.hours.iter().copied().sum(), way.cost), (Decimal::from(40), 14.into()));
        assert!(found.spread.is_zero());
        let of: Vec<_> =
            found.instances.iter().map(|it| (it.instance_type.as_str(), it.part_seconds)).collect();
        assert_eq!(of, [("p5.48xlarge", 40.into())]);
    }

    #[test]
    fn what_names_no_hour_is_spread_where_it_can_have_been_and_nothing_is_lost() {
        for (day, is_whole_period, over) in [
            ("2026-09-03", false, SEPTEMBER + 48..SEPTEMBER + 72),
            ("2026-09-16", true, SEPTEMBER + 15 * DAY..SEPTEMBER + 30 * DAY),
            ("2026-10-01", false, SEPTEMBER..SEPTEMBER + 30 * DAY),
            ("2026-06-30", true, SEPTEMBER..SEPTEMBER + 30 * DAY),
        ] {
            let found = added([row(day, is_whole_period, &[], 7)]);
            let hours = &found.all[0].hours;
            let used: Vec<usize> = (0..hours.len()).filter(|at| !hours[*at].is_zero()).collect();
            assert_eq!(
                (used[0], used[used.len() - 1] + 1, used.len()),
                (over.start, over.end, over.len()),
                "{day}"
            );
            assert_eq!(hours.iter().copied().sum::<Decimal>(), 70.into());
            assert_eq!(found.spread, 70.into());
        }
        // A day outside the period with its hours, too.
        let found = added([row("2026-10-01", false, &[(3, 7)], 7)]);
        assert_eq!(found.all[0].hours.iter().copied().sum::<Decimal>(), 70.into());
    }

    #[test]
    fn a_commitment_that_nothing_used_has_no_hours() {
        let unused = Row { kind: "unused".to_owned(), ..row("2026-09-01", false, &[], 0) };
        let credit = Row { kind: "other".to_owned(), ..row("2026-09-01", false, &[], 0) };
        let found = added([unused, credit]);
        assert!(found.all.is_empty());
        assert_eq!(found.unused, [("H100".to_owned(), Decimal::from(7))].into());
    }
}
