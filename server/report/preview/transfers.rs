//! What goes from one owner to another, before shared costs are divided, month by month, in one currency as far as
//! there are rates.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::Serialize;
use sqlx::{AssertSqlSafe, PgConnection, Postgres, QueryBuilder, Row};

use super::BeforeAfter;
use crate::exchange::Used;
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;
use crate::report::Grouping;
use crate::report::denomination::PLACES;
use crate::report::snapshot::Names;

/// Keys that are shown.
const KEYS: i64 = 20;

/// Effective cost that goes from one owner to another, before shared costs are divided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Move {
    pub from: String,
    pub to: String,
    pub keys: i64,
    /// What is above zero, and what is below: credits. They sum to the cost.
    pub charges: Decimal,
    pub credits: Decimal,
    pub cost: Decimal,
    /// Its own where no rate converts it.
    pub currency: Currency,
}

/// A key that moves, with its effective cost over all months.
#[derive(Clone, Debug, Serialize)]
pub struct TransferredKey {
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

/// `moved`: keys and months whose attribution differs, with what they cost; `owned`: the same with their owners, and
/// whether that is another.
fn transferred(changed: &[BeforeAfter]) -> String {
    let rows: Vec<String> = changed
        .iter()
        .map(|it| {
            let (snapshot, before, after) = (it.after.basis_id, it.before.set_id, it.after.set_id);
            format!("(uuid '{snapshot}', uuid '{before}', uuid '{after}')")
        })
        .collect();
    format!(
        "with months (basis_id, before_id, after_id) as (values {}),
         moved as (
             select c.billing_month, c.charge_key_id, c.currency, o.attribution_id as before_id,
                 n.attribution_id as after_id, sum(c.effective_cost) as cost
             from months
             join keyed_costs c using (basis_id)
             join key_attributions o on o.set_id = months.before_id and o.charge_key_id = c.charge_key_id
             join key_attributions n on n.set_id = months.after_id and n.charge_key_id = c.charge_key_id
             where o.attribution_id <> n.attribution_id
             group by 1, 2, 3, 4, 5
         ),
         owned as (
             select moved.billing_month, moved.charge_key_id, moved.cost, moved.currency,
                 b.team as from_team, b.pool as from_pool, a.team as to_team, a.pool as to_pool,
                 (a.team, a.pool) <> (b.team, b.pool) as changes_owner
             from moved
             join attributions b on b.attribution_id = moved.before_id
             join attributions a on a.attribution_id = moved.after_id
         )",
        rows.join(", ")
    )
}

/// From whom, to whom, and the currency that it is shown in.
pub(super) type Way = (String, String, Currency);
pub(super) type Moves = BTreeMap<Way, Move>;

/// What goes from one owner to another.
pub(super) struct Transfers {
    pub all: Moves,
    pub months: BTreeMap<BillingMonth, Moves>,
    /// What was converted with, the reporting currency itself included.
    pub rates: Vec<Used>,
    pub relabelled: i64,
}

impl Transfers {
    pub async fn find(
        db: &mut PgConnection,
        changed: &[BeforeAfter],
        names: &Names,
        into: Option<&Currency>,
    ) -> sqlx::Result<Self> {
        // Of all months together, for the number of keys, and month by month, since each has its own rates.
        let query = format!(
            "{}
             select billing_month, from_team, from_pool, to_team, to_pool, currency, changes_owner,
                 coalesce(sum(cost) filter (where cost > 0), 0) as charges,
                 coalesce(sum(cost) filter (where cost < 0), 0) as credits,
                 count(distinct charge_key_id) as keys
             from owned
             group by grouping sets (
                 (from_team, from_pool, to_team, to_pool, currency, changes_owner),
                 (billing_month, from_team, from_pool, to_team, to_pool, currency, changes_owner)
             )",
            transferred(changed)
        );
        let mut found = Self { all: Moves::new(), months: BTreeMap::new(), rates: Vec::new(), relabelled: 0 };
        let mut keys: BTreeMap<Way, i64> = BTreeMap::new();
        for row in sqlx::query(AssertSqlSafe(query)).fetch_all(&mut *db).await? {
            let month: Option<NaiveDate> = row.try_get("billing_month")?;
            let currency = Currency::exactly(row.try_get("currency")?);
            let from = owner(names, row.try_get("from_team")?, row.try_get("from_pool")?);
            let to = owner(names, row.try_get("to_team")?, row.try_get("to_pool")?);
            let count: i64 = row.try_get("keys")?;
            let changes_owner: bool = row.try_get("changes_owner")?;
            match (month.map(BillingMonth::of), changes_owner) {
                (None, false) => found.relabelled += count,
                (Some(_), false) => {}
                (None, true) => *keys.entry((from, to, currency)).or_default() += count,
                (Some(month), true) => {
                    let used = found.rate(changed, month, &currency, into);
                    let convert = |amount| used.as_ref().map_or(amount, |used| used.convert(amount));
                    let charges = convert(row.try_get("charges")?);
                    let credits = convert(row.try_get("credits")?);
                    let shown_in = used.as_ref().map_or(currency, |used| used.into.clone());
                    let way = (from.clone(), to.clone(), shown_in.clone());
                    let cost = charges + credits;
                    let one = Move { from, to, keys: count, charges, credits, cost, currency: shown_in };
                    // Over all months keys are counted once, below.
                    add(&mut found.all, way.clone(), Move { keys: 0, ..one.clone() });
                    add(found.months.entry(month).or_default(), way, one);
                }
            }
        }
        for ((from, to, currency), count) in keys {
            // Where only some of its months have a rate, keys are counted with what was converted.
            let shown_in = into.filter(|_| found.rates.iter().any(|used| used.currency == currency));
            let way = (from, to, shown_in.unwrap_or(&currency).clone());
            if let Some(one) = found.all.get_mut(&way) {
                one.keys += count;
            }
        }
        Ok(found)
    }

