//! Who pays for what in the demonstration: what its administrator wrote into the allocation configuration.
//!
//! Robotics moved from research to the products in the eighth month; what it cost before stays where it was. Most of
//! what people type is known as another spelling. Some is not, for whoever looks to correct. Machines of the organization's
//! own are each a team's, but for what its jobs say of who used them; what it takes to run them, and what nobody holds, is shared by
//! the hours of these, so that who only rents pays none of it.

use super::cluster::{CLUSTER, NODE};
use super::pods::EVALUATION;
use crate::allocation::{
    Account, Budget, BudgetOf, BudgetPeriod, Condition, CostCentre, Entry, Hours, HoursOf, Label, Meaning,
    Months, Project, Rule, SharedCostPool, Split, Target, Team, Test,
};
use crate::billing::usage_tags;
use crate::money::{Currency, Decimal};
use crate::onprem::PROVIDER;
use crate::period::BillingMonth;
use crate::telemetry::GpuUse;

/// The month of the reorganization, of thirteen.
const REORGANIZED: u32 = 7;

/// Everything in the configuration, of thirteen months that begin with this one.
pub fn configuration(first: BillingMonth) -> Vec<Entry> {
    let reorganized = first.plus(REORGANIZED);
    let mut configuration = Vec::new();
    for (handle, name) in [
        ("cc-4100", "CC-4100"),
        ("cc-4210", "CC-4210"),
        ("cc-4220", "CC-4220"),
        ("cc-4300", "CC-4300"),
        ("cc-5100", "CC-5100"),
        ("cc-6000", "CC-6000"),
    ] {
        configuration.push(Entry::CostCentre(CostCentre {
            handle: handle.to_owned(),
            name: name.to_owned(),
            ..CostCentre::default()
        }));
    }
    let until = Months { first: None, last: Some(reorganized.previous()) };
    for (handle, name, parent, centre, spellings, months) in [
        ("models", "Models", "", "", &[][..], Months::default()),
        ("products", "Products", "", "", &[][..], Months::default()),
        ("language", "Language", "models", "cc-4220", &["NLP"][..], Months::default()),
        ("vision", "Vision", "models", "cc-4210", &["CV"][..], Months::default()),
        ("research", "Research", "models", "cc-4100", &[][..], Months::default()),
        ("robotics", "Robotics", "models", "cc-4300", &["robotics-team"][..], until),
        ("robotics", "Robotics", "products", "cc-4300", &["robotics-team"][..], Months::from(reorganized)),
        ("inference", "Inference", "products", "cc-5100", &[][..], Months::default()),
        ("platform", "Platform", "", "cc-6000", &[][..], Months::default()),
    ] {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        configuration.push(Entry::Team(Team {
            handle: handle.to_owned(),
            name: name.to_owned(),
            parent: some(parent),
            cost_centre: some(centre),
            spellings: spellings.iter().map(|&spelling| spelling.to_owned()).collect(),
            members: Vec::new(),
            months,
        }));
    }
    for (handle, name) in [
        ("foundation-model", "Foundation model"),
        ("instruction-tuning", "Instruction tuning"),
        ("alignment", "Alignment"),
        ("segmentation", "Segmentation"),
        ("video-diffusion", "Video diffusion"),
        ("auto-labeling", "Auto-labeling"),
        ("evaluation", "Evaluation"),
        ("scaling-laws", "Scaling laws"),
        ("grasping-sim", "Grasping simulation"),
        ("policy-learning", "Policy learning"),
        ("assistant-api", "Assistant API"),
        ("embeddings", "Embeddings"),
        ("cluster", "Cluster"),
        ("notebooks", "Notebooks"),
    ] {
        configuration.push(Entry::Project(Project {
            handle: handle.to_owned(),
            name: name.to_owned(),
            ..Project::default()
        }));
    }
    let project = ["project", usage_tags::WORKLOAD_KEY].map(str::to_owned).to_vec();
    configuration.push(Entry::Meaning(Meaning { label: Label::Project, keys: project }));
    // Who submits a job says in its comment of which experiment it is.
    let experiment = Label::Experiment.usual_keys().iter().chain([&usage_tags::COMMENT]);
    let experiment = experiment.map(|&key| key.to_owned()).collect();
    configuration.push(Entry::Meaning(Meaning { label: Label::Experiment, keys: experiment }));
    for (account, team) in
        [("058214476930", "robotics"), ("904417263351", "platform"), ("739961584206", "inference")]
    {
        configuration.push(Entry::Account(Account {
            account: account.to_owned(),
            team: team.to_owned(),
            months: Months::default(),
        }));
    }
    let pool = |handle: &str, name: &str, split: Split| SharedCostPool {
        handle: handle.to_owned(),
        name: name.to_owned(),
        split,
        among: Vec::new(),
        without: Vec::new(),
        pools: Vec::new(),
        months: Months::default(),
    };
    let by_hours = |of: HoursOf| Split::AcceleratorHours(Hours { of, account: None });
    let without_platform =
        |pool: SharedCostPool| SharedCostPool { without: vec!["platform".to_owned()], ..pool };
    // The platform serves whoever computes, and has support of its own to pay.
    let platform = without_platform(pool("platform-services", "Platform services", by_hours(HoursOf::All)));
    let support = pool("support", "Support", Split::DirectCost);
    let support = without_platform(SharedCostPool { pools: vec!["platform-services".to_owned()], ..support });
    let tax = without_platform(pool("tax", "Tax", Split::DirectCost));
    let unused = without_platform(pool("unused-commitments", "Unused commitments", Split::WhoUsedIt));
    let own = pool("on-premises", "On-premises overhead", by_hours(HoursOf::Owned));
    configuration.extend([platform, support, tax, unused, own].map(Entry::Pool));

    let is = |field: &str, value: &str| condition(field, Test::Is(vec![value.to_owned()]));
    let there =
        |field: &str| condition(field, Test::Missing).map(|missing| Condition { not: true, ..missing });
    let pool = |handle: &str| Target::Pool { pool: handle.to_owned() };
    let of_machines = |from: u32, to: u32| {
        let machines = (from..=to).map(|unit| format!("{NODE}-{unit:02}")).collect();
        vec![is("tag:cluster", CLUSTER), condition("resource", Test::Is(machines))]
    };
    let team =
        |team: &str, project: &str| Target::Team { team: team.to_owned(), project: Some(project.to_owned()) };
    let of_account = Target::Tag { key: usage_tags::ACCOUNT.to_owned() };
    let unheld = vec![is("tag:cluster", CLUSTER), is("tag:usage:use", GpuUse::Unheld.as_str())];
    let evaluation = vec![is("tag:usage:namespace", EVALUATION)];
    let rules: [(&str, Vec<Option<Condition>>, Target); 13] = [
        ("Jobs by account", vec![there("tag:usage:account")], of_account),
        ("Pods: evaluation", evaluation, team("research", "evaluation")),
        // Whoever computes there pays for what nobody holds.
        ("H100 East: held by nobody", unheld, pool("on-premises")),
        ("Tax", vec![is("category", "Tax")], pool("tax")),
        ("Support", vec![condition("service", Test::Matches("(?i)support".to_owned()))], pool("support")),
        (
            "Unused reservations",
            vec![is("category", "Purchase"), there("commitment")],
            pool("unused-commitments"),
        ),
        ("Unused commitments", vec![is("commitment-status", "Unused")], pool("unused-commitments")),
        ("Platform services", vec![is("label:team", "platform")], pool("platform-services")),
        ("H100 East: language", of_machines(1, 4), team("language", "foundation-model")),
        ("H100 East: vision", of_machines(5, 6), team("vision", "segmentation")),
        ("Labels", Vec::new(), Target::Labels),
        ("On-premises overhead", vec![is("provider", PROVIDER)], pool("on-premises")),
        ("Accounts", Vec::new(), Target::Account),
    ];
    for (place, (name, when, to)) in (0..).zip(rules) {
        configuration.push(Entry::Rule(Rule {
            name: name.to_owned(),
            place: place * 16,
            when: when.into_iter().flatten().collect(),
            to,
            months: Months::default(),
        }));
    }
    for (of, amount) in [
        (BudgetOf::Team("language".to_owned()), 650_000),
        (BudgetOf::Team("vision".to_owned()), 240_000),
        (BudgetOf::Team("products".to_owned()), 260_000),
        (BudgetOf::Project("foundation-model".to_owned()), 500_000),
    ] {
        configuration.push(Entry::Budget(Budget {
            of,
            period: BudgetPeriod::Month,
            months: Months::from(reorganized),
            amount: Decimal::from(amount),
            currency: Currency::exactly("USD"),
            thresholds: vec![50, 80, 100],
        }));
    }
    configuration
}

/// `None` for a field that there is not, which the test below would find.
fn condition(field: &str, test: Test) -> Option<Condition> {
    Some(Condition { field: field.parse().ok()?, not: false, test })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::{Configuration, problems};

    #[test]
    fn configuration_has_no_problem_and_all_its_conditions() {
        let entries = configuration("2025-11".parse().unwrap());
        let conditions: usize = entries
            .iter()
            .map(|entry| match entry {
                Entry::Rule(rule) => rule.when.len(),
                _ => 0,
            })
            .sum();
        assert_eq!(conditions, 15);
        let configuration = Configuration { entries: (1..).zip(entries).collect() };
        assert_eq!(problems(&configuration), []);
    }
}
