//! `/pools`: shared costs, how each was divided in a month, and the form of one.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;

use super::super::error::{Error, Result};
use super::super::extract::{Db, Form};
use super::super::layout::Layout;
use super::super::{filters, paths, respond};
use super::rules::sent;
use super::{Sent, book_now, problem, rewrite, send};
use crate::accounts::Viewer;
use crate::allocation::{
    self, Book, Divided, Edit, Entry, FixedShare, Months, Pool, Problem, Recipient, Split, handle_of,
};
use crate::audit::Actor;
use crate::config::Settings;
use crate::exchange;
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;
use crate::report::{Answers, Grouping, Question};

/// Ways to divide a pool: a word of the form, its name, and what it means.
const SPLITS: [(&str, &str, &str); 6] = [
    (
        "direct-cost",
        "In proportion to direct cost",
        "by the effective cost that is a team’s own, in the reporting currency",
    ),
    ("evenly", "Evenly", "the same for every team that has no teams inside it"),
    ("fixed", "By fixed shares", "by the percentages below, which sum to 100"),
    (
        "accelerator-hours",
        "In proportion to accelerator-hours",
        "by the accelerator-hours that are a team’s own",
    ),
    (
        "quantity",
        "In proportion to a quantity",
        "by what was entered for the month on the page of quantities",
    ),
    (
        "who-used-it",
        "Who used it",
        "commitments and credits: by the usage that the same commitment covers, or of the same account",
    ),
];

/// A pool with what it held in a month and how that was divided.
struct Shown {
    id: i64,
    pool: Pool,
    cost: Decimal,
    divided: Vec<Divided>,
}

#[derive(Template)]
#[template(path = "allocation/pools.html")]
struct Page {
    layout: Layout,
    month: Option<BillingMonth>,
    pools: Vec<Shown>,
    currency: Option<Currency>,
    weighed_in: Option<Currency>,
    without_rate: Vec<Currency>,
}

pub async fn index(
    _: paths::Pools,
    layout: Layout,
    State(answers): State<Arc<Answers>>,
    mut db: Db,
) -> Result {
    let book = book_now(&mut db).await?;
    let month = answers.latest_month(&mut db, &Viewer::Everything).await?;
    let mut page =
        Page { layout, month, pools: Vec::new(), currency: None, weighed_in: None, without_rate: Vec::new() };
    let mut divided = Vec::new();
    let mut held = Vec::new();
    if let Some(month) = month {
        let question = Question {
            by: Grouping::Pool,
            convert_into: exchange::reporting_currency(&mut db).await?,
            ..Question::of(month.into(), Viewer::Everything)
        };
        let spend = answers.spend(&mut db, &question).await?;
        if let Some(division) = answers.division(&mut db, month, spend.sequence).await? {
            page.weighed_in = division.currency;
            page.without_rate = division.without_rate;
            divided = division.pools;
        }
        page.currency.clone_from(&spend.currency);
        held = spend.groups;
    }
    for (id, pool) in book.pools() {
        let holds = month.is_none_or(|month| pool.months.contain(month));
        let group = held.iter().find(|group| holds && group.key.as_deref() == Some(pool.handle.as_str()));
        page.pools.push(Shown {
            id,
            pool: pool.clone(),
            cost: group.map(|group| group.cost.amount).unwrap_or_default(),
            divided: divided.iter().filter(|it| holds && it.pool == pool.handle).cloned().collect(),
        });
    }
    page.pools.sort_by(|a, b| b.cost.cmp(&a.cost).then_with(|| a.pool.name.cmp(&b.pool.name)));
    respond::html(page)
}

impl Shown {
    fn edit(&self) -> paths::Pool {
        paths::Pool { pool: self.id }
    }

    fn split(&self) -> String {
        split(&self.pool.split)
    }
}

/// What was typed: pairs as they came.
struct PoolForm {
    pairs: Vec<(String, String)>,
}

/// Somebody who can take part.
struct Candidate {
    key: String,
    name: String,
    is_pool: bool,
}

#[derive(Template)]
#[template(path = "allocation/pool.html")]
struct FormPage {
    layout: Layout,
    id: Option<i64>,
    form: PoolForm,
    candidates: Vec<Candidate>,
    problems: Vec<Problem>,
}

impl FormPage {
    fn new(layout: Layout, id: Option<i64>, form: PoolForm, book: &Book, problems: Vec<Problem>) -> Self {
        let mut candidates: Vec<Candidate> = Vec::new();
        for entry in book.entries.values() {
            let candidate = match entry {
                Entry::Team(it) => {
                    Candidate { key: format!("team:{}", it.handle), name: it.name.clone(), is_pool: false }
                }
                Entry::Pool(it) if it.handle != form.value("handle") => {
                    Candidate { key: format!("pool:{}", it.handle), name: it.name.clone(), is_pool: true }
                }
                _ => continue,
            };
            if !candidates.iter().any(|known| known.key == candidate.key) {
                candidates.push(candidate);
            }
        }
        candidates.sort_by(|a, b| (a.is_pool, &a.name).cmp(&(b.is_pool, &b.name)));
        Self { layout, id, form, candidates, problems }
    }

