//! What is paid in a place, layer by layer, as lines, by the month, and by the hour.

use std::borrow::Cow;

use super::answer::{
    Layer, LayerKind, Line, MovedAnswer, PaidBesides, PaidWhen, PlaceAnswer, Policy, PortedAnswer,
};
use super::committed;
use super::coverage::coverage;
use super::entered::{Block, Committed, PerWhat};
use super::owned::OwnedBase;
use super::place::Asked;
use super::refresh::Lived;
use super::spend::Covered;
use crate::economics::cash::Payments;
use crate::economics::figure::{Term, Unit, term};
use crate::economics::profile::in_gpus;
use crate::money::Decimal;
use crate::money::arithmetic::{HOURS_PER_MONTH, count, one, product, quotient};

/// A place's part of an option's answer.
pub(super) struct Evaluated {
    pub(super) answer: PlaceAnswer,
    pub(super) lines: Vec<Line>,
    pub(super) payments: Payments,
    /// Of them, what is lost where porting fails.
    pub(super) payments_in_vain: Payments,
    pub(super) paid_hours: Decimal,
}

/// What was found of a place so far.
pub(super) struct Bill<'a> {
    asked: &'a Asked<'a>,
    layers: Vec<Layer>,
    unserved: Decimal,
    unserved_cost: Decimal,
    lines: Vec<Line>,
    payments: Payments,
    /// What is paid to the supplier by the month: what support is a share of.
    rented: Vec<Decimal>,
    pub(super) ported: Option<PortedAnswer>,
    paid_besides: PaidBesides,
    /// What porting takes, and running both: lost where it fails.
    pub(super) in_vain: Payments,
}

impl<'a> Bill<'a> {
    pub(super) fn new(asked: &'a Asked<'a>) -> Self {
        Self {
            asked,
            layers: Vec::new(),
            unserved: Decimal::ZERO,
            unserved_cost: Decimal::ZERO,
            lines: Vec::new(),
            payments: Payments::over(asked.months()),
            rented: vec![Decimal::ZERO; asked.months() as usize],
            ported: None,
            paid_besides: PaidBesides::default(),
            in_vain: Payments::over(asked.months()),
        }
    }

    pub(super) fn asked(&self) -> &'a Asked<'a> {
        self.asked
    }

    /// At the start of a month.
    pub(super) fn pay_first(&mut self, month: u32, amount: Decimal) {
        self.payments.at_start_of(month, amount);
    }

    pub(super) fn pay_during(&mut self, month: u32, amount: Decimal) {
        self.payments.during(month, amount);
    }

    /// While the work runs in another place, too.
    pub(super) fn pay_for_both(&mut self, payments: Payments) {
        self.payments.add(&payments);
        self.paid_besides.both = payments;
    }

    /// Nothing yet, of a layer.
    fn unpaid(&self) -> PaidWhen {
        PaidWhen::over(self.asked.months())
    }

    pub(super) fn evaluated(
        self,
        policies: Vec<Policy>,
        owned: Option<&OwnedBase>,
        moved: Vec<MovedAnswer>,
    ) -> Evaluated {
        let first = owned.and_then(|it| it.generations.first());
        Evaluated {
            paid_hours: self.layers.iter().map(|it| it.paid_hours).sum(),
            answer: PlaceAnswer {
                supplier: self.asked.place.supplier.clone(),
                serves: self.asked.place.serves.clone(),
                coverage: coverage(self.asked.place, &self.layers, self.asked.demand.gpu_hours()),
                layers: self.layers,
                unserved_hours: self.unserved,
                per_unserved_hour: self.asked.per_unserved_hour,
                unserved_cost: self.unserved_cost,
                promise: self.asked.scenario.promise(self.asked.place),
                policies,
                gpu_hours: self.asked.demand.gpu_hours(),
                owning: first.and_then(|it| Some(it.cost()?.by_utilization)),
                machines: first.map(|it| it.machines.clone()),
                generations: owned.into_iter().flat_map(|it| &it.generations).map(Lived::described).collect(),
                lock_in: owned.and_then(|it| it.lock_in(self.asked)),
                shifted_hours: self.asked.shifted_hours,
                moved,
                ported: self.ported,
                paid_besides: self.paid_besides,
            },
            lines: self.lines,
            payments: self.payments,
            payments_in_vain: self.in_vain,
        }
    }

