//! What adjustments amount to: on bills as they are, and by month and owner before and after a change of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures_util::TryStreamExt as _;
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::completeness::final_since;
use super::rate_change::labels;
use super::snapshot::Names;
use super::{Answers, Grouping};
use crate::adjustments::{self, Adjustments, Edit, InternalPricing, Terms};
use crate::allocation;
use crate::exchange;
use crate::ledger::{self, ActiveImports};
use crate::money::Decimal;
use crate::onprem;
use crate::period::BillingMonth;
use crate::rating::Rates;

/// Bills that the page shows, the latest first.
const MOST_BILLS: i64 = 200;

/// A bill that is adjusted, in one currency.
#[derive(Clone, Debug, Serialize)]
pub struct AdjustedBillLine {
    pub scope_id: i64,
    pub provider: String,
    pub billing_account: String,
    pub month: BillingMonth,
    pub currency: String,
    /// Of the bill itself, taxes included.
    pub billed: Decimal,
    pub effective: Decimal,
    pub adjusted_billed: Decimal,
    pub adjusted_effective: Decimal,
    /// The import of its adjustments.
    pub delivery: Option<i64>,
    /// Somebody undid that import: the bill counts without adjustments.
    pub is_undone: bool,
    /// What of it is not adjusted as one may expect, and why.
    pub note: Option<String>,
    /// Why nothing of it could be adjusted.
    pub problem: Option<String>,
}

/// How far bills are adjusted by what is entered now.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AdjustmentState {
    /// Bills whose adjustments are being computed.
    pub pending: usize,
    pub bills: Vec<AdjustedBillLine>,
    /// Bills beyond those that are listed.
    pub further: i64,
}

/// The bills that are adjusted.
pub async fn adjustment_state(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<AdjustmentState> {
    let pending = adjustments::pending(&mut *db, now).await?;
    let rows = sqlx::query!(
        r#"with sums as (
               select v.scope_id, t.currency, sum(t.billed_cost) as billed, sum(t.effective_cost) as effective
               from visibility v
               join delivery_totals t on t.scope_id = v.scope_id and t.delivery_id = v.delivery_id
               where v.until_sequence is null
               group by 1, 2
           ),
           bills as (
               select a.scope_id, a.delivery_id, a.note, a.problem, s.provider, s.billing_account, s.billing_month,
                   beside.scope_id as beside_id,
                   a.delivery_id is not null and not exists (
                       select from visibility v where v.delivery_id = a.delivery_id and v.until_sequence is null
                   ) as is_undone,
                   count(*) over () as bills
               from adjusted_bills a
               join scopes s using (scope_id)
               left join scopes beside on beside.adjusts = s.scope_id and not beside.is_usage
               order by s.billing_month desc, s.provider, s.billing_account
               limit $1
           ),
           -- A minimum may be in a currency that the bill has not.
           amounts as (
               select b.scope_id, sums.currency, sums.billed, sums.effective, 0 as adjusted_billed, 0 as adjusted_effective
               from bills b join sums on sums.scope_id = b.scope_id
               union all
               select b.scope_id, sums.currency, 0, 0, sums.billed, sums.effective
               from bills b join sums on sums.scope_id = b.beside_id
           )
           select b.scope_id, b.provider, b.billing_account, b.billing_month, b.delivery_id, b.note, b.problem,
               b.is_undone as "is_undone!", b.bills as "bills!", coalesce(a.currency, '') as "currency!",
               coalesce(sum(a.billed), 0) as "billed!: Decimal", coalesce(sum(a.effective), 0) as "effective!: Decimal",
               coalesce(sum(a.adjusted_billed), 0) as "adjusted_billed!: Decimal",
               coalesce(sum(a.adjusted_effective), 0) as "adjusted_effective!: Decimal"
           from bills b
           left join amounts a using (scope_id)
           group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
           order by b.billing_month desc, b.provider, b.billing_account, 10"#,
        MOST_BILLS,
    )
    .fetch_all(db)
    .await?;
    let further = rows.first().map_or(0, |row| (row.bills - MOST_BILLS).max(0));
    let bills = rows.into_iter().map(|row| AdjustedBillLine {
        scope_id: row.scope_id,
        provider: row.provider,
        billing_account: row.billing_account,
        month: BillingMonth::of(row.billing_month),
        currency: row.currency,
        billed: row.billed,
        effective: row.effective,
        adjusted_billed: row.adjusted_billed,
        adjusted_effective: row.adjusted_effective,
        delivery: row.delivery_id,
        is_undone: row.is_undone,
        note: row.note,
        problem: row.problem,
    });
    Ok(AdjustmentState { pending, bills: bills.collect(), further })
}

