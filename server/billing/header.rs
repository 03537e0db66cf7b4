//! The header of an export: which column is where, under whatever spelling.

use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The column names of a file. Looked up by their letters and digits alone, in lower case and without
/// `x_`, so that `lineItem/UnblendedCost`, `line_item_unblended_cost` and `LineItem/unblendedcost` are one. Of a translated name
/// with the original in parentheses, as Azure writes it (`Ressourcengruppe (ResourceGroup)`), the original is found, too.
pub struct Header {
    names: Vec<String>,
    plain: HashMap<String, usize>,
    custom: HashMap<String, usize>,
    repeated: Vec<usize>,
    /// Whether somebody looked for it, of each column.
    asked: Vec<Cell<bool>>,
    /// How many of the columns are known to be there; those behind them may be met in later rows.
    met: usize,
}

impl Header {
    pub(super) fn new(names: Vec<String>) -> Self {
        let (mut plain, mut custom, mut repeated) = (HashMap::new(), HashMap::new(), Vec::new());
        for (column, name) in names.iter().enumerate() {
            let (key, is_custom) = key_of(name);
            let known = if is_custom { &mut custom } else { &mut plain };
            if key.is_empty() {
                continue;
            }
            match known.entry(key) {
                Entry::Occupied(_) => repeated.push(column),
                Entry::Vacant(place) => {
                    place.insert(column);
                }
            }
        }
        // Behind all others, since no name that a file writes is to be hidden by a part of another.
        for (column, name) in names.iter().enumerate() {
            if let Some(original) = in_parentheses(name) {
                plain.entry(key_of(original).0).or_insert(column);
            }
        }
        let met = names.len();
        let asked = vec![Cell::new(false); met];
        Self { names, plain, custom, repeated, asked, met }
    }

    /// Of nested records: the first `met` of the names were met in the first rows.
    pub(super) fn of_met(names: Vec<String>, met: usize) -> Self {
        Self { met, ..Self::new(names) }
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn name(&self, column: usize) -> &str {
        self.names.get(column).map_or("", String::as_str)
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Where the column is, by its [`key_of`]; its own spelling before one that begins with `x_`.
    pub fn find(&self, key: &str) -> Option<usize> {
        let column = self.look(key)?;
        self.asked[column].set(true);
        Some(column)
    }

    /// Notes that somebody looked for a column, whose place is known.
    pub(super) fn ask(&self, column: usize) {
        if let Some(asked) = self.asked.get(column) {
            asked.set(true);
        }
    }

    fn look(&self, key: &str) -> Option<usize> {
        self.plain.get(key).or_else(|| self.custom.get(key)).copied()
    }

    /// Begins anew to note which columns are looked for.
    pub(super) fn forget_asked(&self) {
        for asked in &self.asked {
            asked.set(false);
        }
    }

    /// Whether somebody looked for the column since.
    pub(super) fn was_asked(&self, column: usize) -> bool {
        self.asked.get(column).is_some_and(Cell::get)
    }

    /// Where the column is whose own name begins with `x_`, whatever stands beside it.
    pub fn find_custom(&self, key: &str) -> Option<usize> {
        let column = self.custom.get(key).copied()?;
        self.asked[column].set(true);
        Some(column)
    }

    /// The first of several names for one thing, those that the file is known to have before the others.
    pub fn find_any(&self, keys: &[&str]) -> Option<usize> {
        let met = keys.iter().find(|key| self.has(key)).and_then(|key| self.find(key));
        met.or_else(|| keys.iter().find_map(|key| self.find(key)))
    }

    /// Every column of that name: `savingsPlan/SavingsPlanARN` and `…/SavingsPlanArn` both occur.
    pub(super) fn find_every(&self, key: &str) -> Vec<usize> {
        let again = self.repeated.iter().copied().filter(|column| key_of(&self.names[*column]).0 == key);
        let every: Vec<usize> = self.find(key).into_iter().chain(again).collect();
        for column in &every {
            self.asked[*column].set(true);
        }
        every
    }

    /// The name of a column that is there once more, of several names for one thing.
    pub(super) fn find_repeated(&self, keys: &[&str]) -> Option<&str> {
        let mut names = self.repeated.iter().map(|column| self.names[*column].as_str());
        names.find(|name| keys.contains(&key_of(name).0.as_str()))
    }

    /// Whether the file has the column, as far as its first rows tell.
    pub fn has(&self, key: &str) -> bool {
        self.look(key).is_some_and(|column| column < self.met)
    }

    /// The same of any of several names for one thing.
    pub fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.has(key))
    }

