//! Says which machine of the ledger a node is.

use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use super::read::{self, Node};
use crate::audit::{self, Act, Object, Verb};
use crate::ledger;

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matched {
    Done {
        /// Other nodes of its source that are this machine, too: what all of them held adds up.
        beside: Vec<String>,
        /// Those of other sources of its kind: of an hour that both describe, one counts.
        elsewhere: Vec<String>,
    },
    /// It was so already.
    AsBefore,
    NoSuchNode,
    /// No charge for accelerators has this resource.
    NoSuchMachine,
}

/// Makes a node the machine with this ResourceId; an empty text: what its name says.
///
/// # Errors
/// The database's.
pub async fn match_node(
    db: &mut PgConnection,
    node_id: i64,
    resource: &str,
    act: Act<'_>,
) -> sqlx::Result<Matched> {
    let mut tx = db.begin().await?;
    let node = sqlx::query_scalar!("select name from usage_nodes where node_id = $1", node_id)
        .fetch_optional(&mut *tx)
        .await?;
    let Some(node) = node else { return Ok(Matched::NoSuchNode) };
    let resource = resource.trim();
    let known = sqlx::query_scalar!(
        r#"select min(resource_id) from charge_keys where accelerator is not null and lower(resource_id) = lower($1)"#,
        resource,
    )
    .fetch_one(&mut *tx)
    .await?;
    if known.is_none() && !resource.is_empty() {
        return Ok(Matched::NoSuchMachine);
    }
    let before = sqlx::query_scalar!(
        "select resource_id from node_matches where node_id = $1 and until_sequence is null",
        node_id,
    )
    .fetch_optional(&mut *tx)
    .await?;
    let after = known.filter(|_| !resource.is_empty());
    if before == after {
        return Ok(Matched::AsBefore);
    }
    let sequence = ledger::begin_version(&mut tx).await?;
    sqlx::query!(
        "update node_matches set until_sequence = $2 where node_id = $1 and until_sequence is null",
        node_id,
        sequence,
    )
    .execute(&mut *tx)
    .await?;
    if let Some(resource) = &after {
        sqlx::query!(
            "insert into node_matches (node_id, resource_id, from_sequence, matched_at, matched_by)
             values ($1, $2, $3, $4, $5)",
            node_id,
            resource,
            sequence,
            act.at,
            act.by.name,
        )
        .execute(&mut *tx)
        .await?;
    }
    ledger::end_version(&mut tx, sequence, None, "usage", &act.by.name, act.at).await?;
    let details = json!({ "node": node, "machine": { "from": before, "to": after } });
    audit::record(&mut tx, act, Verb::NodeMatched, &Object::Other("node of usage"), details).await?;
    tx.commit().await?;
    let nodes = match &after {
        Some(_) => read::nodes(db, sequence).await?,
        None => Vec::new(),
    };
    let own = nodes.iter().find(|it| it.node_id == node_id);
    let same = |it: &&Node| {
        it.node_id != node_id && it.resource == after && own.is_some_and(|own| own.kind == it.kind)
    };
    let (beside, elsewhere): (Vec<&Node>, Vec<&Node>) =
        nodes.iter().filter(same).partition(|it| own.is_some_and(|own| own.source_id == it.source_id));
    let beside = beside.into_iter().map(|it| it.name.clone()).collect();
    let elsewhere = elsewhere.into_iter().map(|it| format!("{} of {}", it.name, it.source)).collect();
    Ok(Matched::Done { beside, elsewhere })
}