/// How many bills count without what adjusts them.
pub(super) async fn not_adjusted(db: &mut PgConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar!(
        r#"select count(*) as "bills!"
           from adjusted_bills a
           where a.problem is not null
              or (a.delivery_id is not null and not exists (
                  select from visibility v where v.delivery_id = a.delivery_id and v.until_sequence is null
              ))"#
    )
    .fetch_one(db)
    .await
}

/// The providers that bills are of.
pub async fn providers_billed(db: &mut PgConnection) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar!("select distinct provider from scopes where adjusts is null order by 1")
        .fetch_all(db)
        .await
}

/// The accounts of a provider's bills, for somebody who named none of them.
pub async fn accounts_billed(db: &mut PgConnection, provider: &str) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar!(
        "select distinct s.billing_account
         from scopes s
         join visibility v using (scope_id)
         where v.until_sequence is null and s.adjusts is null and lower(s.provider) = lower($1)
         order by 1
         limit 20",
        provider,
    )
    .fetch_all(db)
    .await
}

/// What a change moves in a month, in one currency: effective cost of adjustments, which is what teams are charged.
#[derive(Clone, Debug, Serialize)]
pub struct MonthOfAdjustments {
    pub month: BillingMonth,
    pub currency: String,
    /// Its bills were final, so that statements of it may have been handed out.
    pub was_final: bool,
    /// What the bills charge that are adjusted, taxes left out.
    pub base: Decimal,
    pub before: Decimal,
    pub after: Decimal,
    /// Those that it moves, the most moved first.
    pub owners: Vec<OwnerOfAdjustments>,
}

/// A team, shared costs, or what is unallocated.
#[derive(Clone, Debug, Serialize)]
pub struct OwnerOfAdjustments {
    pub label: String,
    pub before: Decimal,
    pub after: Decimal,
}

/// Computes what adjustments amount to before some edits and after them, in the months that these are about, the latest first.
pub async fn adjustment_impact(
    db: &mut PgConnection,
    answers: &Answers,
    (before, after): (&Adjustments, &Adjustments),
    edits: &[Edit],
    now: DateTime<Utc>,
) -> sqlx::Result<Vec<MonthOfAdjustments>> {
    let touched: Vec<_> = edits.iter().flat_map(|it| [&it.before, &it.after]).flatten().collect();
    let providers: BTreeSet<String> = touched.iter().map(|it| it.provider.to_lowercase()).collect();
    let providers: Vec<String> = providers.into_iter().collect();
    let months = sqlx::query_scalar!(
        r#"select distinct s.billing_month
           from scopes s
           join visibility v using (scope_id)
           where v.until_sequence is null and s.adjusts is null and lower(s.provider) = any($1)
           order by 1 desc"#,
        &providers,
    )
    .fetch_all(&mut *db)
    .await?;
    let months = months.into_iter().map(BillingMonth::of);
    let sequence = ledger::sequence(&mut *db).await?;
    let mut found = Vec::new();
    for month in months.filter(|month| touched.iter().any(|it| it.holds_in(*month))) {
        let sums = costs_by_owner(&mut *db, answers, month, &providers, sequence).await?;
        let is_over = month.days().end <= now.date_naive();
        let of_month = moved(&sums, month, (before, after), is_over);
        if of_month.is_empty() {
            continue;
        }
        let was_final = final_since(&mut *db, month, sequence).await?.is_some();
        found.extend(of_month.into_iter().map(|it| MonthOfAdjustments { was_final, ..it }));
    }
    Ok(found)
}

