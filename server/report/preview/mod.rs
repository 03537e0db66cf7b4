//! What a change of the allocation moves: from whom to whom, by month, with the largest keys. For a draft against the
//! configuration that holds now; for one that was applied or undone, against the step before.

mod transfers;

use std::collections::BTreeSet;

use serde::Serialize;
use sqlx::PgConnection;

use super::change_summary::sentences_of_change;
use super::completeness::{final_since, months};
use super::denomination::Unconverted;
use super::snapshot::{Allocation, AsOf, Names, Snapshot};
use super::sums::sums_of;
use super::{Answers, CostMetric, Grouping, Question};
use crate::accounts::Viewer;
use crate::allocation::{self, Configuration, Edit, Entry, MonthAllocation, MonthConfiguration};
use crate::changes::{Change, Document as _};
use crate::exchange::{self, Rates, Used};
use crate::ledger::{self, ActiveImports};
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;
pub use transfers::{Move, TransferredKey};
use transfers::{Transfers, in_order, keys};

/// The latest months that are looked at; those before change as well.
const MONTHS: usize = 36;

/// What moves. Amounts are in one currency; what no rate converts into it says so and is in no other figure.
#[derive(Clone, Debug, Serialize)]
pub struct Preview {
    pub currency: Option<Currency>,
    /// Months in which something moves, or a team is counted inside another, the latest first.
    pub months: Vec<MonthOfPreview>,
    /// Months with charges before those that were looked at, for which the change holds as well.
    pub earlier_months: usize,
    /// Over all these months.
    pub moves: Vec<Move>,
    pub keys: Vec<TransferredKey>,
    pub rates: Vec<Used>,
    /// Charges of these months that are in no team's figures.
    pub unconverted: Vec<Unconverted>,
    /// Keys that stay with their owner and get another project, experiment, label or rule.
    pub relabelled_keys: i64,
    /// What else the change does, a sentence each.
    pub consequences: Vec<String>,
}

/// What each team is charged in a month, shared costs included.
#[derive(Clone, Debug, Serialize)]
pub struct MonthOfPreview {
    pub month: BillingMonth,
    /// Its bills were final, so that statements of it may have been handed out.
    pub was_final: bool,
    /// What teams, and what is unallocated, are charged more in all: as much as the others are charged less.
    pub changes_hands: Decimal,
    pub moves: Vec<Move>,
    pub teams: Vec<TeamOfPreview>,
    /// Teams with others inside them, before or after, whose statements change: all of them together.
    pub with_teams_inside: Vec<TeamOfPreview>,
}

/// What a team is charged without the change and with it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TeamOfPreview {
    /// Null: unallocated.
    pub team: Option<String>,
    pub label: String,
    pub before: Decimal,
    pub after: Decimal,
    /// The same in cents, as on its statements.
    pub stated_before: Decimal,
    pub stated_after: Decimal,
}

/// A month that the change touches, allocated without and with it.
struct BeforeAfter {
    month: BillingMonth,
    rates: Rates,
    before: MonthAllocation,
    after: MonthAllocation,
}

