//! A charge on its way to the sums.

use super::amount::{Amount, Amounts};
use super::cell::Cell;
use super::sums::Sums;
use crate::billing::Charge;
use crate::ledger::known_rows::Destination;
use crate::period::ChargePeriod;

/// What of a charge is summed, and where.
pub struct Entry {
    pub(super) cell: Cell,
    pub(super) plain_key_id: u128,
    /// That the charge names, empty where it names none; `None` where the key says it, since it bears accelerators.
    pub(super) resource: Option<Box<str>>,
    pub(super) period: ChargePeriod,
    pub(super) sums: Amounts,
    /// What each hour has of its quantity, where that is stated.
    pub(super) hours: Box<[(u8, Amount)]>,
}

impl Entry {
    /// Of a charge and what it sums to.
    pub fn of(charge: &Charge, sums: &Sums, destination: &Destination) -> Self {
        let cell = Cell {
            month: charge.billing_month(),
            charge_key_id: destination.charge_key_id.as_u128(),
            day: charge.period.day(),
            is_whole_period: charge.period.is_longer_than_a_day(),
            scope_id: destination.scope_id,
        };
        Self {
            cell,
            plain_key_id: destination.plain_key_id.as_u128(),
            resource: (!destination.bears_accelerators).then(|| charge.resource_id.as_str().into()),
            period: charge.period,
            sums: Amounts::of(sums),
            hours: charge.hours.iter().map(|(hour, quantity)| (*hour, Amount::of(quantity))).collect(),
        }
    }
}
