//! A database of somebody else is taken only as it can hold every name.

use gpuledger::store::{Database, Error, Store};
use sqlx::{ConnectOptions as _, Connection as _, PgPool};

#[sqlx::test]
async fn a_database_in_another_encoding_is_refused_before_anything_is_made_in_it(db: PgPool) {
    let options = db.connect_options();
    let name = format!("latin_{}", uuid::Uuid::new_v4().simple());
    let make = format!(
        "create database \"{name}\" encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(make)).execute(&db).await.unwrap();
    let other = sqlx::postgres::PgConnectOptions::clone(&options).database(&name);
    let refused = Store::open(&Database::Url(other.to_url_lossy().to_string())).await.err();
    assert!(matches!(&refused, Some(Error::Encoding(found)) if found == "LATIN1"), "{refused:?}");

    let mut opened = other.connect().await.unwrap();
    let tables: i64 = sqlx::query_scalar("select count(*) from pg_tables where schemaname = 'public'")
        .fetch_one(&mut opened)
        .await
        .unwrap();
    assert_eq!(tables, 0);
    opened.close().await.unwrap();
    let drop = format!("drop database \"{name}\"");
    sqlx::raw_sql(sqlx::AssertSqlSafe(drop)).execute(&db).await.unwrap();
}
