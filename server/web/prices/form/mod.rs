//! `/prices/new` and `/prices/offers/…`: a price that is entered, changed or removed; files of them in [`file`].

pub mod file;
mod typed;

use crate::changes::{self, Document as _};
use askama::Template;
use serde::Deserialize;
use sqlx::PgConnection;

use super::{described, right, words};
use crate::accelerator;
use crate::audit::Act;
use crate::changes::{Outcome, Right};
use crate::price_catalogue::{self, Edit, Entries};
use crate::price_catalogue::{Listed, Mark, Paid, Price, Tier};
use crate::web::changes::{Why, reason};
use crate::web::error::{Error, Result};
use crate::web::extract::{Db, Form, Now, Query, Writing};
use crate::web::form::Fields;
use crate::web::layout::Layout;
use crate::web::{filters, paths, respond};
use typed::Typed;

#[derive(Template)]
#[template(path = "prices/entry.html")]
struct Page {
    layout: Layout,
    /// What is changed; none of a new one.
    listed: Option<Listed>,
    marks: Vec<Mark>,
    fields: Fields,
    conflicts: Vec<String>,
}

#[expect(clippy::unused_self, reason = "templates ask the page")]
impl Page {
    fn new(layout: Layout, listed: Option<Listed>, fields: Fields) -> Self {
        Self { layout, listed, fields, marks: Vec::new(), conflicts: Vec::new() }
    }

    fn action(&self) -> String {
        match &self.listed {
            Some(it) => paths::PriceOffer { offer: it.id.clone() }.to_string(),
            None => paths::NewPrice.to_string(),
        }
    }

    fn removal(&self) -> Option<String> {
        let to = |it: &Listed| paths::PriceRemove { offer: it.id.clone() };
        self.listed.as_ref().map(|it| format!("{}?revision={}", to(it), self.fields.value("revision")))
    }

    fn models(&self) -> Vec<(&'static str, String)> {
        let mut models: Vec<_> = accelerator::models()
            .iter()
            .filter(|it| it.id != "unknown")
            .map(|it| (it.id, format!("{} {}, {}", it.vendor, it.name, it.variant)))
            .collect();
        models.sort_by(|a, b| a.1.cmp(&b.1));
        models
    }

    fn tiers(&self) -> [(&'static str, &'static str); 6] {
        Tier::ALL.map(|it| (it.as_str(), it.name()))
    }

    fn ways(&self) -> Vec<(&'static str, &'static str)> {
        let usual = ("", "usual for the tier");
        std::iter::once(usual).chain(Paid::ALL.map(|it| (it.as_str(), it.name()))).collect()
    }

    fn is_proposal(&self) -> bool {
        right(&self.layout) == Right::Propose
    }

    fn words(&self) -> Vec<(&'static str, String)> {
        let of = |it: &Listed| self.marks.iter().map(|mark| words::mark(mark, &it.price)).collect();
        self.listed.as_ref().map(of).unwrap_or_default()
    }
}

/// The list as whoever sends a form saw it, and as it is now.
struct Seen {
    then: Entries,
    now: Entries,
    last: i64,
}

impl Seen {
    async fn find(db: &mut PgConnection, revision: Option<i64>) -> Result<Self> {
        let last = changes::Kind::Prices.version(&mut *db).await?;
        let revision = revision.unwrap_or(last);
        if !(0..=last).contains(&revision) {
            return Err(Error::BadRequest(format!("revision: found {revision}, expected 0 to {last}.")));
        }
        let now = price_catalogue::Entries::as_of(&mut *db, last).await?;
        let then = if revision == last {
            now.clone()
        } else {
            price_catalogue::Entries::as_of(db, revision).await?
        };
        Ok(Self { then, now, last })
    }

    /// The offer that they saw.
    fn listed(&self, offer: &str) -> Result<Listed> {
        self.then.catalogue().find(offer).cloned().ok_or(Error::NotFound)
    }
}

pub async fn new(_: paths::NewPrice, Now(now): Now, layout: Layout, mut db: Db) -> Result {
    let revision = changes::Kind::Prices.version(&mut db).await?;
    let fields = Typed::new(now.date_naive(), revision).fields();
    respond::html(Page::new(layout, None, fields))
}

pub async fn create(_: paths::NewPrice, writing: Writing, Form(typed): Form<Typed>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    save(layout, &mut db, None, &typed, by.at(now)).await
}

