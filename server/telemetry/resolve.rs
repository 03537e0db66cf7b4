//! What meters of active imports say together of a node on a day: who held its accelerators, and how busy these were.
//!
//! Of a device and an hour one import counts: that which saw it longest, of several the last. A slice is its dominant share of its
//! accelerator; where those of one amount to more than all of it, they are cut down in proportion. What nobody held is written
//! down as such, under the job 0, where the import says who holds devices at all; else under the job -1, since what only measures
//! does not know who did. An hour in which no meter saw a device is not known. What a job of Slurm held is for Slurm to say: what a
//! meter saw of it says how busy it was ([`measured`](super::measure::measured)).

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use sqlx::PgConnection;

use super::hours::{ByHour, HOURS, NodeDay};
use super::job::FULLY_USED;
use super::store;
use crate::accelerator::find_model;
use crate::economics::slices::dominant_share;

/// The job of what nobody held.
pub const NOBODY: i64 = 0;
/// The job of what a meter saw that does not know who held it: how busy it was says how busy jobs of the same machine were.
pub const SEEN: i64 = -1;
/// Days of nodes that are looked at together.
const BATCH: usize = 500;

/// What an import says of a device while somebody held it, or nobody.
struct Seen {
    import_id: i64,
    /// The accelerator that it is, or is a slice of.
    accelerator: String,
    device: String,
    /// In ten-thousandths of the accelerator.
    share: u32,
    job_no: i64,
    present: Vec<i32>,
    measured: Vec<i32>,
    busy: Vec<i32>,
}

/// A day of a node.
pub type NodeAndDay = (i64, NaiveDate);

/// The days of nodes that an import of a meter says something of.
pub async fn days_of(db: &mut PgConnection, import_id: i64) -> sqlx::Result<BTreeSet<NodeAndDay>> {
    let days = sqlx::query!("select distinct node_id, day from meter_days where import_id = $1", import_id)
        .fetch_all(db)
        .await?;
    Ok(days.into_iter().map(|it| (it.node_id, it.day)).collect())
}

/// Brings up to date what meters say of these days, as from a version on.
pub async fn republish(db: &mut PgConnection, days: BTreeSet<NodeAndDay>, sequence: i64) -> sqlx::Result<()> {
    let days: Vec<NodeAndDay> = days.into_iter().collect();
    for batch in days.chunks(BATCH) {
        let (nodes, of_days): (Vec<i64>, Vec<NaiveDate>) = batch.iter().copied().unzip();
        let rows = sqlx::query!(
            "select m.node_id, m.day, m.import_id, m.device, m.slice, m.profile, m.model, m.job_no, m.present, m.measured, m.busy
             from meter_days m
             join unnest($1::bigint[], $2::date[]) as wanted (node_id, day) using (node_id, day)
             join usage_imports i using (import_id)
             where i.status = 'active'
             order by m.node_id, m.day",
            &nodes,
            &of_days,
        )
        .fetch_all(&mut *db)
        .await?;
        let imports: BTreeSet<i64> = rows.iter().map(|row| row.import_id).collect();
        let naming = imports_that_name_holders(&mut *db, &imports.into_iter().collect::<Vec<_>>()).await?;
        let mut seen: BTreeMap<(i64, NaiveDate), Vec<Seen>> = BTreeMap::new();
        for row in rows {
            let is_named = row.job_no != NOBODY || naming.contains(&row.import_id);
            seen.entry((row.node_id, row.day)).or_default().push(Seen {
                import_id: row.import_id,
                share: share_of(&row.model, &row.profile),
                device: format!("{}/{}", row.device, row.slice),
                accelerator: row.device,
                job_no: if is_named { row.job_no } else { SEEN },
                present: row.present,
                measured: row.measured,
                busy: row.busy,
            });
        }
        let mut new = Vec::new();
        for ((node, day), seen) in &seen {
            new.extend(together(*day, seen).into_iter().map(|(job, of_day)| (job, *node, of_day)));
        }
        store::replace_node_days(&mut *db, (&nodes, &of_days), &new, sequence).await?;
    }
    Ok(())
}

/// What a slice is of its accelerator, in ten-thousandths; what is none is all of it.
fn share_of(model: &str, profile: &str) -> u32 {
    let model = find_model(model).map(|it| it.id);
    dominant_share(model, profile).map_or(FULLY_USED, |(part, of)| FULLY_USED * part / of.max(1))
}

async fn imports_that_name_holders(db: &mut PgConnection, imports: &[i64]) -> sqlx::Result<BTreeSet<i64>> {
    let naming = sqlx::query_scalar!(
        "select distinct import_id from meter_days where import_id = any($1) and job_no > 0",
        imports,
    )
    .fetch_all(db)
    .await?;
    Ok(naming.into_iter().collect())
}

