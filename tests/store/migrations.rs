//! Databases of every version, with a row in each of their tables, brought up to this one.

use std::collections::{BTreeMap, BTreeSet};

use crate::operations::backup::empty_database;
use gpuledger::{MIGRATOR, ledger};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection, PgPool, Row as _};

/// What a column holds where its type alone does not say: by table and column, else by column.
const VALUES: &[(&str, &str)] = &[
    ("users.role", "'admin'"),
    ("deliveries.status", "'loaded'"),
    ("deliveries.published_sequence", "1"),
    ("deliveries.rows_read", "3"),
    ("deliveries.charges", "1"),
    ("deliveries.rejected", "1"),
    ("deliveries.skipped", "1"),
    ("delivery_files.rows_read", "3"),
    ("delivery_files.sha256", "null"),
    ("exchange_rates.currency", "'EUR'"),
    ("ledger_log.action", "'publish'"),
    ("ledger_log.delivery_id", "1"),
    ("mended_rejections.delivery_id", "2"),
    ("corrected_rejections.delivery_id", "2"),
    ("allocation_changes.status", "'discarded'"),
    ("register_changes.status", "'discarded'"),
    ("asset_register_changes.status", "'discarded'"),
    ("price_changes.status", "'discarded'"),
    ("changes.status", "'discarded'"),
    ("changes.kind", "'prices'"),
    ("token_prices.kind", "'input'"),
    ("document_entries.kind", "'prices'"),
    ("attributions.pool", "''"),
    ("attributions.pool_part", "''"),
    ("quantities.owner_kind", "'team'"),
    ("scenario_shares.kind", "'team'"),
    ("category", "'Usage'"),
    ("pricing", "'Standard'"),
    ("currency", "'USD'"),
    ("quoted_in", "'USD'"),
    ("metered_quantity", "0"),
    ("file_no", "0"),
    ("mends_file_no", "0"),
    ("corrects_file_no", "0"),
    ("part", "0"),
    ("day", "'2026-09-05'"),
    ("charge_period_start", "'2026-09-05T10:00:00Z'"),
    ("charge_period_end", "'2026-09-05T11:00:00Z'"),
    ("starts_at", "'2026-09-05T10:00:00Z'"),
    ("ends_at", "'2026-09-05T11:00:00Z'"),
    ("is_whole_period", "false"),
    ("is_provisional", "false"),
    ("files", "'[]'"),
    ("edits", "'[]'"),
    ("email", "'ada@example.org'"),
    ("resource_id", "null"),
    ("daily_resources.resource_id", "'i-1'"),
    ("node_matches.resource_id", "'i-1'"),
    ("usage_imports.status", "'undone'"),
    ("usage_sources.kind", "'slurm'"),
    ("usage_without_cost.quantity", "0"),
    ("usage_without_cost.priced_quantity", "0"),
];

/// Sums that are made again when they are asked for: a migration may empty them.
const MADE_AGAIN: &[&str] =
    &["attributed_costs", "attributed_days", "attributed_months", "attributed_parts", "charged_days"];

/// Tables that have another name now, several of them the same.
const RENAMED: &[(&str, &str)] = &[
    ("mended_rejections", "corrected_rejections"),
    ("register", "documents"),
    ("asset_register", "documents"),
    ("price_list", "documents"),
    ("register_changes", "changes"),
    ("asset_register_changes", "changes"),
    ("allocation_changes", "changes"),
    ("price_changes", "changes"),
    ("register_entries", "document_entries"),
    ("asset_register_entries", "document_entries"),
    ("allocation_entries", "document_entries"),
    ("price_entries", "document_entries"),
];

fn value(table: &str, column: &str, kind: &str) -> String {
    let own = format!("{table}.{column}");
    let known = VALUES.iter().find(|(name, _)| *name == own);
    if let Some((_, value)) = known.or_else(|| VALUES.iter().find(|(name, _)| *name == column)) {
        return (*value).to_owned();
    }
    let value = match kind {
        "text" => "'x'",
        "bigint" | "integer" | "smallint" => "1",
        "numeric" => "12.50",
        "boolean" => "true",
        "date" => "'2026-09-01'",
        "timestamp with time zone" => "'2026-10-01T00:00:00Z'",
        "uuid" => "'00000000-0000-0000-0000-000000000001'",
        "bytea" => "decode(repeat('ab', 32), 'hex')",
        "jsonb" | "text[]" | "date[]" | "bigint[]" | "integer[]" => "'{}'",
        other => panic!("{own}: what does a {other} hold?"),
    };
    value.to_owned()
}

