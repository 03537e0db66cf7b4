//! What the name of a column says that it is.

pub(super) use super::roles::Role;
use super::roles::WORDS;

/// Characters of a name that are looked at.
const LONGEST: usize = 200;

/// What a name says, and how well it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meaning {
    pub role: Role,
    /// Among columns of one role the lowest is meant.
    pub order: usize,
}

/// What a column may be by its name, the most likely first.
pub(super) fn meanings(name: &str) -> Vec<Meaning> {
    let short: String = name.chars().take(LONGEST).collect();
    let words = words(&short);
    let mut found: Vec<Found> = Vec::new();
    for (line, (roles, phrases)) in WORDS.iter().enumerate() {
        let phrases = phrases.split('|').enumerate();
        let fits = phrases.filter_map(|(order, phrase)| Found::new(&words, phrase, (line, order), roles));
        // The longest phrase of a line says what the line can.
        found.extend(fits.max_by_key(|found| (found.length, std::cmp::Reverse(found.order))));
    }
    // What is part of more is not meant: there is no rate without its tax in `tax rate`.
    let is_part = |it: &Found| found.iter().any(|other| other.length > it.length && other.holds(it));
    let mut meant: Vec<&Found> = found.iter().filter(|it| !is_part(it)).collect();
    meant.sort_by_key(|it| (std::cmp::Reverse(it.length), it.line));
    let each = |it: &&Found| it.roles.iter().map(|role| Meaning { role: *role, order: it.order }).collect();
    meant.iter().flat_map(|it| -> Vec<Meaning> { each(it) }).collect()
}

/// A phrase within a name.
struct Found {
    start: usize,
    length: usize,
    line: usize,
    order: usize,
    roles: &'static [Role],
}

impl Found {
    fn new(
        words: &[String],
        phrase: &str,
        (line, order): (usize, usize),
        roles: &'static [Role],
    ) -> Option<Self> {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        let start = words.windows(phrase.len()).position(|window| window == phrase)?;
        Some(Self { start, length: phrase.len(), line, order, roles })
    }

    fn holds(&self, other: &Self) -> bool {
        self.start <= other.start && other.start + other.length <= self.start + self.length
    }
}

/// The words of a text in lower case, without accents: `MwSt. (%)` is `mwst percent`, `usageStart` two words.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(text.len());
    let mut was_lower = false;
    for c in text.chars() {
        if c.is_uppercase() && was_lower {
            spaced.push(' ');
        }
        was_lower = c.is_lowercase();
        match c {
            '%' => spaced.push_str(" percent "),
            c => c.to_lowercase().for_each(|c| fold(c, &mut spaced)),
        }
    }
    // What was written together for its capitals: `MwSt`, `USt`, `UoM`.
    let spaced = spaced.replace("mw st", "mwst");
    let words = spaced.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Appends a letter without its accent.
fn fold(c: char, out: &mut String) {
    match c {
        'ä' => out.push_str("ae"),
        'ö' => out.push_str("oe"),
        'ü' => out.push_str("ue"),
        'ß' => out.push_str("ss"),
        'à' | 'á' | 'â' | 'ã' => out.push('a'),
        'ç' => out.push('c'),
        'è' | 'é' | 'ê' | 'ë' => out.push('e'),
        'ì' | 'í' | 'î' | 'ï' => out.push('i'),
        'ñ' => out.push('n'),
        'ò' | 'ó' | 'ô' | 'õ' => out.push('o'),
        'ù' | 'ú' | 'û' => out.push('u'),
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_a_column_is_the_most_likely_first() {
        use Role::*;
        for (name, expected) in [
            ("Amount", &[Amount][..]),
            ("Net (USD)", &[Net]),
            ("unblended_cost", &[Amount]),
            ("Sales tax", &[Tax]),
            ("Total tax", &[Tax, Total]),
            ("Tax rate", &[TaxRate]),
            ("MwSt. %", &[TaxRate]),
            ("MwSt. 19 %", &[Tax]),
            ("USt", &[Tax]),
            ("Total incl. VAT", &[Gross, Total]),
            ("Betrag (netto)", &[Net, Amount]),
            ("Prix unitaire HT", &[UnitPrice, Net]),
            ("Einzelpreis netto", &[UnitPrice, Net]),
            ("Montant HT", &[Net]),
            ("GPU cost", &[Amount, Accelerator, AcceleratorCount]),
            ("GPU hours", &[GpuHours]),
            ("GPUs", &[AcceleratorCount, Accelerator]),
            ("UoM", &[Unit, Quantity]),
            ("Week starting", &[Start]),
            ("Leistungszeitraum", &[Period]),
            ("usageStartTime", &[Start]),
            ("Invoice date", &[IssueDate]),
            ("Invoice", &[Invoice]),
            ("Cost Center", &[Tag]),
            ("Währung", &[Currency]),
            ("Waehrung", &[Currency]),
            ("Désignation", &[Description, Service]),
            ("Tag", &[Tag, Date]),
            ("Charge type", &[Category, Accelerator, Service]),
            ("Status", &[]),
            ("", &[]),
        ] {
            let found: Vec<Role> = meanings(name).iter().map(|meaning| meaning.role).collect();
            assert_eq!(found, expected, "{name}");
        }
    }
}
