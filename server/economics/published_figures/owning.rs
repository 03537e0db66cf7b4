//! About owning.

use super::{PublishedFigure, value};
use crate::economics::break_even::{BreakEven, Question, Verdict};
use crate::economics::capacity::{gpu_hours, share_of_year};
use crate::economics::owning::capital::port_price;
use crate::economics::owning::{
    About, Draw, Fabric, Hours, Other, Owning, OwningCost, Part, Per, Residual, Staff, Unit,
};
use crate::money::Decimal;
use crate::money::arithmetic::{HOURS_PER_YEAR, count, decimal, one, product, quotient};
use crate::price_catalogue::Payment;

pub(super) const FIGURES: &[fn() -> Option<PublishedFigure>] = &[
    yearly_cost,
    break_even,
    reservation,
    above_forty_percent,
    network_twice,
    power_of_gpus_alone,
    cost_of_an_hour,
    hours_of_a_year,
    hardware_alone,
    training_hours,
    years_of_rent,
    busy_cluster,
    same_work,
    fabric_by_port,
];

/// The worked example that most of them come from, with exactly the costs that it counts: 64 H100 over three years,
/// nothing for capital, downtime, spares or maintenance; 560 W a GPU and nothing for the rest of its node.
pub fn worked_example() -> Owning {
    let average = decimal(560, 3);
    let example = Owning {
        residual: Residual::Share { share: Decimal::ZERO },
        spare_share: Decimal::ZERO,
        cost_of_capital: Decimal::ZERO,
        maintenance_share: Decimal::ZERO,
        unavailability: Decimal::ZERO,
        draw: Draw::Gpu { idle_kw: average, load_kw: average, node_factor: one() },
        staff: Staff { months_before: Decimal::ZERO, ..Staff::default() },
        ..Owning::default()
    };
    // It takes 0.10 for each productive hour at 80 %, and then has all costs fixed.
    let productive = product(&[HOURS_PER_YEAR.into(), example.utilization]);
    let network = Other {
        name: "Network".to_owned(),
        about: About::Network,
        amount: product(&[decimal(10, 2), productive]),
        per: Per::GpuYear,
    };
    Owning { others: vec![network], ..example }
}

/// The same with the power of whole nodes, which draw 2.1 kW idle and 8.4 kW at work, and the network counted once.
pub fn corrected_example() -> Owning {
    Owning { draw: Draw::default(), others: Vec::new(), ..worked_example() }
}

/// With what it costs besides: a spare node, downtime and maintenance of 5 %, capital at 10 %, and a fifth of the price
/// that is left at the end.
pub fn complete_example() -> Owning {
    Owning {
        spare_share: decimal(5, 2),
        unavailability: decimal(5, 2),
        maintenance_share: decimal(5, 2),
        cost_of_capital: decimal(10, 2),
        residual: Residual::Share { share: decimal(20, 2) },
        ..corrected_example()
    }
}

/// What comes closest to the 18,628: the hardware, and 700 W a GPU in a room with a PUE of 1.5.
pub fn hardware_and_power() -> Owning {
    let full = decimal(700, 3);
    Owning {
        draw: Draw::Gpu { idle_kw: full, load_kw: full, node_factor: one() },
        pue: decimal(15, 1),
        ..without_staff(worked_example())
    }
}

/// Only what the machines cost and draw.
pub fn without_staff(owning: Owning) -> Owning {
    let staff = Staff { loaded_cost: Decimal::ZERO, ..owning.staff };
    Owning { staff, others: Vec::new(), ..owning }
}

/// A GPU at a price and nothing else, used in every hour of three years.
pub fn only_a_gpu(price: Decimal) -> Owning {
    Owning {
        gpus: 1,
        gpus_per_node: 1,
        node_price: price,
        fabric: Fabric::Node { price: Decimal::ZERO },
        utilization: one(),
        tariff: Decimal::ZERO,
        ..without_staff(worked_example())
    }
}

/// The share of available hours from which on owning costs less than a price per use: also one that cannot be reached.
pub fn takes(cost: &OwningCost, price: Decimal) -> Option<Decimal> {
    let question = Question {
        payment: Payment::PerUse { price },
        efficiency: one(),
        utilization: cost.utilization,
        most: one(),
    };
    match cost.by_utilization.break_even(&question).ok()? {
        BreakEven::PerUse { verdict: Verdict::At { utilization }, .. } => Some(utilization),
        BreakEven::PerUse { verdict: Verdict::Never { would_take }, .. } => would_take,
        _ => None,
    }
}

