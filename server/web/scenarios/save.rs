//! What writes: keeping scenarios and versions, files, sharing, removing and bringing back.

use std::sync::Arc;

use chrono::NaiveDate;

use super::super::App;
use super::super::error::{Error, Result};
use super::super::extract::{Db, Form, Pairs, Sending, Upload, Writing};
use super::super::layout::Layout;
use super::super::{paths, respond};
use super::address::{Base, FROM_LEDGER, Said};
use super::edit::Edited;
use super::ledger;
use super::prices::Prices;
use super::scope::{Scope, seen_by};
use super::show;
use super::{Page, to};
use crate::accounts::{Email, Person, Role, people};
use crate::compute::compute;
use crate::economics::comparison::{Comparison, Scenario};
use crate::economics::file::{self, Wrong};
use crate::saved_scenarios::{self, Headline, Kept, MOST_SHARES, Saved, Share, Shared, may_change};

/// Ten years of hours, as digits.
const LARGEST_FILE: usize = 2 << 20;
const LONGEST_NAME: usize = 200;
/// Of what was typed, so much is repeated where it is refused.
const LONGEST_ECHO: usize = 80;
const LONGEST_REASON: usize = 1000;

/// Compares. None: it cannot be computed with.
async fn compared(scenario: &Scenario) -> Result<Option<Comparison>> {
    let scenario = scenario.clone();
    Ok(compute(move || scenario.compare().ok()).await?)
}

/// What a form sent, with the base that it edits.
struct Wish {
    base: Base,
    said: Said,
    edited: Edited,
}

impl Wish {
    /// It holds a connection only as long as it asks: nobody waits for one while a scenario is made and computed.
    async fn read(
        app: &App,
        pairs: Vec<(String, String)>,
        of: Option<i64>,
        (person, today): (&Person, NaiveDate),
    ) -> Result<Self> {
        let (mut db, answers) = (app.db.acquire().await?, &app.answers);
        let mut said = Said::read(pairs)?;
        let prices = Prices::of_list(&mut db, answers, said.list, today).await?;
        said.prices = Arc::new(prices.clone());
        if of.is_none() && said.rest.iter().any(|(name, value)| name == "from" && value == FROM_LEDGER) {
            let refused = |nothing: ledger::Nothing| Error::BadRequest(nothing.sentence());
            let asked = asked_of_ledger(&said);
            let found = Box::pin(ledger::ask(&mut db, answers, &asked, person, &prices)).await?;
            drop(db);
            let it = found.map_err(refused)?.made().await?.map_err(refused)?;
            return Self::edited(Base::Ledger(Box::new(it)), said).await;
        }
        let base = match (of, said.value("from").split_once(':')) {
            (Some(id), _) => Base::kept(&mut db, id, said.version, (person, today)).await?,
            (None, Some(("template", handle))) => Base::template(handle)?,
            (None, Some(("scenario", id))) => {
                let id = id.parse().map_err(|_| Error::NotFound)?;
                Base::kept(&mut db, id, said.version, (person, today)).await?
            }
            _ => {
                return Err(Error::BadRequest("from: enter template:…, scenario:… or ledger.".to_owned()));
            }
        };
        drop(db);
        Self::edited(base, said).await
    }

    async fn edited(base: Base, said: Said) -> Result<Self> {
        compute(move || {
            let edited = said.edit(&base)?;
            Ok(Self { base, said, edited })
        })
        .await?
    }

    /// Nothing was kept, and the page says why.
    async fn refused(self, layout: Layout, app: &App, person: &Person, why: &str) -> Result {
        let shares = match &self.base {
            Base::Kept(kept) => saved_scenarios::shared_with(&mut *app.db.acquire().await?, kept.id).await?,
            Base::Template(..) | Base::Ledger(_) => Vec::new(),
        };
        let (person, problem) = (person.clone(), Some(format!("Nothing was saved: {why}.")));
        compute(move || {
            let mut page = show::Page::of(layout, self.base, self.edited, shares, &person);
            page.problem = problem;
            respond::refused(page)
        })
        .await?
    }

    /// What it amounts to, where it can be computed with.
    async fn headline(&self) -> Result<Option<Headline>> {
        if !self.edited.misread.is_empty() {
            return Ok(None);
        }
        Ok(compared(&self.edited.scenario).await?.map(|it| Headline::of(&it)))
    }
}

/// Of a form that keeps what the ledger says, what it asks the ledger.
fn asked_of_ledger(said: &Said) -> Vec<(String, String)> {
    let is_of_form = |name: &str, value: &str| {
        ["name", "csrf", "last", "reason"].contains(&name) || (name == "from" && value == FROM_LEDGER)
    };
    said.rest.iter().filter(|(name, value)| !is_of_form(name, value)).cloned().collect()
}

const REFUSED: &str = "correct the marked fields";

