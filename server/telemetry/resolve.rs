//! What meters of active imports say together of a node on a day: who held its accelerators, and how busy these were.
//!
//! Of a device and an hour one import counts: that which saw it longest, of several the last. A slice is its dominant share of its
//! accelerator; where those of one amount to more than all of it, they are cut down in proportion, and so are those who hold one
//! device at once (time-slicing). What the slices of an accelerator lack of all of it is *stranded*, under the job -2, where the meter
//! sees slices that nobody holds, too. What nobody held is written
//! down under the job 0; whether the source would say who did is known when it is read. An hour in which no meter saw a device is not known. What a job of Slurm held is for Slurm to say: what a
//! meter saw of it says how busy it was ([`measured`](super::measure::measured)).

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use sqlx::PgConnection;

use super::format::Format;
use super::hours::{ByHour, HOURS, NodeDay};
use super::metered::HOUR_MS;
use super::slice::share_of_slice;
use super::used_days::{Changes, Which};

/// The job of what nobody held.
pub const NOBODY: i64 = 0;
/// The job of what a meter saw that does not know who held it, which is written down as held by nobody: how busy it was says how busy jobs of the same machine were.
pub const SEEN: i64 = -1;
/// The job of what accelerators that are cut into slices have beyond them.
pub const STRANDED: i64 = -2;
/// Days of nodes that are looked at together.
const BATCH: usize = 500;

