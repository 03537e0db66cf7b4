//! `/jobs/hours/2026-10`: from the GPU-hours that were paid for to those that were of use, and what one of each costs.

use askama::Template;

use crate::billing::usage_tags;
use crate::money::{Currency, Decimal};
use crate::period::Period;
use crate::report::{Grouping, HourChainGroup, HourChains, HourLines, SortBy};
use crate::web::choices::Choices;
use crate::web::csv::{self, RowInCurrency};
use crate::web::error::{Error, Result};
use crate::web::extract::{Pairs, Reading};
use crate::web::format::{File, Format};
use crate::web::layout::Layout;
use crate::web::question::Asked;
use crate::web::route_builder::Access;
use crate::web::table::{self, Head};
use crate::web::{default_month, filters, paths, respond};

/// What the address does not take: every group is shown, and broken down by nothing but use.
const REFUSED: [&str; 5] = ["then", "limit", "find", "over", "page"];

/// What one usually wants to see them by; a tag can be asked for, too.
const OFFERED: [Grouping; 9] = [
    Grouping::Provider,
    Grouping::Account,
    Grouping::Team,
    Grouping::Project,
    Grouping::Experiment,
    Grouping::CostCentre,
    Grouping::Accelerator,
    Grouping::Region,
    Grouping::Month,
];

#[derive(Template)]
#[template(path = "jobs/hours.html")]
struct Page {
    layout: Layout,
    period: Period,
    choices: Choices,
    it: HourChains,
}

/// The latest month.
pub async fn latest(_: paths::AnyGpuHours, reading: Reading<Pairs>) -> Result {
    let Reading { person, query: pairs, app, mut db, .. } = reading;
    let asked = read(pairs)?;
    let viewer = person.viewer();
    let Some((month, asked)) = default_month::latest(&mut db, &app.answers, asked, &viewer).await? else {
        return Ok(respond::see_other(paths::Overview));
    };
    Ok(respond::see_other(address(&asked, month.into())))
}

pub async fn show(path: paths::GpuHours, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { layout, person, query: pairs, app, mut db, .. } = reading;
    let period = path.period;
    let asked = read(pairs)?;
    let question = asked.question(period, person.viewer());
    let it = app.answers.hour_chains(&mut db, &question).await?;
    match format {
        Format::Json => respond::json(&it),
        Format::Csv => {
            let currency = it.data_status.currency.as_ref();
            csv::answer(&format!("gpu-hours-{period}"), &RowInCurrency::all(&it.groups, currency))
        }
        Format::Html => {
            let choices = Choices::find(&mut db, asked, period, &it.data_status, address).await?;
            respond::html(Page { layout, period, choices, it })
        }
    }
}

fn read(pairs: Vec<(String, String)>) -> Result<Asked> {
    if let Some((name, _)) = pairs.iter().find(|(name, _)| REFUSED.contains(&name.as_str())) {
        let message = format!(
            "{name} cannot be used in this address. Use by, cost, currency, in, sort, sequence or a filter."
        );
        return Err(Error::BadRequest(message));
    }
    let is_by_provider = pairs.iter().all(|(name, _)| name != "by");
    let asked = Asked::read(pairs)?;
    let asked = if is_by_provider { Asked { by: Grouping::Provider, ..asked } } else { asked };
    if !OFFERED.contains(&asked.by) && !matches!(asked.by, Grouping::Tag(_)) {
        let known = OFFERED.map(|it| it.to_string()).join(", ");
        let found = &asked.by;
        return Err(Error::BadRequest(format!("by: {found} cannot be used here. Use {known} or tag:KEY.")));
    }
    Ok(asked)
}

/// The address that asks this of a period.
pub(in crate::web) fn address(asked: &Asked, period: Period) -> String {
    Asked { page: 1, ..asked.clone() }.link(paths::GpuHours { period })
}

impl Page {
    fn unit(&self) -> String {
        self.it.data_status.currency.as_ref().map(Currency::to_string).unwrap_or_default()
    }

