//! `/tokens/2026-09`: what tokens of language models cost, by model and kind, per million.

use askama::Template;

use super::csv::{self, RowInCurrency};
use super::error::Result;
use super::extract::{Pairs, Reading};
use super::format::{File, Format};
use super::layout::Layout;
use super::question::Asked;
use super::{Access, choices, filters, paths, respond};
use crate::money::Currency;
use crate::period::Period;
use crate::report::{self, TokenCost, TokenReport, TokenTable};

#[derive(Template)]
#[template(path = "tokens/index.html")]
struct Page {
    layout: Layout,
    period: Period,
    asked: Asked,
    it: TokenReport,
}

pub async fn show(path: paths::Tokens, format: Format, reading: Reading<Pairs>) -> Result {
    let Reading { layout, person, query: pairs, app, mut db, .. } = reading;
    let period = path.period;
    let asked = Asked::read(pairs)?;
    let question = asked.question(period, person.viewer());
    let it = report::token_report(&mut db, &app.answers, &question).await?;
    match format {
        Format::Json => respond::json(&it),
        Format::Csv => {
            let currency = it.data_status.currency.as_ref();
            csv::answer(&format!("tokens-{period}"), &RowInCurrency::all(&it.tokens, currency))
        }
        Format::Html => respond::html(Page { layout, period, asked, it }),
    }
}

impl Page {
    /// What costs are in; `None` where there are no tokens.
    fn currency(&self) -> Option<&Currency> {
        self.it.data_status.currency.as_ref().filter(|_| !self.it.tokens.is_empty())
    }

    fn shown(&self) -> TokenTable<'_> {
        TokenTable::of(&self.it.tokens, self.it.tokens.len())
    }

    fn at(&self, asked: &Asked) -> String {
        asked.link(paths::Tokens { period: self.period })
    }

    fn during(&self, period: Period) -> String {
        self.asked.link(paths::Tokens { period })
    }

    fn spend(&self) -> String {
        self.asked.link(paths::Spend { period: self.period })
    }

    fn file(&self, file: File) -> String {
        file.of(self.at(&self.asked))
    }

    fn costs(&self) -> Vec<(String, String, bool)> {
        choices::costs(&self.asked, |asked| self.at(asked))
    }

    fn chips(&self) -> Vec<(String, String)> {
        self.asked.chips(|asked| self.at(asked))
    }
}

csv::record! {
    |it: RowInCurrency<'_, TokenCost>|
    "provider" => &it.row.provider,
    "model" => &it.row.model,
    "kind" => it.row.kind.as_str(),
    "tokens" => it.row.tokens,
    "currency" => it.currency,
    "cost" => it.row.cost,
    "per_million" => it.row.per_million,
}
