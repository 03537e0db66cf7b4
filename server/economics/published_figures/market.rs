//! About renting: prices, spot, commitments.

use super::{PublishedFigure, value, worked_example};
use crate::economics::commitment::Commitment;
use crate::economics::figure::Unit;
use crate::economics::owning::{About, Draw, Fabric, Hours, Other, Owning, Part, Per, Residual, Staff};
use crate::economics::rent;
use crate::economics::spot::{Interruptions, Preemptions};
use crate::money::Decimal;
use crate::money::arithmetic::{HOURS_PER_MONTH, decimal, one, product, quotient};
use crate::price_catalogue::{Catalogue, Price, Tier};

pub(super) const FIGURES: &[fn() -> Option<PublishedFigure>] = &[
    thousand_hours,
    spot_discount,
    spot_band,
    waste,
    spot_request,
    one_year,
    payback,
    peak,
    idle_instances,
    eight_million,
    smaller_gpu,
];

/// On demand, of a node of H100 of AWS: until June 2025 and since.
fn on_demand() -> (Decimal, Decimal) {
    (decimal(1229, 2), decimal(688, 2))
}

fn thousand_hours() -> Option<PublishedFigure> {
    let own = worked_example().cost().ok()?.per_hour(Hours::Productive)?;
    let day = |price| rent::cost(1000, one(), price);
    Some(PublishedFigure {
        id: "thousand-hours",
        says: "1,000 on-prem GPU-hours a day cost 3,560 dollars; a specialty cloud narrows that advantage.",
        printed: "$3,560",
        reproduced: Some(value(day(own), Unit::Money, "a day, at the example’s own cost per hour")),
        right: vec![
            value(
                day(2.into()),
                Unit::Money,
                "a day at a specialty cloud at 2.00 dollars, from the same table",
            ),
            value(day(decimal(250, 2)), Unit::Money, "a day at 2.50"),
            value(day(decimal(399, 2)), Unit::Money, "a day at 3.99, its price in 2026"),
        ],
        why: "At the prices of the same table, the specialty cloud costs less. At 2026 prices, it costs \
              more.",
    })
}

fn spot_discount() -> Option<PublishedFigure> {
    let current = ["nvidia-h100-sxm", "nvidia-h200-sxm", "nvidia-b200"];
    let prices = || Catalogue::shipped().listed().iter().map(|it| &it.price);
    let mut found: Vec<Decimal> = prices()
        .filter(|price| price.tier == Tier::Spot && current.contains(&price.accelerator.as_str()))
        .filter_map(|spot| {
            let list = prices().find(|price: &&Price| {
                price.tier == Tier::OnDemand
                    && price.accelerator == spot.accelerator
                    && price.supplier == spot.supplier
            })?;
            rent::discount(spot.amount, list.amount)
        })
        .collect();
    found.sort_unstable();
    Some(PublishedFigure {
        id: "spot-discount",
        says: "Spot capacity is 60 to 90% cheaper than on demand.",
        printed: "60-90 %",
        reproduced: None,
        right: vec![
            value(
                *found.first()?,
                Unit::Share,
                "the smallest discount for H100, H200 and B200 in this \
                                                 price list",
            ),
            value(*found.last()?, Unit::Share, "the largest discount"),
        ],
        why: "This held for older GPUs with spare capacity. Discounts on current GPUs are smaller: the \
              same lesson elsewhere says 30 to 60% off.",
    })
}

fn spot_band() -> Option<PublishedFigure> {
    let (list, _) = on_demand();
    let off = |price: i64| rent::discount(price.into(), list);
    Some(PublishedFigure {
        id: "spot-band",
        says: "An H100 on spot costs 5 to 8 dollars an hour, and spot is 70% below 12.29 on demand.",
        printed: "$5-8",
        reproduced: None,
        right: vec![
            value(rent::discounted(list, decimal(70, 2)), Unit::MoneyPerHour, "at 70% off"),
            value(off(8)?, Unit::Share, "off is 8 dollars"),
            value(off(5)?, Unit::Share, "off is 5 dollars"),
        ],
        why: "The price range and the discount contradict each other.",
    })
}

