//! How many GPUs serve so many users of a model at once.
//!
//! - a replica is the fewest GPUs whose memory holds the weights, what it takes besides, and the tokens of one user; or as
//!   many as are entered
//! - users of a replica by memory = tokens that fit beside the weights ÷ tokens of a user, whole ones
//! - users of a replica by speed = GPUs of a replica × tokens a second of a GPU ÷ tokens a second of a user, whole ones
//! - replicas = users ÷ the fewer of both, rounded up; GPUs = replicas × GPUs of a replica
//! - users of an hour = users × (1 − swing × (1 − sin) ÷ 2): all of them at 15:00, fewest at 3:00
//!
//! What fits is [`memory`](super::memory)'s. Tokens a second of a GPU are measured with as many users as it then has, and
//! never taken from a data sheet.

use serde::{Deserialize, Serialize};

use super::check::{self, Refused};
use super::figure::{Figure, Unit, figure, term};
use super::memory::{Fit, Precision};
use crate::money::Decimal;
use crate::money::arithmetic::{ceiling, count, dimensionless, floor, one, product, quotient, whole};

/// Hours of a day.
const DAY: u32 = 24;

/// A model, its users, and what they are to get.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Service {
    /// At once, in the busiest hour. 100.
    pub users: u32,
    /// Tokens a second that each of them gets. 20: faster than people read.
    pub tokens_per_second: Decimal,
    /// Tokens that are held for each: what was said and heard so far. 4,096.
    pub tokens_per_user: u32,
    /// Tokens a second that a GPU makes, of all its users together, as measured. Nobody can know it who did not.
    pub gpu_tokens_per_second: Decimal,
    /// By which share fewer users are there in the quietest hour. 0: as many day and night.
    pub day_swing: Decimal,
    /// GPUs that serve one copy of the model. None: the fewest that hold it.
    pub gpus_per_replica: Option<u32>,
    /// 10^9. 70, of a Llama; as what follows, as in [`Fit`].
    pub parameters: Decimal,
    pub weights: Precision,
    pub cache: Precision,
    pub layers: u32,
    pub key_value_heads: u32,
    pub head_size: u32,
    /// GB besides. 0.
    pub activations: Decimal,
}

impl Default for Service {
    fn default() -> Self {
        let Fit { parameters, weights, cache, layers, key_value_heads, head_size, activations, .. } =
            Fit::default();
        Self {
            users: 100,
            tokens_per_second: 20.into(),
            tokens_per_user: 4096,
            gpu_tokens_per_second: Decimal::ZERO,
            day_swing: Decimal::ZERO,
            gpus_per_replica: None,
            parameters,
            weights,
            cache,
            layers,
            key_value_heads,
            head_size,
            activations,
        }
    }
}

/// What a copy of the model takes and serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Replica {
    pub(super) gpus: u32,
    /// None where the weights do not fit.
    pub(super) users_by_memory: Option<Decimal>,
    pub(super) users_by_speed: Decimal,
}

impl Replica {
    fn users(self) -> Decimal {
        self.users_by_memory.unwrap_or_default().min(self.users_by_speed)
    }

    /// Copies that serve so many; none where one serves nobody.
    fn for_users(self, users: Decimal) -> Option<u32> {
        quotient(users, self.users()).map(|it| whole(ceiling(it)))
    }
}

impl Service {
    /// One user of it on so many GPUs.
    pub(super) fn fit(&self, accelerator: &str, gpus: u32) -> Fit {
        Fit {
            parameters: self.parameters,
            weights: self.weights,
            cache: self.cache,
            layers: self.layers,
            key_value_heads: self.key_value_heads,
            head_size: self.head_size,
            activations: self.activations,
            tokens: self.tokens_per_user.into(),
            accelerator: accelerator.to_owned(),
            usable: None,
            gpus,
        }
    }

    /// What a copy of it takes and serves. None where the model cannot run there at all.
    pub(super) fn replica(&self, accelerator: &str) -> Option<Replica> {
        let alone = self.fit(accelerator, 1).fit().ok()?;
        let fewest = alone.least_gpus.value.map_or(1, |it| whole(it).max(1));
        let gpus = self.gpus_per_replica.unwrap_or(fewest);
        let held = self.fit(accelerator, gpus).fit().ok()?.tokens.value;
        let users = held.and_then(|it| quotient(it, count(self.tokens_per_user)));
        let speed = product(&[count(gpus), self.gpu_tokens_per_second]);
        let users_by_speed = quotient(speed, self.tokens_per_second).map(floor).unwrap_or_default();
        Some(Replica { gpus, users_by_memory: users.map(floor), users_by_speed })
    }

