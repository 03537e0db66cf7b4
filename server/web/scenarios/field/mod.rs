//! The fields of a scenario that a form has, each by its pointer in the document, with unit and words.

mod option;
mod owned;
mod place;
mod question;
mod work;

use crate::economics::comparison::Scenario;
use crate::economics::uncertainty::{Input, inputs};
use crate::money::Decimal;

/// A field of the form.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Its JSON pointer in the document, which is its name in the form, too.
    pub pointer: String,
    pub label: &'static str,
    pub unit: String,
    pub takes: Takes,
    pub hint: &'static str,
    /// Folded away: few change it.
    pub is_rare: bool,
    /// Of what is uncertain, what it is drawn between and who says so.
    pub drawn: Option<Drawn>,
}

impl Field {
    /// Itself, and those of its range.
    fn with_range(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.drawn.iter().flat_map(|it| &it.fields))
    }
}

/// What a field is drawn between.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    pub low: Decimal,
    pub high: Decimal,
    /// None: it is usual for its kind.
    pub source: Option<String>,
    /// Its low, its high and its source; none of what stands for several numbers.
    pub fields: Vec<Field>,
}

/// What can be entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Text,
    Number,
    NumberOrNone,
    /// In the document a share of 1.
    Percent,
    PercentOrNone,
    Whole,
    WholeOrNone,
    /// A number, or as many as cost least.
    Gpus,
    DayOrNone,
    /// How a price moves, as one text.
    Path,
    /// Several, with commas between.
    Names,
    OneOf(&'static [(&'static str, &'static str)]),
}

/// Fields that belong together.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    pub title: String,
    pub fields: Vec<Field>,
    /// What can be done with it: a word for a button, and the edit, as `copy:/option/1`.
    pub acts: Vec<(String, String)>,
}

impl Part {
    pub(super) fn has_rare(&self) -> bool {
        self.fields.iter().any(|it| it.is_rare)
    }
}

/// What is folded and unfolded together: the question, a work, an option.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub title: String,
    pub pointer: String,
    pub parts: Vec<Part>,
}

impl Section {
    pub(super) fn fields(&self) -> impl Iterator<Item = &Field> {
        self.parts.iter().flat_map(|it| &it.fields).flat_map(Field::with_range)
    }

    /// What a field of it is called with what it belongs to: `Price of a node, Our own`.
    pub(super) fn label(&self, field: &Field) -> String {
        let whose = self.whose();
        if self.pointer.is_empty() { field.label.to_owned() } else { format!("{}, {whose}", field.label) }
    }

    /// The name of the work or the option.
    pub(super) fn whose(&self) -> &str {
        self.title.strip_prefix("Work: ").unwrap_or(&self.title)
    }
}

/// Every field there is.
pub(super) fn fields(scenario: &Scenario) -> Vec<Field> {
    sections(scenario).iter().flat_map(Section::fields).cloned().collect()
}

/// The form, from top to bottom.
pub(super) fn sections(scenario: &Scenario) -> Vec<Section> {
    let money = scenario.currency.to_string();
    let mut sections = vec![Section {
        title: "Comparison".to_owned(),
        pointer: String::new(),
        parts: vec![question::question(scenario)],
    }];
    for (at, work) in scenario.work.iter().enumerate() {
        sections.push(work::of_work(at, work, scenario.work.len(), &money));
    }
    for (at, option) in scenario.options.iter().enumerate() {
        sections.push(option::of_option(at, option, scenario, &money));
    }
    let inputs = inputs(scenario);
    for field in sections.iter_mut().flat_map(|it| &mut it.parts).flat_map(|it| &mut it.fields) {
        let input = inputs.iter().find(|it| it.keys.contains(&field.pointer));
        field.drawn = input.map(|it| drawn(field, it));
    }
    sections
}

/// What a field is drawn between, and the fields in which that is changed.
fn drawn(field: &Field, input: &Input) -> Drawn {
    let (low, high, source) = (input.low, input.high, input.source.clone());
    // A list or a table stands for several numbers.
    let is_number =
        matches!(field.takes, Takes::Number | Takes::NumberOrNone | Takes::Percent | Takes::PercentOrNone);
    let Some(at) = ranges_of(&field.pointer).filter(|_| is_number) else {
        return Drawn { low, high, source, fields: Vec::new() };
    };
    let takes = if input.in_percent { Takes::PercentOrNone } else { Takes::NumberOrNone };
    let fields = [("low", "Low", takes), ("high", "High", takes), ("source", "Range source", Takes::Text)];
    let new = |(name, label, takes): (&str, &'static str, Takes)| Field {
        pointer: format!("{at}/{name}"),
        label,
        unit: String::new(),
        takes,
        hint: "",
        is_rare: true,
        drawn: None,
    };
    Drawn { low, high, source, fields: fields.map(new).to_vec() }
}

/// Where the range of a number is stated, by the pointer of the number.
pub(super) fn ranges_of(pointer: &str) -> Option<String> {
    let parts: Vec<&str> = pointer.split('/').collect();
    let of = match parts.as_slice() {
        ["", "option", _, "place", _, _, ..] => 5,
        ["", "work", _, _, ..] => 3,
        ["", _, ..] => 1,
        _ => return None,
    };
    let (whole, rest) = parts.split_at(of);
    Some(format!("{}/ranges/{}", whole.join("/"), rest.join(".")))
}

/// Makes the fields that belong to one place of the document.
struct Maker<'a> {
    at: String,
    money: &'a str,
    fields: Vec<Field>,
}

impl Maker<'_> {
    fn add(&mut self, name: &str, label: &'static str, takes: Takes, unit: &str, hint: &'static str) {
        let pointer = format!("{}/{name}", self.at);
        let unit = unit.replace("MONEY", self.money);
        self.fields.push(Field { pointer, label, unit, takes, hint, is_rare: false, drawn: None });
    }

    fn rare(&mut self, name: &str, label: &'static str, takes: Takes, unit: &str, hint: &'static str) {
        self.add(name, label, takes, unit, hint);
        if let Some(field) = self.fields.last_mut() {
            field.is_rare = true;
        }
    }

    /// A price and where it is from.
    fn rate(&mut self, under: &str, label: &'static str, hint: &'static str) {
        let name = |field: &str| format!("{under}{field}");
        self.add(&name("price"), label, Takes::Number, "MONEY per GPU-hour", hint);
        let moves =
            "−20%: 20% less each year. 12: 0.8, 24: 0.6: factors on today’s price from month 12 and 24.";
        self.rare(&name("path"), "Expected price change", Takes::Path, "a year, or by month", moves);
        self.rare(&name("date"), "Price date", Takes::DayOrNone, "", "");
        self.rare(&name("source"), "Source", Takes::Text, "", "");
        self.rare(&name("region"), "Region", Takes::Text, "", "");
    }
}
