//! What a team is charged, in cents that add up: `/teams/vision/2026-09/statement`, its `.json` and `.csv`.
//!
//! Its cents come from [`cents`], as those of every page that says what a team is charged; what is direct and what is
//! shared is distributed over its lines in the same way. So all statements of a month add up to the month, and each to
//! its lines. Of several months a statement is the sum of theirs.

mod cents;
mod restated;
mod shared_costs;
mod weight;

use serde::Serialize;
use sqlx::PgConnection;

use super::as_of::Error;
use super::data_status::DataStatus;
use super::seen_team::{SeenTeam, TeamName};
use super::{Answers, Completeness, Group, Grouping, Question};
use crate::accounts::Viewer;
use crate::allocation::Configuration;
use crate::enum_words::words;
use crate::money::{Decimal, Money};
use crate::period::{BillingMonth, Period};
pub use cents::{Cents, month_in_cents, months_in_cents};
use restated::MonthOfTeam;
pub(super) use restated::months as restated_months;
pub use restated::{Cause, Restated};
use shared_costs::Pools;
pub use weight::Weighed;

/// Lines of a team; the smallest beyond are added up, so that a statement stays two pages.
const LINES: usize = 30;

/// A statement. Its lines and parts are cents that sum to the total.
#[derive(Clone, Debug, Serialize)]
pub struct Statement {
    #[serde(flatten)]
    pub who: SeenTeam,
    pub period: Period,
    #[serde(flatten)]
    pub data_status: DataStatus,
    /// Null where nothing was billed.
    pub total: Option<Money>,
    pub direct: Decimal,
    pub shared: Decimal,
    /// The team itself, and those inside it.
    pub teams: Vec<TeamStatement>,
    pub state: Finality,
    /// Months that were final as something else.
    pub restated: Vec<Restated>,
    #[serde(rename = "standing")]
    pub completeness: Vec<Completeness>,
    /// What the statements of all teams and the unallocated part sum to; for who sees everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_everyone: Option<OfEveryone>,
}

words! {
    /// Whether figures may still change because a bill is still to come.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Finality: as_str {
        Provisional = "provisional";
        Final = "final";
    }
}

/// The month, or months, that a statement is a part of, in cents.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct OfEveryone {
    pub total: Decimal,
    pub unallocated: Decimal,
}

/// The part of a statement that is about one team.
#[derive(Clone, Debug, Serialize)]
pub struct TeamStatement {
    pub team: String,
    pub name: String,
    /// Where finance books it, as of the last month that it is charged in with the others.
    pub cost_centre: Option<String>,
    pub total: Decimal,
    pub direct: Vec<StatedLine>,
    pub shared: Vec<StatedPart>,
}

/// A project; an experiment of no project; or what is neither.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatedLine {
    pub project: Option<String>,
    pub experiment: Option<String>,
    pub label: String,
    /// How many lines it stands for, where it stands for several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<usize>,
    pub accelerator_hours: Decimal,
    pub owned_hours: Decimal,
    pub amount: Decimal,
}

/// A team's part of a shared cost in a month, and how it came about.
#[derive(Clone, Debug, Serialize)]
pub struct StatedPart {
    pub month: BillingMonth,
    pub pool: String,
    pub name: String,
    /// Of what, where it is divided by who used it: a commitment or a billing account.
    pub part: Option<String>,
    /// What is divided, exactly.
    pub total: Decimal,
    /// In words: `by direct cost`.
    pub split: String,
    /// The same as pages say it.
    #[serde(skip)]
    pub split_on_page: String,
    /// What weights are counted in; empty where they are shares.
    pub unit: String,
    /// What a weight is, in words: `effective direct cost in all currencies, converted into USD`.
    pub weighs: String,
    /// The same as pages say it.
    #[serde(skip)]
    pub weighs_on_page: String,
    /// Of a weight in several currencies, what it is the sum of.
    pub weight_made_of: Vec<Weighed>,
    /// The team's own, and the sum of all; null where it gets its part only by way of another shared cost.
    pub weight: Option<Decimal>,
    pub sum_of_weights: Decimal,
    /// Shared costs that take part, and hand on what they get.
    pub by_way_of: Vec<Way>,
    pub share: Decimal,
    pub amount: Decimal,
}

