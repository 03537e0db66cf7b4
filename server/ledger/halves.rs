//! Two files that complete each other: what was billed in one, what is effective in the other
//! ([why](../../docs/decisions/actual-and-amortized-cost-form-one-import.md)).
//!
//! Which half of a month a file states is known behind its last row, so such files are looked through before anything is loaded.
//! A half is loaded together with the other one, which comes with it or is active already: both are one delivery, which
//! replaces what was there. So a delivery stays what it is, and undo leads back exactly.

use std::collections::BTreeSet;

use sqlx::PgConnection;

use crate::billing::{Charge, Statement, Step};

use super::correction::{CORRECTED, Mark};
use super::group_files::Bundle;
use super::load;
use super::loaded::{Kept, Source};
use super::low_priority::at_low_priority;
use super::original::{Originals, Sha256};
use super::scope::Scope;

/// What the rows of a bundle say of halves.
enum Seen {
    /// The costs that it states, and of which months. `format` is the name of its format.
    Half { statement: Statement, scopes: BTreeSet<Scope>, format: &'static str },
    /// Rows that stand for rejected ones of these files.
    Corrections(BTreeSet<(i64, i16)>),
    /// It is of a format that knows no halves, or cannot be read, which loading says.
    Nothing,
}

/// Puts halves of a month together: those that are imported together, and each of the others with the half that is active,
/// unless it is `alone`.
pub(super) async fn complete(
    db: &mut PgConnection,
    originals: &Originals,
    bundles: &[Bundle],
    as_format: Option<&str>,
    alone: bool,
) -> sqlx::Result<Vec<Bundle>> {
    let mut completed: Vec<(Bundle, Seen)> = Vec::new();
    for bundle in bundles {
        let (sources, seen) = match bundle {
            Bundle::Refused { .. } => {
                completed.push((bundle.clone(), Seen::Nothing));
                continue;
            }
            Bundle::Files(sources) => (sources.clone(), look(originals, sources, as_format).await),
        };
        match seen {
            Seen::Corrections(files) => {
                completed.push((as_they_were_read(db, sources, &files).await?, Seen::Nothing));
            }
            Seen::Nothing => completed.push((Bundle::Files(sources), Seen::Nothing)),
            Seen::Half { statement, scopes, format } => {
                let sources = sources.into_iter().map(|source| source.stating(statement)).collect();
                if let Some(at) = other_half(&completed, statement, &scopes)
                    && let Bundle::Files(others) = &completed[at].0
                {
                    completed[at] = (pair(statement, sources, others.clone()), Seen::Nothing);
                } else {
                    completed.push((Bundle::Files(sources), Seen::Half { statement, scopes, format }));
                }
            }
        }
    }
    // Two of them are parts of a half or two versions of it, which somebody is asked.
    let shared = shared_scopes(&completed);
    let mut bundles = Vec::with_capacity(completed.len());
    for (bundle, seen) in completed {
        bundles.push(match (bundle, seen) {
            (Bundle::Files(sources), Seen::Half { statement, scopes, format })
                if !alone && scopes.is_disjoint(&shared) =>
            {
                match active_half(db, statement, &scopes, format).await? {
                    others if others.is_empty() => Bundle::Files(sources),
                    others => pair(statement, sources, others),
                }
            }
            (bundle, _) => bundle,
        });
    }
    Ok(bundles)
}

/// What more than one half states that found no other one beside it.
fn shared_scopes(completed: &[(Bundle, Seen)]) -> BTreeSet<Scope> {
    let (mut once, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for (_, seen) in completed {
        if let Seen::Half { scopes, .. } = seen {
            for scope in scopes {
                if !once.insert(scope) {
                    shared.insert(scope.clone());
                }
            }
        }
    }
    shared
}

/// The only bundle before that states the other half of the same months.
fn other_half(before: &[(Bundle, Seen)], statement: Statement, scopes: &BTreeSet<Scope>) -> Option<usize> {
    let mut found = before.iter().enumerate().filter(|(_, (_, seen))| match seen {
        Seen::Half { statement: other, scopes: theirs, .. } => {
            complete_each_other(statement, *other) && theirs == scopes
        }
        Seen::Corrections(_) | Seen::Nothing => false,
    });
    let (at, _) = found.next()?;
    found.next().is_none().then_some(at)
}

/// Amortized cost completes what was billed, also where that shows no commitment of its own.
fn complete_each_other(one: Statement, other: Statement) -> bool {
    (one == Statement::Effective) != (other == Statement::Effective)
}

/// One delivery of both: what was billed first.
fn pair(statement: Statement, sources: Vec<Source>, others: Vec<Source>) -> Bundle {
    let (billed, effective) =
        if statement == Statement::Effective { (others, sources) } else { (sources, others) };
    let billed = billed.into_iter().map(|source| source.read_as(Statement::Billed));
    let effective = effective.into_iter().map(|source| source.read_as(Statement::Effective));
    Bundle::Files(billed.chain(effective).collect())
}

async fn look(originals: &Originals, sources: &[Source], as_format: Option<&str>) -> Seen {
    let (originals, sources, as_format) = (originals.clone(), sources.to_vec(), as_format.map(str::to_owned));
    let looked = at_low_priority("looking", move || look_through(&originals, &sources, as_format.as_deref()));
    looked.await.unwrap_or(Seen::Nothing)
}

fn look_through(originals: &Originals, sources: &[Source], as_format: Option<&str>) -> Seen {
    let mut statements = BTreeSet::new();
    let mut scopes = BTreeSet::new();
    let mut corrected = BTreeSet::new();
    let mut format = "";
    let mut charge = Charge::default();
    for source in sources {
        let Ok(mut export) = load::open_quietly(originals, source, as_format) else {
            return Seen::Nothing;
        };
        if !export.format().states_halves() {
            return Seen::Nothing;
        }
        format = export.format().name();
        let marks = export.columns().names.iter().position(|name| name == CORRECTED);
        while let Ok(Some(step)) = export.next(&mut charge) {
            if let Some(mark) = marks.and_then(|column| Mark::read(&export.cell(column))) {
                corrected.insert((mark.delivery, mark.file));
            }
            if step == Step::Charge {
                let scope = Scope {
                    provider: charge.key.provider.clone(),
                    billing_account: charge.key.billing_account.clone(),
                    month: charge.billing_month(),
                };
                scopes.insert(scope);
            }
        }
        statements.insert(source.stated.statement.unwrap_or_else(|| export.statement()));
    }
    if !corrected.is_empty() {
        return Seen::Corrections(corrected);
    }
    if scopes.is_empty() {
        return Seen::Nothing;
    }
    // A part of an export may show no commitment while another does.
    let statement = [Statement::Billed, Statement::Effective].into_iter().find(|it| statements.contains(it));
    Seen::Half { statement: statement.unwrap_or_default(), scopes, format }
}

/// Corrected rows are read as the half that the rows they stand for were.
async fn as_they_were_read(
    db: &mut PgConnection,
    sources: Vec<Source>,
    files: &BTreeSet<(i64, i16)>,
) -> sqlx::Result<Bundle> {
    let (deliveries, numbers): (Vec<i64>, Vec<i16>) = files.iter().copied().unzip();
    let halves = sqlx::query_scalar!(
        r#"select distinct coalesce(read_as, 'whole') as "read_as!"
           from delivery_files
           where (delivery_id, file_no) in (select * from unnest($1::bigint[], $2::smallint[]))"#,
        &deliveries,
        &numbers,
    )
    .fetch_all(db)
    .await?;
    let halves: Vec<Statement> = halves.iter().filter_map(|half| half.parse().ok()).collect();
    Ok(match (&halves[..], sources.first()) {
        ([_, _, ..], Some(file)) => Bundle::Refused {
            manifest: file.clone(),
            message: "found corrected rows of actual and of amortized cost; expected those of one of them in a file: import \
                      them in two files"
                .to_owned(),
        },
        (halves, _) => {
            let half = halves.first().copied().unwrap_or_default();
            Bundle::Files(sources.into_iter().map(|source| source.read_as(half)).collect())
        }
    })
}

/// The kept files of the other half that are active in exactly these scopes.
async fn active_half(
    db: &mut PgConnection,
    statement: Statement,
    scopes: &BTreeSet<Scope>,
    format: &str,
) -> sqlx::Result<Vec<Source>> {
    let providers: Vec<String> = scopes.iter().map(|scope| scope.provider.clone()).collect();
    let accounts: Vec<String> = scopes.iter().map(|scope| scope.billing_account.clone()).collect();
    let months: Vec<_> = scopes.iter().map(|scope| scope.month.first_day()).collect();
    let files = sqlx::query_file!(
        "server/ledger/active_half.sql",
        format,
        statement == Statement::Effective,
        &providers,
        &accounts,
        &months,
    )
    .fetch_all(&mut *db)
    .await?;
    let sources = files.into_iter().filter_map(|file| {
        let kept = Kept {
            sha256: Sha256::try_from(file.sha256).ok()?,
            received_bytes: file.received_bytes as u64,
            content_bytes: file.content_bytes as u64,
        };
        Some(Source::of_kept(file.name, kept))
    });
    Ok(sources.collect())
}

/// What people should know of the costs that a delivery of these files has.
pub(super) fn notes(sources: &[Source]) -> Vec<String> {
    let named = |half: Statement| -> Vec<&str> {
        sources.iter().filter(|source| source.half == half).map(|source| source.name.as_str()).collect()
    };
    let (billed, effective) = (named(Statement::Billed), named(Statement::Effective));
    if !billed.is_empty() && !effective.is_empty() {
        return vec![format!(
            "billed cost is from {}; effective, list and contracted cost and quantities are from {}",
            billed.join(", "),
            effective.join(", ")
        )];
    }
    let alone = sources.first().filter(|source| source.half == Statement::Whole);
    let note = match alone.and_then(|source| source.stated.statement) {
        Some(Statement::Billed) => {
            "Only the actual cost of this month was imported: effective cost shows purchases when they were made. Import the \
             amortized export of the same month to complete it."
        }
        Some(Statement::Effective) => {
            "Only the amortized cost of this month was imported: billed cost shows commitments spread over their usage. Import \
             the actual export of the same month to complete it."
        }
        Some(Statement::Whole) | None => return Vec::new(),
    };
    vec![note.to_owned()]
}
