//! What a delivery changed in its months against what was active before it: per account, service, team or charge key.
//! The differences sum to the change of the month exactly.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, FromRow, PgConnection, Row};
use uuid::Uuid;

use super::question::SHARED;
use super::snapshot::Names;
use super::{CostMetric, Grouping, Page};
use crate::allocation::{self, Configuration};
use crate::changes::Document as _;
use crate::enum_words::{words, written_as_str};
use crate::ledger::{self, ActiveImports, Archived};
use crate::money::Decimal;
use crate::period::BillingMonth;

words! {
    /// By what the changes are distinguished.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ChangesBy: as_str, label {
        Account = "account", "Account";
        Service = "service", "Service";
        /// Whose charges are, by the rules of the version at which it was published, or of now.
        Team = "team", "Team";
        Key = "key", "Group of charges";
    }
}

written_as_str!(ChangesBy);

/// What a delivery changed, or would change if it replaced.
#[derive(Clone, Debug, Serialize)]
pub struct Changes {
    pub delivery: i64,
    pub by: ChangesBy,
    pub cost: CostMetric,
    /// It waits for a decision: this is what would change if it replaced.
    pub is_preview: bool,
    /// The version of the ledger at which it was published.
    pub sequence: Option<i64>,
    /// One per currency.
    pub totals: Vec<ChangeTotal>,
    /// Lines that changed, on all pages.
    pub count: i64,
    /// A page of them, by currency and then the largest change first.
    pub lines: Vec<Change>,
}

/// All of it in one currency, what did not change included.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeTotal {
    pub currency: String,
    pub before: Decimal,
    pub after: Decimal,
    pub difference: Decimal,
}

/// One account, service, team or key of a month.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    pub billing_period: BillingMonth,
    /// Empty of a team.
    pub provider: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<ChangedOwner>,
    /// The sub-account, or the billing account where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    #[serde(flatten)]
    pub key: Option<ChangedKey>,
    pub currency: String,
    pub before: Decimal,
    pub after: Decimal,
    pub difference: Decimal,
    /// Nothing of it counted before.
    pub is_new: bool,
    /// Nothing of it is active after.
    pub is_gone: bool,
}

/// A team, a shared cost, or what is unallocated.
#[derive(Clone, Debug, Serialize)]
pub struct ChangedOwner {
    /// Null of what is unallocated.
    pub key: Option<String>,
    pub label: String,
}

/// Whose each key of the months of a delivery is.
struct Owners {
    months: Vec<NaiveDate>,
    /// The set of each of these months.
    sets: Vec<Uuid>,
    names: BTreeMap<BillingMonth, Names>,
}

/// What distinguishes a charge key from the others of its account and service.
#[derive(Clone, Debug, Serialize, FromRow)]
pub struct ChangedKey {
    #[sqlx(rename = "charge_key_id")]
    pub charge_key: Uuid,
    pub meter: String,
    pub sku: String,
    pub region: String,
    pub category: String,
    pub pricing: String,
    #[sqlx(rename = "resource_id")]
    pub resource: Option<String>,
    pub tags: serde_json::Value,
}

const BEFORE_AFTER: &str = include_str!("before_after.sql");

/// What a delivery changed. Empty for one that was never published and does not wait.
pub async fn changes(
    db: &mut PgConnection,
    delivery_id: i64,
    by: ChangesBy,
    cost: CostMetric,
    page: Page,
) -> sqlx::Result<Changes> {
    let delivery =
        sqlx::query!("select status, published_sequence from deliveries where delivery_id = $1", delivery_id)
            .fetch_one(&mut *db)
            .await?;
    let totals = totals(db, delivery_id, cost).await?;
    let owners = match by {
        ChangesBy::Team => Some(Owners::find(&mut *db, delivery_id, delivery.published_sequence).await?),
        ChangesBy::Account | ChangesBy::Service | ChangesBy::Key => None,
    };
    let (count, lines) = lines(db, delivery_id, by, owners.as_ref(), (cost, page)).await?;
    Ok(Changes {
        delivery: delivery_id,
        by,
        cost,
        is_preview: delivery.status == "waiting",
        sequence: delivery.published_sequence,
        totals,
        count,
        lines,
    })
}

