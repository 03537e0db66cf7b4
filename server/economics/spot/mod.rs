//! Capacity that is cheap because it can be taken away, and what an hour of work on it costs.
//!
//! - λ, preemptions of an instance in an hour; from a share x of instances that are taken away in a month, λ = −ln(1 − x)
//!   ÷ 730
//! - Λ = instances × (λ + failures of an instance in an hour): a job that runs on several stops when any of them does
//! - Λ′, those of them that lose work. Where a checkpoint fits into the notice that is given, preemptions lose none
//! - F(τ) = e^(ΛR) × (e^(Λ′(τ + c)) − 1) ÷ (Λ′τ), paid hours for a useful one, with a checkpoint every τ hours that
//!   pauses work for c, and R hours until work goes on. (τ + c) ÷ τ × e^(ΛR) where Λ′ is 0. It is the expected time of
//!   exponential failures that may strike during a restart, too (Daly, Future Generation Computer Systems 22, 2006)
//! - Young's interval √(2c ÷ Λ′); Daly's, for c < 2M where M is 1 ÷ Λ′: √(2cM) × (1 + √(c ÷ 2M) ÷ 3 + (c ÷ 2M) ÷ 9) −
//!   c, else M
//! - the best interval is where F is lowest: z ÷ Λ′, where z + ln(1 − z) = −Λ′c; not below a minute
//! - an hour of useful work costs spot price × F, and spot pays where F is below on-demand price ÷ spot price
//! - a job takes W × F ÷ speed hours, and whatever it waits for capacity; waiting is not paid
//!
//! Powers, logarithms and roots are of numbers without a unit, and binary floats of 16 digits.

use serde::{Deserialize, Serialize};

use super::check::{self, Finding, Refused};
use super::figure::{Figure, Unit, figure, term};
use crate::money::Decimal;
use crate::money::arithmetic::{
    HOURS_PER_MONTH, count, decimal, dimensionless, exponential, float, growth_by, logarithm, one, product,
    quotient, root,
};

/// Paid hours for a useful one beyond which a job counts as never done.
const MOST: i64 = 1000;
/// Minutes: nothing writes checkpoints more often, even if they take no time.
const SHORTEST_MINUTES: i64 = 1;

/// How often a job is stopped, and what that costs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Interruptions {
    pub preemptions: Preemptions,
    /// Failures of an instance in an hour that are nobody's decision. 0.000158: 419 in 54 days on 16,384 GPUs (Meta,
    /// Llama 3), for eight GPUs.
    pub failures: Decimal,
    /// Instances that the job needs at once.
    pub instances: u32,
    /// c, for which work stands still while a checkpoint is written; 0 where that happens beside it. 1, an assumption.
    pub pause_minutes: Decimal,
    /// R, until there is another instance and the job goes on. 10, an assumption.
    pub restart_minutes: Decimal,
    /// Between the announcement and the end, if the job listens. 0: it does not. AWS gives 2 minutes, Google Cloud and
    /// Azure half a minute (their documentation).
    pub notice_minutes: Decimal,
}

/// How often an instance is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Preemptions {
    /// λ.
    Hour { rate: Decimal },
    /// x, of all instances: how clouds publish it.
    Month { share: Decimal },
}

impl Default for Preemptions {
    /// 0.15 a month: AWS gave 10 to 20 % for nodes of H100 (Spot Instance advisor, as read by a third party in May 2025).
    fn default() -> Self {
        Self::Month { share: decimal(15, 2) }
    }
}

impl Default for Interruptions {
    fn default() -> Self {
        Self {
            preemptions: Preemptions::default(),
            failures: decimal(158, 6),
            instances: 1,
            pause_minutes: one(),
            restart_minutes: 10.into(),
            notice_minutes: Decimal::ZERO,
        }
    }
}

/// What is asked about spot capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spot {
    /// s, money for a GPU-hour. 2.8896: the usual discount of 58 % on an H100; 41 to 75 % were listed in 2026.
    pub price: Decimal,
    /// p, of the same on demand. 6.88: an H100 of AWS (price list, July 2026).
    pub on_demand: Decimal,
    pub interruptions: Interruptions,
    /// τ, hours between checkpoints. The best interval unless entered.
    pub interval_hours: Option<Decimal>,
    /// A job that has to be done by some time.
    pub job: Option<Job>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// W, that it would take where nothing interrupts it.
    pub useful_hours: Decimal,
    /// Of these instances, compared with those that W was measured on. 1: the same.
    #[serde(default = "one")]
    pub speed: Decimal,
    /// Hours until capacity is found.
    #[serde(default)]
    pub wait_hours: Decimal,
    /// T, hours from now. None: whenever it is done.
    pub deadline_hours: Option<Decimal>,
}