/// What internal prices make of the months of clusters, before a change of the rate cards and after it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InternalPriceImpact {
    /// The latest first. The differences of a month sum to 0.
    pub months: Vec<MonthOfAdjustments>,
    /// Clusters and months that stay charged by their cost, each with the reason.
    pub by_cost: Vec<(String, BillingMonth, String)>,
}

/// Charges each month of clusters by internal prices of before a change and after it.
pub async fn internal_price_impact(
    db: &mut PgConnection,
    answers: &Answers,
    (before, after): (&Rates, &Rates),
    now: DateTime<Utc>,
) -> sqlx::Result<InternalPriceImpact> {
    let [before, after] = [before, after].map(|rates| adjustments::internal_rates(rates.iter()));
    let mut impact = InternalPriceImpact::default();
    if before == after {
        return Ok(impact);
    }
    let [before, after] = [before, after].map(|rates| Arc::new(Rates::new(rates)));
    let sequence = ledger::sequence(&mut *db).await?;
    let unallocated = Grouping::Team.missing();
    for bill in adjustments::bills(&mut *db, now).await?.into_iter().rev() {
        if bill.provider != onprem::PROVIDER || bill.active.is_empty() {
            continue;
        }
        let mut priced = [&before, &after].map(|rates| InternalPricing::new(bill.month, rates));
        // By key: a month of a large cluster has many days.
        let mut keys: HashMap<Uuid, (String, Decimal, [Decimal; 2])> = HashMap::new();
        let mut days = adjustments::days(&mut *db, &bill);
        while let Some(day) = days.try_next().await? {
            let amounts = [priced[0].difference(&day), priced[1].difference(&day)];
            let of_key = keys.entry(day.key_id).or_default();
            of_key.1 += day.effective;
            add(&mut of_key.2, amounts);
            of_key.0 = day.key.currency;
        }
        drop(days);
        let [then, with] = priced.map(InternalPricing::finish);
        if let Err(why) = &with {
            impact.by_cost.push((bill.billing_account.clone(), bill.month, why.to_string()));
        }
        let is_priced = [then, with].map(|it| it.unwrap_or(false));
        let labels = labels(&mut *db, answers, bill.month, sequence, keys.keys().copied()).await?;
        let mut by_currency: BTreeMap<&str, (Decimal, BTreeMap<&str, [Decimal; 2]>)> = BTreeMap::new();
        for (key, (currency, cost, amounts)) in &keys {
            let label = labels.get(key).map_or(unallocated.as_str(), String::as_str);
            let (base, owners) = by_currency.entry(currency).or_default();
            *base += *cost;
            let moved = [0, 1].map(|at| if is_priced[at] { amounts[at] } else { Decimal::ZERO });
            add(owners.entry(label).or_default(), moved);
            add(owners.entry(adjustments::DIFFERENCE).or_default(), moved.map(|it| -it));
        }
        let was_final = final_since(&mut *db, bill.month, sequence).await?.is_some();
        for (currency, (base, owners)) in by_currency {
            let of_month = month_of((bill.month, currency), base, owners);
            impact.months.extend(of_month.map(|it| MonthOfAdjustments { was_final, ..it }));
        }
    }
    Ok(impact)
}

/// What an account is charged of what belongs to an owner, taxes left out.
struct OwnedCost {
    provider: String,
    billing_account: String,
    currency: String,
    owner: String,
    billed: Decimal,
    effective: Decimal,
}