/// Interruptions of the example about spot: 2 % an hour, of one instance, where nothing takes time but work done twice.
pub fn first_example_of_spot() -> Interruptions {
    Interruptions {
        preemptions: Preemptions::Hour { rate: decimal(2, 2) },
        failures: Decimal::ZERO,
        pause_minutes: Decimal::ZERO,
        restart_minutes: Decimal::ZERO,
        ..Interruptions::default()
    }
}

fn waste() -> Option<PublishedFigure> {
    let half = decimal(5, 1);
    let bare = first_example_of_spot();
    let whole = Interruptions { pause_minutes: one(), restart_minutes: 10.into(), ..bare.clone() };
    let gang = Interruptions { instances: 8, ..whole.clone() };
    Some(PublishedFigure {
        id: "checkpoint-waste",
        says: "With interruptions of 2 % an hour and checkpoints every half hour, spot wastes 1 % of the time.",
        printed: "0.01",
        reproduced: Some(value(
            bare.lost_at_most(half),
            Unit::Share,
            "if every interruption came just before a checkpoint",
        )),
        right: vec![
            value(
                bare.lost(half),
                Unit::Share,
                "of the time: on average, they come halfway between \
                                                 checkpoints",
            ),
            value(
                whole.factor(half)? - one(),
                Unit::Share,
                "with 1 minute per checkpoint and 10 per restart",
            ),
            value(gang.factor(half)? - one(), Unit::Share, "for a job on eight instances"),
        ],
        why: "The loss between checkpoints is half of that; checkpoints and restarts cost more than all \
              of it. The rate is per instance: a job on eight is interrupted eight times as often.",
    })
}

fn spot_request() -> Option<PublishedFigure> {
    let (list, _) = on_demand();
    Some(PublishedFigure {
        id: "spot-request",
        says: "A request for spot nodes of eight H100 offers at most 6.00 dollars.",
        printed: "6.00",
        reproduced: None,
        right: vec![
            value(
                rent::discount(6.into(), list.times(8))?,
                Unit::Share,
                "below on demand, a price nobody offers",
            ),
            value(rent::per_accelerator(6.into(), 8)?, Unit::MoneyPerHour, "per GPU"),
        ],
        why: "The price of a request is per instance, which has eight GPUs. The request is never filled.",
    })
}

fn one_year() -> Option<PublishedFigure> {
    let (list, later) = on_demand();
    let signed = Commitment {
        hourly: decimal(805, 2),
        years: one(),
        on_demand: list,
        later_on_demand: Some(later),
        ..Commitment::default()
    };
    let terms = signed.terms().ok()?;
    Some(PublishedFigure {
        id: "one-year-commitment",
        says: "A one-year commitment saves 25 to 35%.",
        printed: "25-35 %",
        reproduced: Some(value(
            terms.discount.value?,
            Unit::Share,
            "8.05 against 12.29 dollars, if all of it is used",
        )),
        right: vec![
            value(terms.break_even.value?, Unit::Share, "of the hours must be used to save anything"),
            value(terms.months_of_full_use.value?, Unit::Months, "of full use until it is paid for"),
            value(
                terms.later_break_even?.value?,
                Unit::Share,
                "of the hours, after the list price fell to 6.88 in June 2025: not possible",
            ),
        ],
        why: "A commitment is paid, used or not, while on-demand prices fall. Commitments from before \
              June 2025 cost more than on demand since then.",
    })
}

/// Inputs of a published calculator of own machines against a cloud: eight GPUs of 35,000, two fifths besides, four
/// years, 400 hours a month, 3,000 a month for everything else.
pub fn calculator() -> Owning {
    let used = quotient(400.into(), HOURS_PER_MONTH.into()).unwrap_or_default();
    let rest = Other {
        name: "Everything else".to_owned(),
        about: About::SomethingElse,
        amount: 36_000.into(),
        per: Per::Year,
    };
    Owning {
        gpus: 8,
        node_price: 280_000.into(),
        fabric: Fabric::Node { price: 112_000.into() },
        life_years: 4.into(),
        draw: Draw::Gpu { idle_kw: Decimal::ZERO, load_kw: decimal(7, 1), node_factor: one() },
        pue: decimal(14, 1),
        tariff: decimal(12, 2),
        utilization: used,
        others: vec![rest],
        residual: Residual::Share { share: Decimal::ZERO },
        spare_share: Decimal::ZERO,
        cost_of_capital: Decimal::ZERO,
        maintenance_share: Decimal::ZERO,
        unavailability: Decimal::ZERO,
        staff: Staff { loaded_cost: Decimal::ZERO, ..Staff::default() },
        ..Owning::default()
    }
}

