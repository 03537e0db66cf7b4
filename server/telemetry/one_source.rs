//! Of several sources that say who held a machine in an hour one counts, so that nothing is counted twice. Pure.
//!
//! A pod that Prometheus and OpenCost describe is two jobs, and its accelerators were held once. What counts is the scheduler's word,
//! else that of the meter that sees most of an accelerator: of one kind the source that was known first.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::NaiveDate;

use super::hours::HOURS;
use super::read::{HeldDay, Node};

/// The kinds of sources, those first that count before others.
const KINDS: [&str; 5] = ["slurm", "prometheus", "csv", "openshift", "opencost"];

/// Leaves out what other sources say of a machine and an hour than the one that counts.
pub fn of_one_source(days: &mut Vec<HeldDay>, nodes: &[Node]) {
    let nodes: HashMap<i64, &Node> = nodes.iter().map(|node| (node.node_id, node)).collect();
    let mut machines: BTreeMap<(String, NaiveDate), Vec<usize>> = BTreeMap::new();
    for (place, day) in days.iter().enumerate() {
        if let Some(node) = nodes.get(&day.node_id) {
            machines.entry((node.machine(), day.day)).or_default().push(place);
        }
    }
    let mut left_out: BTreeSet<usize> = BTreeSet::new();
    for places in machines.into_values() {
        let source = |place: &usize| {
            let node = nodes[&days[*place].node_id];
            (KINDS.iter().position(|kind| *kind == node.kind), node.source_id)
        };
        let sources: Vec<_> = places.iter().map(source).collect();
        if sources.iter().collect::<BTreeSet<_>>().len() < 2 {
            continue;
        }
        for hour in 0..HOURS {
            let of_hour = places.iter().zip(&sources).filter(|(place, _)| held(&days[**place], hour) > 0);
            let Some(counts) = of_hour.map(|(_, source)| *source).min_by_key(rank) else { continue };
            for (place, _) in places.iter().zip(&sources).filter(|(_, source)| **source != counts) {
                let day = &mut days[*place];
                if held(day, hour) > 0 {
                    left_out.insert(*place);
                }
                for hours in [&mut day.held, &mut day.measured, &mut day.busy] {
                    if let Some(of_hour) = hours.get_mut(hour) {
                        *of_hour = 0;
                    }
                }
            }
        }
    }
    // A job that held nothing at all stays.
    let mut place = 0..;
    days.retain(|day| {
        let is_left_out = place.next().is_some_and(|place| left_out.contains(&place));
        !is_left_out || day.held.iter().any(|held| *held > 0)
    });
}

/// A kind that has no place comes last.
fn rank((kind, source): &(Option<usize>, i64)) -> (usize, i64) {
    (kind.unwrap_or(KINDS.len()), *source)
}

fn held(day: &HeldDay, hour: usize) -> i32 {
    day.held.get(hour).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(node_id: i64, kind: &str, resource: &str) -> Node {
        Node {
            node_id,
            source_id: node_id,
            source: String::new(),
            kind: kind.to_owned(),
            name: format!("n{node_id}"),
            resource: Some(resource.to_owned()),
            is_entered: false,
            names_holders: true,
            is_ambiguous: false,
        }
    }

    fn day(node_id: i64, job_no: i64, hours: &[usize]) -> HeldDay {
        let mut held = vec![0; HOURS];
        for hour in hours {
            held[*hour] = 1000;
        }
        let day = "2026-09-01".parse().unwrap();
        HeldDay { day, node_id, job_no, measured: vec![0; HOURS], busy: vec![0; HOURS], held }
    }

    /// Job and hours.
    fn counted(mut days: Vec<HeldDay>, nodes: &[Node]) -> Vec<(i64, Vec<usize>)> {
        of_one_source(&mut days, nodes);
        let hours = |day: &HeldDay| (0..HOURS).filter(|hour| held(day, *hour) > 0).collect();
        days.iter().map(|day| (day.job_no, hours(day))).collect()
    }

    #[test]
    fn a_pod_that_two_meters_describe_counts_once() {
        let nodes = [node(1, "opencost", "i-1"), node(2, "prometheus", "i-1"), node(3, "opencost", "i-2")];
        let days = vec![day(1, 7, &[8, 9, 10]), day(2, 8, &[9, 10]), day(2, 9, &[10]), day(3, 10, &[9])];
        let expected = [(7, vec![8]), (8, vec![9, 10]), (9, vec![10]), (10, vec![9])];
        assert_eq!(counted(days, &nodes), expected);
    }

    #[test]
    fn a_scheduler_counts_before_meters_and_of_one_kind_the_first_source() {
        let nodes = [node(1, "prometheus", "i-1"), node(2, "prometheus", "I-1"), node(3, "slurm", "i-1")];
        let days = vec![day(1, 7, &[9, 10]), day(2, 8, &[9, 10, 11]), day(3, 9, &[9])];
        assert_eq!(counted(days, &nodes), [(7, vec![10]), (8, vec![11]), (9, vec![9])]);
    }
}
