//! All that a scenario is answered with: what each option costs, how far the cheapest is ahead, what moves that, and what
//! it amounts to with everything uncertain at once. A page, its files and the command line hand out the same.

use serde::Serialize;

use super::check::Refused;
use super::comparison::{Comparison, Scenario};
use super::uncertainty::break_points::break_points;
use super::uncertainty::cheapest_option::cheapest_option;
use super::uncertainty::simulate::simulate;
use super::uncertainty::{CheapestOption, Model, Sensitivity, Simulation, inputs};

/// Simulations of the range: shares of them are sure to about half a percent.
const SIMULATIONS: u32 = 10_000;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    pub comparison: Comparison,
    /// None where fewer than two options do the work.
    #[serde(rename = "lead")]
    pub cheapest_option: Option<CheapestOption>,
    /// What moves each option's total most first, by the options' places.
    #[serde(rename = "swings")]
    pub sensitivities: Vec<Vec<Sensitivity>>,
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
        let mut cheapest_option = cheapest_option(&comparison, &model);
        if let Some(cheapest_option) = &mut cheapest_option {
            cheapest_option.break_points = break_points(scenario, &comparison, cheapest_option, &model);
        }
        let simulation = simulate(&comparison, &model, (scenario.seed.into(), SIMULATIONS));
        Ok(Self { cheapest_option, sensitivities: model.sensitivities(), simulation, comparison })
    }
}
