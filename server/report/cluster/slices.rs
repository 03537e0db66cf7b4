//! Slices of a cluster's accelerators in a month: by profile what jobs held, who they were, and what no slice has.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sqlx::PgConnection;

use super::weeks::machines;
use crate::accounts::Viewer;
use crate::ledger;
use crate::money::{Currency, Decimal};
use crate::onprem::PROVIDER;
use crate::period::BillingMonth;
use crate::report::{Answers, Error, GpuJob, Grouping, Question};
use crate::telemetry::read;

/// Holders of a profile that are named.
const NAMED: usize = 3;

#[derive(Debug, Serialize)]
pub struct SlicesOfCluster {
    pub month: BillingMonth,
    pub currency: Option<Currency>,
    /// Those that cost most first.
    pub profiles: Vec<HeldProfile>,
    /// Of accelerators that are cut into slices, what no slice has.
    pub stranded_hours: Decimal,
    pub stranded_cost: Decimal,
}

/// What jobs held in slices of one profile.
#[derive(Debug, Serialize)]
pub struct HeldProfile {
    pub profile: String,
    pub jobs: usize,
    /// Of whole accelerators, of which each slice is a share.
    pub accelerator_hours: Decimal,
    pub cost: Decimal,
    /// Held on machines whose charges are not known, and in no cost.
    pub hours_without_cost: Decimal,
    /// Users, else namespaces, who held most of it.
    pub holders: Vec<String>,
}

impl Answers {
    /// Of the first of these months in which accelerators of the cluster are known to be cut into slices; `None` where they are in none.
    pub(super) async fn slices_of_cluster(
        &self,
        db: &mut PgConnection,
        cluster: &str,
        months: impl Iterator<Item = BillingMonth>,
        currency: &Currency,
    ) -> Result<Option<SlicesOfCluster>, Error> {
        let machines = machines(&mut *db, cluster).await?;
        let sequence = ledger::sequence(&mut *db).await?;
        let nodes = read::nodes(&mut *db, sequence).await?;
        let is_of_cluster = |resource: &String| machines.binary_search(resource).is_ok();
        let nodes = nodes.iter().filter(|node| node.resource.as_ref().is_some_and(is_of_cluster));
        let nodes: BTreeSet<i64> = nodes.map(|node| node.node_id).collect();
        let numbers: Vec<i64> = nodes.iter().copied().collect();
        for month in months {
            if !read::has_slices(&mut *db, &numbers, &month.days()).await? {
                continue;
            }
            let it = self.slices_in_month(&mut *db, cluster, month, currency, &nodes).await?;
            // Of an import that was undone, or of machines that are not divided yet, there is nothing to show.
            if !it.profiles.is_empty() || !it.stranded_hours.is_zero() {
                return Ok(Some(it));
            }
        }
        Ok(None)
    }

    async fn slices_in_month(
        &self,
        db: &mut PgConnection,
        cluster: &str,
        month: BillingMonth,
        currency: &Currency,
        nodes: &BTreeSet<i64>,
    ) -> Result<SlicesOfCluster, Error> {
        let question = Question {
            convert_into: Some(currency.clone()),
            ..Question::of(month.into(), Viewer::Everything)
        };
        let (data_status, jobs) = self.jobs_in_slices(&mut *db, &question, nodes).await?;
        let of_cluster = question
            .only(Grouping::Provider, vec![PROVIDER.to_owned()])
            .only(Grouping::Account, vec![cluster.to_owned()]);
        let (hours, cost) = self.lines_by_use(db, &of_cluster).await?;
        Ok(SlicesOfCluster {
            month,
            currency: data_status.currency,
            profiles: held_by_profile(&jobs, nodes),
            stranded_hours: hours.stranded,
            stranded_cost: cost.stranded,
        })
    }
}

fn held_by_profile(jobs: &[GpuJob], nodes: &BTreeSet<i64>) -> Vec<HeldProfile> {
    let mut profiles: BTreeMap<&str, (HeldProfile, BTreeMap<&str, Decimal>)> = BTreeMap::new();
    for job in jobs.iter().filter(|job| !job.job.profile.is_empty()) {
        let parts: Vec<_> = job.on_nodes.iter().filter(|part| nodes.contains(&part.node_id)).collect();
        if parts.is_empty() {
            continue;
        }
        let (held, holders) = profiles.entry(&job.job.profile).or_insert_with(|| {
            let profile = job.job.profile.clone();
            let (jobs, none) = (0, Decimal::ZERO);
            let held = HeldProfile {
                profile,
                jobs,
                accelerator_hours: none,
                cost: none,
                hours_without_cost: none,
                holders: Vec::new(),
            };
            (held, BTreeMap::new())
        });
        let hours: Decimal = parts.iter().map(|part| part.accelerator_hours).sum();
        held.jobs += 1;
        held.accelerator_hours += hours;
        held.cost += parts.iter().map(|part| part.cost).sum::<Decimal>();
        held.hours_without_cost += parts.iter().map(|part| part.hours_without_cost).sum::<Decimal>();
        let user = [&job.job.user_name, &job.job.namespace].into_iter().find(|it| !it.is_empty());
        if let Some(user) = user {
            *holders.entry(user).or_default() += hours;
        }
    }
    let mut profiles: Vec<HeldProfile> = profiles
        .into_values()
        .map(|(held, holders)| {
            let mut holders: Vec<_> = holders.into_iter().collect();
            holders.sort_by_key(|(_, hours)| std::cmp::Reverse(*hours));
            let named = holders.into_iter().take(NAMED).map(|(name, _)| name.to_owned());
            HeldProfile { holders: named.collect(), ..held }
        })
        .collect();
    profiles.sort_by(|a, b| b.cost.cmp(&a.cost).then(b.accelerator_hours.cmp(&a.accelerator_hours)));
    profiles
}