/// From what the deliveries state, which is few rows and the other side of the lines' sum.
async fn totals(db: &mut PgConnection, delivery_id: i64, cost: CostMetric) -> sqlx::Result<Vec<ChangeTotal>> {
    let column = cost.column().trim_start_matches("c.");
    let query = format!(
        "{BEFORE_AFTER}
         select t.currency,
             coalesce(sum(t.{column}) filter (where before_after.before), 0) as before,
             coalesce(sum(t.{column}) filter (where before_after.after), 0) as after
         from before_after
         join delivery_totals t using (scope_id, delivery_id)
         group by 1
         order by 1"
    );
    let rows = sqlx::query(AssertSqlSafe(query)).bind(delivery_id).fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            let (before, after): (Decimal, Decimal) = (row.try_get("before")?, row.try_get("after")?);
            Ok(ChangeTotal { currency: row.try_get("currency")?, before, after, difference: after - before })
        })
        .collect()
}

async fn lines(
    db: &mut PgConnection,
    delivery_id: i64,
    by: ChangesBy,
    owners: Option<&Owners>,
    (cost, page): (CostMetric, Page),
) -> sqlx::Result<(i64, Vec<Change>)> {
    let (cost, dimensions) = (cost.column(), by.dimensions());
    // What no key is needed for, archived imports tell, too.
    let needs_keys = matches!(by, ChangesBy::Key | ChangesBy::Team);
    let sums = if needs_keys { "monthly_costs" } else { "monthly_totals" };
    if needs_keys {
        let sql = format!("{BEFORE_AFTER} select distinct delivery_id from before_after");
        let deliveries = sqlx::query_scalar(AssertSqlSafe(sql)).bind(delivery_id);
        let deliveries: Vec<i64> = deliveries.fetch_all(&mut *db).await?;
        Archived::check(&mut *db, &deliveries).await?;
    }
    let whose = if by == ChangesBy::Team { WHOSE } else { "" };
    let query = format!(
        "{BEFORE_AFTER},
         summed as (
             select c.billing_month, c.charge_key_id,
                 coalesce(sum({cost}) filter (where before_after.before), 0) as before,
                 coalesce(sum({cost}) filter (where before_after.after), 0) as after,
                 bool_or(before_after.before) as has_before,
                 bool_or(before_after.after) as has_after
             from before_after
             join {sums} c using (scope_id, delivery_id, billing_month)
             group by 1, 2
         ),
         grouped as (
             select summed.billing_month, k.currency, {dimensions},
                 sum(before) as before,
                 sum(after) as after,
                 bool_or(has_before) as has_before,
                 bool_or(has_after) as has_after
             from summed
             join charge_keys k using (charge_key_id)
             {whose}
             group by summed.billing_month, k.currency, {group}
         )
         select *, count(*) over () as count
         from grouped
         where before <> after or has_before <> has_after
         order by currency, abs(after - before) desc, billing_month, {order}
         limit $2 offset $3",
        group = by.group(),
        order = by.order(),
    );
    let mut query = sqlx::query(AssertSqlSafe(query)).bind(delivery_id).bind(page.size).bind(page.first);
    if let Some(owners) = owners {
        query = query.bind(&owners.months).bind(&owners.sets);
    }
    let rows = query.fetch_all(db).await?;
    let count = rows.first().map_or(Ok(0), |row| row.try_get("count"))?;
    let lines = rows
        .iter()
        .map(|row| {
            let (before, after): (Decimal, Decimal) = (row.try_get("before")?, row.try_get("after")?);
            let (has_before, has_after): (bool, bool) =
                (row.try_get("has_before")?, row.try_get("has_after")?);
            let month = BillingMonth::of(row.try_get("billing_month")?);
            let team = match owners {
                Some(owners) => Some(owners.owner(month, row.try_get("owner")?)),
                None => None,
            };
            let (has_account, has_service) = match by {
                ChangesBy::Account => (true, false),
                ChangesBy::Service => (false, true),
                ChangesBy::Team => (false, false),
                ChangesBy::Key => (true, true),
            };
            Ok(Change {
                billing_period: month,
                provider: row.try_get("provider")?,
                team,
                account: if has_account { Some(row.try_get("account")?) } else { None },
                service: if has_service { Some(row.try_get("service")?) } else { None },
                key: if by == ChangesBy::Key { Some(ChangedKey::from_row(row)?) } else { None },
                currency: row.try_get("currency")?,
                before,
                after,
                difference: after - before,
                is_new: !has_before,
                is_gone: !has_after,
            })
        })
        .collect::<sqlx::Result<_>>()?;
    Ok((count, lines))
}

