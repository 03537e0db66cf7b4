//! What a field's text means: in the form, in an address and in the document.

use serde_json::{Value, json};

use super::super::super::form;
use super::super::field::{Field, Takes};
use super::is_kind;
use crate::economics::price_path::Path;
use crate::money::Decimal;

fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|it| !it.is_empty())
}

impl Takes {
    /// The value that a text of a document means, or what would be one.
    pub(super) fn value(self, text: &str) -> Result<Value, &'static str> {
        let text = text.trim();
        let number = || form::amount(text);
        let whole = || text.replace(',', "").parse::<u32>().ok();
        match self {
            Self::Text => Ok(Value::String(text.to_owned())),
            Self::Number | Self::Percent => number()
                .map(|it| json!(it))
                .ok_or("enter a number without separators, such as 375000 or 3.99"),
            Self::NumberOrNone | Self::PercentOrNone | Self::WholeOrNone | Self::DayOrNone
                if text.is_empty() =>
            {
                Ok(Value::Null)
            }
            Self::NumberOrNone | Self::PercentOrNone => {
                number().map(|it| json!(it)).ok_or("enter a number, or leave it empty")
            }
            Self::WholeOrNone => whole()
                .map(|it| json!(it))
                .ok_or(form::not_a_count(text, "enter a whole number, or leave it empty")),
            Self::Whole => whole().map(|it| json!(it)).ok_or(form::not_a_count(text, "enter a whole number")),
            Self::Gpus if text == "best" => Ok(json!("best")),
            Self::Gpus => {
                whole().map(|it| json!(it)).ok_or("enter a number of GPUs, or best for the cheapest number")
            }
            Self::DayOrNone => {
                let day = text.parse::<chrono::NaiveDate>();
                day.map(|it| json!(it)).map_err(|_| "enter a date such as 2026-09-30")
            }
            Self::Path => text.parse::<Path>().map(|it| json!(it)),
            Self::Names => Ok(json!(names(text).collect::<Vec<_>>())),
            Self::OneOf(words) => {
                let is_one = words.iter().any(|(word, _)| *word == text);
                if is_one { Ok(json!(text)) } else { Err("choose one of the options") }
            }
        }
    }

    /// What a form's text is in the document, which counts shares of 1. What means nothing stays.
    pub(in crate::web::scenarios) fn to_document(self, text: &str) -> String {
        let text = text.trim().replace("\r\n", "\n");
        match self {
            Self::Percent | Self::PercentOrNone => {
                let number = form::amount(text.trim_end_matches('%').trim_end());
                number
                    .and_then(|it| it.divide(100.into(), it.scale() + 2))
                    .map_or(text, |it| it.normalize().to_string())
            }
            Self::Number | Self::NumberOrNone => {
                form::amount(&text).map_or(text, |it| it.normalize().to_string())
            }
            Self::Path => text.parse::<Path>().map_or(text, |it| it.to_string()),
            Self::Names => names(&text).collect::<Vec<_>>().join(", "),
            _ => text,
        }
    }

    /// What the document's text is in a form.
    pub(in crate::web::scenarios) fn to_form(self, text: &str) -> String {
        match self {
            Self::Percent | Self::PercentOrNone => {
                text.parse::<Decimal>().map_or(text.to_owned(), |it| it.times(100).normalize().to_string())
            }
            _ => text.to_owned(),
        }
    }
}

impl Takes {
    /// What a choice is called where a page shows it. None: this is no choice of its.
    pub(in crate::web::scenarios) fn choice(self, word: &str) -> Option<&'static str> {
        let Self::OneOf(words) = self else { return None };
        words.iter().find(|(known, _)| *known == word).map(|(_, label)| *label)
    }
}

impl Field {
    /// Whether it names the kind of what it stands in, so that other fields come and go with it.
    pub(in crate::web::scenarios) fn is_kind(&self) -> bool {
        is_kind(&self.pointer)
    }

    /// What a document says of it.
    pub(in crate::web::scenarios) fn text_in(&self, tree: &Value) -> String {
        match tree.pointer(&self.pointer) {
            Some(Value::String(text)) => match self.takes {
                Takes::Text | Takes::OneOf(_) | Takes::DayOrNone | Takes::Gpus | Takes::Whole => text.clone(),
                _ => text.parse::<Decimal>().map_or(text.clone(), |it| it.normalize().to_string()),
            },
            Some(Value::Number(number)) => number.to_string(),
            Some(path @ Value::Object(_)) if self.takes == Takes::Path => {
                serde_json::from_value::<Path>(path.clone())
                    .map_or_else(|_| String::new(), |it| it.to_string())
            }
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
            }
            _ => String::new(),
        }
    }
}
