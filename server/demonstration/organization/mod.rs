//! Who the demonstration's organization is: six teams, four clouds, what each team runs where, and how that
//! changes over thirteen months. Everything here is invented; machines and list prices are near real ones.

mod aws;
mod azure;
mod google;
mod specialty;

use crate::generate::amount::Amount;
use crate::generate::world::{Goods, Machine, Offer};
use crate::generate::{Container, Dataset, Format};

/// Months that the tables tell. The last one is still open.
pub(super) const MONTHS: usize = 13;

/// A team, and how people who tag by hand write it.
pub(super) struct Team {
    pub(super) name: &'static str,
    pub(super) cost_center: &'static str,
    pub(super) by_hand: &'static [&'static str],
}

const LANGUAGE: &Team =
    &Team { name: "language", cost_center: "CC-4220", by_hand: &["Language", "langauge", "NLP"] };
const VISION: &Team = &Team { name: "vision", cost_center: "CC-4210", by_hand: &["Vision", "vision ", "CV"] };
const RESEARCH: &Team = &Team { name: "research", cost_center: "CC-4100", by_hand: &["Research", "reserch"] };
const ROBOTICS: &Team = &Team { name: "robotics", cost_center: "CC-4300", by_hand: &["robotics-team"] };
const INFERENCE: &Team = &Team { name: "inference", cost_center: "CC-5100", by_hand: &["Inference"] };
const PLATFORM: &Team = &Team { name: "platform", cost_center: "CC-6000", by_hand: &["Platform"] };

/// How machines are paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Term {
    OnDemand,
    Spot,
    Reserved,
    /// Under the savings plan.
    Planned,
}

/// When machines run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    Always,
    /// All nodes together for days, an experiment each time; this many thousandths of the month.
    Training(u64),
    /// Half of the nodes always, the others while people are awake.
    Serving,
    /// Weekdays, in working hours.
    Office,
    /// At night, each night anew.
    Nights,
    /// Once, for a job that ends on the second Friday evening; nobody stops the machines before Monday.
    Forgotten,
}

/// How well machines are tagged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tagging {
    ByMachine,
    /// Some runs are misspelt, some say `Team`, some say nothing.
    ByHand,
    Never,
}

/// Something a team runs.
pub(super) struct Work {
    pub(super) team: &'static Team,
    pub(super) project: &'static str,
    /// What the names of its experiments begin with; empty where it makes none.
    pub(super) series: &'static str,
    pub(super) workload: &'static str,
    pub(super) environment: &'static str,
    pub(super) machine: &'static Machine,
    /// Of the offer's.
    pub(super) region: usize,
    /// Of the bill's.
    pub(super) account: usize,
    pub(super) term: Term,
    pub(super) pattern: Pattern,
    pub(super) tagging: Tagging,
    /// Machines in each month.
    pub(super) nodes: [u8; MONTHS],
}

/// What a team stores or transfers.
pub(super) struct Store {
    pub(super) team: Option<&'static Team>,
    pub(super) goods: &'static Goods,
    pub(super) account: usize,
    /// Units in the first month and in the last.
    pub(super) from: u64,
    pub(super) to: u64,
}

/// Machines reserved for a year, of the bill's first region.
pub(super) struct Reservation {
    pub(super) machine: &'static Machine,
    pub(super) account: usize,
    pub(super) units: [u8; MONTHS],
    /// Thousandths of the list price that an hour takes from the upfront fee, and pays.
    pub(super) amortized: u64,
    pub(super) recurring: u64,
}

/// One provider's bill.
pub(super) struct Bill {
    pub(super) provider: &'static str,
    pub(super) offer: &'static Offer,
    pub(super) currency: &'static str,
    pub(super) billing_account: &'static str,
    /// Ids and names.
    pub(super) accounts: &'static [(&'static str, &'static str)],
    pub(super) format: Format,
    pub(super) works: &'static [Work],
    pub(super) stores: &'static [Store],
    pub(super) reservations: &'static [Reservation],
    /// Machines that the savings plan is for.
    pub(super) planned: [u8; MONTHS],
    /// Thousandths of the spend that support costs.
    pub(super) support: u64,
    /// What is credited in each of the first six months.
    pub(super) credit: i64,
}

impl Bill {
    /// Hours of a row of usage: AWS and Google state hours, the others days.
    pub(super) fn step(&self) -> usize {
        if matches!(self.format, Format::AwsCur | Format::GcpBilling) { 1 } else { 24 }
    }

    /// What its files hold rows in.
    pub(super) fn container(&self) -> Container {
        if self.format == Format::GcpBilling { Container::Json } else { Container::Csv }
    }

    /// Its files of a month: Azure states each in two.
    pub(super) fn datasets(&self) -> &'static [Dataset] {
        match self.format {
            Format::AzureUsage => &[Dataset::Actual, Dataset::Amortized],
            _ => &[Dataset::Actual],
        }
    }
}

/// The name over every account.
pub(super) const ORGANIZATION: &str = "Aster Labs (demonstration)";
/// Thousandths of the list price that the savings plan pays.
pub(super) const PLAN_RATE: u64 = 620;

/// List price of an hour in a month: AWS cuts two prices in this year, the specialty cloud raises one.
pub(super) fn list(machine: &Machine, month: usize) -> Amount {
    let level = match machine.name {
        "p5.48xlarge" if month < 5 => 1180,
        "g6e.48xlarge" if month >= 8 => 880,
        "8x H100 SXM" if month >= 9 => 1160,
        _ => 1000,
    };
    machine.list().per_mille(level)
}

pub(super) static BILLS: [Bill; 4] = [aws::BILL, azure::BILL, google::BILL, specialty::BILL];

const fn store(
    team: Option<&'static Team>,
    goods: &'static Goods,
    account: usize,
    from: u64,
    to: u64,
) -> Store {
    Store { team, goods, account, from, to }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accelerator::{Accelerators, recognize};
    use crate::billing::{ChargeKey, canonical_provider};

    #[test]
    fn it_rents_machines_that_are_recognized() {
        for bill in &BILLS {
            for work in bill.works {
                let key = ChargeKey {
                    provider: canonical_provider(bill.provider).into_owned(),
                    instance_type: work.machine.name.to_owned(),
                    unit: "Hours".to_owned(),
                    ..ChargeKey::default()
                };
                let expected: Option<Accelerators> = work.machine.accelerators.parse().ok();
                assert_eq!(recognize(&key).map(|found| found.per_unit), expected, "{}", work.machine.name);
            }
        }
    }

    #[test]
    fn its_commitments_cover_what_runs_under_them() {
        for bill in &BILLS {
            for month in 0..MONTHS {
                let running = |term, name: Option<&str>| -> u64 {
                    let under =
                        |work: &&Work| work.term == term && name.is_none_or(|name| work.machine.name == name);
                    bill.works.iter().filter(under).map(|work| u64::from(work.nodes[month])).sum()
                };
                assert!(running(Term::Planned, None) <= u64::from(bill.planned[month]));
                for reservation in bill.reservations {
                    let reserved = u64::from(reservation.units[month]);
                    assert!(running(Term::Reserved, Some(reservation.machine.name)) <= reserved, "{month}");
                }
            }
        }
    }
}