/// What an import says of a device while somebody held it, or nobody.
struct Seen {
    import_id: i64,
    /// The accelerator that it is, or is a slice of.
    accelerator: String,
    device: String,
    is_slice: bool,
    /// The import says of slices that nobody holds, too.
    sees_unheld: bool,
    /// It is one accelerator, or slice: who hold it at once share it.
    is_one: bool,
    /// Of [`WHOLE`].
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

/// Finds what changes of what meters say of these days.
pub async fn find_changes(
    db: &mut PgConnection,
    days: BTreeSet<NodeAndDay>,
    changes: &mut Changes,
) -> sqlx::Result<()> {
    let days: Vec<NodeAndDay> = days.into_iter().collect();
    for batch in days.chunks(BATCH) {
        let (nodes, of_days): (Vec<i64>, Vec<NaiveDate>) = batch.iter().copied().unzip();
        let rows = sqlx::query!(
            r#"select m.node_id, m.day, m.import_id, m.device, m.slice, m.profile, m.model, m.job_no, m.present, m.measured, m.busy,
                 i.format
             from meter_days m
             join unnest($1::bigint[], $2::date[]) as wanted (node_id, day) using (node_id, day)
             join usage_imports i using (import_id)
             where i.status = 'active'
             order by m.node_id, m.day"#,
            &nodes,
            &of_days,
        )
        .fetch_all(&mut *db)
        .await?;
        let mut seen: BTreeMap<(i64, NaiveDate), Vec<Seen>> = BTreeMap::new();
        for row in rows {
            seen.entry((row.node_id, row.day)).or_default().push(Seen {
                import_id: row.import_id,
                share: share_of(&row.model, &row.profile),
                device: format!("{}/{}", row.device, row.slice),
                is_slice: !row.slice.is_empty(),
                sees_unheld: row.format == Format::Prometheus.as_str(),
                // Of OpenCost it is a container, which may hold several.
                is_one: !row.device.is_empty() && !row.format.starts_with(Format::OpenCost.as_str()),
                accelerator: row.device,
                job_no: row.job_no,
                present: row.present,
                measured: row.measured,
                busy: row.busy,
            });
        }
        let mut new = Vec::new();
        for ((node, day), seen) in &seen {
            new.extend(together(*day, seen).into_iter().map(|(job, of_day)| (job, *node, of_day)));
        }
        changes.replace(&mut *db, Which::Nodes(&nodes, &of_days), &new).await?;
    }
    Ok(())
}

/// An accelerator, in parts that sevenths and eighths are whole numbers of: seven slices of one are all of it.
const WHOLE: u32 = 840;

/// What a slice is of its accelerator; what is none is all of it.
fn share_of(model: &str, profile: &str) -> u32 {
    let (part, whole) = share_of_slice(model, profile);
    WHOLE * part / whole
}

/// What several imports say of a node's day, by job.
fn together(day: NaiveDate, seen: &[Seen]) -> Vec<(i64, NodeDay)> {
    let empty = || NodeDay { day, held: [0; HOURS], measured: [0; HOURS], busy: [0; HOURS] };
    let mut days: BTreeMap<i64, NodeDay> = BTreeMap::new();
    let devices: BTreeSet<&str> = seen.iter().map(|it| it.device.as_str()).collect();
    let cut = slices_by_hour(seen);
    for device in devices {
        let of_device: Vec<&Seen> = seen.iter().filter(|it| it.device == device).collect();
        for hour in 0..HOURS {
            let mut by_import: BTreeMap<i64, i64> = BTreeMap::new();
            for it in &of_device {
                *by_import.entry(it.import_id).or_default() += i64::from(at(&it.present, hour));
            }
            // The last of those that saw it longest.
            let Some((chosen, present)) =
                by_import.into_iter().max_by_key(|(import, present)| (*present, *import))
            else {
                continue;
            };
            for it in of_device.iter().filter(|it| it.import_id == chosen && at(&it.present, hour) > 0) {
                let slices = cut.get(&(it.accelerator.as_str(), hour));
                if slices.is_some() && !it.is_slice {
                    // What is said of all of it is said of its slices.
                    continue;
                }
                let at_once = if it.is_one { present.max(HOUR_MS.into()) } else { HOUR_MS.into() };
                let of = slices.map_or(WHOLE, |it| it.share.max(WHOLE));
                let part = |value: i32| -> i32 {
                    let share = i128::from(it.share) * i128::from(HOUR_MS);
                    let part = i128::from(value) * share / (i128::from(of) * i128::from(at_once));
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
    for ((_, hour), slices) in cut {
        let left = WHOLE.saturating_sub(slices.share);
        if left > 0 && slices.are_all_seen {
            let stranded = i64::from(slices.present) * i64::from(left) / i64::from(WHOLE);
            let of_job = days.entry(STRANDED).or_insert_with(empty);
            add(&mut of_job.held, hour, i32::try_from(stranded).unwrap_or(0));
        }
    }
    days.into_iter().filter(|(_, it)| it.held.iter().any(|held| *held > 0)).collect()
}

/// The slices of an accelerator that were seen in an hour.
#[derive(Default)]
struct Slices {
    /// What they amount to, of [`WHOLE`]. A layout can amount to more than all of it: 4g and 3g do.
    share: u32,
    /// For how long the one was seen that was seen longest.
    present: i32,
    are_all_seen: bool,
}

fn slices_by_hour(seen: &[Seen]) -> BTreeMap<(&str, usize), Slices> {
    let mut shares: BTreeMap<(&str, usize), BTreeMap<&str, u32>> = BTreeMap::new();
    let mut cut: BTreeMap<(&str, usize), Slices> = BTreeMap::new();
    for it in seen.iter().filter(|it| it.is_slice) {
        for hour in (0..HOURS).filter(|hour| at(&it.present, *hour) > 0) {
            let place = (it.accelerator.as_str(), hour);
            shares.entry(place).or_default().insert(&it.device, it.share);
            let slices = cut.entry(place).or_default();
            slices.present = slices.present.max(at(&it.present, hour).min(HOUR_MS));
            slices.are_all_seen |= it.sees_unheld;
        }
    }
    for (place, slices) in &mut cut {
        slices.share = shares.get(place).map_or(0, |shares| shares.values().sum());
    }
    cut
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
            is_slice: device.contains('/'),
            sees_unheld: true,
            is_one: true,
            share: WHOLE,
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
        let sliced = Seen { share: 420, ..seen(1, "a/1", 7, 3600, 3600) };
        assert_eq!(held(&[sliced]), [(STRANDED, 1800, 0), (7, 1800, 1800)]);
        // 4g.40gb and 3g.40gb of one accelerator: 4/7 and 1/2, and together no more than all of it.
        let of = |share, slice: &str, job| Seen { share, ..seen(1, slice, job, 3600, 0) };
        let both = held(&[of(480, "a/1", 7), of(420, "a/2", 8)]);
        assert_eq!(both, [(7, 1920, 0), (8, 1680, 0)]);
    }

    #[test]
    fn what_no_slice_has_is_stranded_where_all_of_them_are_seen() {
        // 3g.40gb, held, and 1g.10gb that nobody holds: 1/2 and 1/7.
        let of = |share, slice: &str, job| Seen { share, ..seen(1, slice, job, 7000, 0) };
        let both = [of(420, "a/1", 7), of(120, "a/2", NOBODY)];
        assert_eq!(held(&both), [(STRANDED, 2500, 0), (NOBODY, 1000, 0), (7, 3500, 0)]);
        // What is said of the whole accelerator beside them is said of them.
        let whole = seen(1, "a", NOBODY, 7000, 7000);
        let [one, two] = both;
        assert_eq!(held(&[one, two, whole]), [(STRANDED, 2500, 0), (NOBODY, 1000, 0), (7, 3500, 0)]);
        // A report of pods does not say which slices there are.
        let of_pods = Seen { sees_unheld: false, share: 420, ..seen(1, "a/1", 7, 7000, 0) };
        assert_eq!(held(&[of_pods]), [(7, 3500, 0)]);
    }

    #[test]
    fn who_hold_a_device_at_once_share_it() {
        let of = |job| seen(1, "a", job, HOUR_MS, HOUR_MS / 2);
        assert_eq!(held(&[of(7), of(8)]), [(7, HOUR_MS / 2, HOUR_MS / 4), (8, HOUR_MS / 2, HOUR_MS / 4)]);
        // A replica is a part of it, held or not.
        let replica = |number: u32, job| seen(1, &format!("a/replica {number}"), job, HOUR_MS, 0);
        let held_by = held(&[replica(0, 7), replica(1, NOBODY), replica(2, NOBODY), replica(3, 7)]);
        assert_eq!(held_by, [(NOBODY, HOUR_MS / 2, 0), (7, HOUR_MS / 2, 0)]);
        // One after the other.
        let first = seen(1, "a", 7, HOUR_MS / 4, 0);
        assert_eq!(
            held(&[first, seen(1, "a", 8, HOUR_MS / 2, 0)]),
            [(7, HOUR_MS / 4, 0), (8, HOUR_MS / 2, 0)]
        );
    }
}
