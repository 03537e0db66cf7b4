//! Machines of our own.

use super::{Maker, Takes};
use crate::scenario::comparison::Owned;
use crate::scenario::owning::{Fabric, Housing, Residual};

const HOUSINGS: &[(&str, &str)] =
    &[("own-room", "in a room of one’s own"), ("colocation", "in a colocation")];
const ENERGIES: &[(&str, &str)] = &[("included", "included in its price"), ("separate", "paid besides")];

pub(super) fn of_owned(of: &mut Maker<'_>, owned: &Owned) {
    of.add("gpus", "GPUs", Takes::Gpus, "", "A number, or best: as many as cost least.");
    of.add("machines/node_price", "Price of a node", Takes::Number, "MONEY", "");
    let unit = match owned.machines.fabric {
        Fabric::Node { .. } => "MONEY a node",
        Fabric::Port { .. } => "MONEY a port",
    };
    of.add("machines/fabric/price", "Network", Takes::Number, unit, "");
    of.add("machines/life_years", "Replaced after", Takes::Number, "years", "");
    if matches!(owned.machines.residual, Residual::Share { .. }) {
        of.add("machines/residual/share", "Worth then", Takes::Percent, "% of its price", "");
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
    let again = "1: as much as the one before. Where their life ends before the months do.";
    of.rare("refresh/price_ratio", "The next generation costs", Takes::Number, "times as much a node", again);
    let work = "Fewer of them do the same work.";
    of.rare("refresh/performance_ratio", "The next generation does", Takes::Number, "times as much", work);
}
