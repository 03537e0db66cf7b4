//! What an option costs whose success is uncertain: work that is ported to other chips runs there with a chance.
//!
//! - if it works it costs what was computed of it
//! - if not, porting and running both were paid in vain, and the work runs on what costs least of the options that are
//!   certain to work
//! - the option costs chance × the first + (1 − chance) × the second; so does what is paid in each month, and the present
//!   value of that is what it is ranked by: each case's own present value, weighted the same
//!
//! What costs least is what has the least present value. The difference of the totals is a line of its own, so that the lines
//! sum to the total.

use super::answer::{Fallback, Line, OptionAnswer};
use crate::economics::figure::{Unit, term};
use crate::money::Decimal;
use crate::money::arithmetic::{one, product, quotient};

/// Puts the expected cost in the place of the cost on success. Where no option is certain to work there is nothing to fall
/// back on, and all stay as they are.
pub(super) fn expect(options: &mut [OptionAnswer], cost_of_capital: Decimal) {
    let is_certain = |it: &OptionAnswer| it.chance == one() && it.fails.is_empty();
    let certain = options.iter().enumerate().filter(|(_, it)| is_certain(it));
    let Some(at) = certain.min_by_key(|(_, it)| it.present_value).map(|(at, _)| at) else { return };
    let other = options[at].clone();
    for it in options.iter_mut().filter(|it| it.chance < one() && it.fails.is_empty()) {
        it.fall_back_on((at, &other), cost_of_capital);
    }
}