/// The tables of the version, with the columns that must be given.
async fn tables(db: &mut PgConnection) -> BTreeMap<String, Vec<(String, String)>> {
    let rows = sqlx::query(
        "select c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                a.attnotnull and not a.atthasdef
         from pg_class c
         join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
         where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
           and c.relname <> '_sqlx_migrations'
         order by c.relname, a.attnum",
    )
    .fetch_all(db)
    .await
    .unwrap();
    let mut tables: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for row in rows {
        let (table, column, kind): (String, String, String) = (row.get(0), row.get(1), row.get(2));
        let is_told = row.get(3) || VALUES.iter().any(|(name, _)| *name == format!("{table}.{column}"));
        let columns = tables.entry(table).or_default();
        if is_told {
            columns.push((column, kind));
        }
    }
    tables
}

async fn rows_of(db: &mut PgConnection, table: &str) -> i64 {
    let sql = format!("select count(*) from {table}");
    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(db).await.unwrap()
}

/// A row in each table that has none, those first that others refer to.
async fn fill(db: &mut PgConnection) {
    for table in
        ["charges", "monthly_costs", "daily_costs", "monthly_totals", "daily_totals", "daily_resources"]
    {
        let sql = format!(
            "do $$ begin
                if exists (select from pg_attribute
                           where attrelid = to_regclass('{table}') and attname = 'own_table') then
                    execute 'create table {table}_2026_09 partition of {table}
                             for values from (''2026-09-01'', 0) to (''2026-09-01'', 1)';
                elsif to_regclass('{table}') is not null then
                    execute 'create table {table}_2026_09 partition of {table}
                             for values from (''2026-09-01'') to (''2026-10-01'')';
                end if;
             end $$"
        );
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *db).await.unwrap();
    }
    let tables = tables(db).await;
    let mut waiting: BTreeSet<&String> = tables.keys().collect();
    while !waiting.is_empty() {
        let (mut problems, before) = (Vec::new(), waiting.len());
        for table in waiting.clone() {
            if rows_of(db, table).await == 0 {
                let columns = &tables[table];
                let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
                let values: Vec<String> =
                    columns.iter().map(|(name, kind)| value(table, name, kind)).collect();
                let sql = format!(
                    "insert into {table} ({}) overriding system value values ({})",
                    names.join(", "),
                    values.join(", ")
                );
                if let Err(error) = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *db).await {
                    problems.push(format!("{table}: {error}"));
                    continue;
                }
            }
            if table == "deliveries" {
                // Of which a row is to stand for a rejected one.
                let second = "insert into deliveries (delivery_id, batch_id, status, created_at, created_by)
                              overriding system value
                              values (2, gen_random_uuid(), 'waiting', now(), 'test')";
                sqlx::query(second).execute(&mut *db).await.unwrap();
            }
            waiting.remove(table);
        }
        assert!(waiting.len() < before, "no row could be written: {problems:#?}");
    }
    if tables.contains_key("ledger") {
        sqlx::query("update ledger set sequence = 1").execute(&mut *db).await.unwrap();
    }
}

#[sqlx::test(migrations = false)]
async fn a_database_of_any_version_keeps_its_rows_and_figures(db: PgPool) {
    let options = PgConnectOptions::clone(&db.connect_options());
    let name = options.get_database().unwrap().to_owned();
    let versions: Vec<i64> = MIGRATOR.iter().map(|step| step.version).collect();
    for version in versions {
        // Names have 63 letters at most.
        let of_version = format!("v{version}_{}", &name[name.len() - 20..]);
        // In template1 there may be this version's tables.
        let sql = format!("create database \"{of_version}\" template template0");
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&db).await.unwrap();
        let mut old = options.clone().database(&of_version).connect().await.unwrap();
        MIGRATOR.run_to(version, &mut old).await.unwrap();
        fill(&mut old).await;
        let mut before = BTreeMap::new();
        for table in tables(&mut old).await.into_keys() {
            let rows = rows_of(&mut old, &table).await;
            assert!(rows > 0, "{version}: {table} is empty");
            before.insert(table, rows);
        }

        MIGRATOR.run(&mut old).await.unwrap_or_else(|error| panic!("from {version}: {error}"));
        let after = tables(&mut old).await;
        let mut carried: BTreeMap<&str, i64> = BTreeMap::new();
        for (table, rows) in &before {
            let renamed = RENAMED.iter().find(|(before, _)| before == table);
            *carried.entry(renamed.map_or(table.as_str(), |(_, now)| *now)).or_default() += rows;
        }
        for (table, rows) in carried {
            if !after.contains_key(table) || MADE_AGAIN.contains(&table) {
                continue;
            }
            let now = rows_of(&mut old, table).await;
            // Of documents one may be younger than the version, and has a row from the beginning.
            let is_whole = if table == "documents" { now >= rows } else { now == rows };
            assert!(is_whole, "from {version}: {table} has {now} rows, expected {rows}");
        }
        if before.contains_key("charges") {
            let billed: String = sqlx::query_scalar(
                "select sum(m.billed_cost)::text
                 from monthly_costs m
                 join visibility v using (delivery_id, scope_id)
                 where v.until_sequence is null",
            )
            .fetch_one(&mut old)
            .await
            .unwrap();
            assert_eq!(billed, "12.50", "from {version}");
            let equations = ledger::check(&mut old).await.unwrap();
            let broken: Vec<_> = equations.iter().filter(|equation| !equation.holds).collect();
            assert!(broken.is_empty(), "from {version}: {broken:#?}");
        }
        old.close().await.unwrap();
        let sql = format!("drop database \"{of_version}\"");
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&db).await.unwrap();
    }
}

