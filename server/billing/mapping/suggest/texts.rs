//! What the columns are that say what a charge was for.

use std::collections::{BTreeMap, BTreeSet};

use super::cells;
use super::names::{self, Role};
use super::table::{Column, Table};
use crate::accelerator;
use crate::billing::ChargeCategory;
use crate::billing::mapping::uses::Use;
use crate::money::{Currency, Decimal};

/// The uses that a role is, the scarcer first: a column that could be two of them becomes the former.
const USES: [(Role, Use); 14] = [
    (Role::Currency, Use::Currency),
    (Role::Unit, Use::Unit),
    (Role::Category, Use::Category),
    (Role::AcceleratorCount, Use::AcceleratorCount),
    (Role::Accelerator, Use::Accelerator),
    (Role::Description, Use::Description),
    (Role::Invoice, Use::Invoice),
    (Role::Sku, Use::Sku),
    (Role::Region, Use::Region),
    (Role::Provider, Use::Provider),
    (Role::SubAccount, Use::SubAccount),
    (Role::Account, Use::Account),
    (Role::Service, Use::Service),
    (Role::Resource, Use::Resource),
];

/// Fills in what is not used for a time, a cost or a quantity. First what columns are called in the first place, then what their
/// names say besides, so that `Description` becomes the description although `Item` could be; what holds something else than
/// its name says is not used.
pub(super) fn fill_in(table: &Table<'_>, uses: &mut [Option<Use>]) {
    let most = table.columns.iter().map(|column| column.meanings.len()).max().unwrap_or_default();
    for place in 0..most {
        for (role, of) in USES {
            if uses.contains(&Some(of)) {
                continue;
            }
            let fits = |at: &usize| {
                let column = &table.columns[*at];
                uses[*at].is_none()
                    && column.meanings.get(place).is_some_and(|meaning| meaning.role == role)
                    && holds(column, role, place)
            };
            // One that holds something before one that is empty.
            let found =
                table.of_role(role).into_iter().filter(fits).min_by_key(|at| table.columns[*at].is_empty());
            if let Some(at) = found {
                uses[at] = Some(of);
            }
        }
    }
    for (column, used) in table.columns.iter().zip(uses) {
        let is_tag = column.meanings.first().is_some_and(|meaning| meaning.role == Role::Tag);
        if used.is_none() && is_tag && !column.is_times {
            *used = Some(Use::Tag);
        }
    }
}

/// Whether a column holds what its name says. Most uses are any text; of what a name says only besides, the cells must agree.
fn holds(column: &Column<'_>, role: Role, place: usize) -> bool {
    match role {
        Role::Currency => !column.is_empty() && column.filled().all(is_code),
        Role::Category => is_category(column),
        Role::AcceleratorCount => !column.is_empty() && column.filled().all(is_count),
        Role::Accelerator if place > 0 => column.are_mostly(is_accelerator),
        Role::Invoice | Role::Sku | Role::Account | Role::SubAccount | Role::Resource => !column.is_times,
        _ => !column.is_amounts && !column.is_times,
    }
}

fn is_code(cell: &str) -> bool {
    cell.len() == 3 && Currency::parse(cell).is_some_and(|code| code.is_standard())
}

fn is_count(cell: &str) -> bool {
    cell.parse::<u32>().is_ok_and(|count| (1..=MOST_ACCELERATORS).contains(&count))
}

/// No machine has as many.
const MOST_ACCELERATORS: u32 = 1024;

fn is_accelerator(cell: &str) -> bool {
    accelerator::find_model(cell).is_some() || accelerator::find_instance("", cell).is_some()
}

/// Whether a column says what kind of line a row is: few words, one of them known.
fn is_category(column: &Column<'_>) -> bool {
    let words: BTreeSet<String> = column.filled().map(str::to_lowercase).collect();
    (1..=MOST_WORDS).contains(&words.len()) && words.iter().any(|word| known_category(word).is_some())
}

const MOST_WORDS: usize = 20;

