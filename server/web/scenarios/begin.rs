//! The page of a scenario that is made of the ledger, and its files.

use askama::Template;

use super::super::error::{Error, Result};
use super::super::extract::{Htmx, Pairs, Reading};
use super::super::format::File;
use super::super::layout::Layout;
use super::super::{Access, paths, respond};
use super::address::{Base, Said};
use super::ledger::{self, Nothing};
use super::prices::Prices;
use super::show;

/// Nothing was used.
#[derive(Template)]
#[template(path = "scenarios/nothing.html")]
struct Empty {
    layout: Layout,
    it: Nothing,
}

pub async fn show(_: paths::ScenarioNew, file: Option<File>, htmx: Htmx, reading: Reading<Pairs>) -> Result {
    let Reading { now, layout, person, query: pairs, app, mut db } = reading;
    if let Some(pairs) = ledger::of_form(&pairs) {
        return Ok(respond::see_other(paths::with_query(paths::ScenarioNew, &pairs)));
    }
    let mut said = Said::read(pairs)?;
    if said.version.is_some() {
        return Err(Error::BadRequest("version: only saved scenarios have versions.".to_owned()));
    }
    let prices = Prices::of_list(&mut db, &app.answers, said.list, now.date_naive()).await?;
    let found = Box::pin(ledger::ask(&mut db, &app.answers, &said.rest, &person, &prices)).await?;
    if let Ok(found) = &found {
        said.prices = prices.with_paid(&mut db, &app.answers, &person, found.currency()).await?;
    }
    // Nobody waits for a connection while this is made and computed.
    drop(db);
    let made = match found {
        Ok(found) => found.made().await?,
        Err(nothing) => Err(nothing),
    };
    let it = match made {
        Ok(it) => it,
        Err(it) if file.is_none() => return respond::html(Empty { layout, it }),
        Err(it) => return Err(Error::BadRequest(it.sentence())),
    };
    show::show((layout, htmx), Base::Ledger(Box::new(it)), said, file, (Vec::new(), person)).await
}

impl Nothing {
    pub(super) fn sentence(&self) -> String {
        let (whose, when) = (&self.whose, self.period.name());
        if self.is_billed {
            format!("{whose}: no cloud or on-prem GPU-hours in {when}.")
        } else {
            format!("{whose}: nothing was billed in {when}.")
        }
    }
}

impl Empty {
    fn may_import(&self) -> bool {
        self.layout.may(Access::Finance)
    }
}
