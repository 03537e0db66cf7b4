//! What someone should look at or decide, so that the figures become whole: what waits, failed, was
//! proposed or rejected, is absent, cannot be converted, or stayed provisional. Each goes away when it is done.

use crate::changes::{self, Document as _, Kind};
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Agreement, Answers, Completeness, Error, ReconciledLine, unpriced_usage, unrecognized_usage};
use crate::accounts::Viewer;
use crate::exchange::{self, Missing};
use crate::ledger;
use crate::money::{Currency, Decimal, Money};
use crate::onprem::{self, Months, State};
use crate::period::{BillingMonth, Period};
use crate::telemetry::divide;
use crate::telemetry::prometheus::{self, Trouble};
use crate::telemetry::read;

/// Thresholds below, in percent, only tell how far one is.
pub const WARNING: u32 = 80;

/// One thing to look at.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Attention {
    /// A delivery that is active only once someone says whether it replaces or adds.
    Waiting { delivery: i64, files: Vec<String>, since: DateTime<Utc> },
    /// An upload that the machine failed; it can be tried again, or cancelled.
    Failed { batch: Uuid, files: Vec<String>, since: DateTime<Utc> },
    /// Changes of the allocation that somebody proposed and nobody decided.
    Proposed { changes: i64 },
    /// The same of the asset register of our own clusters.
    #[serde(rename = "register-proposed")]
    AssetRegisterProposed { changes: i64 },
    /// The same of the list of prices.
    PricesProposed { changes: i64 },
    /// Rows of an active delivery that could not be read, and that nobody corrected.
    Rejected { delivery: i64, rows: i64, months: Vec<BillingMonth> },
    /// A month of an account that lost more than the limits when an import replaced what it held, and nobody said why.
    /// `lost_by` is that import; `delivery` counts there now, and may be a later one that brought nothing back.
    Shrank {
        delivery: i64,
        lost_by: i64,
        provider: String,
        billing_account: String,
        month: BillingMonth,
        loss: String,
    },
    /// An account that was billed last month, and of which this month has nothing.
    Absent { provider: String, billing_account: String, month: BillingMonth },
    /// Months of a cluster of our own that are over and differ from what the asset register says, all for one reason, in their
    /// order.
    Cluster { cluster: String, name: String, state: State, months: Vec<BillingMonth> },
    /// Months in which a currency was billed that no rate converts, in their order.
    WithoutRate { currency: Currency, months: Vec<BillingMonth> },
    /// Machines and meters that look like accelerators and are none that is known, and what they were billed.
    Unrecognized { names: usize, billed_cost: Vec<Money> },
    /// Usage of a provider that came without cost and that no rate covers: it is in no figure.
    Unpriced { provider: String, months: Vec<BillingMonth>, accelerator_hours: Decimal },
    /// Bills that count without what adjusts them: it could not be computed, or somebody undid it.
    NotAdjusted { bills: i64 },
    /// Bills whose machines could not be divided among those who used them.
    NotDivided { bills: usize },
    /// Nodes that held jobs in the last months and are no machine of the ledger: these have no cost.
    NotMatched { nodes: usize, accelerator_hours: Decimal },
    /// A Prometheus that cannot be read, or has no series of a GPU any more, since then.
    Prometheus { server: i64, name: String, trouble: Trouble },
    /// Invoices that were entered say more or less than what was billed.
    Invoice { provider: String, billing_account: String, month: BillingMonth, difference: Money },
    /// A budget of which four fifths or more are spent, as far as it warns of that, or that will not last.
    Budget {
        budget: i64,
        name: String,
        period: Period,
        spent: Money,
        amount: Money,
        reached: Decimal,
        /// What is expected for the end of a period that goes on.
        forecast: Option<Decimal>,
    },
    /// A month before the last one whose invoices should be out.
    Provisional { provider: String, month: BillingMonth, accounts: usize },
}