/// Keeps a template, or a copy, under a name of its own.
pub async fn create(_: paths::Scenarios, sending: Sending, Form(pairs): Form<Pairs>) -> Result {
    let Sending { now, layout, person, by, app } = sending;
    let mut wish = Wish::read(&app, pairs, None, (&person, now.date_naive())).await?;
    let name = wish.said.value("name").to_owned();
    if let Some(why) = name_problem(&name) {
        return wish.refused(layout, &app, &person, why).await;
    }
    wish.edited.scenario.name.clone_from(&name);
    let Some(headline) = wish.headline().await? else {
        return wish.refused(layout, &app, &person, REFUSED).await;
    };
    let mut db = app.db.acquire().await?;
    let id = saved_scenarios::create(&mut db, &wish.edited.scenario, &headline, person.user_id, by.at(now))
        .await?;
    Ok(respond::flash(to(id), &format!("“{name}” is saved.")))
}

fn name_problem(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("enter a name")
    } else if name.chars().count() > LONGEST_NAME {
        Some("the name is longer than 200 characters; shorten it")
    } else {
        None
    }
}

/// Keeps the next version of what is kept. An earlier version without edits is restored by that.
pub async fn save(path: paths::Scenario, sending: Sending, Form(pairs): Form<Pairs>) -> Result {
    let Sending { now, layout, person, by, app } = sending;
    let id = path.scenario;
    let wish = Wish::read(&app, pairs, Some(id), (&person, now.date_naive())).await?;
    let Base::Kept(kept) = &wish.base else { return Err(Error::NotFound) };
    if !may_change(&person, kept.owner_id) {
        return Err(Error::MayNotWrite);
    }
    if kept.removed_at.is_some() {
        return wish.refused(layout, &app, &person, "this scenario was removed; restore it first").await;
    }
    if let Some(why) = name_problem(wish.edited.scenario.name.trim()) {
        return wish.refused(layout, &app, &person, why).await;
    }
    let last = wish.said.value("last").parse().unwrap_or(kept.last_version);
    let reason: String = wish.said.value("reason").chars().take(LONGEST_REASON).collect();
    let reason = Some(reason.as_str()).filter(|it| !it.is_empty());
    let Some(headline) = wish.headline().await? else {
        return wish.refused(layout, &app, &person, REFUSED).await;
    };
    let what = (&wish.edited.scenario, &headline);
    let mut db = app.db.acquire().await?;
    let saved = saved_scenarios::save(&mut db, (id, last), what, reason, by.at(now)).await?;
    drop(db);
    match saved {
        Saved::As(version) => Ok(respond::flash(to(id), &format!("Saved as version {version}."))),
        Saved::Nothing => Ok(respond::flash(to(id), "Nothing changed: the latest version is the same.")),
        Saved::Conflict(version) => {
            let why = format!(
                "version {version} was saved by somebody else. Open it first, or save yours as a copy"
            );
            wish.refused(layout, &app, &person, &why).await
        }
    }
}

/// A file of `gpuledger scenario`, as a scenario of its own.
pub async fn load(_: paths::ScenariosFile, sending: Sending, mut upload: Upload) -> Result {
    let Sending { now, layout, person, by, app } = sending;
    let (name, content) = upload.one_file(LARGEST_FILE).await?;
    let wrong = |message: &str| vec![Wrong { line: 1, key: String::new(), message: message.to_owned() }];
    let read = match String::from_utf8(content) {
        _ if name.is_empty() => Err(wrong("no file was selected; choose a .toml file")),
        Err(_) => Err(wrong("the file is not UTF-8 text; save it as UTF-8")),
        Ok(text) if text.contains('\0') => Err(wrong("the file contains a NUL character; remove it")),
        Ok(text) => compute(move || file::read(&text)).await?,
    };
    let named = read.and_then(|mut scenario| {
        if scenario.name.trim().is_empty() {
            name.strip_suffix(".toml").unwrap_or(&name).clone_into(&mut scenario.name);
        }
        name_problem(scenario.name.trim()).map_or(Ok(scenario), |why| Err(wrong(why)))
    });
    let scenario = match named {
        Ok(scenario) => scenario,
        Err(wrong) => {
            let mut db = app.db.acquire().await?;
            let (refused, today) = (Some((name, wrong)), now.date_naive());
            let page = Page::of(layout, (&mut db, &app.answers), &person, refused, today).await?;
            return respond::refused(page);
        }
    };
    // It was checked while it was read.
    let headline = compared(&scenario).await?.map(|it| Headline::of(&it)).unwrap_or_default();
    let mut db = app.db.acquire().await?;
    let id = saved_scenarios::create(&mut db, &scenario, &headline, person.user_id, by.at(now)).await?;
    Ok(respond::flash(to(id), &format!("“{}” is saved.", scenario.name)))
}

/// A scenario that this person may change.
async fn own(db: &mut Db, id: i64, person: &Person, today: NaiveDate) -> Result<Kept> {
    let reader = seen_by(db, person, today).await?;
    let kept = saved_scenarios::find(db, id, None, &reader).await?.ok_or(Error::NotFound)?;
    if may_change(person, kept.owner_id) { Ok(kept) } else { Err(Error::MayNotWrite) }
}

