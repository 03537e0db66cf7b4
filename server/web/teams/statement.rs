//! `/teams/vision/2026-09/statement`: what a team is charged, in cents that add up, to be printed.

use askama::Template;
use sqlx::PgConnection;

use super::super::choices::{self, Choices};
use super::super::csv;
use super::super::error::Result;
use super::super::extract::{Pairs, Reading};
use super::super::format::{File, Format};
use super::super::layout::Layout;
use super::super::question::Asked;
use super::super::{Access, filters, jobs, paths, respond};
use super::{TAKES, seen};
use crate::config::BaseUrl;
use crate::money::Decimal;
use crate::period::Period;
use crate::report::{
    self, Answers, Cause, GpuJob, Question, Restated, StatedLine, StatedPart, Statement, TeamStatement,
    Weighed, stated_until,
};

/// What restated a month is named so many times.
const CAUSES: usize = 3;
/// Jobs that are named.
const JOBS: usize = 25;

#[derive(Template)]
#[template(path = "teams/statement.html")]
struct Page {
    layout: Layout,
    period: Period,
    choices: Choices,
    it: Statement,
    /// What the teams' jobs held, by cost; of one month alone.
    jobs: Vec<GpuJob>,
    /// Where people reach the server: paper leads nowhere by itself.
    server: BaseUrl,
}

pub async fn show(path: paths::Statement, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { layout, person, query: pairs, app, mut db, .. } = reading;
    let period = path.period;
    let asked = Asked::read_only(pairs, TAKES)?;
    let question = asked.question(period, person.viewer());
    let who = seen(&mut db, &app.answers, &question.viewer, &path.team, period, asked.sequence).await?;
    let mut it = Box::pin(report::statement(&mut db, &app.answers, who, &question)).await?;
    it.completeness = choices::completeness_for(&person, it.completeness);
    match format {
        Format::Json => respond::json(&it),
        Format::Csv => csv::answer(&format!("statement-{}-{period}", it.who.team), &lines(&it)),
        Format::Html => {
            let team = it.who.team.clone();
            let address =
                move |asked: &Asked, period| asked.link(paths::Statement { team: team.clone(), period });
            let choices = Choices::find(&mut db, asked, period, &it.data_status, address).await?;
            let server = app.settings.base_url();
            let jobs = jobs_of(&mut db, &app.answers, &at(&question, &it), &it).await?;
            respond::html(Page { layout, period, choices, it, jobs, server })
        }
    }
}

/// The same question, of the version that the statement is of.
fn at(question: &Question, it: &Statement) -> Question {
    Question { sequence: Some(it.data_status.sequence), ..question.clone() }
}

/// The jobs of the teams of a statement, those that cost most first.
async fn jobs_of(
    db: &mut PgConnection,
    answers: &Answers,
    question: &Question,
    it: &Statement,
) -> Result<Vec<GpuJob>> {
    if !it.period.is_one_month() {
        return Ok(Vec::new());
    }
    let mut jobs = answers.gpu_jobs(db, question).await?.jobs;
    jobs.retain(|job| it.teams.iter().any(|team| team.team == job.team));
    Ok(jobs)
}

impl Page {
    fn shown_jobs(&self) -> &[GpuJob] {
        &self.jobs[..self.jobs.len().min(JOBS)]
    }

    fn job(&self, job: &GpuJob) -> String {
        self.choices.asked.link(paths::Job { job: job.job.job_no })
    }

    fn hours_of_jobs(&self) -> Decimal {
        self.jobs.iter().map(|it| it.accelerator_hours).sum()
    }

    fn cost_of_jobs(&self) -> Decimal {
        self.jobs.iter().map(|it| it.cost).sum()
    }

    fn all_jobs(&self) -> String {
        jobs::only(&self.choices.asked, self.period, jobs::By::Team, &self.it.who.team)
    }

    fn team(&self) -> String {
        let path = paths::Team { team: self.it.who.team.clone(), period: self.period };
        self.choices.asked.link(path)
    }

