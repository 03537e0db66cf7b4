//! Work that has to be ported before it runs in a place, as it has to for other chips.
//!
//! - porting = engineer-weeks × loaded cost of a year ÷ 52, at the start
//! - anew = porting × share that is ported anew × releases a year ÷ 12, in each month
//! - running both = GPU-hours of the work in the first so many months × price where it runs until then, by the month
//!
//! These are costs if it works. Who ports in vain has paid for it and still needs another option: what is expected of both
//! is what the option is ranked by ([`super::fallback`]). What the move is worth, and from which spend on it pays, follows
//! from what both options cost and when that is paid ([`Move`]).

use super::answer::{Moving, OptionAnswer, PortedAnswer};
use super::bill::Bill;
use super::entered::{Port, Scenario};
use crate::economics::cash::{Payback, Payments};
use crate::economics::check;
use crate::economics::figure::{Figure, Unit, figure, term};
use crate::economics::silicon::{Ported, Porting};
use crate::money::Decimal;
use crate::money::arithmetic::{count, one, product, quotient};

impl PortedAnswer {
    fn total(self) -> Decimal {
        self.once + self.anew + self.both
    }
}

impl Bill<'_> {
    /// What people are paid for porting.
    pub(super) fn porting(&mut self) {
        let asked = self.asked();
        let Some(entered) = &asked.place.porting else { return };
        let months = asked.months();
        let [once, monthly] = entered.costs();
        self.pay_first(0, once);
        self.in_vain.at_start_of(0, once);
        let [_, Figure { name, formula, terms, .. }] = entered.porting().work();
        self.line(name, once, formula, terms);
        (0..months).for_each(|month| self.pay_during(month, monthly));
        let terms = vec![
            term("porting", once, Unit::Money),
            term("share that is ported anew", entered.ported_anew, Unit::Share),
            term("releases a year", entered.releases_per_year, Unit::Number),
            term("months in use", count(months), Unit::Months),
        ];
        let cost = product(&[monthly, count(months)]);
        self.line(
            "Porting anew",
            cost,
            "porting × share that is ported anew × releases a year × months in use ÷ 12",
            terms,
        );
        let [both, both_today] = self.running_both(entered);
        self.ported = Some(PortedAnswer { once, anew: cost, both, both_today });
    }

    /// What is paid where the work ran, while it runs here already; and what that is worth today.
    fn running_both(&mut self, entered: &Port) -> [Decimal; 2] {
        let asked = self.asked();
        let worth = quotient(asked.place.performance, asked.place.rework).unwrap_or_else(one);
        let (mut hours, mut cost) = (Decimal::ZERO, Decimal::ZERO);
        let mut payments = Payments::over(asked.months());
        for month in 0..entered.months_of_both.min(asked.months()) {
            let of_month = product(&[asked.hours_of(month), worth]);
            let paid = product(&[of_month, entered.meanwhile.in_month(month)]);
            hours += of_month;
            cost += paid;
            payments.during(month, paid);
        }
        self.in_vain.add(&payments);
        let price = quotient(cost, hours).unwrap_or_default();
        let terms = vec![
            term("months of both", count(entered.months_of_both), Unit::Months),
            term("GPU-hours of the work in them", hours, Unit::Hours),
            term("price where it ran", price, Unit::MoneyPerHour),
        ];
        self.line("Running both", cost, "GPU-hours of the work in them × price where it ran", terms);
        let today = payments.present_value(asked.scenario.cost_of_capital);
        self.pay_for_both(payments);
        [cost, today]
    }
}

impl Scenario {
    /// Each option that one place is ported for, against each that nothing is and that costs more to run, of those that do
    /// the work.
    pub(super) fn moves(&self, options: &[OptionAnswer]) -> Vec<Moving> {
        let mut found = Vec::new();
        for (porting, (entered, option)) in self.options.iter().zip(options).enumerate() {
            let ported = entered.places.iter().zip(&option.places);
            let ported = ported.filter_map(|(place, answer)| Some((place.porting.as_ref()?, answer.ported?)));
            let [(port, cost)] = ported.collect::<Vec<_>>()[..] else { continue };
            if !option.fails.is_empty() {
                continue;
            }
            for (staying, other) in options.iter().enumerate() {
                let stays = other.fails.is_empty() && other.places.iter().all(|it| it.ported.is_none());
                let run = option.total - cost.total();
                let Some(share) = quotient(run, other.total).filter(|_| stays) else { continue };
                let move_it = Move { months: self.months, port, cost, option, other };
                // What saves nothing has nothing to be repaid with.
                if share > Decimal::ZERO && share < one() {
                    found.push(Moving {
                        porting,
                        staying,
                        saving: one() - share,
                        ported: move_it.ported(one() - share),
                    });
                }
            }
        }
        found
    }
}

