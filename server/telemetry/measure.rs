//! How busy jobs were whose scheduler does not say it: as busy as meters saw the accelerators of the same machine. Pure.
//!
//! Where a meter names the job (`hpc_job`), what it saw is that job's. What else it saw of the machine is shared by the jobs that held it
//! at the hour, in proportion to what each held: what was at work, one of them had at work. Where meters saw less than jobs held,
//! the rest stays not measured.

use std::collections::{BTreeMap, HashMap};

use chrono::NaiveDate;

use super::hours::HOURS;
use super::read::{HeldDay, Node};
use super::resolve::{NOBODY, SEEN};

/// Fills in what meters saw, and leaves out what only says that. `named`: by the number under which a meter knows a job of a scheduler, those
/// that it can be.
pub fn measured(mut days: Vec<HeldDay>, nodes: &[Node], named: &BTreeMap<i64, Vec<i64>>) -> Vec<HeldDay> {
    let is_of_meter = |day: &HeldDay| day.job_no == SEEN || named.contains_key(&day.job_no);
    if days.iter().any(is_of_meter) {
        let nodes: HashMap<i64, &Node> = nodes.iter().map(|node| (node.node_id, node)).collect();
        let mut machines: BTreeMap<(String, NaiveDate), Vec<usize>> = BTreeMap::new();
        for (place, day) in days.iter().enumerate() {
            if let Some(node) = nodes.get(&day.node_id) {
                machines.entry((node.machine(), day.day)).or_default().push(place);
            }
        }
        for places in machines.into_values().filter(|places| places.len() > 1) {
            let (jobs, seen): (Vec<usize>, Vec<usize>) =
                places.into_iter().partition(|place| nodes[&days[*place].node_id].is_of_scheduler());
            // Two meters of one machine saw the same.
            let mut meters: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
            for place in seen {
                meters.entry(nodes[&days[place].node_id].source_id).or_default().push(place);
            }
            for hour in 0..HOURS {
                let saw = |seen: &[usize]| seen.iter().map(|it| at(&days[*it].measured, hour)).sum::<i64>();
                if let Some(seen) = meters.values().rev().max_by_key(|seen| saw(seen)) {
                    fill(&mut days, hour, &jobs, seen, named);
                }
            }
        }
    }
    days.retain(|day| !is_of_meter(day));
    days
}

/// `jobs`, `seen`: places of what jobs held, and of what a meter saw, of a machine on a day.
fn fill(days: &mut [HeldDay], hour: usize, jobs: &[usize], seen: &[usize], named: &BTreeMap<i64, Vec<i64>>) {
    let (mut measured, mut busy) = (0, 0);
    for place in seen {
        let day = &days[*place];
        let saw = (at(&day.measured, hour), at(&day.busy, hour));
        match named.get(&day.job_no) {
            Some(candidates) => {
                let of_job: Vec<usize> =
                    jobs.iter().copied().filter(|job| candidates.contains(&days[*job].job_no)).collect();
                share(days, &of_job, hour, saw);
            }
            None if day.job_no == SEEN || day.job_no == NOBODY => {
                (measured, busy) = (measured + saw.0, busy + saw.1);
            }
            None => {}
        }
    }
    share(days, jobs, hour, (measured, busy));
}

/// Shares what was measured in an hour, and what of that was at work, among what these jobs held that is not measured.
fn share(days: &mut [HeldDay], jobs: &[usize], hour: usize, (measured, busy): (i64, i64)) {
    let unmeasured = |day: &HeldDay| (at(&day.held, hour) - at(&day.measured, hour)).max(0);
    let all: i64 = jobs.iter().map(|job| unmeasured(&days[*job])).sum();
    let measured = measured.min(all);
    let busy = busy.min(measured);
    if measured <= 0 {
        return;
    }
    // Rounded at the sums, so that the parts are exactly what is shared.
    let part = |whole: i64, of: i64| {
        i64::try_from(i128::from(whole) * i128::from(of) / i128::from(all)).unwrap_or(0)
    };
    let mut before = 0;
    for job in jobs {
        let upto = before + unmeasured(&days[*job]);
        add(&mut days[*job].measured, hour, part(measured, upto) - part(measured, before));
        add(&mut days[*job].busy, hour, part(busy, upto) - part(busy, before));
        before = upto;
    }
}

fn at(hours: &[i32], hour: usize) -> i64 {
    hours.get(hour).copied().unwrap_or(0).into()
}