/// What owning costs for each unit of money that a commitment costs.
pub fn ratio(cost: &OwningCost, price: Decimal) -> Option<Decimal> {
    let payment = Payment::Committed { price };
    let question = Question { payment, efficiency: one(), utilization: cost.utilization, most: one() };
    match cost.by_utilization.break_even(&question).ok()? {
        BreakEven::Committed { ratio, .. } => ratio,
        BreakEven::PerUse { .. } => None,
    }
}

/// Work of a year: so many runs a year of so many days on so many GPUs.
fn training(runs: i64) -> Decimal {
    gpu_hours(64, 14.into(), runs.into())
}

fn reserved() -> Decimal {
    decimal(525, 2)
}

fn yearly_cost() -> Option<PublishedFigure> {
    let short = hardware_and_power().cost().ok()?;
    let cost = worked_example().cost().ok()?;
    Some(PublishedFigure {
        id: "yearly-cost",
        says: "An on-prem H100 costs 18,628 dollars a year.",
        printed: "$18,628",
        reproduced: Some(value(
            short.per_gpu()?,
            Unit::MoneyPerYear,
            "hardware over three years, and 700 W at a PUE of 1.5",
        )),
        right: vec![
            value(cost.per_gpu()?, Unit::MoneyPerYear, "the example's own four costs"),
            value(per_gpu(&cost, Part::Staff)?, Unit::MoneyPerYear, "staff, which is missing"),
            value(per_gpu(&cost, Part::Other)?, Unit::MoneyPerYear, "network, which is missing"),
        ],
        why: "The cost per hour includes staff and network, the cost per year does not. Power is 560 W at \
              a PUE of 1.3 in one, and apparently 700 W at 1.5 in the other.",
    })
}

fn per_gpu(cost: &OwningCost, part: Part) -> Option<Decimal> {
    quotient(cost.of(part), count(worked_example().gpus))
}

fn break_even() -> Option<PublishedFigure> {
    let short = hardware_and_power().cost().ok()?;
    let cost = worked_example().cost().ok()?;
    Some(PublishedFigure {
        id: "break-even",
        says: "Owning breaks even at 40.5% utilization, compared with 5.25 dollars an hour.",
        printed: "40.5 %",
        reproduced: Some(value(takes(&short, reserved())?, Unit::Share, "of 18,628 dollars a year")),
        right: vec![value(takes(&cost, reserved())?, Unit::Share, "of the example's own four costs")],
        why: "The division is correct, but the cost per year lacks staff and network.",
    })
}

fn reservation() -> Option<PublishedFigure> {
    let cost = worked_example().cost().ok()?;
    Some(PublishedFigure {
        id: "reservation",
        says: "Compared with a three-year reservation, owning needs 40.5% utilization.",
        printed: "40.5 %",
        reproduced: None,
        right: vec![
            value(ratio(&cost, reserved())?, Unit::Number, "owning ÷ reserving, at every utilization"),
            value(
                product(&[HOURS_PER_YEAR.into(), reserved()]),
                Unit::MoneyPerYear,
                "a reserved H100, used or not",
            ),
        ],
        why: "A reservation is paid for every hour, like on-prem machines, so utilization cancels out. A \
              break-even utilization exists only for prices paid by use.",
    })
}

fn above_forty_percent() -> Option<PublishedFigure> {
    let cost = worked_example().cost().ok()?;
    let against = |cents, of| Some(value(takes(&cost, decimal(cents, 2))?, Unit::Share, of));
    Some(PublishedFigure {
        id: "above-forty-percent",
        says: "Owning costs less above 40% utilization.",
        printed: "40 %",
        reproduced: None,
        right: vec![
            against(1229, "compared with 12.29 dollars an hour, on demand until June 2025")?,
            against(688, "compared with 6.88, on demand since")?,
            against(399, "compared with 3.99, on demand at a specialty cloud")?,
            against(250, "compared with 2.50 on a marketplace; above 1 means never")?,
        ],
        why: "There is no single threshold: it depends on the price of renting, and below some price \
              owning never costs less.",
    })
}

