//! What happens in the organization's month, before it is a row of any format.

use std::io;

use super::Totals;
use super::amount::{Amount, write_padded};
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
    fn rows(&self, kind: Kind) -> u64;
    fn write(&mut self, line: &Line) -> io::Result<()>;
    /// Ends the last file, and says what all rows sum to.
    fn finish(self: Box<Self>) -> io::Result<Totals>;
}

impl Owner {
    /// `exp-0042`.
    pub(crate) fn write_experiment(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.series.as_bytes());
        out.push(b'-');
        write_padded(out, u64::from(self.experiment), if self.experiment > 9999 { 7 } else { 4 });
    }

    /// Hands out each tag that has a value, by its usual key.
    pub(crate) fn each_tag(&self, mut tag: impl FnMut(&str, &str)) {
        tag("environment", self.environment);
        tag("project", self.project);
        tag("workload", self.workload);
        tag("cost-center", self.cost_center);
        if self.experiment > 0 {
            let mut experiment = Vec::new();
            self.write_experiment(&mut experiment);
            tag("experiment", &String::from_utf8_lossy(&experiment));
        }
        if !self.team.is_empty() {
            tag(if self.is_capital { "Team" } else { "team" }, self.team);
        }
    }
}

impl Kind {
    /// Machines that run, as against fees for them.
    pub(crate) fn runs(self) -> bool {
        matches!(self, Self::OnDemand | Self::Spot | Self::Reserved { .. } | Self::Planned)
    }

    /// What is metered, and has a list price.
    pub(crate) fn is_usage(self) -> bool {
        self.runs() || self == Self::Goods
    }

    /// Covered by a reservation, or a fee of one.
    pub(crate) fn is_of_reservation(self) -> bool {
        matches!(self, Self::Reserved { .. } | Self::ReservationFee { .. } | Self::ReservationUpfront { .. })
    }
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

    pub(crate) fn machine_name(&self) -> &'static str {
        self.machine.map_or("", |machine| machine.name)
    }

    /// A number that is the same for the same product in the same region.
    pub(crate) fn sku_number(&self) -> u64 {
        let name = if self.kind == Kind::Goods { self.goods.usage_type } else { self.machine_name() };
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.region.id.bytes().chain(name.bytes()).fold(0xcbf2_9ce4_8422_2325, hash)
    }
}
