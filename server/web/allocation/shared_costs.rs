//! `/shared-costs`: shared costs, how each was divided in a month, and the form of one.

use askama::Template;

use super::super::error::{Error, Result};
use super::super::extract::{Db, Form, Now, Pairs, Reading, Writing};
use super::super::layout::Layout;
use super::super::{filters, paths, respond};
use super::rules::sent;
use super::shared_cost_form::{Candidate, PoolForm, SPLITS};
use super::{Sent, configuration_now, reason, rewrite, send};
use crate::accounts::Viewer;
use crate::allocation::{
    Configuration, Divided, Edit, Entry, Hours, HoursOf, Months, Recipient, SharedCostPool, Split, Target,
};
use crate::audit::Actor;
use crate::billing::PricingCategory;
use crate::changes::{self, About, Problem};
use crate::exchange;
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;
use crate::report::{Filter, Group, Grouping, Question};

/// A pool with what it held in a month and how that was divided.
struct Shown {
    id: i64,
    pool: SharedCostPool,
    /// Whether anything sends costs to it.
    is_reached: bool,
    cost: Decimal,
    /// Whether anything is in it, in whatever currency.
    holds_some: bool,
    divided: Vec<Divided>,
    /// Teams that pay a part of it and have no on-prem GPU-hours, where all of it is owned and on-prem GPU-hours do not divide it.
    only_rent: Vec<String>,
}

#[derive(Template)]
#[template(path = "allocation/shared_costs.html")]
struct Page {
    layout: Layout,
    month: Option<BillingMonth>,
    pools: Vec<Shown>,
    currency: Option<Currency>,
    weighed_in: Option<Currency>,
    without_rate: Vec<Currency>,
    /// What people call teams and pools.
    configuration: Configuration,
}

pub async fn index(_: paths::SharedCosts, reading: Reading) -> Result {
    let Reading { layout, app, mut db, .. } = reading;
    let configuration = configuration_now(&mut db).await?;
    let month = app.answers.latest_month(&mut db, &Viewer::Everything).await?;
    let mut page = Page {
        layout,
        month,
        pools: Vec::new(),
        currency: None,
        weighed_in: None,
        without_rate: Vec::new(),
        configuration: Configuration::default(),
    };
    let mut divided = Vec::new();
    let mut held = Vec::new();
    let mut owners = Vec::new();
    let mut are_untold = false;
    if let Some(month) = month {
        let question = Question {
            by: Grouping::Pool,
            then: Some(Grouping::Pricing),
            convert_into: exchange::reporting_currency(&mut db).await?,
            ..Question::of(month.into(), Viewer::Everything)
        };
        let spend = app.answers.spend(&mut db, &question).await?;
        if let Some(division) = app.answers.division(&mut db, month, spend.sequence).await? {
            page.weighed_in = division.currency;
            page.without_rate = division.without_rate;
            divided = division.pools;
        }
        page.currency.clone_from(&spend.currency);
        are_untold = !spend.other_currencies.is_empty() || !spend.unconverted.is_empty();
        held = spend.groups;
        if held.iter().any(is_owned) {
            let direct = Filter::keep(Grouping::Pool, vec![String::new()]);
            let by_team = Question { by: Grouping::Team, then: None, filters: vec![direct], ..question };
            let of_teams = app.answers.spend(&mut db, &by_team).await?.groups;
            let of_teams = of_teams.into_iter().filter(|group| !group.owned_hours.is_zero());
            owners.extend(of_teams.filter_map(|group| group.key));
        }
    }
    for (id, pool) in configuration.pools() {
        let holds = month.is_none_or(|month| pool.months.contain(month));
        let group = held.iter().find(|group| holds && group.key.as_deref() == Some(pool.handle.as_str()));
        let divided: Vec<Divided> =
            divided.iter().filter(|it| holds && it.pool == pool.handle).cloned().collect();
        let only_rent = if group.is_some_and(is_owned) && is_by_all(&pool.split) {
            only_rent(&divided, &owners, &configuration)
        } else {
            Vec::new()
        };
        page.pools.push(Shown {
            id,
            pool: pool.clone(),
            is_reached: is_reached(&configuration, &pool.handle),
            cost: group.map(|group| group.cost.amount).unwrap_or_default(),
            holds_some: group.is_some() || are_untold,
            divided,
            only_rent,
        });
    }
    page.pools.sort_by(|a, b| b.cost.cmp(&a.cost).then_with(|| a.pool.name.cmp(&b.pool.name)));
    respond::html(Page { configuration, ..page })
}

