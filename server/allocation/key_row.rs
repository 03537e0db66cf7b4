//! Charge keys as PostgreSQL has them, and what rules see of them.

use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Facts, normalized_key};

/// Whether a row of a key `k` is the use of accelerators, or adjusts that: what their hours cost. What nothing used is no price of use.
pub const IS_ACCELERATED: &str =
    "(k.accelerator is not null and k.category in ('Usage', 'Adjustment') and not k.is_unused_commitment)";

/// Whether a row of a key `k` is of a commitment that nothing used. FOCUS says it in the key. AWS's own reports have no such
/// rows: there the effective cost of a commitment's fees is what nothing used. Fees of a file that spreads none are
/// `Committed` themselves, see [`crate::billing`].
pub const IS_UNUSED_COMMITMENT: &str = "(k.is_unused_commitment or k.category = 'Purchase' \
     and k.commitment_discount_id <> '' and k.pricing <> 'Committed')";

/// Whether a row `c` of a key `k` takes back costs. What divides machines takes from them what others have: of it only credits do.
pub const IS_CREDIT: &str = "case when c.scope_id in (select u.scope_id from scopes u where u.is_usage) \
     then k.category = 'Credit' else least(c.billed_cost, c.effective_cost) < 0 end";

/// FOCUS CommitmentDiscountStatus of a row of a key `k`, by its effective cost; null where it is of no commitment.
pub const COMMITMENT_STATUS: &str = "case when k.is_unused_commitment or k.category = 'Purchase' \
     and k.commitment_discount_id <> '' and k.pricing <> 'Committed' then 'Unused' \
     when k.category = 'Usage' and (k.commitment_discount_id <> '' or k.pricing = 'Committed') then 'Used' end";

/// The columns of `charge_keys` that rules ask about.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct KeyRow {
    pub charge_key_id: Uuid,
    pub provider: String,
    pub billing_account: String,
    pub sub_account: String,
    pub service: String,
    pub service_category: String,
    pub sku: String,
    pub region: String,
    pub instance_type: String,
    pub meter: String,
    pub category: String,
    pub pricing: String,
    pub commitment_discount_id: String,
    pub resource_id: Option<String>,
    pub tags: Value,
    pub accelerator: Option<String>,
    pub is_unused_commitment: bool,
}

impl KeyRow {
    /// As [`COMMITMENT_STATUS`].
    fn commitment_status(&self) -> String {
        let is_committed = self.pricing == "Committed";
        let has_commitment = !self.commitment_discount_id.is_empty();
        let status = match self.category.as_str() {
            _ if self.is_unused_commitment => "Unused",
            "Purchase" if has_commitment && !is_committed => "Unused",
            "Usage" if has_commitment || is_committed => "Used",
            _ => "",
        };
        status.to_owned()
    }
}

impl From<KeyRow> for Facts {
    fn from(key: KeyRow) -> Self {
        let commitment_status = key.commitment_status();
        let tags = key.tags.as_object().into_iter().flatten();
        let tags = tags.filter_map(|(name, value)| Some((normalized_key(name), value.as_str()?.to_owned())));
        Self {
            tags: tags.collect(),
            provider: key.provider,
            billing_account: key.billing_account,
            sub_account: key.sub_account,
            service: key.service,
            service_category: key.service_category,
            sku: key.sku,
            region: key.region,
            accelerator: key.accelerator.unwrap_or_default(),
            instance_type: key.instance_type,
            meter: key.meter,
            pricing: key.pricing,
            category: key.category,
            resource: key.resource_id.unwrap_or_default(),
            commitment_status,
            commitment: key.commitment_discount_id,
        }
    }
}

/// What rules see of a key.
pub async fn facts_of(db: &mut PgConnection, charge_key: Uuid) -> sqlx::Result<Facts> {
    let key = sqlx::query_as!(
        KeyRow,
        "select charge_key_id, provider, billing_account, sub_account, service, service_category, sku, region,
             instance_type, meter, category, pricing, commitment_discount_id, resource_id, tags, accelerator,
             is_unused_commitment
         from charge_keys
         where charge_key_id = $1",
        charge_key,
    )
    .fetch_one(db)
    .await?;
    Ok(key.into())
}
