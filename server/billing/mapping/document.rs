//! The document of a mapping: what is saved, exported and edited.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::billing::ChargeCategory;
use crate::billing::header::{Header, key_of};
use crate::billing::normalized_key;
use crate::enum_words::words;

/// How a file is read that no format knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Mapping {
    /// Lower-case letters, digits and hyphens: `lambda-weekly`.
    pub name: String,
    pub file: File,
    pub period: Period,
    #[serde(default)]
    pub numbers: Amount,
    pub fields: Fields,
    /// Columns that are tags, by the key of the tag.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<CategoryWords>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leave_out: Vec<LeaveOut>,
}

/// How rows are found in a file, and which files it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct File {
    #[serde(default)]
    pub separator: Separator,
    /// Which line of the file names the columns, from 1; titles may stand above it.
    #[serde(default = "first")]
    pub header_row: u32,
    /// The sheet of a workbook; the first that people see and that has a table where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    #[serde(default)]
    pub states: States,
    /// All columns of the file: another one with the same is read by the mapping.
    pub columns: Vec<String>,
}

fn first() -> u32 {
    1
}

words! {
    /// What stands between the columns of a line.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Separator: name, label {
        #[default]
        Comma = "comma", "comma";
        Semicolon = "semicolon", "semicolon";
        Tab = "tab", "tab";
    }
}

impl Separator {
    pub fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
        }
    }
}

/// How much of a month a file states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum States {
    /// All of it: the next file of the month replaces this one.
    #[default]
    Month,
    /// A part, as the invoice of a week: files add up, and one replaces only a file of the same name.
    Part,
}

/// When a charge begins and ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Period {
    /// A date, a month, or a range of dates.
    pub start: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    #[serde(default)]
    pub end_is: LastDay,
    /// How long a charge lasts where nothing says when it ends.
    #[serde(default)]
    pub length: Length,
    /// Which of the numbers of `03/04/2026` is the month, where no date of the file proves it; of `03.04.2026`, the second where
    /// nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dates: Option<DateForm>,
    /// Whether a charge that lasts over the end of a month is divided by days, and each part billed in its own month.
    #[serde(default)]
    pub spread: bool,
}

/// What the date in the column of the end is, or the last one of a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LastDay {
    /// The last day of the period.
    #[default]
    Included,
    /// The day behind it.
    Excluded,
}

/// How long a charge lasts that states a start alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    Hour,
    #[default]
    Day,
    Week,
    Month,
}

/// The order of dates with slashes or dots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateForm {
    DayFirst,
    MonthFirst,
}

/// How amounts are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amount {
    #[serde(default)]
    pub decimal: Decimals,
}

/// What stands before decimals; the other one may stand between thousands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decimals {
    #[default]
    Point,
    Comma,
}

impl Decimals {
    pub fn byte(self) -> u8 {
        match self {
            Self::Point => b'.',
            Self::Comma => b',',
        }
    }
}

/// What a field of a charge is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Field {
    /// What the row holds in this column.
    Column(String),
    /// The same in all rows.
    Text(String),
}

impl Field {
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Column(name) => Some(name),
            Self::Text(_) => None,
        }
    }
}

/// What says how much usage costs that a file states without cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PricedBy {
    /// The rate cards of the moment of the import, and of each change of them: until one covers it, it is unpriced.
    RateCards,
}

/// The fields of a charge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fields {
    pub provider: Field,
    pub account: Field,
    /// The column of what a row costs, without what `tax` holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// What prices the rows of a file that states no cost. One of this and `cost` is stated, so that no column of costs is lost unseen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priced_by: Option<PricedBy>,
    /// The column of the tax on it, which becomes a charge of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tax: Option<String>,
    pub currency: Field,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_account: Option<Field>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Field>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sku: Option<Field>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Field>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<Field>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Field>,
    /// A type of machine, or the model of its accelerators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accelerator: Option<Field>,
    /// How many accelerators a machine has, where the quantity counts hours of machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accelerator_count: Option<Field>,
    /// The column of hours, or of another quantity. Needed where rate cards price it, and so is its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantity: Option<String>,
    /// `Hours` are those of machines, `GPU-Hours` those of accelerators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Field>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invoice: Option<Field>,
}

/// What the words of a column say of the category of a row. A word that is neither stated nor one of FOCUS rejects its row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CategoryWords {
    pub column: String,
    /// The category of FOCUS by the word, whatever its case: `"Sales tax" = "Tax"`.
    pub words: BTreeMap<String, String>,
}