fn network_twice() -> Option<PublishedFigure> {
    let cost = worked_example().cost().ok()?;
    let once = Owning { others: Vec::new(), ..worked_example() }.cost().ok()?;
    Some(PublishedFigure {
        id: "network-twice",
        says: "The network adds 0.10 dollars per productive GPU-hour.",
        printed: "$0.10",
        reproduced: Some(value(
            cost.part_per_hour(Part::Other, Hours::Productive)?,
            Unit::MoneyPerHour,
            "per productive hour, without the network",
        )),
        right: vec![
            value(
                fabric_of_an_hour(&cost)?,
                Unit::MoneyPerHour,
                "per productive hour is the network already",
            ),
            value(once.per_hour(Hours::Productive)?, Unit::MoneyPerHour, "per productive hour, counted once"),
        ],
        why: "The price of a node, 425,000 dollars, already includes 50,000 for InfiniBand. Adding it per \
              hour counts it twice.",
    })
}

/// What the fabric's share of the capital is in a productive hour.
fn fabric_of_an_hour(cost: &OwningCost) -> Option<Decimal> {
    let share = quotient(cost.purchase.fabric, cost.purchase.total)?;
    Some(product(&[cost.part_per_hour(Part::Capital, Hours::Productive)?, share]))
}

fn power_of_gpus_alone() -> Option<PublishedFigure> {
    let alone = worked_example().cost().ok()?;
    let whole = corrected_example().cost().ok()?;
    Some(PublishedFigure {
        id: "power-of-gpus-alone",
        says: "Power for an H100 costs 637 dollars a year.",
        printed: "$637",
        reproduced: Some(value(
            per_gpu(&alone, Part::Energy)?,
            Unit::MoneyPerYear,
            "560 W at a PUE of 1.3 and 0.10 a kWh",
        )),
        right: vec![value(
            per_gpu(&whole, Part::Energy)?,
            Unit::MoneyPerYear,
            "an eighth of a node that draws 2.1 kW idle and 8.4 kW at work",
        )],
        why: "560 W are 80% of the 700 W of a GPU. Processors, memory, fans, network cards and idle GPUs \
              are missing.",
    })
}

fn cost_of_an_hour() -> Option<PublishedFigure> {
    let productive = |owning: Owning| owning.cost().ok()?.per_hour(Hours::Productive);
    Some(PublishedFigure {
        id: "cost-of-an-hour",
        says: "A productive hour of an on-prem H100 costs 3.56 dollars.",
        printed: "$3.56",
        reproduced: Some(value(
            productive(worked_example())?,
            Unit::MoneyPerHour,
            "before parts are rounded",
        )),
        right: vec![
            value(
                productive(corrected_example())?,
                Unit::MoneyPerHour,
                "with the power of whole nodes, and the network counted once",
            ),
            value(
                productive(complete_example())?,
                Unit::MoneyPerHour,
                "with a spare node, 5 % downtime, 5 % maintenance and capital at 10 %, less 20 % that is left",
            ),
        ],
        why: "The largest error is what is missing: interest, maintenance, spares and downtime.",
    })
}

fn hours_of_a_year() -> Option<PublishedFigure> {
    let hours = only_a_gpu(one()).cost().ok()?.hours.first()?.hours;
    let life = worked_example().life_years;
    Some(PublishedFigure {
        id: "hours-of-a-year",
        says: "A GPU gives about 26,000 GPU-hours a year.",
        printed: "26,000",
        reproduced: Some(value(product(&[hours, life]), Unit::Hours, "over three years")),
        right: vec![value(hours, Unit::Hours, "a year, if every hour is used")],
        why: "A year has 8,760 hours; 26,280 are three years.",
    })
}

fn hardware_alone() -> Option<PublishedFigure> {
    let owned = |price: i64| only_a_gpu(price.into()).cost().ok()?.per_hour(Hours::Owned);
    Some(PublishedFigure {
        id: "hardware-alone",
        says: "An A100 that costs 10,000 to 15,000 dollars costs 0.80 to 1.00 dollars an hour over three years.",
        printed: "$0.80-1.00",
        reproduced: None,
        right: vec![
            value(owned(10_000)?, Unit::MoneyPerHour, "per on-prem GPU-hour, for 10,000 dollars"),
            value(owned(15_000)?, Unit::MoneyPerHour, "per on-prem GPU-hour, for 15,000 dollars"),
        ],
        why: "The hardware alone costs about half of that. Either the figure includes other costs, or \
              fewer hours than the text says.",
    })
}

