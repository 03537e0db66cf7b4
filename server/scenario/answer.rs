//! All that a scenario is answered with: what each option costs, how far the cheapest is ahead, what moves that, and what
//! it comes to with everything uncertain at once. A page, its files and the command line hand out the same.

use serde::Serialize;

use super::check::Refused;
use super::comparison::{Comparison, Scenario};
use super::uncertainty::lead::lead;
use super::uncertainty::simulate::simulate;
use super::uncertainty::{Lead, Model, Simulation, Swing, Turn, changed, inputs};

/// Draws of the range: shares of them are sure to about half a percent.
const DRAWS: u32 = 10_000;

/// Numbers that would turn the answer, of which so many are told and at most so many are tried.
const TOLD: usize = 3;
const TRIED: usize = 6;

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
            lead.turns = that_hold(scenario, lead);
        }
        let simulation = simulate(&comparison, &model, (scenario.seed.into(), DRAWS));
        Ok(Self { lead, swings: model.swings(), simulation, comparison })
    }
}

/// What turns the answer while all stays as it was decided, and does so, too, where that is decided anew: a base that got
/// dearer may be a smaller one, and still cost least.
fn that_hold(scenario: &Scenario, lead: &Lead) -> Vec<Turn> {
    let held = lead.turns.iter().take(TRIED).filter_map(|turn| {
        // A price list has no exact answer at another value, and decides nothing.
        let Some(changed) = changed(scenario, &turn.input, turn.beyond()) else { return Some(turn.clone()) };
        let to = changed.compare().ok()?.cheapest.filter(|it| *it != lead.cheapest)?;
        Some(Turn { to, ..turn.clone() })
    });
    held.take(TOLD).collect()
}
