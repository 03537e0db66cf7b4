//! `/glossary`: what the words of the pages mean. Each is defined here and nowhere else; an ⓘ beside a word leads to it.

use askama::Template;

use super::error::Result;
use super::layout::Layout;
use super::{paths, respond};
use crate::report::CostMetric;

/// A word, in the standard terms of FOCUS and the FinOps Foundation where they have it.
pub struct Term {
    /// Where it stands on the page: `effective-cost`.
    pub id: &'static str,
    pub name: &'static str,
    /// One sentence.
    pub definition: &'static str,
    /// What FOCUS or accountants call it, where that is another word.
    pub also: &'static str,
}

const fn term(id: &'static str, name: &'static str, definition: &'static str) -> Term {
    Term { id, name, definition, also: "" }
}

const fn also(id: &'static str, name: &'static str, also: &'static str, definition: &'static str) -> Term {
    Term { id, name, definition, also }
}

/// Terms by subject.
pub const SUBJECTS: [(&str, &[Term]); 6] = [
    ("Costs", COSTS),
    ("GPUs and hours", HOURS),
    ("Who pays", OWNERS),
    ("Bills and imports", BILLS),
    ("Own hardware", OWN),
    ("Scenarios", SCENARIOS),
];

const COSTS: &[Term] = &[
    also("billed-cost", "Billed cost", "BilledCost", "What the provider invoices for the period."),
    also(
        "effective-cost",
        "Effective cost",
        "EffectiveCost",
        "Amortized: commitments spread over the usage they cover.",
    ),
    also("contracted-cost", "Contracted cost", "ContractedCost", "At negotiated prices, before commitments."),
    also("list-cost", "List cost", "ListCost", "At public list prices."),
    also(
        "charge",
        "Charge",
        "a row of a FOCUS file",
        "One line of a bill: usage, purchase, tax, credit or adjustment.",
    ),
    also(
        "commitment",
        "Commitment",
        "commitment discount",
        "A lower price for a promise to use or spend, such as a savings plan.",
    ),
    term(
        "unused-commitment",
        "Unused commitment",
        "What was paid for a commitment in hours when nothing used it.",
    ),
    term("coverage", "Coverage", "The share of usage whose price a commitment sets."),
    also(
        "spot",
        "Spot",
        "PricingCategory Dynamic",
        "Spare capacity at a changing price that can be taken away.",
    ),
    also(
        "adjustment",
        "Adjustment",
        "discount, markup, minimum",
        "What is added to a bill, or taken from it, beside its own charges.",
    ),
    term(
        "reporting-currency",
        "Reporting currency",
        "The currency that amounts are converted to, with the rate of their month.",
    ),
    also(
        "variance",
        "Variance",
        "price, usage and mix effects",
        "How much of a change comes from prices, usage and mix.",
    ),
];

const HOURS: &[Term] = &[
    also(
        "accelerator",
        "Accelerator",
        "GPU, TPU",
        "A chip that training and inference run on; a MIG slice is a part.",
    ),
    also("gpu-hours", "GPU-hours", "accelerator-hours", "Accelerators times hours: in the cloud or on-prem."),
    term("rate-card", "Rate card", "What a contract says a unit costs, for usage that comes without cost."),
    term(
        "internal-price",
        "Internal price",
        "What teams are charged for a GPU-hour of your own clusters, instead of its cost.",
    ),
    term("unpriced", "Unpriced", "Usage that came without cost and that no rate covers. It is in no figure."),
    term("cloud-gpu-hours", "Cloud GPU-hours", "Hours of accelerators that a provider billed, used or not."),
    term("on-prem-gpu-hours", "On-prem GPU-hours", "Hours of accelerators of your own, used or not."),
    term(
        "on-prem-price",
        "Per on-prem GPU-hour",
        "All costs of the clusters by their GPU-hours, running costs that teams share included.",
    ),
    term(
        "available-hours",
        "Available hours",
        "GPU-hours without the downtime entered for clusters; a cloud bills available hours alone.",
    ),
    term(
        "productive-gpu-hour",
        "Productive GPU-hour",
        "An hour in which a job held the GPU and it did work.",
    ),
    term(
        "useful-hours",
        "Useful hours",
        "Productive hours without work that was done again, as entered for clusters.",
    ),
    term("occupancy", "Occupancy", "The share of hours in which a job holds the GPU."),
    term("utilization", "Utilization", "The share of time in which the GPU computes."),
    term(
        "usage-data",
        "Usage data",
        "What schedulers and meters say of who held which GPUs, and how busy they were.",
    ),
    term("job", "Job", "What held GPUs: a job of a scheduler such as Slurm, or a pod of Kubernetes."),
    term("held", "Held", "Assigned to a job, whether or not it works."),
    term("used", "Used", "Held by a job and measured at work; also called productive."),
    term("held-but-idle", "Held but idle", "Held by a job and measured not to work."),
    term("held-by-nobody", "Held by nobody", "Paid for or owned, and no job held it."),
    term("not-measured", "Held, not measured", "Held by a job, and nobody measured whether it worked."),
    also(
        "stranded",
        "Stranded by slices",
        "MIG",
        "What no slice has of GPUs that are cut into slices: it cannot be held.",
    ),
    term("idle", "Idle", "Held but idle, or held by nobody."),
];

