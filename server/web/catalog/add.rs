//! `/catalog/new`: what is to be added, what it would change, and then adding it.
//!
//! What is entered stands in the address until it is added, so that a preview can be sent to somebody.

use askama::Template;
use serde::{Deserialize, Serialize};

use super::words;
use crate::accelerator::{self, Accelerators, Catalog, Model};
use crate::billing::canonical_provider;
use crate::ledger::{self, NewAddition};
use crate::report::{self, CatalogImpact};
use crate::web::error::Result;
use crate::web::extract::{Form, Reading, Sending};
use crate::web::form::Fields;
use crate::web::layout::Layout;
use crate::web::{filters, paths, respond};

const NO_MODEL: &str = "Choose a model.";
/// Longer than any name of a machine or meter.
const LONGEST: usize = 300;

/// The model of what no catalog knows.
const UNLISTED: &str = "unknown";

/// What can be added.
const KINDS: [(&str, &str); 3] = [
    ("machine", "A machine"),
    ("alias", "Another name of a known machine"),
    ("text", "A text that names a model"),
];

/// What is entered.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Entered {
    kind: String,
    provider: String,
    name: String,
    model: String,
    accelerators: String,
    same_as: String,
    source: String,
    /// `yes`: to be checked, and what it changes to be shown.
    #[serde(skip_serializing_if = "String::is_empty")]
    preview: String,
}

#[derive(Template)]
#[template(path = "catalog/new.html")]
struct Page {
    layout: Layout,
    fields: Fields,
    preview: Option<Preview>,
}

/// What is about to be added.
struct Preview {
    sentence: String,
    impact: Vec<CatalogImpact>,
    /// The fields of the form that adds it.
    hidden: Vec<(&'static str, String)>,
}

impl Page {
    fn may_add(&self) -> bool {
        self.layout.may(crate::web::Access::Admin)
    }
}

/// What a machine can hold, or a text mean.
fn models() -> Vec<(&'static str, String)> {
    let known = accelerator::models().iter().filter(|it| words::is_known(it));
    let name = |it: &Model| format!("{} {}", it.vendor, words::model(it));
    let mut models: Vec<_> = known.map(|it| (it.id, name(it))).collect();
    models.sort_by(|a, b| a.1.cmp(&b.1));
    models.insert(0, ("", "choose a model".to_owned()));
    models.push((UNLISTED, "not listed: hours are counted, of an unknown model".to_owned()));
    models
}

/// Providers whose machines are known.
fn providers() -> Vec<&'static str> {
    let mut providers: Vec<_> = accelerator::instances().iter().map(|it| it.provider).collect();
    providers.sort_unstable();
    providers.dedup();
    providers
}

pub async fn new(_: paths::NewAddition, reading: Reading<Entered>) -> Result {
    let Reading { layout, query: entered, mut db, .. } = reading;
    let mut fields = entered.fields();
    if entered.preview.is_empty() {
        return respond::html(Page { layout, fields, preview: None });
    }
    let before = ledger::catalog(&mut db).await?;
    let Some(new) = entered.read(&mut fields, &before) else {
        return respond::refused(Page { layout, fields, preview: None });
    };
    let impact = report::catalog_impact(&mut db, &before, &before.with(new.addition())).await?;
    let sentence = words::sentence(&new.provider, &new.name, new.model, new.accelerators);
    let preview = Some(Preview { sentence, impact, hidden: entered.pairs() });
    respond::html(Page { layout, fields, preview })
}

pub async fn create(_: paths::NewAddition, sending: Sending, Form(entered): Form<Entered>) -> Result {
    let Sending { now, layout, by, app, .. } = sending;
    // It looks at every key, which pages have no time for.
    let mut db = app.jobs.acquire().await?;
    let mut fields = entered.fields();
    let catalog = ledger::catalog(&mut db).await?;
    let Some(new) = entered.read(&mut fields, &catalog) else {
        return respond::refused(Page { layout, fields, preview: None });
    };
    match ledger::add(&mut db, &new, by.at(now)).await? {
        Ok(addition) => {
            let sentence = words::sentence(&new.provider, &new.name, new.model, new.accelerators);
            Ok(respond::flash(paths::CatalogAddition { addition }, &format!("Added: {sentence}.")))
        }
        // Somebody added it meanwhile.
        Err(refused) => {
            fields.refuse("name", words::refusal(refused));
            respond::refused(Page { layout, fields, preview: None })
        }
    }
}