/// The difference in a month, by currency; those in which nothing moves are left out.
fn moved(
    sums: &[OwnedCost],
    month: BillingMonth,
    (before, after): (&Adjustments, &Adjustments),
    is_over: bool,
) -> Vec<MonthOfAdjustments> {
    let mut by_currency: BTreeMap<&str, (Decimal, BTreeMap<&str, [Decimal; 2]>)> = BTreeMap::new();
    let mut accounts: BTreeMap<(&str, &str), BTreeMap<&str, Decimal>> = BTreeMap::new();
    for it in sums {
        let account = accounts.entry((&it.provider, &it.billing_account)).or_default();
        *account.entry(&it.currency).or_default() += it.billed;
        let amounts = [before, after].map(|document| {
            let entries = document.of_bill(&it.provider, &it.billing_account, month);
            let factor: Decimal = entries.iter().filter_map(|entry| entry.terms.factor()).sum();
            // A bill of so many digits is not adjusted.
            it.effective.checked_multiply(factor).unwrap_or_default()
        });
        let (base, owners) = by_currency.entry(&it.currency).or_default();
        if amounts[0] != amounts[1] {
            *base += it.effective;
        }
        add(owners.entry(&it.owner).or_default(), amounts);
    }
    // What a minimum lacks follows from an account as a whole, and is of its own currency whatever else the bill has.
    for ((provider, account), billed) in accounts.iter().filter(|_| is_over) {
        let mut lacking: BTreeMap<&str, [Decimal; 2]> = BTreeMap::new();
        for (at, document) in [before, after].into_iter().enumerate() {
            for entry in document.of_bill(provider, account, month) {
                let Terms::Minimum { currency, .. } = &entry.terms else { continue };
                let currency = currency.as_str();
                // In another currency than the bill it is not charged.
                let Some(billed) = billed.get(currency).copied() else { continue };
                lacking.entry(currency).or_default()[at] +=
                    entry.terms.lacking(currency, billed).unwrap_or_default();
            }
        }
        for (currency, amounts) in lacking {
            let (_, owners) = by_currency.entry(currency).or_default();
            add(owners.entry(adjustments::MINIMUM).or_default(), amounts);
        }
    }
    let months = by_currency.into_iter();
    months.filter_map(|(currency, (base, owners))| month_of((month, currency), base, owners)).collect()
}

/// A month of what was summed by owner; `None` where nothing moves.
fn month_of(
    (month, currency): (BillingMonth, &str),
    base: Decimal,
    owners: BTreeMap<&str, [Decimal; 2]>,
) -> Option<MonthOfAdjustments> {
    // The whole of the month, also where an owner's part stays as it is.
    let mut whole = [Decimal::ZERO; 2];
    for amounts in owners.values() {
        add(&mut whole, *amounts);
    }
    let [before, after] = whole;
    let moved = owners.into_iter().filter(|(_, [before, after])| before != after);
    let mut owners: Vec<_> = moved
        .map(|(label, [before, after])| OwnerOfAdjustments { label: label.to_owned(), before, after })
        .collect();
    owners.sort_by_key(|it| std::cmp::Reverse((it.after - it.before).abs()));
    let currency = currency.to_owned();
    (!owners.is_empty()).then_some(MonthOfAdjustments {
        month,
        currency,
        was_final: false,
        base,
        before,
        after,
        owners,
    })
}

fn add(sums: &mut [Decimal; 2], amounts: [Decimal; 2]) {
    for (sum, amount) in sums.iter_mut().zip(amounts) {
        *sum += amount;
    }
}

