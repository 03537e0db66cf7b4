//! Owning: each field by itself, and what does not go together.

use super::{Findings, MOST_GPUS, twice};
use crate::economics::owning::{Draw, Fabric, Housing, Owning, Per, Residual, Tenure};
use crate::money::Decimal;
use crate::money::arithmetic::{count, decimal, one, product};

/// What is odd about what was entered for owning.
pub fn owning(owning: &Owning) -> Findings {
    let mut found = Findings::default();
    machines(owning, &mut found);
    lease(owning, &mut found);
    capital(owning, &mut found);
    hours(owning, &mut found);
    power(owning, &mut found);
    housing(owning, &mut found);
    staff(owning, &mut found);
    found.each("others", &owning.others, |other, found| {
        // What work itself brings is no rebate of what it costs.
        match other.per {
            Per::Year | Per::GpuYear => found.money_or_rebate("amount", other.amount),
            Per::ProductiveHour => found.money("amount", other.amount),
        };
    });
    found.each("one_offs", &owning.one_offs, |one_off, found| {
        found.money_or_rebate("amount", one_off.amount);
    });
    twice::check(owning, &mut found);
    found.sorted()
}

fn machines(owning: &Owning, found: &mut Findings) {
    if i64::from(owning.gpus) > MOST_GPUS {
        found.refuse("gpus", owning.gpus, "expected at most a million");
    } else if owning.gpus == 0 {
        found.warn("gpus", 0, "expected at least 1: without GPUs there is no cost per hour");
    }
    found.whole("gpus_per_node", owning.gpus_per_node, 1..=1000, "expected 1 to 1,000");
    let is_of_use = owning.tenure == Tenure::Bought || !owning.maintenance_share.is_zero();
    if found.money("node_price", owning.node_price) && owning.node_price.is_zero() && is_of_use {
        found.warn("node_price", owning.node_price, "expected the price of a node, or its value, above 0");
    }
    match owning.fabric {
        Fabric::Node { price } => found.money("fabric.price", price),
        Fabric::Port { price, per_node } => {
            found.whole("fabric.per_node", per_node, ..=1000, "expected at most 1,000 ports per node");
            found.money("fabric.price", price)
        }
    };
    found.money("storage", owning.storage);
    found.money("installation", owning.installation);
    found.money("building", owning.building);
    found.money("software_per_gpu", owning.software_per_gpu);
    found.share("spare_share", owning.spare_share);
}

fn lease(owning: &Owning, found: &mut Findings) {
    let Tenure::Leased { price } = owning.tenure else { return };
    let field = "tenure.price";
    if price.is_zero() {
        found.refuse(field, price, "expected the monthly lease of a node, above 0");
        return;
    }
    // Of half the price to twice of it, with years that say nothing themselves.
    if !found.money(field, price) || owning.node_price <= Decimal::ZERO || owning.life_years <= Decimal::ZERO
    {
        return;
    }
    let paid = product(&[price, 12.into(), owning.life_years]);
    let said = format!(
        "over {} years that is {}, and a node costs {}",
        owning.life_years.normalize(),
        paid.round(0),
        owning.node_price.round(0)
    );
    if paid < product(&[owning.node_price, decimal(5, 1)]) {
        found.warn(field, price, &format!("{said}; is this the price of a GPU?"));
    } else if paid > owning.node_price.times(2) {
        found.warn(field, price, &format!("{said}; is this the price of a year?"));
    }
}

fn capital(owning: &Owning, found: &mut Findings) {
    let life = owning.life_years;
    if life <= Decimal::ZERO {
        found.refuse("life_years", life, "expected years above 0, mostly 3 to 5");
    } else if found.between("life_years", life, decimal(1, 1), 50.into(), "expected 0.1 to 50 years")
        && life > Decimal::from(8)
    {
        found.warn("life_years", life, "GPUs are usually replaced after 3 to 6 years; is this in months?");
    }
    let left = |share: &Decimal, found: &mut Findings| {
        if *share > one() {
            let message = "expected a share from 0 to 1; the residual value is above the price";
            found.refuse("", share, message);
        } else {
            found.share("", *share);
        }
    };
    match &owning.residual {
        Residual::Share { share } => found.within("residual.share", |found| left(share, found)),
        Residual::Age { shares } => found.each("residual.shares", shares, left),
    }
    found.share("cost_of_capital", owning.cost_of_capital);
    found.share("maintenance_share", owning.maintenance_share);
}

fn hours(owning: &Owning, found: &mut Findings) {
    found.part("unavailability", owning.unavailability);
    let utilization = owning.utilization;
    if found.share("utilization", utilization) {
        if utilization.is_zero() {
            found.warn(
                "utilization",
                utilization,
                "expected more than 0: without productive hours there is no cost per hour",
            );
        } else if utilization > decimal(95, 2) {
            let message =
                "above 0.95 of the hours of a year is not realistic; shared clusters reach 0.70 to 0.85";
            found.warn("utilization", utilization, message);
        }
    }
    if let Some(allocated) = owning.allocated_share
        && found.share("allocated_share", allocated)
        && allocated < utilization
    {
        let message = "less than the utilization, but a GPU without a job cannot be used";
        found.refuse("allocated_share", allocated, message);
    }
    let message = "expected 1 to 100 productive hours per useful hour; 1 if no work is repeated";
    found.between("rework", owning.rework, one(), 100.into(), message);
}

