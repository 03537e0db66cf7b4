//! What happens in the organization's month, before it is a row of any format.

use std::io;

use super::amount::Amount;
use super::world::{AWS_GOODS, Goods, Machine, Region};

/// What a row is about. The formats write some of these as two rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    OnDemand,
    Spot,
    /// Covered by a reservation, which was paid partly upfront.
    Reserved {
        amortized: Amount,
        recurring: Amount,
    },
    /// Covered by the savings plan.
    Planned,
    /// One hour of the savings plan.
    PlanFee {
        commitment: Amount,
        used: Amount,
    },
    /// One month of a reservation: recurring fee, and what of it and of the upfront fee went unused.
    ReservationFee {
        unused_hours: u64,
        unused_amortized: Amount,
        unused_recurring: Amount,
        units: u64,
    },
    ReservationUpfront {
        units: u64,
    },
    Goods,
    Support,
    Credit,
    Refund,
    Discount,
    Tax,
}

/// Who a resource is tagged for, in the spelling of the tag.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owner {
    pub(crate) team: &'static str,
    /// Tagged `Team` instead of `team`.
    pub(crate) is_capital: bool,
    /// What the name of its experiment begins with.
    pub(crate) series: &'static str,
    /// From 1; 0 for none.
    pub(crate) experiment: u32,
    pub(crate) project: &'static str,
    pub(crate) environment: &'static str,
    pub(crate) workload: &'static str,
    pub(crate) cost_center: &'static str,
}

/// One event, to be written as one row or two.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    pub(crate) kind: Kind,
    /// Hours of the month, half-open.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) account: usize,
    pub(crate) region: &'static Region,
    pub(crate) zone: u8,
    pub(crate) machine: Option<&'static Machine>,
    pub(crate) goods: &'static Goods,
    pub(crate) resource: u64,
    /// `None` where nothing is tagged.
    pub(crate) owner: Option<Owner>,
    pub(crate) quantity: Amount,
    /// List price of one unit.
    pub(crate) list_rate: Amount,
    pub(crate) list: Amount,
    pub(crate) billed: Amount,
    pub(crate) effective: Amount,
}

/// Writes events in one format.
pub(crate) trait Writer {
    /// Rows that an event of this kind takes.
    fn rows(kind: Kind) -> u64;
    fn write(&mut self, line: &Line) -> io::Result<()>;
}

impl Line {
    /// An hour of nothing in a region, to fill in.
    pub(crate) fn empty(region: &'static Region) -> Self {
        Self {
            kind: Kind::Goods,
            from: 0,
            to: 1,
            account: 0,
            region,
            zone: 0,
            machine: None,
            goods: &AWS_GOODS[0],
            resource: 0,
            owner: None,
            quantity: Amount::ONE,
            list_rate: Amount::ZERO,
            list: Amount::ZERO,
            billed: Amount::ZERO,
            effective: Amount::ZERO,
        }
    }
}
