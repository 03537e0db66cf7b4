//! What a change of the asset register moves: the months of clusters as they are without it, and as they are with it. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::NaiveDate;
use serde::Serialize;

use super::asset_register::AssetRegister;
use super::bill_totals::ComputedBill;
use super::entry::Entry;
use super::power::Reading;
use super::summary::currencies;
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// An asset register, and what the meters of its clusters read.
#[derive(Clone, Debug, Default)]
pub struct RegisterState {
    pub asset_register: AssetRegister,
    /// The same before and after where no readings changed.
    pub readings: Arc<Readings>,
}

/// What meters read by cluster and month; what lies in two months is in both.
pub type Readings = BTreeMap<(String, BillingMonth), Vec<Reading>>;

/// Before and after a change, and the months of clusters of which something counts in the ledger.
#[derive(Clone, Debug, Default)]
pub struct RegisterBeforeAfter {
    pub before: RegisterState,
    pub after: RegisterState,
    pub counting: BTreeSet<(String, BillingMonth)>,
}

/// What moves, up to this month, in the order of clusters and months.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Impact {
    pub amounts: Vec<AmountImpact>,
    /// By currency.
    pub totals: Vec<TotalImpact>,
    /// Months in which no amount moves, but what costs are divided by: hours, tags, sites, names of what was entered.
    /// They differ from the asset register where they count, as those whose amounts move do.
    pub divided_otherwise: usize,
    /// Months of which words alone change. They need not be published again.
    pub reworded: usize,
}

/// A month of a cluster in a currency.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AmountImpact {
    pub cluster: String,
    pub name: String,
    pub month: BillingMonth,
    pub currency: Currency,
    pub effective: BeforeAfter,
    pub billed: BeforeAfter,
    /// Something of the month is active: as it was published, until it is published again.
    pub counts: bool,
}

/// Those of a currency added up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TotalImpact {
    pub currency: Currency,
    pub months: usize,
    pub effective: BeforeAfter,
    pub billed: BeforeAfter,
    /// Of it, active months.
    pub counting_months: usize,
    pub counting_effective: BeforeAfter,
}

/// An amount without the change and with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BeforeAfter {
    pub before: Decimal,
    pub after: Decimal,
    pub difference: Decimal,
}

impl BeforeAfter {
    fn between(before: Decimal, after: Decimal) -> Self {
        Self { before, after, difference: after - before }
    }

    fn add(&mut self, other: Self) {
        *self = Self::between(self.before + other.before, self.after + other.after);
    }
}

impl RegisterBeforeAfter {
    /// What differs in the months that have begun.
    pub fn impact(&self, today: NaiveDate) -> Impact {
        let mut moves = Impact::default();
        let edited = touched(&self.before.asset_register, &self.after.asset_register);
        let mut clusters = edited.clone();
        clusters.extend(self.read_otherwise().map(|(cluster, _)| cluster.clone()));
        for cluster in &clusters {
            let known = [&self.before, &self.after].map(|side| side.asset_register.first_month(cluster));
            let Some(first) = known.into_iter().flatten().min() else { continue };
            for month in first.through(BillingMonth::of(today)) {
                let of_month = (cluster.clone(), month);
                if !edited.contains(cluster) && !self.is_read_otherwise(&of_month) {
                    continue;
                }
                let before_after = [&self.before, &self.after].map(|side| side.computed(&of_month, today));
                self.push(&mut moves, &of_month, &before_after);
            }
        }
        moves.totals = totals(&moves.amounts);
        moves
    }

    fn is_read_otherwise(&self, of_month: &(String, BillingMonth)) -> bool {
        self.before.readings.get(of_month) != self.after.readings.get(of_month)
    }

    /// Months of clusters in which meters read something else.
    fn read_otherwise(&self) -> impl Iterator<Item = &(String, BillingMonth)> {
        let is_same = Arc::ptr_eq(&self.before.readings, &self.after.readings);
        let months = self.before.readings.keys().chain(self.after.readings.keys());
        months.filter(move |it| !is_same && self.is_read_otherwise(it))
    }