/// Looks at what a change does, or did.
pub async fn preview(
    db: &mut PgConnection,
    answers: &Answers,
    change: &Change<Edit>,
) -> sqlx::Result<Preview> {
    let now = ledger::sequence(&mut *db).await?;
    let (sequence, before) = match change.outline.applied_version {
        Some(applied) => (applied, answers.configuration(db, applied - 1).await?),
        None => (now, answers.configuration(db, now).await?),
    };
    let after = before.edited(&change.edits);
    let mut months = months(&mut *db).await?;
    months.retain(|month| change.edits.iter().any(|edit| touches(edit, *month)));
    let mut changed = Vec::new();
    for month in months.iter().take(MONTHS) {
        let visible = ActiveImports::find(db, *month, *month, sequence).await?;
        let rates = exchange::rates(db, *month, *month, sequence).await?;
        let then = allocation::allocate(db, &before, *month, &visible, &rates, sequence).await?;
        let with = allocation::allocate(db, &after, *month, &visible, &rates, sequence).await?;
        if then != with {
            changed.push(BeforeAfter { month: *month, rates, before: then, after: with });
        }
    }
    let names = names(&before, &after, &changed);
    let mut preview = Preview {
        currency: exchange::reporting_currency(db).await?,
        months: Vec::new(),
        earlier_months: months.len().saturating_sub(MONTHS),
        moves: Vec::new(),
        keys: Vec::new(),
        rates: Vec::new(),
        unconverted: Vec::new(),
        relabelled_keys: 0,
        consequences: sentences_of_change(&before, &after, &change.edits),
    };
    if changed.is_empty() {
        return Ok(preview);
    }
    let mut found = Transfers::find(db, &changed, &names, preview.currency.as_ref()).await?;
    for of_month in &changed {
        let (teams, unconverted) = teams(db, of_month, &names, preview.currency.as_ref(), sequence).await?;
        let moves = found.months.remove(&of_month.month).unwrap_or_default();
        let more = teams.iter().map(|team| team.after - team.before).filter(|more| !more.is_negative());
        let changes_hands: Decimal = more.sum();
        let configurations = [&before, &after].map(|configuration| configuration.of_month(of_month.month));
        let with_teams_inside = with_teams_inside(&teams, &configurations, &names);
        if !changes_hands.is_zero() || !moves.is_empty() || !with_teams_inside.is_empty() {
            preview.months.push(MonthOfPreview {
                month: of_month.month,
                was_final: final_since(db, of_month.month, sequence).await?.is_some(),
                changes_hands,
                moves: in_order(moves, preview.currency.as_ref()),
                teams,
                with_teams_inside,
            });
            preview.unconverted.extend(unconverted);
        }
    }
    preview.keys = keys(db, &changed, &names, &found.rates).await?;
    preview.moves = in_order(found.all, preview.currency.as_ref());
    preview.rates = found.rates.into_iter().filter(|used| used.currency != used.into).collect();
    preview.relabelled_keys = found.relabelled;
    Ok(preview)
}

/// Whether an edit changes whose charges of a month are.
fn touches(edit: &Edit, month: BillingMonth) -> bool {
    let is_of = |entry: &Entry| !matches!(entry, Entry::Budget(_)) && entry.months().contain(month);
    edit.before.iter().chain(&edit.after).any(is_of)
}

/// What things were called before, where they are gone, and are called after.
fn names(before: &Configuration, after: &Configuration, changed: &[BeforeAfter]) -> Names {
    let months = || changed.iter().map(|of_month| of_month.month);
    let (Some(first), Some(last)) = (months().min(), months().max()) else { return Names::default() };
    Names::of(before, first, last).and(Names::of(after, first, last))
}

async fn teams(
    db: &mut PgConnection,
    of_month: &BeforeAfter,
    names: &Names,
    currency: Option<&Currency>,
    sequence: i64,
) -> sqlx::Result<(Vec<TeamOfPreview>, Vec<Unconverted>)> {
    let question = Question {
        by: Grouping::Team,
        cost: CostMetric::Effective,
        convert_into: currency.cloned(),
        sequence: Some(sequence),
        ..Question::of(of_month.month.into(), Viewer::Everything)
    };
    let visible = ActiveImports::find(db, of_month.month, of_month.month, sequence).await?;
    let rates = of_month.rates.clone();
    let mut snapshot = Snapshot {
        visible: visible.into(),
        rates: rates.into(),
        into: currency.cloned(),
        same_days: None,
        allocation: Allocation::default().into(),
    };
    let mut unconverted = Vec::new();
    let mut teams: Vec<TeamOfPreview> = Vec::new();
    for (is_after, allocated) in [(false, &of_month.before), (true, &of_month.after)] {
        snapshot.allocation = Allocation { months: vec![allocated.clone()], ..Allocation::default() }.into();
        let sums = sums_of(db, AsOf { question: &question, snapshot: &snapshot, sequence }).await?;
        unconverted = sums.left_out.of_period;
        for sum in sums.groups {
            let place = teams.iter().position(|team| team.team == sum.key).unwrap_or_else(|| {
                let label = names.label(&Grouping::Team, sum.key.as_deref());
                teams.push(TeamOfPreview { team: sum.key.clone(), label, ..TeamOfPreview::default() });
                teams.len() - 1
            });
            let side = if is_after { &mut teams[place].after } else { &mut teams[place].before };
            *side = sum.figures.cost;
        }
    }
    state(&mut teams);
    sort(&mut teams);
    Ok((teams, unconverted))
}

