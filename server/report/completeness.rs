//! How far a period's figures can be relied on: what is provisional, what could not be read, what is missing.

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use sqlx::PgConnection;

use crate::cache::SizeInCache;
use crate::ledger;
use crate::onprem;
use crate::period::{BillingMonth, Period};

/// An account and month of a provider, and how its figures stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Completeness {
    pub provider: String,
    /// Empty where the viewer may not see it.
    pub billing_account: String,
    pub month: BillingMonth,
    /// A charge of it has no invoice yet, so figures may still change.
    pub is_provisional: bool,
    /// The last usage day that is stated; null where no charge belongs to a day.
    pub last_day: Option<NaiveDate>,
    pub delivered_at: Option<DateTime<Utc>>,
    /// Of the active deliveries, and corrected by none; they are missing from every figure.
    pub rejected_rows: i64,
    pub deliveries: Vec<i64>,
}

impl Completeness {
    /// Takes the billing account out. A cluster of our own stays, which nobody else pays for.
    pub fn hide_billing_account(&mut self) {
        if self.provider != onprem::PROVIDER {
            self.billing_account.clear();
        }
    }
}

impl SizeInCache for Completeness {
    fn size_in_cache(&self) -> usize {
        size_of_val(self) + 80
    }
}

/// The day up to which a period is stated that still goes on; `None` where it is over. Compared with a whole period
/// before it, it looks cheaper than it is. Who states a whole month in advance does not end it for the others.
pub fn stated_until(completeness: &[Completeness], period: Period) -> Option<NaiveDate> {
    let end = period.last().days().end;
    let last = completeness.iter().filter(|scope| scope.month == period.last() && scope.is_provisional);
    let days = last.filter_map(|scope| scope.last_day);
    days.filter(|day| day.succ_opt().is_some_and(|next| next < end)).max()
}

/// Every account and month of a period among these scopes, by provider; `None`: among all of them.
pub(super) async fn completeness_of(
    db: &mut PgConnection,
    period: Period,
    scopes: Option<&[i64]>,
    sequence: i64,
) -> sqlx::Result<Vec<Completeness>> {
    let rows = sqlx::query!(
        r#"select s.provider, s.billing_account, s.billing_month,
               bool_or(ds.is_provisional) as "is_provisional!",
               max((select max(day) from unnest(ds.days) day)) as last_day,
               max(l.happened_at) as delivered_at,
               coalesce(sum(m.missing), 0)::bigint as "rejected!",
               array_agg(d.delivery_id order by d.published_sequence) as "deliveries!"
           from scopes s
           join visibility v using (scope_id)
           join delivery_scopes ds on ds.scope_id = v.scope_id and ds.delivery_id = v.delivery_id
           join deliveries d on d.delivery_id = v.delivery_id
           left join ledger_log l on l.sequence = coalesce(d.place_sequence, d.published_sequence)
           left join missing_rows($3) m on m.delivery_id = v.delivery_id
           where s.billing_month >= $1 and s.billing_month <= $2
             and v.from_sequence <= $3 and (v.until_sequence is null or v.until_sequence > $3)
             and ($4::bigint[] is null or s.scope_id = any($4))
             -- Adjustments are as complete as the bill that they follow from.
             and s.adjusts is null
           group by 1, 2, 3
           order by 1, 2, 3"#,
        period.first().first_day(),
        period.last().first_day(),
        sequence,
        scopes,
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Completeness {
            provider: row.provider,
            billing_account: row.billing_account,
            month: BillingMonth::of(row.billing_month),
            is_provisional: row.is_provisional,
            last_day: row.last_day,
            delivered_at: row.delivered_at,
            rejected_rows: row.rejected,
            deliveries: row.deliveries,
        })
        .collect())
}

/// Those of several months that are final as the ledger stands: what is published of them changes what was charged.
pub async fn final_months(
    db: &mut PgConnection,
    months: impl Iterator<Item = BillingMonth>,
) -> sqlx::Result<Vec<BillingMonth>> {
    let sequence = ledger::sequence(&mut *db).await?;
    let mut found = Vec::new();
    for month in months {
        if final_since(&mut *db, month, sequence).await?.is_some() {
            found.push(month);
        }
    }
    Ok(found)
}

