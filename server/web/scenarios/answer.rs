//! How a page says what a scenario amounts to.

use super::super::filters::{capital, figure};
use super::super::words::number;
use super::words::of_input;
pub(super) use crate::economics::Answer;
use crate::economics::Payback;
use crate::economics::comparison::{LayerKind, Line, OUR_OWN, OptionAnswer};
use crate::economics::uncertainty::{BreakPoint, Outcome, Sensitivity};
use crate::money::arithmetic::quotient;
use crate::money::{Currency, Decimal};

/// Inputs of the tornado.
const SENSITIVITIES: usize = 10;

/// A part of an option's bar, out of 100.
pub(super) struct Segment {
    pub class: &'static str,
    pub title: String,
    pub from: Decimal,
    pub width: Decimal,
}

/// What a line is paid for: a color of the bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Machines,
    Running,
    Committed,
    Spot,
    OnDemand,
    Tokens,
    Besides,
}

const KINDS: [(Kind, &str, &str); 7] = [
    (Kind::Machines, "s1", "On-prem machines, with interest, or their lease"),
    (Kind::Running, "s3", "Operating the machines"),
    (Kind::Committed, "s2", "Reserved capacity, commitments and blocks"),
    (Kind::Spot, "s8", "Spot"),
    (Kind::OnDemand, "s5", "On demand"),
    (Kind::Tokens, "s7", "Per token"),
    (Kind::Besides, "other", "Support and other costs"),
];

impl Answer {
    pub(super) fn currency(&self) -> &Currency {
        &self.comparison.currency
    }

    pub(super) fn money(&self, amount: Decimal) -> String {
        format!("{} {}", figure(amount, 0), self.currency())
    }