/// The category of each word of a column that is known.
pub(super) fn category_words(column: &Column<'_>) -> BTreeMap<String, String> {
    let word = |cell: &str| Some((cell.to_owned(), known_category(cell)?.as_str().to_owned()));
    column.filled().filter_map(word).collect()
}

/// What to ask about the others, whose rows are rejected until somebody says what they are.
pub(super) fn open_words(column: &Column<'_>) -> Option<String> {
    let words: BTreeSet<&str> = column.filled().filter(|cell| known_category(cell).is_none()).collect();
    let (first, column) = (words.first()?, column.quoted());
    Some(match words.len() {
        1 => format!(
            "{column} has a word of which the category is not known, {}: choose one.",
            cells::quoted(first)
        ),
        many => format!(
            "{column} has {many} words of which the category is not known, such as {}: choose one for each.",
            cells::quoted(first)
        ),
    })
}

/// The category that a word is; `None` where it says nothing known. Refunds and corrections are adjustments.
fn known_category(word: &str) -> Option<ChargeCategory> {
    use ChargeCategory::{Adjustment, Credit, Purchase, Tax, Usage};
    const KNOWN: [(ChargeCategory, &[&str]); 5] = [
        (
            Tax,
            &[
                "tax",
                "taxes",
                "vat",
                "gst",
                "ust",
                "mwst",
                "umsatzsteuer",
                "mehrwertsteuer",
                "steuer",
                "tva",
                "iva",
                "impuesto",
                "impuestos",
            ],
        ),
        (
            Adjustment,
            &[
                "adjustment",
                "adjustments",
                "refund",
                "refunds",
                "correction",
                "rounding",
                "korrektur",
                "erstattung",
                "rundung",
                "ajustement",
                "remboursement",
                "ajuste",
                "reembolso",
            ],
        ),
        (
            Credit,
            &[
                "credit",
                "credits",
                "discount",
                "discounts",
                "promotion",
                "promotional",
                "voucher",
                "coupon",
                "gutschrift",
                "rabatt",
                "skonto",
                "nachlass",
                "remise",
                "avoir",
                "descuento",
                "abono",
            ],
        ),
        (
            Purchase,
            &[
                "purchase",
                "prepayment",
                "prepaid",
                "upfront",
                "commitment",
                "reservation",
                "kauf",
                "anzahlung",
                "vorauszahlung",
                "achat",
                "compra",
            ],
        ),
        (
            Usage,
            &[
                "usage",
                "service",
                "services",
                "charge",
                "compute",
                "metered",
                "overage",
                "verbrauch",
                "nutzung",
                "leistung",
                "dienst",
                "utilisation",
                "uso",
                "consumo",
            ],
        ),
    ];
    let words = names::words(word);
    let is_known = |known: &&str| words.iter().any(|word| word == known);
    KNOWN.iter().find(|(_, known)| known.iter().any(is_known)).map(|(category, _)| *category)
}

/// The unit that the name of a quantity says.
pub(super) fn unit(column: &Column<'_>) -> Option<String> {
    let of = |role: Role| column.meanings.first().is_some_and(|meaning| meaning.role == role);
    if of(Role::GpuHours) {
        Some("GPU-Hours".to_owned())
    } else if of(Role::Hours) {
        Some("Hours".to_owned())
    } else {
        None
    }
}

/// What is wrong with a column that is named as a quantity and has none.
pub(super) fn no_quantity(table: &Table<'_>, uses: &[Option<Use>]) -> Option<String> {
    let named = [Role::GpuHours, Role::Hours, Role::Quantity].map(|role| table.of_role(role)).concat();
    let is_unused = |at: &usize| uses[*at].is_none() && !table.columns[*at].is_amounts;
    let digits = |cell: &&str| cell.chars().any(|c| c.is_ascii_digit());
    let (column, cell) = named.into_iter().filter(is_unused).find_map(|at| {
        let column = &table.columns[at];
        Some((
            column,
            column.filled().find(|cell| digits(cell) && cells::readings(cell) == [None::<Decimal>; 2])?,
        ))
    })?;
    Some(format!(
        "{} holds {}, which is no plain number, and is not used as the quantity.",
        column.quoted(),
        cells::quoted(cell)
    ))
}
