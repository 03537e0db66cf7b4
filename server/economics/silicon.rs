//! Moving work to a cloud's own chips: what porting costs, and when it is repaid.
//!
//! - porting = engineer-weeks × loaded cost of a year ÷ 52
//! - saved a month = spend × saving × share of the work that can move; less upkeep = porting × share that is ported anew ×
//!   releases a year ÷ 12
//! - running both, for so many months, costs spend × share that can move × (1 − saving) in each: the new chips beside the
//!   old
//! - months to repay = (porting + running both) ÷ (saved − upkeep); never, where nothing is left
//! - expected value = chance × Σ (saved − upkeep) − porting − running both, over so many months, discounted if money costs
//! - least monthly spend that is repaid within so many months = (porting + months × upkeep) ÷ (share that can move ×
//!   (months × saving − months of both × (1 − saving)))
//!
//! The saving must be of the same work, measured on both: an hour of a chip says nothing.

use serde::{Deserialize, Serialize};

use super::check::{self, Finding, Refused};
use super::figure::{Figure, Term, Unit, figure, term};
use super::owning::capital::capital_recovery_factor;
use crate::money::Decimal;
use crate::money::arithmetic::{count, decimal, growth, one, product, quotient};

/// What is to be moved, and what that takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Porting {
    /// B, money a month for accelerators. 20,000.
    pub spend: Decimal,
    /// s, of the same work. 0.40; 0.30 to 0.50 are claimed by those who sell the chips.
    pub saving: Decimal,
    /// Share of the spend whose work can move. 1.
    pub coverage: Decimal,
    /// w. 26, an assumption.
    pub engineer_weeks: Decimal,
    /// Money a year for an engineer, with everything. 250,000: what is common for such staff.
    pub loaded_cost: Decimal,
    /// Chance that it works at all. 0.8: of models, by hearsay, a fifth do not.
    pub chance: Decimal,
    /// Months in which both are paid. 0.
    pub months_of_both: Decimal,
    /// 0.
    pub releases_per_year: Decimal,
    /// Of the porting, what each release takes again. 0.
    pub ported_anew: Decimal,
    /// Months that the saving is counted for. 24.
    pub months: u32,
    /// What money costs in a year. 0: a saving that comes later is worth as much.
    pub cost_of_capital: Decimal,
}

impl Default for Porting {
    fn default() -> Self {
        Self {
            spend: 20_000.into(),
            saving: decimal(40, 2),
            coverage: one(),
            engineer_weeks: 26.into(),
            loaded_cost: 250_000.into(),
            chance: decimal(80, 2),
            months_of_both: Decimal::ZERO,
            releases_per_year: Decimal::ZERO,
            ported_anew: Decimal::ZERO,
            months: 24,
            cost_of_capital: Decimal::ZERO,
        }
    }
}

/// What moving amounts to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ported {
    /// Money for a week of an engineer.
    pub week: Figure,
    pub porting: Figure,
    pub both: Figure,
    /// What is left of the saving in a month, after upkeep.
    pub saved: Figure,
    /// Undefined where it is never repaid.
    pub months: Figure,
    pub expected_value: Figure,
    /// The least spend a month that is repaid within the months. Undefined where none is.
    pub least_spend: Figure,
    pub warnings: Vec<Finding>,
}

impl Porting {
    fn week(&self) -> Decimal {
        quotient(self.loaded_cost, 52.into()).unwrap_or_default()
    }

    /// An engineer's week, and the porting that takes so many of them.
    pub(super) fn work(&self) -> [Figure; 2] {
        [
            figure(
                "An engineer’s week",
                Some(self.week()),
                Unit::MoneyPerWeek,
                "loaded cost ÷ 52",
                vec![term("loaded cost", self.loaded_cost, Unit::MoneyPerYear)],
            ),
            figure(
                "Porting",
                Some(self.porting()),
                Unit::Money,
                "engineer-weeks × week",
                vec![
                    term("engineer-weeks", self.engineer_weeks, Unit::Weeks),
                    term("week", self.week(), Unit::MoneyPerWeek),
                ],
            ),
        ]
    }

    pub(super) fn porting(&self) -> Decimal {
        quotient(product(&[self.engineer_weeks, self.loaded_cost]), 52.into()).unwrap_or_default()
    }

