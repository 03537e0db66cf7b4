//! Moving to other chips.

use super::Findings;
use crate::economics::silicon::Porting;
use crate::money::Decimal;
use crate::money::arithmetic::decimal;

/// What is odd about moving work to other chips.
pub fn porting(it: &Porting) -> Findings {
    let mut found = Findings::default();
    found.money("spend", it.spend);
    found.money("loaded_cost", it.loaded_cost);
    if found.part("saving", it.saving) && it.saving > decimal(5, 1) {
        found.warn("saving", it.saving, "vendors claim 0.3 to 0.5; is this measured?");
    }
    found.share("coverage", it.coverage);
    found.share("chance", it.chance);
    found.share("ported_anew", it.ported_anew);
    let mut most = |field: &str, value, most: i64, message: &str| {
        found.between(field, value, Decimal::ZERO, most.into(), message);
    };
    most("engineer_weeks", it.engineer_weeks, 100_000, "expected 0 to 100,000 engineer-weeks");
    most("months_of_both", it.months_of_both, 120, "expected 0 to 120 months");
    most("releases_per_year", it.releases_per_year, 365, "expected 0 to 365 releases a year");
    found.whole("months", it.months, ..=1200, "expected at most 1,200 months");
    found.cost_of_capital(it.cost_of_capital);
    found.sorted()
}