    fn title(&self) -> String {
        match self.id {
            Some(_) => format!("Pool “{}”", self.form.value("name")),
            None => "New pool".to_owned(),
        }
    }

    fn action(&self) -> String {
        match self.id {
            Some(pool) => paths::Pool { pool }.to_string(),
            None => paths::NewPool.to_string(),
        }
    }

    fn remove(&self) -> String {
        self.id.map(|pool| paths::PoolRemove { pool }.to_string()).unwrap_or_default()
    }
}

impl PoolForm {
    fn of(pool: &Pool) -> Self {
        let month = |month: Option<BillingMonth>| month.map(|month| month.to_string()).unwrap_or_default();
        let mut pairs = vec![
            ("name".to_owned(), pool.name.clone()),
            ("handle".to_owned(), pool.handle.clone()),
            ("last".to_owned(), month(pool.months.last)),
        ];
        let by = match &pool.split {
            Split::Evenly => "evenly",
            Split::DirectCost => "direct-cost",
            Split::AcceleratorHours => "accelerator-hours",
            Split::WhoUsedIt => "who-used-it",
            Split::Quantity { unit } => {
                pairs.push(("unit".to_owned(), unit.clone()));
                "quantity"
            }
            Split::Fixed { shares } => {
                for share in shares {
                    let percent = share.share.times(100).normalize();
                    pairs.push((format!("share:{}", key(&share.to)), percent.to_string()));
                }
                "fixed"
            }
        };
        pairs.push(("by".to_owned(), by.to_owned()));
        pairs.extend(pool.among.iter().map(|team| (format!("only:team:{team}"), "yes".to_owned())));
        pairs.extend(pool.without.iter().map(|team| (format!("without:team:{team}"), "yes".to_owned())));
        pairs.extend(pool.pools.iter().map(|pool| (format!("only:pool:{pool}"), "yes".to_owned())));
        Self { pairs }
    }

    fn value(&self, name: impl AsRef<str>) -> &str {
        self.pairs.iter().find(|(key, _)| key == name.as_ref()).map_or("", |(_, value)| value.trim())
    }

    fn has_split(&self, word: &str) -> bool {
        self.value("by") == word
    }

    fn share(&self, candidate: &Candidate) -> &str {
        self.value(format!("share:{}", candidate.key))
    }

    fn is_ticked(&self, what: &str, candidate: &Candidate) -> bool {
        !self.value(format!("{what}:{}", candidate.key)).is_empty()
    }

    fn handles(&self, prefix: &str) -> Vec<String> {
        let ticked = self.pairs.iter().filter(|(_, value)| !value.trim().is_empty());
        ticked.filter_map(|(name, _)| name.strip_prefix(prefix).map(str::to_owned)).collect()
    }