    /// What is paid in advance for some hours, of which so many are used.
    pub(super) fn block(&mut self, entered: &Block, used: Decimal) {
        let [mut paid, mut cost] = [Decimal::ZERO; 2];
        let months = self.asked.months();
        let mut when = self.unpaid();
        for month in entered.bought(months) {
            let price = entered.rate.in_month(month);
            let within = entered.gpu_hours_within(month, months);
            let of_these = within.multiply(price);
            paid += within;
            cost += of_these;
            self.rented[month as usize] += of_these;
            let all = entered.gpu_hours().multiply(price);
            when.hours.at_start_of(month, all);
            when.hours.at_end_of(months - 1, of_these - all);
            when.support.during(month, of_these.multiply(self.asked.place.support));
        }
        self.payments.add(&when.hours);
        let name = format!("Blocks of {} hours", entered.hours);
        let price = quotient(cost, paid).unwrap_or_default();
        let hours = quotient(paid, count(entered.gpus)).unwrap_or_default();
        let terms = vec![
            term("GPUs", count(entered.gpus), Unit::Number),
            term("hours of all that are bought", hours, Unit::Hours),
            term("price", price, Unit::MoneyPerHour),
        ];
        self.line(name.clone(), cost, "GPUs × hours of all that are bought × price", terms);
        let at = place_of(&self.asked.place.blocks, entered);
        let gpus = Some(count(entered.gpus));
        if let Some(layer) = self.layer((name, LayerKind::Block), gpus, [paid, used, cost], when) {
            layer.entered = at;
        }
    }

    /// What machines of one's own cost, with interest, for as many months.
    pub(super) fn own(&mut self, owned: &OwnedBase) {
        for (n, lived) in owned.generations.iter().enumerate() {
            for paid in lived.parts() {
                let component = paid.component;
                let mut terms = component.terms.clone();
                terms.push(term("months in use", paid.months, Unit::Months));
                let is_sum = component.formula.contains(['+', '−']);
                let formula = match component.formula {
                    it if is_sum => format!("({it}) × months in use ÷ 12"),
                    it => format!("{it} × months in use ÷ 12"),
                };
                let name = match n + paid.lives as usize {
                    0 => component.name.clone(),
                    before => format!("{}, generation {}", component.name, before + 1),
                };
                self.line(name, paid.cost, formula, terms);
            }
        }
        self.payments.add(&owned.payments(self.asked));
        let gpus = Some(count(owned.gpus));
        let of_hours = [owned.hours(), owned.used, owned.cost()];
        self.layer(("Owned", LayerKind::Owned), gpus, of_hours, PaidWhen::default());
    }

    /// What is between two levels of the base, by the month, is committed to.
    pub(super) fn commit(&mut self, entered: &Committed, below: &[u64], level: &[u64]) {
        let months = self.asked.months();
        let prices = committed::commitment(entered, months).prices;
        let term_months = entered.months.max(1);
        let [mut paid, mut used, mut cost, mut upfront, mut gpus] = [Decimal::ZERO; 5];
        let (support, mut when) = (self.asked.place.support, self.unpaid());
        for month in 0..months {
            let at = month as usize;
            let own = in_gpus((level[at] - below[at]).into());
            let hours = own.times(HOURS_PER_MONTH);
            let of_month = hours.multiply(prices[at]);
            let base = |level| self.asked.ladder.serve(month, level).base;
            paid += hours;
            used += in_gpus(base(level[at]) - base(below[at]));
            cost += of_month;
            let of_hours = entered.rate.in_month(month - month % term_months);
            let spread = hours.multiply(prices[at] - of_hours);
            upfront += spread;
            gpus += own;
            self.rented[at] += of_month;
            committed::pay(entered, (month, term_months, months - 1), own, &mut when);
            when.support.during(month, (of_month - spread).multiply(support));
            when.support_upfront.during(month, spread.multiply(support));
        }
        self.payments.add(&when.hours);
        self.payments.add(&when.upfront);
        let name = entered.name();
        let per_hour = quotient(cost, paid).unwrap_or_default();
        let terms = vec![
            term("GPU-hours of the term", paid, Unit::Hours),
            term("price", per_hour, Unit::MoneyPerHour),
        ];
        self.line(name.clone(), cost, "GPU-hours of the term × price", terms);
        let gpus = quotient(gpus, count(months)).unwrap_or_default();
        let at = place_of(&self.asked.place.committed, entered);
        if let Some(layer) = self.layer((name, LayerKind::Committed), Some(gpus), [paid, used, cost], when) {
            (layer.entered, layer.upfront) = (at, upfront);
        }
    }

