//! What is active, brought up to date where a publish or an undo touches it, against all of it by its definition.

use gpuledger::ledger::{self, Decision, Undone};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sqlx::{PgConnection, PgPool};

use crate::support::now;

/// What is active by its definition, over all history: written down here once more, and compared.
const DEFINITION: &str = "
    with recursive in_place as (
        select ds.scope_id, ds.delivery_id
        from delivery_scopes ds
        join deliveries d using (delivery_id)
        where d.status = 'loaded'
          and not exists (
              select
              from delivery_scopes replacing
              join deliveries later on later.delivery_id = replacing.delivery_id
              where replacing.scope_id = ds.scope_id
                and later.status = 'loaded'
                and later.published_sequence > d.published_sequence
                and not replacing.is_addition
                and (replacing.slice is null or replacing.slice = ds.slice)
          )
    ),
    completed as (
        select d.delivery_id, m.corrects_delivery_id, m.corrects_file_no, m.corrects_row_no
        from deliveries d
        join corrected_rejections m on m.delivery_id = d.delivery_id
        where d.completes and d.status = 'loaded'
        union
        select c.delivery_id, m.corrects_delivery_id, m.corrects_file_no, m.corrects_row_no
        from completed c
        join corrected_rejections m
          on m.delivery_id = c.corrects_delivery_id and m.file_no = c.corrects_file_no and m.row_no = c.corrects_row_no
    ),
    stranded as (
        select c.delivery_id
        from completed c
        left join corrected_rejections m
          on m.delivery_id = c.corrects_delivery_id and m.file_no = c.corrects_file_no and m.row_no = c.corrects_row_no
        where m.delivery_id is null
          and c.corrects_delivery_id not in (select p.delivery_id from in_place p)
    )
    select p.scope_id, p.delivery_id
    from in_place p
    where p.delivery_id not in (select s.delivery_id from stranded s)
    order by 1, 2";

/// A delivery of some scopes, and how it adds up.
#[derive(Clone, Debug)]
struct Planned {
    scopes: Vec<i64>,
    is_addition: bool,
    slice: Option<&'static str>,
    /// Which of those before it this one completes, by place.
    completes: Option<usize>,
}

#[derive(Clone, Debug)]
struct Plan {
    deliveries: Vec<Planned>,
    /// Places of deliveries, each to be published where it is not, else undone.
    steps: Vec<usize>,
}

const SCOPES: i64 = 5;
const DELIVERIES: usize = 9;

fn plans() -> impl Strategy<Value = Plan> {
    let slices = prop_oneof![4 => Just(None), 1 => Just(Some("a")), 1 => Just(Some("b"))];
    let completes = prop_oneof![2 => Just(None), 1 => (0..DELIVERIES).prop_map(Some)];
    let delivery = (
        proptest::sample::subsequence((1..=SCOPES).collect::<Vec<_>>(), 1..3),
        any::<bool>(),
        slices,
        completes,
    )
        .prop_map(|(scopes, is_addition, slice, completes)| Planned {
            scopes,
            is_addition,
            slice,
            completes,
        });
    let deliveries = proptest::collection::vec(delivery, DELIVERIES);
    let steps = proptest::collection::vec(0..DELIVERIES, 1..25);
    (deliveries, steps).prop_map(|(deliveries, steps)| Plan { deliveries, steps })
}

