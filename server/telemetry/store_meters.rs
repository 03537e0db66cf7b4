//! What meters say of devices and of who held them, in the database: day by day, hour by hour.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, NaiveDate};
use sqlx::PgConnection;

use super::format::Format;
use super::hours::HOURS;
use super::import::without_nul;
use super::job::JobState;
use super::metered::{Activity, Metered, MeteredDay};
use super::resolve::NOBODY;
use super::slice::{joined_profiles, share_of_slice};
use super::store::{Names, array, number_keys};
use crate::audit::Act;

/// What an import says of a device, its holder and a day, which comes in parts where there is much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Other metrics of the same hours: the one that saw it longest counts.
    SameHours,
    /// Other hours.
    FurtherHours,
    /// Rows in no order: what they say of an hour adds up.
    Rows,
}

impl Names {
    /// Writes down what an import says of devices, and of who held them. What two parts of it say of one day is one: as long as the
    /// part that saw it longest says.
    pub async fn write_metered(
        &mut self,
        db: &mut PgConnection,
        import_id: i64,
        metered: &[Metered],
        act: Act<'_>,
    ) -> sqlx::Result<()> {
        let mut sources = Vec::with_capacity(metered.len());
        for it in metered {
            sources.push(self.source(&mut *db, &it.device.cluster, act).await?);
        }
        let named = metered.iter().zip(&sources).map(|(it, source)| (*source, without_nul(&it.device.node)));
        self.add_new_nodes(&mut *db, named.collect()).await?;
        let holders = number_holders(&mut *db, metered, &sources).await?;
        describe_holders(&mut *db, import_id, metered, &sources, &holders).await?;
        // Two names of one device, as of a series and of the same one under another label, are one row.
        let mut rows: BTreeMap<Place, Metered> = BTreeMap::new();
        for (it, source) in metered.iter().zip(&sources) {
            let Some(node) = self.nodes.get(&(*source, without_nul(&it.device.node))) else { continue };
            let job = match key_of(it) {
                None => NOBODY,
                Some(key) => match holders.get(&(*source, key)) {
                    Some(number) => *number,
                    None => continue,
                },
            };
            let device = (without_nul(&it.device.id), without_nul(&it.device.slice));
            match rows.entry((*node, device, job)) {
                Entry::Vacant(new) => _ = new.insert(it.clone()),
                // Such as of two users: what rows say adds up, however they are called.
                Entry::Occupied(known) if self.parts == Parts::Rows => known.into_mut().join(it.clone()),
                Entry::Occupied(known) => known.into_mut().merge(it.clone()),
            }
        }
        let days = rows.iter().flat_map(|(place, metered)| {
            metered.days.iter().map(move |(day, of_day)| MeterDay { place, metered, day: *day, of_day })
        });
        for days in days.collect::<Vec<_>>().chunks(METER_DAYS) {
            insert_meter_days(&mut *db, (import_id, self.parts, self.kind == Format::OpenCost.kind()), days)
                .await?;
        }
        Ok(())
    }
}

/// Before the number by which a meter names a job of a scheduler, which describes it.
pub const NAMED_JOB: &str = "hpc_job:";

/// Node, device with its slice, and job.
type Place = (i64, (String, String), i64);

/// Days of devices that are written together.
const METER_DAYS: usize = 1_000;

/// What an import says of a device and its holder on a day.
struct MeterDay<'a> {
    place: &'a Place,
    metered: &'a Metered,
    day: NaiveDate,
    of_day: &'a MeteredDay,
}

/// What tells who held a device from others of the source. No namespace has a colon: a job of a scheduler is none of its pods. Workloads of
/// one name that two accounts run are two.
fn key_of(metered: &Metered) -> Option<String> {
    let holder = metered.holder.as_ref()?;
    let key = if holder.is_slurm_job {
        format!("{NAMED_JOB}{}", holder.name)
    } else if holder.account.is_empty() {
        format!("{}/{}", holder.namespace, holder.name)
    } else {
        format!("{}/{}@{}", holder.namespace, holder.name, holder.account)
    };
    Some(without_nul(&key))
}

async fn number_holders(
    db: &mut PgConnection,
    metered: &[Metered],
    sources: &[i64],
) -> sqlx::Result<HashMap<(i64, String), i64>> {
    let mut wanted: Vec<(i64, String)> =
        metered.iter().zip(sources).filter_map(|(it, source)| Some((*source, key_of(it)?))).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let (sources, keys): (Vec<i64>, Vec<String>) = wanted.into_iter().unzip();
    number_keys(db, &sources, &keys).await
}