    fn all_teams(&self) -> String {
        self.choices.asked.link(paths::Chargeback { period: self.period })
    }

    /// The statement of a month as it was when its bills were final.
    fn as_of_month(&self, it: &Restated) -> String {
        let path = paths::Statement { team: self.it.who.team.clone(), period: it.month.into() };
        let currency =
            self.it.data_status.currency.clone().filter(|_| self.choices.asked.convert_into.is_none());
        Asked { sequence: Some(it.sequence), currency, ..self.choices.asked.clone() }.link(path)
    }

    /// Where one sees more of what restated it.
    fn cause(&self, cause: &Cause) -> Option<String> {
        let delivery = cause.delivery.map(|it| paths::Delivery { delivery: it }.to_string());
        let change = || cause.change.map(|it| paths::Change { change: it }.to_string());
        delivery.or_else(change).filter(|_| self.may_import())
    }

    /// This statement as it is now, whatever comes later.
    fn as_of(&self) -> String {
        self.choices.at(&Asked { sequence: Some(self.it.data_status.sequence), ..self.choices.asked.clone() })
    }

    fn stated_until(&self) -> Option<chrono::NaiveDate> {
        stated_until(&self.it.completeness, self.period)
    }

    /// `September 1, 2026 to September 30, 2026`.
    fn days(&self) -> String {
        let days = self.period.days();
        let last = days.end.pred_opt().unwrap_or(days.end);
        format!("{} to {}", days.start.format("%B %-d, %Y"), last.format("%B %-d, %Y"))
    }

