//! `/adjustments/new` and `/adjustments/{id}`: an adjustment that is entered, changed or removed. Each becomes a draft whose page shows
//! what it moves, before it is applied.

use askama::Template;
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;

use crate::adjustments::{Adjustment, Adjustments, Edit, Terms};
use crate::audit::Act;
use crate::billing::canonical_provider;
use crate::changes::{self, Document as _, Outcome, additions};
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;
use crate::report;
use crate::web::changes::Why;
use crate::web::error::{Error, Result};
use crate::web::extract::{Db, Form, Now, Query, Writing};
use crate::web::form::{self, Fields};
use crate::web::layout::Layout;
use crate::web::{paths, respond};

/// Characters of a text.
const LONGEST: usize = 400;
/// Decimals of a percentage: more are a typing error.
const MOST_DECIMALS: u8 = 6;

const MINIMUM: &str = "minimum";
const KINDS: [(&str, &str); 3] =
    [("discount", "Discount"), ("markup", "Markup"), (MINIMUM, "Monthly minimum")];

/// What the form of a new one is for.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Begin {
    kind: String,
}

impl Default for Begin {
    fn default() -> Self {
        Self { kind: KINDS[0].0.to_owned() }
    }
}

/// # Errors
/// Where it is no kind: no form of ours says so.
fn check_kind(kind: &str) -> Result<()> {
    let is_known = KINDS.iter().any(|(known, _)| *known == kind);
    is_known
        .then_some(())
        .ok_or_else(|| Error::BadRequest("kind: expected discount, markup or minimum.".to_owned()))
}

#[derive(Template)]
#[template(path = "adjustments/entry.html")]
struct Page {
    layout: Layout,
    /// The number of the adjustment that is changed; none of a new one.
    changed: Option<(i64, Adjustment)>,
    fields: Fields,
    providers: Vec<String>,
}

/// What is typed of an adjustment.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Typed {
    kind: String,
    provider: String,
    billing_account: String,
    percent: String,
    amount: String,
    currency: String,
    first_month: String,
    last_month: String,
    reason: String,
    contract: String,
}

impl Typed {
    fn of(entry: &Adjustment) -> Self {
        let (kind, percent, amount, currency) = match &entry.terms {
            Terms::Discount { percent } => ("discount", percent.to_string(), String::new(), String::new()),
            Terms::Markup { percent } => ("markup", percent.to_string(), String::new(), String::new()),
            Terms::Minimum { amount, currency } => {
                (MINIMUM, String::new(), amount.to_string(), currency.to_string())
            }
        };
        Self {
            kind: kind.to_owned(),
            provider: entry.provider.clone(),
            billing_account: entry.billing_account.clone(),
            percent,
            amount,
            currency,
            first_month: entry.first_month.to_string(),
            last_month: entry.last_month.map(|month| month.to_string()).unwrap_or_default(),
            reason: entry.reason.clone(),
            contract: entry.contract.clone(),
        }
    }

    fn fields(&self) -> Fields {
        Fields::new([
            ("kind", self.kind.as_str()),
            ("provider", &self.provider),
            ("billing_account", &self.billing_account),
            ("percent", &self.percent),
            ("amount", &self.amount),
            ("currency", &self.currency),
            ("first_month", &self.first_month),
            ("last_month", &self.last_month),
            ("reason", &self.reason),
            ("contract", &self.contract),
        ])
    }