const OWNERS: &[Term] = &[
    term("allocation", "Allocation", "Deciding which team or shared cost each charge belongs to."),
    term("unallocated", "Unallocated", "Charges that no rule and no tag gives to a team."),
    term("shared-costs", "Shared costs", "Costs that several teams pay, divided among them."),
    term("direct-costs", "Direct costs", "Charges of resources that are a team’s own."),
    term("chargeback", "Chargeback", "Charging teams for what they use; showback only shows it."),
    term("statement", "Statement", "What a team is charged for a month, in whole cents."),
    term("team", "Team", "Who is charged."),
    term("cost-centre", "Cost center", "Where finance books a team’s costs."),
    term("experiment", "Experiment", "A run or series of runs, known by its label."),
    term("unit-cost", "Unit cost", "Effective cost divided by an entered quantity, such as training runs."),
];

const BILLS: &[Term] = &[
    also(
        "billing-month",
        "Billing month",
        "billing period",
        "The month that the provider invoices a charge in.",
    ),
    term("active-import", "Active", "The import that a month’s figures come from."),
    term("replaced-import", "Replaced", "A newer import of the same month and account is active."),
    term("rejected-rows", "Rejected rows", "Rows that could not be read; their amounts are in no figure."),
    term("provisional", "Provisional", "The provider may still change the bill."),
    term("final", "Final", "The provider has closed the bill."),
    term("restated", "Restated", "A month that was final and says something else now."),
    term("version", "Version", "The state of all figures after an import, an undo or a change."),
    term("reconciliation", "Reconciliation", "Comparing charges with the invoices that were entered."),
];

const OWN: &[Term] = &[
    term("asset-register", "Asset register", "The list of hardware, contracts and staff of your own."),
    term("depreciation", "Depreciation", "The purchase price spread over the months of use."),
    term("residual-value", "Residual value", "What hardware is still worth at the end of its use."),
    also("pue", "PUE", "power usage effectiveness", "Power of the site divided by power of its computers."),
    also("tco", "TCO", "total cost of ownership", "Purchase, power, space, staff and interest together."),
    term("revision", "Revision", "The state of the asset register or price list after a change."),
];

const SCENARIOS: &[Term] = &[
    term("cheapest-option", "Cheapest option", "The option with the lowest present value."),
    term("present-value", "Present value", "Later payments, discounted to today."),
    term("annuity", "Annuity", "Price and interest, paid in equal months."),
    term(
        "break-even",
        "Break-even utilization",
        "The utilization above which owning costs less than renting.",
    ),
    term("payback", "Payback", "Months until savings have repaid the purchase."),
    term("base-and-burst", "Base load and burst", "Hours that are always needed, and those above them."),
    term("sensitivity", "Sensitivity", "How far the result moves when one input does."),
    term("break-point", "Break point", "The value of an input at which another option becomes cheapest."),
    term("simulations", "Simulations", "Results with uncertain inputs drawn at random, 10,000 times."),
];

/// The term of an id; a template asks for one that there is, which a test sees to.
pub fn find(id: &str) -> Option<&'static Term> {
    SUBJECTS.iter().flat_map(|(_, terms)| *terms).find(|term| term.id == id)
}

/// The term of a cost.
pub fn of_cost(cost: &CostMetric) -> &'static str {
    match cost {
        CostMetric::Billed => "billed-cost",
        CostMetric::Effective => "effective-cost",
        CostMetric::Contracted => "contracted-cost",
        CostMetric::List => "list-cost",
    }
}

#[derive(Template)]
#[template(path = "glossary.html")]
struct Page {
    layout: Layout,
}

pub async fn show(_: paths::Glossary, layout: Layout) -> Result {
    respond::html(Page { layout })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Ids that templates ask for.
    fn asked(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                asked(&path, found);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let calls = text.split("info(\"").skip(1).filter_map(|rest| rest.split('"').next());
            found.extend(calls.map(str::to_owned));
        }
    }

    #[test]
    fn every_info_sign_leads_to_a_term() {
        let mut found = BTreeSet::new();
        asked(&Path::new(env!("CARGO_MANIFEST_DIR")).join("templates"), &mut found);
        assert!(found.len() > 5, "{found:?}");
        let unknown: Vec<&String> = found.iter().filter(|id| find(id).is_none()).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn a_term_is_defined_once_in_one_short_sentence() {
        let terms: Vec<&Term> = SUBJECTS.iter().flat_map(|(_, terms)| *terms).collect();
        let ids: BTreeSet<&str> = terms.iter().map(|term| term.id).collect();
        assert_eq!(ids.len(), terms.len());
        for Term { id, definition, .. } in terms {
            assert!(definition.chars().count() < 90 && definition.ends_with('.'), "{id}: {definition}");
        }
    }
}