/// What needs attention, the most urgent kind first. `data_status` is that of everything in the period, whose last
/// month is compared with the one before it; months of our own clusters are those up to `today`.
pub(super) async fn attention(
    db: &mut PgConnection,
    answers: &Answers,
    period: Period,
    completeness: &[Completeness],
    reporting_currency: &Currency,
    (months, today): (&Months, NaiveDate),
) -> Result<Vec<Attention>, Error> {
    let mut found = waiting(db).await?;
    found.extend(failed(db).await?);
    let changes = changes::waiting(db, Some(Kind::Allocation)).await?;
    found.extend((changes > 0).then_some(Attention::Proposed { changes }));
    let changes = changes::waiting(db, Some(Kind::AssetRegister)).await?;
    found.extend((changes > 0).then_some(Attention::AssetRegisterProposed { changes }));
    let changes = changes::waiting(db, Some(Kind::Prices)).await?;
    found.extend((changes > 0).then_some(Attention::PricesProposed { changes }));
    found.extend(rejected(db, period).await?);
    found.extend(shrank(db).await?);
    let of_clusters = months_of_clusters(db, months, today).await?;
    found.extend(absent(period.last(), completeness).filter(|item| !is_covered(item, &of_clusters)));
    found.extend(due_months(&of_clusters));
    found.extend(without_rate(exchange::missing(db, reporting_currency).await?));
    found.extend(unpriced(db).await?);
    let bills = super::adjustments::not_adjusted(&mut *db).await?;
    found.extend((bills > 0).then_some(Attention::NotAdjusted { bills }));
    let bills = divide::problems(&mut *db).await?.len();
    found.extend((bills > 0).then_some(Attention::NotDivided { bills }));
    found.extend(not_matched(&mut *db, today).await?);
    for server in prometheus::servers(&mut *db).await? {
        let trouble = server.trouble();
        found.extend(trouble.map(|trouble| Attention::Prometheus {
            server: server.server_id,
            name: server.name,
            trouble,
        }));
    }
    found.extend(unrecognized(db).await?);
    found.extend(differing(db, answers, period).await?);
    found.extend(budgets(db, answers).await?);
    let invoiced = with_invoice(db).await?;
    let has_invoice = |scope: &Completeness| {
        invoiced.contains(&(scope.provider.clone(), scope.billing_account.clone(), scope.month))
    };
    let of_others: Vec<Completeness> = completeness
        .iter()
        .filter(|scope| !is_due(scope, &of_clusters) && !has_invoice(scope))
        .cloned()
        .collect();
    found.extend(provisional(period.last().previous(), &of_others));
    Ok(found)
}

/// By provider.
async fn unpriced(db: &mut PgConnection) -> sqlx::Result<Vec<Attention>> {
    let rates = ledger::rates(&mut *db).await?.rates;
    let mut by_provider: BTreeMap<String, (BTreeSet<BillingMonth>, Decimal)> = BTreeMap::new();
    for usage in unpriced_usage(db, &rates).await? {
        let (months, hours) = by_provider.entry(usage.provider).or_default();
        months.insert(usage.month);
        *hours += usage.accelerator_hours;
    }
    let item = |(provider, (months, accelerator_hours)): (String, (BTreeSet<_>, _))| Attention::Unpriced {
        provider,
        months: months.into_iter().collect(),
        accelerator_hours,
    };
    Ok(by_provider.into_iter().map(item).collect())
}

async fn unrecognized(db: &mut PgConnection) -> sqlx::Result<Option<Attention>> {
    let catalog = ledger::catalog(&mut *db).await?;
    let usage = unrecognized_usage(db, &catalog, None).await?;
    let names: BTreeSet<_> = usage.iter().map(|it| (&it.provider, &it.name)).collect();
    let mut billed_cost: BTreeMap<&str, Decimal> = BTreeMap::new();
    for it in &usage {
        *billed_cost.entry(&it.currency).or_default() += it.billed_cost;
    }
    let billed_cost = billed_cost
        .into_iter()
        .map(|(currency, amount)| Money { amount, currency: Currency::exactly(currency) })
        .collect();
    Ok((!names.is_empty()).then_some(Attention::Unrecognized { names: names.len(), billed_cost }))
}

/// A cluster of our own, and how each of its months stands.
struct MonthsOfCluster {
    cluster: String,
    name: String,
    months: Vec<(BillingMonth, State)>,
}

async fn months_of_clusters(
    db: &mut PgConnection,
    known: &Months,
    today: NaiveDate,
) -> sqlx::Result<Vec<MonthsOfCluster>> {
    let (revision, asset_register) = onprem::AssetRegister::current(&mut *db).await?;
    let mut found = Vec::new();
    for it in asset_register.clusters() {
        let months = known.of(&mut *db, (revision, &asset_register), &it.handle, today).await?;
        found.push(MonthsOfCluster {
            cluster: it.handle.clone(),
            name: it.name.clone(),
            months: months.iter().map(|it| (it.month, it.state)).collect(),
        });
    }
    Ok(found)
}