impl OptionAnswer {
    fn fall_back_on(&mut self, (at, other): (usize, &Self), cost_of_capital: Decimal) {
        let chance = self.chance;
        let payments_in_vain = std::mem::take(&mut self.payments_in_vain);
        let in_vain = payments_in_vain.total();
        let (if_it_works, if_it_fails) = (self.total, in_vain + other.total);
        let missing = one() - chance;
        let cost = product(&[missing, if_it_fails - if_it_works]);
        let place = self.places.iter().position(|it| it.ported.is_some()).unwrap_or_default();
        if !cost.is_zero() {
            self.lines.push(Line {
                place,
                name: "If porting fails".to_owned(),
                cost,
                formula:
                    "(1 − chance) × (paid in vain + the option that it falls back on − cost if it works)"
                        .into(),
                terms: vec![
                    term("chance", chance, Unit::Share),
                    term("paid in vain", in_vain, Unit::Money),
                    term("the option that it falls back on", other.total, Unit::Money),
                    term("cost if it works", if_it_works, Unit::Money),
                ],
            });
        }
        let today = payments_in_vain.present_value(cost_of_capital) + other.present_value;
        let [present_value_if_it_works, present_value_if_it_fails] = [self.present_value, today];
        self.total += cost;
        let mut payments = self.payments.times(chance);
        payments.add(&payments_in_vain.times(missing));
        payments.add(&other.payments.times(missing));
        self.paid = payments.total();
        self.present_value = payments.present_value(cost_of_capital);
        self.payments = payments;
        self.paid_hours = product(&[chance, self.paid_hours]) + product(&[missing, other.paid_hours]);
        self.per_paid_hour = quotient(self.total, self.paid_hours);
        self.per_productive_hour = quotient(self.total, self.productive_hours);
        self.fallback = Some(Fallback {
            option: at,
            if_it_works,
            if_it_fails,
            in_vain,
            present_value_if_it_works,
            present_value_if_it_fails,
            payments_in_vain,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economics::cash::Payments;
    use crate::economics::comparison::{Comparison, Scenario};
    use crate::economics::file::read;
    use crate::money::arithmetic::decimal;

    /// 10 GPUs for a year at 3.00, elsewhere at 2.60, and on chips that cost 2.00 after porting for 10,000.
    fn scenario(chance: &str) -> Scenario {
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
place = [{{ performance = 0.5, on_demand = {{ price = 1 }}, porting = {{ engineer_weeks = 5.2, loaded_cost = 100_000, chance = {chance}, months_of_both = 3, meanwhile = {{ price = 3 }} }} }}]
[[option]]
name = "Elsewhere"
place = [{{ on_demand = {{ price = 2.6 }} }}]
"#
        );
        read(&text).unwrap()
    }

    fn compared(chance: &str) -> Comparison {
        scenario(chance).compare().unwrap()
    }

    #[test]
    fn what_is_uncertain_is_ranked_by_its_expected_cost() {
        let [works, elsewhere, in_vain] = [175_200 + 75_700, 227_760, 75_700].map(Decimal::from);
        for (chance, cheapest) in [("1", 2), ("0.8", 2)] {
            assert_eq!(compared(chance).cheapest, Some(cheapest), "{chance}");
        }
        let found = compared("0.8").options.remove(1);
        let fallback = found.fallback.clone().unwrap();
        assert_eq!((fallback.option, fallback.if_it_works, fallback.in_vain), (2, works, in_vain));
        assert_eq!(fallback.if_it_fails, in_vain + elsewhere);
        let expected = product(&[decimal(8, 1), works]) + product(&[decimal(2, 1), in_vain + elsewhere]);
        assert_eq!(found.total, expected);
        assert_eq!(found.lines.iter().map(|it| it.cost).sum::<Decimal>(), found.total);
        assert_eq!(
            (found.paid.round(6), found.present_value.round(6)),
            (expected.round(6), expected.round(6))
        );
        assert_eq!(compared("1").options[1].fallback, None);
    }

    #[test]
    fn an_option_that_costs_least_if_it_works_is_not_the_cheapest_where_it_mostly_fails() {
        let with = |chance: &str| {
            let mut entered = scenario(chance);
            entered.options[1].places[0].porting.as_mut().unwrap().months_of_both = 0;
            entered.compare().unwrap()
        };
        let sure = with("1");
        assert_eq!(sure.cheapest, Some(1));
        assert_eq!(with("0.9").cheapest, Some(1));
        // 10,000 for porting are worth it where 52,560 are saved more often than in 19 of 100 cases.
        assert_eq!((with("0.2").cheapest, with("0.18").cheapest), (Some(1), Some(2)));
        assert!(with("0.18").options[1].fallback.as_ref().unwrap().if_it_works < sure.options[2].total);
        // The saving against the others is that of success, as it was.
        assert_eq!(with("0.9").moves[0].saving, sure.moves[0].saving);
    }

    #[test]
    fn what_is_expected_as_worth_today_decides_where_money_costs_something() {
        let mut entered = scenario("0.8");
        entered.cost_of_capital = decimal(10, 2);
        let compared = entered.compare().unwrap();
        let (found, other) = (&compared.options[1], &compared.options[2]);
        let it = found.fallback.as_ref().unwrap();
        // 10,000 at the start, and 21,900 at the end of each of three months, are lost.
        let in_vain = Payments::level(10_000.into(), 21_900.into(), 3).present_value(decimal(10, 2));
        assert_eq!(it.present_value_if_it_fails.round(6), (in_vain + other.present_value).round(6));
        let expected = product(&[decimal(8, 1), it.present_value_if_it_works])
            + product(&[decimal(2, 1), it.present_value_if_it_fails]);
        assert_eq!(found.present_value.round(6), expected.round(6));
        assert_eq!(found.payments.present_value(decimal(10, 2)), found.present_value);
    }

    #[test]
    fn it_falls_back_on_what_is_worth_least_today_not_on_what_totals_least() {
        // 227,760 in twelve parts are worth less at 50 % a year than 215,000 at once.
        let mut entered = scenario("0.8");
        entered.cost_of_capital = decimal(50, 2);
        let place = &mut entered.options[0].places[0];
        place.on_demand.as_mut().unwrap().price = decimal(1, 2);
        place.others = vec![crate::economics::comparison::OtherCost {
            name: "At once".to_owned(),
            amount: 215_000.into(),
            per: crate::economics::comparison::PerWhat::Once,
        }];
        let compared = entered.compare().unwrap();
        assert!(compared.options[0].total < compared.options[2].total);
        assert!(compared.options[0].present_value > compared.options[2].present_value);
        assert_eq!(compared.options[1].fallback.as_ref().unwrap().option, 2);
    }

    #[test]
    fn without_an_option_that_is_certain_there_is_nothing_to_fall_back_on() {
        let mut entered = scenario("0.8");
        entered.options.remove(2);
        entered.options.remove(0);
        let compared = entered.compare().unwrap();
        assert_eq!(compared.options[0].fallback, None);
        assert_eq!(compared.cheapest, Some(0));
    }
}