/// The first version of the ledger at which every bill of a month that is active at a step was there, and final: it named its
/// invoices, or one was entered. `None` where there was none.
pub async fn final_since(
    db: &mut PgConnection,
    month: BillingMonth,
    sequence: i64,
) -> sqlx::Result<Option<i64>> {
    sqlx::query_scalar!(
        r#"with bills as (
               select v.scope_id, v.from_sequence, coalesce(v.until_sequence, $2::bigint + 1) as until_sequence,
                   case
                       when not ds.is_provisional then v.from_sequence
                       else (
                           select greatest(v.from_sequence, entered.step)
                           from (
                               select max(l.sequence) as step
                               from ledger_log l
                               where l.happened_at <= (
                                   select min(i.entered_at)
                                   from invoices i
                                   where i.scope_id = coalesce(s.adjusts, v.scope_id)
                               )
                           ) entered
                           where entered.step is not null
                       )
                   end as final_from
               from scopes s
               join visibility v using (scope_id)
               join delivery_scopes ds on ds.scope_id = v.scope_id and ds.delivery_id = v.delivery_id
               join deliveries d on d.delivery_id = v.delivery_id
               where s.billing_month = $1 and v.from_sequence <= $2
                 -- A discount that is entered when its bill is final restates it; one that was agreed on before belongs to it.
                 and (s.adjusts is null or d.follows_bill)
           ),
           steps as (
               select from_sequence as step from bills
               union
               select until_sequence from bills
               union
               select final_from from bills
           )
           select min(step) as "step"
           from steps
           where step <= $2
             and exists (select from bills b where b.until_sequence > $2)
             and not exists (
                 select
                 from bills there
                 where there.until_sequence > $2
                   and not exists (
                       select
                       from bills b
                       where b.scope_id = there.scope_id and b.from_sequence <= step and b.until_sequence > step
                   )
             )
             and not exists (
                 select
                 from bills b
                 where b.from_sequence <= step and b.until_sequence > step
                   and coalesce(b.final_from > step, true)
             )"#,
        month.first_day(),
        sequence,
    )
    .fetch_one(db)
    .await
}

/// The months of which something is active, the latest first; behind them those of which there is hardly anything (less
/// than a twentieth of the charges of the month before), and those that had not begun when the ledger changed last. One
/// charge of a year to come, or of the month that has just begun, must not be what everybody's pages begin with.
pub(super) async fn months(db: &mut PgConnection) -> sqlx::Result<Vec<BillingMonth>> {
    let months = sqlx::query_scalar!(
        "with stated as (
             select delivery_id, count(*) as scopes from delivery_scopes group by delivery_id
         ),
         by_month as (
             -- How many charges of a delivery lie in which of its scopes is not known: as many in each.
             select s.billing_month, sum(d.charges::numeric / stated.scopes) as charges
             from scopes s
             join visibility v using (scope_id)
             join deliveries d using (delivery_id)
             join stated using (delivery_id)
             where v.until_sequence is null
             group by s.billing_month
         )
         select billing_month
         from (select *, lag(charges) over (order by billing_month) as before from by_month) months
         order by billing_month > (select max(happened_at) at time zone 'UTC' from ledger_log),
             charges * 20 < coalesce(before, 0),
             billing_month desc"
    )
    .fetch_all(db)
    .await?;
    Ok(months.into_iter().map(BillingMonth::of).collect())
}

/// The months whose kept sums name one of these teams, or a pool that one of them has a part of.
pub(super) async fn months_summed_for(
    db: &mut PgConnection,
    teams: &[String],
) -> sqlx::Result<Vec<BillingMonth>> {
    let months = sqlx::query_scalar!(
        "select distinct billing_month
         from charged_days
         where team = any($1) or pool in (select s.pool from pool_shares s where s.team = any($1))",
        teams,
    )
    .fetch_all(db)
    .await?;
    Ok(months.into_iter().map(BillingMonth::of).collect())
}

/// Rows of a period's deliveries that could not be read and were not corrected. Whose they would have been nobody knows,
/// so they count for everyone who sees a charge of the same accounts: of these scopes; `None`: of all.
pub(super) async fn rejected_rows(
    db: &mut PgConnection,
    period: Period,
    scopes: Option<&[i64]>,
    sequence: i64,
) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"select coalesce(sum(m.missing), 0)::bigint as "rejected!"
           from missing_rows($3) m
           where m.delivery_id in (
               select v.delivery_id
               from visibility v
               join scopes s using (scope_id)
               where s.billing_month >= $1 and s.billing_month < $2
                 and v.from_sequence <= $3 and (v.until_sequence is null or v.until_sequence > $3)
                 and ($4::bigint[] is null or s.scope_id = any($4))
           )"#,
        period.days().start,
        period.days().end,
        sequence,
        scopes,
    )
    .fetch_one(db)
    .await
}
