//! What is filled in on the page of a mapping, as names and values of its form.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::de::value::{Error, StrDeserializer};

use crate::billing::mapping::{Draft, LeaveOut, PricedBy, Said, Sample, Suggestion, Use};
use crate::web::extract::Pairs;

/// What is the same in all rows, where no column says it.
pub(super) const TEXTS: [(Use, &str, &str); 5] = [
    (Use::Provider, "Provider", "Such as Lambda."),
    (Use::Account, "Billing account", "As you call it, such as default."),
    (Use::Currency, "Currency", "Such as EUR."),
    (Use::Service, "Service", "Optional, such as Compute."),
    (Use::Unit, "Unit of the quantity", "Hours of machines, or GPU-Hours."),
];

/// The values of the form.
pub(super) struct Filled(BTreeMap<String, String>);

impl Filled {
    pub fn new(pairs: &Pairs) -> Self {
        Self(pairs.iter().cloned().collect())
    }

    fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// A word of an enum of the document.
    fn word<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        T::deserialize(StrDeserializer::<Error>::new(self.text(name))).ok()
    }

    /// How the rows stand in the file, where somebody said so.
    pub fn said(&self) -> Said {
        Said {
            separator: self.word("separator"),
            header_row: self.text("header").trim().parse().ok().filter(|row| *row > 0),
            sheet: Some(self.text("sheet")).filter(|sheet| !sheet.is_empty()).map(str::to_owned),
        }
    }

    /// Whether the columns were filled in for the rows as they stand now.
    pub fn is_for(&self, sample: &Sample) -> bool {
        self.text("shape") == shape(sample)
    }

    /// As mappings are named: `GPU Hosting Nord` is `gpu-hosting-nord`.
    pub fn name(&self) -> String {
        let words = self.text("name").split(|c: char| !c.is_ascii_alphanumeric());
        words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
    }

    /// What was filled in.
    pub fn draft(&self, sample: &Sample) -> Draft {
        let uses = (0..sample.names.len()).map(|at| Use::parse(self.text(&format!("column{at}"))));
        let uses: Vec<_> = uses.collect();
        // A column of costs that was chosen afterwards is what prices the rows.
        let priced_by = self.word::<PricedBy>("priced-by").filter(|_| !uses.contains(&Some(Use::Cost)));
        let texts = TEXTS.iter().map(|(of, ..)| (*of, self.text(of.as_str()).to_owned()));
        // A word that nothing was chosen for is stated by nobody, and its rows are rejected.
        let words = self.0.iter().filter_map(|(name, category)| {
            let word = name.strip_prefix("word:")?;
            (!category.is_empty()).then(|| (word.to_owned(), category.clone()))
        });
        Draft {
            name: self.name(),
            separator: sample.separator,
            header_row: sample.header_row,
            sheet: sheet(sample),
            states: self.word("states").unwrap_or_default(),
            names: sample.names.clone(),
            uses,
            priced_by,
            texts: texts.filter(|(_, text)| !text.trim().is_empty()).collect(),
            end_is: self.word("end-is").unwrap_or_default(),
            length: self.word("length").unwrap_or_default(),
            dates: self.word("dates"),
            spread: self.text("spread") == "yes",
            decimal: self.word("decimal").unwrap_or_default(),
            category_words: words.collect(),
            leave_out: self.leave_out(),
        }
    }

    fn leave_out(&self) -> Vec<LeaveOut> {
        let rule = |at: usize| {
            let column = self.text(&format!("out{at}")).to_owned();
            let is = self.text(&format!("out{at}-is")).to_owned();
            let is_total = self.text(&format!("out{at}-total")) == "yes";
            (!column.is_empty()).then_some(LeaveOut { column, is, is_total })
        };
        (0..MOST_RULES).filter_map(rule).collect()
    }
}

