//! How demand is entered.

use serde::{Deserialize, Serialize};

use super::random::Random;
use super::{Profile, Spread, YEAR, levels};
use crate::economics::sizing::Service;
use crate::money::Decimal;
use crate::money::arithmetic::{count, float, product, quotient};

/// GPUs that work asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shape {
    /// So many, for so many hours of each day.
    Flat { gpus: Decimal, hours_per_day: u32 },
    /// Anything between two numbers, as often.
    Between { low: Decimal, high: Decimal },
    /// Up by day and down by night and at weekends, with noise: GPUs = base × day × week × noise.
    Swinging {
        /// On average of a working day without noise.
        base: Decimal,
        /// By how much of the base the busiest hour is above it, and the quietest below. 0.4: twice as much at 15:00 as
        /// at 3:00.
        day_swing: Decimal,
        /// GPUs at weekends for one of a working day. 0.5: half.
        weekend: Decimal,
        /// Standard deviation of the logarithm of the noise; 0: none.
        noise: Decimal,
        seed: u64,
    },
    /// GPUs, and in which share of the hours so many are asked for.
    Levels {
        levels: Vec<Level>,
        #[serde(default)]
        order: Order,
    },
    /// So many, a few times a year for some hours, and nothing between. Each begins an equal part of the year.
    Runs { gpus: Decimal, runs_per_year: u32, hours_per_run: u32 },
    /// GPUs of each hour, as they were measured or billed.
    Hours { gpus: Vec<Decimal> },
    /// As many as so many users of a model take.
    Serving(Service),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    pub gpus: Decimal,
    pub share: Decimal,
}

/// When the hours of levels come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// All the time: every month has its share of each level.
    #[default]
    Spread,
    /// One level after the other within a year, as they are listed: seasons, a project's phases.
    Listed,
}

/// Which of the sorted hours of a year comes in an hour of it, so that each month has of all of them: steps of the golden
/// ratio of a year, which has no factor in common with it.
fn spread_evenly(hour: u32) -> u32 {
    const STEP: u32 = 5413;
    hour * STEP % YEAR
}

impl Shape {
    /// The hours that it means, of work on an accelerator. What [`crate::economics::check`] refuses does not come here.
    pub fn profile(&self, accelerator: &str, interruptible: Decimal) -> Profile {
        match self {
            Self::Flat { gpus, hours_per_day } => {
                let day = (0..24).map(|hour| if hour < *hours_per_day { *gpus } else { Decimal::ZERO });
                Profile::new(day, interruptible)
            }
            Self::Between { low, high } => {
                let spread = Spread { low: *low, high: *high };
                // The middles of as many equal parts as a year has hours, which have the mean of the whole.
                let at = |hour: u32| {
                    let share = quotient(count(2 * hour + 1), count(2 * YEAR)).unwrap_or_default();
                    spread.low + product(&[spread.high - spread.low, share])
                };
                Profile::new((0..YEAR).map(|hour| at(spread_evenly(hour))), interruptible)
            }
            Self::Swinging { base, day_swing, weekend, noise, seed } => {
                let mut random = Random::new(*seed);
                // Noise is no figure of anybody's, so that all of it may be a float until it is in thousandths of a GPU.
                let [base, day_swing, weekend, noise] =
                    [base, day_swing, weekend, noise].map(|it| float(*it));
                let hours = (0..YEAR).map(|hour| {
                    let phase = std::f64::consts::TAU * (f64::from(hour % 24) - 9.0) / 24.0;
                    let day = 1.0 + day_swing * phase.sin();
                    // The year begins on a Monday.
                    let week = if (hour / 24) % 7 < 5 { 1.0 } else { weekend };
                    // Less half the variance, so that the mean stays.
                    let times = (noise * random.normal() - noise * noise / 2.0).exp();
                    // Below 10^13 as inputs are bounded, and beyond that the largest there is.
                    Decimal::new((base * day * week * times * 1000.0).round() as i128, 3)
                });
                Profile::new(hours, interruptible)
            }
            Self::Levels { levels, order } => {
                let each = Profile::new(levels.iter().map(|it| it.gpus), interruptible);
                let shares: Vec<Decimal> = levels.iter().map(|it| it.share).collect();
                let sequence = match order {
                    Order::Spread => levels::spread(&shares),
                    Order::Listed => levels::listed(&shares),
                };
                let hour = |level: usize| each.hours().get(level).copied().unwrap_or_default();
                Profile::from(sequence.into_iter().map(hour).collect::<Vec<_>>())
            }
            Self::Runs { gpus, runs_per_year, hours_per_run } => {
                let starts: Vec<u32> = (0..*runs_per_year).map(|run| run * YEAR / runs_per_year).collect();
                let is_run =
                    |hour: u32| starts.iter().any(|start| (*start..start + hours_per_run).contains(&hour));
                let at = |hour| if is_run(hour) { *gpus } else { Decimal::ZERO };
                Profile::new((0..YEAR).map(at), interruptible)
            }
            Self::Hours { gpus } => Profile::new(gpus.iter().copied(), interruptible),
            Self::Serving(service) => Profile::new(service.day(accelerator), interruptible),
        }
    }
}
