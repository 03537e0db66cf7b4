//! Between which values an input lies, by what it is, unless somebody knows better.

use crate::money::Decimal;
use crate::money::arithmetic::decimal;

/// An input by how its pointer ends, its low and high in hundredths of its value, and what it can be at all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    end: &'static str,
    pub(super) name: &'static str,
    pub(super) low: i64,
    pub(super) high: i64,
    can_be: CanBe,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CanBe {
    Any,
    Share,
    /// Of what is there, or asked for, at best all: 1.
    PartOfAll,
    /// Times what a list or a table says.
    OfList,
    /// 1 at best.
    FromOne,
    /// Hours for a useful one: 1 where none is lost.
    Redone,
    /// Hours of a kind that one of another is worth: 1 where they are the same.
    Worth,
    Years,
}

/// More than anything that is entered.
const MOST: i64 = 1_000_000_000_000;

const fn of(end: &'static str, name: &'static str, low: i64, high: i64) -> Range {
    Range { end, name, low, high, can_be: CanBe::Any }
}

const fn within(can_be: CanBe, range: Range) -> Range {
    Range { can_be, ..range }
}

const RANGES: [Range; 43] = [
    of("/on_demand/price", "On demand", 80, 120),
    of("/per_million_tokens/price", "A million tokens", 60, 120),
    of("/spot/rate/price", "Spot", 70, 150),
    of("/committed/rate/price", "Commitment", 90, 110),
    of("/committed/upfront", "Upfront", 90, 110),
    of("/blocks/rate/price", "Capacity block", 80, 120),
    // What is lost to interruptions.
    within(CanBe::FromOne, of("/spot/rework", "Hours of spot for a useful one", 95, 115)),
    within(CanBe::Redone, of("/place/rework", "Hours for a useful one", 95, 115)),
    // Measured elsewhere, or claimed.
    within(CanBe::Worth, of("/place/performance", "Worth of an hour", 75, 125)),
    of("/work/tokens_per_hour", "Tokens that an hour makes", 75, 125),
    within(CanBe::PartOfAll, of("/place/obtainable", "There when asked for", 80, 110)),
    of("/unserved_cost", "An hour that is not served", 50, 200),
    // Who sends much pays less than the list says, and who leaves for good may pay nothing.
    within(CanBe::OfList, of("/moved/rates/of", "Price list for data out of", 50, 110)),
    of("/moved/rates/price", "A gigabyte", 50, 120),
    of("/moved/hops/price", "A gigabyte between regions", 50, 120),
    of("/place/others/amount", "Another cost", 80, 120),
    of("/porting/meanwhile/price", "Where it runs meanwhile", 80, 120),
    of("/porting/engineer_weeks", "Weeks of porting", 50, 200),
    of("/porting/loaded_cost", "Loaded cost of an engineer", 80, 120),
    of("/porting/releases_per_year", "Releases a year", 50, 150),
    within(CanBe::Share, of("/porting/ported_anew", "Ported anew with each release", 50, 200)),
    // Quotes of one machine differ by as much (Epoch AI, machine learning hardware).
    of("/machines/node_price", "Price of a node", 80, 120),
    of("/machines/tenure/price", "Lease of a node", 80, 120),
    of("/machines/fabric/price", "Fabric", 80, 120),
    of("/machines/storage", "Storage", 80, 120),
    of("/machines/installation", "Installation", 80, 150),
    of("/machines/building", "Room", 80, 150),
    of("/machines/tariff", "Price of a kWh", 70, 150),
    within(CanBe::FromOne, of("/machines/pue", "PUE", 90, 120)),
    of("/machines/staff/loaded_cost", "Loaded cost of staff", 80, 120),
    within(CanBe::Share, of("/machines/maintenance_share", "Maintenance", 60, 200)),
    of("/machines/housing/price", "Colocation", 75, 150),
    of("/machines/demand_charge", "Demand charge", 80, 120),
    of("/machines/software_per_gpu", "Software", 50, 150),
    of("/machines/others/amount", "Another cost", 80, 120),
    of("/machines/one_offs/amount", "Once", 80, 150),
    within(CanBe::Share, of("/machines/residual/share", "Residual value", 50, 150)),
    // A single source; each of its shares is give or take 0.15.
    within(CanBe::OfList, of("/machines/residual/by", "What used machines go for", 50, 150)),
    within(CanBe::OfList, of("/machines/draw/of", "What a node draws", 80, 120)),
    // Two to four years for three: lives that are planned for, and that were seen.
    within(CanBe::Years, of("/machines/life_years", "Years until it is replaced", 67, 133)),
    of("/refresh/price_ratio", "Price of the next machines", 80, 120),
    within(CanBe::Share, of("/place/support", "Support", 50, 150)),
    within(CanBe::Share, of("/cost_of_capital", "Cost of capital", 50, 150)),
];

/// Of what a pointer leads to. None: it is not uncertain.
pub(super) fn range_of(pointer: &str) -> Option<&'static Range> {
    // Whichever of a list it is.
    let names = pointer.split('/').filter(|it| it.parse::<usize>().is_err());
    let kind = names.collect::<Vec<_>>().join("/");
    // What money costs stands at the top; that of machines follows from it.
    let is_it = |end: &str| if end == "/cost_of_capital" { kind == end } else { kind.ends_with(end) };
    RANGES.iter().find(|it| is_it(it.end))
}

impl Range {
    /// The least and the most that it can be.
    pub(super) fn bounds(&self) -> (Decimal, Decimal) {
        match self.can_be {
            CanBe::Any | CanBe::OfList => (Decimal::ZERO, MOST.into()),
            CanBe::Share | CanBe::PartOfAll => (Decimal::ZERO, 1.into()),
            CanBe::FromOne | CanBe::Redone => (1.into(), 10.into()),
            CanBe::Worth => (decimal(1, 2), 100.into()),
            CanBe::Years => (decimal(1, 1), 50.into()),
        }
    }

    /// The value that stands for nothing: no cost, or no difference.
    pub(super) fn nothing(&self) -> Decimal {
        let is_one = matches!(self.can_be, CanBe::Redone | CanBe::Worth | CanBe::PartOfAll);
        if is_one { 1.into() } else { Decimal::ZERO }
    }

    /// Whether it is shown in hundredths.
    pub(super) fn in_percent(&self) -> bool {
        matches!(self.can_be, CanBe::Share | CanBe::PartOfAll | CanBe::OfList)
    }

    /// Whether it says how many hours a place takes.
    pub(super) fn is_of_hours(&self) -> bool {
        matches!(self.can_be, CanBe::Redone | CanBe::Worth)
    }
}
