//! Scopes that were loaded under another name: the canonical form of an account or a provider became more exact since, so
//! that the same month arrives under a new one and would count beside what is there.
//!
//! So it is with an Azure subscription: a file that lacks the billing account has the subscription for one, and states what a
//! file of the billing account states, too.
//!
//! A delivery that meets such a scope states it, too, as empty. Everything else follows: where it lacks what is active there it
//! asks; replacing takes the place of the old scope, adding counts both, and undo brings it back.

use sqlx::PgConnection;

use crate::billing::{canonical_account, canonical_provider, without_profile};
use crate::period::BillingMonth;

use super::Scope;

/// A scope that was loaded under a former or narrower name, and what the delivery calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Formerly {
    pub name: Scope,
    pub now: Scope,
    pub now_id: i64,
    /// One of them is a subscription of the other's account.
    pub is_subscription: bool,
}

/// States the scopes that were loaded under a former name of one of the delivery's as empty, and answers all that it states so.
pub(super) async fn state_as_empty(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Vec<Formerly>> {
    let rows = sqlx::query!(
        "with own as (
               select s.scope_id, s.provider, s.billing_account, s.billing_month, ds.charges, ds.sub_accounts
               from delivery_scopes ds
               join scopes s using (scope_id)
               join deliveries d using (delivery_id)
               where ds.delivery_id = $1 and d.status in ('loading', 'waiting')
                 -- Adjustments stand beside the bill of their account, and take the place of none.
                 and s.adjusts is null
           )
           select s.scope_id, s.provider, s.billing_account, s.billing_month,
               own.scope_id as own_id, own.provider as own_provider, own.billing_account as own_account,
               s.provider = $2 and own.provider = $2
                   and (s.billing_account = any(own.sub_accounts) or own.billing_account = any(held.sub_accounts)) as is_within
           from own
           join scopes s on s.billing_month = own.billing_month and s.scope_id <> own.scope_id
           cross join lateral (
               select array_agg(distinct sub_account) as sub_accounts
               from delivery_scopes there
               join deliveries d on d.delivery_id = there.delivery_id
               cross join unnest(there.sub_accounts) sub_account
               where there.scope_id = s.scope_id and d.status = 'loaded' and s.provider = $2 and own.provider = $2
           ) held
           where own.charges > 0 and s.adjusts is null
             and s.scope_id not in (select scope_id from own where charges > 0)
             and exists (
                 select
                 from delivery_scopes there
                 join deliveries d on d.delivery_id = there.delivery_id
                 where there.scope_id = s.scope_id and there.charges > 0 and d.status = 'loaded'
             )
           order by s.scope_id",
        delivery_id,
        AZURE,
    )
    .fetch_all(&mut *db)
    .await?;
    let mut found = Vec::new();
    for row in rows {
        let month = BillingMonth::of(row.billing_month);
        let name = Scope { provider: row.provider, billing_account: row.billing_account, month };
        let now = Scope { provider: row.own_provider, billing_account: row.own_account, month };
        let is_subscription = row.is_within.unwrap_or_default();
        if !is_subscription && !is_former_name(&name, &now) {
            continue;
        }
        sqlx::query!(
            "insert into delivery_scopes (delivery_id, scope_id, sub_accounts, days, charges, is_provisional)
             values ($1, $2, '{}', '{}', 0, false) on conflict do nothing",
            delivery_id,
            row.scope_id,
        )
        .execute(&mut *db)
        .await?;
        found.push(Formerly { name, now, now_id: row.own_id, is_subscription });
    }
    Ok(found)
}

/// Whether what is stored as one scope would be called another today, as a whole or in part: Azure's billing account
/// holds its profiles.
pub(super) fn is_former_name(stored: &Scope, now: &Scope) -> bool {
    let provider = canonical_provider(&stored.provider);
    let mut account = String::new();
    if provider != now.provider
        || canonical_account(&provider, &stored.billing_account, "", &mut account).is_err()
    {
        return false;
    }
    let is_part = |part: &str, whole: &str| without_profile(&provider, part) == whole;
    is_part(&now.billing_account, &account)
        || account == now.billing_account
        || is_part(&account, &now.billing_account)
}

/// Azure alone has files of a subscription that do not name who pays for it. As [`canonical_provider`] has it.
const AZURE: &str = "Microsoft";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn former_names_are_those_that_would_be_called_so_today() {
        let scope = |(provider, account): (&str, &str)| Scope {
            provider: provider.to_owned(),
            billing_account: account.to_owned(),
            month: "2026-09".parse().unwrap(),
        };
        for (stored, now, expected) in [
            (("Microsoft", "5b1e_2019"), ("Microsoft", "5b1e_2019/ab12"), true),
            (("Microsoft", "5b1e_2019/ab12"), ("Microsoft", "5b1e_2019"), true),
            (("Microsoft", "5b1e_2019/ab12"), ("Microsoft", "5b1e_2019/zz99"), false),
            (("CoreWeave, Inc.", "a1"), ("CoreWeave", "a1"), true),
            (("CoreWeave, Inc.", "a2"), ("CoreWeave", "a1"), false),
            (("Google Cloud", "01ab-cdef"), ("Google Cloud", "01AB-CDEF"), true),
            (("AWS", "1234-5678-9012"), ("AWS", "123456789012"), true),
            (("NeoCloud", "a1"), ("CoreWeave", "a1"), false),
        ] {
            assert_eq!(is_former_name(&scope(stored), &scope(now)), expected, "{stored:?} {now:?}");
        }
    }
}
