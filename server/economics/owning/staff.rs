//! Who runs it. People come one by one, so their cost has steps.

use serde::{Deserialize, Serialize};

use super::Owning;
use crate::money::Decimal;
use crate::money::arithmetic::{count, decimal, product, quotient};

/// Full-time staff by the number of GPUs in service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Staff {
    /// Money for a full-time person and year, with all that comes on top of pay. 250,000: in common use for the US.
    pub loaded_cost: Decimal,
    /// In ascending order. 1.5 people for up to 64 GPUs, 2.5 up to 128, 3.5 up to 256. Those for 64 and 256 are
    /// published, the one between is an assumption.
    pub steps: Vec<Step>,
    /// Beyond the last step one more person for each so many GPUs. 256, an assumption. 0: nobody.
    pub one_more_per: u32,
    /// Months for which they are paid before the cluster runs. 3; 3 to 6 are advised.
    pub months_before: Decimal,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub up_to_gpus: u32,
    pub people: Decimal,
}

impl Default for Staff {
    fn default() -> Self {
        let step = |up_to_gpus, tenths| Step { up_to_gpus, people: decimal(tenths, 1) };
        Self {
            loaded_cost: 250_000.into(),
            steps: vec![step(64, 15), step(128, 25), step(256, 35)],
            one_more_per: 256,
            months_before: 3.into(),
        }
    }
}

impl Staff {
    /// Full-time people for so many GPUs; nobody for none.
    pub fn people(&self, gpus: u32) -> Decimal {
        if gpus == 0 {
            return Decimal::ZERO;
        }
        if let Some(step) = self.steps.iter().find(|step| gpus <= step.up_to_gpus) {
            return step.people;
        }
        let (up_to, people) =
            self.steps.last().map_or((0, Decimal::ZERO), |step| (step.up_to_gpus, step.people));
        match self.one_more_per {
            0 => people,
            per => people + count((gpus - up_to).div_ceil(per)),
        }
    }
}

impl Owning {
    /// GPUs that someone looks after: those of all nodes in service, used or not.
    pub(super) fn people(&self) -> Decimal {
        self.staff.people(self.nodes_in_service().saturating_mul(self.gpus_per_node))
    }

    /// What they are paid before anything runs, once.
    pub(in crate::economics) fn staff_before(&self) -> Decimal {
        let years = quotient(self.staff.months_before, 12.into()).unwrap_or_default();
        product(&[self.people(), self.staff.loaded_cost, years])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_come_in_steps_and_then_by_the_table_s_last_rule() {
        let staff = Staff::default();
        for (gpus, tenths) in
            [(0, 0), (1, 15), (64, 15), (65, 25), (128, 25), (256, 35), (257, 45), (512, 45), (513, 55)]
        {
            assert_eq!(staff.people(gpus), decimal(tenths, 1), "{gpus} GPUs");
        }
    }

    #[test]
    fn without_a_last_rule_nobody_comes_beyond_the_table() {
        let staff = Staff { one_more_per: 0, ..Staff::default() };
        assert_eq!(staff.people(10_000), decimal(35, 1));
        let nobody = Staff { steps: Vec::new(), ..staff };
        assert_eq!(nobody.people(10_000), Decimal::ZERO);
    }

    #[test]
    fn whole_nodes_are_looked_after() {
        // Nine nodes of eight: 72 GPUs, of which 65 are asked for.
        assert_eq!(Owning { gpus: 65, ..Owning::default() }.people(), decimal(25, 1));
    }
}