fn add(hours: &mut [i32], hour: usize, milliseconds: i64) {
    if let (Some(of_hour), Ok(milliseconds)) = (hours.get_mut(hour), i32::try_from(milliseconds)) {
        *of_hour = of_hour.saturating_add(milliseconds);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: i32 = 3_600_000;

    fn node(node_id: i64, kind: &str, name: &str, resource: Option<&str>) -> Node {
        Node {
            node_id,
            source_id: node_id,
            source: kind.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            resource: resource.map(str::to_owned),
            is_entered: false,
            names_holders: false,
            is_ambiguous: false,
        }
    }

    /// Node 1 of Slurm and node 2 of a meter are one machine.
    fn nodes() -> [Node; 3] {
        [
            node(1, "slurm", "gpu-01", Some("i-1")),
            node(2, "prometheus", "ip-10-0-0-1", Some("i-1")),
            node(3, "prometheus", "gpu-03", None),
        ]
    }

    fn day(node_id: i64, job_no: i64, hours: [i32; 3]) -> HeldDay {
        let of = |value: i32| {
            let mut hours = vec![0; HOURS];
            hours[9] = value;
            hours
        };
        let [held, measured, busy] = hours;
        HeldDay {
            day: "2026-09-01".parse().unwrap(),
            node_id,
            job_no,
            held: of(held),
            measured: of(measured),
            busy: of(busy),
        }
    }

    fn texts(days: &[HeldDay]) -> Vec<(i64, i32, i32, i32)> {
        days.iter().map(|it| (it.job_no, it.held[9], it.measured[9], it.busy[9])).collect()
    }

    #[test]
    fn jobs_share_what_meters_saw_of_their_machine() {
        // Two jobs of four and two, on eight that a meter saw, of which three were at work.
        let days = vec![
            day(1, 7, [4 * HOUR, 0, 0]),
            day(1, 8, [2 * HOUR, 0, 0]),
            day(2, SEEN, [8 * HOUR, 8 * HOUR, 3 * HOUR]),
        ];
        let found = measured(days, &nodes(), &BTreeMap::new());
        assert_eq!(texts(&found), [(7, 4 * HOUR, 4 * HOUR, 2 * HOUR), (8, 2 * HOUR, 2 * HOUR, HOUR)]);
    }

    #[test]
    fn two_meters_of_a_machine_saw_the_same_accelerators() {
        let nodes = [&nodes()[..], &[node(4, "nvidia-smi", "i-1", Some("i-1"))]].concat();
        let days = vec![
            day(1, 7, [4 * HOUR, 0, 0]),
            day(2, SEEN, [8 * HOUR, 8 * HOUR, 2 * HOUR]),
            day(4, SEEN, [8 * HOUR, 8 * HOUR, 2 * HOUR]),
        ];
        assert_eq!(texts(&measured(days, &nodes, &BTreeMap::new())), [(7, 4 * HOUR, 4 * HOUR, 2 * HOUR)]);
    }

    #[test]
    fn what_a_meter_names_is_that_jobs_and_no_others() {
        let named = BTreeMap::from([(100, vec![7, 70]), (101, vec![])]);
        let days = vec![
            day(1, 7, [4 * HOUR, 0, 0]),
            day(1, 8, [4 * HOUR, 0, 0]),
            day(2, 100, [4 * HOUR, 4 * HOUR, 4 * HOUR]),
            day(2, 101, [2 * HOUR, 2 * HOUR, 2 * HOUR]),
            day(2, NOBODY, [2 * HOUR, 2 * HOUR, 0]),
        ];
        let found = measured(days, &nodes(), &named);
        assert_eq!(
            texts(&found),
            [(7, 4 * HOUR, 4 * HOUR, 4 * HOUR), (8, 4 * HOUR, 2 * HOUR, 0), (NOBODY, 2 * HOUR, 2 * HOUR, 0)]
        );
    }

    #[test]
    fn what_the_scheduler_says_and_other_machines_stay() {
        let days = vec![
            day(1, 7, [4 * HOUR, 4 * HOUR, HOUR]),
            day(2, SEEN, [8 * HOUR, 8 * HOUR, 8 * HOUR]),
            day(3, 9, [HOUR, 0, 0]),
            day(3, NOBODY, [HOUR, HOUR, HOUR]),
        ];
        let found = measured(days, &nodes(), &BTreeMap::new());
        // A pod that was not measured is not as busy as what nobody held.
        assert_eq!(
            texts(&found),
            [(7, 4 * HOUR, 4 * HOUR, HOUR), (9, HOUR, 0, 0), (NOBODY, HOUR, HOUR, HOUR)]
        );
    }

    proptest! {
        #[test]
        fn no_more_is_measured_than_was_held_or_seen(
            held in proptest::collection::vec(0..8 * HOUR, 1..5),
            seen in 0..64 * HOUR,
            busy in 0..64 * HOUR,
        ) {
            let busy = busy.min(seen);
            let mut days: Vec<HeldDay> = (1..).zip(&held).map(|(job, held)| day(1, job, [*held, 0, 0])).collect();
            days.push(day(2, SEEN, [seen, seen, busy]));
            let found = measured(days, &nodes(), &BTreeMap::new());
            let sum = |of: fn(&HeldDay) -> i32| found.iter().map(|it| i64::from(of(it))).sum::<i64>();
            let (all, measured) = (sum(|it| it.held[9]), sum(|it| it.measured[9]));
            prop_assert_eq!(measured, all.min(seen.into()));
            prop_assert_eq!(sum(|it| it.busy[9]), measured.min(busy.into()));
            for it in &found {
                prop_assert!(0 <= it.busy[9] && it.busy[9] <= it.measured[9] && it.measured[9] <= it.held[9]);
            }
        }
    }
}