    fn both(&self) -> Decimal {
        product(&[self.months_of_both, self.spend, self.coverage, one() - self.saving])
    }

    /// Money a month.
    pub(super) fn upkeep(&self) -> Decimal {
        let yearly = product(&[self.porting(), self.ported_anew, self.releases_per_year]);
        quotient(yearly, 12.into()).unwrap_or_default()
    }

    fn saved(&self) -> Decimal {
        product(&[self.spend, self.saving, self.coverage]) - self.upkeep()
    }

    /// What a unit of money at the end of each month is worth now.
    fn today(&self) -> Decimal {
        if self.months == 0 {
            return Decimal::ZERO;
        }
        let twelfth = quotient(one(), 12.into()).unwrap_or_default();
        let monthly = growth(self.cost_of_capital, twelfth) - one();
        let factor = capital_recovery_factor(monthly, count(self.months));
        factor.and_then(|factor| quotient(one(), factor)).unwrap_or_default()
    }

    fn least_spend(&self) -> Option<Decimal> {
        let months = count(self.months);
        let saved = product(&[months, self.saving]) - product(&[self.months_of_both, one() - self.saving]);
        let each = product(&[self.coverage, saved]);
        let cost = self.porting() + product(&[months, self.upkeep()]);
        if each > Decimal::ZERO { quotient(cost, each) } else { None }
    }

