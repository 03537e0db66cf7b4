//! `/asset-register/assets`: everything of a kind that was entered, as a list, as forms and as a CSV file.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::csv;
use super::super::error::{Error, Result};
use super::super::extract::{Db, Form, Pairs, Reading, Sending, Upload, Writing};
use super::super::format::Format;
use super::super::layout::Layout;
use super::super::respond;
use super::super::{filters, paths};
use super::cluster::in_short;
use super::{Sent, right, send, to};
use crate::audit::Act;
use crate::changes::{self, About, Document as _, Entry as _, Problem, Right};
use crate::entered_csv::RefusedRow;
use crate::onprem::{
    self, AssetRegister, Edit, Entry, Field, Kind, RefusedCell, System, Takes, cells, identity, read_file,
    systems, write_file,
};
use crate::period::BillingMonth;

/// Some ten thousand rows.
const LARGEST_FILE: usize = 2 << 20;

/// `?cluster=h100-east`: of one cluster alone.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
}

#[derive(Template)]
#[template(path = "clusters/asset_register.html")]
struct Page {
    layout: Layout,
    kind: Kind,
    asked: Asked,
    clusters: Vec<(String, String)>,
    entries: Vec<(i64, String, String)>,
    refused: Vec<RefusedRow>,
    problems: Vec<Problem>,
}