    /// What they can be seen by; and what they are.
    fn ways(&self) -> Vec<(String, String, bool)> {
        let asked = &self.choices.asked;
        let of = |by: &Grouping| (by.label(), self.choices.at(&asked.by(by.clone())), *by == asked.by);
        let other = (!OFFERED.contains(&asked.by)).then_some(&asked.by);
        OFFERED.iter().chain(other).map(of).collect()
    }

    fn heads(&self) -> Vec<Head> {
        let head = table::heads(&self.choices.asked, SortBy::Cost, |asked| self.choices.at(asked));
        let mut heads = vec![head(SortBy::Name, self.it.by.label())];
        heads.extend(["GPU-hours", "Available", "Without usage data", "Held", "Productive"].map(Head::plain));
        heads.extend(self.has_entered().then(|| Head::plain("Productive, entered")));
        heads.extend(self.has_useful().then(|| Head::plain("Useful")));
        let unit = self.unit();
        let prices = ["GPU-hour", "held hour", "productive hour"];
        heads.extend(prices.map(|of| Head::plain(&format!("{unit} per {of}"))));
        heads.extend(self.has_useful().then(|| Head::plain(&format!("{unit} per useful hour"))));
        heads
    }

    fn has_entered(&self) -> bool {
        !self.it.total.entered_productive_hours.is_zero()
    }

    fn has_useful(&self) -> bool {
        self.it.groups.iter().any(|group| group.chain.useful_hours.is_some())
    }

    fn has_unmeasured(&self) -> bool {
        !self.it.total.lines.unmeasured.is_zero()
    }

    /// The hours of a group by use, in spend.
    fn in_spend(&self, group: &HourChainGroup) -> String {
        let asked = self.choices.asked.only(&self.it.by, group.key.as_deref());
        let by_use = Asked { sort: None, ..asked.by(Grouping::Tag(usage_tags::USE.to_owned())) };
        by_use.link(paths::Spend { period: self.period })
    }

    fn jobs(&self) -> String {
        let kept = Asked {
            cost: self.choices.asked.cost,
            sequence: self.choices.asked.sequence,
            ..Asked::default()
        };
        kept.link(paths::Jobs { period: self.period })
    }
}

impl HourChainGroup {
    /// Hours of a kind; where nobody says anything of use, they are not known.
    fn known(&self, of: fn(&HourLines) -> Decimal) -> Option<Decimal> {
        let lines = &self.chain.lines;
        (!lines.paid.is_zero()).then(|| of(lines))
    }
}

csv::record! {
    |it: RowInCurrency<'_, HourChainGroup>|
    "key" => it.row.key.as_deref().unwrap_or_default(),
    "label" => &it.row.label,
    "accelerator_hours" => it.row.chain.accelerator_hours,
    "owned_hours" => it.row.chain.owned_hours,
    "available_hours" => it.row.chain.available_hours,
    "hours_with_usage" => it.row.chain.lines.paid,
    "held_hours" => it.row.known(|lines| lines.held),
    "productive_hours" => it.row.known(|lines| lines.used),
    "idle_hours" => it.row.known(|lines| lines.idle),
    "unmeasured_hours" => it.row.known(|lines| lines.unmeasured),
    "unheld_hours" => it.row.known(|lines| lines.unheld),
    "stranded_hours" => it.row.known(|lines| lines.stranded),
    "hours_without_usage" => it.row.chain.lines.without_usage,
    "entered_productive_hours" => it.row.chain.entered_productive_hours,
    "useful_hours" => it.row.chain.useful_hours,
    "currency" => it.currency,
    "cost_per_hour" => it.row.chain.cost_per_hour,
    "cost_per_available_hour" => it.row.chain.cost_per_available_hour,
    "cost_per_held_hour" => it.row.chain.cost_per_held_hour,
    "cost_per_productive_hour" => it.row.chain.cost_per_productive_hour,
    "cost_per_entered_productive_hour" => it.row.chain.cost_per_entered_productive_hour,
    "cost_per_useful_hour" => it.row.chain.cost_per_useful_hour,
}
