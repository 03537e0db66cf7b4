//! What ran on the organization's own cluster, as its scheduler says month by month.
//!
//! Machines 1 to 4 train together, an experiment after the other; each of the others runs several small jobs beside each other:
//! labelling, evaluation, simulation, and notebooks that hold a GPU and rarely use it. Of one job in nine nobody measured how busy it was.

use std::io;

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveTime, TimeDelta, Timelike as _, Utc, Weekday};

use super::File;
use crate::generate::random::Random;
use crate::generate::slurm::{self, SlurmJob};
use crate::period::BillingMonth;

/// What the scheduler calls the cluster.
const CLUSTER: &str = "east";
const GPUS: u64 = 8;
/// Runs of an experiment that trains on several machines.
const RUNS: u32 = 4;

/// Somebody who runs small jobs.
struct Person {
    user: &'static str,
    account: &'static str,
    wckey: &'static str,
    name: &'static str,
    /// What their experiments are called, a new one every week. None: they name none.
    experiment: Option<&'static str>,
    gpus: &'static [u64],
    /// Minutes that a job lasts.
    minutes: (u64, u64),
    /// Percent.
    utilization: (u64, u64),
}

impl Person {
    fn comment(&self, at: DateTime<Utc>) -> String {
        self.experiment
            .map(|it| format!("{it}-{}w{:02}", at.iso_week().year() % 100, at.iso_week().week()))
            .unwrap_or_default()
    }
}

const VISION: &[Person] = &[
    Person {
        user: "mara",
        account: "vision",
        wckey: "segmentation",
        name: "seg-train",
        experiment: Some("seg-east"),
        gpus: &[2, 4],
        minutes: (120, 1400),
        utilization: (68, 93),
    },
    Person {
        user: "jonas",
        account: "vision",
        wckey: "auto-labeling",
        name: "label",
        experiment: None,
        gpus: &[1, 1, 2],
        minutes: (20, 240),
        utilization: (35, 70),
    },
    Person {
        user: "lin",
        account: "vision",
        wckey: "video-diffusion",
        name: "sample, v2",
        experiment: Some("video-sampling"),
        gpus: &[1, 2],
        minutes: (10, 180),
        utilization: (50, 85),
    },
    Person {
        user: "sofia",
        account: "research",
        wckey: "evaluation",
        name: "eval|suite",
        experiment: None,
        gpus: &[1],
        minutes: (5, 90),
        utilization: (40, 80),
    },
    Person {
        user: "peter",
        account: "research",
        wckey: "notebooks",
        name: "jupyter",
        experiment: None,
        gpus: &[1],
        minutes: (240, 900),
        utilization: (0, 9),
    },
];

const ROBOTICS: &[Person] = &[
    Person {
        user: "amir",
        account: "robotics",
        wckey: "policy-learning",
        name: "policy",
        experiment: Some("policy-east"),
        gpus: &[2, 4, 8],
        minutes: (180, 1500),
        utilization: (55, 88),
    },
    Person {
        user: "wanda",
        account: "robotics",
        wckey: "grasping-sim",
        name: "grasp-sim",
        experiment: None,
        gpus: &[1, 2],
        minutes: (30, 400),
        utilization: (25, 60),
    },
    Person {
        user: "rui",
        account: "robotics",
        wckey: "notebooks",
        name: "jupyter",
        experiment: None,
        gpus: &[1],
        minutes: (180, 700),
        utilization: (0, 7),
    },
];

/// How the cluster grew, and with which seed it draws.
pub(super) struct Cluster {
    pub(super) seed: u64,
    pub(super) first: NaiveDate,
    pub(super) expanded: NaiveDate,
    pub(super) until: NaiveDate,
}

impl Cluster {
    /// Every job of the story in the order of their numbers.
    pub(super) fn jobs(&self) -> Vec<SlurmJob> {
        let mut jobs = self.training();
        for (node, people, since) in [
            ("east-a-05", VISION, self.first),
            ("east-a-06", VISION, self.first),
            ("east-b-01", ROBOTICS, self.expanded),
            ("east-b-02", ROBOTICS, self.expanded),
        ] {
            jobs.extend(self.small(node, people, since));
        }
        jobs.sort_by_key(|job| (job.submitted, job.started, job.nodes.clone()));
        for (job, id) in jobs.iter_mut().zip(20_001..) {
            job.id = id;
        }
        jobs
    }

    /// One experiment after the other on four machines.
    fn training(&self) -> Vec<SlurmJob> {
        let mut random = Random::new(self.seed ^ 0x51_u64 << 56);
        let mut at = midnight(self.first) + TimeDelta::hours(9);
        let mut jobs = Vec::new();
        for run in 1_u32.. {
            if at >= midnight(self.until) {
                break;
            }
            let minutes = TimeDelta::minutes(random.between(400, 4300) as i64);
            let utilization = (0..4 * GPUS).map(|_| random.between(820, 975)).collect();
            let state = *random.pick(&["COMPLETED", "COMPLETED", "COMPLETED", "TIMEOUT", "NODE_FAIL"]);
            jobs.push(SlurmJob {
                id: 0,
                user: "ines",
                account: "language",
                wckey: "foundation-model",
                partition: "train",
                state,
                name: format!("fm-{run:03}"),
                comment: format!("fm-east-{:02}", run.div_ceil(RUNS)),
                submitted: at - TimeDelta::minutes(random.between(5, 600) as i64),
                started: at,
                ended: at + minutes,
                model: "h100",
                gpus_per_node: GPUS,
                nodes: (1..=4).map(|unit| format!("east-a-{unit:02}")).collect(),
                utilization: Some(utilization),
            });
            // Whoever looks at it in the morning starts the next one.
            let pause = if random.chance(250) { (300, 1500) } else { (10, 120) };
            at += minutes + TimeDelta::minutes(random.between(pause.0, pause.1) as i64);
        }
        jobs
    }

