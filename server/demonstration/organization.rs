//! Who the demonstration's organization is: six teams, four clouds, what each team runs where, and how that
//! changes over thirteen months. Everything here is invented; machines and list prices are near real ones.

use crate::generate::amount::Amount;
use crate::generate::world::{
    AWS, AWS_GOODS, AZURE, AZURE_GOODS, GOODS, GOOGLE, Goods, Machine, Offer, SPECIALTY, machine,
};
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

static P4D: Machine = machine("p4d.24xlarge", "8", 96, 1152, 219_576, 0);
static P5: Machine = machine("p5.48xlarge", "8", 192, 2048, 550_400, 0);
static P5EN: Machine = machine("p5en.48xlarge", "8", 192, 2048, 632_960, 0);
static P6: Machine = machine("p6-b200.48xlarge", "8", 192, 2048, 1_139_328, 0);
static G6E: Machine = machine("g6e.48xlarge", "8", 192, 1536, 301_312, 0);
static G6: Machine = machine("g6.12xlarge", "4", 48, 192, 46_016, 0);
static G5: Machine = machine("g5.48xlarge", "8", 192, 768, 162_880, 0);
static G5_SMALL: Machine = machine("g5.2xlarge", "1", 8, 32, 12_120, 0);
static M7I: Machine = machine("m7i.2xlarge", "", 8, 32, 4_032, 0);
static ND_H100: Machine = machine("Standard_ND96isr_H100_v5", "8", 96, 1900, 983_200, 0);
static ND_A100: Machine = machine("Standard_ND96amsr_A100_v4", "8", 96, 1900, 327_700, 0);
static NC_H100: Machine = machine("Standard_NC40ads_H100_v5", "1", 40, 320, 69_800, 0);
static NC_A100: Machine = machine("Standard_NC24ads_A100_v4", "1", 24, 220, 36_730, 0);
static NV_A10: Machine = machine("Standard_NV12ads_A10_v5", "1/3", 12, 110, 9_080, 0);
static D8S: Machine = machine("Standard_D8s_v5", "", 8, 32, 3_840, 0);
static A3: Machine = machine("a3-highgpu-8g", "8", 208, 1872, 882_500, 0);
static A2: Machine = machine("a2-highgpu-1g", "1", 12, 85, 36_735, 0);
static G2: Machine = machine("g2-standard-48", "4", 48, 192, 40_000, 0);
static H100_SXM: Machine = machine("8x H100 SXM", "8", 208, 1800, 199_200, 0);
static A100_SXM: Machine = machine("8x A100 SXM 80GB", "8", 240, 1800, 103_200, 0);
static B200_SXM: Machine = machine("8x B200 SXM6", "8", 208, 2900, 335_200, 0);
static H100_PCIE: Machine = machine("1x H100 PCIe", "1", 26, 200, 21_900, 0);
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

