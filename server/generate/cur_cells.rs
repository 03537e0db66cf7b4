//! The cells of a report's row that describe its machine, commitment and tags.

use super::amount::write_number;
use super::cur_columns::Cell;
use super::line::{Kind, Line};
use super::world::Machine;

pub(crate) fn machine_cell(out: &mut Vec<u8>, cell: Cell, machine: &Machine, line: &Line) {
    let mut text = |text: &str| out.extend_from_slice(text.as_bytes());
    match cell {
        Cell::InstanceType => text(machine.name),
        Cell::InstanceSeries => text(machine.name.split('.').next().unwrap_or_default()),
        Cell::InstanceFamily if machine.accelerators.is_empty() => text("General purpose"),
        Cell::InstanceFamily => text("GPU instance"),
        // AWS leaves the count of fractional GPUs out.
        Cell::Gpu if !machine.accelerators.contains('/') => text(machine.accelerators),
        Cell::CurrentGeneration => text("Yes"),
        Cell::MarketOption if line.kind == Kind::Spot => text("Spot"),
        Cell::MarketOption => text("OnDemand"),
        Cell::Memory => {
            write_number(out, u64::from(machine.memory_gib));
            out.extend_from_slice(b" GiB");
        }
        Cell::Vcpu => write_number(out, u64::from(machine.vcpu)),
        Cell::OperatingSystem => text("Linux"),
        Cell::PreInstalled => text("NA"),
        Cell::Tenancy => text("Shared"),
        _ => {}
    }
}

pub(crate) fn reservation_cell(out: &mut Vec<u8>, cell: Cell, line: &Line, stamps: usize, arn: &str) {
    let mut text = |text: &str| out.extend_from_slice(text.as_bytes());
    match (cell, line.kind) {
        (Cell::ReservationArn, kind) if kind.is_of_reservation() => {
            text(arn);
            text(line.machine_name());
        }
        (Cell::LeaseLength, kind) if kind.is_of_reservation() => text("1yr"),
        (Cell::OfferingClass, kind) if kind.is_of_reservation() => text("standard"),
        (Cell::PurchaseOption, kind) if kind.is_of_reservation() => text("Partial Upfront"),
        (Cell::Subscription, Kind::Reserved { .. } | Kind::ReservationFee { .. }) => {
            write_number(out, 1_000_000_000 + line.sku_number() % 9_000_000_000);
        }
        (Cell::ReservationEffective, Kind::Reserved { .. }) => line.effective.write(out),
        (Cell::AmortizedForUsage, Kind::Reserved { amortized, .. }) => amortized.write(out),
        (Cell::RecurringForUsage, Kind::Reserved { recurring, .. }) => recurring.write(out),
        (Cell::UnusedAmortized, Kind::ReservationFee { unused_amortized, .. }) => unused_amortized.write(out),
        (Cell::UnusedRecurring, Kind::ReservationFee { unused_recurring, .. }) => unused_recurring.write(out),
        (Cell::UnusedQuantity, Kind::ReservationFee { unused_hours, .. }) => write_number(out, unused_hours),
        (Cell::Reservations, Kind::ReservationFee { units, .. } | Kind::ReservationUpfront { units }) => {
            write_number(out, units);
        }
        (Cell::ReservedUnits, Kind::ReservationFee { units, .. }) => {
            write_number(out, units * (stamps as u64 - 1));
        }
        (Cell::UpfrontValue, Kind::ReservationUpfront { .. }) => line.billed.write(out),
        _ => {}
    }
}

pub(crate) fn plan_cell(out: &mut Vec<u8>, cell: Cell, line: &Line, arn: &str, is_main: bool) {
    let mut text = |text: &str| out.extend_from_slice(text.as_bytes());
    match (cell, line.kind) {
        (Cell::PlanArn, Kind::Planned | Kind::PlanFee { .. }) => text(arn),
        (Cell::PlanRate | Cell::PlanEffective, Kind::Planned) if is_main => line.effective.write(out),
        (Cell::Commitment, Kind::PlanFee { commitment, .. }) => commitment.write(out),
        (Cell::UsedCommitment, Kind::PlanFee { used, .. }) => used.write(out),
        (Cell::NoUpfront, Kind::PlanFee { .. }) => text("0"),
        (Cell::PlanOffering, Kind::Planned | Kind::PlanFee { .. }) => text("ComputeSavingsPlans"),
        (Cell::PlanPayment, Kind::PlanFee { .. }) => text("No Upfront"),
        (Cell::PlanTerm, Kind::PlanFee { .. }) => text("3yr"),
        _ => {}
    }
}

pub(crate) fn tag_cell(out: &mut Vec<u8>, cell: Cell, line: &Line) {
    let Some(owner) = line.owner else { return };
    let mut text = |text: &str| out.extend_from_slice(text.as_bytes());
    match cell {
        Cell::Team if !owner.is_capital => text(owner.team),
        Cell::CapitalTeam if owner.is_capital => text(owner.team),
        Cell::AnyTeam => text(owner.team),
        Cell::Environment => text(owner.environment),
        Cell::Workload => text(owner.workload),
        Cell::CostCenterTag => text(owner.cost_center),
        Cell::Project => text(owner.project),
        Cell::Experiment if owner.experiment > 0 => owner.write_experiment(out),
        Cell::CreatedBy if line.kind.runs() && line.resource.is_multiple_of(4) => {
            text("AssumedRole:role/");
            text(owner.project.split(',').next().unwrap_or_default());
        }
        _ => {}
    }
}