/// What several imports say of a node's day, by job.
fn together(day: NaiveDate, seen: &[Seen]) -> Vec<(i64, NodeDay)> {
    let empty = || NodeDay { day, held: [0; HOURS], measured: [0; HOURS], busy: [0; HOURS] };
    let mut days: BTreeMap<i64, NodeDay> = BTreeMap::new();
    let devices: BTreeSet<&str> = seen.iter().map(|it| it.device.as_str()).collect();
    let whole = shares_by_hour(seen);
    for device in devices {
        let of_device: Vec<&Seen> = seen.iter().filter(|it| it.device == device).collect();
        for hour in 0..HOURS {
            let mut by_import: BTreeMap<i64, i64> = BTreeMap::new();
            for it in &of_device {
                *by_import.entry(it.import_id).or_default() += i64::from(at(&it.present, hour));
            }
            // The last of those that saw it longest.
            let Some((chosen, _)) = by_import.into_iter().max_by_key(|(import, present)| (*present, *import))
            else {
                continue;
            };
            for it in of_device.iter().filter(|it| it.import_id == chosen && at(&it.present, hour) > 0) {
                let part = |value: i32| -> i32 {
                    let of =
                        whole.get(&(it.accelerator.as_str(), hour)).copied().unwrap_or(0).max(FULLY_USED);
                    let part = i64::from(value) * i64::from(it.share) / i64::from(of);
                    i32::try_from(part).unwrap_or(value)
                };
                let of_job = days.entry(it.job_no).or_insert_with(empty);
                let held = part(at(&it.present, hour));
                let measured = part(at(&it.measured, hour)).min(held);
                add(&mut of_job.held, hour, held);
                add(&mut of_job.measured, hour, measured);
                add(&mut of_job.busy, hour, part(at(&it.busy, hour)).min(measured));
            }
        }
    }
    days.into_iter().filter(|(_, it)| it.held.iter().any(|held| *held > 0)).collect()
}

/// What the slices of an accelerator that were seen in an hour amount to. A layout can amount to more than one: 4g and 3g do.
fn shares_by_hour(seen: &[Seen]) -> BTreeMap<(&str, usize), u32> {
    let mut slices: BTreeMap<(&str, usize), BTreeMap<&str, u32>> = BTreeMap::new();
    for it in seen {
        for hour in (0..HOURS).filter(|hour| at(&it.present, *hour) > 0) {
            slices.entry((it.accelerator.as_str(), hour)).or_default().insert(&it.device, it.share);
        }
    }
    slices.into_iter().map(|(place, slices)| (place, slices.values().sum())).collect()
}

fn at(hours: &[i32], hour: usize) -> i32 {
    hours.get(hour).copied().unwrap_or(0).max(0)
}

fn add(hours: &mut ByHour, hour: usize, milliseconds: i32) {
    hours[hour] = hours[hour].saturating_add(milliseconds);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(import_id: i64, device: &str, job_no: i64, present: i32, busy: i32) -> Seen {
        let hour = |value: i32| {
            let mut hours = vec![0; HOURS];
            hours[9] = value;
            hours
        };
        Seen {
            import_id,
            accelerator: device.split('/').next().unwrap_or(device).to_owned(),
            device: device.to_owned(),
            share: FULLY_USED,
            job_no,
            present: hour(present),
            measured: hour(present),
            busy: hour(busy),
        }
    }

    fn held(seen: &[Seen]) -> Vec<(i64, i32, i32)> {
        let days = together("2026-09-01".parse().unwrap(), seen);
        days.iter().map(|(job, day)| (*job, day.held[9], day.busy[9])).collect()
    }

    #[test]
    fn of_windows_that_overlap_the_longer_one_counts() {
        let both = [seen(1, "a", 7, 600, 300), seen(2, "a", 7, 3600, 900)];
        assert_eq!(held(&both), [(7, 3600, 900)]);
        let same = [seen(1, "a", 7, 600, 300), seen(2, "a", 8, 600, 200)];
        assert_eq!(held(&same), [(8, 600, 200)], "of equals the last");
    }

    #[test]
    fn devices_add_up_and_what_nobody_held_is_said() {
        let two = [seen(1, "a", 7, 3600, 3600), seen(1, "b", 7, 3600, 0), seen(1, "c", NOBODY, 3600, 0)];
        assert_eq!(held(&two), [(0, 3600, 0), (7, 7200, 3600)]);
        let sliced = Seen { share: 5000, ..seen(1, "a/1", 7, 3600, 3600) };
        assert_eq!(held(&[sliced]), [(7, 1800, 1800)]);
        // 4g.40gb and 3g.40gb of one accelerator: 4/7 and 1/2, and together no more than all of it.
        let of = |share, slice: &str, job| Seen { share, ..seen(1, slice, job, 3600, 0) };
        let both = held(&[of(5714, "a/1", 7), of(5000, "a/2", 8)]);
        assert_eq!(both, [(7, 1919, 0), (8, 1680, 0)]);
    }
}