impl Entered {
    fn fields(&self) -> Fields {
        let kind = if self.kind.is_empty() { KINDS[0].0 } else { &self.kind };
        Fields::new([
            ("kind", kind),
            ("provider", &self.provider),
            ("name", &self.name),
            ("model", &self.model),
            ("accelerators", &self.accelerators),
            ("same_as", &self.same_as),
            ("source", &self.source),
        ])
    }

    fn pairs(&self) -> Vec<(&'static str, String)> {
        let fields = self.fields();
        let names = ["kind", "provider", "name", "model", "accelerators", "same_as", "source"];
        names.map(|name| (name, fields.value(name).to_owned())).to_vec()
    }

    /// What is to be added; `None` where `fields` say what is wrong.
    fn read(&self, fields: &mut Fields, catalog: &Catalog) -> Option<NewAddition> {
        let kind = fields.value("kind").to_owned();
        if !KINDS.iter().any(|(known, _)| *known == kind) {
            fields.refuse("kind", "Choose what to add: a machine, another name, or a text.");
        }
        let is_text = kind == "text";
        let provider = if is_text { "".into() } else { canonical_provider(self.provider.trim()) };
        if !is_text && provider.is_empty() {
            fields.refuse("provider", "Enter the provider as pages show it, such as AWS.");
        }
        let name =
            fields.check("name", text(&self.name, "Enter the name as bills write it, such as p5.48xlarge."));
        let source = fields.check(
            "source",
            text(&self.source, "Enter where this is known from, such as a page of the provider."),
        );
        let (model, accelerators) = match kind.as_str() {
            "alias" => {
                let known = catalog.find_machine(&provider, self.same_as.trim());
                let unknown = || match self.same_as.trim() {
                    "" => "Enter a machine of this provider that is known, such as p5.48xlarge.".to_owned(),
                    found => format!(
                        "{provider} has no machine “{found}” that is known. Enter one of the catalog, such as p5.48xlarge."
                    ),
                };
                let known = fields.check("same_as", known.ok_or_else(unknown));
                (known.map(|it| it.model), known.map(|it| it.accelerators))
            }
            "machine" => (
                fields.check("model", accelerator::model(&self.model).ok_or(NO_MODEL)),
                fields.check("accelerators", count(&self.accelerators)),
            ),
            _ => (self.known_model(fields), None),
        };
        if fields.is_refused() {
            return None;
        }
        let new = NewAddition {
            provider: provider.into_owned(),
            name: name?,
            model: model?,
            accelerators,
            same_as: (kind == "alias").then(|| self.same_as.trim().to_owned()),
            source: source?,
        };
        if let Some(refused) = catalog.refuses(&new.addition()) {
            fields.refuse("name", words::refusal(refused));
            return None;
        }
        Some(new)
    }

    /// What a text names: without a model it would name nothing.
    fn known_model(&self, fields: &mut Fields) -> Option<&'static Model> {
        let known = accelerator::model(&self.model).filter(|it| words::is_known(it));
        fields.check("model", known.ok_or(NO_MODEL))
    }
}

fn text(text: &str, expected: &'static str) -> std::result::Result<String, String> {
    match text.trim() {
        "" => Err(expected.to_owned()),
        long if long.chars().count() > LONGEST => {
            Err(format!("Found {} characters. Enter at most {LONGEST}.", long.chars().count()))
        }
        text => Ok(text.to_owned()),
    }
}

fn count(text: &str) -> std::result::Result<Accelerators, String> {
    let count = text.parse::<Accelerators>().ok().filter(|it| !it.is_zero());
    count.ok_or_else(|| match text.trim() {
        "" => "Enter how many one machine holds, such as 8 or 1/6.".to_owned(),
        found => format!("Found “{found}”. Enter how many one machine holds, such as 8 or 1/6."),
    })
}