/// A pod, from when until when it was seen, in milliseconds since 1970.
struct Described<'a> {
    metered: &'a Metered,
    first: i64,
    last: i64,
    /// How many thousandths of an accelerator each of its devices is: node, device, and slice where it is cut.
    accelerators: BTreeMap<[&'a str; 3], i64>,
    /// Profiles of its slices; empty of whole accelerators.
    profiles: BTreeSet<&'a str>,
}

impl Described<'_> {
    fn thousandths(&self) -> i64 {
        self.accelerators.values().sum()
    }

    fn profile(&self) -> String {
        without_nul(&joined_profiles(self.profiles.iter().copied()))
    }
}

/// Pods, as what a scheduler calls jobs: as long as they were seen.
async fn describe_holders(
    db: &mut PgConnection,
    import_id: i64,
    metered: &[Metered],
    sources: &[i64],
    holders: &HashMap<(i64, String), i64>,
) -> sqlx::Result<()> {
    let mut described: BTreeMap<i64, Described<'_>> = BTreeMap::new();
    let is_pod = |it: &Metered| it.holder.as_ref().is_some_and(|holder| !holder.is_slurm_job);
    for (it, source) in metered.iter().zip(sources).filter(|(it, _)| is_pod(it)) {
        let number = key_of(it).and_then(|key| holders.get(&(*source, key)).copied());
        let (Some(number), Some((first, last))) = (number, it.seen) else { continue };
        let new = || Described {
            metered: it,
            first,
            last,
            accelerators: BTreeMap::new(),
            profiles: BTreeSet::new(),
        };
        let known = described.entry(number).or_insert_with(new);
        (known.first, known.last) = (known.first.min(first), known.last.max(last));
        let device = &it.device;
        known.profiles.insert(&device.profile);
        // Replicas of an accelerator are all of it.
        let slice = if device.profile.is_empty() { "" } else { &device.slice };
        let accelerators = known.accelerators.entry([&device.node, &device.id, slice]).or_default();
        let (part, whole) = share_of_slice(&it.device.model, &it.device.profile);
        *accelerators =
            (*accelerators).max(1000 * i64::from(it.most.max(1)) * i64::from(part) / i64::from(whole));
    }
    let time = |milliseconds: i64| DateTime::from_timestamp_millis(milliseconds).unwrap_or_default();
    let text = |of: fn(&Metered) -> &str| -> Vec<String> {
        described.values().map(|it| without_nul(of(it.metered))).collect()
    };
    let holder = |of: fn(&super::metered::Holder) -> &String| -> Vec<String> {
        let texts = described.values().map(|it| it.metered.holder.as_ref().map(|it| without_nul(of(it))));
        texts.map(Option::unwrap_or_default).collect()
    };
    sqlx::query!(
        "insert into job_descriptions (
             job_no, import_id, job_id, name, namespace, model, started_at, held_until, held_seconds, accelerators, user_name,
             account, project, queue, qos, comment, state, is_over, nodes, node_accelerators, node_utilization, is_metered, profile
         )
         select job_no, $1, job_id, name, namespace, model, started_at, held_until,
             extract(epoch from held_until - started_at)::bigint, accelerators, user_name, account, '', '', '', '', $10, false, '{}', '{}',
             '{}', true, profile
         from unnest(
             $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::timestamptz[], $9::bigint[],
             $11::text[], $12::text[], $13::text[]
         ) as new (job_no, job_id, name, namespace, model, started_at, held_until, accelerators, profile, user_name, account)
         on conflict (job_no, import_id) do update
         set started_at = least(job_descriptions.started_at, excluded.started_at),
             held_until = greatest(job_descriptions.held_until, excluded.held_until),
             accelerators = greatest(job_descriptions.accelerators, excluded.accelerators)",
        import_id,
        &described.keys().copied().collect::<Vec<_>>(),
        &holder(|it| &it.name),
        &holder(|it| &it.container),
        &holder(|it| &it.namespace),
        &text(|it| &it.device.model),
        &described.values().map(|it| time(it.first)).collect::<Vec<_>>(),
        &described.values().map(|it| time(it.last)).collect::<Vec<_>>(),
        &described.values().map(Described::thousandths).collect::<Vec<_>>(),
        JobState::Unknown.as_str(),
        &described.values().map(Described::profile).collect::<Vec<_>>(),
        &holder(|it| &it.user),
        &holder(|it| &it.account),
    )
    .execute(db)
    .await?;
    Ok(())
}

