//! What a cluster's month amounts to, without its lines: what pages need of most months. Pure.

use std::sync::Arc;

use chrono::NaiveDate;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::asset_register::AssetRegister;
use super::compare_with_cloud::{HoursOfModel, hours_by_model};
use super::cost_lines::{Line, lines};
use super::energy_use::EnergyOfMonth;
use super::entry::Cluster;
use super::power::Reading;
use super::summary::MonthSummary;
use crate::money::{Currency, Money};
use crate::period::BillingMonth;

/// A hash of 32 bytes.
pub type Sha = [u8; 32];

/// A month of a cluster, added up.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputedBill {
    pub month: BillingMonth,
    /// By currency, the one with the most cost first; none of a month in which nothing is charged.
    pub summaries: Vec<MonthSummary>,
    /// Hours in service, by model.
    pub hours: Vec<HoursOfModel>,
    /// In service at the end of the month.
    pub accelerators: u32,
    pub energy: Option<EnergyOfMonth>,
    /// Of everything that its file says.
    pub content: Sha,
    /// Of what pages and rules divide costs by, and of the amounts. What else its file says are words: what the cluster
    /// is called, how a line came about, and of which entry.
    pub amounts: Sha,
}

/// The lines of a month as far as it has gone: of one that goes on, the days before today.
pub fn lines_until(
    asset_register: &AssetRegister,
    readings: &[Reading],
    cluster: &str,
    month: BillingMonth,
    today: NaiveDate,
) -> Vec<Line> {
    let mut lines = lines(asset_register, readings, cluster, month);
    lines.retain(|line| line.days.start < today);
    lines
}

/// Whether all days of a month have been.
pub fn is_over(month: BillingMonth, today: NaiveDate) -> bool {
    month.next().first_day() <= today
}

impl ComputedBill {
    /// A month as far as it has gone.
    pub fn of(
        asset_register: &AssetRegister,
        readings: &[Reading],
        cluster: &Cluster,
        month: BillingMonth,
        today: NaiveDate,
    ) -> Self {
        let lines = lines_until(asset_register, readings, &cluster.handle, month, today);
        let (content, amounts) = hashes(cluster, month, &lines, is_over(month, today));
        Self {
            month,
            summaries: MonthSummary::by_currency(month, &lines),
            hours: hours_by_model(&lines, asset_register.shares(cluster, month).productive()),
            accelerators: accelerators(&lines),
            energy: EnergyOfMonth::of(asset_register, &cluster.handle, month, &lines, readings, today),
            content,
            amounts,
        }
    }

