//! Two files that complete each other: what was billed in one, what is effective in the other
//! ([why](../../docs/decisions/actual-and-amortized-cost-form-one-import.md)).
//!
//! Which half of a month a file states is known behind its last row, so such files are looked through before anything is loaded.
//! A half is loaded together with the other one, which comes with it or is active already: both are one delivery, which
//! replaces what was there. So a delivery stays what it is, and undo leads back exactly.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use sqlx::PgConnection;

use crate::billing::Statement;

use super::group_files::Bundle;
use super::loaded::{Kept, Source};
use super::look_through::{Half, Looking, Seen, look_through};
use super::original::Sha256;
use super::overlap::Overlap;

/// A bundle, and the half that it is.
struct Looked {
    sources: Vec<Source>,
    half: Option<Half>,
}

/// Puts halves of a month together: two that are imported together, and each of the others with the half that is active,
/// unless it is `alone`. Of three files of a month two may be parts of one half or versions of it, so somebody is asked.
pub(super) async fn complete(
    db: &mut PgConnection,
    looking: Looking<'_>,
    bundles: &[Bundle],
    alone: bool,
) -> sqlx::Result<Vec<Bundle>> {
    let mut looked: Vec<Result<Looked, Bundle>> = Vec::with_capacity(bundles.len());
    for bundle in bundles {
        let Bundle::Files(sources) = bundle else {
            looked.push(Err(bundle.clone()));
            continue;
        };
        looked.push(match look_through(looking, sources).await {
            Seen::Refused(refused) => Err(refused),
            Seen::Corrections(files) => Err(as_they_were_read(db, sources.clone(), &files).await?),
            Seen::Nothing => Ok(Looked { sources: sources.clone(), half: None }),
            Seen::Half(half) => {
                let sources = sources.iter().map(|source| source.clone().stating(half.statement)).collect();
                Ok(Looked { sources, half: Some(half) })
            }
        });
    }
    let halves: Vec<Option<&Half>> =
        looked.iter().map(|it| it.as_ref().ok().and_then(|looked| looked.half.as_ref())).collect();
    let meetings: Vec<Meets> = (0..halves.len()).map(|place| Meets::of(place, &halves)).collect();
    let mut completed = Vec::with_capacity(looked.len());
    for (it, meets) in looked.iter().zip(meetings) {
        completed.push(match (it, meets) {
            (Err(bundle), _) => bundle.clone(),
            (Ok(_), Meets::Earlier) => continue,
            (Ok(Looked { sources, half: Some(half) }), Meets::Later(place)) => match &looked[place] {
                Ok(other) => pair(half.statement, sources.clone(), other.sources.clone()),
                Err(_) => Bundle::Files(sources.clone()),
            },
            (Ok(Looked { sources, half: Some(half) }), Meets::None)
                if !alone && half.statement != Statement::Whole =>
            {
                match active_half(db, half).await? {
                    others if others.is_empty() => Bundle::Files(sources.clone()),
                    others => pair(half.statement, sources.clone(), others),
                }
            }
            (Ok(Looked { sources, .. }), _) => Bundle::Files(sources.clone()),
        });
    }
    Ok(completed)
}

/// The same files again, completed by what is active now; `None` where that is what they were completed by.
pub(super) async fn complete_again(
    db: &mut PgConnection,
    looking: Looking<'_>,
    sources: &[Source],
) -> sqlx::Result<Option<Bundle>> {
    let taken = |sources: &[Source]| -> BTreeSet<i64> {
        sources.iter().filter_map(|source| source.taken_from).collect()
    };
    let own = sources.iter().filter(|source| source.taken_from.is_none());
    let own: Vec<Source> = own.map(|source| source.clone().read_as(Statement::Whole)).collect();
    let again = complete(db, looking, &[Bundle::Files(own)], false).await?.pop();
    Ok(again.filter(|bundle| match bundle {
        Bundle::Files(again) => taken(again) != taken(sources),
        Bundle::Refused { .. } => false,
    }))
}

/// What a half meets among those that are imported with it.
enum Meets {
    /// None that states anything of its months; or it is no half.
    None,
    /// Only the other half of the same months, of this place, behind it.
    Later(usize),
    /// The same, before it.
    Earlier,
    /// Something else of its months.
    Others,
}

impl Meets {
    fn of(place: usize, halves: &[Option<&Half>]) -> Self {
        let Some(half) = halves[place] else { return Self::None };
        let met: Vec<(usize, &Half)> = halves
            .iter()
            .enumerate()
            .filter_map(|(other, it)| Some((other, (*it)?)))
            .filter(|(other, it)| *other != place && !it.scopes.is_disjoint(&half.scopes))
            .collect();
        match met[..] {
            [] => Self::None,
            [(other, it)]
                if complete_each_other(half.statement, it.statement) && it.scopes == half.scopes =>
            {
                if place < other { Self::Later(other) } else { Self::Earlier }
            }
            _ => Self::Others,
        }
    }
}