fn power(owning: &Owning, found: &mut Findings) {
    let most_kw = Decimal::from(10_000);
    let mut kilowatts =
        |field: &str, value| found.between(field, value, Decimal::ZERO, most_kw, "expected 0 to 10,000 kW");
    let (idle_kw, load_kw) = match owning.draw {
        Draw::Node { idle_kw, load_kw } | Draw::Gpu { idle_kw, load_kw, .. } => (idle_kw, load_kw),
    };
    // All of them, so that each is shown.
    let fit = [
        kilowatts("draw.idle_kw", idle_kw),
        kilowatts("draw.load_kw", load_kw),
        kilowatts("rated_kw", owning.rated_kw),
        kilowatts("rack_kw", owning.rack_kw),
    ];
    let mut fit = fit.into_iter().all(|fits| fits);
    if let Draw::Gpu { node_factor, .. } = owning.draw {
        let message = "expected 1 to 10; 1 if a node draws as much power as its GPUs";
        fit &= found.between("draw.node_factor", node_factor, one(), 10.into(), message);
    }
    if load_kw < idle_kw {
        found.refuse("draw.load_kw", load_kw, "less power at work than when idle");
    }
    if fit {
        odd_power(owning, found);
    }
    let pue = owning.pue;
    if pue < one() {
        let message =
            "expected 1 or more, mostly 1.1 to 1.6: a site cannot draw less power than its machines";
        found.refuse("pue", pue, message);
    } else if found.between("pue", pue, one(), 10.into(), "expected 1 to 10, mostly 1.1 to 1.6")
        && pue > 2.into()
    {
        found.warn(
            "pue",
            pue,
            "the site draws more than twice the power of its machines; usually 1.1 to 1.6",
        );
    }
    let message = "expected a price per kWh, from 0 to a million";
    found.between("tariff", owning.tariff, Decimal::ZERO, 1_000_000.into(), message);
    found.money("demand_charge", owning.demand_charge);
    let message = "expected 1 to 100 degrees Fahrenheit, mostly 20";
    found.between("air_rise", owning.air_rise, one(), 100.into(), message);
}

/// What the numbers of watts say to each other.
fn odd_power(owning: &Owning, found: &mut Findings) {
    let (_, load) = owning.node_draw();
    let least = product(&[count(owning.gpus_per_node), decimal(3, 1)]);
    if load < least {
        let message = format!(
            "too little for {} GPUs, which draw at least 0.3 kW each; include the whole node",
            owning.gpus_per_node
        );
        found.warn("draw.load_kw", load.normalize(), &message);
    }
    if owning.rated_kw < load {
        let message = format!("a node draws {} kW at work, more than its rated power", load.normalize());
        found.warn("rated_kw", owning.rated_kw, &message);
    }
    if owning.rack_kw < owning.rated_kw {
        let message = format!("a node of {} kW does not fit into a rack", owning.rated_kw);
        found.warn("rack_kw", owning.rack_kw, &message);
    }
    if let Housing::Colocation { contracted_kw: Some(contracted), .. } = owning.housing {
        let peak = product(&[count(owning.nodes_in_service()), load]);
        if contracted < peak {
            let message = format!("less than the {} kW that the active nodes draw at work", peak.normalize());
            found.warn("housing.contracted_kw", contracted, &message);
        }
    }
}

fn housing(owning: &Owning, found: &mut Findings) {
    let Housing::Colocation { price, contracted_kw, .. } = owning.housing else { return };
    if found.money("housing.price", price) && price.is_zero() {
        found.warn(
            "housing.price",
            price,
            "expected a colocation price above 0; for your own data center, change the location",
        );
    }
    if let Some(contracted) = contracted_kw {
        let most = Decimal::from(10_000_000);
        let message = "expected 0 to 10 million kW";
        found.between("housing.contracted_kw", contracted, Decimal::ZERO, most, message);
    }
}

fn staff(owning: &Owning, found: &mut Findings) {
    let staff = &owning.staff;
    found.money("staff.loaded_cost", staff.loaded_cost);
    let message = "expected 0 to 60 months";
    found.between("staff.months_before", staff.months_before, Decimal::ZERO, 60.into(), message);
    found.each("staff.steps", &staff.steps, |step, found| {
        let message = "expected 0 to a million people";
        found.between("people", step.people, Decimal::ZERO, 1_000_000.into(), message);
    });
    for (at, pair) in staff.steps.windows(2).enumerate() {
        if pair[1].up_to_gpus <= pair[0].up_to_gpus {
            let message = "expected more GPUs than in the level before";
            found.refuse(&format!("staff.steps.{}.up_to_gpus", at + 1), pair[1].up_to_gpus, message);
        }
        if pair[1].people < pair[0].people {
            let message = "fewer employees for more GPUs than in the level before";
            found.warn(&format!("staff.steps.{}.people", at + 1), pair[1].people, message);
        }
    }
}