/// A shared cost by way of which a team gets a part of another.
#[derive(Clone, Debug, Serialize)]
pub struct Way {
    pub name: String,
    /// What the other gives to it.
    pub share: Decimal,
    /// What of that it hands on to the team.
    pub handed_on: Decimal,
}

/// What a team's cents of a month are for, before they are cents.
struct Item {
    line: Line,
    exact: Decimal,
}

enum Line {
    Direct(Box<StatedLine>),
    Shared(Box<StatedPart>),
}

/// Makes the statement of a team and those inside it.
pub async fn statement(
    db: &mut PgConnection,
    answers: &Answers,
    who: SeenTeam,
    question: &Question,
) -> Result<Statement, Error> {
    let viewer = &question.viewer;
    let of_all = who.question(question);
    let spend = answers.spend(db, &of_all.by(Grouping::Pool)).await?;
    // From here on everything is in one currency and as of one step.
    let question = Question { filters: Vec::new(), ..of_all.beside(&spend) };
    let configuration = answers.configuration(db, spend.sequence).await?;
    let (mut of_everyone, mut restated) = (OfEveryone::default(), Vec::new());
    let mut teams: Vec<TeamStatement> = who
        .names()
        .map(|team| {
            let month = who.last_month_of(&team.team);
            TeamStatement::of(team, &configuration, month)
        })
        .collect();
    for month in question.period.months() {
        let asked = Question { period: month.into(), ..question.clone() };
        let cents = month_in_cents(db, answers, &asked).await?;
        of_everyone.total += cents.values().map(|cents| cents.total).sum();
        of_everyone.unallocated += cents.get(&None).copied().unwrap_or_default().total;
        let sequence = spend.sequence;
        let of_team = MonthOfTeam { answers, who: &who, question: &asked, viewer, sequence };
        if let Some(it) = of_team.restated(db).await? {
            restated.push(of_team.with_causes(db, it).await?);
        }
        let is_charged = |team: &String| cents.contains_key(&Some(team.clone()));
        if !who.in_month(month).iter().any(is_charged) {
            continue;
        }
        let allocated = answers.month(db, &configuration, month, spend.sequence).await?;
        let of_month = configuration.of_month(month);
        let pools = Pools::find(db, answers, &asked, of_month, allocated.division_id).await?;
        let in_month = who.in_month(month);
        for team in teams.iter_mut().filter(|team| in_month.contains(&team.team)) {
            let Some(cents) = cents.get(&Some(team.team.clone())).copied() else { continue };
            let of_team = asked.only(Grouping::Team, vec![team.team.clone()]);
            let direct = direct_items(db, answers, &of_team).await?;
            team.take(direct, cents.direct);
            team.take(pools.items(db, answers, &of_team, &team.team).await?, cents.shared);
        }
    }
    for team in &mut teams {
        team.order();
    }
    teams.retain(|team| team.team == who.team || !team.direct.is_empty() || !team.shared.is_empty());
    let completeness = answers.completeness(db, question.period, &question.viewer, spend.sequence).await?;
    // Every bill of a month moves the weights that shared costs are divided by, whoever sees it.
    let state = Finality::find(db, answers, question.period, spend.sequence).await?;
    let mut data_status = DataStatus::from(&spend);
    // Nothing is compared here.
    data_status.rates.retain(|used| used.month >= question.period.first());
    data_status.previous_unconverted.clear();
    let total: Decimal = teams.iter().map(|team| team.total).sum();
    let shared = teams.iter().flat_map(|team| &team.shared).map(|part| part.amount).sum();
    Ok(Statement {
        who,
        period: question.period,
        total: spend.total.as_ref().map(|spent| Money { amount: total, currency: spent.currency.clone() }),
        direct: total - shared,
        shared,
        teams,
        of_everyone: (*viewer == Viewer::Everything).then_some(of_everyone),
        state,
        restated,
        completeness,
        data_status,
    })
}