fn payback() -> Option<PublishedFigure> {
    let cost = calculator().cost().ok()?;
    let monthly = |amount| quotient(amount, 12.into());
    let cloud = rent::cost(8, 400.into(), decimal(450, 2));
    let own = monthly(cost.total)?;
    let running = own - monthly(cost.of(Part::Capital))?;
    let months = |saved| quotient(cost.purchase.total, saved);
    Some(PublishedFigure {
        id: "payback",
        says: "Eight on-prem GPUs pay back after 137 months compared with 4.50 dollars an hour, so the \
               cloud is cheaper.",
        printed: "137.2 months",
        reproduced: Some(value(months(cloud - own)?, Unit::Months, "of depreciation, counted as a payment")),
        right: vec![
            value(months(cloud - running)?, Unit::Months, "purchase ÷ (cloud − what running it costs)"),
            value(cloud, Unit::MoneyPerMonth, "of the cloud"),
            value(own, Unit::MoneyPerMonth, "on-prem, with depreciation"),
        ],
        why: "The purchase must be paid back once. A published calculator also subtracts it as \
              depreciation, and then names the more expensive option.",
    })
}

fn peak() -> Option<PublishedFigure> {
    let supply = crate::economics::capacity::gpu_hours(80, one(), one());
    Some(PublishedFigure {
        id: "peak-of-half",
        says: "80 GPUs with a peak of 800 GPU-hours a day are 50% utilized on most days.",
        printed: "50 %",
        reproduced: None,
        right: vec![
            value(quotient(800.into(), supply)?, Unit::Share, "on the busiest day"),
            value(supply, Unit::Hours, "a day are available"),
        ],
        why: "Utilization on most days is below that of the peak day.",
    })
}

fn idle_instances() -> Option<PublishedFigure> {
    let hours = rent::hours_for(47_000.into(), product(&[8.into(), decimal(327_726, 4)]))?;
    Some(PublishedFigure {
        id: "idle-instances",
        says: "Eight instances of eight A100, idle at 32 dollars an hour for three days, cost 47,000 dollars.",
        printed: "$47,000",
        reproduced: None,
        right: vec![
            value(rent::cost(8, 72.into(), 32.into()), Unit::Money, "for 72 hours"),
            value(quotient(hours, 24.into())?, Unit::Days, "until the cost is 47,000"),
        ],
        why: "The inputs give less than half of it. Either they ran for a week, or there were more \
              instances.",
    })
}

fn eight_million() -> Option<PublishedFigure> {
    let (list, _) = on_demand();
    let hours = rent::hours_for(8_000_000.into(), list)?;
    let at = |cents| product(&[hours, decimal(cents, 2)]);
    Some(PublishedFigure {
        id: "eight-million",
        says: "8 million dollars a year on demand become 1.5 to 2 million at a specialty cloud.",
        printed: "$1.5-2M",
        reproduced: None,
        right: vec![
            value(at(200), Unit::MoneyPerYear, "for the same hours at 2.00 dollars"),
            value(at(250), Unit::MoneyPerYear, "at 2.50"),
            value(at(399), Unit::MoneyPerYear, "at 3.99, the price in 2026"),
        ],
        why: "At the prices the text names, the same hours cost less; at 2026 prices, more. Neither \
              includes moving or the same availability.",
    })
}

fn smaller_gpu() -> Option<PublishedFigure> {
    let a100 = rent::per_accelerator(decimal(327_726, 4), 8)?;
    Some(PublishedFigure {
        id: "three-times-cheaper",
        says: "An A10G is three times cheaper than an A100.",
        printed: "3 ×",
        reproduced: None,
        right: vec![
            value(
                quotient(a100, rent::per_accelerator(decimal(16_288, 3), 8)?)?,
                Unit::Number,
                "times, in instances of eight",
            ),
            value(quotient(a100, decimal(1006, 3))?, Unit::Number, "times, in the smallest instance"),
        ],
        why: "The price depends on the instance. An hour of an A10G also does less work: compare the cost \
              of the work.",
    })
}
