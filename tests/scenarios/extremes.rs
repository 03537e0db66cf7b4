//! Inputs as large and as small as they may be: whatever is not refused is computed with, and nothing overflows.

use gpuledger::economics::commitment::Commitment;
use gpuledger::economics::egress::{Hop, Rates, Transfer};
use gpuledger::economics::memory::{Fit, Precision};
use gpuledger::economics::price_path::{LockIn, Progress, Refresh};
use gpuledger::economics::serving::{Interface, Lifetime, Serving};
use gpuledger::economics::silicon::Porting;
use gpuledger::economics::slices::{By, Layout, Turns};
use gpuledger::economics::spot::{Interruptions, Job, Preemptions, Spot};
use gpuledger::economics::vector_search::{Numbers, Rule, Vectors};
use gpuledger::economics::work_unit::{Basis, Offer, Performance, rank};
use gpuledger::money::Decimal;

use crate::support::number;

/// The most money, with as many digits as anybody may enter; and the least.
fn moneys() -> [Decimal; 2] {
    ["999999999999.99999999999999999999", "0.00000000000000000001"].map(number)
}

fn least() -> Decimal {
    number("0.00000000000000000001")
}

#[test]
fn spot_and_commitments() {
    for (price, rate) in moneys().into_iter().zip([number("60"), least()]) {
        for minutes in [number("1440"), least(), Decimal::ZERO] {
            let interruptions = Interruptions {
                preemptions: Preemptions::Hour { rate },
                failures: rate,
                instances: 100_000,
                pause_minutes: minutes,
                restart_minutes: minutes,
                notice_minutes: Decimal::ZERO,
            };
            for interval_hours in [None, Some(number("0.001")), Some(number("8760"))] {
                let job = Job {
                    useful_hours: 1_000_000.into(),
                    speed: number("0.001"),
                    wait_hours: least(),
                    deadline_hours: Some(least()),
                };
                let (interruptions, job) = (interruptions.clone(), Some(job));
                let spot = Spot { price, on_demand: moneys()[0], interruptions, interval_hours, job };
                assert!(spot.cost().is_ok());
            }
        }
        let commitment = Commitment {
            upfront: moneys()[0],
            hourly: price,
            years: number("0.01"),
            on_demand: price,
            later_on_demand: Some(moneys()[1]),
            cost_of_capital: 1.into(),
        };
        assert!(commitment.terms().is_ok());
    }
}

#[test]
fn moving_data_and_work() {
    let most = Decimal::from(1_000_000_000_000);
    for rates in [Rates::GooglePremium, Rates::Aws, Rates::Flat { price: number("999.99999999999999999999") }]
    {
        for gigabytes in [most, least()] {
            let transfer = Transfer {
                rates,
                gigabytes,
                months: 600,
                other_gigabytes: most,
                hops: vec![Hop::Region { price: 1000.into() }, Hop::Nat],
                line: number("0.001"),
                line_share: number("0.01"),
            };
            assert!(transfer.cost().is_ok());
        }
    }
    for (money, share) in moneys().into_iter().zip([number("0.99999999999999999999"), least()]) {
        let porting = Porting {
            spend: money,
            saving: share,
            coverage: share,
            engineer_weeks: 100_000.into(),
            loaded_cost: moneys()[0],
            chance: share,
            months_of_both: 120.into(),
            releases_per_year: 365.into(),
            ported_anew: share,
            months: 1200,
            cost_of_capital: share,
        };
        assert!(porting.cost().is_ok());
    }
}

#[test]
fn models() {
    for price in moneys() {
        for rate in [number("1000000000000"), number("0.001")] {
            let serving = Serving {
                price,
                gpus: 1_000_000,
                output_rate: rate,
                input_rate: Some(rate),
                duty: number("0.0001"),
            };
            assert!(serving.cost().is_ok());
        }
        let interface = Interface { price, fixed: moneys()[0], variable: Decimal::ZERO };
        assert!(interface.break_even().is_ok());
        let lifetime = Lifetime { training: moneys()[0], serving: price, months: 1200 };
        assert!(lifetime.overtaking().is_ok());
        for value in [number("1000000000000000"), least()] {
            let performance = Performance { value, basis: Basis::DenseOperations };
            assert!(rank(&[Offer { name: String::new(), price, performance }]).is_ok());
        }
        let slices = vec!["1g.10gb".to_owned(); 7];
        for by in [By::Compute, By::Memory, By::Dominant] {
            let (accelerator, slices) = ("nvidia-h100-sxm".to_owned(), slices.clone());
            assert!(Layout { accelerator, price, slices, by }.cost().is_ok());
        }
        assert!(Turns { price, replicas: 1000, hours: 1_000_000_000.into() }.cost().is_ok());
        let vectors = Vectors {
            vectors: 10_000_000_000_000,
            dimensions: 1_000_000,
            numbers: Numbers::Fp32,
            rule: Rule::Graph { neighbors: 1000 },
            price,
            managed: Some(price),
        };
        assert!(vectors.cost().is_ok());
    }
    for parameters in [number("1000000"), number("0.001")] {
        let fit = Fit {
            parameters,
            weights: Precision::Fp32,
            cache: Precision::Fp32,
            layers: 100_000,
            key_value_heads: 100_000,
            head_size: 100_000,
            activations: 1_000_000.into(),
            tokens: 1_000_000_000_000,
            usable: Some(number("0.1")),
            gpus: 100_000,
            ..Fit::default()
        };
        assert!(fit.fit().is_ok());
    }
}

#[test]
fn paths() {
    let price = moneys()[0];
    for orders_per_year in [Decimal::from(2), least()] {
        let progress = Progress { orders_per_year };
        let lock_in = LockIn { monthly: price, months: 1200, progress, cost_of_capital: 1.into() };
        assert!(lock_in.cost().is_ok());
    }
    let refresh = Refresh { price_ratio: 1000.into(), performance_ratio: number("0.01") };
    assert!(refresh.unit().is_ok());
}