    /// What the base does not serve: spot, then by use as far as it is there; and what is left.
    pub(super) fn overflow(&mut self, base: &[u64], covered: Option<&Covered>) {
        let asked = self.asked;
        let missing = one() - asked.obtainable;
        let per_unserved_hour = asked.per_unserved_hour.unwrap_or_default();
        let support = asked.place.support;
        let (mut spot_when, mut use_when) = (self.unpaid(), self.unpaid());
        let mut unserved = Payments::over(asked.months());
        let [mut spot_hours, mut spot_cost, mut used, mut used_cost] = [Decimal::ZERO; 4];
        for (month, (at, level)) in (0..).zip(base.iter().enumerate()) {
            let served = asked.ladder.serve(month, *level);
            let spot = in_gpus(served.spot).multiply(asked.spot.get(at).copied().unwrap_or_default());
            let there = part(in_gpus(served.burst), asked.obtainable);
            let there = there - covered.map_or(Decimal::ZERO, |it| it.hours[at]);
            let by_use = there.multiply(asked.by_use.get(at).copied().unwrap_or_default());
            let [off_spot, off_use] = asked.rebates.get(at).copied().unwrap_or_default();
            let (spot, by_use) = (spot - off_spot, by_use - off_use);
            let not_served = part(in_gpus(served.burst), missing);
            let lost = not_served.multiply(per_unserved_hour);
            spot_hours += in_gpus(served.spot);
            used += there;
            spot_cost += spot;
            used_cost += by_use;
            self.unserved += not_served;
            self.unserved_cost += lost;
            self.rented[at] += spot + by_use;
            for (when, cost) in [(&mut spot_when, spot), (&mut use_when, by_use)] {
                when.during(month, cost, support);
            }
            unserved.during(month, lost);
        }
        for paid in [&spot_when.hours, &use_when.hours, &unserved] {
            self.payments.add(paid);
        }
        self.paid_besides.unserved = unserved;
        self.spot((spot_hours, spot_cost), spot_when);
        if let Some(covered) = covered {
            self.spend(covered);
        }
        self.by_use((used, used_cost), use_when);
        let terms = vec![
            term("GPU-hours that are not served", self.unserved, Unit::Hours),
            term("cost of one", per_unserved_hour, Unit::MoneyPerHour),
        ];
        let formula = "GPU-hours that are not served × cost of one";
        self.line("Not served", self.unserved_cost, formula, terms);
    }

    /// Hours on demand that a spend commitment pays for, and what is left of it.
    fn spend(&mut self, covered: &Covered) {
        let sum = |amounts: &[Decimal]| amounts.iter().copied().sum::<Decimal>();
        let (hours, cost, unused) = (sum(&covered.hours), sum(&covered.cost), sum(&covered.unused));
        let mut when = self.unpaid();
        for (month, (cost, unused)) in (0..).zip(covered.cost.iter().zip(&covered.unused)) {
            let paid = *cost + *unused;
            self.rented[month as usize] += paid;
            when.during(month, paid, self.asked.place.support);
        }
        self.payments.add(&when.hours);
        let price = quotient(cost, hours).unwrap_or_default();
        let terms = vec![
            term("GPU-hours that it pays for", hours, Unit::Hours),
            term("price under it", price, Unit::MoneyPerHour),
        ];
        let formula = "GPU-hours that it pays for × price under it";
        self.line("Spend commitment", cost, formula, terms);
        let terms = vec![
            term("committed an hour", covered.per_hour, Unit::MoneyPerHour),
            term("hours", count(self.asked.months()).times(HOURS_PER_MONTH), Unit::Hours),
            term("what it pays for in all places", covered.everywhere, Unit::Money),
            term("share of this place", covered.share, Unit::Share),
        ];
        let formula = "(committed an hour × hours − what it pays for in all places) × share of this place";
        self.line("Spend commitment, not used", unused, formula, terms);
        self.layer(("Spend commitment", LayerKind::Spend), None, [hours, hours, cost + unused], when);
    }

    fn spot(&mut self, (hours, cost): (Decimal, Decimal), when: PaidWhen) {
        let Some(entered) = &self.asked.place.spot else { return };
        let rework = entered.hours_for_one();
        let paid = product(&[hours, rework]);
        let per_hour = quotient(cost, paid).unwrap_or_default();
        let terms = vec![
            term("useful GPU-hours", hours, Unit::Hours),
            term("hours for a useful one", rework, Unit::Number),
            term("price", per_hour, Unit::MoneyPerHour),
        ];
        self.line("Spot", cost, "useful GPU-hours × hours for a useful one × price", terms);
        self.layer(("Spot", LayerKind::Spot), entered.gpus, [paid, hours, cost], when);
    }