pub async fn share(path: paths::ScenarioShare, writing: Writing, Form(pairs): Form<Pairs>) -> Result {
    let Writing { now, person, by, mut db, .. } = writing;
    let today = now.date_naive();
    let kept = own(&mut db, path.scenario, &person, today).await?;
    let said = Said::read(pairs)?;
    let with = said.value("with");
    let found = if person.role == Role::Lead {
        reader_as_typed(&mut db, with, today).await?
    } else {
        reader_named(&mut db, with, today).await?
    };
    let Some((with, whom)) = found else {
        let expected = if person.role == Role::Lead {
            "the name of a team or an email address"
        } else {
            "the name of a team with a lead, or the email address of a lead"
        };
        let more = if with.chars().count() > LONGEST_ECHO { "…" } else { "" };
        let with: String = with.chars().take(LONGEST_ECHO).collect();
        let sentence = format!("Not shared: found “{with}{more}”. Enter {expected}.");
        return Ok(respond::flash(to(kept.id), &sentence));
    };
    let shared = saved_scenarios::share(&mut db, kept.id, &with, by.at(now)).await?;
    let sentence = match (shared, &with) {
        (Shared::Before, _) => format!("It is already shared with {whom}."),
        (Shared::TooOften, _) => {
            format!(
                "Not shared: a scenario can be shared with at most {MOST_SHARES}. Stop sharing with one of them first."
            )
        }
        (Shared::Now, _) if person.role == Role::Lead => {
            format!("Shared with {whom}. Leads with this address or of this team can view it.")
        }
        (Shared::Now, Share::Team(_)) => {
            format!("Shared with {whom}. They can view it and save copies.")
        }
        (Shared::Now, Share::Person(email)) => {
            format!("Shared with {email}, who can view it and save copies.")
        }
    };
    Ok(respond::flash(to(kept.id), &sentence))
}

/// A lead by their address, or a team, which has a lead or is inside one that has; and whom that shows it to, in words.
/// None where there is nobody.
async fn reader_named(db: &mut Db, text: &str, today: NaiveDate) -> Result<Option<(Share, String)>> {
    let leads: Vec<Person> = people::list(db).await?.into_iter().filter(|it| it.role == Role::Lead).collect();
    let text = text.trim();
    if text.contains('@') {
        let lead = leads.iter().find(|it| it.email.eq_ignore_ascii_case(text));
        return Ok(lead.map(|it| (Share::Person(it.email.clone()), it.email.clone())));
    }
    let shown = Scope::of_day(db, today).await?.shown(text, &leads);
    Ok(shown.map(|it| (Share::Team(it.team.clone()), it.sentence())))
}

/// As [`reader_named`] for a lead, who does not learn who has an account here, nor who leads a team: it is shared with what was
/// typed, and whoever that is meant for reads it.
async fn reader_as_typed(db: &mut Db, text: &str, today: NaiveDate) -> Result<Option<(Share, String)>> {
    let text = text.trim();
    if text.contains('@') {
        let email = Email::parse(text).map(|it| it.as_str().to_lowercase());
        return Ok(email.map(|email| (Share::Person(email.clone()), email)));
    }
    if text.is_empty() || text.chars().count() > LONGEST_NAME {
        return Ok(None);
    }
    let team = Scope::of_day(db, today).await?.handle(text);
    Ok(Some((Share::Team(team.clone()), team)))
}

pub async fn unshare(path: paths::ScenarioUnshare, writing: Writing, Form(pairs): Form<Pairs>) -> Result {
    let Writing { now, person, by, mut db, .. } = writing;
    let kept = own(&mut db, path.scenario, &person, now.date_naive()).await?;
    let said = Said::read(pairs)?;
    let name = said.value("name").to_owned();
    let with = if said.value("kind") == "team" { Share::Team(name) } else { Share::Person(name) };
    let was_there = saved_scenarios::unshare(&mut db, kept.id, &with, by.at(now)).await?;
    let sentence = if was_there {
        format!("No longer shared with {}.", with.name())
    } else {
        "Nothing changed: it was not shared with them.".to_owned()
    };
    Ok(respond::flash(to(kept.id), &sentence))
}

pub async fn remove(path: paths::ScenarioRemove, writing: Writing) -> Result {
    let Writing { now, person, by, mut db, .. } = writing;
    let kept = own(&mut db, path.scenario, &person, now.date_naive()).await?;
    saved_scenarios::remove(&mut db, kept.id, by.at(now)).await?;
    let sentence = format!("“{}” is removed. You can restore it below.", kept.scenario.name);
    Ok(respond::flash(paths::Scenarios, &sentence))
}

pub async fn bring_back(path: paths::ScenarioBringBack, writing: Writing) -> Result {
    let Writing { now, person, by, mut db, .. } = writing;
    let kept = own(&mut db, path.scenario, &person, now.date_naive()).await?;
    saved_scenarios::bring_back(&mut db, kept.id, by.at(now)).await?;
    Ok(respond::flash(to(kept.id), &format!("“{}” is restored.", kept.scenario.name)))
}
