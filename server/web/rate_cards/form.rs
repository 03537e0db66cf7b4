//! `/rate-cards/new` and `/rate-cards/{rate}`: a rate that is entered, changed or removed, and a file of them. Each becomes a draft whose
//! page shows what it moves, before it is applied.

use askama::Template;
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;

use crate::accelerator;
use crate::audit::Act;
use crate::billing::PricingCategory;
use crate::changes::{self, Document as _, Outcome};
use crate::compute::compute;
use crate::onprem::PROVIDER;
use crate::rate_cards::read::{self, Cells};
use crate::rate_cards::{Edit, RateCards, Report, edits_of, edits_of_addition};
use crate::rating::{GPU_HOUR, Rate};
use crate::report::UnpricedUsage;
use crate::web::changes::{Why, reason};
use crate::web::error::{Error, Result};
use crate::web::extract::{Db, Form, Now, Query, Sending, Upload, Writing};
use crate::web::form::Fields;
use crate::web::layout::Layout;
use crate::web::{paths, respond};

/// A rate card has some thousand rates at most.
const LARGEST_FILE: usize = 10 << 20;

#[derive(Template)]
#[template(path = "rate_cards/entry.html")]
struct Page {
    layout: Layout,
    /// The number of the rate that is changed; none of a new one.
    changed: Option<(i64, Rate)>,
    fields: Fields,
}

/// What is typed of a rate. Its names are the columns of the file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Typed {
    provider: String,
    billing_account: String,
    sku: String,
    accelerator: String,
    region: String,
    pricing: String,
    unit: String,
    from_quantity: String,
    price: String,
    currency: String,
    valid_from: String,
    valid_to: String,
    source: String,
    contract: String,
    reason: String,
}

/// What the form of a new rate begins with: the usage that it is for.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Begin {
    #[serde(skip_serializing_if = "String::is_empty")]
    provider: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    billing_account: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    sku: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    accelerator: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pricing: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    unit: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    currency: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    valid_from: String,
}

impl Begin {
    /// An internal price of a cluster.
    pub fn of_cluster(cluster: &str) -> Self {
        Self {
            provider: PROVIDER.to_owned(),
            billing_account: cluster.to_owned(),
            unit: GPU_HOUR.to_owned(),
            ..Self::default()
        }
    }

    /// Of accelerators by model and GPU-hour, of anything else by SKU and the unit of the bill.
    pub fn of(usage: &UnpricedUsage) -> Self {
        let is_accelerated = !usage.accelerator.is_empty();
        Self {
            provider: usage.provider.clone(),
            billing_account: String::new(),
            sku: if is_accelerated { String::new() } else { usage.sku.clone() },
            accelerator: usage.accelerator.clone(),
            pricing: usage.pricing.clone(),
            unit: if is_accelerated { GPU_HOUR.to_owned() } else { usage.unit.clone() },
            currency: usage.currency.clone(),
            valid_from: usage.first_day.to_string(),
        }
    }
}

impl Cells for Typed {
    fn cell(&self, column: &str) -> &str {
        self.named().into_iter().find(|(name, _)| *name == column).map_or("", |(_, text)| text)
    }
}

