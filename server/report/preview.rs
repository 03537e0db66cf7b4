//! What a change of the allocation moves: from whom to whom, by month, with the largest keys. For a draft against the
//! book that holds now; for one that was applied or undone, against the step before.

use serde::Serialize;
use sqlx::{AssertSqlSafe, PgConnection, Row};

use super::basis::{Allocation, Basis, Names};
use super::sums::sums_of;
use super::{Answers, CostBasis, Grouping, Question};
use crate::accounts::Viewer;
use crate::allocation::{self, Book, Change, MonthAllocation};
use crate::exchange;
use crate::ledger::{self, Visible};
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// The latest months that are looked at; those before change as well.
const MONTHS: usize = 13;
/// Keys that are shown.
const KEYS: i64 = 20;

/// What moves.
#[derive(Clone, Debug, Serialize)]
pub struct Preview {
    /// Months in which something moves, the latest first.
    pub months: Vec<MonthOfPreview>,
    /// Months with charges before those that were looked at, for which the change may hold as well.
    pub earlier_months: usize,
    pub moves: Vec<Move>,
    pub keys: Vec<MovedKey>,
    /// What the months are counted in.
    pub currency: Option<Currency>,
}

/// What each team is charged in a month, shared costs included.
#[derive(Clone, Debug, Serialize)]
pub struct MonthOfPreview {
    pub month: BillingMonth,
    pub teams: Vec<TeamOfPreview>,
}

#[derive(Clone, Debug, Serialize)]
pub struct TeamOfPreview {
    /// Null: unallocated.
    pub team: Option<String>,
    pub label: String,
    pub before: Decimal,
    pub after: Decimal,
}

/// Effective cost that goes from one owner to another, before shared costs are divided.
#[derive(Clone, Debug, Serialize)]
pub struct Move {
    pub from: String,
    pub to: String,
    pub keys: i64,
    pub cost: Decimal,
    pub currency: Currency,
}

/// A key that moves, with its effective cost over all months.
#[derive(Clone, Debug, Serialize)]
pub struct MovedKey {
    pub from: String,
    pub to: String,
    pub provider: String,
    pub account: String,
    pub service: String,
    pub item: String,
    pub category: String,
    pub tags: serde_json::Value,
    pub cost: Decimal,
    pub currency: Currency,
}

/// A month that the change touches, allocated without and with it.
struct Sides {
    month: BillingMonth,
    before: MonthAllocation,
    after: MonthAllocation,
}

/// Looks at what a change does, or did.
pub async fn preview(db: &mut PgConnection, answers: &Answers, change: &Change) -> sqlx::Result<Preview> {
    let now = ledger::sequence(&mut *db).await?;
    let (sequence, before) = match change.applied_sequence {
        Some(applied) => (applied, answers.book(db, applied - 1).await?),
        None => (now, answers.book(db, now).await?),
    };
    let after = before.edited(&change.edits);
    let months = super::standing::months(&mut *db).await?;
    let mut sides = Vec::new();
    for month in months.iter().take(MONTHS) {
        let visible = Visible::find(db, *month, *month, sequence).await?;
        let rates = exchange::rates(db, *month, *month, sequence).await?;
        let then = allocation::allocate(db, &before, *month, &visible, &rates, sequence).await?;
        let with = allocation::allocate(db, &after, *month, &visible, &rates, sequence).await?;
        if then != with {
            sides.push(Sides { month: *month, before: then, after: with });
        }
    }
    let names = names(&before, &after, &sides);
    let mut preview = Preview {
        months: Vec::new(),
        earlier_months: months.len().saturating_sub(MONTHS),
        moves: Vec::new(),
        keys: Vec::new(),
        currency: exchange::reporting_currency(db).await?,
    };
    for of_month in &sides {
        let teams = teams(db, of_month, &names, preview.currency.as_ref(), sequence).await?;
        if teams.iter().any(|team| team.before != team.after) {
            preview.months.push(MonthOfPreview { month: of_month.month, teams });
        }
    }
    preview.moves = moves(db, &sides, &names, sequence).await?;
    preview.keys = keys(db, &sides, &names, sequence).await?;
    Ok(preview)
}

/// What things were called before, where they are gone, and are called after.
fn names(before: &Book, after: &Book, sides: &[Sides]) -> Names {
    let months = || sides.iter().map(|of_month| of_month.month);
    let (Some(first), Some(last)) = (months().min(), months().max()) else { return Names::default() };
    Names::of(before, first, last).and(Names::of(after, first, last))
}