pub(super) static BILLS: [Bill; 4] = [
    Bill {
        provider: "AWS",
        offer: &AWS,
        currency: "USD",
        billing_account: "482915603377",
        accounts: &[
            ("482915603385", "ml-training"),
            ("615200947718", "ml-research"),
            ("739961584206", "ml-serving"),
            ("058214476930", "robotics-sim"),
            ("904417263351", "data-platform"),
            ("271683950442", "sandbox"),
        ],
        format: Format::AwsCur,
        works: &[
            Work {
                team: LANGUAGE,
                project: "foundation-model",
                series: "pretrain",
                workload: "training",
                environment: "research",
                machine: &P5,
                region: 0,
                account: 0,
                term: Term::Planned,
                pattern: Pattern::Training(920),
                tagging: Tagging::ByMachine,
                nodes: [0, 0, 0, 0, 0, 0, 2, 2, 3, 3, 3, 3, 3],
            },
            Work {
                team: LANGUAGE,
                project: "instruction-tuning",
                series: "sft",
                workload: "training",
                environment: "research",
                machine: &P4D,
                region: 0,
                account: 0,
                term: Term::Reserved,
                pattern: Pattern::Training(900),
                tagging: Tagging::ByHand,
                nodes: [4, 4, 4, 4, 4, 4, 3, 3, 2, 2, 1, 1, 0],
            },
            Work {
                team: LANGUAGE,
                project: "foundation-model",
                series: "blackwell",
                workload: "training",
                environment: "research",
                machine: &P6,
                region: 1,
                account: 0,
                term: Term::OnDemand,
                pattern: Pattern::Training(450),
                tagging: Tagging::ByMachine,
                nodes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2],
            },
            Work {
                team: VISION,
                project: "segmentation",
                series: "seg",
                workload: "training",
                environment: "research",
                machine: &P4D,
                region: 0,
                account: 0,
                term: Term::OnDemand,
                pattern: Pattern::Training(750),
                tagging: Tagging::ByHand,
                nodes: [6, 6, 5, 5, 4, 2, 1, 0, 0, 0, 0, 0, 0],
            },
            Work {
                team: VISION,
                project: "segmentation",
                series: "seg",
                workload: "training",
                environment: "research",
                machine: &P5,
                region: 0,
                account: 0,
                term: Term::OnDemand,
                pattern: Pattern::Training(650),
                tagging: Tagging::ByHand,
                nodes: [0, 0, 1, 1, 1, 2, 3, 3, 4, 4, 4, 4, 4],
            },
            Work {
                team: RESEARCH,
                project: "scaling-laws",
                series: "ablation",
                workload: "batch",
                environment: "research",
                machine: &P5EN,
                region: 0,
                account: 1,
                term: Term::Spot,
                pattern: Pattern::Nights,
                tagging: Tagging::ByHand,
                nodes: [1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3],
            },
            Work {
                team: INFERENCE,
                project: "assistant-api",
                series: "",
                workload: "serving",
                environment: "prod",
                machine: &G6E,
                region: 1,
                account: 2,
                term: Term::OnDemand,
                pattern: Pattern::Serving,
                tagging: Tagging::ByMachine,
                nodes: [2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6, 6],
            },
            Work {
                team: INFERENCE,
                project: "embeddings",
                series: "",
                workload: "serving",
                environment: "prod",
                machine: &G6,
                region: 2,
                account: 2,
                term: Term::OnDemand,
                pattern: Pattern::Serving,
                tagging: Tagging::ByHand,
                nodes: [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2],
            },
            Work {
                team: ROBOTICS,
                project: "grasping-sim",
                series: "sim",
                workload: "batch",
                environment: "dev",
                machine: &G5,
                region: 0,
                account: 3,
                term: Term::OnDemand,
                pattern: Pattern::Office,
                tagging: Tagging::ByHand,
                nodes: [2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4],
            },
            Work {
                team: PLATFORM,
                project: "cluster",
                series: "",
                workload: "services",
                environment: "prod",
                machine: &M7I,
                region: 0,
                account: 4,
                term: Term::OnDemand,
                pattern: Pattern::Always,
                tagging: Tagging::ByMachine,
                nodes: [1; MONTHS],
            },
            Work {
                team: RESEARCH,
                project: "",
                series: "",
                workload: "notebooks",
                environment: "dev",
                machine: &G5_SMALL,
                region: 1,
                account: 5,
                term: Term::OnDemand,
                pattern: Pattern::Office,
                tagging: Tagging::Never,
                nodes: [2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3],
            },
            Work {
                team: VISION,
                project: "segmentation",
                series: "seg-scaleup",
                workload: "training",
                environment: "research",
                machine: &P5,
                region: 0,
                account: 0,
                term: Term::OnDemand,
                pattern: Pattern::Forgotten,
                tagging: Tagging::ByMachine,
                nodes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0],
            },
        ],
        stores: &[
            store(Some(LANGUAGE), &AWS_GOODS[5], 0, 40_000, 110_000),
            store(Some(VISION), &AWS_GOODS[5], 0, 30_000, 60_000),
            store(Some(LANGUAGE), &AWS_GOODS[1], 4, 180_000, 520_000),
            store(Some(VISION), &AWS_GOODS[1], 4, 240_000, 610_000),
            store(None, &AWS_GOODS[1], 5, 30_000, 48_000),
            store(Some(INFERENCE), &AWS_GOODS[0], 2, 12_000, 30_000),
            store(Some(RESEARCH), &AWS_GOODS[0], 1, 9_000, 15_000),
            store(None, &AWS_GOODS[0], 5, 6_000, 9_000),
            store(Some(INFERENCE), &AWS_GOODS[3], 2, 14_000, 62_000),
            store(Some(LANGUAGE), &AWS_GOODS[3], 4, 20_000, 70_000),
            store(None, &AWS_GOODS[4], 0, 300_000, 900_000),
            store(Some(PLATFORM), &AWS_GOODS[6], 4, 2_400, 5_200),
            store(Some(PLATFORM), &AWS_GOODS[7], 4, 2_160, 2_880),
            store(Some(VISION), &AWS_GOODS[2], 4, 900_000_000, 2_400_000_000),
        ],
        reservations: &[Reservation {
            machine: &P4D,
            account: 0,
            units: [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 0],
            amortized: 300,
            recurring: 250,
        }],
        planned: [0, 0, 0, 0, 0, 0, 2, 2, 3, 3, 3, 3, 3],
        support: 40,
        credit: 8000,
    },
    Bill {
        provider: "Microsoft",
        offer: &AZURE,
        currency: "USD",
        billing_account: "8611537e",
        accounts: &[
            ("1d0c7a5e-8b1f-4d1c-9a52-6f3f7e0b2a11", "sub-training"),
            ("5b7e20f4-17a6-4a0f-8f43-0c8a5a4be922", "sub-serving"),
            ("c2a9d6b3-62e0-49c5-b7d8-93f1d2c4e533", "sub-labs"),
        ],
        format: Format::AzureUsage,
        works: &[
            Work {
                team: LANGUAGE,
                project: "alignment",
                series: "rlhf",
                workload: "training",
                environment: "research",
                machine: &ND_H100,
                region: 0,
                account: 0,
                term: Term::Reserved,
                pattern: Pattern::Training(950),
                tagging: Tagging::ByMachine,
                nodes: [0, 0, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 5],
            },
            Work {
                team: INFERENCE,
                project: "assistant-api",
                series: "",
                workload: "serving",
                environment: "prod",
                machine: &NC_H100,
                region: 1,
                account: 1,
                term: Term::OnDemand,
                pattern: Pattern::Serving,
                tagging: Tagging::ByMachine,
                nodes: [4, 4, 4, 6, 6, 6, 8, 8, 10, 10, 12, 12, 14],
            },
            Work {
                team: VISION,
                project: "auto-labeling",
                series: "label",
                workload: "batch",
                environment: "prod",
                machine: &NC_A100,
                region: 0,
                account: 2,
                term: Term::Spot,
                pattern: Pattern::Nights,
                tagging: Tagging::ByHand,
                nodes: [6, 6, 8, 8, 8, 8, 10, 10, 10, 10, 12, 12, 12],
            },
            Work {
                team: ROBOTICS,
                project: "policy-learning",
                series: "policy",
                workload: "training",
                environment: "research",
                machine: &ND_A100,
                region: 0,
                account: 0,
                term: Term::OnDemand,
                pattern: Pattern::Training(600),
                tagging: Tagging::ByHand,
                nodes: [3, 3, 3, 3, 3, 3, 2, 2, 2, 1, 1, 0, 0],
            },
            Work {
                team: PLATFORM,
                project: "cluster",
                series: "",
                workload: "services",
                environment: "prod",
                machine: &D8S,
                region: 0,
                account: 1,
                term: Term::OnDemand,
                pattern: Pattern::Always,
                tagging: Tagging::ByMachine,
                nodes: [4, 4, 4, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6],
            },
            Work {
                team: RESEARCH,
                project: "notebooks",
                series: "",
                workload: "notebooks",
                environment: "dev",
                machine: &NV_A10,
                region: 1,
                account: 2,
                term: Term::OnDemand,
                pattern: Pattern::Office,
                tagging: Tagging::ByHand,
                nodes: [6, 6, 6, 6, 7, 7, 8, 8, 8, 9, 9, 9, 9],
            },
        ],
        stores: &[
            store(Some(LANGUAGE), &AZURE_GOODS[0], 0, 60_000, 260_000),
            store(Some(VISION), &AZURE_GOODS[0], 2, 120_000, 190_000),
            store(Some(INFERENCE), &AZURE_GOODS[1], 1, 8_000, 18_000),
            store(Some(INFERENCE), &AZURE_GOODS[2], 1, 9_000, 34_000),
            store(None, &AZURE_GOODS[3], 1, 600, 1_400),
        ],
        reservations: &[Reservation {
            machine: &ND_H100,
            account: 0,
            units: [0, 0, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 5],
            amortized: 180,
            recurring: 400,
        }],
        planned: [0; MONTHS],
        support: 25,
        credit: 0,
    },
    Bill {
        provider: "Google Cloud",
        offer: &GOOGLE,
        currency: "USD",
        billing_account: "01C9F2-7A4E18-B3D605",
        accounts: &[("aster-serving", "serving"), ("aster-research", "research"), ("aster-data", "data")],
        format: Format::GcpBilling,
        works: &[
            Work {
                team: INFERENCE,
                project: "embeddings",
                series: "",
                workload: "serving",
                environment: "prod",
                machine: &G2,
                region: 1,
                account: 0,
                term: Term::OnDemand,
                pattern: Pattern::Serving,
                tagging: Tagging::ByMachine,
                nodes: [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2],
            },
            Work {
                team: RESEARCH,
                project: "scaling-laws",
                series: "ablation",
                workload: "training",
                environment: "research",
                machine: &A3,
                region: 0,
                account: 1,
                term: Term::Planned,
                pattern: Pattern::Training(850),
                tagging: Tagging::ByMachine,
                nodes: [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1],
            },
            Work {
                team: VISION,
                project: "evaluation",
                series: "eval",
                workload: "batch",
                environment: "dev",
                machine: &A2,
                region: 0,
                account: 1,
                term: Term::Spot,
                pattern: Pattern::Nights,
                tagging: Tagging::ByMachine,
                nodes: [2; MONTHS],
            },
        ],
        stores: &[
            store(Some(RESEARCH), &GOODS[1], 1, 20_000, 45_000),
            store(Some(INFERENCE), &GOODS[0], 0, 3_000, 8_000),
            store(None, &GOODS[2], 2, 6_000, 14_000),
        ],
        reservations: &[],
        planned: [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1],
        support: 0,
        credit: 2500,
    },
    Bill {
        provider: "Nordlicht Cloud",
        offer: &SPECIALTY,
        currency: "EUR",
        billing_account: "NL-20418",
        accounts: &[("NL-20418-train", "training"), ("NL-20418-labs", "labs")],
        format: Format::Focus,
        works: &[
            Work {
                team: LANGUAGE,
                project: "foundation-model",
                series: "pretrain",
                workload: "training",
                environment: "research",
                machine: &H100_SXM,
                region: 1,
                account: 0,
                term: Term::OnDemand,
                pattern: Pattern::Training(930),
                tagging: Tagging::ByMachine,
                nodes: [4, 4, 6, 6, 8, 8, 10, 12, 12, 14, 14, 16, 16],
            },
            Work {
                team: RESEARCH,
                project: "scaling-laws",
                series: "ablation",
                workload: "training",
                environment: "research",
                machine: &A100_SXM,
                region: 1,
                account: 1,
                term: Term::OnDemand,
                pattern: Pattern::Training(700),
                tagging: Tagging::ByHand,
                nodes: [4, 4, 4, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0],
            },
            Work {
                team: ROBOTICS,
                project: "policy-learning",
                series: "policy",
                workload: "training",
                environment: "research",
                machine: &H100_SXM,
                region: 1,
                account: 1,
                term: Term::OnDemand,
                pattern: Pattern::Training(700),
                tagging: Tagging::ByHand,
                nodes: [0, 0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4],
            },
            Work {
                team: VISION,
                project: "video-diffusion",
                series: "diffusion",
                workload: "training",
                environment: "research",
                machine: &B200_SXM,
                region: 1,
                account: 0,
                term: Term::OnDemand,
                pattern: Pattern::Training(800),
                tagging: Tagging::ByHand,
                nodes: [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 2],
            },
            Work {
                team: VISION,
                project: "evaluation",
                series: "eval",
                workload: "batch",
                environment: "dev",
                machine: &H100_PCIE,
                region: 0,
                account: 1,
                term: Term::Spot,
                pattern: Pattern::Nights,
                tagging: Tagging::ByHand,
                nodes: [3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 6, 6],
            },
        ],
        stores: &[
            store(Some(LANGUAGE), &GOODS[1], 0, 40_000, 150_000),
            store(Some(VISION), &GOODS[1], 0, 0, 60_000),
            store(None, &GOODS[0], 1, 4_000, 9_000),
            store(Some(LANGUAGE), &GOODS[2], 0, 20_000, 80_000),
        ],
        reservations: &[],
        planned: [0; MONTHS],
        support: 0,
        credit: 0,
    },
];

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