/// What parts of an import say of days.
async fn insert_meter_days(
    db: &mut PgConnection,
    (import_id, parts, are_containers): (i64, Parts, bool),
    rows: &[MeterDay<'_>],
) -> sqlx::Result<()> {
    let hours = |of: &dyn Fn(&MeteredDay, usize) -> i32| -> Vec<String> {
        rows.iter().map(|row| array((0..HOURS).map(|hour| i64::from(of(row.of_day, hour))))).collect()
    };
    let tensor = |day: &MeteredDay, hour: usize| {
        let of = &day.activity[Activity::Tensor as usize];
        (of.0[hour], of.1[hour])
    };
    let texts = |of: for<'a> fn(&'a MeterDay<'_>) -> &'a str| -> Vec<String> {
        rows.iter().map(|row| without_nul(of(row))).collect()
    };
    let numbers = |of: fn(&MeterDay<'_>) -> i64| -> Vec<i64> { rows.iter().map(of).collect() };
    sqlx::query!(
        "insert into meter_days as known (
             import_id, node_id, device, slice, job_no, profile, model, day, present, measured, busy, tensor_measured, tensor,
             memory_mib_seconds, memory_seconds, joules
         )
         select $1, node_id, device, slice, job_no, profile, model, day, present::integer[], measured::integer[],
             busy::integer[], tensor_measured::integer[], tensor::integer[], mib, seconds, joules
         from unnest(
             $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::date[], $10::text[], $11::text[],
             $12::text[], $13::text[], $14::text[], $15::bigint[], $16::bigint[], $17::bigint[]
         ) as new (
             node_id, device, slice, job_no, profile, model, day, present, measured, busy, tensor_measured, tensor, mib, seconds,
             joules
         )
         on conflict (import_id, day, node_id, device, slice, job_no) do update
         set present = case
                 when $18 then added(known.present, excluded.present, case when known.device = '' or $19 then 512 else 1 end)
                 else longest(known.present, excluded.present, known.present, excluded.present)
             end,
             measured = case
                 when $18 then added(known.measured, excluded.measured, case when known.device = '' or $19 then 512 else 1 end)
                 else longest(known.measured, excluded.measured, known.measured, excluded.measured)
             end,
             busy = case
                 when $18 then added(known.busy, excluded.busy, case when known.device = '' or $19 then 512 else 1 end)
                 else longest(known.measured, excluded.measured, known.busy, excluded.busy)
             end,
             tensor_measured = longest(
                 known.tensor_measured, excluded.tensor_measured, known.tensor_measured, excluded.tensor_measured
             ),
             tensor = longest(known.tensor_measured, excluded.tensor_measured, known.tensor, excluded.tensor),
             memory_mib_seconds = case
                 when $2 then known.memory_mib_seconds + excluded.memory_mib_seconds
                 when excluded.memory_seconds > known.memory_seconds then excluded.memory_mib_seconds
                 else known.memory_mib_seconds
             end,
             memory_seconds = case
                 when $2 then known.memory_seconds + excluded.memory_seconds
                 else greatest(known.memory_seconds, excluded.memory_seconds)
             end,
             joules = case when $2 then known.joules + excluded.joules else greatest(known.joules, excluded.joules) end",
        import_id,
        parts != Parts::SameHours,
        &numbers(|row| row.place.0),
        &texts(|row| &row.place.1.0),
        &texts(|row| &row.place.1.1),
        &numbers(|row| row.place.2),
        &texts(|row| &row.metered.device.profile),
        &texts(|row| &row.metered.device.model),
        &rows.iter().map(|row| row.day).collect::<Vec<_>>(),
        &hours(&|day, hour| day.present[hour]),
        &hours(&|day, hour| day.busy(hour).0),
        &hours(&|day, hour| day.busy(hour).1),
        &hours(&|day, hour| tensor(day, hour).0),
        &hours(&|day, hour| tensor(day, hour).1),
        &numbers(|row| row.of_day.memory.0),
        &numbers(|row| row.of_day.memory.1),
        &numbers(|row| row.of_day.energy),
        parts == Parts::Rows,
        // Of OpenCost a device is a container, which may hold several.
        are_containers,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Writes down how many hours of accelerators an import of a meter saw, held or not.
pub async fn count_seen_hours(db: &mut PgConnection, import_id: i64) -> sqlx::Result<()> {
    sqlx::query!(
        "update usage_imports
         set accelerator_hours = (
             select coalesce(round(sum(seen) / 3600000.0, 6), 0)
             from meter_days m cross join unnest(m.present) seen
             where m.import_id = $1
         )
         where import_id = $1",
        import_id,
    )
    .execute(db)
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use chrono_tz::Tz;
    use sqlx::PgPool;

    use super::*;
    use crate::audit::Actor;
    use crate::telemetry::metered::{Device, Holder};

    /// A job that held two accelerators from a minute of an hour to another.
    fn held(from: i64, until: i64) -> Metered {
        let holder = Holder { name: "train".to_owned(), ..Holder::default() };
        let device = Device { node: "n1".to_owned(), ..Device::default() };
        let mut metered =
            Metered { device, holder: Some(holder), metric: "csv", most: 2, ..Metered::default() };
        metered.several(from * 60_000, until * 60_000, 2.0, Some((Activity::Utilization, 5000)));
        metered
    }

    /// An import that is under way.
    async fn begin(db: &mut PgConnection, format: Format) -> i64 {
        sqlx::query_scalar(
            "insert into usage_imports (batch_id, format, file_name, sha256, status, imported_at, imported_by)
             values (gen_random_uuid(), $1, '', '', 'loading', $2, '')
             returning import_id",
        )
        .bind(format.as_str())
        .bind(DateTime::UNIX_EPOCH)
        .fetch_one(db)
        .await
        .unwrap()
    }

    #[sqlx::test(migrator = "crate::MIGRATOR")]
    async fn rows_of_an_hour_that_come_in_parts_add_up_and_metrics_do_not(pool: PgPool) {
        let mut db = pool.acquire().await.unwrap();
        let now = DateTime::UNIX_EPOCH;
        let by = Actor::command_line(None);
        for (format, expected) in [(Format::PlainCsv, 90 * 60_000), (Format::Prometheus, 60 * 60_000)] {
            let import_id = begin(&mut db, format).await;
            let mut names = Names::new(format.kind(), None, Tz::UTC);
            // The second of another user: it is the same job.
            let mut other = held(45, 50);
            other.holder.as_mut().unwrap().user = "ann".to_owned();
            for part in [&[held(0, 30), other][..], &[held(50, 60)]] {
                names.write_metered(&mut db, import_id, part, by.at(now)).await.unwrap();
            }
            let (present, busy): (i32, i32) =
                sqlx::query_as("select present[1], busy[1] from meter_days where import_id = $1")
                    .bind(import_id)
                    .fetch_one(&mut *db)
                    .await
                    .unwrap();
            assert_eq!((present, busy), (expected, expected / 2), "{format:?}");
        }
    }

    #[sqlx::test(migrator = "crate::MIGRATOR")]
    async fn a_pod_has_the_accelerators_and_slices_of_all_its_nodes_and_replicas_once(pool: PgPool) {
        let mut db = pool.acquire().await.unwrap();
        let now = DateTime::UNIX_EPOCH;
        let import_id = begin(&mut db, Format::Prometheus).await;
        let device = |holder: &str, node: &str, slice: &str, profile: &str| {
            let holder = Holder { name: holder.to_owned(), ..Holder::default() };
            let text = str::to_owned;
            let (id, model) = (text("GPU-0"), text("NVIDIA H100 80GB HBM3"));
            let device = Device {
                node: text(node),
                slice: text(slice),
                profile: text(profile),
                id,
                model,
                ..Device::default()
            };
            let mut metered = Metered { device, holder: Some(holder), ..Metered::default() };
            metered.span(0, 60_000, None);
            metered
        };
        let metered = [
            device("nodes", "n1", "", ""),
            device("nodes", "n2", "", ""),
            device("replicas", "n1", "replica 1", ""),
            device("replicas", "n1", "replica 2", ""),
            device("slices", "n1", "1", "1g.10gb"),
            device("slices", "n1", "2", "1g.10gb"),
            device("mixed", "n1", "1", "3g.40gb"),
            device("mixed", "n2", "", ""),
        ];
        let mut names = Names::new(Format::Prometheus.kind(), None, Tz::UTC);
        names.write_metered(&mut db, import_id, &metered, Actor::command_line(None).at(now)).await.unwrap();
        let found: Vec<(String, i64, String)> =
            sqlx::query_as("select job_id, accelerators, profile from job_descriptions order by job_id")
                .fetch_all(&mut *db)
                .await
                .unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|(job, thousandths, profile)| (job.as_str(), *thousandths, profile.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("mixed", 1500, "whole+3g.40gb"),
                ("nodes", 2000, ""),
                ("replicas", 1000, ""),
                ("slices", 284, "1g.10gb")
            ]
        );
    }
}
