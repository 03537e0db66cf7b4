//! `/chargeback/2026-09`: what every team is charged in a period, and what nobody is.

use askama::Template;

use super::super::choices::{self, Choices};
use super::super::csv::{self, RowInCurrency};
use super::super::error::Result;
use super::super::extract::{Pairs, Reading};
use super::super::format::{File, Format};
use super::super::layout::Layout;
use super::super::question::Asked;
use super::super::table::{self, Head};
use super::super::{Access, filters, paths, respond};
use crate::accounts::Viewer;
use crate::period::Period;
use crate::report::{self, Chargeback, Completeness, Filter, Grouping, SortBy, TeamLine};

#[derive(Template)]
#[template(path = "teams/chargeback.html")]
struct Page {
    layout: Layout,
    period: Period,
    choices: Choices,
    it: Chargeback,
    completeness: Vec<Completeness>,
    /// Whether the viewer sees all teams.
    is_everything: bool,
    has_teams: bool,
}

pub async fn show(path: paths::Chargeback, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { layout, person, query: pairs, app, mut db, .. } = reading;
    let period = path.period;
    let asked = Asked::read_only(pairs, "cost currency in sequence sort")?;
    let question = asked.question(period, person.viewer());
    let it = report::chargeback(&mut db, &app.answers, &question).await?;
    match format {
        Format::Json => respond::json(&it),
        Format::Csv => {
            let currency = it.whole.data_status.currency.as_ref();
            let lines = RowInCurrency::all(&it.teams, currency);
            csv::answer(&format!("chargeback-{period}"), &lines)
        }
        Format::Html => {
            let address = |asked: &Asked, period| asked.link(paths::Chargeback { period });
            let choices = Choices::find(&mut db, asked, period, &it.whole.data_status, address).await?;
            let sequence = it.whole.data_status.sequence;
            let completeness = app.answers.completeness(&mut db, period, &question.viewer, sequence).await?;
            let completeness = choices::completeness_for(&person, completeness);
            let has_teams = app.answers.configuration(&mut db, sequence).await?.has_teams();
            let is_everything = question.viewer == Viewer::Everything;
            respond::html(Page { layout, period, choices, it, completeness, is_everything, has_teams })
        }
    }
}

impl Page {
    fn against(&self) -> String {
        self.it.whole.data_status.compared.against(self.period)
    }

    /// What a line is about: the page of a team, of what is unallocated its charges by service.
    fn to_line(&self, line: &TeamLine) -> String {
        let asked = Asked { sort: None, ..self.choices.asked.clone() };
        if let Some(team) = &line.team {
            return asked.link(paths::Team { team: team.clone(), period: self.period });
        }
        let filters = vec![Filter::keep(Grouping::Team, vec![String::new()])];
        Asked { filters, ..asked }.link(paths::Spend { period: self.period })
    }

    fn variance(&self) -> String {
        Asked { sort: None, ..self.choices.asked.clone() }.link(paths::Variance { period: self.period })
    }

    fn heads(&self) -> Vec<Head> {
        let currency =
            self.it.whole.data_status.currency.as_ref().map(ToString::to_string).unwrap_or_default();
        let head = table::heads(&self.choices.asked, SortBy::Cost, |asked| self.choices.at(asked));
        let mut heads = vec![
            head(SortBy::Name, "Team".to_owned()),
            Head::plain("Direct"),
            Head::plain("Shared"),
            head(SortBy::Cost, format!("{} {currency}", self.it.whole.data_status.cost.label())),
            Head::plain("Share"),
            head(SortBy::Previous, self.it.whole.data_status.compared.head(self.period)),
            head(SortBy::Change, "Change".to_owned()),
        ];
        if self.has_hours() {
            heads.push(head(SortBy::Hours, "Cloud GPU-hours".to_owned()));
            heads.push(head(SortBy::Price, "Per hour".to_owned()));
        }
        if self.has_owned() {
            heads.push(Head::plain("On-prem GPU-hours"));
        }
        heads
    }

    fn has_hours(&self) -> bool {
        !self.it.whole.accelerator_hours.is_zero()
    }

    fn has_owned(&self) -> bool {
        self.it.teams.iter().any(|line| !line.figures.owned_hours.is_zero())
    }
}

csv::record! {
    |it: RowInCurrency<'_, TeamLine>|
    "team" => &it.row.team,
    "name" => &it.row.name,
    "part_of" => &it.row.part_of,
    "direct" => it.row.direct,
    "shared" => it.row.shared,
    "cost" => it.row.figures.cost,
    "share" => it.row.figures.share,
    "previous" => it.row.figures.previous,
    "change" => it.row.figures.change,
    "accelerator_hours" => it.row.figures.accelerator_hours,
    "owned_hours" => it.row.figures.owned_hours,
    "cost_per_accelerator_hour" => it.row.figures.cost_per_accelerator_hour,
    "with_teams_inside" => it.row.with_teams_inside,
    "stated_direct" => it.row.stated.direct,
    "stated_shared" => it.row.stated.shared,
    "stated" => it.row.stated.total,
    "stated_with_teams_inside" => it.row.stated_with_teams_inside,
    "currency" => it.currency,
}
