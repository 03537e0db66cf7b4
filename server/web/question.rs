//! The question in an address: `?by=region&cost=billed&provider=AWS&provider=Oracle`. Pages read it,
//! change one part of it, and print it again as a link.

use axum_extra::routing::TypedPath;

use super::{Error, paths};
use crate::accounts::Viewer;
use crate::money::Currency;
use crate::period::Period;
use crate::report::{CostMetric, Filter, Grouping, ParseQuestionError, Question, SHARED, Sort, Step};

/// No list is longer; what is asked beyond shows nothing.
const LAST_PAGE: u64 = 1_000_000_000;

/// Dimensions that are filtered by at once, and values of them in all: more than two pages have boxes to tick. Every link of a
/// page repeats them.
const MOST_DIMENSIONS: usize = 20;
const MOST_VALUES: usize = 250;

/// What an address asks, beside its period. What stands at its default is not printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub by: Grouping,
    pub then: Option<Grouping>,
    pub cost: CostMetric,
    pub currency: Option<Currency>,
    /// `in=EUR`: the currency that amounts are converted into.
    pub convert_into: Option<Currency>,
    pub limit: Option<usize>,
    pub sequence: Option<i64>,
    pub filters: Vec<Filter>,
    pub find: Option<String>,
    pub sort: Option<Sort>,
    /// `over=day`: the columns of the chart, where they are not those one expects of the period.
    pub over: Option<Step>,
    /// From 1.
    pub page: u64,
    /// The address was written by a form, and has a shorter one that says the same.
    pub is_form: bool,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            by: Grouping::Service,
            then: None,
            cost: CostMetric::default(),
            currency: None,
            convert_into: None,
            limit: None,
            sequence: None,
            filters: Vec::new(),
            find: None,
            sort: None,
            over: None,
            page: 1,
            is_form: false,
        }
    }
}

fn too_many(what: &str, found: usize, most: usize) -> Error {
    Error::BadRequest(format!("The address has {found} {what} to filter by. Use at most {most}."))
}

impl Asked {
    /// Reads the pairs of a query string; a word that names nothing is refused.
    pub fn read(pairs: Vec<(String, String)>) -> Result<Self, Error> {
        let mut asked = Self::default();
        let mut filters = Vec::new();
        // A form's boxes and which of its two buttons was pressed.
        let (mut picked, mut leaves_out) = (Vec::new(), false);
        if pairs.len() > MOST_VALUES {
            return Err(too_many("values", pairs.len(), MOST_VALUES));
        }
        for (name, value) in pairs {
            match name.as_str() {
                "by" => asked.by = value.parse().map_err(|error| refused("by", &error))?,
                "then" if value.is_empty() => {}
                "then" => asked.then = Some(value.parse().map_err(|error| refused("then", &error))?),
                "cost" => asked.cost = value.parse().map_err(|error| refused("cost", &error))?,
                "currency" => asked.currency = Some(currency("currency", &value)?),
                "in" => asked.convert_into = Some(currency("in", &value)?),
                "limit" => asked.limit = Some(parse("limit", &value)?),
                "sequence" => asked.sequence = Some(parse("sequence", &value)?),
                "find" => asked.find = Some(value).filter(|text| !text.trim().is_empty()),
                "sort" => asked.sort = Some(value.parse().map_err(|error| refused("sort", &error))?),
                "over" => asked.over = Some(step(&value)?),
                "page" => asked.page = parse("page", &value)?,
                "pick" => picked.push(value),
                "do" => (asked.is_form, leaves_out) = (true, value == "leave-out"),
                name => {
                    let (dimension, leaves_out) =
                        name.strip_prefix("not:").map_or((name, false), |rest| (rest, true));
                    let dimension = dimension.parse().map_err(|_| {
                        let known = Grouping::FIXED.map(|it| it.to_string()).join(", ");
                        Error::BadRequest(format!(
                            "{name} is not a dimension to filter by. Use {known}, use, job, user, node, queue, namespace or tag:KEY; put not: before one to \
                             leave out its values."
                        ))
                    })?;
                    filters.push(Filter { dimension, values: vec![value], leaves_out });
                }
            }
        }
        if !picked.is_empty() {
            let known = filters.iter().any(|f| f.dimension == asked.by && !f.leaves_out);
            // Boxes were ticked among what is kept already, so they take its place.
            if known && !leaves_out {
                filters.retain(|filter| filter.dimension != asked.by || filter.leaves_out);
            }
            filters.push(Filter { dimension: asked.by.clone(), values: picked, leaves_out });
        }
        if asked.then.as_ref() == Some(&asked.by) {
            asked.then = None;
        }
        asked.filters = Filter::merge(filters.into_iter());
        if asked.filters.len() > MOST_DIMENSIONS {
            return Err(too_many("dimensions", asked.filters.len(), MOST_DIMENSIONS));
        }
        asked.page = asked.page.clamp(1, LAST_PAGE);
        Ok(asked)
    }