    /// What moving amounts to.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn cost(&self) -> Result<Ported, Refused> {
        let warnings = check::porting(self).warnings_or_refused()?;
        let (porting, both, saved) = (self.porting(), self.both(), self.saved());
        let money = |name, value| term(name, value, Unit::Money);
        let monthly = |name, value| term(name, value, Unit::MoneyPerMonth);
        let share = |name, value| term(name, value, Unit::Share);
        let months = term("months", count(self.months), Unit::Months);
        let spend = |mut more: Vec<Term>| {
            more.insert(0, monthly("spend", self.spend));
            more.insert(1, share("saving", self.saving));
            more.insert(2, share("share that can move", self.coverage));
            more
        };
        let today = self.today();
        let cost = porting + both;
        let [week, porting_figure] = self.work();
        Ok(Ported {
            week,
            porting: porting_figure,
            both: figure(
                "Running both",
                Some(both),
                Unit::Money,
                "months of both × spend × share that can move × (1 − saving)",
                spend(vec![term("months of both", self.months_of_both, Unit::Months)]),
            ),
            saved: figure(
                "Saved in a month",
                Some(saved),
                Unit::MoneyPerMonth,
                "spend × saving × share that can move − upkeep",
                spend(vec![monthly("upkeep", self.upkeep())]),
            ),
            months: figure(
                "Months until it is repaid",
                if saved > Decimal::ZERO { quotient(cost, saved) } else { None },
                Unit::Months,
                "(porting + running both) ÷ saved",
                vec![money("porting", porting), money("running both", both), monthly("saved", saved)],
            ),
            expected_value: figure(
                "Expected value",
                Some(product(&[self.chance, saved, today]) - cost),
                Unit::Money,
                "chance × saved × months, as worth today − porting − running both",
                vec![
                    share("chance", self.chance),
                    monthly("saved", saved),
                    term("months, as worth today", today, Unit::Months),
                    money("porting", porting),
                    money("running both", both),
                ],
            ),
            least_spend: figure(
                "Least spend that is repaid in time",
                self.least_spend(),
                Unit::MoneyPerMonth,
                "(porting + months × upkeep) ÷ (share that can move × (months × saving − months of both × (1 − \
                 saving)))",
                vec![
                    money("porting", porting),
                    months,
                    monthly("upkeep", self.upkeep()),
                    share("share that can move", self.coverage),
                    share("saving", self.saving),
                    term("months of both", self.months_of_both, Unit::Months),
                ],
            ),
            warnings,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::money::number;

    fn of(figure: &Figure) -> String {
        figure.value.unwrap().round(4).to_string()
    }

    #[test]
    fn half_a_year_of_an_engineer_is_repaid_after_fifteen_months() {
        let ported = Porting::default().cost().unwrap();
        assert_eq!(of(&ported.week), "4807.6923");
        assert_eq!((of(&ported.porting), of(&ported.months)), ("125000.0000".into(), "15.6250".into()));
        assert_eq!(of(&ported.expected_value), "28600.0000");
        let year = Porting { months: 12, ..Porting::default() }.cost().unwrap();
        assert_eq!(of(&year.least_spend), "26041.6667");
    }

    #[test]
    fn running_both_and_porting_anew_take_longer() {
        let both = Porting { months_of_both: 2.into(), ..Porting::default() }.cost().unwrap();
        // 149,000 ÷ 8,000.
        assert_eq!((of(&both.both), of(&both.months)), ("24000.0000".into(), "18.6250".into()));
        let anew = Porting { releases_per_year: 2.into(), ported_anew: number("0.1"), ..Porting::default() };
        assert_eq!(of(&anew.cost().unwrap().saved), "5916.6667");
        let always = Porting { releases_per_year: 12.into(), ported_anew: one(), ..anew };
        assert_eq!(always.cost().unwrap().months.value, None);
    }

    #[test]
    fn money_that_costs_makes_later_savings_worth_less() {
        let free = Porting::default().cost().unwrap().expected_value.value.unwrap();
        let dear = Porting { cost_of_capital: number("0.1"), ..Porting::default() };
        let dear = dear.cost().unwrap().expected_value.value.unwrap();
        assert!(dear < free && dear > Decimal::ZERO);
        let none = Porting { months: 0, ..Porting::default() }.cost().unwrap();
        assert_eq!(of(&none.expected_value), "-125000.0000");
        assert_eq!(none.least_spend.value, None);
    }

    #[test]
    fn what_cannot_be_is_refused_and_what_is_odd_is_reported() {
        for (field, it) in [
            ("saving", Porting { saving: 40.into(), ..Porting::default() }),
            ("chance", Porting { chance: number("1.2"), ..Porting::default() }),
            ("months", Porting { months: 2000, ..Porting::default() }),
            ("engineer_weeks", Porting { engineer_weeks: (-1).into(), ..Porting::default() }),
        ] {
            assert_eq!(it.cost().unwrap_err().0[0].field, field);
        }
        let bold = Porting { saving: number("0.9"), ..Porting::default() }.cost().unwrap();
        assert_eq!(bold.warnings[0].field, "saving");
    }

    prop_compose! {
        fn portings()(spend in 1i64..1_000_000, saving in 1i64..100, coverage in 1i64..=100, weeks in 1i64..500, both in 0i64..12, months in 1u32..120) -> Porting {
            Porting {
                spend: spend.into(), saving: decimal(saving, 2), coverage: decimal(coverage, 2),
                engineer_weeks: weeks.into(), months_of_both: both.into(), months, ..Porting::default()
            }
        }
    }

    proptest! {
        #[test]
        fn without_a_saving_it_is_never_repaid(it in portings()) {
            let none = Porting { saving: Decimal::ZERO, ..it }.cost().unwrap();
            prop_assert_eq!(none.months.value, None);
        }

        #[test]
        fn without_a_chance_its_value_is_what_it_cost(it in portings()) {
            let none = Porting { chance: Decimal::ZERO, ..it.clone() }.cost().unwrap();
            prop_assert_eq!(none.expected_value.value.unwrap(), -(it.porting() + it.both()));
        }

        #[test]
        fn months_grow_with_weeks_and_shrink_with_spend(it in portings()) {
            let it = Porting { months_of_both: Decimal::ZERO, ..it };
            let months = |it: &Porting| it.cost().unwrap().months.value.unwrap();
            let close = |a: Decimal, b: Decimal| (a - b).abs() <= product(&[a.abs(), Decimal::new(1, 12)]) + Decimal::new(1, 15);
            let twice = |value: Decimal| value.times(2);
            let longer = Porting { engineer_weeks: twice(it.engineer_weeks), ..it.clone() };
            prop_assert!(close(months(&longer), twice(months(&it))));
            let larger = Porting { spend: twice(it.spend), ..it.clone() };
            prop_assert!(close(twice(months(&larger)), months(&it)));
        }

        #[test]
        fn the_least_spend_is_repaid_in_exactly_the_months(it in portings()) {
            if let Some(spend) = it.cost().unwrap().least_spend.value {
                prop_assume!(spend < 1_000_000_000.into());
                let months = Porting { spend: spend.round(15), ..it.clone() }.cost().unwrap().months.value.unwrap();
                prop_assert!((months - count(it.months)).abs() < Decimal::new(1, 6));
            }
        }
    }
}