/// A file whose rows show no commitment completes nothing: it may be a part of either export, and only a manifest says which.
fn complete_each_other(one: Statement, other: Statement) -> bool {
    matches!(
        (one, other),
        (Statement::Billed, Statement::Effective) | (Statement::Effective, Statement::Billed)
    )
}

/// One delivery of both: what was billed first.
fn pair(statement: Statement, sources: Vec<Source>, others: Vec<Source>) -> Bundle {
    let (billed, effective) =
        if statement == Statement::Effective { (others, sources) } else { (sources, others) };
    let billed = billed.into_iter().map(|source| source.read_as(Statement::Billed));
    let effective = effective.into_iter().map(|source| source.read_as(Statement::Effective));
    Bundle::Files(billed.chain(effective).collect())
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

/// The kept files of the other half, where one import states exactly these months and nothing was added to it.
async fn active_half(db: &mut PgConnection, half: &Half) -> sqlx::Result<Vec<Source>> {
    let Half { statement, scopes, format } = half;
    let providers: Vec<String> = scopes.iter().map(|scope| scope.provider.clone()).collect();
    let accounts: Vec<String> = scopes.iter().map(|scope| scope.billing_account.clone()).collect();
    let months: Vec<_> = scopes.iter().map(|scope| scope.month.first_day()).collect();
    let files = sqlx::query_file!(
        "server/ledger/active_half.sql",
        format,
        *statement == Statement::Effective,
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
        Some(Source::of_kept(file.name, kept).taken_from(file.delivery_id))
    });
    Ok(sources.collect())
}

/// The other half of what a delivery states, where another one is active than it was loaded with.
pub(super) struct Unmet {
    /// The imports that have it. Replacing would remove it.
    pub active: Vec<i64>,
    /// Whether the delivery was loaded with one.
    pub is_completed: bool,
}

pub(super) async fn unmet(db: &mut PgConnection, delivery_id: i64) -> sqlx::Result<Option<Unmet>> {
    let met = sqlx::query_file!("server/ledger/other_half.sql", delivery_id).fetch_optional(db).await?;
    Ok(met
        .filter(|met| met.active != met.taken)
        .map(|met| Unmet { is_completed: !met.taken.is_empty(), active: met.active }))
}

/// Rows of a delivery that were taken from an import which is active: added to it they would count twice.
pub(super) async fn taken_and_active(
    db: &mut PgConnection,
    delivery_id: i64,
) -> sqlx::Result<Option<Overlap>> {
    let taken = sqlx::query!(
        r#"select coalesce(sum(rows_read), 0)::bigint as "rows!",
               coalesce(array_agg(distinct taken_from), '{}') as "others!: Vec<i64>"
           from delivery_files
           where delivery_id = $1
             and taken_from in (select v.delivery_id from visibility v where v.until_sequence is null)"#,
        delivery_id,
    )
    .fetch_one(db)
    .await?;
    let overlap = Overlap { rows: taken.rows, opened: vec![delivery_id], others: taken.others };
    Ok((!overlap.others.is_empty()).then_some(overlap))
}

/// Says where one half ends on an earlier day: the costs of the month are of other days then.
fn ends_earlier(sources: &[Source], last_days: &[Option<NaiveDate>]) -> Option<String> {
    let last_of = |half: Statement| {
        let days = sources.iter().zip(last_days).filter(|(source, _)| source.half == half);
        days.filter_map(|(_, day)| *day).max()
    };
    let (billed, effective) = (last_of(Statement::Billed)?, last_of(Statement::Effective)?);
    let export = if billed < effective { "actual" } else { "amortized" };
    (billed != effective).then(|| {
        format!(
            "billed cost ends on {}, effective cost on {}; if the {export} export is the older one, import it again",
            billed.format("%B %-d"),
            effective.format("%B %-d")
        )
    })
}

/// What people should know of the costs that a delivery of these files has.
///
/// `last_days`: of each of them, the last day that it has.
pub(super) fn notes(sources: &[Source], last_days: &[Option<NaiveDate>]) -> Vec<String> {
    let named = |half: Statement| -> Vec<&str> {
        sources.iter().filter(|source| source.half == half).map(|source| source.name.as_str()).collect()
    };
    let (billed, effective) = (named(Statement::Billed), named(Statement::Effective));
    if !billed.is_empty() && !effective.is_empty() {
        let mut notes = vec![format!(
            "billed cost is from {}; effective, list and contracted cost and quantities are from {}",
            billed.join(", "),
            effective.join(", ")
        )];
        notes.extend(ends_earlier(sources, last_days));
        return notes;
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
