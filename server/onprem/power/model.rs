//! The draw of nodes that nobody measures.

use std::collections::BTreeMap;
use std::ops::Range;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::Reading;
use super::interval::start_of;
use super::problem::{Problem, fits, kilowatts};
use crate::money::Decimal;

/// `P = idle + (load − idle) · u` for each node that is on, all day long. It stands for meters at the machines
/// ([`MeterLocation::It`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// How many nodes are on from a day to the next that is named; before the first, none.
    pub nodes: BTreeMap<NaiveDate, u32>,
    /// kW that a node draws when it is idle.
    pub idle_kw: Decimal,
    /// kW under load: what was measured, not what the plate says.
    pub load_kw: Decimal,
    /// The share of all hours, nights and outages included, that a node is under load: 0 to 1.
    pub utilization: Decimal,
}

/// What the readings of a model are said to come from.
const METER: &str = "model";
/// Nobody has more nodes in a cluster.
const MOST_NODES: u32 = 1_000_000;

impl Model {
    /// What a node draws in the mean, in kW.
    ///
    /// # Errors
    /// Everything that is wrong with the model.
    pub fn kilowatts_per_node(&self) -> Result<Decimal, Vec<Problem>> {
        let Self { idle_kw, load_kw, utilization, ref nodes } = *self;
        let mut problems = Vec::new();
        problems.extend(kilowatts("idle_kw", idle_kw));
        problems.extend(kilowatts("load_kw", load_kw));
        if load_kw < idle_kw {
            problems.push(Problem::new(
                "load_kw",
                load_kw,
                format!("no less than the {idle_kw} kW of an idle node"),
            ));
        }
        let is_share =
            !utilization.is_negative() && utilization <= Decimal::from(1) && fits(utilization, 1, 6);
        if !is_share {
            let expected = "a share from 0 to 1 such as 0.76, of at most 6 digits after the point";
            problems.push(Problem::new("utilization", utilization, expected));
        }
        if let Some(most) = nodes.values().copied().max().filter(|most| *most > MOST_NODES) {
            problems.push(Problem::new("nodes", most, format!("at most {MOST_NODES} nodes")));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok((idle_kw + (load_kw - idle_kw).multiply(utilization)).normalize())
    }

    /// How many nodes are on that day.
    pub fn nodes_on(&self, day: NaiveDate) -> u32 {
        self.nodes.range(..=day).next_back().map_or(0, |(_, nodes)| *nodes)
    }

    /// One reading for each day on which nodes are on, the same in each of its 24 hours.
    ///
    /// # Errors
    /// Everything that is wrong with the model.
    pub fn readings(&self, days: Range<NaiveDate>) -> Result<Vec<Reading>, Vec<Problem>> {
        let each = self.kilowatts_per_node()?;
        let days = days.start.iter_days().take_while(|day| *day < days.end);
        let reading = |day: NaiveDate| Reading {
            meter: METER.to_owned(),
            from: start_of(day),
            until: start_of(day) + chrono::TimeDelta::days(1),
            kwh: each.times(i64::from(self.nodes_on(day)) * 24),
        };
        Ok(days.filter(|day| self.nodes_on(*day) > 0).map(reading).collect())
    }

    /// What the nodes that are on that day draw if all of them are under load together, in kW.
    pub fn at_work(&self, day: NaiveDate) -> Decimal {
        self.load_kw.times(i64::from(self.nodes_on(day)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn model(idle: &str, load: &str, utilization: &str) -> Model {
        let [idle_kw, load_kw, utilization] = [idle, load, utilization].map(|text| text.parse().unwrap());
        Model {
            nodes: [(day("2026-09-03"), 8), (day("2026-09-20"), 6)].into(),
            idle_kw,
            load_kw,
            utilization,
        }
    }

    #[test]
    fn nodes_draw_what_they_draw_idle_and_a_share_of_the_rest() {
        let model = model("2.1", "8.4", "0.8");
        assert_eq!(model.kilowatts_per_node().unwrap().to_string(), "7.14");
        let readings = model.readings(day("2026-09-01")..day("2026-10-01")).unwrap();
        // 8 nodes from the third to the nineteenth, then 6; nothing before.
        assert_eq!(readings.len(), 28);
        assert_eq!(readings[0].kwh.to_string(), "1370.88");
        assert_eq!(
            (readings[0].from.to_rfc3339(), readings[0].until.to_rfc3339()),
            ("2026-09-03T00:00:00+00:00".into(), "2026-09-04T00:00:00+00:00".into())
        );
        assert_eq!(readings[17].kwh.to_string(), "1028.16");
    }

    #[test]
    fn it_says_what_is_wrong_with_a_model() {
        for (idle, load, utilization, problem) in [
            ("-1", "8.4", "0.8", r#"idle_kw: found "-1", expected kilowatts such as 8.4"#),
            (
                "2.1",
                "1.9",
                "0.8",
                r#"load_kw: found "1.9", expected no less than the 2.1 kW of an idle node"#,
            ),
            ("2.1", "8.4", "80", r#"utilization: found "80", expected a share from 0 to 1"#),
            ("2.1", "8.4", "-0.1", r#"utilization: found "-0.1""#),
            ("2.1", "8.40000001", "0.8", r#"load_kw: found "8.40000001""#),
        ] {
            let problems = model(idle, load, utilization).kilowatts_per_node().unwrap_err();
            assert!(problems[0].to_string().starts_with(problem), "{problems:?}");
            assert_eq!(problems.len(), 1);
        }
        let crowd = Model { nodes: [(day("2026-09-03"), 1_000_001)].into(), ..model("1", "2", "1") };
        assert!(crowd.readings(day("2026-09-01")..day("2026-10-01")).is_err());
    }
}
