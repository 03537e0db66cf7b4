//! What pages are made of, as of now.

use sqlx::PgConnection;

/// Marks everything that people have written: equal versions give equal pages. Every verb that writes takes a step of the
/// ledger or leaves a line in the audit trail, in its own transaction. Loading, which nobody sees, does neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::web) struct Version {
    pub sequence: i64,
    /// The last line of the audit trail but those of signing in, and the sum of the last [`LINES`] of them: a line that is
    /// committed after a later one changes the sum.
    line: Option<i64>,
    sum: i64,
}

/// What there is to know before a page is answered.
pub(in crate::web) struct Now {
    pub version: Version,
    /// Somebody loads a bill, in whatever process. One that was killed is taken for loading until the next import, check or
    /// start of a server.
    pub is_loading: bool,
}

/// More lines are not written between a line and its commit.
const LINES: i64 = 100;

impl Now {
    pub async fn find(db: &mut PgConnection) -> sqlx::Result<Self> {
        let row = sqlx::query!(
            r#"select sequence, line, sum as "sum!",
                   exists (select from deliveries where status = 'loading')
                       or exists (select from jobs where status = 'running' and reloads is not null) as "is_loading!"
               from ledger,
                   (select max(audit_id) as line, coalesce(sum(audit_id), 0)::bigint as sum
                    from (select audit_id from audit_log where verb not like 'sign\_in.%'
                          order by audit_id desc limit $1) last) trail"#,
            LINES
        )
        .fetch_one(db)
        .await?;
        let version = Version { sequence: row.sequence, line: row.line, sum: row.sum };
        Ok(Self { version, is_loading: row.is_loading })
    }
}