/// Which change, of the teams that have others inside them in one of the two configurations.
fn with_teams_inside(
    teams: &[TeamOfPreview],
    configurations: &[MonthConfiguration<'_>; 2],
    names: &Names,
) -> Vec<TeamOfPreview> {
    let cost = |handle: &str, side: fn(&TeamOfPreview) -> Decimal| {
        teams.iter().find(|team| team.team.as_deref() == Some(handle)).map_or(Decimal::ZERO, side)
    };
    let of = |configuration: &MonthConfiguration<'_>,
              handle: &str,
              side: fn(&TeamOfPreview) -> Decimal|
     -> Decimal {
        configuration.with_teams_inside(handle).into_iter().map(|inside| cost(inside, side)).sum()
    };
    let parents = configurations
        .iter()
        .flat_map(|configuration| configuration.teams.iter().filter_map(|team| team.parent.as_deref()));
    let parents: BTreeSet<&str> = parents.collect();
    let mut changed: Vec<TeamOfPreview> = parents
        .into_iter()
        .map(|handle| TeamOfPreview {
            team: Some(handle.to_owned()),
            label: names.label(&Grouping::Team, Some(handle)),
            before: of(&configurations[0], handle, |team| team.before),
            after: of(&configurations[1], handle, |team| team.after),
            stated_before: of(&configurations[0], handle, |team| team.stated_before),
            stated_after: of(&configurations[1], handle, |team| team.stated_after),
        })
        .filter(|team| team.before != team.after)
        .collect();
    sort(&mut changed);
    changed
}

/// In cents, as statements are: those of a month are distributed over all teams, and what is unallocated, in the order of
/// their handles.
fn state(teams: &mut [TeamOfPreview]) {
    teams.sort_by(|a, b| (a.team.is_none(), &a.team).cmp(&(b.team.is_none(), &b.team)));
    // Who is charged on one side alone has no line on the other.
    let cents = |side: fn(&TeamOfPreview) -> Decimal| -> Vec<Decimal> {
        Decimal::round_parts(&teams.iter().map(side).collect::<Vec<_>>(), 2)
    };
    let (before, after) = (cents(|team| team.before), cents(|team| team.after));
    for ((team, before), after) in teams.iter_mut().zip(before).zip(after) {
        (team.stated_before, team.stated_after) = (before, after);
    }
}

/// What changes most first.
fn sort(teams: &mut [TeamOfPreview]) {
    let size = |team: &TeamOfPreview| ((team.after - team.before).abs(), team.after);
    teams.sort_by(|a, b| size(b).cmp(&size(a)).then_with(|| a.label.cmp(&b.label)));
}

impl MonthOfPreview {
    /// Whose statements change, the most first: teams with those inside them, and all others by themselves.
    pub fn statements(&self) -> Vec<&TeamOfPreview> {
        let is_inside = |team: &TeamOfPreview| self.with_teams_inside.iter().any(|it| it.team == team.team);
        let alone = self.teams.iter().filter(|team| !is_inside(team));
        let changed = alone.filter(|team| team.stated_before != team.stated_after);
        let mut changed: Vec<&TeamOfPreview> = self.with_teams_inside.iter().chain(changed).collect();
        changed.sort_by_key(|team| std::cmp::Reverse((team.after - team.before).abs()));
        changed
    }

    pub fn has_teams_inside(&self, team: &TeamOfPreview) -> bool {
        self.with_teams_inside.iter().any(|it| it.team == team.team)
    }
}

impl Preview {
    /// Whether every charge keeps its owner, and every team what it is charged.
    pub fn is_still(&self) -> bool {
        self.moves.is_empty() && self.months.iter().all(|month| month.changes_hands.is_zero())
    }

    /// Months that were final and are not as they were.
    pub fn restated(&self) -> Vec<&MonthOfPreview> {
        self.months.iter().filter(|it| it.was_final).collect()
    }

    /// What changes hands in these, without the latest so many.
    pub fn restated_from(&self, first: usize) -> Decimal {
        self.restated().iter().skip(first).map(|it| it.changes_hands).sum()
    }

    fn converted<'a>(&'a self, month: &'a MonthOfPreview) -> impl Iterator<Item = &'a Move> {
        month.moves.iter().filter(move |it| self.currency.as_ref() == Some(&it.currency))
    }

    /// What of a month goes to another owner, in the one currency.
    pub fn charges_of(&self, month: &MonthOfPreview) -> Decimal {
        self.converted(month).map(|it| it.charges).sum()
    }

    pub fn credits_of(&self, month: &MonthOfPreview) -> Decimal {
        self.converted(month).map(|it| it.credits).sum()
    }

    pub fn charges(&self) -> Decimal {
        self.months.iter().map(|month| self.charges_of(month)).sum()
    }

    pub fn credits(&self) -> Decimal {
        self.months.iter().map(|month| self.credits_of(month)).sum()
    }

    pub fn changes_hands(&self) -> Decimal {
        self.months.iter().map(|month| month.changes_hands).sum()
    }
}