async fn not_matched(db: &mut PgConnection, today: NaiveDate) -> sqlx::Result<Option<Attention>> {
    let sequence = ledger::sequence(&mut *db).await?;
    let nodes = read::nodes(&mut *db, sequence).await?;
    let mut held = read::held_without_machine(db, &nodes, today).await?;
    held.retain(|_, held| held.jobs > 0);
    let accelerator_hours = held.values().map(|it| it.accelerator_hours).sum();
    Ok((!held.is_empty()).then_some(Attention::NotMatched { nodes: held.len(), accelerator_hours }))
}

/// What is to be published, a line a cluster and reason.
fn due_months(clusters: &[MonthsOfCluster]) -> Vec<Attention> {
    let mut found = Vec::new();
    for it in clusters {
        for state in [State::Differs, State::Gone, State::New] {
            let of_state = it.months.iter().filter(|(_, stands)| *stands == state);
            let months: Vec<BillingMonth> = of_state.map(|(month, _)| *month).collect();
            if !months.is_empty() {
                let (cluster, name) = (it.cluster.clone(), it.name.clone());
                found.push(Attention::Cluster { cluster, name, state, months });
            }
        }
    }
    found
}

/// Of a cluster that the asset register knows only a month that goes on is absent: one that is over is to be published, is
/// being loaded, or has nothing.
fn is_covered(item: &Attention, clusters: &[MonthsOfCluster]) -> bool {
    let Attention::Absent { provider, billing_account, month } = item else { return false };
    provider == onprem::PROVIDER
        && clusters
            .iter()
            .filter(|it| it.cluster == *billing_account)
            .any(|it| !it.months.contains(&(*month, State::Running)))
}

/// Whether this is a month of our own that is to be published again, after which it is final.
fn is_due(scope: &Completeness, clusters: &[MonthsOfCluster]) -> bool {
    scope.provider == onprem::PROVIDER
        && clusters
            .iter()
            .filter(|it| it.cluster == scope.billing_account)
            .any(|it| it.months.iter().any(|(month, state)| *month == scope.month && state.is_due()))
}

/// Which months to compare is decided by the deliveries' totals, which are few; how, by the charges of those months.
async fn differing(
    db: &mut PgConnection,
    answers: &Answers,
    period: Period,
) -> Result<Vec<Attention>, Error> {
    let months = sqlx::query_scalar!(
        "with invoiced as (
             select scope_id, currency, sum(amount) as amount from invoices group by 1, 2
         ), stated as (
             select v.scope_id, t.currency, sum(t.billed_cost) as billed_cost
             from visibility v
             join delivery_totals t on t.scope_id = v.scope_id and t.delivery_id = v.delivery_id
             where v.until_sequence is null
             group by 1, 2
         )
         select distinct s.billing_month
         from invoiced
         join scopes s using (scope_id)
         left join stated using (scope_id, currency)
         where s.billing_month >= $1 and s.billing_month < $2
           and invoiced.amount <> round(coalesce(stated.billed_cost, 0), 2)
         order by 1",
        period.days().start,
        period.days().end,
    )
    .fetch_all(&mut *db)
    .await?;
    let mut found = Vec::new();
    for month in months {
        let compared = answers.reconciliation(db, BillingMonth::of(month).into(), None).await?;
        for line in compared.lines {
            if let (Agreement::Differs, Some(difference)) = (line.agreement, line.difference) {
                let ReconciledLine { provider, billing_account, month, .. } = line;
                found.push(Attention::Invoice { provider, billing_account, month, difference });
            }
        }
    }
    Ok(found)
}

async fn budgets(db: &mut PgConnection, answers: &Answers) -> Result<Vec<Attention>, Error> {
    let mut found = Vec::new();
    for line in answers.budgets(db, &Viewer::Everything).await?.budgets {
        let Some(now) = line.current.filter(|now| !now.has_ended) else { continue };
        let warns = now.threshold.is_some_and(|percent| percent >= WARNING);
        if warns || now.is_over_budget || now.is_forecast_over_budget {
            found.push(Attention::Budget {
                budget: line.id,
                name: line.name,
                period: now.period,
                spent: Money { amount: now.spent, currency: line.amount.currency.clone() },
                amount: line.amount,
                reached: now.reached,
                forecast: now.forecast.map(|forecast| forecast.expected),
            });
        }
    }
    Ok(found)
}