    /// Reads the pairs of a page that takes only those whose names stand here with spaces between.
    pub fn read_only(pairs: Vec<(String, String)>, names: &str) -> Result<Self, Error> {
        if let Some((name, _)) = pairs.iter().find(|(name, _)| !names.split(' ').any(|known| known == name)) {
            let known = names.replace(' ', ", ");
            return Err(Error::BadRequest(format!("{name} cannot be used in this address. Use {known}.")));
        }
        Self::read(pairs)
    }

    pub fn question(&self, period: Period, viewer: Viewer) -> Question {
        Question {
            by: self.by.clone(),
            then: self.then.clone(),
            cost: self.cost,
            currency: self.currency.clone(),
            convert_into: self.convert_into.clone(),
            filters: self.filters.clone(),
            find: self.find.clone(),
            sort: self.sort,
            limit: self.limit,
            sequence: self.sequence,
            ..Question::of(period, viewer)
        }
    }

    /// The address of `path` that asks this.
    pub fn link(&self, path: impl TypedPath) -> String {
        let pairs = self.pairs();
        if pairs.is_empty() { path.to_string() } else { paths::with_query(path, &pairs) }
    }

    /// Where a scenario begins with what this asks about, in a period.
    pub fn scenario(&self, period: Period) -> String {
        paths::with_query(paths::ScenarioNew, &self.scenario_pairs(period))
    }

    /// The pairs of that address: which charges, in what currency, as of when.
    pub fn scenario_pairs(&self, period: Period) -> Vec<(String, String)> {
        let asked = Self {
            currency: self.currency.clone(),
            convert_into: self.convert_into.clone(),
            sequence: self.sequence,
            filters: self.filters.clone(),
            ..Self::default()
        };
        std::iter::once(("from".to_owned(), period.to_string())).chain(asked.pairs()).collect()
    }

    /// Another grouping, of which nothing is known yet: not what was looked for, nor how to sort it.
    #[must_use]
    pub fn by(&self, by: Grouping) -> Self {
        let then = self.then.clone().filter(|then| *then != by);
        Self { by, then, find: None, sort: None, page: 1, ..self.clone() }
    }

    #[must_use]
    pub fn cost(&self, cost: CostMetric) -> Self {
        Self { cost, ..self.clone() }
    }

    #[must_use]
    pub fn currency(&self, currency: &Currency) -> Self {
        Self { currency: Some(currency.clone()), convert_into: None, page: 1, ..self.clone() }
    }

    #[must_use]
    pub fn convert_into(&self, currency: &Currency) -> Self {
        Self { currency: None, convert_into: Some(currency.clone()), page: 1, ..self.clone() }
    }

    #[must_use]
    pub fn over(&self, over: Option<Step>) -> Self {
        Self { over, ..self.clone() }
    }

    #[must_use]
    pub fn sort(&self, sort: Option<Sort>) -> Self {
        Self { sort, page: 1, ..self.clone() }
    }

    #[must_use]
    pub fn find(&self, find: Option<String>) -> Self {
        Self { find, page: 1, ..self.clone() }
    }

    /// Narrowed to one value of a dimension; `None` is "no value".
    #[must_use]
    pub fn only(&self, dimension: &Grouping, value: Option<&str>) -> Self {
        // What stands for a pool leads to the pool.
        if let Some(pool) = value.and_then(|value| value.strip_prefix(SHARED)) {
            return self.only(&Grouping::Pool, Some(pool));
        }
        let mut asked = self.without(dimension, false);
        let values = vec![value.unwrap_or_default().to_owned()];
        asked.filters.push(Filter::keep(dimension.clone(), values));
        asked
    }

    #[must_use]
    pub fn without(&self, dimension: &Grouping, leaves_out: bool) -> Self {
        let mut asked = Self { page: 1, ..self.clone() };
        asked.filters.retain(|filter| filter.dimension != *dimension || filter.leaves_out != leaves_out);
        asked
    }

    /// What the figures are narrowed to, each with the address without it.
    pub fn chips(&self, address: impl Fn(&Self) -> String) -> Vec<(String, String)> {
        let chip = |filter: &Filter| {
            let label =
                |value: &String| filter.dimension.value_label(Some(value.as_str()).filter(|v| !v.is_empty()));
            let values: Vec<String> = filter.values.iter().map(label).collect();
            let (name, values) = (filter.dimension.label(), values.join(" or "));
            let text =
                if filter.leaves_out { format!("{name}: not {values}") } else { format!("{name}: {values}") };
            (text, address(&self.without(&filter.dimension, filter.leaves_out)))
        };
        self.filters.iter().map(chip).collect()
    }

