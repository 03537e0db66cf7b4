//! Split costs: a charge that its provider divided among those who used it (FOCUS 1.3, *Data Generator-Calculated Split
//! Cost Allocation Handling*).
//!
//! An *allocated charge* keeps the dimensions of the *origin charge*, its `ResourceId` included, and carries a part of its
//! costs and quantities; `AllocatedResourceId` and `AllocatedTags` say whose part. It becomes a charge of that resource, with
//! the tags of both, so that rules see them. The parts sum to the origin in every summable column, so nothing is added or
//! left out. Where the origin's own row stays beside them it states 0 in each of these ("the origin row carries the preserved
//! instance dimensions with all summable metrics zeroed", *Split Cost Allocation Field Mapping*): it is no usage at no cost.
//! A publisher that leaves hours on it would have them counted twice, so they are not metered. What no part took has
//! `AllocatedMethodId`, no `AllocatedResourceId`, and costs: usage like any other.

use super::At;
use crate::billing::charge::Charge;
use crate::billing::header::Header;
use crate::billing::json;
use crate::billing::row::{Column, Problem, Row};
use crate::money::Decimal;

/// Where it says so.
pub(super) struct Split {
    method: Column,
    /// By its id, else by its name.
    resources: [Column; 2],
    pub tags: Column,
}

impl Split {
    pub fn new(header: &Header) -> Self {
        Self {
            method: header.find("allocatedmethodid"),
            resources: [header.find("allocatedresourceid"), header.find("allocatedresourcename")],
            tags: header.find("allocatedtags"),
        }
    }

    /// Sets the resource that a part is of, and what is not metered. Costs and quantity are there.
    pub fn fill(&self, row: &mut Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        if let Some(resource) = self.resources.into_iter().find(|column| !row.is_null(*column)) {
            charge.resource_id.clear();
            row.text(resource, &mut charge.resource_id)?;
            row.remark("a part of a split cost: its resource and tags are those it is allocated to");
        } else if !row.is_null(self.method) && costs_nothing(charge) {
            charge.is_metered = false;
            row.remark("the origin of a split cost, 0 beside its parts: its hours are theirs");
        }
        Ok(())
    }
}

fn costs_nothing(charge: &Charge) -> bool {
    [charge.billed_cost, charge.effective_cost, charge.list_cost, charge.contracted_cost]
        .iter()
        .all(Decimal::is_zero)
}

/// Adds the tags of whom a part is allocated to. They come after those of the origin, whose keys they must not repeat.
pub(super) fn tags(at: &At, row: &Row<'_>, scratch: &mut Vec<u8>, set: impl FnMut(&str, &str)) -> bool {
    json::each(row.cell(at.split.tags, scratch), set)
}