async fn run(db: &mut PgConnection, plan: &Plan) -> Result<(), String> {
    sqlx::raw_sql(
        "truncate deliveries, scopes, ledger_log restart identity cascade; truncate visibility;
         insert into scopes (provider, billing_account, billing_month)
         select 'p', 'a' || n, '2026-09-01' from generate_series(1, 5) n;",
    )
    .execute(&mut *db)
    .await
    .unwrap();
    for (place, planned) in plan.deliveries.iter().enumerate() {
        let corrected =
            planned.completes.filter(|corrected| *corrected < place).map(|corrected| corrected as i64 + 1);
        let delivery = place as i64 + 1;
        sqlx::query(
            "insert into deliveries (batch_id, status, created_at, created_by, completes)
             values (gen_random_uuid(), 'waiting', now(), 'test', $1)",
        )
        .bind(corrected.is_some())
        .execute(&mut *db)
        .await
        .unwrap();
        sqlx::query(
            "insert into delivery_scopes (delivery_id, scope_id, slice, sub_accounts, days, charges, is_provisional)
             select $1, unnest($2::bigint[]), $3, '{}', '{}', 1, false",
        )
        .bind(delivery)
        .bind(&planned.scopes)
        .bind(planned.slice)
        .execute(&mut *db)
        .await
        .unwrap();
        sqlx::query(
            "insert into rejections (delivery_id, file_no, row_no, column_name, found, expected)
             values ($1, 0, 1, 'c', 'f', 'e')",
        )
        .bind(delivery)
        .execute(&mut *db)
        .await
        .unwrap();
        if let Some(corrected) = corrected {
            // Of some its own row was rejected again, so that one completes through another.
            sqlx::query("insert into corrected_rejections values ($1, 0, 1, $2, 0, 1)")
                .bind(delivery)
                .bind(corrected)
                .execute(&mut *db)
                .await
                .unwrap();
        }
    }
    let mut is_published = [false; DELIVERIES];
    for (number, place) in plan.steps.iter().enumerate() {
        let (planned, delivery) = (&plan.deliveries[*place], *place as i64 + 1);
        if is_published[*place] {
            let undone = ledger::undo(db, delivery, "test", now()).await.unwrap();
            if undone == Undone::Already {
                continue;
            }
        } else {
            let adds = planned.is_addition || planned.completes.is_some_and(|corrected| corrected < *place);
            let decision = if adds { Decision::Add } else { Decision::Replace };
            ledger::publish(db, delivery, Some(decision), None, "test", now()).await.unwrap();
            is_published[*place] = true;
        }
        let current =
            "select scope_id, delivery_id from visibility where until_sequence is null order by 1, 2";
        let current: Vec<(i64, i64)> = sqlx::query_as(current).fetch_all(&mut *db).await.unwrap();
        let defined: Vec<(i64, i64)> = sqlx::query_as(DEFINITION).fetch_all(&mut *db).await.unwrap();
        let view = "select scope_id, delivery_id from visible_deliveries order by 1, 2";
        let view: Vec<(i64, i64)> = sqlx::query_as(view).fetch_all(&mut *db).await.unwrap();
        if current != defined || view != defined {
            return Err(format!(
                "step {number}, delivery {delivery}: {current:?}, {view:?}, not {defined:?}"
            ));
        }
    }
    Ok(())
}

#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn what_counts_is_what_its_definition_says_after_any_publishes_and_undos(db: PgPool) {
    let handle = tokio::runtime::Handle::current();
    let checked = tokio::task::spawn_blocking(move || {
        let mut runner =
            TestRunner::new(Config { cases: 60, failure_persistence: None, ..Config::default() });
        runner.run(&plans(), |plan| {
            let outcome = handle.block_on(async {
                let mut db = db.acquire().await.unwrap();
                run(&mut db, &plan).await
            });
            outcome.map_err(TestCaseError::fail)
        })
    });
    checked.await.unwrap().unwrap();
}

/// A publish holds the ledger's lock, so it compares what it can change and not all history.
#[sqlx::test(migrator = "gpuledger::MIGRATOR")]
async fn a_publish_compares_only_the_scopes_that_it_touches(db: PgPool) {
    let mut db = db.acquire().await.unwrap();
    sqlx::raw_sql(
        "insert into scopes (provider, billing_account, billing_month)
         select 'p', 'a' || n, date '2020-01-01' + n % 60 * interval '1 month' from generate_series(1, 6000) n;
         insert into deliveries (batch_id, status, created_at, created_by, published_sequence)
         select gen_random_uuid(), 'loaded', now(), 'test', n from generate_series(1, 6000) n;
         insert into delivery_scopes (delivery_id, scope_id, sub_accounts, days, charges, is_provisional)
         select n, n, '{}', '{}', 1, false from generate_series(1, 6000) n;
         insert into visibility select n, n, n from generate_series(1, 6000) n;
         insert into deliveries (batch_id, status, created_at, created_by)
         values (gen_random_uuid(), 'waiting', now(), 'test');
         insert into delivery_scopes (delivery_id, scope_id, sub_accounts, days, charges, is_provisional)
         values (6001, 17, '{}', '{}', 1, false);
         update ledger set sequence = 6000;
         analyze;",
    )
    .execute(&mut *db)
    .await
    .unwrap();
    let touched: Vec<i64> =
        sqlx::query_scalar("select * from touched_scopes(6001)").fetch_all(&mut *db).await.unwrap();
    assert_eq!(touched, [17]);
    let rows_read = || {
        "select sum(seq_tup_read + idx_tup_fetch)::bigint from pg_stat_xact_user_tables
         where relname in ('visibility', 'delivery_scopes', 'scopes')"
    };
    let mut tx = sqlx::Connection::begin(&mut *db).await.unwrap();
    let before: i64 = sqlx::query_scalar(rows_read()).fetch_one(&mut *tx).await.unwrap();
    ledger::publish(&mut tx, 6001, Some(Decision::Replace), None, "test", now()).await.unwrap();
    let after: i64 = sqlx::query_scalar(rows_read()).fetch_one(&mut *tx).await.unwrap();
    assert!(after - before < 1000, "{} rows were read to publish one scope of 6000", after - before);
    let counts: Vec<(i64, Option<i64>)> =
        sqlx::query_as("select delivery_id, until_sequence from visibility where scope_id = 17 order by 1")
            .fetch_all(&mut *tx)
            .await
            .unwrap();
    assert_eq!(counts, [(17, Some(6001)), (6001, None)]);
}
