//! Where machines of one's own begin to pay: from which utilization and below which price against each price of the
//! others, and after how many months.

use super::PLACES;
use super::answer::{Against, LayerKind, OptionAnswer};
use super::committed::commitment;
use super::entered::{Place, Scenario};
use crate::economics::break_even::Question;
use crate::economics::cash::Payback;
use crate::economics::check::Refused;
use crate::money::Decimal;
use crate::money::arithmetic::{one, product, quotient};
use crate::price_catalogue::Payment;

impl Scenario {
    /// Machines of one's own against every price of the options that own nothing.
    pub(super) fn break_evens(&self, options: &[OptionAnswer]) -> Result<Vec<Against>, Refused> {
        let mut found = Vec::new();
        for (owning, option) in self.options.iter().enumerate() {
            let ([place], [answer]) = (&option.places[..], &options[owning].places[..]) else { continue };
            let Some(cost) = answer.owning else { continue };
            for (renting, other) in self.options.iter().enumerate() {
                let [rented] = &other.places[..] else { continue };
                if rented.owned.is_some() {
                    continue;
                }
                let worth = |place: &Place| quotient(place.performance, place.rework);
                let efficiency = match (worth(rented), worth(place)) {
                    (Some(rented), Some(owned)) => quotient(rented, owned),
                    _ => None,
                };
                // Blocks may lie below them.
                let machines = answer.layers.iter().find(|it| it.kind == LayerKind::Owned);
                let used = machines.and_then(|it| it.utilization).unwrap_or_default();
                let available = product(&[cost.owned_hours, used]);
                let utilization = quotient(available, cost.available_hours).unwrap_or_default().min(one());
                for (kind, price, payment) in self.rates(rented) {
                    let (efficiency, most) = (efficiency.unwrap_or_else(one), one());
                    let question = Question { payment, efficiency, utilization, most };
                    let break_even = cost.break_even(&question)?;
                    found.push(Against { owning, renting, price, kind, break_even });
                }
            }
        }
        Ok(found)
    }

    /// The prices of an hour in a place, with support, as break-even asks for them.
    pub(super) fn rates(&self, place: &Place) -> Vec<(LayerKind, Decimal, Payment)> {
        let on_demand = place.on_demand.iter().map(|it| (LayerKind::OnDemand, it.in_month(0)));
        let tokens =
            place.per_million_tokens.iter().filter_map(|it| self.hour_by_tokens(place, it.in_month(0)));
        let tokens = tokens.map(|price| (LayerKind::Tokens, price));
        let spot = place
            .spot
            .iter()
            .map(|it| (LayerKind::Spot, product(&[it.rate.in_month(0), it.hours_for_one()])));
        let committed = place.committed.iter().map(|it| {
            let prices = commitment(it, it.months).prices;
            (LayerKind::Committed, prices.first().copied().unwrap_or_default())
        });
        let blocks = place.blocks.iter().map(|it| (LayerKind::Block, it.rate.in_month(0)));
        let all = on_demand.chain(tokens).chain(spot).chain(committed).chain(blocks);
        let supported = one() + place.support;
        let all = all.map(|(kind, price)| (kind, product(&[price, supported]).round(PLACES).normalize()));
        all.filter(|(_, price)| !price.is_zero())
            .map(|(kind, price)| (kind, price, payment(kind, price)))
            .collect()
    }
}

fn payment(kind: LayerKind, price: Decimal) -> Payment {
    match kind {
        LayerKind::Owned | LayerKind::Committed | LayerKind::Block | LayerKind::Spend => {
            Payment::Committed { price }
        }
        LayerKind::Spot | LayerKind::OnDemand | LayerKind::Tokens => Payment::PerUse { price },
    }
}

/// From when on an option that owns has cost no more than each that does not, of those that do the work.
pub(super) fn paybacks(at: usize, options: &[OptionAnswer]) -> Vec<(usize, Payback)> {
    let owns = |it: &OptionAnswer| it.places.iter().any(|place| place.owning.is_some());
    if !owns(&options[at]) || !options[at].fails.is_empty() {
        return Vec::new();
    }
    let others = options.iter().enumerate().filter(|(_, it)| !owns(it) && it.fails.is_empty());
    others.map(|(other, it)| (other, options[at].payments.payback(&it.payments))).collect()
}

#[cfg(test)]
mod tests {
    use crate::economics::file::read;

    #[test]
    fn what_is_rented_is_compared_with_its_support() {
        let text = |price: &str, support: &str| {
            format!(
                r#"
[[work]]
name = "w"
demand = {{ shape = "flat", gpus = 48, hours_per_day = 24 }}
[[option]]
name = "Our own"
place = [{{ owned = {{ gpus = 64 }}, on_demand = {{ price = 9 }} }}]
[[option]]
name = "Rented"
place = [{{ support = {support}, on_demand = {{ price = {price} }}, committed = [{{ rate = {{ price = 4 }}, months = 12, gpus = 0 }}] }}]
"#
            )
        };
        let found = |price, support| {
            read(&text(price, support)).unwrap().compare().unwrap().break_evens.into_iter().next().unwrap()
        };
        assert_eq!(found("6.88", "0.1"), found("7.568", "0"));
        assert_ne!(found("6.88", "0.1").break_even, found("6.88", "0").break_even);
    }
}
