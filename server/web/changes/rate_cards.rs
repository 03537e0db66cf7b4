//! `/rate-cards/changes/7`: a change of the rate cards with what it moves, by month and team, before it is applied and after.

use std::collections::BTreeSet;
use std::sync::Arc;

use askama::Template;
use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::PgConnection;

use super::super::format::Format;
use super::frame::Frame;
use super::{Asked, decide};
use crate::adjustments;
use crate::changes::{self, Change, Document as _, Kind, Problem, Status};
use crate::ledger;
use crate::rate_cards::{Edit, RateCards, Report};
use crate::rating::{Rate, Rates};
use crate::report::{
    Answers, Before, InternalPriceImpact, RateImpact, RateState, UnpricedUsage, internal_price_impact,
    rate_impact, rate_state, unpriced_usage,
};
use crate::web::error::{Error, Result};
use crate::web::extract::Reading;
use crate::web::layout::Layout;
use crate::web::rate_cards::usage;
use crate::web::{filters, paths, respond};

/// Units that a sentence names.
const MOST_UNITS: usize = 6;

#[derive(Template)]
#[template(path = "changes/rate_cards.html")]
pub struct Page {
    layout: Layout,
    frame: Frame,
    edits: Vec<Edit>,
    /// Of the file that it was read from.
    report: Option<Report>,
    impact: RateImpact,
    /// What internal prices move, where it changes some.
    internal: InternalPriceImpact,
    changes_internal_prices: bool,
    state: RateState,
    /// Why rates of it may be for no usage.
    unmatched: Vec<String>,
}

pub async fn find(
    layout: Layout,
    db: &mut PgConnection,
    answers: &Answers,
    id: i64,
    problems: Vec<Problem>,
    now: DateTime<Utc>,
) -> Result<Page> {
    let change = changes::find::<RateCards>(&mut *db, id).await?.ok_or(Error::NotFound)?;
    let (_, current) = RateCards::current(&mut *db).await?;
    let (before, after) = before_and_after(&mut *db, &change, &current).await?;
    let internal = internal_price_impact(&mut *db, answers, (before.rates(), &after), now).await?;
    let impact = rate_impact(&mut *db, answers, before, Arc::clone(&after)).await?;
    let unmatched = if impact.months.is_empty() {
        unmatched(&change.edits, &unpriced_usage(&mut *db, &after).await?)
    } else {
        Vec::new()
    };
    let frame = Frame::new(&layout, &change, &current, problems);
    let state = rate_state(&mut *db, now).await?;
    let report = change.report.clone().map(serde_json::from_value).transpose()?;
    let of_edit = |edit: &Edit| edit.after.clone().or(edit.before.clone());
    let rates: Vec<Rate> = change.edits.iter().filter_map(of_edit).collect();
    let changes_internal_prices = !adjustments::internal_rates(&rates).is_empty();
    Ok(Page {
        layout,
        frame,
        edits: change.edits,
        report,
        impact,
        internal,
        changes_internal_prices,
        state,
        unmatched,
    })
}

/// What of the unpriced usage of the same providers keeps rates from being for it: another currency, or other units.
fn unmatched(edits: &[Edit], unpriced: &[UnpricedUsage]) -> Vec<String> {
    let mut sentences = BTreeSet::new();
    for rate in edits.iter().filter_map(|edit| edit.after.as_ref()) {
        let of_provider = || unpriced.iter().filter(|it| it.provider.eq_ignore_ascii_case(&rate.provider));
        let currencies: BTreeSet<&str> =
            of_provider().filter(|it| !it.rates_in.is_empty()).map(|it| it.currency.as_str()).collect();
        if !currencies.is_empty() && !currencies.contains(rate.currency.as_str()) {
            let currencies: Vec<&str> = currencies.into_iter().collect();
            sentences.insert(format!(
                "Unpriced usage of {} is billed in {}, and this rate is in {}.",
                rate.provider,
                currencies.join(" and "),
                rate.currency
            ));
        }
        let units: BTreeSet<&str> = of_provider().map(|it| it.unit.as_str()).collect();
        if !rate.is_per_gpu_hour()
            && !units.is_empty()
            && !units.iter().any(|it| it.eq_ignore_ascii_case(&rate.unit))
        {
            let units: Vec<&str> = units.into_iter().take(MOST_UNITS).collect();
            sentences.insert(format!(
                "Unpriced usage of {} comes in {}, and this rate is per {}.",
                rate.provider,
                units.join(", "),
                rate.unit
            ));
        }
    }
    sentences.into_iter().collect()
}

/// The rates without a change and with it: of one that was applied, as they were then.
async fn before_and_after(
    db: &mut PgConnection,
    change: &Change<Edit>,
    current: &RateCards,
) -> sqlx::Result<(Before, Arc<Rates>)> {
    if let Some(version) = change.outline.applied_version {
        let before = ledger::rates_as_of(&mut *db, version - 1).await?.rates;
        return Ok((Before::By(before), ledger::rates_as_of(db, version).await?.rates));
    }
    Ok((Before::AsBooked(Arc::new(current.rates())), Arc::new(current.edited(&change.edits).rates())))
}

pub async fn apply(path: paths::RateCardApply, asked: Asked) -> Result {
    decide((Kind::RateCards, path.change), Status::Applied, asked).await
}

pub async fn undo(path: paths::RateCardUndo, asked: Asked) -> Result {
    decide((Kind::RateCards, path.change), Status::Undone, asked).await
}

pub async fn show(path: paths::RateCardChange, format: Format, reading: Reading) -> Result {
    let Reading { now, layout, app, mut db, .. } = reading;
    let page = find(layout, &mut db, &app.answers, path.change, Vec::new(), now).await?;
    match format {
        Format::Html => respond::html(page),
        Format::Json => {
            let it = &page.frame.outline;
            respond::json(&json!({
                "change": {
                    "id": it.id, "status": it.status, "summary": it.summary, "reason": it.reason, "made_at": it.made_at,
                    "made_by": it.made_by, "applied_revision": it.applied_version, "undone_revision": it.undone_version,
                    "edits": page.edits, "report": page.report,
                },
                "impact": page.impact,
                "internal_prices": page.internal,
            }))
        }
        Format::Csv => Err(Error::NotFound),
    }
}

impl Page {
    /// Whether internal prices change months that were final.
    fn restates(&self) -> bool {
        self.internal.months.iter().any(|it| it.was_final)
    }

    /// What an edit does, in a word.
    fn what(&self, edit: &Edit) -> &'static str {
        let _ = self;
        match (&edit.before, &edit.after) {
            (None, _) => "added",
            (_, None) => "removed",
            (Some(before), Some(after))
                if before.price == after.price && before.valid_to != after.valid_to =>
            {
                "ends"
            }
            _ => "changed",
        }
    }

    fn rate<'a>(&self, edit: &'a Edit) -> Option<&'a Rate> {
        let _ = self;
        edit.after.as_ref().or(edit.before.as_ref())
    }

    fn usage(&self, rate: &Rate) -> String {
        let _ = self;
        usage(rate)
    }
}
