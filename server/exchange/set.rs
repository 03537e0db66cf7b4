//! Keeping rates: setting them is a version of the ledger, and what they were before is kept.

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use serde_json::json;
use sqlx::{Connection, PgConnection};

use super::{Rate, Rates};
use crate::audit::{self, Act, Object, Verb};
use crate::ledger;
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// What setting rates did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// From which sequence they hold; `None` where nothing changed.
    pub sequence: Option<i64>,
    pub changed: usize,
    /// Held already.
    pub unchanged: usize,
}

/// A rate that holds now, with who set it.
#[derive(Clone, Debug, Serialize)]
pub struct Held {
    #[serde(flatten)]
    pub rate: Rate,
    pub set_at: DateTime<Utc>,
    pub set_by: String,
    /// How many rates the pair had in that month before this one.
    pub earlier: i64,
}

/// A month in which a currency was billed that no rate converts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    pub month: BillingMonth,
    pub currency: Currency,
}

/// Makes these rates hold for their months from the next sequence on, in one step.
pub async fn set(db: &mut PgConnection, rates: &[Rate], act: Act<'_>) -> sqlx::Result<Change> {
    let mut tx = db.begin().await?;
    let sequence = ledger::begin_version(&mut tx).await?;
    let months: Vec<NaiveDate> = rates.iter().map(|rate| rate.month.first_day()).collect();
    let currencies: Vec<&str> = rates.iter().map(|rate| rate.currency.as_str()).collect();
    let quoted_in: Vec<&str> = rates.iter().map(|rate| rate.quoted_in.as_str()).collect();
    let values: Vec<Decimal> = rates.iter().map(|rate| rate.rate).collect();
    let sources: Vec<&str> = rates.iter().map(|rate| rate.source.as_str()).collect();
    sqlx::query!(
        "update exchange_rates held
         set until_sequence = $1
         from unnest($2::date[], $3::text[], $4::text[], $5::numeric[]) as new (month, currency, quoted_in, rate)
         where held.until_sequence is null
           and held.billing_month = new.month and held.currency = new.currency
           and held.quoted_in = new.quoted_in and held.rate <> new.rate",
        sequence,
        &months,
        &currencies as &[&str],
        &quoted_in as &[&str],
        &values as &[Decimal],
    )
    .execute(&mut *tx)
    .await?;
    let inserted = sqlx::query!(
        "insert into exchange_rates
             (billing_month, currency, quoted_in, rate, source, from_sequence, set_at, set_by)
         select month, currency, quoted_in, rate, source, $1, $7, $8
         from unnest($2::date[], $3::text[], $4::text[], $5::numeric[], $6::text[])
             as new (month, currency, quoted_in, rate, source)
         on conflict (billing_month, currency, quoted_in) where until_sequence is null do nothing",
        sequence,
        &months,
        &currencies as &[&str],
        &quoted_in as &[&str],
        &values as &[Decimal],
        &sources as &[&str],
        act.at,
        act.by.name,
    )
    .execute(&mut *tx)
    .await?;
    let changed = usize::try_from(inserted.rows_affected()).unwrap_or(usize::MAX);
    let unchanged = rates.len().saturating_sub(changed);
    if changed == 0 {
        return Ok(Change { sequence: None, changed, unchanged });
    }
    ledger::end_version(&mut tx, sequence, None, "rates", &act.by.name, act.at).await?;
    let details = match rates {
        [only] => {
            json!({ "month": only.month, "currency": only.currency, "quoted_in": only.quoted_in, "rate": only.rate })
        }
        _ => json!({ "changed": changed, "unchanged": unchanged }),
    };
    audit::record(&mut tx, act, Verb::RatesSet, &Object::Other("exchange rates"), details).await?;
    tx.commit().await?;
    Ok(Change { sequence: Some(sequence), changed, unchanged })
}