async fn waiting(db: &mut PgConnection) -> sqlx::Result<Vec<Attention>> {
    let rows = sqlx::query!(
        r#"select d.delivery_id, d.created_at,
               array(select f.name from delivery_files f where f.delivery_id = d.delivery_id order by f.file_no)
                   as "files!"
           from deliveries d
           where d.status = 'waiting'
           order by d.delivery_id"#
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Attention::Waiting { delivery: row.delivery_id, files: row.files, since: row.created_at })
        .collect())
}

/// Of what is active now, whichever month it is of: a loss stays one.
async fn shrank(db: &mut PgConnection) -> sqlx::Result<Vec<Attention>> {
    let rows = sqlx::query!(
        "select shrunk.delivery_id, shrunk.lost_by, s.provider, s.billing_account, s.billing_month, shrunk.loss
         from shrunk_scopes shrunk
         join visibility v using (delivery_id, scope_id)
         join scopes s using (scope_id)
         where shrunk.explanation is null and v.until_sequence is null
         order by s.billing_month desc, s.provider, s.billing_account, shrunk.lost_by"
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Attention::Shrank {
            delivery: row.delivery_id,
            lost_by: row.lost_by,
            provider: row.provider,
            billing_account: row.billing_account,
            month: BillingMonth::of(row.billing_month),
            loss: row.loss,
        })
        .collect())
}

async fn failed(db: &mut PgConnection) -> sqlx::Result<Vec<Attention>> {
    let rows = sqlx::query!(
        r#"select batch_id, coalesce(finished_at, created_at) as "since!",
               array(select file ->> 'name' from jsonb_array_elements(files) file) as "files!: Vec<String>"
           from jobs
           where status = 'failed'
           order by job_id"#
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Attention::Failed { batch: row.batch_id, files: row.files, since: row.since })
        .collect())
}

async fn rejected(db: &mut PgConnection, period: Period) -> sqlx::Result<Vec<Attention>> {
    let rows = sqlx::query!(
        r#"select m.delivery_id as "delivery_id!", m.missing as "missing!",
               array_agg(distinct s.billing_month order by s.billing_month) as "months!"
           from visibility v
           join scopes s using (scope_id)
           join missing_rows((select sequence from ledger)) m using (delivery_id)
           where v.until_sequence is null
             and s.billing_month >= $1 and s.billing_month < $2
           group by 1, 2
           order by max(s.billing_month) desc, 1 desc"#,
        period.days().start,
        period.days().end,
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Attention::Rejected {
            delivery: row.delivery_id,
            rows: row.missing,
            months: row.months.into_iter().map(BillingMonth::of).collect(),
        })
        .collect())
}

/// Who was billed in the month before this one, and is not in it.
fn absent(month: BillingMonth, completeness: &[Completeness]) -> impl Iterator<Item = Attention> {
    let is_same = |a: &Completeness, b: &Completeness| {
        (&a.provider, &a.billing_account) == (&b.provider, &b.billing_account)
    };
    let is_there = move |before: &Completeness| {
        completeness.iter().any(|now| now.month == month && is_same(now, before))
    };
    let before = completeness.iter().filter(move |scope| scope.month == month.previous());
    before.filter(move |scope| !is_there(scope)).map(move |scope| Attention::Absent {
        provider: scope.provider.clone(),
        billing_account: scope.billing_account.clone(),
        month,
    })
}

/// Months without a rate, by currency; `missing` begins with the latest.
fn without_rate(missing: Vec<Missing>) -> impl Iterator<Item = Attention> {
    let mut months_of = BTreeMap::<Currency, Vec<BillingMonth>>::new();
    for Missing { month, currency } in missing.into_iter().rev() {
        months_of.entry(currency).or_default().push(month);
    }
    months_of.into_iter().map(|(currency, months)| Attention::WithoutRate { currency, months })
}

/// Accounts and months whose invoice somebody entered. Some exports, as Google's, never name it.
async fn with_invoice(db: &mut PgConnection) -> sqlx::Result<BTreeSet<(String, String, BillingMonth)>> {
    let rows = sqlx::query!(
        "select distinct s.provider, s.billing_account, s.billing_month from invoices join scopes s using (scope_id)"
    )
    .fetch_all(db)
    .await?;
    let scopes = rows.into_iter();
    Ok(scopes.map(|row| (row.provider, row.billing_account, BillingMonth::of(row.billing_month))).collect())
}

