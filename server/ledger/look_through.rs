//! Looks through files before anything of them is loaded: which half of a month they state is known behind their last row.

use std::collections::BTreeSet;

use chrono::Datelike as _;
use rustc_hash::FxHashSet;
use twox_hash::XxHash3_128;

use crate::billing::{Charge, ReadAs, Statement, Step};

use super::correction::{CORRECTED, Mark};
use super::files;
use super::group_files::Bundle;
use super::loaded::Source;
use super::low_priority::at_low_priority;
use super::original::Originals;
use super::progress::Progress;
use super::read::MAX_SCOPES;
use super::scope::Scope;

/// What the rows of a bundle say of halves.
pub(super) enum Seen {
    Half(Half),
    /// Rows that stand for rejected ones of these files.
    Corrections(BTreeSet<(i64, i16)>),
    /// It is of a format that knows no halves, or cannot be read, which loading says.
    Nothing,
    /// Its rows are not of the export that its manifest is of.
    Refused(Bundle),
}

/// The costs that a bundle states, and of which months. `format` is the name of its format.
pub(super) struct Half {
    pub statement: Statement,
    pub scopes: BTreeSet<Scope>,
    pub format: String,
}

/// How files are looked through.
#[derive(Clone, Copy)]
pub(super) struct Looking<'a> {
    pub originals: &'a Originals,
    pub read_as: &'a ReadAs,
    /// Tells when it is canceled.
    pub progress: &'a Progress,
}

/// Answers nothing of what is canceled meanwhile, and of what states more months and accounts than can be loaded, which is
/// refused then.
pub(super) async fn look_through(looking: Looking<'_>, sources: &[Source]) -> Seen {
    let Looking { originals, read_as, progress } = looking;
    let (originals, sources, read_as) = (originals.clone(), sources.to_vec(), read_as.clone());
    let progress = progress.clone();
    let seen = at_low_priority("looking", move || {
        see(Looking { originals: &originals, read_as: &read_as, progress: &progress }, &sources)
    });
    seen.await.unwrap_or(Seen::Nothing)
}

fn see(looking: Looking<'_>, sources: &[Source]) -> Seen {
    let mut statements = BTreeSet::new();
    let mut scopes = BTreeSet::new();
    let mut corrected = BTreeSet::new();
    let mut format = String::new();
    let mut charge = Charge::default();
    for source in sources {
        let Ok(mut export) =
            files::open_quietly(looking.originals, source, looking.read_as, looking.progress)
        else {
            return Seen::Nothing;
        };
        if !export.format().states_halves() {
            return Seen::Nothing;
        }
        export.format().name().clone_into(&mut format);
        let marks = export.columns().names.iter().position(|name| name == CORRECTED);
        let mut known = KnownScopes::default();
        let mut is_known = false;
        loop {
            let step = export.next_unless_known(&mut charge, |charge| {
                is_known = known.has(charge);
                is_known
            });
            let step = match step {
                Ok(Some(step)) => step,
                Ok(None) => break,
                Err(_) => return Seen::Nothing,
            };
            if scopes.len() > MAX_SCOPES {
                return Seen::Nothing;
            }
            if let Some(mark) = marks.and_then(|column| Mark::read(&export.cell(column))) {
                corrected.insert((mark.delivery, mark.file));
            }
            if step == Step::Charge && !is_known {
                scopes.insert(Scope::of_charge(&charge));
                known.add(&charge);
            }
        }
        let statement = match source.stated.statement {
            Some(stated) if export.denies(stated) => return Seen::Refused(of_another_export(source, stated)),
            stated => stated.unwrap_or_else(|| export.statement()),
        };
        statements.insert(statement);
    }
    if !corrected.is_empty() {
        return Seen::Corrections(corrected);
    }
    if scopes.is_empty() {
        return Seen::Nothing;
    }
    // A part of an export may show no commitment while another does.
    let statement = [Statement::Billed, Statement::Effective].into_iter().find(|it| statements.contains(it));
    Seen::Half(Half { statement: statement.unwrap_or_default(), scopes, format })
}

/// The manifest is another one's: files of two exports have the same names.
fn of_another_export(source: &Source, stated: Statement) -> Bundle {
    let (expected, found) = match stated {
        Statement::Effective => ("amortized", "actual"),
        Statement::Billed | Statement::Whole => ("actual", "amortized"),
    };
    let message = format!(
        "found rows of {found} cost in {}; expected {expected} cost, as its manifest says: import each export by itself, with its \
         own manifest.json",
        source.name
    );
    Bundle::Refused { manifest: source.clone(), message }
}

/// The cells whose rows belong to a scope that was seen: millions of rows have a handful of scopes, and their keys need not be
/// read again.
struct KnownScopes {
    cells: FxHashSet<u128>,
    /// Without knowing it, nobody can write two rows that have the same hash.
    seed: u64,
}

impl Default for KnownScopes {
    fn default() -> Self {
        Self { cells: FxHashSet::default(), seed: rand::random() }
    }
}

impl KnownScopes {
    /// Hashes that are remembered; beyond, they are forgotten and the rows read again. As many take 18 MB.
    const MOST: usize = (1 << 19) / 8 * 7;

    fn has(&self, charge: &Charge) -> bool {
        !charge.key_cells.is_empty() && self.cells.contains(&self.hash(charge))
    }

    fn add(&mut self, charge: &Charge) {
        if self.cells.len() >= Self::MOST {
            self.cells.clear();
        }
        self.cells.insert(self.hash(charge));
    }

    fn hash(&self, charge: &Charge) -> u128 {
        let month = charge.billing_month().first_day().num_days_from_ce();
        XxHash3_128::oneshot_with_seed(self.seed.wrapping_add(month as u64), &charge.key_cells)
    }
}
