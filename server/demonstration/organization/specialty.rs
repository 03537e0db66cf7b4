//! What the organization runs on a specialty cloud, which bills in euros.

use super::{Bill, LANGUAGE, MONTHS, Pattern, RESEARCH, ROBOTICS, Tagging, Term, VISION, Work, store};
use crate::generate::Format;
use crate::generate::world::{GOODS, Machine, SPECIALTY, machine};

static H100_SXM: Machine = machine("8x H100 SXM", "8", 208, 1800, 199_200, 0);
static A100_SXM: Machine = machine("8x A100 SXM 80GB", "8", 240, 1800, 103_200, 0);
static B200_SXM: Machine = machine("8x B200 SXM6", "8", 208, 2900, 335_200, 0);
static H100_PCIE: Machine = machine("1x H100 PCIe", "1", 26, 200, 21_900, 0);

pub(super) const BILL: Bill = Bill {
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
};
