//! Tags and cost categories of an AWS report: a column each, or all in a map.

use crate::billing::charge::Charge;
use crate::billing::header::Header;
use crate::billing::json;
use crate::billing::row::{Column, Problem, Row};

/// What stands before the names of cost categories among tags.
pub(in crate::billing) const COST_CATEGORY: &str = "cost_category:";

/// Where tags and cost categories are.
pub(super) struct TagColumns {
    /// In the order that the tags of each row are brought into.
    single: Vec<TagColumn>,
    tag_map: Column,
    cost_category_map: Column,
}

/// A column that holds one tag or cost category.
struct TagColumn {
    column: usize,
    key: String,
}

impl TagColumns {
    pub fn new(header: &Header) -> Self {
        let columns = header.names().iter().enumerate();
        let mut single: Vec<TagColumn> =
            columns.filter_map(|(column, name)| Some(TagColumn { column, key: tag_key(name)? })).collect();
        single.sort_by(|a, b| a.key.cmp(&b.key));
        Self { single, tag_map: header.find("resourcetags"), cost_category_map: header.find("costcategory") }
    }

    /// All of them.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        let single = self.single.iter().map(|tag| tag.column);
        single.chain([self.tag_map, self.cost_category_map].into_iter().flatten())
    }

    /// Sets the tags of a row.
    pub fn read(
        &self,
        row: &mut Row<'_>,
        scratch: &mut Vec<u8>,
        text: &mut String,
        charge: &mut Charge,
    ) -> Result<(), Problem> {
        for TagColumn { column, key } in &self.single {
            text.clear();
            row.verbatim(Some(*column), text)?;
            charge.tags.set(key, text);
        }
        let mut is_readable = true;
        if self.tag_map.is_some() {
            is_readable &= json::each(row.cell(self.tag_map, scratch), |key, value| {
                charge.tags.set(map_key(key), value);
            });
        }
        if self.cost_category_map.is_some() {
            is_readable &= json::each(row.cell(self.cost_category_map, scratch), |key, value| {
                charge.tags.set_prefixed(COST_CATEGORY, key, value);
            });
        }
        if !is_readable {
            row.remark("tags that are no JSON object are left out");
        }
        Ok(())
    }
}

/// The key that charges carry of a column: `resourceTags/user:Team` is `Team`,
/// `resourceTags/aws:createdBy` keeps its prefix, `resource_tags_user_team` is `team`, and a cost category
/// gets the prefix `cost_category:`.
pub(super) fn tag_key(name: &str) -> Option<String> {
    if let Some(key) = name.strip_prefix("resourceTags/") {
        return Some(key.strip_prefix("user:").unwrap_or(key).to_owned());
    }
    if let Some(category) = name.strip_prefix("costCategory/").or_else(|| name.strip_prefix("cost_category_"))
    {
        return Some(format!("{COST_CATEGORY}{category}"));
    }
    name.strip_prefix("resource_tags_").map(|key| map_key(key).to_owned())
}

/// Keys as CUR 2.0 and Athena write them, `user_team`, as the legacy report has them.
fn map_key(key: &str) -> &str {
    let own = || OF_AWS.iter().find(|(snake, _)| *snake == key).map(|(_, name)| *name);
    let of_user = || key.strip_prefix("user_").or_else(|| key.strip_prefix("user:"));
    own().or_else(of_user).unwrap_or(key)
}

/// Tags that AWS sets.
const OF_AWS: &[(&str, &str)] = &[
    ("aws_created_by", "aws:createdBy"),
    ("aws_ecs_cluster_name", "aws:ecs:clusterName"),
    ("aws_ecs_service_name", "aws:ecs:serviceName"),
    ("aws_eks_cluster_name", "aws:eks:cluster-name"),
    ("aws_eks_deployment", "aws:eks:deployment"),
    ("aws_eks_namespace", "aws:eks:namespace"),
    ("aws_eks_node", "aws:eks:node"),
    ("aws_eks_workload_name", "aws:eks:workload-name"),
    ("aws_eks_workload_type", "aws:eks:workload-type"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_tags_the_same_in_every_form() {
        for (column, key) in [
            ("resourceTags/user:Team", Some("Team")),
            ("resourceTags/aws:createdBy", Some("aws:createdBy")),
            ("resource_tags_user_team", Some("team")),
            ("resource_tags_aws_created_by", Some("aws:createdBy")),
            ("resource_tags_aws_eks_namespace", Some("aws:eks:namespace")),
            ("resourceTags/aws:eks:namespace", Some("aws:eks:namespace")),
            ("costCategory/Charge type", Some("cost_category:Charge type")),
            ("cost_category_bu", Some("cost_category:bu")),
            ("resource_tags", None),
            ("noTags/user:app", None),
        ] {
            assert_eq!(tag_key(column).as_deref(), key, "{column}");
        }
    }
}
