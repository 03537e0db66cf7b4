//! The equation of adjustments: what is booked beside each bill is what it is adjusted by, computed again from the charges.

use chrono::{DateTime, Utc};
use sqlx::{Connection as _, PgConnection};

use super::document::Adjustments;
use super::due::find;
use super::entry::Terms;
use crate::changes::Document as _;
use crate::ledger::Equation;
use crate::money::Decimal;
use crate::period::BillingMonth;

const WHAT: &str = "adjustments booked = percentages of the bill + what minimums lack";

/// Computes what each bill that was adjusted is adjusted by from its monthly sums, and compares it with what is booked. Bills whose
/// adjustments wait to be computed again have no equation, nor have those whose adjustments somebody undid; internal prices sum to 0,
/// and so are in each.
pub async fn check(db: &mut PgConnection, now: DateTime<Utc>) -> sqlx::Result<Vec<Equation>> {
    let mut tx = db.begin_with("begin isolation level repeatable read read only").await?;
    let waiting: Vec<i64> = find(&mut tx, now).await?.iter().map(|it| it.bill.scope_id).collect();
    let (_, adjustments) = Adjustments::current(&mut tx).await?;
    let rows = sqlx::query!(
        r#"with base as (
               select a.scope_id, k.currency, sum(m.billed_cost) as billed, sum(m.effective_cost) as effective
               from adjusted_bills a
               join visibility v on v.scope_id = a.scope_id and v.until_sequence is null
               join monthly_costs m on m.scope_id = v.scope_id and m.delivery_id = v.delivery_id
               join charge_keys k using (charge_key_id)
               where k.category <> 'Tax'
               group by 1, 2
           ),
           booked as (
               select s.adjusts as scope_id, k.currency, sum(m.billed_cost) as billed, sum(m.effective_cost) as effective
               from scopes s
               join visibility v on v.scope_id = s.scope_id and v.until_sequence is null
               join monthly_costs m on m.scope_id = v.scope_id and m.delivery_id = v.delivery_id
               join charge_keys k using (charge_key_id)
               where s.adjusts is not null and not s.is_usage
               group by 1, 2
           )
           select s.scope_id, s.provider, s.billing_account, s.billing_month, coalesce(base.currency, booked.currency) as "currency!",
               coalesce(base.billed, 0) as "base_billed!: Decimal", coalesce(base.effective, 0) as "base_effective!: Decimal",
               coalesce(booked.billed, 0) as "billed!: Decimal", coalesce(booked.effective, 0) as "effective!: Decimal"
           from base
           full join booked using (scope_id, currency)
           join scopes s using (scope_id)
           left join adjusted_bills a using (scope_id)
           where a.problem is null
             and (
                 a.delivery_id is null
                 or exists (select from visibility v where v.delivery_id = a.delivery_id and v.until_sequence is null)
             )
           order by s.billing_month, s.provider, s.billing_account, 5"#
    )
    .fetch_all(&mut *tx)
    .await?;
    let mut equations = Vec::new();
    for row in rows.into_iter().filter(|row| !waiting.contains(&row.scope_id)) {
        let month = BillingMonth::of(row.billing_month);
        let entries = adjustments.of_bill(&row.provider, &row.billing_account, month);
        let factor: Decimal = entries.iter().filter_map(|it| it.terms.factor()).sum();
        let is_over = month.days().end <= now.date_naive();
        // What is compared is computed in another way than what was booked.
        let lacking: Decimal = entries
            .iter()
            .filter_map(|it| match &it.terms {
                Terms::Minimum { amount, currency } if is_over && currency.as_str() == row.currency => {
                    Some((*amount - row.base_billed).max(Decimal::ZERO))
                }
                _ => None,
            })
            .sum();
        for (cost, booked, base) in
            [("billed", row.billed, row.base_billed), ("effective", row.effective, row.base_effective)]
        {
            let of = format!("{} {} {month}, {cost} {}", row.provider, row.billing_account, row.currency);
            // More digits than there is room for equal nothing that was booked.
            let percentages = base.checked_multiply(factor).and_then(|it| it.checked_add(lacking)).ok();
            let expected = percentages.unwrap_or_else(|| booked - Decimal::from(1));
            equations.push(Equation::new(WHAT, of, booked, expected));
        }
    }
    Ok(equations)
}