    /// On demand, or by the token.
    fn by_use(&mut self, (hours, cost): (Decimal, Decimal), when: PaidWhen) {
        let of_hours = term("GPU-hours", hours, Unit::Hours);
        let (name, kind, formula, terms) = if let Some(millions) = self.asked.millions_per_hour() {
            let tokens = product(&[hours, millions]);
            let price = quotient(cost, tokens).unwrap_or_default();
            let terms = vec![
                of_hours,
                term("million tokens an hour", millions, Unit::Number),
                term("price", price, Unit::MoneyPerMillionTokens),
            ];
            ("By the token", LayerKind::Tokens, "GPU-hours × million tokens an hour × price", terms)
        } else if self.asked.obtainable < one() && !self.asked.by_use.is_empty() {
            let chance = self.asked.obtainable;
            let price = quotient(cost, hours).unwrap_or_default();
            let terms = vec![
                term("GPU-hours asked for", hours + self.unserved, Unit::Hours),
                term("chance that they are there", chance, Unit::Share),
                term("price", price, Unit::MoneyPerHour),
            ];
            let formula = "GPU-hours asked for × chance that they are there × price";
            ("On demand", LayerKind::OnDemand, formula, terms)
        } else {
            let price = quotient(cost, hours).unwrap_or_default();
            let terms = vec![of_hours, term("price", price, Unit::MoneyPerHour)];
            ("On demand", LayerKind::OnDemand, "GPU-hours × price", terms)
        };
        self.line(name, cost, formula, terms);
        self.layer((name, kind), None, [hours, hours, cost], when);
    }

    /// Support, and whatever else is entered.
    pub(super) fn besides(&mut self) {
        let months = self.asked.months();
        let rented: Decimal = self.rented.iter().copied().sum();
        let share = self.asked.place.support;
        let terms =
            vec![term("share", share, Unit::Share), term("paid to the supplier", rented, Unit::Money)];
        self.line("Support", rented.multiply(share), "share × paid to the supplier", terms);
        for month in 0..months {
            self.payments.during(month, self.rented[month as usize].multiply(share));
        }
        for other in &self.asked.place.others {
            let mut paid = Payments::over(months);
            let amount = term("amount", other.amount, Unit::Money);
            let (cost, formula, terms) = match other.per {
                PerWhat::Once => {
                    paid.at_start_of(0, other.amount);
                    (other.amount, "once", vec![amount])
                }
                PerWhat::Month => {
                    (0..months).for_each(|month| paid.during(month, other.amount));
                    let terms = vec![amount, term("months", count(months), Unit::Months)];
                    (other.amount.times(months.into()), "amount × months", terms)
                }
                PerWhat::GpuHour => {
                    for month in 0..months {
                        paid.during(month, self.asked.hours_of(month).multiply(other.amount));
                    }
                    let hours = self.asked.demand.gpu_hours();
                    let terms = vec![
                        term("GPU-hours", hours, Unit::Hours),
                        term("amount", other.amount, Unit::MoneyPerHour),
                    ];
                    (hours.multiply(other.amount), "GPU-hours × amount", terms)
                }
            };
            self.payments.add(&paid);
            self.paid_besides.others.push(paid);
            self.line(other.name.clone(), cost, formula, terms);
        }
    }

    pub(super) fn line(
        &mut self,
        name: impl Into<String>,
        cost: Decimal,
        formula: impl Into<Cow<'static, str>>,
        terms: Vec<Term>,
    ) {
        if !cost.is_zero() {
            let (place, name, formula) = (self.asked.at, name.into(), formula.into());
            self.lines.push(Line { place, name, cost, formula, terms });
        }
    }

    fn layer(
        &mut self,
        (name, kind): (impl Into<String>, LayerKind),
        gpus: Option<Decimal>,
        [paid_hours, used_hours, cost]: [Decimal; 3],
        paid: PaidWhen,
    ) -> Option<&mut Layer> {
        if paid_hours.is_zero() && cost.is_zero() {
            return None;
        }
        self.layers.push(Layer {
            name: name.into(),
            kind,
            gpus,
            paid_hours,
            used_hours,
            utilization: quotient(used_hours, paid_hours),
            cost,
            per_used_hour: quotient(cost, used_hours),
            entered: None,
            upfront: Decimal::ZERO,
            paid,
        });
        self.layers.last_mut()
    }
}

/// Where one of those that were entered stands among them.
fn place_of<T>(all: &[T], one: &T) -> Option<usize> {
    all.iter().position(|it| std::ptr::eq(it, one))
}

/// A share of hours, exactly where it is all or none of them.
fn part(hours: Decimal, share: Decimal) -> Decimal {
    if share == one() { hours } else { product(&[hours, share]) }
}
