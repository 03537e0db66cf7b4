//! Which bills have other adjustments than were computed of them.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use sqlx::{Connection as _, PgConnection};

use super::document::Adjustments;
use super::entry::Adjustment;
use super::internal_price::internal_rates;
use crate::audit::{self, Act, Object, Verb};
use crate::changes::{Document as _, Kind};
use crate::ledger;
use crate::onprem::PROVIDER;
use crate::period::BillingMonth;
use crate::rate_cards::RateCards;
use crate::rating::{Rate, Rates};

/// After what the machine failed at.
const RETRY: TimeDelta = TimeDelta::minutes(5);
/// Part of what adjustments are computed from: the way they are.
const COMPUTED_AS: u32 = 1;

/// A bill that is in the ledger, or was.
#[derive(Clone, Debug)]
pub struct AdjustedBill {
    pub scope_id: i64,
    pub provider: String,
    pub billing_account: String,
    pub month: BillingMonth,
    /// The active imports of it; none where it was undone.
    pub active: Vec<i64>,
    /// Each charge of it has an invoice.
    pub is_final: bool,
    /// Its month has passed.
    pub is_over: bool,
}

/// What adjusts the bills, as it is now.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    pub adjustments: Adjustments,
    /// Internal prices.
    pub rates: Arc<Rates>,
    of_clusters: Vec<Rate>,
    catalog: i64,
}

/// A bill whose adjustments are to be computed, or taken out where nothing adjusts it any more.
#[derive(Clone, Debug)]
pub struct Due {
    pub bill: AdjustedBill,
    pub entries: Vec<Adjustment>,
    pub is_priced_internally: bool,
    inputs: Vec<u8>,
}

impl Due {
    /// Whether nothing adjusts it.
    pub fn is_nothing(&self) -> bool {
        self.bill.active.is_empty() || (self.entries.is_empty() && !self.is_priced_internally)
    }
}

/// What the versions of everything are that adjustments follow from.
#[derive(PartialEq, Eq)]
struct Versions {
    sequence: i64,
    adjustments: i64,
    rates: i64,
    catalog: i64,
    day: NaiveDate,
}

/// What holds now.
pub async fn terms_of(db: &mut PgConnection) -> sqlx::Result<Terms> {
    let (_, adjustments) = Adjustments::current(&mut *db).await?;
    let (_, cards) = RateCards::current(&mut *db).await?;
    let of_clusters = internal_rates(cards.rates.values());
    let rates = Arc::new(Rates::new(of_clusters.iter().cloned()));
    Ok(Terms { adjustments, rates, of_clusters, catalog: catalog(db).await? })
}

async fn catalog(db: &mut PgConnection) -> sqlx::Result<i64> {
    Ok(i64::from(crate::accelerator::version_of(ledger::catalog_revision(db).await?)))
}