    /// A month in which nothing is charged.
    pub fn nothing(month: BillingMonth) -> Self {
        Self {
            month,
            summaries: Vec::new(),
            hours: Vec::new(),
            accelerators: 0,
            energy: None,
            content: Sha::default(),
            amounts: Sha::default(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.summaries.is_empty()
    }

    /// What it amounts to in a currency; hours and energy are those of all.
    pub fn summary(&self, currency: &Currency) -> MonthSummary {
        let known = self.summaries.iter().find(|it| it.currency == *currency).cloned();
        known.unwrap_or_else(|| {
            let nothing = MonthSummary::of(self.month, &[], currency);
            self.summaries.first().map_or(nothing.clone(), |it| MonthSummary {
                owned_hours: it.owned_hours,
                kwh: it.kwh,
                measured_kwh: it.measured_kwh,
                ..nothing
            })
        })
    }

    /// Effective cost by currency.
    pub fn effective(&self) -> Vec<Money> {
        let mut amounts: Vec<Money> = self
            .summaries
            .iter()
            .map(|it| Money { amount: it.effective, currency: it.currency.clone() })
            .collect();
        amounts.sort_by(|a, b| a.currency.cmp(&b.currency));
        amounts
    }
}

/// How many accelerators were in service on the last day on which any were.
fn accelerators(lines: &[Line]) -> u32 {
    let machines = || lines.iter().filter_map(|line| Some((line.days.start, line.machine.as_ref()?, line)));
    let Some(last) = machines().map(|(day, ..)| day).max() else { return 0 };
    machines()
        .filter(|(day, ..)| *day == last)
        .map(|(_, machine, line)| machine.accelerators.saturating_mul(line.count()))
        .fold(0, u32::saturating_add)
}

/// Of all that a month's file says, and of its amounts with what costs are divided by. The amounts are those of the lines
/// in any order: which entry a line is of is no part of them.
fn hashes(cluster: &Cluster, month: BillingMonth, lines: &[Line], is_over: bool) -> (Sha, Sha) {
    let mut words = Sha256::new();
    feed(&mut words, &cluster.name);
    let mut of_lines: Vec<Sha> = Vec::with_capacity(lines.len());
    let mut numbers = Numbers::default();
    for line in lines {
        let quantity = line.quantity.map(|(quantity, unit)| (quantity.normalize(), unit));
        let of_one =
            line.units.as_ref().map(|units| (units.are_of_several, units.of_one.effective.normalize()));
        let mut of_line = Sha256::new();
        feed(
            &mut of_line,
            &(
                (line.component, &line.name, &line.days, &line.currency, line.basis),
                (line.billed.normalize(), line.effective.normalize(), quantity, of_one),
                // Its model stands in the description alone.
                (line.machine.as_ref().map(|it| (&it.accelerator, it.accelerators)), &line.tags),
            ),
        );
        if let Some(units) = &line.units {
            of_line.update(numbers.hash(&units.numbers));
        }
        of_lines.push(of_line.finalize().into());
        // An amount that is written with other zeros is the same amount, and another text.
        feed(&mut words, &(&line.description, line.input, line.billed, line.effective, line.quantity));
    }
    of_lines.sort_unstable();
    let mut amounts = Sha256::new();
    feed(&mut amounts, &(&cluster.handle, &cluster.site, month, is_over));
    for line in &of_lines {
        amounts.update(line);
    }
    let amounts = amounts.finalize();
    words.update(amounts);
    (words.finalize().into(), amounts.into())
}

/// Numbers of units that were hashed: a day mostly has those of the day before it, and a large cluster has many.
#[derive(Default)]
struct Numbers(Vec<(Arc<[u32]>, Sha)>);

impl Numbers {
    fn hash(&mut self, numbers: &Arc<[u32]>) -> Sha {
        if let Some((_, known)) = self.0.iter().find(|(it, _)| Arc::ptr_eq(it, numbers)) {
            return *known;
        }
        let mut hash = Sha256::new();
        feed(&mut hash, numbers);
        let hash = hash.finalize().into();
        self.0.push((Arc::clone(numbers), hash));
        hash
    }
}

pub(super) fn feed(hash: &mut Sha256, value: &impl Serialize) {
    #[expect(clippy::expect_used, reason = "plain values have a text, and a hash takes whatever is written")]
    serde_json::to_writer(&mut *hash, value).expect("values are hashed");
    hash.update([0]);
}

#[cfg(test)]
mod tests {
    use super::super::sheet::Kind;
    use super::super::testing::{entry, month, of_a};
    use super::*;
    use crate::money::{Decimal, number};

    fn asset_register(cluster: &str, more: &[(Kind, &str)]) -> AssetRegister {
        let mut asset_register = of_a(more.iter().map(|(kind, pairs)| entry(*kind, pairs)));
        asset_register.entries.insert(1, entry(Kind::Clusters, cluster));
        asset_register
    }

    fn january(asset_register: &AssetRegister, today: &str) -> ComputedBill {
        let cluster = asset_register.cluster("a").unwrap();
        ComputedBill::of(asset_register, &[], cluster, month("2026-01"), today.parse().unwrap())
    }

    const NODES: (Kind, &str) = (Kind::Assets, "tags=team=vision");
    const STAFF: (Kind, &str) = (Kind::Staff, "role=ops|fte=1|loaded_cost=120000");

    #[test]
    fn words_are_told_from_amounts() {
        let before = january(&asset_register("", &[NODES, STAFF]), "2026-03-01");
        let same = january(&asset_register("", &[NODES, STAFF]), "2026-04-01");
        assert_eq!(before, same, "a month that is over stays as it is");
        let written_otherwise = (Kind::Assets, "tags=team=vision|price=36500.00");
        let insurance = |every: &str| {
            let pairs = format!("name=insurance|what=insurance|amount=100|{every}|last=2026-01");
            january(&asset_register("", &[(Kind::Costs, &pairs)]), "2026-03-01")
        };
        assert_eq!(insurance("every=once").amounts, insurance("every=month").amounts, "how it came about");
        assert_ne!(insurance("every=once").content, insurance("every=month").content);
        for (what, of) in [
            ("another name", asset_register("name=Another", &[NODES, STAFF])),
            ("another model", asset_register("", &[(Kind::Assets, "tags=team=vision|model=rack"), STAFF])),
            ("how it is written", asset_register("", &[written_otherwise, STAFF])),
        ] {
            let after = january(&of, "2026-03-01");
            assert_eq!(after.amounts, before.amounts, "{what}");
            assert_ne!(after.content, before.content, "{what}");
        }
        for (what, of) in [
            ("a price", asset_register("", &[(Kind::Assets, "tags=team=vision|price=36501"), STAFF])),
            ("a tag", asset_register("", &[(Kind::Assets, "tags=team=nlp"), STAFF])),
            ("a place", asset_register("site=ber", &[NODES, STAFF])),
            (
                "a name that rules may ask for",
                asset_register("", &[NODES, (Kind::Staff, "role=people|fte=1|loaded_cost=120000")]),
            ),
            ("a life", asset_register("", &[(Kind::Assets, "tags=team=vision|life_months=13"), STAFF])),
        ] {
            let after = january(&of, "2026-03-01");
            assert_ne!(after.amounts, before.amounts, "{what}");
            assert_ne!(after.content, before.content, "{what}");
        }
        let goes_on = january(&asset_register("", &[NODES, STAFF]), "2026-01-31");
        assert_ne!(goes_on.amounts, before.amounts);
    }

    #[test]
    fn the_number_of_an_entry_is_a_word() {
        let switch = (Kind::Assets, "name=switch|what=fabric|accelerators=|accelerator=");
        let before = january(&asset_register("", &[NODES, switch]), "2026-03-01");
        let mut entered_again = asset_register("", &[NODES, switch]);
        let nodes = entered_again.entries.remove(&2).unwrap();
        entered_again.entries.insert(9, nodes);
        let after = january(&entered_again, "2026-03-01");
        assert_eq!(after.amounts, before.amounts);
        assert_ne!(after.content, before.content);
    }

    /// What is active in an installation is decided by these. Where they change, each month that was published before differs
    /// until it is published again: a decision to write down, with a migration that forgets the hashes.
    #[test]
    fn the_same_month_has_these_hashes() {
        let it = january(&asset_register("", &[NODES, STAFF]), "2026-03-01");
        let hex = |sha: Sha| sha.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        let content = "92ca560f34e714087198ce6eb388390163e6c75234f6600809731f256b9a6fde";
        let amounts = "73befc8741dcc0e1b4badda39f8b63c88d092588a5b13839437df456020a9a24";
        assert_eq!((hex(it.content).as_str(), hex(it.amounts).as_str()), (content, amounts));
    }

    #[test]
    fn units_that_change_places_are_another_month() {
        let sold = |unit: u32| {
            let event = format!("asset=node|units={unit}|day=2026-01-11|what=disposal|proceeds=1");
            january(&asset_register("", &[NODES, (Kind::Events, &event)]), "2026-03-01")
        };
        assert_eq!(sold(1).summaries, sold(2).summaries);
        assert_ne!(sold(1).amounts, sold(2).amounts);
    }

    #[test]
    fn a_month_is_added_up_in_each_currency() {
        let eur = (Kind::Costs, "name=insurance|what=insurance|amount=100|every=month|currency=EUR");
        let it = january(&asset_register("", &[NODES, eur]), "2026-03-01");
        let described: Vec<String> =
            it.effective().iter().map(|it| format!("{} {}", it.amount, it.currency)).collect();
        assert_eq!(described, ["100.00 EUR", "6200.00 USD"]);
        assert_eq!(it.summaries[0].currency, Currency::exactly("USD"), "most of it");
        assert_eq!(it.accelerators, 16);
        let other = it.summary(&Currency::exactly("GBP"));
        assert_eq!((other.effective, other.owned_hours), (Decimal::ZERO, number("11904")));
        let nothing = ComputedBill::nothing(month("2026-01"));
        assert!(nothing.is_empty() && nothing.summary(&Currency::exactly("USD")).owned_hours.is_zero());
    }
}
