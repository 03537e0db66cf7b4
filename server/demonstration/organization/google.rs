//! What the organization runs on Google Cloud.

use super::{Bill, INFERENCE, MONTHS, Pattern, RESEARCH, Tagging, Term, VISION, Work, store};
use crate::generate::Format;
use crate::generate::world::{GOODS, GOOGLE, Machine, machine};

static A3: Machine = machine("a3-highgpu-8g", "8", 208, 1872, 882_500, 0);
static A2: Machine = machine("a2-highgpu-1g", "1", 12, 85, 36_735, 0);
static G2: Machine = machine("g2-standard-48", "4", 48, 192, 40_000, 0);

pub(super) const BILL: Bill = Bill {
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
};