    /// GPUs that so many users take. None where the model cannot run, or a copy of it serves nobody.
    pub(super) fn gpus(&self, accelerator: &str, users: Decimal) -> Option<Decimal> {
        let replica = self.replica(accelerator)?;
        Some(product(&[count(replica.for_users(users)?), count(replica.gpus)]))
    }

    /// Users of each hour of a day.
    fn users_by_hour(&self) -> Vec<Decimal> {
        let users = |hour: u32| {
            let phase = std::f64::consts::TAU * (f64::from(hour) - 9.0) / f64::from(DAY);
            // A float until they are counted in whole users.
            let fewer = dimensionless((1.0 - phase.sin()) / 2.0).unwrap_or_default();
            ceiling(product(&[count(self.users), one() - product(&[self.day_swing, fewer])]).round(6))
        };
        (0..DAY).map(users).collect()
    }

    /// GPUs of each hour of a day: whole copies for its users.
    pub(super) fn day(&self, accelerator: &str) -> Vec<Decimal> {
        let Some(replica) = self.replica(accelerator) else { return vec![Decimal::ZERO; DAY as usize] };
        let gpus =
            |users| product(&[count(replica.for_users(users).unwrap_or_default()), count(replica.gpus)]);
        self.users_by_hour().into_iter().map(gpus).collect()
    }

    /// Tokens that an hour of a GPU makes on average of a day. None where it runs on none.
    pub(super) fn tokens_per_hour(&self, accelerator: &str) -> Option<Decimal> {
        let users: Decimal = self.users_by_hour().into_iter().sum();
        let gpus: Decimal = self.day(accelerator).into_iter().sum();
        quotient(product(&[users, self.tokens_per_second, 3600.into()]), gpus)
    }