/// A version that wrote sums in parts; this one adds them up.
#[sqlx::test(migrations = false)]
async fn sums_in_parts_become_one_row_a_key_and_day(db: PgPool) {
    empty_database(&db).await;
    let mut db = db.acquire().await.unwrap();
    MIGRATOR.run_to(20_261_124_000_053, &mut *db).await.unwrap();
    for table in ["monthly_costs", "daily_costs"] {
        let partition = format!(
            "create table {table}_2026_09 partition of {table} for values from ('2026-09-01') to ('2026-10-01')"
        );
        sqlx::raw_sql(AssertSqlSafe(partition)).execute(&mut *db).await.unwrap();
    }
    // Key 1 bears accelerators; key 3 has one part only; delivery 2 was never in parts.
    let sums = "('00000000-0000-0000-0000-00000000000' || k)::uuid, d, 1, p, 2, 1.50 + p, 2, 3, 4, 5
                from generate_series(1, 3) k, generate_series(0, 2) p, generate_series(1, 2) d
                where p = 0 or (k < 3 and d = 1)";
    for statement in [
        format!(
            "insert into monthly_costs (billing_month, charge_key_id, delivery_id, scope_id, part, charges, billed_cost,
                 effective_cost, list_cost, contracted_cost, metered_quantity)
             select '2026-09-01', {sums}"
        ),
        format!(
            "insert into daily_costs (day, is_whole_period, hourly_quantity, billing_month, charge_key_id, delivery_id,
                 scope_id, part, charges, billed_cost, effective_cost, list_cost, contracted_cost, metered_quantity)
             select '2026-09-05', false, case when k = 1 then array_fill(p + 0.25, array[24]) end, '2026-09-01', {sums}"
        ),
    ] {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut *db).await.unwrap();
    }
    MIGRATOR.run(&mut *db).await.unwrap();
    let row = "right(charge_key_id::text, 1) || ' ' || concat_ws(' ', delivery_id, part, charges, billed_cost, effective_cost,
               list_cost, contracted_cost, metered_quantity";
    for (table, more, hours) in [
        ("monthly_costs", "", ["", ""]),
        (
            "daily_costs",
            ", hourly_quantity[1], hourly_quantity[24], array_length(hourly_quantity, 1)",
            [" 3.75 3.75 24", " 0.25 0.25 24"],
        ),
    ] {
        let rows: Vec<String> =
            sqlx::query_scalar(AssertSqlSafe(format!("select {row}{more}) from {table} order by 1")))
                .fetch_all(&mut *db)
                .await
                .unwrap();
        let expected = [
            format!("1 1 0 6 7.50 6 9 12 15{}", hours[0]),
            format!("1 2 0 2 1.50 2 3 4 5{}", hours[1]),
            "2 1 0 6 7.50 6 9 12 15".to_owned(),
            "2 2 0 2 1.50 2 3 4 5".to_owned(),
            "3 1 0 2 1.50 2 3 4 5".to_owned(),
            "3 2 0 2 1.50 2 3 4 5".to_owned(),
        ];
        assert_eq!(rows, expected, "{table}");
    }
}