impl Page {
    fn new(layout: Layout, kind: Kind, asked: Asked, asset_register: &AssetRegister) -> Self {
        let of_kind = of_kind(asset_register, kind, asked.cluster.as_deref());
        let entries = of_kind
            .into_iter()
            .map(|(id, entry)| (id, entry.cluster().unwrap_or_default().to_owned(), in_short(entry)));
        Self {
            layout,
            kind,
            clusters: clusters(asset_register),
            entries: entries.collect(),
            asked,
            refused: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn kinds(&self) -> Vec<(&'static str, String, bool)> {
        let at = |kind: Kind| paths::with_query(paths::AssetRegister { kind }, &self.asked);
        Kind::ALL
            .map(|kind| (kind.name(), at(kind).trim_end_matches('?').to_owned(), kind == self.kind))
            .into()
    }

    fn here(&self) -> paths::AssetRegister {
        paths::AssetRegister { kind: self.kind }
    }

    fn new_one(&self) -> String {
        if self.kind == Kind::Clusters {
            return paths::NewCluster.to_string();
        }
        paths::with_query(paths::AssetRegisterNew { kind: self.kind }, &self.asked)
            .trim_end_matches('?')
            .to_owned()
    }

    fn columns(&self) -> String {
        let names: Vec<&str> = self.kind.fields().iter().map(|field| field.name).collect();
        names.join(", ")
    }

    fn is_of(&self, cluster: &str) -> bool {
        self.asked.cluster.as_deref() == Some(cluster)
    }
}

fn clusters(asset_register: &AssetRegister) -> Vec<(String, String)> {
    asset_register.clusters().iter().map(|it| (it.handle.clone(), it.name.clone())).collect()
}

fn of_kind<'a>(
    asset_register: &'a AssetRegister,
    kind: Kind,
    cluster: Option<&str>,
) -> Vec<(i64, &'a Entry)> {
    let mut entries: Vec<(i64, &Entry)> = match cluster {
        Some(cluster) => asset_register.of_cluster(cluster),
        None => asset_register.entries.iter().map(|(id, entry)| (*id, entry)).collect(),
    };
    entries.retain(|(_, entry)| Kind::of(entry) == kind);
    entries.sort_by_cached_key(|(id, entry)| (identity(entry), *id));
    entries
}

pub async fn index(path: paths::AssetRegister, format: Format, reading: Reading<Asked>) -> Result {
    let Reading { layout, query: asked, mut db, .. } = reading;
    let kind = path.kind;
    let (revision, asset_register) = onprem::AssetRegister::current(&mut db).await?;
    let entries = of_kind(&asset_register, kind, asked.cluster.as_deref());
    match format {
        Format::Html => respond::html(Page::new(layout, kind, asked, &asset_register)),
        Format::Json => {
            let entries: Vec<_> =
                entries.iter().map(|(id, entry)| json!({ "id": id, "entry": entry })).collect();
            respond::json(&json!({ "revision": revision, "entries": entries }))
        }
        Format::Csv => {
            let rows = write_file(kind, entries.iter().map(|(_, entry)| *entry));
            csv::answer_of_texts(kind.as_str(), rows.iter().map(|row| row.iter().map(String::as_str)))
        }
    }
}

/// All of a file, or nothing: rows that are new are added, others changed.
pub async fn load(path: paths::AssetRegisterFile, sending: Sending, mut upload: Upload) -> Result {
    let Sending { now, layout, by, app, .. } = sending;
    let (name, content) = upload.one_file(LARGEST_FILE).await?;
    let mut db = app.db.acquire().await?;
    let (_, asset_register) = onprem::AssetRegister::current(&mut db).await?;
    let mut page = Page::new(layout, path.kind, Asked::default(), &asset_register);
    let entries = match read_file(path.kind, &content) {
        Ok(entries) => entries,
        Err(refused) => {
            page.refused = refused;
            return respond::refused(page);
        }
    };
    let of_kind = asset_register.entries.iter().filter(|(_, known)| Kind::of(known) == path.kind);
    // Of several that cannot be distinguished the first.
    let known: BTreeMap<Vec<String>, (i64, &Entry)> =
        of_kind.rev().map(|(id, known)| (identity(known), (*id, known))).collect();
    let mut edits = Vec::new();
    let mut new = Vec::new();
    for entry in entries {
        match known.get(&identity(&entry)) {
            Some((id, known)) => {
                edits.push(Edit { id: *id, before: Some((*known).clone()), after: Some(entry) });
            }
            None => new.push(entry),
        }
    }
    edits.extend(changes::additions(&mut db, new).await?);
    let rows = if edits.len() == 1 { "one row".to_owned() } else { format!("{} rows", edits.len()) };
    let summary = format!("{name}: {rows} of {}", path.kind.name().to_lowercase());
    let next = page.here().to_string();
    let about = About { summary: &summary, reason: None };
    match send(&mut db, edits, about, right(&page.layout), &next, by.at(now)).await? {
        Sent::To(response) => Ok(response),
        Sent::Refused(problems) => {
            page.problems = problems;
            respond::refused(page)
        }
    }
}

#[derive(Template)]
#[template(path = "clusters/entry.html")]
struct EntryPage {
    layout: Layout,
    kind: Kind,
    id: Option<i64>,
    title: String,
    texts: BTreeMap<String, String>,
    refused: Vec<RefusedCell>,
    problems: Vec<Problem>,
    clusters: Vec<(String, String)>,
    assets: Vec<String>,
}

impl EntryPage {
    fn new(
        layout: Layout,
        kind: Kind,
        id: Option<i64>,
        title: String,
        texts: BTreeMap<String, String>,
        asset_register: &AssetRegister,
    ) -> Self {
        let assets = asset_register.assets().map(|(_, asset)| asset.name.clone()).collect();
        let (refused, problems) = (Vec::new(), Vec::new());
        Self { layout, kind, id, title, texts, refused, problems, clusters: clusters(asset_register), assets }
    }

    fn value(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    fn problem(&self, name: &str) -> Option<&str> {
        self.refused.iter().find(|it| it.column == name).map(|it| it.expected.as_str())
    }

    fn choices(&self, field: &Field) -> Option<Vec<(String, String)>> {
        match field.takes {
            Takes::OneOf(words) => {
                Some(words.iter().map(|(word, name)| ((*word).to_owned(), (*name).to_owned())).collect())
            }
            Takes::Cluster => Some(self.clusters.clone()),
            Takes::Asset => Some(self.assets.iter().map(|name| (name.clone(), name.clone())).collect()),
            _ => None,
        }
    }

    /// The list it stands on.
    fn list(&self) -> paths::AssetRegister {
        paths::AssetRegister { kind: self.kind }
    }

    fn action(&self) -> String {
        match self.id {
            Some(entry) => paths::AssetRegisterEntry { entry }.to_string(),
            None => paths::AssetRegisterNew { kind: self.kind }.to_string(),
        }
    }

    fn is_proposal(&self) -> bool {
        right(&self.layout) == Right::Propose
    }

    /// Common systems that a new asset can begin with: name, and the form filled in.
    fn systems(&self) -> Vec<(&'static str, String)> {
        if self.kind != Kind::Assets || self.id.is_some() {
            return Vec::new();
        }
        let of = |it: &'static System| {
            let number = |number: &dyn ToString| number.to_string();
            let pairs = [
                ("cluster", self.value("cluster").to_owned()),
                ("model", it.name.clone()),
                ("accelerator", it.accelerator.clone()),
                ("accelerators", number(&it.accelerators)),
                ("price", number(&it.price)),
                ("idle_kw", number(&it.idle_kw)),
                ("load_kw", number(&it.load_kw)),
                ("rated_kw", number(&it.rated_kw)),
            ];
            (it.name.as_str(), paths::with_query(paths::AssetRegisterNew { kind: self.kind }, &pairs))
        };
        systems().iter().map(of).collect()
    }