/// What the pair was worth in the month nearest to the rate's own, within a year of it.
pub async fn nearest(db: &mut PgConnection, rate: &Rate) -> sqlx::Result<Option<Rate>> {
    let row = sqlx::query!(
        r#"select billing_month, rate as "rate: Decimal", source
           from exchange_rates
           where until_sequence is null and currency = $2 and quoted_in = $3
             and abs(billing_month - $1) between 1 and 366
           order by abs(billing_month - $1), billing_month
           limit 1"#,
        rate.month.first_day(),
        rate.currency.as_str(),
        rate.quoted_in.as_str(),
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| Rate {
        month: BillingMonth::of(row.billing_month),
        rate: row.rate,
        source: row.source,
        ..rate.clone()
    }))
}

/// Makes a pair have no rate in a month from the next sequence on. `None` where it had none.
pub async fn remove(
    db: &mut PgConnection,
    month: BillingMonth,
    currency: &Currency,
    quoted_in: &Currency,
    act: Act<'_>,
) -> sqlx::Result<Option<i64>> {
    let mut tx = db.begin().await?;
    let sequence = ledger::begin_version(&mut tx).await?;
    let removed = sqlx::query!(
        "update exchange_rates set until_sequence = $1
         where until_sequence is null and billing_month = $2 and currency = $3 and quoted_in = $4",
        sequence,
        month.first_day(),
        currency.as_str(),
        quoted_in.as_str(),
    )
    .execute(&mut *tx)
    .await?;
    if removed.rows_affected() == 0 {
        return Ok(None);
    }
    ledger::end_version(&mut tx, sequence, None, "rates", &act.by.name, act.at).await?;
    let details = json!({ "month": month, "currency": currency, "quoted_in": quoted_in });
    audit::record(&mut tx, act, Verb::RateRemoved, &Object::Other("exchange rates"), details).await?;
    tx.commit().await?;
    Ok(Some(sequence))
}

/// The rates of some months as of a sequence.
pub async fn rates(
    db: &mut PgConnection,
    first: BillingMonth,
    last: BillingMonth,
    sequence: i64,
) -> sqlx::Result<Rates> {
    let rows = sqlx::query!(
        r#"select billing_month, currency, quoted_in, rate as "rate: Decimal", source
           from exchange_rates
           where billing_month >= $1 and billing_month <= $2
             and from_sequence <= $3 and (until_sequence is null or until_sequence > $3)
           order by billing_month, currency, quoted_in"#,
        first.first_day(),
        last.first_day(),
        sequence,
    )
    .fetch_all(db)
    .await?;
    let rates = rows.into_iter().map(|row| Rate {
        month: BillingMonth::of(row.billing_month),
        currency: Currency::exactly(&row.currency),
        quoted_in: Currency::exactly(&row.quoted_in),
        rate: row.rate,
        source: row.source,
    });
    Ok(Rates::new(rates.collect()))
}

/// The rates that hold now, the latest month first.
pub async fn table(db: &mut PgConnection) -> sqlx::Result<Vec<Held>> {
    let rows = sqlx::query!(
        r#"select r.billing_month, r.currency, r.quoted_in, r.rate as "rate: Decimal", r.source,
               r.set_at, r.set_by,
               (
                   select count(*)
                   from exchange_rates earlier
                   where earlier.billing_month = r.billing_month and earlier.currency = r.currency
                     and earlier.quoted_in = r.quoted_in and earlier.from_sequence < r.from_sequence
               ) as "earlier!"
           from exchange_rates r
           where r.until_sequence is null
           order by r.billing_month desc, r.currency, r.quoted_in"#,
    )
    .fetch_all(db)
    .await?;
    let held = rows.into_iter().map(|row| Held {
        rate: Rate {
            month: BillingMonth::of(row.billing_month),
            currency: Currency::exactly(&row.currency),
            quoted_in: Currency::exactly(&row.quoted_in),
            rate: row.rate,
            source: row.source,
        },
        set_at: row.set_at,
        set_by: row.set_by,
        earlier: row.earlier,
    });
    Ok(held.collect())
}