/// The bills whose adjustments are not those of now, the oldest month first.
pub async fn due(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<Vec<Due>> {
    let versions = Versions {
        sequence: ledger::sequence(&mut *db).await?,
        adjustments: Kind::Adjustments.version(&mut *db).await?,
        rates: Kind::RateCards.version(&mut *db).await?,
        catalog: catalog(&mut *db).await?,
        day: now.date_naive(),
    };
    if is_compared(&mut *db, &versions, now).await? {
        return Ok(Vec::new());
    }
    let terms = terms_of(&mut *db).await?;
    let computed = computed(&mut *db).await?;
    let mut due = Vec::new();
    if !terms.adjustments.entries.is_empty() || !terms.of_clusters.is_empty() || !computed.is_empty() {
        for bill in bills(&mut *db, now).await? {
            let known = computed.get(&bill.scope_id);
            let it = terms.of(bill);
            let is_known = match known {
                None => it.is_nothing(),
                Some(known) => known.inputs == it.inputs && known.retry_at.is_none_or(|at| now < at),
            };
            let waits = known.is_some_and(|known| known.retry_at.is_some_and(|at| now < at));
            if !is_known && !waits {
                due.push(it);
            }
        }
    }
    if due.is_empty() {
        note_compared(db, &versions).await?;
    }
    Ok(due)
}

impl Terms {
    /// What of it is about a bill.
    pub fn of(&self, bill: AdjustedBill) -> Due {
        let AdjustedBill { provider, billing_account, month, .. } = &bill;
        let entries = self.adjustments.of_bill(provider, billing_account, *month);
        let entries: Vec<Adjustment> = entries.into_iter().cloned().collect();
        let days = month.days();
        let is_of_cluster = |rate: &&Rate| {
            let account = &rate.billing_account;
            (account.is_empty() || account.eq_ignore_ascii_case(billing_account))
                && rate.valid_from < days.end
                && rate.valid_to.is_none_or(|last| days.start <= last)
        };
        let is_own = provider == PROVIDER;
        let rates: Vec<&Rate> = self.of_clusters.iter().filter(|_| is_own).filter(is_of_cluster).collect();
        let is_over = bill.is_over && entries.iter().any(|it| it.terms.is_minimum());
        let inputs = json!([
            COMPUTED_AS,
            bill.active,
            bill.is_final,
            is_over,
            entries,
            rates,
            (!rates.is_empty()).then_some(self.catalog),
        ]);
        let inputs = Sha256::digest(inputs.to_string()).to_vec();
        Due { is_priced_internally: !rates.is_empty(), entries, inputs, bill }
    }
}

/// Whether all bills were compared with these versions already, and nothing is to be tried again.
async fn is_compared(db: &mut PgConnection, now_is: &Versions, now: DateTime<Utc>) -> sqlx::Result<bool> {
    let row = sqlx::query!(
        r#"select sequence, adjustments_version, rates_version, catalog, day,
               exists (select from adjusted_bills where retry_at <= $1) as "is_to_be_tried!"
           from adjustments_compared"#,
        now,
    )
    .fetch_optional(db)
    .await?;
    Ok(row.is_some_and(|row| {
        let compared = Versions {
            sequence: row.sequence,
            adjustments: row.adjustments_version,
            rates: row.rates_version,
            catalog: row.catalog,
            day: row.day,
        };
        compared == *now_is && !row.is_to_be_tried
    }))
}

async fn note_compared(db: &mut PgConnection, versions: &Versions) -> sqlx::Result<()> {
    let Versions { sequence, adjustments, rates, catalog, day } = versions;
    sqlx::query!(
        "insert into adjustments_compared (sequence, adjustments_version, rates_version, catalog, day)
         values ($1, $2, $3, $4, $5)
         on conflict (is_only) do update
         set sequence = $1, adjustments_version = $2, rates_version = $3, catalog = $4, day = $5",
        sequence,
        adjustments,
        rates,
        catalog,
        day,
    )
    .execute(db)
    .await?;
    Ok(())
}

struct Computed {
    inputs: Vec<u8>,
    retry_at: Option<DateTime<Utc>>,
}

async fn computed(db: &mut PgConnection) -> sqlx::Result<HashMap<i64, Computed>> {
    let rows = sqlx::query!("select scope_id, inputs, retry_at from adjusted_bills")
        .fetch_all(db)
        .await?
        .into_iter();
    Ok(rows.map(|row| (row.scope_id, Computed { inputs: row.inputs, retry_at: row.retry_at })).collect())
}

/// All bills that are active, and those that were adjusted.
pub async fn bills(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<Vec<AdjustedBill>> {
    let rows = sqlx::query!(
        r#"select s.scope_id, s.provider, s.billing_account, s.billing_month,
               coalesce(array_agg(v.delivery_id order by v.delivery_id) filter (where v.delivery_id is not null), '{}') as "active!",
               coalesce(bool_and(not ds.is_provisional), false) as "is_final!"
           from scopes s
           left join visibility v on v.scope_id = s.scope_id and v.until_sequence is null
           left join delivery_scopes ds on ds.scope_id = v.scope_id and ds.delivery_id = v.delivery_id
           where s.adjusts is null
             and (v.delivery_id is not null or s.scope_id in (select a.scope_id from adjusted_bills a))
           group by s.scope_id
           order by s.billing_month, s.scope_id"#
    )
    .fetch_all(db)
    .await?;
    let today = now.date_naive();
    let bills = rows.into_iter().map(|row| {
        let month = BillingMonth::of(row.billing_month);
        AdjustedBill {
            scope_id: row.scope_id,
            provider: row.provider,
            billing_account: row.billing_account,
            month,
            active: row.active,
            is_final: row.is_final,
            is_over: month.days().end <= today,
        }
    });
    Ok(bills.collect())
}

/// Notes what was computed of a bill: the import of it, none where there was nothing to adjust; and what kept it from being so.
pub async fn note(
    db: &mut PgConnection,
    due: &Due,
    (delivery, problem): (Option<i64>, Option<&str>),
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    if due.is_nothing() {
        sqlx::query!("delete from adjusted_bills where scope_id = $1", due.bill.scope_id).execute(db).await?;
        return Ok(());
    }
    write(db, due, (delivery, problem, None), now).await
}

/// Notes that the machine failed at a bill, which is tried again later.
pub async fn note_problem(
    db: &mut PgConnection,
    due: &Due,
    problem: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    let delivery =
        sqlx::query_scalar!("select delivery_id from adjusted_bills where scope_id = $1", due.bill.scope_id)
            .fetch_optional(&mut *db)
            .await?;
    write(db, due, (delivery.flatten(), Some(problem), Some(now + RETRY)), now).await
}

async fn write(
    db: &mut PgConnection,
    due: &Due,
    (delivery, problem, retry_at): (Option<i64>, Option<&str>, Option<DateTime<Utc>>),
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into adjusted_bills (scope_id, inputs, delivery_id, problem, retry_at, computed_at)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (scope_id) do update
         set inputs = $2, delivery_id = $3, problem = $4, retry_at = $5, computed_at = $6",
        due.bill.scope_id,
        &due.inputs,
        delivery,
        problem,
        retry_at,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Forgets what was computed of a bill, so that it is computed again: somebody undid the import of it. False where it is not adjusted.
pub async fn compute_again(db: &mut PgConnection, scope_id: i64, act: Act<'_>) -> sqlx::Result<bool> {
    let mut tx = db.begin().await?;
    let forgotten =
        sqlx::query!("update adjusted_bills set inputs = '', retry_at = null where scope_id = $1", scope_id)
            .execute(&mut *tx)
            .await?;
    if forgotten.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query!("delete from adjustments_compared").execute(&mut *tx).await?;
    audit::record(
        &mut tx,
        act,
        Verb::AdjustmentsComputed,
        &Object::Other("adjustments"),
        json!({ "scope": scope_id }),
    )
    .await?;
    tx.commit().await?;
    Ok(true)
}