async fn direct_items(
    db: &mut PgConnection,
    answers: &Answers,
    of_team: &Question,
) -> Result<Vec<Item>, Error> {
    let by_project = of_team.direct().by(Grouping::Project);
    let asked = Question { then: Some(Grouping::Experiment), ..by_project };
    let mut items = Vec::new();
    for group in answers.spend(db, &asked).await?.groups {
        if let Some(project) = &group.key {
            items.push(direct(Some(project), None, group.label.clone(), &group));
            continue;
        }
        for inside in &group.groups {
            let label = match &inside.key {
                Some(_) => format!("Experiment {}", inside.label),
                None => "No project or experiment".to_owned(),
            };
            items.push(direct(None, inside.key.as_ref(), label, inside));
        }
    }
    items.retain(|item| !item.exact.is_zero());
    Ok(items)
}

fn direct(project: Option<&String>, experiment: Option<&String>, label: String, group: &Group) -> Item {
    let line = StatedLine {
        project: project.cloned(),
        experiment: experiment.cloned(),
        label,
        stands_for: None,
        accelerator_hours: group.accelerator_hours,
        owned_hours: group.owned_hours,
        amount: Decimal::ZERO,
    };
    Item { line: Line::Direct(Box::new(line)), exact: group.cost.amount }
}

impl Finality {
    /// Of every bill of a period, whoever sees it.
    pub(super) async fn find(
        db: &mut PgConnection,
        answers: &Answers,
        period: Period,
        sequence: i64,
    ) -> Result<Self, Error> {
        let completeness = answers.completeness(db, period, &Viewer::Everything, sequence).await?;
        let is_open = completeness.is_empty() || completeness.iter().any(|scope| scope.is_provisional);
        Ok(if is_open { Self::Provisional } else { Self::Final })
    }

    pub fn is_final(self) -> bool {
        self == Self::Final
    }
}

impl TeamStatement {
    /// Nothing yet of a team, as it is called in a month.
    fn of(team: TeamName, configuration: &Configuration, month: BillingMonth) -> Self {
        let of_month = configuration.of_month(month);
        let named =
            |handle: &str| of_month.cost_centre(handle).map_or(handle, |it| it.name.as_str()).to_owned();
        Self {
            cost_centre: of_month.cost_centre_of(&team.team).map(named),
            team: team.team,
            name: team.name,
            total: Decimal::ZERO,
            direct: Vec::new(),
            shared: Vec::new(),
        }
    }

    /// Adds what is direct of a month, or what is shared: items, which become cents that sum to these.
    fn take(&mut self, items: Vec<Item>, cents: Decimal) {
        let exact: Vec<Decimal> = items.iter().map(|item| item.exact).collect();
        let rounded = Decimal::round_parts_to(&exact, cents, cents::PLACES);
        for (item, amount) in items.into_iter().zip(rounded) {
            self.total += amount;
            match item.line {
                Line::Shared(part) => self.shared.push(StatedPart { amount, ..*part }),
                Line::Direct(line) => {
                    let same = |known: &&mut StatedLine| {
                        known.project == line.project && known.experiment == line.experiment
                    };
                    match self.direct.iter_mut().find(same) {
                        Some(known) => {
                            known.amount += amount;
                            known.accelerator_hours += line.accelerator_hours;
                            known.owned_hours += line.owned_hours;
                        }
                        None => self.direct.push(StatedLine { amount, ..*line }),
                    }
                }
            }
        }
    }

    /// The largest line first, what has no name last; the smallest ones are added up.
    fn order(&mut self) {
        let is_nameless = |line: &StatedLine| line.project.is_none() && line.experiment.is_none();
        self.direct.sort_by(|a, b| {
            is_nameless(a)
                .cmp(&is_nameless(b))
                .then(b.amount.cmp(&a.amount))
                .then_with(|| a.label.cmp(&b.label))
        });
        self.shared.sort_by(|a, b| (a.month, &a.name, &a.part).cmp(&(b.month, &b.name, &b.part)));
        let named = self.direct.iter().filter(|line| !is_nameless(line)).count();
        if named <= LINES + 1 {
            return;
        }
        let rest: Vec<StatedLine> = self.direct.splice(LINES..named, []).collect();
        let folded = StatedLine {
            project: None,
            experiment: None,
            label: format!("{} others", rest.len()),
            stands_for: Some(rest.len()),
            accelerator_hours: rest.iter().map(|line| line.accelerator_hours).sum(),
            owned_hours: rest.iter().map(|line| line.owned_hours).sum(),
            amount: rest.iter().map(|line| line.amount).sum(),
        };
        self.direct.insert(LINES, folded);
    }
}
