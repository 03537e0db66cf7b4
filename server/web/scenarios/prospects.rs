//! Figures beside the totals: what a service takes, the capital that an option ties up, and what porting to one amounts to.

use super::super::words::stated;
use super::answer::Answer;
use super::words::whose;
use crate::economics::Figure;

impl Answer {
    /// How many GPUs the users of each work take, step by step.
    pub(super) fn sizing(&self) -> Vec<(String, &Figure)> {
        let of_work = self.comparison.work.iter();
        of_work.flat_map(|it| it.sizing.iter().map(|figure| (it.name.clone(), figure))).collect()
    }

    /// How commitments of each place are used.
    pub(super) fn coverage(&self) -> Vec<(String, &Figure)> {
        let places =
            self.comparison.options.iter().flat_map(|it| it.places.iter().map(move |place| (it, place)));
        places
            .flat_map(|(option, place)| place.coverage.iter().map(move |it| (whose(option, place), it)))
            .collect()
    }

    /// Lock-in of what is owned; and of what something is ported for, against each option that stays as it is, when that
    /// is repaid, what it is worth, and from which spend on it pays.
    pub(super) fn prospects(&self) -> Vec<(String, &Figure)> {
        let options = self.comparison.options.iter();
        let bound = options.flat_map(|option| {
            option.places.iter().filter_map(|place| Some((option.name.clone(), place.lock_in.as_ref()?)))
        });
        let moves = self.comparison.moves.iter().flat_map(|it| {
            let whose = format!("{} against {}", self.option(it.porting).name, self.option(it.staying).name);
            let ported = &it.ported;
            [&ported.months, &ported.expected_value, &ported.least_spend]
                .map(|figure| (whose.clone(), figure))
        });
        bound.chain(moves).collect()
    }

    /// A figure with its unit.
    pub(super) fn described(&self, figure: &Figure) -> String {
        let money = self.currency().to_string();
        figure.value.map_or_else(|| "undefined".to_owned(), |value| stated(value, figure.unit, &money))
    }
}