    /// The rate from a currency in a month, which is kept as used.
    fn rate(
        &mut self,
        changed: &[BeforeAfter],
        month: BillingMonth,
        currency: &Currency,
        into: Option<&Currency>,
    ) -> Option<Used> {
        let of_month = changed.iter().find(|of_month| of_month.month == month)?;
        let used = of_month.rates.find(month, currency, into?)?;
        if !self.rates.contains(&used) {
            self.rates.push(used.clone());
        }
        Some(used)
    }
}

fn add(moves: &mut Moves, way: Way, one: Move) {
    match moves.get_mut(&way) {
        Some(known) => {
            known.keys += one.keys;
            known.charges += one.charges;
            known.credits += one.credits;
            known.cost += one.cost;
        }
        None => {
            moves.insert(way, one);
        }
    }
}

/// What is in the reporting currency first, and of that the largest, charges and credits alike.
pub(super) fn in_order(moves: Moves, into: Option<&Currency>) -> Vec<Move> {
    let mut moves: Vec<Move> = moves.into_values().collect();
    let size = |it: &Move| it.charges + it.credits.abs();
    let is_other = |it: &Move| into != Some(&it.currency);
    moves.sort_by(|a, b| is_other(a).cmp(&is_other(b)).then_with(|| size(b).cmp(&size(a))));
    moves
}

/// The largest keys, as far as they can be compared: those that no rate converts come last.
pub(super) async fn keys(
    db: &mut PgConnection,
    changed: &[BeforeAfter],
    names: &Names,
    rates: &[Used],
) -> sqlx::Result<Vec<TransferredKey>> {
    let mut query = QueryBuilder::<Postgres>::new(transferred(changed));
    query.push(
        ", rates (billing_month, currency, shown_in, rate) as (values (null::date, ''::text, ''::text, 1::numeric)",
    );
    for used in rates {
        query.push(format!(", (date '{}', ", used.month.first_day()));
        query.push_bind(used.currency.as_str().to_owned());
        query.push(", ");
        query.push_bind(used.into.as_str().to_owned());
        query.push(", ");
        query.push_bind(used.rate);
        query.push(")");
    }
    query.push(format!(
        "),
         converted as (
             select charge_key_id, from_team, from_pool, to_team, to_pool, shown_in,
                 coalesce(shown_in, owned.currency) as shown_currency, sum(trim_scale(round(cost * coalesce(rate, 1), {PLACES}))) as cost
             from owned
             left join rates using (billing_month, currency)
             where changes_owner
             group by 1, 2, 3, 4, 5, 6, 7
         )
         select converted.*, k.provider, coalesce(nullif(k.sub_account, ''), k.billing_account) as account, k.service,
             coalesce(nullif(k.instance_type, ''), nullif(k.meter, ''), k.sku) as item, k.category, k.tags
         from converted
         join charge_keys k using (charge_key_id)
         order by shown_in is null, abs(cost) desc, charge_key_id
         limit ",
    ));
    query.push_bind(KEYS);
    let rows = query.build().fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            Ok(TransferredKey {
                from: owner(names, row.try_get("from_team")?, row.try_get("from_pool")?),
                to: owner(names, row.try_get("to_team")?, row.try_get("to_pool")?),
                provider: row.try_get("provider")?,
                account: row.try_get("account")?,
                service: row.try_get("service")?,
                item: row.try_get("item")?,
                category: row.try_get("category")?,
                tags: row.try_get("tags")?,
                cost: row.try_get("cost")?,
                currency: Currency::exactly(row.try_get("shown_currency")?),
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
