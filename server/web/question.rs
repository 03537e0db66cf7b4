//! The question in an address: `?by=region&cost=billed&provider=AWS&provider=Oracle`. Pages read it,
//! change one part of it, and print it again as a link.

use axum_extra::routing::TypedPath;

use super::{Error, paths};
use crate::accounts::Viewer;
use crate::money::Currency;
use crate::period::Period;
use crate::report::{CostBasis, Filter, Grouping, ParseQuestionError, Question};

/// No list is longer; what is asked beyond shows nothing.
const LAST_PAGE: u64 = 1_000_000_000;

/// What an address asks, beside its period. What stands at its default is not printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub by: Grouping,
    pub cost: CostBasis,
    pub currency: Option<Currency>,
    pub limit: Option<usize>,
    pub sequence: Option<i64>,
    pub filters: Vec<Filter>,
    /// From 1.
    pub page: u64,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            by: Grouping::Service,
            cost: CostBasis::default(),
            currency: None,
            limit: None,
            sequence: None,
            filters: Vec::new(),
            page: 1,
        }
    }
}

impl Asked {
    /// Reads the pairs of a query string; a word that names nothing is refused.
    pub fn read(pairs: Vec<(String, String)>) -> Result<Self, Error> {
        let mut asked = Self::default();
        let mut filters = Vec::new();
        for (name, value) in pairs {
            match name.as_str() {
                "by" => asked.by = value.parse().map_err(|error| refused("by", &error))?,
                "cost" => asked.cost = value.parse().map_err(|error| refused("cost", &error))?,
                "currency" => {
                    let currency = Currency::parse(&value);
                    asked.currency =
                        Some(currency.ok_or_else(|| number("currency", "a currency such as USD"))?);
                }
                "in" => {
                    return Err(Error::BadRequest(
                        "in: this version has no exchange rates to convert with; use currency to choose one."
                            .into(),
                    ));
                }
                "limit" => asked.limit = Some(parse("limit", &value)?),
                "sequence" => asked.sequence = Some(parse("sequence", &value)?),
                "page" => asked.page = parse("page", &value)?,
                dimension => {
                    let dimension = dimension.parse().map_err(|_| {
                        Error::BadRequest(format!(
                            "{dimension} is no dimension to filter by. There are provider, account, service, \
                             region, accelerator, pricing, category, sku, resource, day, month and tag:KEY."
                        ))
                    })?;
                    filters.push(Filter { dimension, values: vec![value] });
                }
            }
        }
        asked.filters = Filter::merge(filters.into_iter());
        asked.page = asked.page.clamp(1, LAST_PAGE);
        Ok(asked)
    }

    pub fn question(&self, period: Period, viewer: Viewer) -> Question {
        Question {
            period,
            by: self.by.clone(),
            cost: self.cost,
            currency: self.currency.clone(),
            filters: self.filters.clone(),
            limit: self.limit,
            sequence: self.sequence,
            viewer,
        }
    }

    /// The address of `path` that asks this.
    pub fn link(&self, path: impl TypedPath) -> String {
        let pairs = self.pairs();
        if pairs.is_empty() { path.to_string() } else { paths::with_query(path, &pairs) }
    }

    /// The same as a query string with its `?`; empty where everything is at its default.
    pub fn suffix(&self) -> String {
        self.link(paths::Home).trim_start_matches('/').to_owned()
    }

    #[must_use]
    pub fn by(&self, by: Grouping) -> Self {
        Self { by, page: 1, ..self.clone() }
    }

    #[must_use]
    pub fn cost(&self, cost: CostBasis) -> Self {
        Self { cost, ..self.clone() }
    }

    #[must_use]
    pub fn currency(&self, currency: &Currency) -> Self {
        Self { currency: Some(currency.clone()), page: 1, ..self.clone() }
    }

    #[must_use]
    pub fn limit(&self, limit: usize) -> Self {
        Self { limit: Some(limit), ..self.clone() }
    }

    /// Narrowed to one value of a dimension; `None` is "no value".
    #[must_use]
    pub fn only(&self, dimension: &Grouping, value: Option<&str>) -> Self {
        let mut asked = self.without(dimension);
        let values = vec![value.unwrap_or_default().to_owned()];
        asked.filters.push(Filter { dimension: dimension.clone(), values });
        asked
    }

    #[must_use]
    pub fn without(&self, dimension: &Grouping) -> Self {
        let mut asked = Self { page: 1, ..self.clone() };
        asked.filters.retain(|filter| filter.dimension != *dimension);
        asked
    }

    /// What the figures are narrowed to, each with the address without it.
    pub fn chips(&self, address: impl Fn(&Self) -> String) -> Vec<(String, String)> {
        let chip = |filter: &Filter| {
            let label =
                |value: &String| filter.dimension.value_label(Some(value.as_str()).filter(|v| !v.is_empty()));
            let values: Vec<String> = filter.values.iter().map(label).collect();
            let text = format!("{}: {}", filter.dimension.label(), values.join(" or "));
            (text, address(&self.without(&filter.dimension)))
        };
        self.filters.iter().map(chip).collect()
    }

    fn pairs(&self) -> Vec<(String, String)> {
        let default = Self::default();
        let mut pairs = Vec::new();
        let mut push = |name: &str, value: String| pairs.push((name.to_owned(), value));
        if self.by != default.by {
            push("by", self.by.to_string());
        }
        if self.cost != default.cost {
            push("cost", self.cost.to_string());
        }
        if let Some(currency) = &self.currency {
            push("currency", currency.to_string());
        }
        for filter in &self.filters {
            for value in &filter.values {
                push(&filter.dimension.to_string(), value.clone());
            }
        }
        if let Some(limit) = self.limit {
            push("limit", limit.to_string());
        }
        if let Some(sequence) = self.sequence {
            push("sequence", sequence.to_string());
        }
        if self.page > 1 {
            push("page", self.page.to_string());
        }
        pairs
    }
}

fn parse<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, Error> {
    value.parse().map_err(|_| number(name, "a whole number"))
}

fn number(name: &str, expected: &str) -> Error {
    Error::BadRequest(format!("{name}: expected {expected}."))
}

fn refused(name: &str, error: &ParseQuestionError) -> Error {
    Error::BadRequest(format!("{name}: {error}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(query: &[(&str, &str)]) -> Vec<(String, String)> {
        query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn an_address_prints_as_it_reads() {
        let asked = Asked::read(pairs(&[
            ("tag:team", "nlp & co"),
            ("provider", "AWS"),
            ("by", "tag:team"),
            ("provider", "Oracle"),
            ("cost", "billed"),
            ("limit", "20"),
        ]))
        .unwrap();
        let printed = asked.link(paths::Home);
        assert_eq!(
            printed,
            "/?by=tag%3Ateam&cost=billed&tag%3Ateam=nlp+%26+co&provider=AWS&provider=Oracle&limit=20"
        );
        assert_eq!(Asked::read(asked.pairs()).unwrap(), asked);
        assert_eq!(Asked::default().link(paths::Home), "/");
    }

    #[test]
    fn an_unknown_word_is_refused() {
        for query in [
            ("by", "colour"),
            ("cost", "free"),
            ("colour", "red"),
            ("limit", "many"),
            ("in", "EUR"),
            ("currency", "1"),
        ] {
            assert!(matches!(Asked::read(pairs(&[query])), Err(Error::BadRequest(_))), "{query:?}");
        }
    }
}