/// The names and values of a form that is filled in so.
pub(super) fn pairs(sample: &Sample, draft: &Draft) -> Pairs {
    let mut pairs = vec![
        ("shape".to_owned(), shape(sample)),
        ("separator".to_owned(), sample.separator.name().to_owned()),
        ("header".to_owned(), sample.header_row.to_string()),
        ("sheet".to_owned(), sample.sheet.clone().unwrap_or_default()),
        ("states".to_owned(), written(&draft.states)),
        ("end-is".to_owned(), written(&draft.end_is)),
        ("length".to_owned(), written(&draft.length)),
        ("decimal".to_owned(), written(&draft.decimal)),
        ("dates".to_owned(), draft.dates.as_ref().map(written).unwrap_or_default()),
    ];
    pairs.extend(draft.priced_by.as_ref().map(|it| ("priced-by".to_owned(), written(it))));
    if draft.spread {
        pairs.push(("spread".to_owned(), "yes".to_owned()));
    }
    for (at, used) in draft.uses.iter().enumerate() {
        pairs.extend(used.map(|of| (format!("column{at}"), of.as_str().to_owned())));
    }
    pairs.extend(draft.texts.iter().map(|(of, text)| (of.as_str().to_owned(), text.clone())));
    let words = draft.category_words.iter();
    pairs.extend(words.map(|(word, category)| (format!("word:{word}"), category.clone())));
    for (at, rows) in draft.leave_out.iter().enumerate() {
        pairs.push((format!("out{at}"), rows.column.clone()));
        pairs.push((format!("out{at}-is"), rows.is.clone()));
        if rows.is_total {
            pairs.push((format!("out{at}-total"), "yes".to_owned()));
        }
    }
    pairs
}

/// An enum of the document as its word.
fn written(value: &impl Serialize) -> String {
    let written = serde_json::to_value(value).ok();
    written.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}

/// Rules by which rows are left out.
pub(super) const MOST_RULES: usize = 12;

/// The sheet that a mapping names: the first with a table may have another name the next month.
fn sheet(sample: &Sample) -> Option<String> {
    sample.sheet.clone().filter(|_| sample.is_other_sheet)
}

/// How the rows stand in a file: the columns of one shape are those of no other.
pub(super) fn shape(sample: &Sample) -> String {
    let sheet = sample.sheet.as_deref().map(|sheet| format!("-{sheet}")).unwrap_or_default();
    format!("{}-{}{sheet}", sample.separator.name(), sample.header_row)
}

/// What is suggested for a file.
pub(super) fn suggested(sample: &Sample, suggestion: &Suggestion) -> Draft {
    let texts = [(Use::Currency, &suggestion.currency), (Use::Unit, &suggestion.unit)];
    let texts = texts.into_iter().filter_map(|(of, text)| Some((of, text.clone()?)));
    Draft {
        separator: sample.separator,
        header_row: sample.header_row,
        sheet: sheet(sample),
        states: suggestion.states,
        names: sample.names.clone(),
        uses: suggestion.uses.clone(),
        texts: texts.chain([(Use::Account, "default".to_owned())]).collect(),
        end_is: suggestion.end_is,
        length: suggestion.length,
        dates: suggestion.dates,
        spread: suggestion.spread,
        decimal: suggestion.decimal.unwrap_or_default(),
        category_words: suggestion.category_words.clone(),
        leave_out: suggestion.leave_out.clone(),
        ..Draft::default()
    }
}

/// What a mapping says, for a file that has most of its columns. Where it said that a file states no cost, that is asked again of a file
/// with a column that it does not know: it may be the cost.
pub(super) fn adapted(mapping: &crate::billing::mapping::Mapping, sample: &Sample) -> Draft {
    let of = Draft::of(mapping);
    let uses = sample.names.iter().map(|name| {
        let at = of.names.iter().position(|known| known == name)?;
        of.uses.get(at).copied().flatten()
    });
    let priced_by = of.priced_by.filter(|_| sample.names.iter().all(|name| of.names.contains(name)));
    Draft {
        uses: uses.collect(),
        priced_by,
        names: sample.names.clone(),
        separator: sample.separator,
        header_row: sample.header_row,
        sheet: sheet(sample),
        ..of
    }
}