    pub(super) fn option(&self, at: usize) -> &OptionAnswer {
        &self.comparison.options[at]
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    pub(super) fn name(&self, at: &usize) -> &str {
        &self.option(*at).name
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    pub(super) fn is_cheapest(&self, at: &usize) -> bool {
        self.comparison.cheapest == Some(*at)
    }

    /// Every option with its place.
    pub(super) fn options(&self) -> Vec<(usize, &OptionAnswer)> {
        self.comparison.options.iter().enumerate().collect()
    }

    /// Which option, and what it costs.
    pub(super) fn first_sentence(&self) -> String {
        let months = self.comparison.months;
        let Some(at) = self.comparison.cheapest else {
            return "No option meets the requirements of the work.".to_owned();
        };
        let option = self.option(at);
        let hour = option.per_productive_hour.map_or_else(String::new, |cost| {
            format!(", {} {} per productive GPU-hour", figure(cost, 2), self.currency())
        });
        let expected = if option.fallback.is_some() { ", as an expected value" } else { "" };
        format!(
            "{} costs least: {} over {months} months{hour}{expected}.",
            option.name,
            self.money(option.total)
        )
    }

    /// What options cost whose success is uncertain: if they work, and if not.
    pub(super) fn uncertain(&self) -> Vec<String> {
        let described = |option: &OptionAnswer| {
            let it = option.fallback.as_ref()?;
            let [works, fails, in_vain] =
                [it.if_it_works, it.if_it_fails, it.in_vain].map(|it| self.money(it));
            let today = if self.comparison.cost_of_capital.is_zero() {
                String::new()
            } else {
                let both = [it.present_value_if_it_works, it.present_value_if_it_fails];
                let [works, fails] = both.map(|it| self.money(it));
                format!(", and its present value that of {works} and {fails}")
            };
            Some(format!(
                "{} succeeds with a chance of {}%: it costs {works} if it does. If not, it costs {fails}: {in_vain} lost, then \
                 {}. Its total is the expected value of both{today}.",
                option.name,
                number(option.chance.times(100), 2),
                self.name(&it.option)
            ))
        };
        self.comparison.options.iter().filter_map(described).collect()
    }

    /// By how much.
    pub(super) fn second_sentence(&self) -> Option<String> {
        let cheapest_option = self.cheapest_option.as_ref()?;
        let next = self.option(cheapest_option.next);
        if cheapest_option.ahead.is_zero() {
            return Some(format!("{} costs exactly as much.", next.name));
        }
        let share = quotient(cheapest_option.ahead, next.present_value)?.times(100);
        let than = format!(
            "{} ({}%) less than {}, the next cheapest",
            self.money(cheapest_option.ahead),
            number(share, 1),
            next.name
        );
        if self.comparison.cost_of_capital.is_zero() {
            return Some(format!("That is {than}."));
        }
        let worth = self.money(self.option(cheapest_option.cheapest).present_value);
        Some(format!("Its {} is {worth}: {than}.", self.present_value()))
    }

    /// The same as a row’s heading.
    pub(super) fn present_value_heading(&self) -> String {
        capital(&self.present_value())
    }

    /// What options are ranked by, in words.
    pub(super) fn present_value(&self) -> String {
        format!("present value at {}% a year", number(self.comparison.cost_of_capital.times(100), 1))
    }

    /// How likely that is.
    pub(super) fn third_sentence(&self) -> Option<String> {
        // Beside nothing that does the work there is nothing to be sure of.
        self.cheapest_option.as_ref()?;
        let share = self.simulation.options.get(self.comparison.cheapest?)?.cheapest?;
        // What happens now and then is neither always nor never.
        let rounded = share.times(100).round(0);
        let often = if rounded == 100.into() && share < 1.into() {
            "more than 99%".to_owned()
        } else if rounded.is_zero() && !share.is_zero() {
            "less than 1%".to_owned()
        } else {
            format!("{}%", number(rounded, 0))
        };
        let close = if share < Decimal::new(6, 1) { ": too close to call" } else { "" };
        Some(format!(
            "It stays the cheapest in {often} of {} simulations of uncertain prices, rates and factors{close}.",
            figure(i64::from(self.simulation.draws).into(), 0)
        ))
    }

    /// What would make it another, the smallest change first.
    pub(super) fn break_points(&self) -> Vec<(&BreakPoint, String)> {
        let break_points = self.cheapest_option.iter().flat_map(|it| &it.break_points);
        break_points.map(|break_point| (break_point, self.break_point(break_point))).collect()
    }

    fn break_point(&self, break_point: &BreakPoint) -> String {
        let way = if break_point.value < break_point.input.value { "at or below" } else { "at or above" };
        let places = match break_point.input.keys.len() {
            1 => String::new(),
            places => format!(", in {places} places"),
        };
        format!(
            "{way} {} (now {}{places}): then {} costs less",
            of_input(&break_point.input, &break_point.value),
            of_input(&break_point.input, &break_point.input.value),
            self.name(&break_point.to)
        )
    }

    /// Why nothing moves the advantage.
    pub(super) fn why_nothing_moves(&self) -> String {
        match (&self.cheapest_option, self.comparison.cheapest) {
            (Some(cheapest_option), _) => format!(
                "No input changes the difference between {} and {}.",
                self.name(&cheapest_option.cheapest),
                self.name(&cheapest_option.next)
            ),
            (None, Some(only)) => {
                format!(
                    "Only {} meets the requirements, so there is nothing to compare it with.",
                    self.name(&only)
                )
            }
            (None, None) => "No option meets the requirements, so there is nothing to compare.".to_owned(),
        }
    }

    /// Where less is paid for another option than for the cheapest, or its total is less, and why that is no contradiction.
    pub(super) fn paid_otherwise(&self) -> Vec<String> {
        let Some(cheapest) = self.comparison.cheapest.map(|at| self.option(at)) else { return Vec::new() };
        let less = |of: fn(&OptionAnswer) -> Decimal| {
            let able = self.comparison.options.iter().filter(|it| it.fails.is_empty());
            let least = able.min_by_key(|it| of(it))?;
            let by = of(cheapest) - of(least);
            (by.round(0) > Decimal::ZERO).then(|| (least.name.as_str(), self.money(by)))
        };
        let name = cheapest.name.as_str();
        let paid = less(|it| it.paid).map(|(other, by)| {
            format!(
                "{name} costs least including the cost of capital tied up in machines. Payments leave that cost out: for \
                 {other} they are {by} lower by the end."
            )
        });
        let added_up = less(|it| it.total).map(|(other, by)| {
            format!(
                "The total of {other} is {by} lower than that of {name}, but more of {name} is paid later, which counts for \
                 less today."
            )
        });
        paid.into_iter().chain(added_up).collect()
    }

    /// What moves the advantage most.
    pub(super) fn sensitivities(&self) -> Vec<&Sensitivity> {
        self.cheapest_option.iter().flat_map(|it| &it.sensitivities).take(SENSITIVITIES).collect()
    }

    /// Whether any place could have had another base.
    pub(super) fn has_policies(&self) -> bool {
        self.comparison.options.iter().flat_map(|it| &it.places).any(|it| !it.policies.is_empty())
    }

    /// What came out of the simulations of each option.
    pub(super) fn ranges(&self) -> Vec<(usize, &Outcome)> {
        self.simulation.options.iter().enumerate().collect()
    }

    /// An option's bar.
    pub(super) fn segments(&self, option: &OptionAnswer) -> Vec<Segment> {
        let most = self.comparison.options.iter().map(|it| it.total).max().unwrap_or_default();
        let mut from = Decimal::ZERO;
        let mut segments = Vec::new();
        for (kind, class, label) in KINDS {
            let cost: Decimal =
                option.lines.iter().filter(|it| kind_of(it, option) == kind).map(|it| it.cost).sum();
            let width = out_of(cost, most);
            if width > Decimal::ZERO {
                segments.push(Segment {
                    class,
                    title: format!("{label}: {}", self.money(cost)),
                    from,
                    width,
                });
                from += width;
            }
        }
        segments
    }

    /// The colors that the bars have.
    pub(super) fn legend(&self) -> Vec<(&'static str, &'static str)> {
        let is_there = |kind: Kind| {
            self.comparison
                .options
                .iter()
                .any(|option| option.lines.iter().any(|it| kind_of(it, option) == kind))
        };
        KINDS.iter().filter(|(kind, ..)| is_there(*kind)).map(|(_, class, label)| (*class, *label)).collect()
    }

    /// Every cost line that any option has, with what each option pays for it.
    pub(super) fn lines(&self) -> Vec<(&str, Vec<Decimal>)> {
        let mut names: Vec<&str> = Vec::new();
        for line in self.comparison.options.iter().flat_map(|it| &it.lines) {
            if !names.contains(&line.name.as_str()) {
                names.push(&line.name);
            }
        }
        let cost = |option: &OptionAnswer, name: &str| -> Decimal {
            option.lines.iter().filter(|it| it.name == name).map(|it| it.cost).sum()
        };
        let of = |name| self.comparison.options.iter().map(|option| cost(option, name)).collect();
        names.into_iter().map(|name| (name, of(name))).collect()
    }

    /// When owning has cost no more than another.
    pub(super) fn payback(&self, payback: &Payback) -> String {
        match payback {
            Payback::AtOnce => "paid back at once: it never costs more".to_owned(),
            Payback::WithSale { months } => {
                format!("paid back after {} months, only by selling what is left", number(*months, 1))
            }
            Payback::After { months } => format!("paid back after {} months", number(*months, 1)),
            Payback::Never => format!("not paid back within these {} months", self.comparison.months),
        }
    }
}

fn kind_of(line: &Line, option: &OptionAnswer) -> Kind {
    let place = option.places.get(line.place);
    let has_layer = |kind| {
        place.is_some_and(|it| it.layers.iter().any(|layer| layer.kind == kind && layer.name == line.name))
    };
    // What of a spend commitment is not used is a line without a layer.
    let is_spend = line.name.starts_with("Spend commitment");
    if line.name == OUR_OWN {
        Kind::Machines
    } else if is_spend || has_layer(LayerKind::Committed) || has_layer(LayerKind::Block) {
        Kind::Committed
    } else if has_layer(LayerKind::Spot) {
        Kind::Spot
    } else if has_layer(LayerKind::OnDemand) {
        Kind::OnDemand
    } else if has_layer(LayerKind::Tokens) {
        Kind::Tokens
    } else if ["Capital", "Lease of nodes"]
        .contains(&line.name.split(", generation ").next().unwrap_or_default())
    {
        Kind::Machines
    } else if line.terms.iter().any(|term| term.name == "months in use") {
        Kind::Running
    } else {
        Kind::Besides
    }
}

fn out_of(part: Decimal, whole: Decimal) -> Decimal {
    quotient(part.times(100), whole).unwrap_or_default().round(3)
}
