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
use crate::accelerator;
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

/// What adjusts the bills.
#[derive(Clone, Debug, Default)]
struct InForce {
    adjustments: Adjustments,
    /// Internal prices.
    rates: Vec<Rate>,
}

/// A bill whose adjustments are to be computed, or taken out where nothing adjusts it any more.
#[derive(Clone, Debug)]
pub struct Due {
    pub bill: AdjustedBill,
    pub entries: Vec<Adjustment>,
    /// Internal prices that may be for it; empty of what is no cluster.
    pub internal_prices: Arc<Rates>,
    inputs: Vec<u8>,
}

impl Due {
    /// Whether nothing adjusts it.
    pub fn is_nothing(&self) -> bool {
        self.bill.active.is_empty() || (self.entries.is_empty() && self.internal_prices.is_empty())
    }
}

/// What became of a bill.
#[derive(Clone, Copy, Debug, Default)]
pub struct Noted<'a> {
    /// The import of its adjustments.
    pub delivery: Option<i64>,
    pub note: Option<&'a str>,
    pub problem: Option<&'a str>,
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

impl Versions {
    async fn find(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<Self> {
        let catalog = ledger::catalog_revision(&mut *db).await?;
        Ok(Self {
            sequence: ledger::sequence(&mut *db).await?,
            adjustments: Kind::Adjustments.version(&mut *db).await?,
            rates: Kind::RateCards.version(&mut *db).await?,
            catalog: i64::from(accelerator::version_of(catalog)),
            day: now.date_naive(),
        })
    }
}

/// The bills whose adjustments are not those of now, the oldest month first. Where there are none, that is remembered.
pub async fn due(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<Vec<Due>> {
    let versions = Versions::find(&mut *db, now).await?;
    if is_compared(&mut *db, &versions, now).await? {
        return Ok(Vec::new());
    }
    let due = find_as_of(&mut *db, &versions, now).await?;
    if due.is_empty() {
        note_compared(db, &versions).await?;
    }
    Ok(due)
}

/// How many bills these are.
pub async fn pending(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<usize> {
    let versions = Versions::find(&mut *db, now).await?;
    if is_compared(&mut *db, &versions, now).await? {
        return Ok(0);
    }
    Ok(find_as_of(db, &versions, now).await?.len())
}

/// Finds them, and writes nothing.
pub(super) async fn find(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<Vec<Due>> {
    let versions = Versions::find(&mut *db, now).await?;
    find_as_of(db, &versions, now).await
}

async fn find_as_of(
    db: &mut PgConnection,
    versions: &Versions,
    now: DateTime<Utc>,
) -> sqlx::Result<Vec<Due>> {
    let terms = InForce::as_of(&mut *db, (versions.adjustments, versions.rates)).await?;
    let computed = computed(&mut *db).await?;
    if terms.adjustments.entries.is_empty() && terms.rates.is_empty() && computed.is_empty() {
        return Ok(Vec::new());
    }
    let mut due = Vec::new();
    for bill in bills(&mut *db, now).await? {
        let it = terms.of(bill, versions.catalog);
        let is_due = match computed.get(&it.bill.scope_id) {
            None => !it.is_nothing(),
            Some(known) => match known.retry_at {
                Some(at) => at <= now,
                None => known.inputs != it.inputs,
            },
        };
        due.extend(is_due.then_some(it));
    }
    Ok(due)
}

impl InForce {
    pub async fn as_of(db: &mut PgConnection, (adjustments, rates): (i64, i64)) -> sqlx::Result<Self> {
        let adjustments = Adjustments::as_of(&mut *db, adjustments).await?;
        let cards = RateCards::as_of(db, rates).await?;
        Ok(Self { adjustments, rates: internal_rates(cards.rates.values()) })
    }

    /// What of it is about a bill.
    fn about(&self, bill: &AdjustedBill) -> (Vec<Adjustment>, Vec<&Rate>) {
        let AdjustedBill { provider, billing_account, month, .. } = bill;
        let entries = self.adjustments.of_bill(provider, billing_account, *month);
        let days = month.days();
        let is_of_cluster = |rate: &&Rate| {
            let account = &rate.billing_account;
            (account.is_empty() || account.eq_ignore_ascii_case(billing_account))
                && rate.valid_from < days.end
                && rate.valid_to.is_none_or(|last| days.start <= last)
        };
        let rates = self.rates.iter().filter(|_| provider == PROVIDER).filter(is_of_cluster);
        (entries.into_iter().cloned().collect(), rates.collect())
    }

    fn of(&self, bill: AdjustedBill, catalog: i64) -> Due {
        let (entries, rates) = self.about(&bill);
        let is_over = bill.is_over && entries.iter().any(|it| it.terms.is_minimum());
        // What no row says makes no other rows: a contract.
        let said: Vec<_> = entries.iter().map(|it| (&it.terms, &it.reason)).collect();
        let inputs = json!([COMPUTED_AS, bill.active, bill.is_final, is_over, said, rates, catalog]);
        let inputs = Sha256::digest(inputs.to_string()).to_vec();
        let internal_prices = Arc::new(Rates::new(rates.into_iter().cloned()));
        Due { bill, entries, internal_prices, inputs }
    }
}

/// Whether what adjusts a bill was agreed on when the bill became what it is. Else what is computed restates it.
pub async fn follows_bill(db: &mut PgConnection, due: &Due) -> sqlx::Result<bool> {
    let row = sqlx::query!(
        r#"with bill as (
               select max(l.happened_at) as changed_at
               from visibility v
               join ledger_log l on l.sequence = v.from_sequence
               where v.scope_id = $1 and v.until_sequence is null
           ),
           versions as (
               select kind, applied_version as version, decided_at as at from changes where applied_version is not null
               union all
               select kind, undone_version, undone_at from changes where undone_version is not null
           )
           select coalesce(max(version) filter (where kind = 'adjustments'), 0) as "adjustments!",
               coalesce(max(version) filter (where kind = 'rate-cards'), 0) as "rates!"
           from versions
           join bill on versions.at < bill.changed_at"#,
        due.bill.scope_id,
    )
    .fetch_one(&mut *db)
    .await?;
    let then = InForce::as_of(&mut *db, (row.adjustments, row.rates)).await?;
    let versions = (Kind::Adjustments.version(&mut *db).await?, Kind::RateCards.version(&mut *db).await?);
    let now = InForce::as_of(db, versions).await?;
    Ok(then.about(&due.bill) == now.about(&due.bill))
}

/// Whether all bills were compared with these versions already, and nothing is to be tried again.
async fn is_compared(db: &mut PgConnection, now_is: &Versions, now: DateTime<Utc>) -> sqlx::Result<bool> {
    let row = sqlx::query!(
        r#"select sequence, adjustments_version, rates_version, catalog, day,
               exists (select from adjusted_bills where retry_at <= $1 or inputs = '') as "is_to_be_tried!"
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

/// Notes what became of a bill.
pub async fn note(
    db: &mut PgConnection,
    due: &Due,
    noted: Noted<'_>,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    if due.is_nothing() && noted.problem.is_none() {
        sqlx::query!("delete from adjusted_bills where scope_id = $1", due.bill.scope_id).execute(db).await?;
        return Ok(());
    }
    sqlx::query!(
        "insert into adjusted_bills (scope_id, inputs, delivery_id, note, problem, computed_at)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (scope_id) do update
         set inputs = $2, delivery_id = $3, note = $4, problem = $5, computed_at = $6, retry_at = null",
        due.bill.scope_id,
        &due.inputs,
        noted.delivery,
        noted.note,
        noted.problem,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Notes that the machine failed at a bill, which is tried again later. What was computed of it before stays.
pub async fn note_problem(
    db: &mut PgConnection,
    due: &Due,
    problem: &str,
    now: DateTime<Utc>,
) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into adjusted_bills (scope_id, inputs, problem, retry_at, computed_at)
         values ($1, $2, $3, $4, $5)
         on conflict (scope_id) do update set inputs = $2, problem = $3, retry_at = $4, computed_at = $5",
        due.bill.scope_id,
        &due.inputs,
        problem,
        now + RETRY,
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