/// What is provisional in the months before this one.
fn provisional(before: BillingMonth, completeness: &[Completeness]) -> Vec<Attention> {
    let mut found: Vec<Attention> = Vec::new();
    for scope in completeness.iter().filter(|scope| scope.is_provisional && scope.month < before) {
        let known = found.iter_mut().find_map(|item| match item {
            Attention::Provisional { provider, month, accounts }
                if *provider == scope.provider && *month == scope.month =>
            {
                Some(accounts)
            }
            _ => None,
        });
        match known {
            Some(accounts) => *accounts += 1,
            None => found.push(Attention::Provisional {
                provider: scope.provider.clone(),
                month: scope.month,
                accounts: 1,
            }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(provider: &str, account: &str, month: &str, is_provisional: bool) -> Completeness {
        Completeness {
            provider: provider.to_owned(),
            billing_account: account.to_owned(),
            month: month.parse().unwrap(),
            is_provisional,
            last_day: None,
            delivered_at: None,
            rejected_rows: 0,
            deliveries: Vec::new(),
        }
    }

    #[test]
    fn who_was_billed_last_month_is_absent_where_this_month_has_nothing_of_them() {
        let completeness = [
            scope("AWS", "a", "2026-09", true),
            scope("AWS", "a", "2026-08", false),
            scope("AWS", "b", "2026-08", false),
            scope("Azure", "a", "2026-08", false),
            scope("AWS", "c", "2026-07", false),
        ];
        let absent: Vec<_> = absent("2026-09".parse().unwrap(), &completeness)
            .map(|item| match item {
                Attention::Absent { provider, billing_account, .. } => {
                    format!("{provider} {billing_account}")
                }
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(absent, ["AWS b", "Azure a"]);
    }

    #[test]
    fn months_without_a_rate_stand_together_by_currency() {
        let missing = |month: &str, currency: &str| Missing {
            month: month.parse().unwrap(),
            currency: Currency::exactly(currency),
        };
        let found: Vec<_> = without_rate(vec![
            missing("2026-09", "EUR"),
            missing("2026-09", "CHF"),
            missing("2026-07", "EUR"),
        ])
        .collect();
        let item = |currency: &str, months: &[&str]| Attention::WithoutRate {
            currency: Currency::exactly(currency),
            months: months.iter().map(|month| month.parse().unwrap()).collect(),
        };
        assert_eq!(found, [item("CHF", &["2026-09"]), item("EUR", &["2026-07", "2026-09"])]);
    }

    #[test]
    fn months_of_our_own_are_told_by_what_is_to_be_done_and_once() {
        let month = |text: &str| text.parse::<BillingMonth>().unwrap();
        let months = [
            ("2026-05", State::Published),
            ("2026-06", State::Differs),
            ("2026-07", State::New),
            ("2026-08", State::Differs),
            ("2026-09", State::Running),
        ];
        let months = months.map(|(text, state)| (month(text), state)).to_vec();
        let clusters = [MonthsOfCluster { cluster: "east".to_owned(), name: "East".to_owned(), months }];
        let described = |state: State, months: &[&str]| Attention::Cluster {
            cluster: "east".to_owned(),
            name: "East".to_owned(),
            state,
            months: months.iter().map(|text| month(text)).collect(),
        };
        let expected =
            [described(State::Differs, &["2026-06", "2026-08"]), described(State::New, &["2026-07"])];
        assert_eq!(due_months(&clusters), expected);

        let absent = |account: &str, text: &str| Attention::Absent {
            provider: onprem::PROVIDER.to_owned(),
            billing_account: account.to_owned(),
            month: month(text),
        };
        for (account, text, expected) in
            [("east", "2026-07", true), ("east", "2026-09", false), ("loaded", "2026-07", false)]
        {
            assert_eq!(is_covered(&absent(account, text), &clusters), expected, "{account} {text}");
        }
        for (provider, text, expected) in [
            (onprem::PROVIDER, "2026-08", true),
            (onprem::PROVIDER, "2026-05", false),
            ("AWS", "2026-08", false),
        ] {
            assert_eq!(
                is_due(&scope(provider, "east", text, true), &clusters),
                expected,
                "{provider} {text}"
            );
        }
    }

    #[test]
    fn accounts_that_stay_provisional_are_counted_by_provider_and_month() {
        let completeness = [
            scope("AWS", "a", "2026-07", true),
            scope("AWS", "b", "2026-07", true),
            scope("AWS", "c", "2026-07", false),
            scope("AWS", "a", "2026-08", true),
            scope("AWS", "a", "2026-09", true),
        ];
        let month = "2026-07".parse().unwrap();
        let found = provisional("2026-08".parse().unwrap(), &completeness);
        assert_eq!(found, [Attention::Provisional { provider: "AWS".into(), month, accounts: 2 }]);
    }
}