/// Whether everything in a pool, by pricing, is owned.
fn is_owned(pool: &Group) -> bool {
    let owned = PricingCategory::Owned.as_str();
    pool.key.is_some() && pool.groups.iter().all(|group| group.key.as_deref() == Some(owned))
}

/// Whether a pool is divided by what teams rent as well as by what they own.
fn is_by_all(split: &Split) -> bool {
    matches!(split, Split::DirectCost | Split::AcceleratorHours(Hours { of: HoursOf::All, .. }))
}

/// The names of teams that get a part without having anything of one's own.
fn only_rent(divided: &[Divided], owners: &[String], configuration: &Configuration) -> Vec<String> {
    let teams = divided.iter().flat_map(|it| &it.first).filter_map(|portion| match &portion.to {
        Recipient::Team(team) if !owners.contains(team) => Some(configuration.team_name(team)),
        _ => None,
    });
    teams.collect()
}

impl Page {
    fn team(&self, handle: &str) -> String {
        self.configuration.team_name(handle)
    }

    fn pool(&self, handle: &str) -> String {
        self.configuration.pool_name(handle)
    }

    fn split(&self, shown: &Shown) -> String {
        split(&shown.pool.split, &self.configuration)
    }

    /// Among whom it is divided, and without whom, as a sentence goes on.
    fn takers(&self, pool: &SharedCostPool) -> String {
        takers(pool, &self.configuration)
    }
}

impl Shown {
    fn edit(&self) -> paths::SharedCost {
        paths::SharedCost { pool: self.id }
    }

    /// Which accelerator-hours it is divided by.
    fn hours(&self) -> Option<&'static str> {
        let Split::AcceleratorHours(hours) = &self.pool.split else { return None };
        Some(match hours.of {
            HoursOf::All => "Cloud GPU-hours and on-prem GPU-hours have the same weight.",
            HoursOf::Owned => "Only on-prem GPU-hours count.",
            HoursOf::PaidFor => "Only cloud GPU-hours count.",
        })
    }

    /// The form of a rule that sends costs to it.
    fn rule(&self) -> String {
        rule_for(&self.pool)
    }
}

#[derive(Template)]
#[template(path = "allocation/shared_cost.html")]
struct FormPage {
    layout: Layout,
    id: Option<i64>,
    form: PoolForm,
    candidates: Vec<Candidate>,
    problems: Vec<Problem>,
}

impl FormPage {
    fn new(
        layout: Layout,
        id: Option<i64>,
        form: PoolForm,
        configuration: &Configuration,
        problems: Vec<Problem>,
    ) -> Self {
        let candidates = Candidate::all(configuration, form.value("handle"));
        Self { layout, id, form, candidates, problems }
    }

    fn title(&self) -> String {
        match self.id {
            Some(_) => format!("Shared costs “{}”", self.form.value("name")),
            None => "New shared costs".to_owned(),
        }
    }

    fn action(&self) -> String {
        match self.id {
            Some(pool) => paths::SharedCost { pool }.to_string(),
            None => paths::NewSharedCosts.to_string(),
        }
    }

    fn remove(&self) -> String {
        self.id.map(|pool| paths::SharedCostsRemove { pool }.to_string()).unwrap_or_default()
    }
}

pub async fn new(_: paths::NewSharedCosts, layout: Layout, mut db: Db) -> Result {
    let configuration = configuration_now(&mut db).await?;
    let form = PoolForm { pairs: vec![("by".into(), "direct-cost".into())] };
    respond::html(FormPage::new(layout, None, form, &configuration, Vec::new()))
}

pub async fn edit(path: paths::SharedCost, layout: Layout, mut db: Db) -> Result {
    let configuration = configuration_now(&mut db).await?;
    let form = PoolForm::of(find(&configuration, path.pool)?);
    respond::html(FormPage::new(layout, Some(path.pool), form, &configuration, Vec::new()))
}

fn find(configuration: &Configuration, id: i64) -> Result<&SharedCostPool> {
    match configuration.entries.get(&id) {
        Some(Entry::Pool(pool)) => Ok(pool),
        _ => Err(Error::NotFound),
    }
}

pub async fn create(_: paths::NewSharedCosts, writing: Writing, Form(pairs): Form<Pairs>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let configuration = configuration_now(&mut db).await?;
    let form = PoolForm { pairs };
    let problems = match form.read() {
        Ok((pool, since)) => {
            let months = Months { first: since, last: pool.months.last };
            let summary = format!("New shared costs “{}”", pool.name);
            let about = About { summary: &summary, reason: reason(form.value("reason")) };
            let new = Entry::Pool(SharedCostPool { months, ..pool });
            let edits = changes::additions(&mut db, vec![new]).await?;
            match send(&mut db, edits, about, None, by.at(now)).await? {
                Sent::To(response) => return Ok(response),
                Sent::Refused(problems) => problems,
            }
        }
        Err(problems) => problems,
    };
    respond::refused(FormPage::new(layout, None, form, &configuration, problems))
}

