//! What jobs held day by day, as versions of the ledger.
//!
//! What changes is found first and kept aside, in tables of the transaction: the ledger is held only while it is moved to where pages
//! read it, and not while it is computed.

use chrono::NaiveDate;
use sqlx::PgConnection;

use super::hours::{ByHour, NodeDay};
use super::store::array;

/// Which days are replaced: of these jobs all, or those of these nodes.
pub enum Which<'a> {
    Jobs(&'a [i64]),
    Nodes(&'a [i64], &'a [NaiveDate]),
}

/// What is to become of the days of usage, in a transaction that has not changed any yet.
pub struct Changes(());

impl Changes {
    /// None yet. Nobody else may change days of usage until the transaction ends.
    pub async fn begin(db: &mut PgConnection) -> sqlx::Result<Self> {
        let create =
            "create temporary table ended_days (job_no bigint, node_id bigint, day date) on commit drop";
        sqlx::query(create).execute(&mut *db).await?;
        let create = "create temporary table new_days (like usage_days) on commit drop";
        sqlx::query(create).execute(&mut *db).await?;
        sqlx::query("alter table new_days alter column from_sequence drop not null").execute(db).await?;
        Ok(Self(()))
    }

    /// Makes `new` (job, node, day) all that was held of something. What stays as it was is not touched.
    pub async fn replace(
        &mut self,
        db: &mut PgConnection,
        which: Which<'_>,
        new: &[(i64, i64, NodeDay)],
    ) -> sqlx::Result<()> {
        let hours = |of: fn(&NodeDay) -> &ByHour| -> Vec<String> {
            new.iter().map(|(.., day)| array(of(day).iter().map(|it| i64::from(*it)))).collect()
        };
        let (jobs, nodes): (Vec<i64>, Vec<i64>) = new.iter().map(|(job, node, _)| (*job, *node)).unzip();
        let days: Vec<NaiveDate> = new.iter().map(|(.., day)| day.day).collect();
        let of = match which {
            Which::Jobs(_) => "job_no = any($7)",
            Which::Nodes(..) => "(node_id, day) in (select * from unnest($7::bigint[], $8::date[]))",
        };
        let sql = format!(
            "with new as (
                 select job_no, node_id, day, held::integer[], measured::integer[], busy::integer[]
                 from unnest($1::bigint[], $2::bigint[], $3::date[], $4::text[], $5::text[], $6::text[])
                     as new (job_no, node_id, day, held, measured, busy)
             ),
             known as (select * from usage_days where until_sequence is null and {of}),
             ended as (
                 insert into ended_days (job_no, node_id, day)
                 select known.job_no, known.node_id, known.day
                 from known
                 left join new using (job_no, node_id, day)
                 where (new.held, new.measured, new.busy) is distinct from (known.held, known.measured, known.busy)
             )
             insert into new_days (job_no, node_id, day, held, measured, busy)
             select new.job_no, new.node_id, new.day, new.held, new.measured, new.busy
             from new
             left join known using (job_no, node_id, day)
             where (new.held, new.measured, new.busy) is distinct from (known.held, known.measured, known.busy)"
        );
        let query = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(jobs)
            .bind(nodes)
            .bind(days)
            .bind(hours(|it| &it.held))
            .bind(hours(|it| &it.measured))
            .bind(hours(|it| &it.busy));
        let query = match which {
            Which::Jobs(jobs) => query.bind(jobs),
            Which::Nodes(nodes, days) => query.bind(nodes).bind(days),
        };
        query.execute(db).await?;
        Ok(())
    }

    /// Has them hold from a version on.
    pub async fn publish(self, db: &mut PgConnection, sequence: i64) -> sqlx::Result<()> {
        let end = "update usage_days
                   set until_sequence = $1
                   from ended_days
                   where usage_days.day = ended_days.day and usage_days.node_id = ended_days.node_id
                     and usage_days.job_no = ended_days.job_no and usage_days.until_sequence is null";
        sqlx::query(end).bind(sequence).execute(&mut *db).await?;
        let begin = "insert into usage_days (job_no, node_id, day, held, measured, busy, from_sequence)
                     select job_no, node_id, day, held, measured, busy, $1 from new_days";
        sqlx::query(begin).bind(sequence).execute(&mut *db).await?;
        // A transaction around this one may change days again.
        sqlx::query("drop table ended_days, new_days").execute(db).await?;
        Ok(())
    }
}