pub async fn edit(path: paths::PriceOffer, Now(now): Now, layout: Layout, mut db: Db) -> Result {
    let (revision, list) = price_catalogue::current(&mut db).await?;
    let listed = list.find(&path.offer).ok_or(Error::NotFound)?.clone();
    let marks = list.marks(&listed, now.date_naive());
    let fields = Typed::of(&listed.price, revision).fields();
    respond::html(Page { marks, ..Page::new(layout, Some(listed), fields) })
}

pub async fn change(path: paths::PriceOffer, writing: Writing, Form(typed): Form<Typed>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    save(layout, &mut db, Some(&path.offer), &typed, by.at(now)).await
}

async fn save(
    layout: Layout,
    db: &mut PgConnection,
    offer: Option<&str>,
    typed: &Typed,
    act: Act<'_>,
) -> Result {
    let today = act.at.date_naive();
    let seen = Seen::find(&mut *db, typed.revision).await?;
    let listed = offer.map(|offer| seen.listed(offer)).transpose()?;
    let mut fields = typed.fields();
    let reason = fields.check("reason", reason(&typed.reason)).flatten();
    let price = typed.read(&mut fields, today);
    if let Some(price) = &price {
        typed.ask(price, &seen.then, &mut fields, today);
    }
    let Some(price) = price.filter(|_| !fields.is_refused()) else {
        return respond::refused(Page::new(layout, listed, fields));
    };
    let summary = summary(&price, if listed.is_some() { "changed" } else { "added" });
    let id = price.offer();
    let offers: Vec<&str> = listed.iter().map(|it| it.id.as_str()).chain([id.as_str()]).collect();
    let conflicts = seen.now.changed_since(&seen.then, &offers);
    let edits = match &listed {
        Some(listed) => price_catalogue::edits_of_replacement(&seen.then, &listed.id, price),
        None => price_catalogue::edits_of_file(&seen.then, vec![price]),
    };
    let wish = Wish { listed, typed, edits, conflicts, summary: &summary, reason };
    wish.write(layout, db, &seen, act).await
}

/// `AWS p5.48xlarge, us-east-1, on demand: added`.
fn summary(price: &Price, done: &str) -> String {
    let what = price.what();
    let what = if what.is_empty() { words::model(&price.accelerator) } else { what };
    format!("{} {what}, {}: {done}", price.supplier, price.tier.name())
}

/// What a form asks for.
struct Wish<'a> {
    /// What is changed; none of a new one.
    listed: Option<Listed>,
    typed: &'a Typed,
    edits: Vec<Edit>,
    /// Prices that are not as whoever sends it saw them.
    conflicts: Vec<String>,
    summary: &'a str,
    reason: Option<&'a str>,
}

impl Wish<'_> {
    async fn write(self, layout: Layout, db: &mut PgConnection, seen: &Seen, act: Act<'_>) -> Result {
        let Self { listed, typed, edits, conflicts, summary, reason } = self;
        let outcome = if conflicts.is_empty() {
            let about = changes::About { summary, reason };
            changes::change::<Entries>(db, edits, about, right(&layout), act).await?
        } else {
            Outcome::Conflict(conflicts)
        };
        match described(outcome, summary) {
            Ok(response) => Ok(response),
            // What they typed, beside what holds now, which they have seen then.
            Err(conflicts) => {
                let fields = typed.clone().having_seen(seen.last).fields();
                let listed = listed.and_then(|it| seen.now.catalogue().find(&it.id).cloned());
                respond::refused(Page { conflicts, ..Page::new(layout, listed, fields) })
            }
        }
    }
}

/// The list that whoever removes an offer saw.
#[derive(Deserialize)]
pub struct AsOf {
    revision: Option<i64>,
}

pub async fn remove(
    path: paths::PriceRemove,
    Query(as_of): Query<AsOf>,
    writing: Writing,
    Form(why): Form<Why>,
) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let reason = why.reason()?;
    let seen = Seen::find(&mut db, as_of.revision).await?;
    let listed = seen.listed(&path.offer)?;
    let summary = summary(&listed.price, "removed");
    let wish = Wish {
        typed: &Typed::of(&listed.price, seen.last),
        edits: price_catalogue::edits_of_removal(&seen.then, &path.offer),
        conflicts: seen.now.changed_since(&seen.then, &[&path.offer]),
        listed: Some(listed),
        summary: &summary,
        reason,
    };
    wish.write(layout, &mut db, &seen, by.at(now)).await
}