    /// The system that it began with, which says where its figures come from.
    fn began_with(&self) -> Option<&'static System> {
        let is_it = |it: &&System| self.id.is_none() && it.name == self.value("model");
        systems().iter().find(is_it)
    }

    /// What removing it means.
    fn removing(&self) -> &'static str {
        match self.kind {
            Kind::Clusters => {
                "Removes the cluster and all its entries from the asset register. Months must be inactive. You can undo this \
                 under Changes."
            }
            _ => {
                "Removes the entry from the asset register. Publish the changed months to update them. You can undo this under \
                 Changes."
            }
        }
    }
}

pub async fn new(path: paths::AssetRegisterNew, reading: Reading<Pairs>) -> Result {
    let Reading { now, layout, query: pairs, mut db, .. } = reading;
    let kind = path.kind;
    let (_, asset_register) = onprem::AssetRegister::current(&mut db).await?;
    let mut texts: BTreeMap<String, String> =
        kind.fields().iter().map(|field| (field.name.to_owned(), field.default.to_owned())).collect();
    let asked = pairs.iter().find(|(name, _)| name == "cluster").map(|(_, cluster)| cluster.as_str());
    // What a cluster was bought in is what the rest of it is likely paid in.
    if let Some((_, asset)) = asset_register.assets().find(|(_, asset)| Some(asset.cluster.as_str()) == asked)
        && let Some(currency) = texts.get_mut("currency")
    {
        *currency = asset.currency.to_string();
    }
    // What holds now is what is changed.
    if let Some(cluster) =
        asked.and_then(|asked| asset_register.cluster(asked)).filter(|_| kind == Kind::Utilization)
    {
        let shares = asset_register.shares(cluster, BillingMonth::of(now.date_naive()));
        let entered = [
            ("downtime", Some(shares.downtime)),
            ("utilization", Some(shares.utilization)),
            ("repeated", shares.repeated),
        ];
        for (name, share) in entered.into_iter().filter_map(|(name, share)| Some((name, share?))) {
            texts.insert(name.to_owned(), share.times(100).normalize().to_string());
        }
    }
    texts.extend(pairs);
    respond::html(EntryPage::new(layout, kind, None, format!("New {}", kind.one()), texts, &asset_register))
}

pub async fn create(path: paths::AssetRegisterNew, writing: Writing, Form(pairs): Form<Pairs>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let kind = path.kind;
    let (_, asset_register) = onprem::AssetRegister::current(&mut db).await?;
    let texts: BTreeMap<String, String> = pairs.into_iter().collect();
    let title = format!("New {}", kind.one());
    let mut page = EntryPage::new(layout, kind, None, title, texts, &asset_register);
    let entry = match onprem::read(kind, &page.texts) {
        Ok(entry) => entry,
        Err(refused) => {
            page.refused = refused;
            return respond::refused(page);
        }
    };
    let (summary, next) = (format!("New {}", entry.title()), next(&entry, &asset_register, kind));
    let edits = changes::additions(&mut db, vec![entry]).await?;
    finish(&mut db, page, edits, &summary, &next, by.at(now)).await
}

pub async fn edit(path: paths::AssetRegisterEntry, layout: Layout, mut db: Db) -> Result {
    let (revision, asset_register) = onprem::AssetRegister::current(&mut db).await?;
    let entry = asset_register.entries.get(&path.entry).ok_or(Error::NotFound)?;
    let (kind, title) = (Kind::of(entry), filters::capital(&entry.title()));
    let mut texts = cells(entry);
    texts.insert("revision".to_owned(), revision.to_string());
    respond::html(EntryPage::new(layout, kind, Some(path.entry), title, texts, &asset_register))
}