    /// The adjustment, or what is wrong in which field.
    fn read(&self, fields: &mut Fields) -> Option<Adjustment> {
        for (field, text) in [
            ("provider", &self.provider),
            ("billing_account", &self.billing_account),
            ("reason", &self.reason),
            ("contract", &self.contract),
        ] {
            if text.trim().chars().nth(LONGEST).is_some() {
                fields.refuse(field, format!("Enter at most {LONGEST} characters."));
            } else if text.contains('\0') {
                fields.refuse(field, "Remove the NUL character.");
            }
        }
        let terms = self.terms(fields);
        let first_month = self.first_month.trim().parse::<BillingMonth>().ok();
        if first_month.is_none() {
            fields.refuse("first_month", "Enter a month such as 2026-09.");
        }
        let last_month = match self.last_month.trim() {
            "" => None,
            text => {
                let month = text.parse::<BillingMonth>().ok();
                if month.is_none() {
                    fields.refuse("last_month", "Enter a month such as 2026-12, or nothing.");
                }
                month
            }
        };
        let entry = Adjustment {
            provider: canonical_provider(self.provider.trim()).to_string(),
            billing_account: self.billing_account.trim().to_owned(),
            terms: terms?,
            first_month: first_month?,
            last_month,
            reason: self.reason.trim().to_owned(),
            contract: self.contract.trim().to_owned(),
        };
        match entry.problem() {
            Some((field, sentence)) => {
                fields.refuse(field, sentence);
                None
            }
            None => Some(entry).filter(|_| !fields.is_refused()),
        }
    }

    fn terms(&self, fields: &mut Fields) -> Option<Terms> {
        if self.kind == MINIMUM {
            let amount = form::amount(&self.amount);
            if amount.is_none() {
                fields.refuse("amount", "Enter an amount such as 50000.");
            }
            let currency = Currency::parse(self.currency.trim()).filter(Currency::is_standard);
            if currency.is_none() {
                fields.refuse("currency", "Enter a currency such as USD.");
            }
            return Some(Terms::Minimum { amount: amount?, currency: currency? });
        }
        let text = self.percent.trim().trim_end_matches('%').trim_end();
        let percent = form::amount(text).filter(|it| it.normalize().scale() <= MOST_DECIMALS);
        let Some(percent) = percent.map(Decimal::normalize) else {
            fields.refuse("percent", "Enter a percentage such as 8 or 2.5.");
            return None;
        };
        match self.kind.as_str() {
            "markup" => Some(Terms::Markup { percent }),
            _ => Some(Terms::Discount { percent }),
        }
    }
}

pub async fn new(
    _: paths::NewAdjustment,
    Query(Begin { kind }): Query<Begin>,
    Now(now): Now,
    layout: Layout,
    mut db: Db,
) -> Result {
    check_kind(&kind)?;
    let typed = Typed {
        kind,
        currency: "USD".to_owned(),
        first_month: BillingMonth::of(now.date_naive()).to_string(),
        ..Typed::default()
    };
    let providers = report::providers_billed(&mut db).await?;
    respond::html(Page { layout, changed: None, fields: typed.fields(), providers })
}

pub async fn create(_: paths::NewAdjustment, writing: Writing, Form(typed): Form<Typed>) -> Result {
    check_kind(&typed.kind)?;
    let Writing { now, layout, by, mut db, .. } = writing;
    let mut fields = typed.fields();
    let entry = typed.read(&mut fields);
    let page = Page { layout, changed: None, fields, providers: report::providers_billed(&mut db).await? };
    let Some(entry) = entry else { return respond::refused(page) };
    let summary = format!("Added {}", entry.title());
    let edits = additions(&mut db, vec![entry]).await?;
    draft(&mut db, page, edits, (&summary, None), by.at(now)).await
}

pub async fn edit(path: paths::OneAdjustment, layout: Layout, mut db: Db) -> Result {
    let (_, document) = Adjustments::current(&mut db).await?;
    let entry = document.entries.get(&path.adjustment).ok_or(Error::NotFound)?.clone();
    let fields = Typed::of(&entry).fields();
    let providers = report::providers_billed(&mut db).await?;
    respond::html(Page { layout, changed: Some((path.adjustment, entry)), fields, providers })
}