impl Default for Spot {
    fn default() -> Self {
        Self {
            price: decimal(28_896, 4),
            on_demand: decimal(688, 2),
            interruptions: Interruptions::default(),
            interval_hours: None,
            job: None,
        }
    }
}

/// What spot amounts to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpotCost {
    /// Λ.
    pub interruptions: Figure,
    pub young: Figure,
    pub daly: Figure,
    pub best_interval: Figure,
    /// F at the interval that was entered, or else the best.
    pub factor: Figure,
    /// What an hour of useful work costs.
    pub price: Figure,
    /// The factor above which on demand costs less.
    pub most: Figure,
    /// None where the job is never done, so nothing pays.
    pub pays: Option<bool>,
    /// What the job takes. None without a job.
    pub hours: Option<Figure>,
    /// None without a deadline.
    pub in_time: Option<bool>,
    pub warnings: Vec<Finding>,
}

impl Preemptions {
    /// λ, of an instance in an hour.
    pub fn per_hour(self) -> Decimal {
        match self {
            Self::Hour { rate } => rate,
            Self::Month { share } => {
                let rate = logarithm(one() - share).and_then(|it| quotient(-it, HOURS_PER_MONTH.into()));
                rate.unwrap_or_default()
            }
        }
    }
}

impl Interruptions {
    /// Λ, of the job in an hour.
    pub fn per_hour(&self) -> Decimal {
        product(&[count(self.instances), self.preemptions.per_hour() + self.failures])
    }

    /// Λ′, those that lose the work since the last checkpoint.
    fn losing(&self) -> Decimal {
        let is_announced = !self.notice_minutes.is_zero() && self.notice_minutes >= self.pause_minutes;
        if is_announced { product(&[count(self.instances), self.failures]) } else { self.per_hour() }
    }

    fn pause(&self) -> Decimal {
        hours(self.pause_minutes)
    }

    /// F, paid hours for a useful one with a checkpoint every so many hours. None where there is no such interval, or a
    /// job would never be done.
    pub fn factor(&self, interval: Decimal) -> Option<Decimal> {
        if interval <= Decimal::ZERO {
            return None;
        }
        let written = interval + self.pause();
        let restarts = exponential(product(&[self.per_hour(), hours(self.restart_minutes)]))?;
        let lost = growth_by(product(&[self.losing(), written]))?;
        let factor = product(&[quotient(written, interval)?, lost, restarts]);
        (factor <= MOST.into()).then_some(factor)
    }

    /// What is lost of the time, where an interruption always comes just before a checkpoint: Λ′ × τ. For few of them.
    pub fn lost_at_most(&self, interval: Decimal) -> Decimal {
        product(&[self.losing(), interval])
    }

    /// What is lost of the time on average, by work done twice alone: Λ′ × τ ÷ 2. For few of them.
    pub fn lost(&self, interval: Decimal) -> Decimal {
        product(&[self.lost_at_most(interval), decimal(5, 1)])
    }

    /// c ÷ 2M.
    fn pause_in_failures(&self) -> Decimal {
        product(&[self.pause(), self.losing(), decimal(5, 1)])
    }

    /// Young's interval, in hours. None where no interruption loses work, so there is no reason for checkpoints.
    pub fn young(&self) -> Option<Decimal> {
        if self.losing().is_zero() {
            return None;
        }
        quotient(self.pause(), root(self.pause_in_failures())?).or(Some(Decimal::ZERO))
    }

    /// Daly's interval, in hours; none where Young's is.
    pub fn daly(&self) -> Option<Decimal> {
        let (young, ratio) = (self.young()?, self.pause_in_failures());
        if ratio >= one() {
            return quotient(one(), self.losing());
        }
        let more = quotient(root(ratio)?, 3.into())? + quotient(ratio, 9.into())?;
        Some(product(&[young, one() + more]) - self.pause())
    }

    /// The interval with the lowest factor, in hours; none where no interruption loses work.
    pub fn best_interval(&self) -> Option<Decimal> {
        let losing = self.losing();
        let shortest = hours(SHORTEST_MINUTES.into());
        let z = dimensionless(lowest(float(product(&[losing, self.pause()]))))?;
        Some(quotient(z, losing)?.max(shortest))
    }
}

/// z of z + ln(1 − z) = −y, between 0 and 1, by halving: the left side falls.
fn lowest(y: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let z = f64::midpoint(low, high);
        if z + (-z).ln_1p() > -y {
            low = z;
        } else {
            high = z;
        }
    }
    low
}

fn hours(minutes: Decimal) -> Decimal {
    quotient(minutes, 60.into()).unwrap_or_default()
}