/// Changes of every kind and state, as the version before had them in three tables.
#[sqlx::test(migrations = false)]
async fn changes_of_all_kinds_become_one_list(db: PgPool) {
    empty_database(&db).await;
    let mut db = db.acquire().await.unwrap();
    MIGRATOR.run_to(20_261_126_000_064, &mut *db).await.unwrap();
    let before = "
        insert into allocation_changes (status, summary, edits, reason, drafted_at, drafted_by, decided_at, decided_by,
            applied_sequence, undone_sequence, draft_reason, proposed_at, undone_at, undone_by, undo_reason)
        values
            ('draft', 'a draft', '[]', null, '2026-10-01Z', 'fay', null, null, null, null, 'why', null, null, null, null),
            ('draft', 'a proposal', '[]', null, '2026-10-01Z', 'fay', null, null, null, null, 'why', '2026-10-02Z', null,
                null, null),
            ('undone', 'undone', '[{\"id\": 3}]', 'decided', '2026-10-01Z', 'fay', '2026-10-03Z', 'ada', 5, 6, 'why',
                '2026-10-02Z', '2026-10-04Z', 'bob', 'a mistake');
        insert into asset_register_changes (status, summary, reason, edits, made_at, made_by, decided_at, decided_by,
            applied_revision, undone_revision, undone_at, undone_by)
        values
            ('proposed', 'a wish', 'why', '[]', '2026-10-01Z', 'fay', null, null, null, null, null, null),
            ('applied', 'readings', null, '[]', '2026-10-01Z', 'fay', '2026-10-03Z', 'ada', 5, null, null, null);
        insert into price_changes (status, summary, reason, edits, report, made_at, made_by, decided_at, decided_by)
        values
            ('drafted', 'a file', null, '[]', '{\"rows\": 2}', '2026-10-01Z', 'fay', null, null),
            ('discarded', 'unwanted', 'why', '[]', null, '2026-10-01Z', 'fay', '2026-10-03Z', 'ada');
        insert into allocation_entries values (7, 1, 3, '{\"a\": 1}'), (7, 3, null, '{\"a\": 2}');
        insert into asset_register_entries values (7, 2, null, '{\"b\": 1}');
        insert into price_entries values ('offer@2026-10-01', 1, null, '{\"c\": 1}');
        update asset_register set revision = 5;
        update price_list set revision = 9;
        select setval('asset_register_entry_ids', 20);";
    sqlx::raw_sql(before).execute(&mut *db).await.unwrap();
    MIGRATOR.run(&mut *db).await.unwrap();

    let line = "concat_ws('|', kind, change_id, status, summary, coalesce(reason, '-'), edits, coalesce(report::text, '-'),
                made_by, coalesce(to_char(proposed_at, 'DD'), '-'), coalesce(decided_by, '-'),
                coalesce(decision_reason, '-'), coalesce(applied_version::text, '-'), coalesce(undone_version::text, '-'),
                coalesce(undone_by, '-'), coalesce(undo_reason, '-'))";
    let changes: Vec<String> =
        sqlx::query_scalar(AssertSqlSafe(format!("select {line} from changes order by kind, change_id")))
            .fetch_all(&mut *db)
            .await
            .unwrap();
    assert_eq!(
        changes,
        [
            "allocation|1|draft|a draft|why|[]|-|fay|-|-|-|-|-|-|-",
            "allocation|2|proposed|a proposal|why|[]|-|fay|02|-|-|-|-|-|-",
            "allocation|3|undone|undone|why|[{\"id\": 3}]|-|fay|02|ada|decided|5|6|bob|a mistake",
            "asset-register|1|proposed|a wish|why|[]|-|fay|01|-|-|-|-|-|-",
            "asset-register|2|applied|readings|-|[]|-|fay|-|ada|-|5|-|-|-",
            "prices|1|draft|a file|-|[]|{\"rows\": 2}|fay|-|-|-|-|-|-|-",
            "prices|2|discarded|unwanted|why|[]|-|fay|-|ada|-|-|-|-|-",
        ]
    );
    let entries: Vec<String> = sqlx::query_scalar(
        "select concat_ws('|', kind, entry, from_version, coalesce(until_version::text, '-'), content)
         from document_entries
         order by kind, entry, from_version",
    )
    .fetch_all(&mut *db)
    .await
    .unwrap();
    assert_eq!(
        entries,
        [
            "allocation|7|1|3|{\"a\": 1}",
            "allocation|7|3|-|{\"a\": 2}",
            "asset-register|7|2|-|{\"b\": 1}",
            "prices|offer@2026-10-01|1|-|{\"c\": 1}",
        ]
    );
    let next: (i64, i64) = sqlx::query_as("select nextval('change_ids'), nextval('document_entry_ids')")
        .fetch_one(&mut *db)
        .await
        .unwrap();
    assert_eq!(next, (4, 21));
    let versions: Vec<String> =
        sqlx::query_scalar("select kind || ' ' || version from documents order by kind")
            .fetch_all(&mut *db)
            .await
            .unwrap();
    assert_eq!(versions, ["adjustments 0", "asset-register 5", "prices 9", "rate-cards 0"]);
}