/// What the bills of some providers charge in a month, taxes left out, by account and owner.
async fn costs_by_owner(
    db: &mut PgConnection,
    answers: &Answers,
    month: BillingMonth,
    providers: &[String],
    sequence: i64,
) -> sqlx::Result<Vec<OwnedCost>> {
    let configuration = answers.configuration(db, sequence).await?;
    let visible = ActiveImports::find(&mut *db, month, month, sequence).await?;
    let rates = exchange::rates(&mut *db, month, month, sequence).await?;
    // The sums that pages read, of which few are looked at again: taxes.
    let allocated = allocation::allocate(&mut *db, &configuration, month, &visible, &rates, sequence).await?;
    let names = Names::of(&configuration, month, month);
    let rows = sqlx::query!(
        r#"with costs as (
               select scope_id, currency, attribution_id, billed_cost, effective_cost
               from attributed_costs
               where part_id = any($3)
               union all
               select c.scope_id, c.currency, ka.attribution_id, -c.billed_cost, -c.effective_cost
               from keyed_costs c
               join key_attributions ka on ka.set_id = $5 and ka.charge_key_id = c.charge_key_id
               where c.basis_id = $4 and c.category = 'Tax'
           )
           select s.provider, s.billing_account, c.currency as "currency!", a.team, a.pool,
               sum(c.billed_cost) as "billed!: Decimal", sum(c.effective_cost) as "effective!: Decimal"
           from costs c
           join scopes s using (scope_id)
           join attributions a using (attribution_id)
           where s.billing_month = $1 and s.adjusts is null and lower(s.provider) = any($2)
           group by 1, 2, 3, 4, 5"#,
        month.first_day(),
        providers,
        &*allocated.parts,
        allocated.basis_id,
        allocated.set_id,
    )
    .fetch_all(db)
    .await?;
    let sums = rows.into_iter().map(|row| OwnedCost {
        owner: names.owner(&row.team, &row.pool),
        provider: row.provider,
        billing_account: row.billing_account,
        currency: row.currency,
        billed: row.billed,
        effective: row.effective,
    });
    Ok(sums.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adjustments::Adjustment;
    use crate::money::{Currency, number};

    fn cost(account: &str, owner: &str, effective: &str) -> OwnedCost {
        OwnedCost {
            provider: "AWS".to_owned(),
            billing_account: account.to_owned(),
            currency: "USD".to_owned(),
            owner: owner.to_owned(),
            billed: number(effective),
            effective: number(effective),
        }
    }

    fn entry(account: &str, terms: Terms) -> Adjustment {
        Adjustment {
            provider: "aws".to_owned(),
            billing_account: account.to_owned(),
            terms,
            first_month: "2026-08".parse().unwrap(),
            last_month: None,
            reason: "contract".to_owned(),
            contract: String::new(),
        }
    }

    fn of(entries: impl IntoIterator<Item = Adjustment>) -> Adjustments {
        Adjustments { entries: (1..).zip(entries).collect() }
    }

    fn lines(before: &Adjustments, after: &Adjustments, is_over: bool) -> Vec<(String, String, String)> {
        let sums = [cost("1", "Vision", "100"), cost("2", "Vision", "10"), cost("2", "Speech", "30.5")];
        let found = moved(&sums, "2026-09".parse().unwrap(), (before, after), is_over);
        let text = |it: &OwnerOfAdjustments| {
            let [before, after] = [it.before, it.after].map(|amount| amount.normalize().to_string());
            (it.label.clone(), before, after)
        };
        found.iter().flat_map(|it| &it.owners).map(text).collect()
    }

    #[test]
    fn percentages_move_what_belongs_to_each_owner_in_their_accounts() {
        let eight = entry("", Terms::Discount { percent: number("8") });
        let markup = entry("2", Terms::Markup { percent: number("2.5") });
        let text =
            |label: &str, before: &str, after: &str| (label.to_owned(), before.to_owned(), after.to_owned());
        assert_eq!(
            lines(&of([]), &of([eight.clone()]), true),
            [text("Vision", "0", "-8.8"), text("Speech", "0", "-2.44")]
        );
        assert_eq!(
            lines(&of([eight.clone()]), &of([eight.clone(), markup]), true),
            [text("Speech", "-2.44", "-1.6775"), text("Vision", "-8.8", "-8.55")]
        );
        assert_eq!(lines(&of([eight.clone()]), &of([eight]), true), []);
    }

    #[test]
    fn minimums_count_once_a_month_is_over_and_only_what_is_missing() {
        let minimum = |account: &str, amount: &str| {
            entry(account, Terms::Minimum { amount: number(amount), currency: Currency::exactly("USD") })
        };
        let after = of([minimum("2", "50"), minimum("1", "99")]);
        assert_eq!(lines(&of([]), &after, false), []);
        assert_eq!(
            lines(&of([]), &after, true),
            [(adjustments::MINIMUM.to_owned(), "0".to_owned(), "9.5".to_owned())],
            "account 1 is billed more than its minimum"
        );
    }
}