    fn push(
        &self,
        moves: &mut Impact,
        of_month: &(String, BillingMonth),
        [before, after]: &[ComputedBill; 2],
    ) {
        if before.content == after.content {
            return;
        }
        let (cluster, month) = of_month;
        let named = [&self.after, &self.before].map(|side| side.asset_register.cluster(cluster));
        let name = named.into_iter().flatten().next().map_or(cluster.as_str(), |it| it.name.as_str());
        let mut has_moved = false;
        for currency in currencies(before.summaries.iter().chain(&after.summaries)) {
            let [was, is] = [before, after].map(|side| side.summary(&currency));
            let effective = BeforeAfter::between(was.effective, is.effective);
            let billed = BeforeAfter::between(was.billed, is.billed);
            if effective.difference.is_zero() && billed.difference.is_zero() {
                continue;
            }
            has_moved = true;
            moves.amounts.push(AmountImpact {
                cluster: cluster.clone(),
                name: name.to_owned(),
                month: *month,
                currency,
                effective,
                billed,
                counts: self.counting.contains(of_month),
            });
        }
        if !has_moved && before.amounts != after.amounts {
            moves.divided_otherwise += 1;
        } else if !has_moved {
            moves.reworded += 1;
        }
    }
}

impl RegisterState {
    /// As far as the month has gone.
    fn computed(&self, of_month: &(String, BillingMonth), today: NaiveDate) -> ComputedBill {
        let (cluster, month) = of_month;
        let Some(cluster) = self.asset_register.cluster(cluster) else {
            return ComputedBill::nothing(*month);
        };
        let readings = self.readings.get(of_month).map_or(&[][..], Vec::as_slice);
        let computed = ComputedBill::of(&self.asset_register, readings, cluster, *month, today);
        // What is of no cluster and of one without anything is the same.
        if computed.is_empty() { ComputedBill::nothing(*month) } else { computed }
    }
}

/// The clusters whose months can differ: those of entries that do, and wherever such an asset has been on either side.
pub fn touched(before: &AssetRegister, after: &AssetRegister) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut assets: BTreeSet<&str> = BTreeSet::new();
    for (side, other) in [(before, after), (after, before)] {
        for (id, entry) in &side.entries {
            if other.entries.get(id) == Some(entry) {
                continue;
            }
            found.extend(entry.cluster().map(str::to_owned));
            match entry {
                Entry::Asset(it) => assets.insert(&it.name),
                Entry::Event(it) => assets.insert(&it.asset),
                _ => continue,
            };
        }
    }
    for side in [before, after] {
        let events = side.events();
        for (_, asset) in side.assets().filter(|(_, it)| assets.contains(it.name.as_str())) {
            found.extend(events.location_history(asset).clusters(asset).into_iter().map(str::to_owned));
        }
    }
    found
}

