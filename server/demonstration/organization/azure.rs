//! What the organization runs on Azure.

use super::{
    Bill, INFERENCE, LANGUAGE, MONTHS, PLATFORM, Pattern, RESEARCH, ROBOTICS, Reservation, Tagging, Term,
    VISION, Work, store,
};
use crate::generate::Format;
use crate::generate::world::{AZURE, AZURE_GOODS, Machine, machine};

static ND_H100: Machine = machine("Standard_ND96isr_H100_v5", "8", 96, 1900, 983_200, 0);
static ND_A100: Machine = machine("Standard_ND96amsr_A100_v4", "8", 96, 1900, 327_700, 0);
static NC_H100: Machine = machine("Standard_NC40ads_H100_v5", "1", 40, 320, 69_800, 0);
static NC_A100: Machine = machine("Standard_NC24ads_A100_v4", "1", 24, 220, 36_730, 0);
static NV_A10: Machine = machine("Standard_NV12ads_A10_v5", "1/3", 12, 110, 9_080, 0);
static D8S: Machine = machine("Standard_D8s_v5", "", 8, 32, 3_840, 0);

pub(super) const BILL: Bill = Bill {
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
};
