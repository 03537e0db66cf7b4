//! All that a scenario is answered with: what each option costs, how far the cheapest is ahead, what moves that, and what
//! it comes to with everything uncertain at once. A page, its files and the command line hand out the same.

use serde::Serialize;

use super::check::Refused;
use super::comparison::{Comparison, Scenario};
use super::uncertainty::anew::turns;
use super::uncertainty::lead::lead;
use super::uncertainty::simulate::simulate;
use super::uncertainty::{Lead, Model, Simulation, Swing, inputs};

/// Draws of the range: shares of them are sure to about half a percent.
const DRAWS: u32 = 10_000;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    pub comparison: Comparison,
    /// None where fewer than two options do the work.
    pub lead: Option<Lead>,
    /// What moves each option's total most first, by the options' places.
    pub swings: Vec<Vec<Swing>>,
    pub simulation: Simulation,
}

impl Answer {
    /// Compares, and says how sure that is.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn of(scenario: &Scenario) -> Result<Self, Refused> {
        let comparison = scenario.compare()?;
        let model = Model::new(scenario, &comparison, &inputs(scenario));
        let mut lead = lead(&comparison, &model);
        if let Some(lead) = &mut lead {
            lead.turns = turns(scenario, &comparison, lead, &model);
        }
        let simulation = simulate(&comparison, &model, (scenario.seed.into(), DRAWS));
        Ok(Self { lead, swings: model.swings(), simulation, comparison })
    }
}