/// The months and currencies that are active now and that no rate converts `into`, the latest first. Virtual
/// currencies (credits, tokens) are money only where someone said so.
pub async fn missing(db: &mut PgConnection, into: &Currency) -> sqlx::Result<Vec<Missing>> {
    let billed = sqlx::query!(
        "select distinct s.billing_month, t.currency
         from delivery_totals t
         join visibility v on v.delivery_id = t.delivery_id and v.scope_id = t.scope_id and v.until_sequence is null
         join scopes s on s.scope_id = t.scope_id
         order by 1 desc, 2"
    )
    .fetch_all(&mut *db)
    .await?;
    let (Some(last), Some(first)) = (billed.first(), billed.last()) else { return Ok(Vec::new()) };
    let (first, last) = (BillingMonth::of(first.billing_month), BillingMonth::of(last.billing_month));
    let sequence = ledger::sequence(db).await?;
    let rates = rates(db, first, last, sequence).await?;
    let missing = billed.iter().filter_map(|row| {
        let (month, currency) = (BillingMonth::of(row.billing_month), Currency::exactly(&row.currency));
        let lacks = currency.is_money() && rates.find(month, &currency, into).is_none();
        lacks.then_some(Missing { month, currency })
    });
    Ok(missing.collect())
}

/// The currency of the overview: the one that was chosen, else the one that most charges are in. `None` while
/// there are none.
pub async fn reporting_currency(db: &mut PgConnection) -> sqlx::Result<Option<Currency>> {
    let currency = sqlx::query_scalar!(
        "select coalesce(
             (select currency from reporting_currencies where until_sequence is null),
             (
                 select t.currency
                 from delivery_totals t
                 join visibility v
                     on v.delivery_id = t.delivery_id and v.scope_id = t.scope_id and v.until_sequence is null
                 group by 1
                 order by sum(t.charges) desc, 1
                 limit 1
             )
         ) as currency"
    )
    .fetch_one(db)
    .await?;
    Ok(currency.as_deref().map(Currency::exactly))
}

/// The one that was chosen, where one was.
pub async fn chosen_reporting_currency(db: &mut PgConnection) -> sqlx::Result<Option<Currency>> {
    let now = ledger::sequence(&mut *db).await?;
    reporting_currency_as_of(db, now).await
}

/// The one that was chosen as of a sequence of the ledger, where one was.
pub async fn reporting_currency_as_of(
    db: &mut PgConnection,
    sequence: i64,
) -> sqlx::Result<Option<Currency>> {
    let currency = sqlx::query_scalar!(
        "select currency from reporting_currencies
         where from_sequence <= $1 and (until_sequence is null or until_sequence > $1)",
        sequence,
    )
    .fetch_optional(db)
    .await?;
    Ok(currency.flatten().as_deref().map(Currency::exactly))
}

/// `None`: the one most used.
pub async fn set_reporting_currency(
    db: &mut PgConnection,
    currency: Option<&Currency>,
    act: Act<'_>,
) -> sqlx::Result<()> {
    let mut tx = db.begin().await?;
    let sequence = ledger::begin_version(&mut tx).await?;
    let before = chosen_reporting_currency(&mut tx).await?;
    sqlx::query!(
        "update reporting_currencies set until_sequence = $1 where until_sequence is null",
        sequence
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query!(
        "insert into reporting_currencies (from_sequence, currency) values ($1, $2)",
        sequence,
        currency.map(Currency::as_str)
    )
    .execute(&mut *tx)
    .await?;
    // Shared costs are weighed in it.
    ledger::end_version(&mut tx, sequence, None, "allocation", &act.by.name, act.at).await?;
    let details = json!({ "before": before, "after": currency });
    let object = Object::Other("reporting currency");
    audit::record(&mut tx, act, Verb::ReportingCurrencySet, &object, details).await?;
    tx.commit().await
}

/// Whether there is such a currency: by the standard, or as the ledger has it in bills or rates.
pub async fn is_known(db: &mut PgConnection, currency: &Currency) -> sqlx::Result<bool> {
    if currency.is_standard() {
        return Ok(true);
    }
    sqlx::query_scalar!(
        r#"select exists (select from delivery_totals where currency = $1)
               or exists (select from exchange_rates where currency = $1 or quoted_in = $1) as "is_known!""#,
        currency.as_str(),
    )
    .fetch_one(db)
    .await
}