pub async fn change(path: paths::OneAdjustment, writing: Writing, Form(typed): Form<Typed>) -> Result {
    check_kind(&typed.kind)?;
    let Writing { now, layout, by, mut db, .. } = writing;
    let (_, document) = Adjustments::current(&mut db).await?;
    let before = document.entries.get(&path.adjustment).ok_or(Error::NotFound)?.clone();
    let mut fields = typed.fields();
    let entry = typed.read(&mut fields);
    let providers = report::providers_billed(&mut db).await?;
    let page = Page { layout, changed: Some((path.adjustment, before.clone())), fields, providers };
    let Some(entry) = entry else { return respond::refused(page) };
    let summary = format!("Changed {}", entry.title());
    let edits = vec![Edit { id: path.adjustment, before: Some(before), after: Some(entry) }];
    draft(&mut db, page, edits, (&summary, None), by.at(now)).await
}

pub async fn remove(path: paths::AdjustmentRemove, writing: Writing, Form(why): Form<Why>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let (_, document) = Adjustments::current(&mut db).await?;
    let entry = document.entries.get(&path.adjustment).ok_or(Error::NotFound)?.clone();
    let (summary, fields) = (format!("Removed {}", entry.title()), Typed::of(&entry).fields());
    let edits = vec![Edit { id: path.adjustment, before: Some(entry.clone()), after: None }];
    let providers = report::providers_billed(&mut db).await?;
    let page = Page { layout, changed: Some((path.adjustment, entry)), fields, providers };
    draft(&mut db, page, edits, (&summary, why.reason()?), by.at(now)).await
}

/// Makes a draft of edits and goes to its page, where what it moves is shown; or says on the page of the form why it cannot be.
async fn draft(
    db: &mut PgConnection,
    mut page: Page,
    edits: Vec<Edit>,
    (summary, reason): (&str, Option<&str>),
    act: Act<'_>,
) -> Result {
    let about = changes::About { summary, reason };
    let sentence = match changes::draft::<Adjustments>(db, edits, None, about, act).await? {
        Outcome::Waits(change) | Outcome::At { change, .. } => {
            return Ok(respond::see_other(paths::AdjustmentChange { change }));
        }
        Outcome::Refused(problems) => {
            problems.into_iter().map(|it| format!("{}: {}.", it.of, it.message)).collect::<Vec<_>>().join(" ")
        }
        Outcome::Nothing | Outcome::Decided => "Nothing to change: it is like that already.".to_owned(),
        Outcome::Conflict(of) => of.join(" "),
    };
    page.fields.refuse("provider", sentence);
    respond::refused(page)
}

impl Page {
    fn action(&self) -> String {
        match &self.changed {
            Some((adjustment, _)) => paths::OneAdjustment { adjustment: *adjustment }.to_string(),
            None => paths::NewAdjustment.to_string(),
        }
    }

    fn removal(&self) -> Option<String> {
        let (adjustment, _) = self.changed.as_ref()?;
        Some(paths::AdjustmentRemove { adjustment: *adjustment }.to_string())
    }

    fn kinds(&self) -> [(&'static str, String, bool); 3] {
        KINDS.map(|(kind, name)| {
            let asked = Begin { kind: kind.to_owned() };
            (name, paths::with_query(paths::NewAdjustment, &asked), self.fields.has("kind", kind))
        })
    }

    fn is_minimum(&self) -> bool {
        self.fields.has("kind", MINIMUM)
    }

    /// What the kind that is entered does, in a sentence.
    fn about(&self) -> &'static str {
        match self.fields.value("kind") {
            "discount" => "Less than the bill says, charge by charge.",
            "markup" => "More than the bill says, charge by charge.",
            _ => "What the bill of a month lacks, charged once the month is over.",
        }
    }

    /// What the field of the provider says.
    fn about_providers(&self) -> String {
        if self.providers.is_empty() {
            return "As imports name it: AWS".to_owned();
        }
        format!("As imports name it: {}", self.providers.join(", "))
    }
}
