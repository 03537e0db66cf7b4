//! Machines of our own.

use super::{Maker, Takes};
use crate::economics::comparison::Owned;
use crate::economics::owning::{Draw, Fabric, Housing, Residual, Tenure};

const TENURES: &[(&str, &str)] = &[("bought", "bought"), ("leased", "leased monthly")];
const HOUSINGS: &[(&str, &str)] =
    &[("own-room", "in our own data center"), ("colocation", "in a colocation")];
const ENERGIES: &[(&str, &str)] = &[("included", "included in its price"), ("separate", "paid separately")];

const WORTH: &[(&str, &str)] =
    &[("share", "a share of the price"), ("age", "by age, at prices of used GPUs")];
const FABRICS: &[(&str, &str)] = &[("node", "per node"), ("port", "per switch port")];
const DRAWS: &[(&str, &str)] = &[("node", "per node"), ("gpu", "per GPU, times a node factor")];

/// What a year of age leaves of a price.
const AGES: [&str; 10] = [
    "After a year",
    "After two years",
    "After three years",
    "After four years",
    "After five years",
    "After six years",
    "After seven years",
    "After eight years",
    "After nine years",
    "After ten years",
];

pub(super) fn of_owned(of: &mut Maker<'_>, owned: &Owned) {
    of.add("gpus", "GPUs", Takes::Gpus, "", "A number, or best for the cheapest number.");
    of.add("machines/tenure/nodes", "Nodes are", Takes::OneOf(TENURES), "", "");
    let is_leased = matches!(owned.machines.tenure, Tenure::Leased { .. });
    if is_leased {
        let hint = "Paid until the term is over, used or not.";
        of.add("machines/tenure/price", "Lease", Takes::Number, "MONEY per node and month", hint);
    }
    let hint = if is_leased { "Not paid; only the base for maintenance." } else { "" };
    of.add("machines/node_price", "Price of a node", Takes::Number, "MONEY", hint);
    of.rare("machines/fabric/by", "Network is priced", Takes::OneOf(FABRICS), "", "");
    let unit = match owned.machines.fabric {
        Fabric::Node { .. } => "MONEY per node",
        Fabric::Port { .. } => "MONEY per port",
    };
    of.add("machines/fabric/price", "Network", Takes::Number, unit, "");
    let life = if is_leased { "Leased for" } else { "Replaced after" };
    of.add("machines/life_years", life, Takes::Number, "years", "");
    if matches!(owned.machines.fabric, Fabric::Port { .. }) {
        of.rare("machines/fabric/per_node", "Ports per node", Takes::Whole, "", "");
    }
    of.add("machines/residual/by", "Residual value is", Takes::OneOf(WORTH), "", "");
    match &owned.machines.residual {
        Residual::Share { .. } => {
            of.add("machines/residual/share", "Residual value", Takes::Percent, "% of the price", "");
        }
        Residual::Age { shares } => {
            for (at, label) in (0..shares.len()).zip(AGES) {
                let name = format!("machines/residual/shares/{at}");
                of.rare(&name, label, Takes::Percent, "% of the price", "");
            }
        }
    }
    of.add("machines/maintenance_share", "Maintenance", Takes::Percent, "% of the price a year", "");
    of.add(
        "machines/staff/loaded_cost",
        "Cost of a full-time employee",
        Takes::Number,
        "MONEY a year",
        "Including benefits and taxes.",
    );
    of.add("machines/tariff", "Electricity", Takes::Number, "MONEY per kWh", "");
    of.add("machines/pue", "PUE", Takes::Number, "", "Site power divided by machine power.");
    of.add("machines/housing/in", "Location", Takes::OneOf(HOUSINGS), "", "");
    if matches!(owned.machines.housing, Housing::Colocation { .. }) {
        of.add("machines/housing/price", "Colocation", Takes::Number, "MONEY per kW and month", "");
        let unit = "kW";
        of.rare(
            "machines/housing/contracted_kw",
            "Contracted power",
            Takes::NumberOrNone,
            unit,
            "Leave empty for the rated power.",
        );
        of.add("machines/housing/energy", "Electricity is", Takes::OneOf(ENERGIES), "", "");
    }
    of.rare("machines/gpus_per_node", "GPUs per node", Takes::Whole, "", "");
    of.rare("machines/spare_share", "Spare nodes", Takes::Percent, "%", "Rounded up to whole nodes.");
    of.rare("machines/unavailability", "Downtime", Takes::Percent, "% of hours", "");
    of.rare("machines/storage", "Storage", Takes::Number, "MONEY once", "");
    of.rare("machines/installation", "Installation", Takes::Number, "MONEY once", "");
    of.rare("machines/building", "Data center", Takes::Number, "MONEY once", "");
    of.rare("machines/demand_charge", "Demand charge", Takes::Number, "MONEY per kW and month", "");
    of.rare("machines/software_per_gpu", "Software", Takes::Number, "MONEY per GPU and year", "");
    of.rare("machines/staff/months_before", "Staff hired before start", Takes::Number, "months", "");
    let hint = "Above the largest number of GPUs. 0: none.";
    of.rare("machines/staff/one_more_per", "One more employee per", Takes::Whole, "GPUs", hint);
    of.rare("machines/draw/of", "Power is entered", Takes::OneOf(DRAWS), "", "");
    of.rare("machines/draw/idle_kw", "Power when idle", Takes::Number, "kW", "");
    of.rare("machines/draw/load_kw", "Power at work", Takes::Number, "kW", "");
    if matches!(owned.machines.draw, Draw::Gpu { .. }) {
        let hint = "1.82 for a DGX H100 by its ratings.";
        of.rare("machines/draw/node_factor", "Power of a node", Takes::Number, "times its GPUs", hint);
    }
    let again = "1: the same price. Used if machines are replaced within these months.";
    of.rare(
        "refresh/price_ratio",
        "Price of the next generation",
        Takes::Number,
        "times as much per node",
        again,
    );
    let work = "Fewer machines do the same work.";
    of.rare(
        "refresh/performance_ratio",
        "Performance of the next generation",
        Takes::Number,
        "times as much",
        work,
    );
}

/// How many people so many GPUs take.
pub(super) fn of_staff(of: &mut Maker<'_>, owned: &Owned) {
    for at in 0..owned.machines.staff.steps.len() {
        of.rare(&format!("{at}/up_to_gpus"), "Up to", Takes::Whole, "GPUs", "");
        of.rare(&format!("{at}/people"), "Staff", Takes::Number, "full-time employees", "");
    }
}