fn training_hours() -> Option<PublishedFigure> {
    let hours = training(4);
    // What is printed for the largest case.
    let printed = Decimal::from(7168);
    Some(PublishedFigure {
        id: "training-hours",
        says: "Training a 7B model 3 to 4 times a year, for 2 weeks on 32 to 64 GPUs, takes 3,584 to 7,168 GPU-hours.",
        printed: "7,168",
        reproduced: None,
        right: vec![
            value(hours, Unit::Hours, "64 GPUs × 14 days × 24 hours × 4"),
            value(quotient(hours, printed)?, Unit::Number, "times the published hours"),
        ],
        why: "The published inputs, with 4 trainings a year, give exactly twelve times the published \
              hours.",
    })
}

fn years_of_rent() -> Option<PublishedFigure> {
    let rent = product(&[training(4), 2.into()]);
    Some(PublishedFigure {
        id: "years-of-rent",
        says: "For this work, a cluster of 500,000 dollars pays back after more than 50 years.",
        printed: "50+ years",
        reproduced: None,
        right: vec![
            value(
                quotient(500_000.into(), rent)?,
                Unit::Years,
                "of renting at 2 dollars an hour cost as much",
            ),
            value(
                share_of_year(training(4), 64)?,
                Unit::Share,
                "utilization of 64 GPUs with only this \
                                                                 work",
            ),
        ],
        why: "The hours are too few by a factor of twelve. It remains true that the cluster would be idle \
              most of the year.",
    })
}

fn busy_cluster() -> Option<PublishedFigure> {
    let hours = product(&[400.into(), 365.into()]);
    Some(PublishedFigure {
        id: "busy-cluster",
        says: "1,000 GPUs that do 400 GPU-hours a day are 40% utilized.",
        printed: "40 %",
        reproduced: None,
        right: vec![
            value(share_of_year(hours, 1000)?, Unit::Share, "utilization"),
            value(gpu_hours(400, one(), one()), Unit::Hours, "a day would be 40%"),
        ],
        why: "This confuses GPUs and GPU-hours: 1,000 GPUs have 24,000 GPU-hours a day.",
    })
}

fn same_work() -> Option<PublishedFigure> {
    let price = quotient(decimal(327_726, 4), 8.into())?;
    let hours = quotient(4_700_000.into(), price)?;
    Some(PublishedFigure {
        id: "same-work",
        says: "80 on-prem A100 do the work that cost 4.7 million dollars a year on demand.",
        printed: "80",
        reproduced: None,
        right: vec![
            value(hours, Unit::Hours, "a year for that money, at 32.7726 dollars for eight GPUs"),
            value(share_of_year(hours, 1)?, Unit::Number, "GPUs, busy every hour"),
            value(share_of_year(hours, 80)?, Unit::Number, "times the capacity of 80 GPUs"),
        ],
        why: "The claim does not check whether the cluster can do the work.",
    })
}

fn fabric_by_port() -> Option<PublishedFigure> {
    let of_node =
        |switch: i64| Some(Fabric::Port { price: port_price(switch.into(), 40)?, per_node: 8 }.per_node());
    Some(PublishedFigure {
        id: "fabric-by-port",
        says: "InfiniBand costs 50,000 dollars and more a node, and a switch with 40 ports 50,000 to 80,000.",
        printed: "$50,000",
        reproduced: None,
        right: vec![
            value(of_node(50_000)?, Unit::Money, "for the eight ports of a node, at 50,000 a switch"),
            value(of_node(80_000)?, Unit::Money, "for the eight ports of a node, at 80,000 a switch"),
        ],
        why: "Ports of the first switch are a fifth to a third of it. Cables, adapters and further \
              switches depend on the cluster size; enter your quote per port.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economics::check;

    #[test]
    fn what_the_example_counts_twice_is_noticed() {
        let warnings = check::owning(&worked_example()).warnings_or_refused().unwrap();
        let described: Vec<&str> = warnings.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(described, ["Network is counted twice: the price of a node includes the network"]);
    }
}
