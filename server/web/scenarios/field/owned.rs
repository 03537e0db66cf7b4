//! Machines of our own.

use super::{Maker, Takes};
use crate::economics::comparison::Owned;
use crate::economics::owning::{Draw, Fabric, Housing, Residual, Tenure};

const TENURES: &[(&str, &str)] = &[("bought", "bought"), ("leased", "leased by the month")];
const HOUSINGS: &[(&str, &str)] =
    &[("own-room", "in a room of one’s own"), ("colocation", "in a colocation")];
const ENERGIES: &[(&str, &str)] = &[("included", "included in its price"), ("separate", "paid besides")];

const WORTH: &[(&str, &str)] = &[("share", "a share of its price"), ("age", "by age, as used GPUs go for")];
const FABRICS: &[(&str, &str)] = &[("node", "by the node"), ("port", "by the port of a switch")];
const DRAWS: &[(&str, &str)] = &[("node", "of a whole node"), ("gpu", "of a GPU, with what its node adds")];

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
    of.add("gpus", "GPUs", Takes::Gpus, "", "A number, or best: as many as cost least.");
    of.add("machines/tenure/nodes", "Nodes are", Takes::OneOf(TENURES), "", "");
    let is_leased = matches!(owned.machines.tenure, Tenure::Leased { .. });
    if is_leased {
        let hint = "Paid until the term is over, used or not.";
        of.add("machines/tenure/price", "Lease", Takes::Number, "MONEY a node and month", hint);
    }
    let hint = if is_leased { "Nobody pays it. Maintenance is a share of it." } else { "" };
    of.add("machines/node_price", "Price of a node", Takes::Number, "MONEY", hint);
    of.rare("machines/fabric/by", "Network is priced", Takes::OneOf(FABRICS), "", "");
    let unit = match owned.machines.fabric {
        Fabric::Node { .. } => "MONEY a node",
        Fabric::Port { .. } => "MONEY a port",
    };
    of.add("machines/fabric/price", "Network", Takes::Number, unit, "");
    let life = if is_leased { "Leased for" } else { "Replaced after" };
    of.add("machines/life_years", life, Takes::Number, "years", "");
    if matches!(owned.machines.fabric, Fabric::Port { .. }) {
        of.rare("machines/fabric/per_node", "Ports of a node", Takes::Whole, "", "");
    }
    of.add("machines/residual/by", "What is left then", Takes::OneOf(WORTH), "", "");
    match &owned.machines.residual {
        Residual::Share { .. } => {
            of.add("machines/residual/share", "Worth then", Takes::Percent, "% of its price", "");
        }
        Residual::Age { shares } => {
            for (at, label) in (0..shares.len()).zip(AGES) {
                let name = format!("machines/residual/shares/{at}");
                of.rare(&name, label, Takes::Percent, "% of its price", "");
            }
        }
    }
    of.add("machines/maintenance_share", "Maintenance", Takes::Percent, "% of the price a year", "");
    of.add(
        "machines/staff/loaded_cost",
        "A person a year",
        Takes::Number,
        "MONEY",
        "Full-time, with everything.",
    );
    of.add("machines/tariff", "Energy", Takes::Number, "MONEY a kWh", "");
    of.add("machines/pue", "PUE", Takes::Number, "", "What the room draws for a kW of machines.");
    of.add("machines/housing/in", "They stand", Takes::OneOf(HOUSINGS), "", "");
    if matches!(owned.machines.housing, Housing::Colocation { .. }) {
        of.add("machines/housing/price", "Colocation", Takes::Number, "MONEY a kW and month", "");
        let unit = "kW";
        of.rare(
            "machines/housing/contracted_kw",
            "Contracted",
            Takes::NumberOrNone,
            unit,
            "Empty: as rated.",
        );
        of.add("machines/housing/energy", "Energy is", Takes::OneOf(ENERGIES), "", "");
    }
    of.rare("machines/gpus_per_node", "GPUs of a node", Takes::Whole, "", "");
    of.rare("machines/spare_share", "Spare nodes", Takes::Percent, "%", "Rounded up to whole nodes.");
    of.rare("machines/unavailability", "Downtime", Takes::Percent, "% of hours", "");
    of.rare("machines/storage", "Storage", Takes::Number, "MONEY once", "");
    of.rare("machines/installation", "Installation", Takes::Number, "MONEY once", "");
    of.rare("machines/building", "Room", Takes::Number, "MONEY once", "");
    of.rare("machines/demand_charge", "Demand charge", Takes::Number, "MONEY a kW and month", "");
    of.rare("machines/software_per_gpu", "Software", Takes::Number, "MONEY a GPU and year", "");
    of.rare("machines/staff/months_before", "People before it runs", Takes::Number, "months", "");
    let hint = "Beyond the last step. 0: nobody.";
    of.rare("machines/staff/one_more_per", "One more person for each", Takes::Whole, "GPUs", hint);
    of.rare("machines/draw/of", "Power is known", Takes::OneOf(DRAWS), "", "");
    of.rare("machines/draw/idle_kw", "Draws idle", Takes::Number, "kW", "");
    of.rare("machines/draw/load_kw", "Draws at work", Takes::Number, "kW", "");
    if matches!(owned.machines.draw, Draw::Gpu { .. }) {
        let hint = "1.82: a DGX H100 by its ratings.";
        of.rare("machines/draw/node_factor", "A node draws", Takes::Number, "times its GPUs", hint);
    }
    let again = "1: as much as the one before. Where their life ends before the months do.";
    of.rare("refresh/price_ratio", "The next generation costs", Takes::Number, "times as much a node", again);
    let work = "Fewer of them do the same work.";
    of.rare("refresh/performance_ratio", "The next generation does", Takes::Number, "times as much", work);
}

/// How many people so many GPUs take.
pub(super) fn of_staff(of: &mut Maker<'_>, owned: &Owned) {
    for at in 0..owned.machines.staff.steps.len() {
        of.rare(&format!("{at}/up_to_gpus"), "Up to", Takes::Whole, "GPUs", "");
        of.rare(&format!("{at}/people"), "take", Takes::Number, "full-time people", "");
    }
}