/// Rows that are no charges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LeaveOut {
    pub column: String,
    /// What the cell holds, or begins with where this ends with `*`, whatever its case; an empty text finds empty cells.
    pub is: String,
    /// Whether these rows state the sum of those before them.
    #[serde(default)]
    pub is_total: bool,
}

impl Mapping {
    /// Reads the text of a mapping.
    ///
    /// # Errors
    /// What is wrong with it, and in which line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mapping: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        mapping.check()?;
        Ok(mapping)
    }

    /// The text that [`Self::parse`] reads.
    pub fn text(&self) -> String {
        // A struct of strings, numbers and tables has nothing that TOML cannot hold.
        toml::to_string_pretty(self).unwrap_or_default()
    }

    /// Whether it can be used, whatever the file.
    pub(super) fn check(&self) -> Result<(), String> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if self.name.is_empty() || self.name.len() > 60 || !self.name.chars().all(fits) {
            return Err(format!(
                "name: found “{}”; expected lower-case letters, digits and hyphens, such as lambda-weekly",
                self.name
            ));
        }
        if self.file.header_row == 0 {
            return Err("file.header-row: found 0; expected 1 for the first line".to_owned());
        }
        self.check_cost()?;
        let header = Header::new(self.file.columns.clone());
        self.check_columns(&header)?;
        for (word, category) in self.category.iter().flat_map(|category| &category.words) {
            if ChargeCategory::parse(category).is_none() {
                let all = ChargeCategory::ALL.map(ChargeCategory::as_str).join(", ");
                return Err(format!("category of “{word}”: found “{category}”; expected one of {all}"));
            }
        }
        let texts =
            self.given().filter_map(|field| if let Field::Text(text) = field { Some(text) } else { None });
        // PostgreSQL holds every character but this one.
        if let Some(text) = texts.chain(self.tags.keys()).find(|text| text.contains('\0')) {
            return Err(format!("found the text {text:?}; expected text without NUL characters"));
        }
        for field in [&self.fields.provider, &self.fields.account] {
            if matches!(field, Field::Text(text) if text.trim().is_empty()) {
                return Err("provider and account: found nothing; expected a name or a column".to_owned());
            }
        }
        self.check_tags()?;
        self.check_rules()
    }

    /// Whether it says what rows cost: a column, or the rate cards, which price a quantity in a unit.
    fn check_cost(&self) -> Result<(), String> {
        let Fields { cost, priced_by, tax, quantity, unit, .. } = &self.fields;
        match (cost, priced_by) {
            (Some(_), None) => return Ok(()),
            (None, Some(PricedBy::RateCards)) => {}
            (None, None) => {
                return Err("fields: found neither cost nor priced-by; expected cost, the column of what a row costs, or \
                            priced-by = \"rate-cards\" where the file states no cost"
                    .to_owned());
            }
            (Some(cost), Some(_)) => {
                return Err(format!(
                    "fields: found cost = “{cost}” and priced-by; expected one of them, since rate cards price what states no cost"
                ));
            }
        }
        if let Some(tax) = tax {
            return Err(format!(
                "fields.tax: found “{tax}” beside priced-by; expected none, since tax is on a cost, and the file states no cost"
            ));
        }
        if quantity.is_none() {
            return Err("fields.quantity: found nothing beside priced-by; expected the column of the hours or other quantity that \
                        rate cards price"
                .to_owned());
        }
        if unit.as_ref().is_none_or(|unit| matches!(unit, Field::Text(text) if text.trim().is_empty())) {
            return Err("fields.unit: found nothing beside priced-by; expected the unit of the quantity, such as GPU-Hours, or its column"
                .to_owned());
        }
        Ok(())
    }

    /// Whether its rows lack their cost until a rate card prices them.
    pub fn lacks_cost(&self) -> bool {
        self.fields.priced_by.is_some()
    }

    /// Whether no two tags are one, as rules and reports compare them.
    fn check_tags(&self) -> Result<(), String> {
        let mut known = HashMap::new();
        for key in self.tags.keys() {
            if let Some(other) = known.insert(normalized_key(key), key) {
                return Err(format!(
                    "tags: found {other} and {key}, which are one tag; expected keys that differ in more than spelling"
                ));
            }
        }
        Ok(())
    }

    fn check_rules(&self) -> Result<(), String> {
        match self.leave_out.iter().find(|rows| rows.is.trim() == "*") {
            None => Ok(()),
            Some(rows) => Err(format!(
                "leave-out, column {}: found “*”, which leaves out every row; expected the text that the cells of these rows hold, or begin with, \
                 such as Total*",
                rows.column
            )),
        }
    }

    /// Whether a file has the columns that are named.
    ///
    /// # Errors
    /// Those that it lacks.
    pub(super) fn check_columns(&self, header: &Header) -> Result<(), String> {
        let gone: Vec<_> = self.named().into_iter().filter(|name| find(header, name).is_none()).collect();
        if gone.is_empty() {
            return Ok(());
        }
        let noun = if gone.len() == 1 { "column" } else { "columns" };
        Err(format!("the {noun} {} that the mapping “{}” names", gone.join(", "), self.name))
    }

    /// The fields that are a column or a text.
    fn given(&self) -> impl Iterator<Item = &Field> {
        let fields = &self.fields;
        let optional = [
            &fields.sub_account,
            &fields.service,
            &fields.sku,
            &fields.description,
            &fields.resource,
            &fields.region,
            &fields.accelerator,
            &fields.accelerator_count,
            &fields.unit,
            &fields.invoice,
        ];
        let required = [&fields.provider, &fields.account, &fields.currency];
        required.into_iter().chain(optional.into_iter().flatten())
    }

    /// The columns that it names, in no order.
    pub fn named(&self) -> Vec<&str> {
        let Fields { cost, tax, quantity, .. } = &self.fields;
        let mut named: Vec<&str> = self.given().filter_map(Field::column).collect();
        named.push(&self.period.start);
        named.extend([cost, tax, quantity, &self.period.end].into_iter().flatten().map(String::as_str));
        named.extend(self.tags.values().map(String::as_str));
        named.extend(self.category.iter().map(|category| category.column.as_str()));
        named.extend(self.leave_out.iter().map(|rows| rows.column.as_str()));
        named.sort_unstable();
        named.dedup();
        named
    }

    /// Whether a file has exactly these columns.
    pub fn is_for(&self, names: &[String]) -> bool {
        // Rejected rows that were corrected have columns of ours beside their own.
        let own = |name: &&String| !name.starts_with("gpuledger/");
        let keys = |names: &[String]| names.iter().filter(own).map(|name| key(name)).collect::<Vec<_>>();
        let columns = keys(&self.file.columns);
        columns == keys(names) || columns == keys(&distinct(names))
    }
}

