//! What meters saw of the accelerators of a job beside how busy they were: memory, tensor cores, energy.

use serde::Serialize;
use sqlx::PgConnection;

use super::store_meters::NAMED_JOB;
use crate::money::Decimal;

/// Of the time in which it was measured. Each is null where no meter said it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobMeters {
    /// GiB in use of each accelerator, on average.
    pub memory_gib: Option<Decimal>,
    /// Part of the time in which tensor cores were at work.
    pub tensor_activity: Option<Decimal>,
    pub energy_kwh: Option<Decimal>,
    /// Watts of each accelerator, on average.
    pub power_watts: Option<Decimal>,
}

impl JobMeters {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What meters saw of a job, as of a version: of the pod that it is, or what they name with its number. Of what several imports say of
/// a device and a day the longest counts. A scheduler uses numbers again: of its jobs only days on which they held something.
pub async fn meters_of(db: &mut PgConnection, sequence: i64, job_no: i64) -> sqlx::Result<JobMeters> {
    let sums = sqlx::query!(
        r#"with numbers as (
               select $1::bigint as job_no
               union all
               select named.job_no
               from jobs_seen j
               join usage_sources s on s.source_id = j.source_id and s.kind = 'slurm'
               join jobs_seen named on named.key = $3 || split_part(j.key, '@', 1)
               where j.job_no = $1
           ),
           days as (
               select distinct u.job_no, u.node_id, u.day
               from numbers
               join usage_days u using (job_no)
               where u.from_sequence <= $2 and (u.until_sequence is null or u.until_sequence > $2)
           ),
           seen as (
               select distinct on (m.day, m.node_id, m.device, m.slice) m.memory_mib_seconds, m.memory_seconds, m.joules,
                   (select sum(hour) from unnest(m.present) hour) as present,
                   (select sum(hour) from unnest(m.tensor) hour) as tensor,
                   (select sum(hour) from unnest(m.tensor_measured) hour) as tensor_measured
               from days
               join meter_days m using (job_no, node_id, day)
               join usage_imports i using (import_id)
               where m.day in (select day from days where job_no = $1) and i.from_sequence <= $2 and (i.until_sequence is null or i.until_sequence > $2)
               order by m.day, m.node_id, m.device, m.slice, present desc, m.import_id desc
           )
           select sum(memory_mib_seconds) as "mebibytes: Decimal", sum(memory_seconds) as "memory_seconds: Decimal",
               sum(tensor) as "tensor: Decimal", sum(tensor_measured) as "tensor_measured: Decimal",
               sum(joules) as "joules: Decimal", sum(present) filter (where joules > 0) as "milliseconds: Decimal"
           from seen"#,
        job_no,
        sequence,
        NAMED_JOB,
    )
    .fetch_one(db)
    .await?;
    let of = |whole: Option<Decimal>, part: Option<Decimal>, digits: u8| {
        whole?.divide(part?, digits).map(Decimal::normalize)
    };
    let joules = sums.joules.filter(|it| !it.is_zero());
    Ok(JobMeters {
        memory_gib: of(sums.mebibytes, sums.memory_seconds.map(|it| it.times(1024)), 1),
        tensor_activity: of(sums.tensor, sums.tensor_measured, 4),
        energy_kwh: of(joules, Some(Decimal::from(3_600_000)), 2),
        power_watts: of(joules.map(|it| it.times(1000)), sums.milliseconds, 0),
    })
}