impl Typed {
    fn named(&self) -> [(&'static str, &str); 15] {
        [
            ("provider", &self.provider),
            ("billing_account", &self.billing_account),
            ("sku", &self.sku),
            ("accelerator", &self.accelerator),
            ("region", &self.region),
            ("pricing", &self.pricing),
            ("unit", &self.unit),
            ("from_quantity", &self.from_quantity),
            ("price", &self.price),
            ("currency", &self.currency),
            ("valid_from", &self.valid_from),
            ("valid_to", &self.valid_to),
            ("source", &self.source),
            ("contract", &self.contract),
            ("reason", &self.reason),
        ]
    }

    fn of(rate: &Rate) -> Self {
        let from = rate.from_quantity;
        Self {
            provider: rate.provider.clone(),
            billing_account: rate.billing_account.clone(),
            sku: rate.sku.clone(),
            accelerator: rate.accelerator.clone(),
            region: rate.region.clone(),
            pricing: rate.pricing.clone(),
            unit: rate.unit.clone(),
            from_quantity: if from.is_zero() { String::new() } else { from.to_string() },
            price: rate.price.to_string(),
            currency: rate.currency.to_string(),
            valid_from: rate.valid_from.to_string(),
            valid_to: rate.valid_to.map(|day| day.to_string()).unwrap_or_default(),
            source: rate.source.clone(),
            contract: rate.contract.clone(),
            reason: String::new(),
        }
    }

    fn fields(&self) -> Fields {
        Fields::new(self.named())
    }

    /// The rate, or what is wrong in which field.
    fn read(&self, fields: &mut Fields) -> Option<Rate> {
        match read::rate(self) {
            Ok(rate) => Some(rate),
            Err((column, sentence)) => {
                fields.refuse(column, sentence);
                None
            }
        }
    }
}

pub async fn new(_: paths::NewRate, Query(begin): Query<Begin>, Now(now): Now, layout: Layout) -> Result {
    let Begin { provider, billing_account, sku, accelerator, pricing, unit, currency, valid_from } = begin;
    let or = |text: String, otherwise: &str| if text.is_empty() { otherwise.to_owned() } else { text };
    let typed = Typed {
        provider,
        billing_account,
        sku,
        accelerator,
        pricing,
        unit: or(unit, GPU_HOUR),
        currency: or(currency, "USD"),
        valid_from: or(valid_from, &now.date_naive().to_string()),
        ..Typed::default()
    };
    respond::html(Page { layout, changed: None, fields: typed.fields() })
}

pub async fn create(_: paths::NewRate, writing: Writing, Form(typed): Form<Typed>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let mut fields = typed.fields();
    let reason = fields.check("reason", reason(&typed.reason)).flatten();
    let rate = typed.read(&mut fields);
    let Some(rate) = rate.filter(|_| !fields.is_refused()) else {
        return respond::refused(Page { layout, changed: None, fields });
    };
    let (_, cards) = RateCards::current(&mut db).await?;
    let summary = format!("Added {}", rate.title());
    let edits = edits_of_addition(&mut db, &cards, vec![rate]).await?;
    draft(&mut db, Page { layout, changed: None, fields }, edits, (&summary, reason), by.at(now)).await
}

pub async fn edit(path: paths::AgreedRate, layout: Layout, mut db: Db) -> Result {
    let (_, cards) = RateCards::current(&mut db).await?;
    let rate = cards.rates.get(&path.rate).ok_or(Error::NotFound)?.clone();
    let fields = Typed::of(&rate).fields();
    respond::html(Page { layout, changed: Some((path.rate, rate)), fields })
}

pub async fn change(path: paths::AgreedRate, writing: Writing, Form(typed): Form<Typed>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let (_, cards) = RateCards::current(&mut db).await?;
    let before = cards.rates.get(&path.rate).ok_or(Error::NotFound)?.clone();
    let mut fields = typed.fields();
    let reason = fields.check("reason", reason(&typed.reason)).flatten();
    let rate = typed.read(&mut fields);
    let changed = Some((path.rate, before));
    let Some(rate) = rate.filter(|_| !fields.is_refused()) else {
        return respond::refused(Page { layout, changed, fields });
    };
    let summary = format!("Changed {}", rate.title());
    let edits = edits_of(&cards, path.rate, Some(rate)).ok_or(Error::NotFound)?;
    draft(&mut db, Page { layout, changed, fields }, edits, (&summary, reason), by.at(now)).await
}

pub async fn remove(path: paths::RateRemove, writing: Writing, Form(why): Form<Why>) -> Result {
    let Writing { now, layout, by, mut db, .. } = writing;
    let (_, cards) = RateCards::current(&mut db).await?;
    let rate = cards.rates.get(&path.rate).ok_or(Error::NotFound)?.clone();
    let edits = edits_of(&cards, path.rate, None).ok_or(Error::NotFound)?;
    let (summary, fields) = (format!("Removed {}", rate.title()), Typed::of(&rate).fields());
    let page = Page { layout, changed: Some((path.rate, rate)), fields };
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
    match drafted(db, edits, None, changes::About { summary, reason }, act).await? {
        Ok(change) => Ok(respond::see_other(paths::RateCardChange { change })),
        Err(sentence) => {
            page.fields.refuse("provider", sentence);
            respond::refused(page)
        }
    }
}

/// The draft that was made of edits, or why none can be.
async fn drafted(
    db: &mut PgConnection,
    edits: Vec<Edit>,
    report: Option<&serde_json::Value>,
    about: changes::About<'_>,
    act: Act<'_>,
) -> Result<std::result::Result<i64, String>> {
    let problems = match changes::draft::<RateCards>(db, edits, report, about, act).await? {
        Outcome::Waits(change) | Outcome::At { change, .. } => return Ok(Ok(change)),
        Outcome::Refused(problems) => {
            problems.into_iter().map(|it| format!("{}: {}.", it.of, it.message)).collect()
        }
        Outcome::Nothing | Outcome::Decided => {
            vec!["Nothing to change: the rate cards are like that already.".to_owned()]
        }
        Outcome::Conflict(of) => of,
    };
    Ok(Err(problems.join(" ")))
}

/// A file of rates: what it would change is shown before anything is changed.
pub async fn load(_: paths::RateFile, sending: Sending, mut upload: Upload) -> Result {
    let Sending { now, layout, by, app, .. } = sending;
    let (mut name, mut content) = (String::new(), Vec::new());
    while let Some(mut field) = upload.next_field().await? {
        let Some(file) = field.file_name().filter(|file| !file.is_empty()).map(str::to_owned) else {
            continue;
        };
        name = file;
        content.clear();
        while let Some(chunk) = field.chunk().await.map_err(|error| Upload::broken_off(&error))? {
            if content.len() + chunk.len() > LARGEST_FILE {
                return Err(Error::TooLarge);
            }
            content.extend_from_slice(&chunk);
        }
    }
    let mut page = Page { layout, changed: None, fields: Typed::default().fields() };
    if name.is_empty() {
        page.fields.refuse("files", "Choose a file of rates.");
        return respond::refused(page);
    }
    let read = match compute(move || read::read(content)).await? {
        Ok(read) => read,
        Err(sentence) => {
            page.fields.refuse("files", format!("{name}: {sentence}."));
            return respond::refused(page);
        }
    };
    let mut db = app.db.acquire().await?;
    let (_, cards) = RateCards::current(&mut db).await?;
    let count = read.rates.len();
    let edits = edits_of_addition(&mut db, &cards, read.rates).await?;
    let added = edits.iter().filter(|edit| edit.before.is_none()).count();
    let read::Read { rows, rejected, rejected_count, .. } = read;
    let report = Report { rows, known: count - added, rejected, rejected_count };
    let rates = if added == 1 { "one rate".to_owned() } else { format!("{added} rates") };
    let summary = format!("{name}: {rates}");
    let about = changes::About { summary: &summary, reason: None };
    let report = serde_json::to_value(&report)?;
    match drafted(&mut db, edits, Some(&report), about, by.at(now)).await? {
        Ok(change) => Ok(respond::see_other(paths::RateCardChange { change })),
        Err(sentence) => {
            page.fields.refuse("files", format!("{name}: {sentence}"));
            respond::refused(page)
        }
    }
}

#[expect(clippy::unused_self, reason = "templates ask the page")]
impl Page {
    fn action(&self) -> String {
        match &self.changed {
            Some((rate, _)) => paths::AgreedRate { rate: *rate }.to_string(),
            None => paths::NewRate.to_string(),
        }
    }

    fn removal(&self) -> Option<String> {
        self.changed.as_ref().map(|(rate, _)| paths::RateRemove { rate: *rate }.to_string())
    }

    fn models(&self) -> Vec<(&'static str, String)> {
        let mut models: Vec<_> = accelerator::models()
            .iter()
            .filter(|it| it.id != "unknown")
            .map(|it| (it.id, format!("{} {}, {}", it.vendor, it.name, it.variant)))
            .collect();
        models.sort_by(|a, b| a.1.cmp(&b.1));
        models.insert(0, ("", "any, or none".to_owned()));
        models
    }

    fn categories(&self) -> Vec<(&'static str, &'static str)> {
        let words = |it: PricingCategory| match it {
            PricingCategory::Standard => (it.as_str(), "Standard (on demand)"),
            PricingCategory::Committed => (it.as_str(), "Committed (reserved)"),
            PricingCategory::Dynamic => (it.as_str(), "Dynamic (spot)"),
            PricingCategory::Other => (it.as_str(), "Other"),
            PricingCategory::None | PricingCategory::Owned => ("", "any"),
        };
        PricingCategory::OF_FOCUS.map(words).to_vec()
    }
}