/// What tells the name of a column from others, however it is spelled: letters and digits, and the signs of currencies.
fn key(name: &str) -> (String, String) {
    (key_of(name).0, signs(name))
}

/// `Betrag €` and `Betrag $` are two columns.
fn signs(name: &str) -> String {
    let is_sign = |c: &char| {
        matches!(c, '$' | '¢' | '£' | '¤' | '¥' | '\u{20a0}'..='\u{20cf}' | '＄' | '￠' | '￡' | '￥' | '￦')
    };
    name.chars().filter(is_sign).collect()
}

/// The names of columns as a mapping states them: of several that are alike, the second has ` (2)` behind it.
pub(super) fn distinct(names: &[String]) -> Vec<String> {
    let mut taken: HashSet<String> = names.iter().map(|name| name.trim().to_owned()).collect();
    let mut met: HashMap<(String, String, bool), u32> = HashMap::new();
    let name = |name: &String| {
        let (letters, signs) = key(name);
        let number = met.entry((letters, signs, key_of(name).1)).or_default();
        *number += 1;
        if *number == 1 {
            return name.clone();
        }
        loop {
            let numbered = format!("{} ({number})", name.trim()).trim().to_owned();
            if taken.insert(numbered.clone()) {
                return numbered;
            }
            *number += 1;
        }
    };
    names.iter().map(name).collect()
}

/// Where a column is: as the file writes its name, as [`distinct`] does, or in other spelling.
pub(super) fn find(header: &Header, name: &str) -> Option<usize> {
    let name = name.trim();
    let place = |names: &[String]| names.iter().position(|column| column.trim() == name);
    let numbered = || name.ends_with(')').then(|| place(&distinct(header.names()))).flatten();
    let other = || header.find(&key_of(name).0).filter(|at| signs(header.name(*at)) == signs(name));
    let with_sign = || header.names().iter().position(|column| key(column) == key(name));
    let found = place(header.names()).or_else(numbered).or_else(other).or_else(with_sign)?;
    header.ask(found);
    Some(found)
}
