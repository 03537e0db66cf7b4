//! `/catalog`: which machines and models are known to have accelerators, what was added, and what looks like one and is
//! not known.

pub(super) mod add;
pub(super) mod addition;
pub(super) mod words;

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::csv;
use super::error::Result;
use super::extract::Reading;
use super::format::{File, Format};
use super::layout::{Layout, Pages};
use super::table::page_of;
use super::{Access, filters, paths, respond};
use crate::accelerator::{self, Model};
use crate::ledger::{self, Added};
use crate::report::{self, UnrecognizedUsage};

/// Machines of a page.
const ROWS: usize = 100;
/// Of what is not recognized; files have all.
const SHOWN: usize = 20;

/// Which machines are asked for. What stands at its default is not printed.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Asked {
    #[serde(skip_serializing_if = "String::is_empty")]
    provider: String,
    /// A part of the name of a machine or of its model.
    #[serde(skip_serializing_if = "String::is_empty")]
    find: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u64>,
}

impl Asked {
    fn keeps(&self, it: &MachineRow) -> bool {
        let wanted = self.find.trim().to_lowercase();
        let texts = [&it.instance_type, &it.model, &it.model_name];
        (self.provider.is_empty() || self.provider == it.provider)
            && texts.into_iter().any(|text| text.to_lowercase().contains(&wanted))
    }

    fn first(&self) -> String {
        let first = paths::with_query(paths::Catalog, &Self { page: None, ..self.clone() });
        first.trim_end_matches('?').to_owned()
    }
}

/// A machine that is known.
#[derive(Clone, Debug, Serialize)]
struct MachineRow {
    provider: String,
    instance_type: String,
    /// Its number in the catalog.
    model: String,
    model_name: String,
    accelerators: String,
    source: String,
    /// The number of the addition, where it is none of those that are shipped.
    addition: Option<i64>,
}

#[derive(Template)]
#[template(path = "catalog/index.html")]
struct Page {
    layout: Layout,
    asked: Asked,
    unrecognized: Vec<UnrecognizedUsage>,
    /// The last one first.
    additions: Vec<Added>,
    machines: Vec<MachineRow>,
    providers: BTreeSet<String>,
    /// How many machines hold each model.
    held: BTreeMap<&'static str, usize>,
    pages: Pages,
}

impl Page {
    fn may_change(&self) -> bool {
        self.layout.may(Access::Admin)
    }

    fn shown(&self) -> &[MachineRow] {
        page_of(&self.machines, self.pages.page, ROWS)
    }

    fn models(&self) -> Vec<(&'static Model, usize)> {
        let known = accelerator::models().iter().filter(|it| words::is_known(it));
        known.map(|model| (model, self.held.get(model.id).copied().unwrap_or_default())).collect()
    }

    fn file(&self, file: File) -> String {
        file.of(self.asked.first())
    }
}

pub async fn index(_: paths::Catalog, format: Format, reading: Reading<Asked>) -> Result {
    let Reading { layout, query: asked, mut db, .. } = reading;
    let additions = ledger::every_addition(&mut db).await?;
    let all = machines(&additions);
    let providers = all.iter().map(|it| it.provider.clone()).collect();
    let mut held: BTreeMap<&'static str, usize> = BTreeMap::new();
    for it in all.iter().filter_map(|it| accelerator::model(&it.model)) {
        *held.entry(it.id).or_default() += 1;
    }
    let machines: Vec<MachineRow> = all.into_iter().filter(|it| asked.keeps(it)).collect();
    if format == Format::Csv {
        return csv::answer("catalog", &machines);
    }
    let unrecognized = report::unrecognized_usage(&mut db, &ledger::catalog_of(&additions), None).await?;
    if format == Format::Json {
        return respond::json(&json!({
            "unrecognized": unrecognized,
            "additions": additions.iter().map(words::in_json).collect::<Vec<_>>(),
            "machines": machines,
            "models": accelerator::models().iter().filter(|it| words::is_known(it)).map(words::model_in_json)
                .collect::<Vec<_>>(),
        }));
    }
    let additions = additions.into_iter().rev().collect();
    let pages = Pages::of(asked.page.unwrap_or(1).max(1), machines.len() as u64, ROWS as u64, &asked.first());
    respond::html(Page { layout, asked, unrecognized, additions, machines, providers, held, pages })
}

/// What is shipped and what was added, by provider and name.
fn machines(additions: &[Added]) -> Vec<MachineRow> {
    let shipped = accelerator::instances().iter().map(|it| MachineRow {
        provider: it.provider.to_owned(),
        instance_type: it.instance_type.to_owned(),
        model: it.model.id.to_owned(),
        model_name: words::model(it.model),
        accelerators: it.accelerators.to_string(),
        source: it.source.to_owned(),
        addition: None,
    });
    let added = additions.iter().filter(|it| it.removed.is_none()).filter_map(|it| {
        Some(MachineRow {
            provider: it.provider.clone(),
            instance_type: it.name.clone(),
            model: it.model.id.to_owned(),
            model_name: words::model(it.model),
            accelerators: it.accelerators?.to_string(),
            source: it.source.clone(),
            addition: Some(it.addition_id),
        })
    });
    // Added ones first, since they are few and looked for.
    let mut rows: Vec<MachineRow> = added.chain(shipped).collect();
    rows.sort_by(|a, b| a.provider.cmp(&b.provider));
    rows
}

csv::record! {
    |it: MachineRow|
    "provider" => &it.provider,
    "instance_type" => &it.instance_type,
    "model" => &it.model,
    "accelerators" => &it.accelerators,
    "source" => &it.source,
    "addition" => it.addition.map(|id| id.to_string()),
}