    /// GPUs of the busiest hour, step by step.
    ///
    /// # Errors
    /// What cannot be computed with, in words: also weights in numbers that the GPU does not compute with.
    pub fn size(&self, accelerator: &str) -> Result<Vec<Figure>, Refused> {
        check::service(self, accelerator).warnings_or_refused()?;
        let fitted = self.fit(accelerator, 1).fit()?;
        let Some(replica) = self.replica(accelerator) else { return Ok(Vec::new()) };
        let held = self.fit(accelerator, replica.gpus).fit()?.tokens.value;
        let users = count(self.users);
        let copies = replica.for_users(users).map(count);
        let number = |name, value| term(name, value, Unit::Number);
        let rate = |name, value| term(name, value, Unit::TokensPerSecond);
        let tokens = |name, value| term(name, value, Unit::Tokens);
        Ok(vec![
            fitted.weights,
            fitted.bytes_per_token,
            fitted.least_gpus,
            figure(
                "Users of a replica by memory",
                replica.users_by_memory,
                Unit::Number,
                "tokens that fit ÷ tokens of a user, whole ones",
                vec![
                    tokens("tokens that fit", held.unwrap_or_default()),
                    tokens("tokens of a user", count(self.tokens_per_user)),
                ],
            ),
            figure(
                "Users of a replica by speed",
                Some(replica.users_by_speed),
                Unit::Number,
                "GPUs × tokens a second of a GPU ÷ tokens a second of a user, whole ones",
                vec![
                    number("GPUs", count(replica.gpus)),
                    rate("tokens a second of a GPU", self.gpu_tokens_per_second),
                    rate("tokens a second of a user", self.tokens_per_second),
                ],
            ),
            figure(
                "Replicas",
                copies,
                Unit::Number,
                "users ÷ the fewer users of a replica, rounded up",
                vec![number("users", users), number("users of a replica", replica.users())],
            ),
            figure(
                "GPUs",
                self.gpus(accelerator, users),
                Unit::Number,
                "replicas × GPUs of a replica",
                vec![
                    number("replicas", copies.unwrap_or_default()),
                    number("GPUs of a replica", count(replica.gpus)),
                ],
            ),
        ])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::economics::comparison::Scenario;
    use crate::economics::file::read;
    use crate::money::arithmetic::decimal;

    const H100: &str = "nvidia-h100-sxm";

    fn service(users: u32, rate: i64) -> Service {
        Service { users, gpu_tokens_per_second: rate.into(), ..Service::default() }
    }

    fn values(service: &Service, accelerator: &str) -> Vec<Decimal> {
        service.size(accelerator).unwrap().iter().filter_map(|it| it.value).collect()
    }

    #[test]
    fn memory_or_speed_decides_whichever_takes_more() {
        // 140 GB and 327,680 bytes a token: two GPUs of 80 GB, with room for 61,035 tokens, 14 users of 4,096.
        let found = values(&service(100, 1000), H100);
        assert_eq!(found[3..], [14.into(), 100.into(), 8.into(), 16.into()]);
        // At 50 tokens a second of a GPU two of them serve five users.
        let slow = values(&service(100, 50), H100);
        assert_eq!(slow[3..], [14.into(), 5.into(), 20.into(), 40.into()]);
        let wider = Service { gpus_per_replica: Some(4), ..service(100, 1000) };
        assert_eq!(values(&wider, H100)[3..], [134.into(), 200.into(), 1.into(), 4.into()]);
    }

    #[test]
    fn what_cannot_run_is_refused_in_words() {
        let fp8 = Service { weights: Precision::Fp8, ..service(10, 500) };
        for (service, accelerator, field, words) in [
            (fp8.clone(), "nvidia-a100-sxm-80", "weights", "does not compute with 8-bit floats"),
            (service(0, 500), H100, "users", "expected 1"),
            (service(10, 0), H100, "gpu_tokens_per_second", "expected measured"),
            (service(10, 5), H100, "gpu_tokens_per_second", "too slow for one user"),
            (service(10, 500), "", "accelerator", "is unknown"),
            (
                Service { gpus_per_replica: Some(1), ..service(10, 500) },
                H100,
                "gpus_per_replica",
                "at least 2",
            ),
            (Service { day_swing: 2.into(), ..service(10, 500) }, H100, "day_swing", "a share"),
            (Service { tokens_per_user: 0, ..service(10, 500) }, H100, "tokens_per_user", "expected 1"),
        ] {
            let refused = service.size(accelerator).unwrap_err();
            let described =
                refused.0.iter().find(|it| it.field == field).unwrap_or_else(|| panic!("{refused}"));
            assert!(described.message.contains(words), "{described}");
        }
        assert!(fp8.size(H100).is_ok());
    }

    fn scenario(demand: &str) -> Scenario {
        let text = format!(
            r#"
months = 12
[[work]]
name = "chat"
accelerator = "nvidia-h100-sxm"
demand = {{ shape = "serving", {demand} }}
[[option]]
name = "On demand"
place = [{{ on_demand = {{ price = 3 }} }}]
[[option]]
name = "By the token"
place = [{{ per_million_tokens = {{ price = 1 }} }}]
"#
        );
        read(&text).unwrap()
    }

    #[test]
    fn work_can_be_asked_for_by_its_users() {
        let found = scenario("users = 100, gpu_tokens_per_second = 1000").compare().unwrap();
        assert_eq!((found.work[0].peak, found.work[0].lowest), (16.into(), 16.into()));
        assert_eq!(found.work[0].sizing.last().unwrap().value, Some(16.into()));
        // 100 users at 20 tokens a second, whatever serves them.
        let tokens = product(&[2000.into(), 3600.into(), 730.into(), 12.into()]);
        let by_tokens = quotient(tokens, 1_000_000.into()).unwrap();
        assert!((found.options[1].total - by_tokens).abs() < decimal(1, 2), "{}", found.options[1].total);
        let swinging =
            scenario("users = 100, gpu_tokens_per_second = 1000, day_swing = 0.8").compare().unwrap();
        assert_eq!((swinging.work[0].peak, swinging.work[0].lowest), (16.into(), 4.into()));
        let mut old = scenario("users = 100, gpu_tokens_per_second = 1000, weights = \"fp8\"");
        old.work[0].accelerator = "nvidia-a100-sxm-80".to_owned();
        assert_eq!(old.compare().unwrap_err().0[0].field, "work.0.demand.weights");
        old.work[0].accelerator = String::new();
        assert_eq!(old.compare().unwrap_err().0[0].field, "work.0.accelerator");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn more_users_never_take_fewer_gpus_and_more_speed_never_more(
            users in 1u32..5000,
            more in 1u32..500,
            rate in 20i64..3000,
            context in 1u32..20_000,
        ) {
            let of = |users: u32, rate: i64| {
                let it = Service { tokens_per_user: context, ..service(users, rate) };
                it.gpus(H100, count(users))
            };
            let Some(gpus) = of(users, rate) else { return Ok(()) };
            prop_assert!(of(users + more, rate).unwrap() >= gpus);
            prop_assert!(of(users, rate + i64::from(more)).unwrap() <= gpus);
            let replica = Service { tokens_per_user: context, ..service(users, rate) }.replica(H100).unwrap();
            let served = product(&[replica.users(), quotient(gpus, count(replica.gpus)).unwrap()]);
            prop_assert!(served >= count(users));
        }
    }
}
