//! What is known of who held accelerators, with what their machines are charged.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use super::machine_rows::FindMachineRows;
use crate::period::Period;
use crate::report::{Answers, Error, Question};
use crate::telemetry::read::{self, HeldDay, Node};
use crate::telemetry::share::Paid;
use crate::telemetry::{MachineUsage, by_machine};

/// Milliseconds of a job on a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub held: i128,
    pub measured: i128,
    pub busy: i128,
}

impl Sums {
    pub fn plus(&mut self, other: Self) {
        self.held += other.held;
        self.measured += other.measured;
        self.busy += other.busy;
    }

    pub fn add(&mut self, day: &HeldDay) {
        let sum = |hours: &[i32]| hours.iter().map(|it| i128::from(*it)).sum::<i128>();
        self.held += sum(&day.held);
        self.measured += sum(&day.measured);
        self.busy += sum(&day.busy);
    }
}

/// What is known of the usage of a period.
pub(super) struct Usage {
    pub nodes: BTreeMap<i64, Node>,
    pub days: Vec<HeldDay>,
    /// By machine.
    pub rows: BTreeMap<String, Vec<Paid>>,
    /// Of which times a source says everything.
    pub coverage: BTreeMap<i64, Vec<Range<DateTime<Utc>>>>,
}

impl Answers {
    pub(super) async fn usage(
        &self,
        db: &mut PgConnection,
        question: &Question,
        sequence: i64,
        nodes: Vec<Node>,
        days: Vec<HeldDay>,
    ) -> Result<Usage, Error> {
        let resources: BTreeSet<String> = nodes.iter().filter_map(|it| it.resource.clone()).collect();
        let mut rows: BTreeMap<String, Vec<Paid>> = BTreeMap::new();
        if !resources.is_empty() {
            let find = FindMachineRows { resources: resources.into_iter().collect() };
            // What is made of them is remembered, and they are not.
            for row in self.ask_once(db, question, sequence, find).await?.0 {
                rows.entry(row.resource).or_default().push(row.paid);
            }
        }
        let coverage = read::coverage(&mut *db, sequence).await?;
        Ok(Usage {
            nodes: nodes.into_iter().map(|node| (node.node_id, node)).collect(),
            days,
            rows,
            coverage,
        })
    }
}

impl Usage {
    pub fn by_machine(&self, period: Period) -> BTreeMap<String, MachineUsage> {
        by_machine(&self.days, self.nodes.values(), &self.coverage, period.days().start, true)
    }
}