fn totals(amounts: &[AmountImpact]) -> Vec<TotalImpact> {
    let mut by_currency: BTreeMap<&Currency, TotalImpact> = BTreeMap::new();
    for it in amounts {
        let total = by_currency.entry(&it.currency).or_insert_with(|| TotalImpact {
            currency: it.currency.clone(),
            months: 0,
            effective: BeforeAfter::default(),
            billed: BeforeAfter::default(),
            counting_months: 0,
            counting_effective: BeforeAfter::default(),
        });
        total.months += 1;
        total.effective.add(it.effective);
        total.billed.add(it.billed);
        if it.counts {
            total.counting_months += 1;
            total.counting_effective.add(it.effective);
        }
    }
    by_currency.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::super::sheet::Kind;
    use super::super::testing::{asset_register, entry, month, of_a};
    use super::*;
    use crate::money::number;

    fn before_after(before: &AssetRegister, after: &AssetRegister) -> RegisterBeforeAfter {
        let side = |asset_register: &AssetRegister| RegisterState {
            asset_register: asset_register.clone(),
            ..RegisterState::default()
        };
        RegisterBeforeAfter { before: side(before), after: side(after), counting: BTreeSet::new() }
    }

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn asset(pairs: &str) -> Entry {
        entry(Kind::Assets, pairs)
    }

    /// Cluster, month, currency, effective and billed difference.
    fn described(moves: &Impact) -> Vec<(String, String, String, String, String)> {
        let amounts = moves.amounts.iter();
        amounts
            .map(|it| {
                let text = |moved: BeforeAfter| moved.difference.normalize().to_string();
                let (effective, billed) = (text(it.effective), text(it.billed));
                (it.cluster.clone(), it.month.to_string(), it.currency.to_string(), effective, billed)
            })
            .collect()
    }

    fn line(
        cluster: &str,
        month: &str,
        currency: &str,
        effective: &str,
        billed: &str,
    ) -> (String, String, String, String, String) {
        let [cluster, month, currency, effective, billed] =
            [cluster, month, currency, effective, billed].map(str::to_owned);
        (cluster, month, currency, effective, billed)
    }

    #[test]
    fn a_price_moves_what_was_billed_once_and_what_belongs_to_each_month() {
        // Two units for 100 a day more each, over a year.
        let (before, after) = (of_a([asset("price=36500")]), of_a([asset("price=73000")]));
        let mut before_after = before_after(&before, &after);
        before_after.counting.insert(("a".to_owned(), month("2026-02")));
        let moves = before_after.impact(day("2026-03-03"));
        let expected = [
            line("a", "2026-01", "USD", "6200", "73000"),
            line("a", "2026-02", "USD", "5600", "0"),
            // Two days of the month that goes on.
            line("a", "2026-03", "USD", "400", "0"),
        ];
        assert_eq!(described(&moves), expected);
        let counts: Vec<bool> = moves.amounts.iter().map(|it| it.counts).collect();
        assert_eq!(counts, [false, true, false]);
        let total = &moves.totals[0];
        assert_eq!((moves.totals.len(), total.months, total.counting_months), (1, 3, 1));
        assert_eq!(total.effective.difference, number("12200"));
        assert_eq!(total.effective.after - total.effective.before, number("12200"));
        assert_eq!(total.counting_effective.difference, number("5600"));
        assert_eq!(total.billed.difference, number("73000"));
        assert_eq!((moves.divided_otherwise, moves.reworded), (0, 0));
        // Backwards it is the opposite.
        std::mem::swap(&mut before_after.before, &mut before_after.after);
        let back = before_after.impact(day("2026-03-03"));
        assert_eq!(back.totals[0].effective.difference, number("-12200"));
    }

    #[test]
    fn another_currency_takes_from_one_and_gives_to_the_other() {
        let (before, after) = (of_a([asset("")]), of_a([asset("currency=EUR")]));
        let moves = before_after(&before, &after).impact(day("2026-01-31"));
        let expected =
            [line("a", "2026-01", "EUR", "6000", "73000"), line("a", "2026-01", "USD", "-6000", "-73000")];
        let mut found = described(&moves);
        found.sort();
        assert_eq!(found, expected);
        assert_eq!(moves.totals.len(), 2);
    }

    #[test]
    fn words_move_no_amounts_and_what_is_the_same_is_not_told() {
        let before = of_a([asset("")]);
        let tagged = of_a([asset("tags=team=vision")]);
        let counted = |after: &AssetRegister| {
            let moves = before_after(&before, after).impact(day("2026-02-10"));
            assert_eq!((moves.amounts.len(), moves.totals.len()), (0, 0));
            (moves.divided_otherwise, moves.reworded)
        };
        assert_eq!(counted(&tagged), (2, 0), "a tag says who pays");
        assert_eq!(counted(&of_a([asset("model=rack")])), (0, 2));
        let mut elsewhere = before.clone();
        elsewhere.entries.insert(1, entry(Kind::Clusters, "site=ber"));
        assert_eq!(counted(&elsewhere), (2, 0));
        assert_eq!(before_after(&before, &before).impact(day("2026-02-10")), Impact::default());
    }

    #[test]
    fn an_asset_that_has_moved_on_moves_amounts_where_it_is() {
        let of = |price: &str| {
            asset_register([
                entry(Kind::Clusters, ""),
                entry(Kind::Clusters, "handle=b|name=B"),
                entry(Kind::Clusters, "handle=c|name=C"),
                asset(&format!("price={price}")),
                entry(Kind::Events, "asset=node|units=|day=2026-02-01|what=move|to=b"),
            ])
        };
        let (before, after) = (of("36500"), of("73000"));
        assert_eq!(touched(&before, &after), ["a", "b"].map(str::to_owned).into());
        let moves = before_after(&before, &after).impact(day("2026-02-28"));
        let where_: Vec<(&str, String)> =
            moves.amounts.iter().map(|it| (it.cluster.as_str(), it.month.to_string())).collect();
        assert_eq!(where_, [("a", "2026-01".to_owned()), ("b", "2026-02".to_owned())]);
        // On the day of its beginning, and where it leaves before it would have moved, the other side tells of it.
        let from_the_beginning = |event: &str| {
            let mut with = of("36500");
            with.entries.remove(&5);
            let without = with.clone();
            with.entries.insert(9, entry(Kind::Events, event));
            (without, with)
        };
        let (kept, elsewhere) = from_the_beginning("asset=node|units=|day=2026-01-01|what=move|to=b");
        assert_eq!(touched(&kept, &elsewhere), ["a", "b"].map(str::to_owned).into());
        assert_eq!(
            before_after(&kept, &elsewhere).impact(day("2026-03-01")).totals[0].effective.difference,
            Decimal::ZERO
        );
        let (kept, sold) = from_the_beginning("asset=node|units=|day=2026-01-01|what=write-off");
        assert_eq!(touched(&kept, &sold), ["a"].map(str::to_owned).into());
        let mut left = before.clone();
        left.entries.insert(9, entry(Kind::Events, "asset=node|units=|day=2026-01-20|what=write-off"));
        assert_eq!(touched(&before, &left), ["a", "b"].map(str::to_owned).into());
        // The move itself, too: what one loses the other gets.
        let mut stays = before.clone();
        stays.entries.remove(&5);
        let moves = before_after(&stays, &before).impact(day("2026-03-01"));
        assert_eq!(moves.totals[0].effective.difference, Decimal::ZERO);
        assert_eq!(moves.totals[0].months, 2);
    }

    #[test]
    fn a_cluster_that_is_new_or_gone_moves_all_it_has() {
        let (none, one) = (AssetRegister::default(), of_a([asset("")]));
        let moves = before_after(&none, &one).impact(day("2026-02-01"));
        assert_eq!(described(&moves), [line("a", "2026-01", "USD", "6200", "73000")]);
        let moves = before_after(&one, &none).impact(day("2026-02-01"));
        assert_eq!(described(&moves), [line("a", "2026-01", "USD", "-6200", "-73000")]);
        assert_eq!(moves.amounts[0].name, "A");
    }

    #[test]
    fn readings_move_the_months_that_they_are_of() {
        let metered = of_a([
            asset("idle_kw=1|load_kw=1"),
            entry(Kind::Tariffs, "price_per_kwh=1"),
            entry(Kind::Power, "value=1"),
            entry(Kind::Meters, "name=pdu|place=it"),
        ]);
        let from = day("2026-01-05").and_time(chrono::NaiveTime::MIN).and_utc();
        let until = from + chrono::TimeDelta::days(1);
        let reading = Reading { meter: "pdu".to_owned(), from, until, kwh: number("100") };
        let mut before_after = before_after(&metered, &metered);
        before_after.after.readings = Arc::new([(("a".to_owned(), month("2026-01")), vec![reading])].into());
        let moves = before_after.impact(day("2026-03-01"));
        // Two machines at 1 kW draw 48 kWh a day by the model.
        assert_eq!(described(&moves), [line("a", "2026-01", "USD", "52", "52")]);
    }
}