    /// The pool, and from which month on.
    fn read(&self) -> Result<(Pool, Option<BillingMonth>), Vec<Problem>> {
        let mut problems = Vec::new();
        let name = self.value("name").to_owned();
        if name.is_empty() {
            problems.push(problem("Name", "a pool needs a name, by which statements call it"));
        }
        let handle = match self.value("handle") {
            "" => handle_of(&name),
            handle => handle.to_owned(),
        };
        let mut month = |name: &str, title: &str| match self.value(name) {
            "" => None,
            text => {
                let month = text.parse::<BillingMonth>();
                if month.is_err() {
                    problems
                        .push(problem(title, &format!("found “{text}”, expected a month such as 2026-09")));
                }
                month.ok()
            }
        };
        let (since, last) = (month("since", "From"), month("last", "Last month"));
        let split = match self.value("by") {
            "evenly" => Split::Evenly,
            "direct-cost" => Split::DirectCost,
            "accelerator-hours" => Split::AcceleratorHours,
            "who-used-it" => Split::WhoUsedIt,
            "quantity" => Split::Quantity { unit: self.value("unit").to_owned() },
            "fixed" => Split::Fixed { shares: self.shares(&mut problems) },
            other => {
                problems.push(problem("Divided", &format!("“{other}” is no way to divide it")));
                Split::Evenly
            }
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        let pool = Pool {
            handle,
            name,
            split,
            among: self.handles("only:team:"),
            without: self.handles("without:team:"),
            pools: self.handles("only:pool:"),
            months: Months { first: None, last },
        };
        Ok((pool, since))
    }

    fn shares(&self, problems: &mut Vec<Problem>) -> Vec<FixedShare> {
        let mut shares = Vec::new();
        for (name, value) in &self.pairs {
            let Some(key) = name.strip_prefix("share:").filter(|_| !value.trim().is_empty()) else {
                continue;
            };
            let text = value.trim().trim_end_matches('%').trim();
            let to = match key.split_once(':') {
                Some(("pool", pool)) => Recipient::Pool(pool.to_owned()),
                Some((_, team)) => Recipient::Team(team.to_owned()),
                None => continue,
            };
            if let Ok(percent) = text.parse::<Decimal>() {
                shares.push(FixedShare { to, share: percent.multiply(Decimal::new(1, 2)).normalize() });
            } else {
                let message = format!("found “{value}”, expected a percentage such as 12.5");
                problems.push(problem(&format!("Share of {key}"), &message));
            }
        }
        shares
    }
}

fn key(recipient: &Recipient) -> String {
    match recipient {
        Recipient::Team(team) => format!("team:{team}"),
        Recipient::Pool(pool) => format!("pool:{pool}"),
    }
}

pub async fn new(_: paths::NewPool, layout: Layout, mut db: Db) -> Result {
    let book = book_now(&mut db).await?;
    let form = PoolForm { pairs: vec![("by".into(), "direct-cost".into())] };
    respond::html(FormPage::new(layout, None, form, &book, Vec::new()))
}

pub async fn edit(path: paths::Pool, layout: Layout, mut db: Db) -> Result {
    let book = book_now(&mut db).await?;
    let form = PoolForm::of(find(&book, path.pool)?);
    respond::html(FormPage::new(layout, Some(path.pool), form, &book, Vec::new()))
}

fn find(book: &Book, id: i64) -> Result<&Pool> {
    match book.entries.get(&id) {
        Some(Entry::Pool(pool)) => Ok(pool),
        _ => Err(Error::NotFound),
    }
}

pub async fn create(
    _: paths::NewPool,
    layout: Layout,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    mut db: Db,
    Form(pairs): Form<Vec<(String, String)>>,
) -> Result {
    let book = book_now(&mut db).await?;
    let form = PoolForm { pairs };
    let problems = match form.read() {
        Ok((pool, since)) => {
            let months = Months { first: since, last: pool.months.last };
            let id = allocation::entry_ids(&mut db, 1).await?.pop().unwrap_or_default();
            let summary = format!("New pool “{}”", pool.name);
            let edits = vec![Edit { id, before: None, after: Some(Entry::Pool(Pool { months, ..pool })) }];
            match send(&mut db, edits, &summary, None, &by, &settings).await? {
                Sent::To(response) => return Ok(response),
                Sent::Refused(problems) => problems,
            }
        }
        Err(problems) => problems,
    };
    respond::refused(FormPage::new(layout, None, form, &book, problems))
}

pub async fn change(
    path: paths::Pool,
    layout: Layout,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    mut db: Db,
    Form(pairs): Form<Vec<(String, String)>>,
) -> Result {
    let book = book_now(&mut db).await?;
    let known = find(&book, path.pool)?;
    let form = PoolForm { pairs };
    let problems = match form.read() {
        Ok((pool, since)) => {
            let months = Months { first: known.months.first, last: pool.months.last };
            let summary = format!("Pool “{}” changed", pool.name);
            // Its handle is what rules and other pools know it by.
            let after = Entry::Pool(Pool { months, handle: known.handle.clone(), ..pool });
            let edits = rewrite(&mut db, path.pool, &Entry::Pool(known.clone()), after, since).await?;
            match send(&mut db, edits, &summary, None, &by, &settings).await? {
                Sent::To(response) => return Ok(response),
                Sent::Refused(problems) => problems,
            }
        }
        Err(problems) => problems,
    };
    respond::refused(FormPage::new(layout, Some(path.pool), form, &book, problems))
}

pub async fn remove(
    path: paths::PoolRemove,
    by: Actor,
    State(settings): State<Arc<Settings>>,
    mut db: Db,
) -> Result {
    let book = book_now(&mut db).await?;
    let pool = find(&book, path.pool)?;
    let edits = vec![Edit { id: path.pool, before: Some(Entry::Pool(pool.clone())), after: None }];
    let summary = format!("Pool “{}” removed", pool.name);
    sent(send(&mut db, edits, &summary, None, &by, &settings).await?)
}

/// How a pool is divided, in words.
pub fn split(split: &Split) -> String {
    match split {
        Split::Evenly => "evenly".to_owned(),
        Split::DirectCost => "in proportion to direct cost".to_owned(),
        Split::AcceleratorHours => "in proportion to accelerator-hours".to_owned(),
        Split::Quantity { unit } => format!("in proportion to {unit}"),
        Split::WhoUsedIt => "by who used it".to_owned(),
        Split::Fixed { shares } => {
            let told = shares.iter().map(|it| {
                let (Recipient::Team(name) | Recipient::Pool(name)) = &it.to;
                format!("{name} {} %", it.share.times(100).normalize())
            });
            format!("by fixed shares: {}", told.collect::<Vec<_>>().join(", "))
        }
    }
}