    /// The keys of all columns, in no order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.plain.keys().chain(self.custom.keys()).map(String::as_str)
    }

    /// Columns whose name, as written, occurred before or differs from another only in spelling.
    pub(super) fn repeated(&self) -> &[usize] {
        &self.repeated
    }
}

/// Letters and digits in lower case, and whether the name began with `x_`.
pub(super) fn key_of(name: &str) -> (String, bool) {
    let name = name.trim();
    let (name, is_custom) = match name.get(..2) {
        Some("x_" | "X_") => (&name[2..], true),
        _ => (name, false),
    };
    (name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect(), is_custom)
}

/// What the last parentheses of a name hold, where it ends with them.
pub(super) fn in_parentheses(name: &str) -> Option<&str> {
    let (_, inner) = name.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    inner.chars().any(char::is_alphanumeric).then_some(inner)
}

/// A format's names: every column that its provider documents, and which ones of FOCUS each becomes; nothing of those that become none.
pub(super) type Names = [(&'static str, &'static str)];

/// What a format says of its columns, where that is the same of every file.
pub(super) struct Known {
    pub names: &'static Names,
    /// Columns that feed a charge and may be missing.
    pub optional: &'static [&'static str],
    pub notes: &'static [&'static str],
}

impl Known {
    /// What the reader does not know and what it misses.
    pub fn columns(&self, header: &Header) -> Columns {
        Columns {
            unknown: unknown(header, self.names),
            absent: absent(header, self.optional),
            notes: self.notes.iter().map(ToString::to_string).collect(),
            ..Columns::default()
        }
    }

    /// Which column of FOCUS a column becomes. `key` as [`Header::find`] wants it.
    pub fn feeds(&self, key: &str) -> Option<&'static str> {
        feeds_by(self.names.iter(), key)
    }

    pub fn names(&self) -> Vec<&'static str> {
        names_of(self.names)
    }
}

pub(super) fn names_of(names: &Names) -> Vec<&'static str> {
    names.iter().map(|(name, _)| *name).collect()
}

/// What of a file has none of a format's names, however they are written.
pub(super) fn unknown(header: &Header, names: &Names) -> Vec<String> {
    let is_unknown = |name: &&String| {
        let key = key_of(name).0;
        names.iter().all(|(known, _)| key_of(known).0 != key)
    };
    header.names().iter().filter(is_unknown).cloned().collect()
}

/// Which column of FOCUS the column of a key becomes, by the names of a format and what each becomes; nothing of those that
/// become none.
pub(super) fn feeds_by(
    mut names: impl Iterator<Item = &'static (&'static str, &'static str)>,
    key: &str,
) -> Option<&'static str> {
    let (_, focus) = names.find(|(name, _)| key_of(name).0 == key)?;
    (!focus.is_empty()).then_some(*focus)
}

/// Which of a format's names the file lacks.
pub(super) fn absent(header: &Header, names: &[&str]) -> Vec<String> {
    names.iter().filter(|name| !header.has(&key_of(name).0)).map(ToString::to_string).collect()
}

/// What a reader made of a header; shown on the import's page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// As the file writes them.
    pub names: Vec<String>,
    /// Read by nobody; harmless.
    pub unknown: Vec<String>,
    /// Optional columns of the format that the file lacks; what depends on them is empty.
    pub absent: Vec<String>,
    /// Sentences about the header: names glued together, the same name twice, no list prices …
    pub notes: Vec<String>,
}