pub async fn change(path: paths::SharedCost, writing: Writing, Form(pairs): Form<Pairs>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let configuration = configuration_now(&mut db).await?;
    let known = find(&configuration, path.pool)?;
    let form = PoolForm { pairs };
    let problems = match form.read() {
        Ok((pool, since)) => {
            let months = Months { first: known.months.first, last: pool.months.last };
            let summary = format!("Shared costs “{}” changed", pool.name);
            let about = About { summary: &summary, reason: reason(form.value("reason")) };
            // Its handle is what rules and other pools know it by.
            let after = Entry::Pool(SharedCostPool { months, handle: known.handle.clone(), ..pool });
            let edits = rewrite(&mut db, path.pool, &Entry::Pool(known.clone()), after, since).await?;
            match send(&mut db, edits, about, None, by.at(now)).await? {
                Sent::To(response) => return Ok(response),
                Sent::Refused(problems) => problems,
            }
        }
        Err(problems) => problems,
    };
    respond::refused(FormPage::new(layout, Some(path.pool), form, &configuration, problems))
}

pub async fn remove(path: paths::SharedCostsRemove, Now(now): Now, by: Actor, mut db: Db) -> Result {
    let configuration = configuration_now(&mut db).await?;
    let pool = find(&configuration, path.pool)?;
    let edits = vec![Edit { id: path.pool, before: Some(Entry::Pool(pool.clone())), after: None }];
    let summary = format!("Shared costs “{}” removed", pool.name);
    sent(send(&mut db, edits, &summary, None, by.at(now)).await?)
}

/// Whether a rule sends costs to a pool, or another pool hands on to it.
pub fn is_reached(configuration: &Configuration, handle: &str) -> bool {
    let to_pool = |to: &Recipient| matches!(to, Recipient::Pool(pool) if pool == handle);
    configuration.entries.values().any(|entry| match entry {
        Entry::Rule(rule) => matches!(&rule.to, Target::Pool { pool } if pool == handle),
        Entry::Pool(pool) => {
            let by_share =
                matches!(&pool.split, Split::Fixed { shares } if shares.iter().any(|it| to_pool(&it.to)));
            by_share || pool.pools.iter().any(|other| other == handle)
        }
        _ => false,
    })
}

/// The form of a rule that sends costs to a pool, with that filled in.
pub fn rule_for(pool: &SharedCostPool) -> String {
    paths::new_rule(&[], Some(&Target::Pool { pool: pool.handle.clone() }), &pool.name, pool.months.first)
}

/// Names of teams: `Speech, Vision`.
pub fn teams(handles: &[String], configuration: &Configuration) -> String {
    let names: Vec<String> = handles.iter().map(|handle| configuration.team_name(handle)).collect();
    names.join(", ")
}

/// Names of pools.
pub fn pools(handles: &[String], configuration: &Configuration) -> String {
    let names: Vec<String> = handles.iter().map(|handle| configuration.pool_name(handle)).collect();
    names.join(", ")
}

/// `, only among Speech; the pool Network takes part and hands on what it gets`.
fn takers(pool: &SharedCostPool, configuration: &Configuration) -> String {
    let among = match pool.among.as_slice() {
        [] => String::new(),
        some => format!(", among {} only", teams(some, configuration)),
    };
    let without = match pool.without.as_slice() {
        [] => String::new(),
        some => format!(", without {}", teams(some, configuration)),
    };
    let through = match pool.pools.as_slice() {
        [] => String::new(),
        [one] => format!("; {} takes part and passes on its share", configuration.pool_name(one)),
        many => format!("; {} take part and pass on their shares", pools(many, configuration)),
    };
    among + &without + &through
}

/// How a pool is divided, with everybody's fixed share, which only who sees all teams may read.
pub fn split(split: &Split, configuration: &Configuration) -> String {
    let Split::Fixed { shares } = split else { return split.on_page() };
    let described = shares.iter().map(|it| {
        let name = match &it.to {
            Recipient::Team(team) => configuration.team_name(team),
            Recipient::Pool(pool) => format!("shared costs {}", configuration.pool_name(pool)),
        };
        format!("{name} {}%", it.share.times(100).normalize())
    });
    format!("{}: {}", split.on_page(), described.collect::<Vec<_>>().join(", "))
}