pub async fn change(path: paths::AssetRegisterEntry, writing: Writing, Form(pairs): Form<Pairs>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let mut texts: BTreeMap<String, String> = pairs.into_iter().collect();
    // As it was when the form was opened: whoever changed it meanwhile is not overwritten.
    let current = changes::Kind::AssetRegister.version(&mut db).await?;
    let seen = texts.get("revision").and_then(|text| text.parse().ok()).filter(|seen| *seen <= current);
    let asset_register = onprem::AssetRegister::as_of(&mut db, seen.unwrap_or(current)).await?;
    let before = asset_register.entries.get(&path.entry).ok_or(Error::NotFound)?;
    let kind = Kind::of(before);
    if let Entry::Cluster(it) = before {
        // What bills and addresses call it stays.
        texts.insert("handle".to_owned(), it.handle.clone());
    }
    let mut page = EntryPage::new(
        layout,
        kind,
        Some(path.entry),
        filters::capital(&before.title()),
        texts,
        &asset_register,
    );
    let after = match onprem::read(kind, &page.texts) {
        Ok(entry) => entry,
        Err(refused) => {
            page.refused = refused;
            return respond::refused(page);
        }
    };
    let (summary, next) = (format!("Changed {}", before.title()), next(&after, &asset_register, kind));
    let edits = vec![Edit { id: path.entry, before: Some(before.clone()), after: Some(after) }];
    finish(&mut db, page, edits, &summary, &next, by.at(now)).await
}

pub async fn remove(path: paths::AssetRegisterRemove, writing: Writing) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let (_, asset_register) = onprem::AssetRegister::current(&mut db).await?;
    let before = asset_register.entries.get(&path.entry).ok_or(Error::NotFound)?;
    let kind = Kind::of(before);
    let page = EntryPage::new(
        layout,
        kind,
        Some(path.entry),
        filters::capital(&before.title()),
        cells(before),
        &asset_register,
    );
    let (summary, next) = (format!("Removed {}", before.title()), next(before, &asset_register, kind));
    let edits = match before {
        // A cluster goes with everything that is its own.
        Entry::Cluster(it) => {
            let assets: BTreeSet<&str> = asset_register
                .assets()
                .filter(|(_, asset)| asset.cluster == it.handle)
                .map(|(_, asset)| asset.name.as_str())
                .collect();
            let is_own = |entry: &Entry| match entry {
                Entry::Event(event) => assets.contains(event.asset.as_str()),
                _ => true,
            };
            let own = asset_register.of_cluster(&it.handle).into_iter().filter(|(_, entry)| is_own(entry));
            own.map(|(id, entry)| Edit { id, before: Some(entry.clone()), after: None }).collect()
        }
        _ => vec![Edit { id: path.entry, before: Some(before.clone()), after: None }],
    };
    let next = if kind == Kind::Clusters { paths::Clusters.to_string() } else { next };
    finish(&mut db, page, edits, &summary, &next, by.at(now)).await
}

async fn finish(
    db: &mut sqlx::PgConnection,
    page: EntryPage,
    edits: Vec<Edit>,
    summary: &str,
    next: &str,
    act: Act<'_>,
) -> Result {
    let reason = Some(page.value("reason").trim().to_owned()).filter(|reason| !reason.is_empty());
    let about = About { summary, reason: reason.as_deref() };
    match send(db, edits, about, right(&page.layout), next, act).await? {
        Sent::To(response) => Ok(response),
        Sent::Refused(problems) => respond::refused(EntryPage { problems, ..page }),
    }
}

/// Where one goes on: the page of its cluster.
fn next(entry: &Entry, asset_register: &AssetRegister, kind: Kind) -> String {
    let of_asset = |name: &str| {
        asset_register.assets().find(|(_, asset)| asset.name == name).map(|(_, asset)| asset.cluster.clone())
    };
    let cluster = match entry {
        Entry::Event(it) => of_asset(&it.asset),
        _ => entry.cluster().map(str::to_owned),
    };
    cluster.map_or_else(|| paths::AssetRegister { kind }.to_string(), |cluster| to(&cluster))
}