/// An option that something is ported for, and one that it is not.
struct Move<'a> {
    months: u32,
    port: &'a Port,
    cost: PortedAnswer,
    option: &'a OptionAnswer,
    other: &'a OptionAnswer,
}

impl Move<'_> {
    /// All of it follows from what both options cost and when that is paid:
    ///
    /// - saved a month = (staying − running here − porting anew) ÷ months
    /// - repaid when all that was paid here has come down to what was paid there
    /// - value = chance × (staying − here + porting + running both) − porting − running both, each as what is paid when is
    ///   worth today: who ports in vain has paid for both
    /// - least spend = (porting + porting anew) ÷ (months × (saving − running both ÷ staying)), as running both costs more,
    ///   too, where more is spent
    fn ported(&self, saving: Decimal) -> Ported {
        let PortedAnswer { once, anew, both, both_today } = self.cost;
        let Self { option, other, .. } = self;
        let money = |name, value| term(name, value, Unit::Money);
        let months = || term("months", count(self.months), Unit::Months);
        let share = |name, value| term(name, value, Unit::Share);
        let run = option.total - self.cost.total();
        let saved = quotient(other.total - run - anew, count(self.months));
        let chance = option.chance;
        let (here, there) = (option.present_value, other.present_value);
        let value = product(&[chance, there - here + once + both_today]) - once - both_today;
        let left = saving - quotient(both, other.total).unwrap_or_default();
        let each = product(&[count(self.months), left]);
        let least = if each > Decimal::ZERO { quotient(once + anew, each) } else { None };
        let repaid = match option.payments.payback(&other.payments) {
            Payback::AtOnce => Some(Decimal::ZERO),
            Payback::After { months } | Payback::WithSale { months } => Some(months),
            Payback::Never => None,
        };
        let paid = |it: &OptionAnswer| it.payments.total();
        let [week, porting] = self.port.porting().work();
        Ported {
            week,
            porting,
            both: figure(
                "Running both",
                Some(both),
                Unit::Money,
                "what is paid where it ran, in the months of both",
                vec![term("months of both", count(self.port.months_of_both), Unit::Months)],
            ),
            saved: figure(
                "Saved in a month",
                saved,
                Unit::MoneyPerMonth,
                "(staying − running here − porting anew) ÷ months",
                vec![
                    money("staying", other.total),
                    money("running here", run),
                    money("porting anew", anew),
                    months(),
                ],
            ),
            months: figure(
                "Months until it is repaid",
                repaid,
                Unit::Months,
                "when all that was paid here has come down to what was paid by staying",
                vec![
                    money("porting", once),
                    money("running both", both),
                    money("paid here in all months", paid(option)),
                    money("paid by staying in all months", paid(other)),
                ],
            ),
            expected_value: figure(
                "Expected value",
                Some(value),
                Unit::Money,
                "chance × (staying − here + porting + running both) − porting − running both, as worth today",
                vec![
                    share("chance", chance),
                    money("staying", there),
                    money("here", here),
                    money("porting", once),
                    money("running both", both_today),
                ],
            ),
            least_spend: figure(
                "Least spend that is repaid in time",
                least,
                Unit::MoneyPerMonth,
                "(porting + porting anew) ÷ (months × (saving − running both ÷ staying))",
                vec![
                    money("porting", once),
                    money("porting anew", anew),
                    months(),
                    share("saving", saving),
                    money("running both", both),
                    money("staying", other.total),
                ],
            ),
            warnings: check::porting(&Porting { saving, ..self.port.porting() })
                .warnings_or_refused()
                .unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economics::comparison::Rate;
    use crate::economics::file::read;
    use crate::money::arithmetic::decimal;

    /// 10 GPUs for a year at 3.00, and at 2.00 on chips that do half as much, for 1.00 each.
    fn scenario(porting: &str) -> Scenario {
        let text = format!(
            r#"
months = 12
cost_of_capital = 0
[[work]]
name = "w"
demand = {{ shape = "flat", gpus = 10, hours_per_day = 24 }}
[[option]]
name = "As it is"
place = [{{ on_demand = {{ price = 3 }} }}]
[[option]]
name = "Ported"
place = [{{ performance = 0.5, on_demand = {{ price = 1 }}, porting = {{ engineer_weeks = 5.2, loaded_cost = 100_000, {porting} }} }}]
[[option]]
name = "Cheaper anyway"
place = [{{ on_demand = {{ price = 1.9 }} }}]
"#
        );
        read(&text).unwrap()
    }

    const BOTH: &str = "chance = 1, months_of_both = 3, meanwhile = { price = 3 }";

    #[test]
    fn while_it_runs_in_both_both_are_paid() {
        let found = scenario(BOTH).compare().unwrap().options.remove(1);
        let line = found.lines.iter().find(|it| it.name == "Running both").unwrap();
        // Hours of the work's accelerator, of which one here is worth half.
        assert_eq!(line.cost, (10 * 730 * 3 * 3).into());
        let expected =
            PortedAnswer { once: 10_000.into(), anew: Decimal::ZERO, both: line.cost, both_today: line.cost };
        assert_eq!(found.places[0].ported, Some(expected));
        let paid = |month: usize| found.payments.months()[month].during;
        assert_eq!(paid(2) - paid(3), (10 * 730 * 3).into());
        assert_eq!(found.paid, found.total);
    }

    #[test]
    fn what_is_certain_and_costs_no_interest_is_worth_the_difference_of_the_totals() {
        let compared = scenario(BOTH).compare().unwrap();
        // Against what costs less anyway nothing is repaid.
        let [moving] = &compared.moves[..] else { panic!("{:?}", compared.moves) };
        assert_eq!((moving.porting, moving.staying), (1, 0));
        let value = moving.ported.expected_value.value.unwrap();
        let difference = compared.options[0].total - compared.options[1].total;
        assert!((value - difference).abs() < decimal(1, 6), "{value} is not {difference}");
        assert_eq!(moving.ported.least_spend.terms.len(), 6);
    }

    #[test]
    fn from_the_least_spend_on_it_is_repaid_in_time() {
        let compared = scenario("releases_per_year = 2, ported_anew = 0.1").compare().unwrap();
        let [moving] = &compared.moves[..] else { panic!("{:?}", compared.moves) };
        let least = moving.ported.least_spend.value.unwrap();
        let saved = product(&[least, moving.saving, 12.into()]);
        let paid = compared.options[1].places[0].ported.unwrap().total();
        assert!((saved - paid).abs() < decimal(1, 6), "{saved} is not {paid}");
    }

    #[test]
    fn releases_and_a_price_that_moves_while_it_runs_in_both_are_counted_as_they_are_paid() {
        let moving = "chance = 1, releases_per_year = 2, ported_anew = 0.1, months_of_both = 3, meanwhile = { price = 3 }";
        let mut entered = scenario(moving);
        let port = entered.options[1].places[0].porting.as_mut().unwrap();
        port.meanwhile.path = "2: 0.5".parse().unwrap();
        let compared = entered.compare().unwrap();
        let line = |name: &str| compared.options[1].lines.iter().find(|it| it.name == name).unwrap().cost;
        // Two months at 3.00, and one at half of it.
        assert_eq!(line("Running both"), product(&[(10 * 730).into(), decimal(75, 1)]));
        let [found] = &compared.moves[..] else { panic!("{:?}", compared.moves) };
        let value = found.ported.expected_value.value.unwrap();
        let [stays, moves] = [0, 1].map(|at| compared.options[at].total);
        assert!((value - (stays - moves)).abs() < decimal(1, 6), "{value}");
        // As much is saved as is paid in time where the least is spent.
        let least = product(&[found.ported.least_spend.value.unwrap(), 12.into()]);
        let both = quotient(product(&[least, line("Running both")]), stays).unwrap();
        let rest = product(&[least, found.saving]) - both - line("Porting") - line("Porting anew");
        assert!(rest.abs() < decimal(1, 6), "{rest}");
        let repaid = found.ported.months.value.unwrap();
        let paid = |at: usize| compared.options[at].payments.paid_after(repaid);
        assert!((paid(0) - paid(1)).abs() < decimal(1, 6), "{repaid}");
        // Money that costs makes it worth what both are worth today.
        entered.cost_of_capital = decimal(2, 1);
        let compared = entered.compare().unwrap();
        let value = compared.moves[0].ported.expected_value.value.unwrap();
        let [stays, moves] = [0, 1].map(|at| compared.options[at].present_value);
        assert!((value - (stays - moves)).abs() < decimal(1, 6), "{value}");
    }

    #[test]
    fn what_does_not_do_the_work_is_not_worth_porting_to() {
        let mut entered = scenario(BOTH);
        entered.options[1].places[0].obtainable = decimal(9, 1);
        let compared = entered.compare().unwrap();
        assert!(!compared.options[1].fails.is_empty());
        assert!(compared.moves.is_empty());
    }

    #[test]
    fn running_both_needs_a_price() {
        let mut entered = scenario(BOTH);
        let port = entered.options[1].places[0].porting.as_mut().unwrap();
        port.meanwhile = Rate::default();
        let refused = entered.compare().unwrap_err();
        assert_eq!(refused.0[0].field, "option.1.place.0.porting.meanwhile.price");
    }
}