    /// The pairs whose names stand here with spaces between.
    pub fn pairs_of(&self, names: &str) -> Vec<(String, String)> {
        self.pairs().into_iter().filter(|(name, _)| names.split(' ').any(|known| known == name)).collect()
    }

    /// The pairs that a form sends along with its own fields, whose names stand here with spaces between.
    pub fn hidden(&self, own: &str) -> Vec<(String, String)> {
        let is_own = |name: &str| own.split(' ').any(|own| own == name) || name == "page";
        self.pairs().into_iter().filter(|(name, _)| !is_own(name)).collect()
    }

    fn pairs(&self) -> Vec<(String, String)> {
        let default = Self::default();
        let of_filter = |filter: &Filter| -> Vec<(String, String)> {
            let name = format!("{}{}", if filter.leaves_out { "not:" } else { "" }, filter.dimension);
            filter.values.iter().map(|value| (name.clone(), value.clone())).collect()
        };
        let before_filters = [
            ("by", (self.by != default.by).then(|| self.by.to_string())),
            ("then", self.then.as_ref().map(ToString::to_string)),
            ("cost", (self.cost != default.cost).then(|| self.cost.to_string())),
            ("currency", self.currency.as_ref().map(ToString::to_string)),
            ("in", self.convert_into.as_ref().map(ToString::to_string)),
        ];
        let after_filters = [
            ("find", self.find.clone()),
            ("sort", self.sort.map(|sort| sort.to_string())),
            (
                "over",
                self.over.map(|step| {
                    match step {
                        Step::Day => "day",
                        Step::Month => "month",
                    }
                    .to_owned()
                }),
            ),
            ("limit", self.limit.map(|limit| limit.to_string())),
            ("sequence", self.sequence.map(|sequence| sequence.to_string())),
            ("page", (self.page > 1).then(|| self.page.to_string())),
        ];
        let said = |(name, value): (&str, Option<String>)| Some((name.to_owned(), value?));
        let filters = self.filters.iter().flat_map(of_filter);
        let (before, after) = (before_filters.into_iter(), after_filters.into_iter());
        before.filter_map(said).chain(filters).chain(after.filter_map(said)).collect()
    }
}

fn currency(name: &str, value: &str) -> Result<Currency, Error> {
    Currency::parse(value).ok_or_else(|| number(name, "a currency such as USD"))
}

fn step(value: &str) -> Result<Step, Error> {
    match value {
        "day" => Ok(Step::Day),
        "month" => Ok(Step::Month),
        _ => Err(number("over", "day or month")),
    }
}

fn parse<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, Error> {
    value.parse().map_err(|_| number(name, "a whole number"))
}

fn number(name: &str, expected: &str) -> Error {
    Error::BadRequest(format!("{name}: enter {expected}."))
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
            ("not:category", "Tax"),
            ("not:category", "Credit"),
            ("then", "accelerator"),
            ("in", "eur"),
            ("find", "n"),
            ("sort", "-name"),
            ("over", "day"),
        ]))
        .unwrap();
        let printed = asked.link(paths::Home);
        assert_eq!(
            printed,
            "/?by=tag%3Ateam&then=accelerator&cost=billed&in=EUR&tag%3Ateam=nlp+%26+co&provider=AWS&provider=Oracle\
             &not%3Acategory=Tax&not%3Acategory=Credit&find=n&sort=-name&over=day&limit=20"
        );
        assert_eq!(Asked::read(asked.pairs()).unwrap(), asked);
        assert_eq!(Asked::default().link(paths::Home), "/");
    }

    #[test]
    fn ticked_boxes_become_filters() {
        let form = |button| {
            let query =
                [("by", "provider"), ("provider", "AWS"), ("pick", "Oracle"), ("pick", ""), ("do", button)];
            let asked = Asked::read(pairs(&query)).unwrap();
            assert!(asked.is_form);
            asked.link(paths::Home)
        };
        assert_eq!(form("keep"), "/?by=provider&provider=Oracle&provider=");
        assert_eq!(form("leave-out"), "/?by=provider&provider=AWS&not%3Aprovider=Oracle&not%3Aprovider=");
    }

    #[test]
    fn an_unknown_word_is_refused() {
        for query in [
            ("by", "color"),
            ("cost", "free"),
            ("color", "red"),
            ("limit", "many"),
            ("in", "1"),
            ("currency", "1"),
            ("sort", "color"),
            ("over", "year"),
            ("not:color", "red"),
        ] {
            assert!(matches!(Asked::read(pairs(&[query])), Err(Error::BadRequest(_))), "{query:?}");
        }
    }
}
