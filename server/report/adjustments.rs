//! What adjustments amount to: on bills as they are, and by month and owner before and after a change of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures_util::TryStreamExt as _;
use serde::Serialize;
use sqlx::PgConnection;

use super::completeness::final_since;
use super::rate_change::labels;
use super::snapshot::Names;
use super::{Answers, Grouping};
use crate::adjustments::{self, Adjustments, BilledDay, Edit, Terms, Unpriced};
use crate::allocation;
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
    let pending = adjustments::due(&mut *db, now).await?.len();
    let rows = sqlx::query!(
        r#"with sums as (
               select v.scope_id, t.currency, sum(t.billed_cost) as billed, sum(t.effective_cost) as effective
               from visibility v
               join delivery_totals t on t.scope_id = v.scope_id and t.delivery_id = v.delivery_id
               where v.until_sequence is null
               group by 1, 2
           )
           select s.scope_id, s.provider, s.billing_account, s.billing_month, a.delivery_id, a.problem,
               a.delivery_id is not null and not exists (
                   select from visibility v where v.delivery_id = a.delivery_id and v.until_sequence is null
               ) as "is_undone!",
               coalesce(bill.currency, '') as "currency!",
               coalesce(bill.billed, 0) as "billed!: Decimal", coalesce(bill.effective, 0) as "effective!: Decimal",
               coalesce(adjusted.billed, 0) as "adjusted_billed!: Decimal",
               coalesce(adjusted.effective, 0) as "adjusted_effective!: Decimal",
               count(*) over () as "lines!"
           from adjusted_bills a
           join scopes s using (scope_id)
           left join scopes beside on beside.adjusts = s.scope_id
           left join sums bill on bill.scope_id = s.scope_id
           left join sums adjusted on adjusted.scope_id = beside.scope_id and adjusted.currency = bill.currency
           order by s.billing_month desc, s.provider, s.billing_account, bill.currency
           limit $1"#,
        MOST_BILLS,
    )
    .fetch_all(db)
    .await?;
    let further = rows.first().map_or(0, |row| (row.lines - MOST_BILLS).max(0));
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

/// What minimums lack belongs to the service of that name, which rules may ask for.
const MINIMUM: &str = "Monthly minimum";

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
    let has_any = [&before, &after].map(|rates| !rates.is_empty());
    let [before, after] = [before, after].map(|rates| Arc::new(Rates::new(rates)));
    let sequence = ledger::sequence(&mut *db).await?;
    let unallocated = Grouping::Team.missing();
    for bill in adjustments::bills(&mut *db, now).await?.into_iter().rev() {
        if bill.provider != onprem::PROVIDER || bill.active.is_empty() {
            continue;
        }
        let mut days: Vec<BilledDay> = adjustments::days(&mut *db, &bill).try_collect().await?;
        let mut of = |rates: &Arc<Rates>, has_any: bool| {
            has_any.then(|| adjustments::differences(&mut days, bill.month, rates))
        };
        let [then, with] = [of(&before, has_any[0]), of(&after, has_any[1])];
        if let Some(Err(why @ Unpriced::Hours { .. })) = &with {
            impact.by_cost.push((bill.billing_account.clone(), bill.month, why.to_string()));
        }
        let [then, with] = [then, with].map(|it| it.and_then(Result::ok));
        if then == with {
            continue;
        }
        let keys = days.iter().map(|it| it.key_id);
        let labels = labels(&mut *db, answers, bill.month, sequence, keys).await?;
        let mut by_currency: BTreeMap<&str, BTreeMap<&str, [Decimal; 2]>> = BTreeMap::new();
        for (at, day) in days.iter().enumerate() {
            let difference = |of: &Option<Vec<Decimal>>| of.as_ref().map(|it| it[at]).unwrap_or_default();
            let label = labels.get(&day.key_id).map_or(unallocated.as_str(), String::as_str);
            let owners = by_currency.entry(&day.key.currency).or_default();
            let amounts = [difference(&then), difference(&with)];
            add(owners.entry(label).or_default(), amounts);
            add(owners.entry(adjustments::DIFFERENCE).or_default(), amounts.map(|it| -it));
        }
        let was_final = final_since(&mut *db, bill.month, sequence).await?.is_some();
        for (currency, owners) in by_currency {
            let base = days.iter().filter(|it| it.key.currency == currency).map(|it| it.effective).sum();
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
            it.effective.multiply(factor)
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
                let Terms::Minimum { amount, currency } = &entry.terms else { continue };
                let billed = billed.get(currency.as_str()).copied().unwrap_or_default();
                lacking.entry(currency.as_str()).or_default()[at] += (*amount - billed).max(Decimal::ZERO);
            }
        }
        for (currency, amounts) in lacking {
            let (_, owners) = by_currency.entry(currency).or_default();
            add(owners.entry(MINIMUM).or_default(), amounts);
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
    let moved = owners.into_iter().filter(|(_, [before, after])| before != after);
    let mut owners: Vec<_> = moved
        .map(|(label, [before, after])| OwnerOfAdjustments { label: label.to_owned(), before, after })
        .collect();
    owners.sort_by_key(|it| std::cmp::Reverse((it.after - it.before).abs()));
    let before = owners.iter().map(|it| it.before).sum();
    let after = owners.iter().map(|it| it.after).sum();
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
    let set_id = allocation::cover(&mut *db, &configuration.of_month(month), &visible).await?;
    let names = Names::of(&configuration, month, month);
    let rows = sqlx::query!(
        r#"select k.provider, k.billing_account, k.currency, coalesce(a.team, '') as "team!", coalesce(a.pool, '') as "pool!",
               sum(m.billed_cost) as "billed!: Decimal", sum(m.effective_cost) as "effective!: Decimal"
           from scopes s
           join visibility v using (scope_id)
           join monthly_costs m on m.scope_id = v.scope_id and m.delivery_id = v.delivery_id and m.billing_month = s.billing_month
           join charge_keys k using (charge_key_id)
           left join key_attributions ka on ka.set_id = $3 and ka.charge_key_id = m.charge_key_id
           left join attributions a using (attribution_id)
           where s.billing_month = $1 and s.adjusts is null and v.until_sequence is null
             and lower(s.provider) = any($2) and k.category <> 'Tax'
           group by 1, 2, 3, 4, 5"#,
        month.first_day(),
        providers,
        set_id,
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
            [(MINIMUM.to_owned(), "0".to_owned(), "9.5".to_owned())],
            "account 1 is billed more than its minimum"
        );
    }
}