async fn teams(
    db: &mut PgConnection,
    of_month: &Sides,
    names: &Names,
    currency: Option<&Currency>,
    sequence: i64,
) -> sqlx::Result<Vec<TeamOfPreview>> {
    let question = Question {
        by: Grouping::Team,
        cost: CostBasis::Effective,
        convert_into: currency.cloned(),
        sequence: Some(sequence),
        ..Question::of(of_month.month.into(), Viewer::Everything)
    };
    let visible = Visible::find(db, of_month.month, of_month.month, sequence).await?;
    let rates = exchange::rates(db, of_month.month, of_month.month, sequence).await?;
    let mut basis =
        Basis { visible: visible.into(), rates: rates.into(), allocation: Allocation::default().into() };
    let mut teams: Vec<TeamOfPreview> = Vec::new();
    for (is_after, allocated) in [(false, of_month.before), (true, of_month.after)] {
        basis.allocation = Allocation { months: vec![allocated], ..Allocation::default() }.into();
        for sum in sums_of(db, &question, &basis, sequence).await?.groups {
            let place = teams.iter().position(|team| team.team == sum.key).unwrap_or_else(|| {
                let label = names.label(&Grouping::Team, sum.key.as_deref());
                teams.push(TeamOfPreview {
                    team: sum.key.clone(),
                    label,
                    before: Decimal::ZERO,
                    after: Decimal::ZERO,
                });
                teams.len() - 1
            });
            let side = if is_after { &mut teams[place].after } else { &mut teams[place].before };
            *side = sum.figures.cost;
        }
    }
    let size = |team: &TeamOfPreview| ((team.after - team.before).abs(), team.after);
    teams.sort_by(|a, b| size(b).cmp(&size(a)).then_with(|| a.label.cmp(&b.label)));
    Ok(teams)
}

/// `moved`: keys and months whose attribution differs, with what they cost.
fn moved(sides: &[Sides]) -> String {
    let rows: Vec<String> = sides
        .iter()
        .map(|it| {
            let (day, before, after) = (it.month.first_day(), it.before.set_id, it.after.set_id);
            format!("(date '{day}', uuid '{before}', uuid '{after}')")
        })
        .collect();
    format!(
        "with months (billing_month, before_id, after_id) as (values {}),
         moved as (
             select c.charge_key_id, o.attribution_id as before_id, n.attribution_id as after_id,
                 sum(c.effective_cost) as cost
             from months
             join monthly_costs c using (billing_month)
             join visibility v on v.delivery_id = c.delivery_id and v.scope_id = c.scope_id
             join key_attributions o on o.set_id = months.before_id and o.charge_key_id = c.charge_key_id
             join key_attributions n on n.set_id = months.after_id and n.charge_key_id = c.charge_key_id
             where o.attribution_id <> n.attribution_id
               and v.from_sequence <= $1 and (v.until_sequence is null or v.until_sequence > $1)
             group by 1, 2, 3
         ),
         owned as (
             select moved.charge_key_id, moved.cost, k.currency,
                 b.team as from_team, b.pool as from_pool, a.team as to_team, a.pool as to_pool
             from moved
             join charge_keys k using (charge_key_id)
             join attributions b on b.attribution_id = moved.before_id
             join attributions a on a.attribution_id = moved.after_id
             where (a.team, a.pool) <> (b.team, b.pool)
         )",
        rows.join(", ")
    )
}

async fn moves(
    db: &mut PgConnection,
    sides: &[Sides],
    names: &Names,
    sequence: i64,
) -> sqlx::Result<Vec<Move>> {
    if sides.is_empty() {
        return Ok(Vec::new());
    }
    let query = format!(
        "{}
         select from_team, from_pool, to_team, to_pool, currency, sum(cost) as cost,
             count(distinct charge_key_id) as keys
         from owned
         group by 1, 2, 3, 4, 5
         order by abs(sum(cost)) desc, 1, 2, 3, 4",
        moved(sides)
    );
    let rows = sqlx::query(AssertSqlSafe(query)).bind(sequence).fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            Ok(Move {
                from: owner(names, row.try_get("from_team")?, row.try_get("from_pool")?),
                to: owner(names, row.try_get("to_team")?, row.try_get("to_pool")?),
                keys: row.try_get("keys")?,
                cost: row.try_get("cost")?,
                currency: Currency::exactly(row.try_get("currency")?),
            })
        })
        .collect()
}

async fn keys(
    db: &mut PgConnection,
    sides: &[Sides],
    names: &Names,
    sequence: i64,
) -> sqlx::Result<Vec<MovedKey>> {
    if sides.is_empty() {
        return Ok(Vec::new());
    }
    let query = format!(
        "{}
         select owned.*, k.provider, coalesce(nullif(k.sub_account, ''), k.billing_account) as account, k.service,
             coalesce(nullif(k.instance_type, ''), nullif(k.meter, ''), k.sku) as item, k.category, k.tags
         from owned
         join charge_keys k using (charge_key_id)
         order by abs(cost) desc, charge_key_id
         limit $2",
        moved(sides)
    );
    let rows = sqlx::query(AssertSqlSafe(query)).bind(sequence).bind(KEYS).fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            Ok(MovedKey {
                from: owner(names, row.try_get("from_team")?, row.try_get("from_pool")?),
                to: owner(names, row.try_get("to_team")?, row.try_get("to_pool")?),
                provider: row.try_get("provider")?,
                account: row.try_get("account")?,
                service: row.try_get("service")?,
                item: row.try_get("item")?,
                category: row.try_get("category")?,
                tags: row.try_get("tags")?,
                cost: row.try_get("cost")?,
                currency: Currency::exactly(row.try_get("currency")?),
            })
        })
        .collect()
}

fn owner(names: &Names, team: &str, pool: &str) -> String {
    match pool {
        "" => names.label(&Grouping::Team, Some(team).filter(|team| !team.is_empty())),
        pool => format!("shared: {}", names.label(&Grouping::Pool, Some(pool))),
    }
}