    /// Small jobs on one machine: as many as fit, fewer at night and on weekends.
    fn small(&self, node: &str, people: &'static [Person], since: NaiveDate) -> Vec<SlurmJob> {
        let of_node = node.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(31) ^ u64::from(byte));
        let mut random = Random::new(self.seed ^ of_node ^ 0x52_u64 << 56);
        let mut jobs: Vec<SlurmJob> = Vec::new();
        let mut running: Vec<(DateTime<Utc>, u64)> = Vec::new();
        let mut at = midnight(since) + TimeDelta::hours(8);
        while at < midnight(self.until) {
            running.retain(|(ends, _)| *ends > at);
            let free = GPUS - running.iter().map(|(_, gpus)| gpus).sum::<u64>();
            let person = random.pick(people);
            let gpus = *random.pick(person.gpus);
            let is_awake =
                (7..22).contains(&at.hour()) && !matches!(at.weekday(), Weekday::Sat | Weekday::Sun);
            let wants = random.chance(if is_awake { 620 } else { 260 });
            if wants && gpus <= free {
                let minutes = random.between(person.minutes.0, person.minutes.1) as i64;
                let ended = at + TimeDelta::minutes(minutes) + TimeDelta::seconds(random.below(60) as i64);
                let (low, high) = person.utilization;
                let measured = (0..gpus).map(|_| random.between(low * 10, high * 10)).collect();
                let state = *random.pick(&[
                    "COMPLETED",
                    "COMPLETED",
                    "COMPLETED",
                    "COMPLETED",
                    "COMPLETED",
                    "COMPLETED",
                    "FAILED",
                    "OUT_OF_MEMORY",
                    "CANCELLED by 1007",
                    "TIMEOUT",
                ]);
                jobs.push(SlurmJob {
                    id: 0,
                    user: person.user,
                    account: person.account,
                    wckey: person.wckey,
                    partition: "gpu",
                    state,
                    name: person.name.to_owned(),
                    comment: person.comment(at),
                    submitted: at - TimeDelta::minutes(random.below(30) as i64),
                    started: at,
                    ended,
                    model: "h100",
                    gpus_per_node: gpus,
                    nodes: vec![node.to_owned()],
                    utilization: (!random.chance(111)).then_some(measured),
                });
                running.push((ended, gpus));
            }
            at += TimeDelta::minutes(random.between(8, 55) as i64);
        }
        jobs
    }
}

/// What the scheduler says of a month when it is over, or until a day: as `sacct` does, every job that ran in it, whole.
pub(super) fn export(jobs: &[SlurmJob], month: BillingMonth, until: NaiveDate) -> io::Result<File> {
    let days = month.days();
    let at = midnight(days.end.min(until));
    let begins = midnight(days.start);
    let mut bytes = slurm::COLUMNS.as_bytes().to_vec();
    bytes.push(b'\n');
    let ran = |job: &&SlurmJob| job.started < at && job.ended > begins;
    for job in jobs.iter().filter(ran) {
        slurm::write(&mut bytes, CLUSTER, job, at)?;
    }
    Ok(File { name: format!("sacct-{CLUSTER}-{month}.txt"), bytes })
}

fn midnight(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(NaiveTime::MIN).and_utc()
}

/// When a month is exported: on the morning after its last day, or on the day that the story ends.
pub(super) fn day_of_export(month: BillingMonth, until: NaiveDate) -> NaiveDate {
    month.days().end.min(until)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn cluster() -> Cluster {
        let day = |text: &str| text.parse().unwrap();
        Cluster { seed: 1, first: day("2025-11-01"), expanded: day("2026-05-15"), until: day("2026-11-20") }
    }

    #[test]
    fn no_machine_holds_more_than_it_has() {
        let jobs = cluster().jobs();
        assert!(jobs.len() > 10_000, "{}", jobs.len());
        let mut steps: BTreeMap<(&str, DateTime<Utc>), i64> = BTreeMap::new();
        for job in &jobs {
            assert!(job.submitted <= job.started && job.started < job.ended);
            for node in &job.nodes {
                *steps.entry((node, job.started)).or_default() += job.gpus_per_node as i64;
                *steps.entry((node, job.ended)).or_default() -= job.gpus_per_node as i64;
            }
        }
        let mut held: BTreeMap<&str, i64> = BTreeMap::new();
        for ((node, at), change) in &steps {
            let held = held.entry(node).or_default();
            *held += change;
            assert!((0..=8).contains(held), "{node} holds {held} at {at}");
        }
    }

    #[test]
    fn months_overlap_as_windows_of_a_scheduler_do() {
        let (jobs, until) = (cluster().jobs(), cluster().until);
        let month = |text: &str| export(&jobs, text.parse().unwrap(), until).unwrap().bytes;
        let (first, second) = (month("2026-09"), month("2026-10"));
        let ids = |bytes: &[u8]| -> std::collections::BTreeSet<String> {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.lines().skip(1).map(|line| line.split('|').next().unwrap().to_owned()).collect()
        };
        assert!(ids(&first).intersection(&ids(&second)).count() > 0);
        assert_eq!(month("2026-09"), first);
        assert!(String::from_utf8_lossy(&month("2026-11")).contains("|RUNNING|"));
    }
}
