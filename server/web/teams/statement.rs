//! `/teams/vision/2026-09/statement`: what a team is charged, in cents that add up, to be printed.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;

use super::super::error::Result;
use super::super::extract::{CurrentUser, Db, Query};
use super::super::layout::Layout;
use super::super::question::Asked;
use super::super::respond::{As, Cell, Format, Record};
use super::super::{Access, choices, filters, paths, respond};
use super::{TAKES, seen};
use crate::exchange;
use crate::money::{Currency, Decimal};
use crate::period::{BillingMonth, Period};
use crate::report::{self, Answers, StatedLine, StatedPart, Statement, TeamStatement, stated_until};

#[derive(Template)]
#[template(path = "teams/statement.html")]
struct Page {
    layout: Layout,
    period: Period,
    asked: Asked,
    it: Statement,
    reporting_currency: Option<Currency>,
}

pub async fn show(
    path: paths::Statement,
    layout: Layout,
    CurrentUser(person): CurrentUser,
    Query(pairs): Query<Vec<(String, String)>>,
    State(answers): State<Arc<Answers>>,
    mut db: Db,
) -> Result {
    let period = path.period;
    let mut asked = Asked::read_only(pairs, TAKES)?;
    let question = asked.question(period, person.viewer());
    let who = seen(&mut db, &answers, &question.viewer, &path.team, period, asked.sequence).await?;
    let it = report::statement(&mut db, &answers, who, &question).await?;
    match path.what.format {
        Format::Json => respond::json(&it),
        Format::Csv => respond::csv(&format!("statement-{}-{period}", it.who.team), &lines(&it)),
        Format::Html => {
            if asked.convert_into.is_none() && !it.footing.other_currencies.is_empty() {
                asked.currency.clone_from(&it.footing.currency);
            }
            let reporting_currency = exchange::reporting_currency(&mut db).await?;
            respond::html(Page { layout, period, asked, it, reporting_currency })
        }
    }
}

impl Page {
    fn at(&self, asked: &Asked) -> String {
        asked.link(self.path(self.period))
    }

    fn path(&self, period: Period) -> paths::Statement {
        paths::Statement { team: self.it.who.team.clone(), period, what: As::page(paths::Stated) }
    }

    fn during(&self, period: Period) -> (String, String) {
        (period.name(), self.asked.link(self.path(period)))
    }

    fn periods(&self) -> Vec<choices::Choice> {
        choices::periods(self.period, |period| self.during(period).1)
    }

    fn team(&self) -> String {
        let path = paths::Team { team: self.it.who.team.clone(), period: As::page(self.period) };
        self.asked.link(path)
    }

    fn all_teams(&self) -> String {
        self.asked.link(paths::Chargeback { period: As::page(self.period) })
    }

    /// This statement as it is now, whatever comes later.
    fn as_of(&self) -> String {
        self.at(&Asked { sequence: Some(self.it.footing.sequence), ..self.asked.clone() })
    }

    fn file(&self, suffix: &str) -> String {
        format!("{}.{suffix}{}", self.path(self.period), self.asked.suffix())
    }

    fn costs(&self) -> Vec<choices::Choice> {
        choices::costs(&self.asked, |asked| self.at(asked))
    }

    fn currencies(&self) -> Vec<choices::Choice> {
        choices::currencies(&self.asked, &self.it.footing, self.reporting_currency.as_ref(), |asked| {
            self.at(asked)
        })
    }

    fn publishers(&self, is_provisional: bool) -> Vec<String> {
        choices::publishers(&self.it.standing, is_provisional)
    }

    fn stated_until(&self) -> Option<chrono::NaiveDate> {
        stated_until(&self.it.standing, self.period)
    }

    /// `1 September 2026 to 30 September 2026`.
    fn days(&self) -> String {
        let days = self.period.days();
        let last = days.end.pred_opt().unwrap_or(days.end);
        format!("{} to {}", days.start.format("%-d %B %Y"), last.format("%-d %B %Y"))
    }

    fn may_import(&self) -> bool {
        self.layout.may(Access::Finance)
    }
}

impl TeamStatement {
    pub fn direct_sum(&self) -> Decimal {
        self.direct.iter().map(|line| line.amount).sum()
    }

    pub fn shared_sum(&self) -> Decimal {
        self.shared.iter().map(|part| part.amount).sum()
    }
}

impl StatedPart {
    /// What was used: `commitment ri-1`, `account acme`.
    pub fn used(&self) -> Option<String> {
        self.part.as_ref().map(|part| part.replacen(':', " ", 1))
    }

    /// The weight of the team of all weights: `60 of 80 USD`.
    pub fn weights(&self) -> String {
        let figure = |number: Decimal| {
            let number = number.normalize();
            filters::figure(number, number.scale().min(2))
        };
        match self.weight {
            None => "–".to_owned(),
            Some(weight) => format!("{} of {} {}", figure(weight), figure(self.sum_of_weights), self.unit),
        }
    }

    /// A share in percent, as many digits as one can check an amount with.
    pub fn percent(share: &Decimal) -> String {
        format!("{}\u{202f}%", share.times(100).round(6).normalize())
    }
}

/// A line for a spreadsheet: something direct, or a part of a shared cost.
struct Line<'a> {
    of: &'a TeamStatement,
    currency: Option<&'a Currency>,
    what: What<'a>,
}

enum What<'a> {
    Direct(&'a StatedLine),
    Shared(&'a StatedPart),
}

fn lines(it: &Statement) -> Vec<Line<'_>> {
    let currency = it.footing.currency.as_ref();
    let of_team = |of| {
        let line = move |what| Line { of, currency, what };
        let direct = of.direct.iter().map(What::Direct);
        direct.chain(of.shared.iter().map(What::Shared)).map(line)
    };
    it.teams.iter().flat_map(of_team).collect()
}

impl Record for Line<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "team",
        "part",
        "label",
        "project",
        "experiment",
        "accelerator_hours",
        "month",
        "pool",
        "pool_part",
        "pool_total",
        "split",
        "weight",
        "sum_of_weights",
        "share",
        "amount",
        "currency",
    ];

    fn cells(&self) -> Vec<Cell<'_>> {
        let text = |text: &'_ Option<String>| text.clone().map_or(Cell::Empty, Cell::text);
        let month = |month: BillingMonth| Cell::text(month.to_string());
        let team = Cell::text(self.of.team.as_str());
        let currency = self.currency.map_or(Cell::Empty, |currency| Cell::text(currency.as_str()));
        match &self.what {
            What::Direct(line) => {
                let mut cells = vec![team, Cell::text("direct"), Cell::text(line.label.as_str())];
                cells.extend([
                    text(&line.project),
                    text(&line.experiment),
                    Cell::Number(line.accelerator_hours),
                ]);
                cells.extend(std::iter::repeat_n(Cell::Empty, 8));
                cells.extend([Cell::Number(line.amount), currency]);
                cells
            }
            What::Shared(part) => vec![
                team,
                Cell::text("shared"),
                Cell::text(part.name.as_str()),
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
                month(part.month),
                Cell::text(part.pool.as_str()),
                text(&part.part),
                Cell::Number(part.total),
                Cell::text(part.split.as_str()),
                part.weight.map_or(Cell::Empty, Cell::Number),
                Cell::Number(part.sum_of_weights),
                Cell::Number(part.share),
                Cell::Number(part.amount),
                currency,
            ],
        }
    }
}
