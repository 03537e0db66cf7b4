//! Tags of a row, wherever a publisher keeps them.
//!
//! | publisher | where |
//! |---|---|
//! | FOCUS | `Tags`, and `AllocatedTags` of a part of a split cost |
//! | AWS | also `x_CostCategories`, which get the prefix that they have of a CUR; keys lose `user:` |
//! | Google's view | `Tags` as a list of `key`, `value` and where it comes from; the first of a key wins, which is the nearest: label, label of the project, tag; system labels are no tags |
//! | Google's export | no `Tags`, but `x_Labels`, `x_Tags` and `x_ProjectLabels`, in that order of precedence |

use super::{At, split};
use crate::billing::aws::COST_CATEGORY;
use crate::billing::charge::Tags;
use crate::billing::header::Header;
use crate::billing::json;
use crate::billing::row::{Column, Row};

/// What Google calls the label that names a machine: `a3-highgpu-8g`.
const MACHINE: &str = "compute.googleapis.com/machine_spec";
/// What its labels of machines begin with, which nobody set.
const SYSTEM: &str = "compute.googleapis.com/";

/// Where they are.
pub(super) struct TagColumns {
    tags: Column,
    /// Google's own lists; what is set last wins.
    project_labels: Column,
    labels: Column,
    system_labels: Column,
    cost_categories: Column,
}

impl TagColumns {
    pub fn new(header: &Header) -> Self {
        Self {
            tags: header.find("tags"),
            project_labels: header.find_custom("projectlabels"),
            labels: header.find_custom("labels"),
            system_labels: header.find_custom("systemlabels"),
            cost_categories: header.find_custom("costcategories"),
        }
    }

    pub fn columns(&self) -> impl Iterator<Item = usize> {
        let Self { tags, project_labels, labels, system_labels, cost_categories } = *self;
        [tags, project_labels, labels, system_labels, cost_categories].into_iter().flatten()
    }

    /// Sets the tags of a row, and `machine` where a label names one and nothing did so far.
    pub fn read(
        &self,
        at: &At,
        row: &mut Row<'_>,
        (is_aws, is_google): (bool, bool),
        scratch: &mut Vec<u8>,
        tags: &mut Tags,
        machine: &mut String,
    ) {
        let mut is_readable = true;
        let mut named = |key: &str, value: &str| {
            if is_google && key == MACHINE && machine.is_empty() {
                value.clone_into(machine);
            }
        };
        is_readable &= json::each(row.cell(self.system_labels, scratch), &mut named);
        is_readable &= json::each(row.cell(self.project_labels, scratch), |key, value| tags.set(key, value));
        is_readable &= if is_google {
            nearest_first(row.cell(self.tags, scratch), |key, value| {
                if key.starts_with(SYSTEM) {
                    named(key, value);
                } else {
                    tags.set(key, value);
                }
            })
        } else {
            json::each(row.cell(self.tags, scratch), |key, value| tags.set(own(key, is_aws), value))
        };
        is_readable &= json::each(row.cell(self.labels, scratch), |key, value| tags.set(key, value));
        is_readable &= split::tags(at, row, scratch, |key, value| tags.set(own(key, is_aws), value));
        if is_aws {
            is_readable &= json::each(row.cell(self.cost_categories, scratch), |key, value| {
                tags.set_prefixed(COST_CATEGORY, key, value);
            });
        }
        if !is_readable {
            row.remark("tags that are no JSON object are left out");
        }
    }
}

/// A key as a CUR of AWS has it.
fn own(key: &str, is_aws: bool) -> &str {
    if is_aws { key.strip_prefix("user:").unwrap_or(key) } else { key }
}

/// As [`json::each`], the last first: of a key that is there twice, the first is set last.
fn nearest_first(text: &[u8], mut set: impl FnMut(&str, &str)) -> bool {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let is_readable = json::each(text, |key, value| pairs.push((key.to_owned(), value.to_owned())));
    for (key, value) in pairs.iter().rev() {
        set(key, value);
    }
    is_readable
}