    /// What weights are, a sentence for each kind, and the rates that the statement does not show otherwise.
    fn weights(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        let parts =
            || self.it.teams.iter().flat_map(|team| &team.shared).filter(|part| part.weight.is_some());
        for part in parts() {
            let note = format!("Divided {}: weights are {}.", part.split_on_page, part.weighs_on_page);
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        for part in parts() {
            for it in part.weight_made_of.iter().filter(|it| it.cost.currency != it.weight.currency) {
                let is_shown = self.it.data_status.rates.iter().any(|used| {
                    (used.month, &used.currency, &used.into)
                        == (part.month, &it.cost.currency, &it.weight.currency)
                });
                let note = format!("Exchange rate of {}: {}.", part.month.name(), it.rate_in_words());
                if !is_shown && !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        notes
    }

    fn has_shared(&self) -> bool {
        self.it.teams.iter().any(|team| !team.shared.is_empty())
    }

    fn may_import(&self) -> bool {
        self.layout.may(Access::Finance)
    }
}

impl Restated {
    /// The latest of what made it so.
    pub fn shown_causes(&self) -> &[Cause] {
        &self.causes[..self.causes.len().min(CAUSES)]
    }

    pub fn more_causes(&self) -> usize {
        self.causes.len().saturating_sub(CAUSES)
    }

    /// `2026-09 as of step 4`.
    fn since(&self) -> String {
        format!("{} as of version {}", self.month, self.sequence)
    }

    /// Everything that made it so, for a cell.
    fn by(&self) -> String {
        let described = self.causes.iter().map(|cause| {
            let title = cause.title.as_ref().map(|title| format!(": {title}")).unwrap_or_default();
            let reason = cause.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            format!("version {}, {}{title}{reason}", cause.sequence, cause.words())
        });
        described.collect::<Vec<_>>().join("; ")
    }
}

impl Cause {
    /// `a bill`, `the undo of a bill`.
    pub fn words(&self) -> String {
        if self.is_undo { format!("the undo of {}", self.what) } else { self.what.to_owned() }
    }
}

impl TeamStatement {
    pub fn direct_sum(&self) -> Decimal {
        self.direct.iter().map(|line| line.amount).sum()
    }

    pub fn shared_sum(&self) -> Decimal {
        self.shared.iter().map(|part| part.amount).sum()
    }

    pub fn hours(&self) -> Decimal {
        self.direct.iter().map(|line| line.accelerator_hours).sum()
    }

    pub fn owned_hours(&self) -> Decimal {
        self.direct.iter().map(|line| line.owned_hours).sum()
    }

    pub fn has_owned(&self) -> bool {
        self.direct.iter().any(|line| !line.owned_hours.is_zero())
    }

    /// Of its weights in several currencies, what each is the sum of.
    pub fn sums(&self, period: &Period) -> Vec<String> {
        let mut sums: Vec<String> = Vec::new();
        for part in self.shared.iter().filter(|part| !part.weight_made_of.is_empty()) {
            let month =
                if period.is_one_month() { String::new() } else { format!(" in {}", part.month.name()) };
            let sum = part.weight.map(|weight| filters::figure(weight, 2)).unwrap_or_default();
            let made_of = part.made_of(|amount| filters::figure(amount, 2));
            let sum = format!(
                "Weight of {}, divided {}{month}: {made_of} = {sum} {}.",
                self.name, part.split_on_page, part.unit
            );
            if !sums.contains(&sum) {
                sums.push(sum);
            }
        }
        sums
    }
}

impl StatedPart {
    /// What was used: `commitment ri-1`, `account acme`.
    pub fn used(&self) -> Option<String> {
        self.part.as_ref().map(|part| part.replacen(':', " ", 1))
    }

    /// The weight of the team of all weights: `60 of 80 USD`.
    pub fn weights(&self) -> String {
        // Amounts and hours to a hundredth; shares and what else has no unit as they are.
        let places = if self.unit.is_empty() { u8::MAX } else { 2 };
        let figure = |number: Decimal| {
            let number = number.normalize();
            filters::figure(number, number.scale().min(places))
        };
        match self.weight {
            None => "–".to_owned(),
            Some(weight) => format!("{} of {} {}", figure(weight), figure(self.sum_of_weights), self.unit),
        }
    }

    /// What the weight is the sum of: `60 USD + 20 EUR × 1.1`; amounts as `figure` writes them.
    fn made_of(&self, figure: impl Fn(Decimal) -> String) -> String {
        let term = |it: &Weighed| {
            let cost = format!("{} {}", figure(it.cost.amount), it.cost.currency);
            if it.cost.currency == it.weight.currency {
                cost
            } else {
                format!("{cost} × {}", it.rate.normalize())
            }
        };
        self.weight_made_of.iter().map(term).collect::<Vec<_>>().join(" + ")
    }

    /// By way of which shared costs it came, with what each takes and hands on: `Network 0.03 × 0.5`.
    fn ways(&self) -> String {
        let ways = self.by_way_of.iter();
        let ways =
            ways.map(|way| format!("{} {} × {}", way.name, way.share.normalize(), way.handed_on.normalize()));
        ways.collect::<Vec<_>>().join(" + ")
    }

    /// A share in percent, as many digits as one can check an amount with.
    pub fn percent(share: &Decimal) -> String {
        format!("{}%", share.times(100).round(6).normalize())
    }
}

impl Weighed {
    /// `1 EUR = 1.1 USD (entered)`.
    fn rate_in_words(&self) -> String {
        let (one, into) = (&self.cost.currency, &self.weight.currency);
        format!("1 {one} = {} {into} ({})", self.rate.normalize(), self.source)
    }
}

/// A line for a spreadsheet: something direct, a part of a shared cost, or all of it.
struct Line<'a> {
    statement: &'a Statement,
    what: What<'a>,
}

enum What<'a> {
    Direct(&'a TeamStatement, &'a StatedLine),
    Shared(&'a TeamStatement, &'a StatedPart),
    Total,
}

fn lines(it: &Statement) -> Vec<Line<'_>> {
    fn of_team(of: &TeamStatement) -> impl Iterator<Item = What<'_>> {
        let direct = of.direct.iter().map(move |line| What::Direct(of, line));
        direct.chain(of.shared.iter().map(move |part| What::Shared(of, part)))
    }
    // One that nothing is charged by has its total, too.
    it.teams.iter().flat_map(of_team).chain([What::Total]).map(|what| Line { statement: it, what }).collect()
}