impl Spot {
    /// What an hour of useful work costs, and whether that is worth it.
    ///
    /// # Errors
    /// What cannot be computed with, in words.
    pub fn cost(&self) -> Result<SpotCost, Refused> {
        let warnings = check::spot(self).warnings_or_refused()?;
        let stops = &self.interruptions;
        let interval = self.interval();
        let factor = match interval {
            Some(interval) => stops.factor(interval),
            // Nothing loses work, so nothing is written but at the announcement.
            None => exponential(product(&[stops.per_hour(), hours(stops.restart_minutes)])),
        };
        let most = quotient(self.on_demand, self.price);
        let hours = self.job.as_ref().map(|job| job.hours(factor));
        let done = hours.as_ref().and_then(|it| it.value);
        let deadline = self.job.as_ref().and_then(|job| job.deadline_hours);
        Ok(SpotCost {
            interruptions: stops.described(),
            young: stops.interval("Young’s interval", stops.young(), "√(2 × pause ÷ losing interruptions)"),
            daly: stops.interval(
                "Daly’s interval",
                stops.daly(),
                "√(2 × pause × M) × (1 + √(pause ÷ 2M) ÷ 3 + pause ÷ 2M ÷ 9) − pause, where M is 1 ÷ losing \
                 interruptions",
            ),
            best_interval: stops.interval(
                "Best interval",
                stops.best_interval(),
                "where the factor is lowest, and at least a minute",
            ),
            factor: self.factor_figure(interval, factor),
            price: figure(
                "A useful hour",
                factor.map(|factor| product(&[self.price, factor])),
                Unit::MoneyPerHour,
                "spot price × factor",
                vec![term("spot price", self.price, Unit::MoneyPerHour)]
                    .into_iter()
                    .chain(factor.map(|factor| term("factor", factor, Unit::Number)))
                    .collect(),
            ),
            most: figure(
                "Factor up to which spot pays",
                most,
                Unit::Number,
                "price on demand ÷ spot price",
                vec![
                    term("price on demand", self.on_demand, Unit::MoneyPerHour),
                    term("spot price", self.price, Unit::MoneyPerHour),
                ],
            ),
            pays: factor.zip(most).map(|(factor, most)| factor < most),
            hours,
            in_time: deadline.map(|deadline| done.is_some_and(|done| done <= deadline)),
            warnings,
        })
    }

    fn interval(&self) -> Option<Decimal> {
        self.interval_hours.or_else(|| self.interruptions.best_interval())
    }

    fn factor_figure(&self, interval: Option<Decimal>, factor: Option<Decimal>) -> Figure {
        let stops = &self.interruptions;
        let mut terms = vec![
            term("interruptions", stops.per_hour(), Unit::PerHour),
            term("losing interruptions", stops.losing(), Unit::PerHour),
            term("pause", stops.pause_minutes, Unit::Minutes),
            term("restart", stops.restart_minutes, Unit::Minutes),
        ];
        terms.extend(interval.map(|interval| term("interval", interval, Unit::Hours)));
        figure(
            "Paid hours for a useful one",
            factor,
            Unit::Number,
            "e^(interruptions × restart) × (e^(losing interruptions × (interval + pause)) − 1) ÷ (losing interruptions \
             × interval)",
            terms,
        )
    }
}

impl Job {
    fn hours(&self, factor: Option<Decimal>) -> Figure {
        let run = factor.and_then(|factor| quotient(product(&[self.useful_hours, factor]), self.speed));
        let mut terms = vec![
            term("useful hours", self.useful_hours, Unit::Hours),
            term("speed", self.speed, Unit::Number),
            term("wait", self.wait_hours, Unit::Hours),
        ];
        terms.extend(factor.map(|factor| term("factor", factor, Unit::Number)));
        let done = run.map(|run| run + self.wait_hours);
        figure("Until it is done", done, Unit::Hours, "useful hours × factor ÷ speed + wait", terms)
    }
}

impl Interruptions {
    fn described(&self) -> Figure {
        figure(
            "Interruptions of the job",
            Some(self.per_hour()),
            Unit::PerHour,
            "instances × (preemptions + failures)",
            vec![
                term("instances", count(self.instances), Unit::Number),
                term("preemptions", self.preemptions.per_hour(), Unit::PerHour),
                term("failures", self.failures, Unit::PerHour),
            ],
        )
    }

    fn interval(&self, name: &'static str, value: Option<Decimal>, formula: &'static str) -> Figure {
        let terms = vec![
            term("pause", self.pause(), Unit::Hours),
            term("losing interruptions", self.losing(), Unit::PerHour),
        ];
        figure(name, value, Unit::Hours, formula, terms)
    }
}

#[cfg(test)]
mod tests;