impl Owners {
    async fn find(db: &mut PgConnection, delivery_id: i64, sequence: Option<i64>) -> sqlx::Result<Self> {
        let sequence = match sequence {
            Some(sequence) => sequence,
            None => ledger::sequence(&mut *db).await?,
        };
        let configuration = Configuration::as_of(&mut *db, sequence).await?;
        let sql = format!("{BEFORE_AFTER} select distinct billing_month, delivery_id from before_after");
        let rows: Vec<(NaiveDate, i64)> =
            sqlx::query_as(AssertSqlSafe(sql)).bind(delivery_id).fetch_all(&mut *db).await?;
        let mut deliveries: BTreeMap<BillingMonth, Vec<i64>> = BTreeMap::new();
        for (month, delivery) in rows {
            deliveries.entry(BillingMonth::of(month)).or_default().push(delivery);
        }
        let mut owners = Self { months: Vec::new(), sets: Vec::new(), names: BTreeMap::new() };
        for (month, deliveries) in deliveries {
            let imports = ActiveImports::of_deliveries(&mut *db, deliveries).await?;
            owners.sets.push(allocation::cover(&mut *db, &configuration.of_month(month), &imports).await?);
            owners.months.push(month.first_day());
            owners.names.insert(month, Names::of(&configuration, month, month));
        }
        Ok(owners)
    }

    fn owner(&self, month: BillingMonth, key: Option<String>) -> ChangedOwner {
        let by = Grouping::Team;
        let label = match self.names.get(&month) {
            Some(names) => names.label(&by, key.as_deref()),
            None => by.value_label(key.as_deref()),
        };
        ChangedOwner { key, label }
    }
}

/// The owner of each key, by the sets $5 of the months $4.
const WHOSE: &str = "\
    join unnest($4::date[], $5::uuid[]) as sets (billing_month, set_id) on sets.billing_month = summed.billing_month
    left join key_attributions ka on ka.set_id = sets.set_id and ka.charge_key_id = summed.charge_key_id
    left join attributions a using (attribution_id)";

const ACCOUNT: &str = "coalesce(nullif(k.sub_account, ''), k.billing_account)";

impl Changes {
    /// What stays as it is in the currency of a total; none where nothing does, and where other pages have more lines.
    pub fn unchanged(&self, total: &ChangeTotal) -> Option<Decimal> {
        let has_all = usize::try_from(self.count).is_ok_and(|count| count == self.lines.len());
        let of_currency = self.lines.iter().filter(|line| line.currency == total.currency);
        let same = total.before - of_currency.map(|line| line.before).sum::<Decimal>();
        Some(same).filter(|same| has_all && !same.is_zero())
    }
}

impl ChangesBy {
    fn dimensions(self) -> String {
        match self {
            Self::Account => format!("k.provider, {ACCOUNT} as account"),
            Self::Service => "k.provider, k.service".to_owned(),
            Self::Team => format!("'' as provider, {} as owner", owner()),
            // Grouped by the id, the rest follows from it.
            Self::Key => format!(
                "k.provider, k.charge_key_id, {ACCOUNT} as account, k.service, k.sku, k.region, k.category, k.pricing, \
                 k.resource_id, k.tags, coalesce(nullif(k.instance_type, ''), k.meter) as meter"
            ),
        }
    }

    fn group(self) -> String {
        match self {
            Self::Account => format!("k.provider, {ACCOUNT}"),
            Self::Service => "k.provider, k.service".to_owned(),
            Self::Team => owner(),
            // The id is the key of its table.
            Self::Key => "k.charge_key_id".to_owned(),
        }
    }

    fn order(self) -> &'static str {
        match self {
            Self::Account => "provider, account",
            Self::Service => "provider, service",
            Self::Team => "owner",
            Self::Key => "charge_key_id",
        }
    }
}

/// A team, or a shared cost as [`Grouping::Team`] spells it.
fn owner() -> String {
    format!("nullif(case when a.pool <> '' then '{SHARED}' || a.pool else a.team end, '')")
}