impl<'a> Line<'a> {
    fn part(&self) -> &'static str {
        match self.what {
            What::Direct(..) => "direct",
            What::Shared(..) => "shared",
            What::Total => "total",
        }
    }

    fn label(&self) -> &'a str {
        match self.what {
            What::Direct(_, line) => &line.label,
            What::Shared(_, part) => &part.name,
            What::Total => "Total",
        }
    }

    fn amount(&self) -> Decimal {
        match self.what {
            What::Direct(_, line) => line.amount,
            What::Shared(_, part) => part.amount,
            What::Total => self.statement.total.as_ref().map(|total| total.amount).unwrap_or_default(),
        }
    }

    /// Hours of what is direct, and of all teams; a part of a shared cost has none.
    fn hours(
        &self,
        of: fn(&StatedLine) -> Decimal,
        of_team: fn(&TeamStatement) -> Decimal,
    ) -> Option<Decimal> {
        match self.what {
            What::Direct(_, line) => Some(of(line)),
            What::Shared(..) => None,
            What::Total => Some(self.statement.teams.iter().map(of_team).sum()),
        }
    }

    /// Whose it is; none of the total.
    fn team(&self) -> Option<&'a TeamStatement> {
        match self.what {
            What::Direct(of, _) | What::Shared(of, _) => Some(of),
            What::Total => None,
        }
    }

    fn direct(&self) -> Option<&'a StatedLine> {
        if let What::Direct(_, line) = self.what { Some(line) } else { None }
    }

    fn shared(&self) -> Option<&'a StatedPart> {
        if let What::Shared(_, part) = self.what { Some(part) } else { None }
    }

    /// What changed since: beside the total, where something did.
    fn restated(&self) -> Option<&'a [Restated]> {
        let it = &self.statement.restated;
        (matches!(self.what, What::Total) && !it.is_empty()).then_some(it)
    }
}

fn joined(restated: &[Restated], of: fn(&Restated) -> String) -> String {
    restated.iter().map(of).collect::<Vec<_>>().join("; ")
}

csv::record! {
    |it: Line<'_>|
    "team" => it.team().map(|of| &of.team),
    "part" => it.part(),
    "label" => it.label(),
    "project" => it.direct().and_then(|line| line.project.as_deref()),
    "experiment" => it.direct().and_then(|line| line.experiment.as_deref()),
    "accelerator_hours" => it.hours(|line| line.accelerator_hours, TeamStatement::hours),
    "owned_hours" => it.hours(|line| line.owned_hours, TeamStatement::owned_hours),
    "month" => it.shared().map(|part| part.month),
    "pool" => it.shared().map(|part| &part.pool),
    "pool_part" => it.shared().and_then(|part| part.part.as_deref()),
    "pool_total" => it.shared().map(|part| part.total),
    "split" => it.shared().map(|part| part.split.as_str()),
    "weighs" => it.shared().map(|part| part.weighs.as_str()),
    "weight_made_of" => it.shared().map(|part| part.made_of(|amount| amount.normalize().to_string())),
    "weight" => it.shared().and_then(|part| part.weight),
    "sum_of_weights" => it.shared().map(|part| part.sum_of_weights),
    "by_way_of" => it.shared().map(StatedPart::ways),
    "share" => it.shared().map(|part| part.share),
    "amount" => it.amount(),
    "currency" => it.statement.data_status.currency.as_ref(),
    "team_name" => it.team().map_or(&it.statement.who.name, |of| &of.name),
    "cost_centre" => it.team().and_then(|of| of.cost_centre.as_deref()),
    "period" => it.statement.period.to_string(),
    "cost" => it.statement.data_status.cost.to_string(),
    "state" => it.statement.state.as_str(),
    "ledger_step" => it.statement.data_status.sequence,
    "restated_difference" => it.restated().map(|them| them.iter().map(|it| it.difference).sum::<Decimal>()),
    "restated_since" => it.restated().map(|them| joined(them, Restated::since)),
    "restated_by" => it.restated().map(|them| joined(them, Restated::by)),
}
