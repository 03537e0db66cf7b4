//! What else could do the same: on demand, reserved with the rest on demand, elsewhere, on machines of one's own.

use super::layers::{self, own_price, own_rate};
use super::{Measured, Paid, Used, option};
use crate::money::Decimal;
use crate::scenario::arithmetic::product;
use crate::scenario::comparison::{Alternative, Committed, Gpus, Owned, Place, Rate};
use crate::scenario::price::{Price, Tier};

/// Clouds of everything, as [`crate::billing::canonical_provider`] writes them; whoever else is on the list rents out
/// accelerators above all.
const HYPERSCALERS: [&str; 6] = ["AWS", "Microsoft", "Google Cloud", "Oracle", "IBM", "Alibaba Cloud"];

/// Options, and why others could not be made.
pub(super) struct Found {
    pub options: Vec<Alternative>,
    pub without: Vec<String>,
}

/// Makes a place for a model; none where there is no price for it.
type Make<'a> = dyn Fn(&Used) -> Option<Place> + 'a;

pub(super) fn options(measured: &Measured, taken: &[&Used], months: u32) -> Found {
    let on_demand = |used: &Used| on_demand(measured, used);
    let as_it_is = taken.iter().map(|used| layers::place(measured, used, on_demand(used), months));
    let mut found = Found { options: vec![option("As it is", as_it_is.collect())], without: Vec::new() };
    if measured.dollar.is_none() {
        let why = format!(
            "The list of prices is in dollars, and no rate says what one is worth in {}: prices of others are left out",
            measured.currency
        );
        found.without.push(why);
    }
    let rented = |used: &Used| {
        let rate = on_demand(used)?;
        let supplier =
            if own_price(used, Paid::OnDemand).is_some() { used.suppliers() } else { String::new() };
        Some(Place { supplier, on_demand: Some(rate), ..at(used) })
    };
    let reserved = |tier: Tier, months: u32| {
        move |used: &Used| {
            let price = cheapest(measured, used, tier, |_| true)?;
            let rate = listed(measured, price)?;
            let base = Committed { rate, upfront: Decimal::ZERO, months, gpus: Gpus::Best };
            Some(Place {
                supplier: price.supplier.clone(),
                committed: vec![base],
                on_demand: self::on_demand(measured, used),
                ..at(used)
            })
        }
    };
    let elsewhere = |used: &Used| {
        let price =
            cheapest(measured, used, Tier::OnDemand, |it| !HYPERSCALERS.contains(&it.supplier.as_str()))?;
        let on_demand = Some(listed(measured, price)?);
        Some(Place { supplier: price.supplier.clone(), on_demand, ..at(used) })
    };
    let own = |used: &Used| {
        let machines = used.machines.as_ref()?;
        let owned = Owned { gpus: Gpus::Best, machines: machines.owning.clone(), ..Owned::default() };
        Some(Place {
            supplier: machines.name.clone(),
            gpus_per_node: machines.owning.gpus_per_node.max(1),
            owned: Some(owned),
            on_demand: on_demand(used),
            ..at(used)
        })
    };
    found.add("All on demand", taken, &rented, &rented);
    found.add("Reserved for 1 year, the rest on demand", taken, &reserved(Tier::OneYear, 12), &rented);
    found.add("Reserved for 3 years, the rest on demand", taken, &reserved(Tier::ThreeYears, 36), &rented);
    found.add("The cheapest specialty cloud", taken, &elsewhere, &rented);
    found.add("Machines of our own, the rest on demand", taken, &own, &rented);
    found
}

impl Found {
    /// An option where one model at least has such a place; the others are rented meanwhile.
    fn add(&mut self, name: &str, taken: &[&Used], make: &Make<'_>, otherwise: &Make<'_>) {
        let mut places = Vec::with_capacity(taken.len());
        let (mut is_any, mut rented) = (false, Vec::new());
        for used in taken {
            let place = make(used);
            is_any |= place.is_some();
            let Some(place) = place.or_else(|| {
                rented.push(used.name.as_str());
                otherwise(used)
            }) else {
                self.without.push(format!("{name}: there is no price for {}", used.name));
                return;
            };
            places.push(place);
        }
        if !is_any {
            self.without.push(format!("{name}: there is no such price for any of these models"));
            return;
        }
        if !rented.is_empty() {
            self.without.push(format!(
                "{name}: of {} there is no such price, so it is all on demand",
                rented.join(", ")
            ));
        }
        self.options.push(option(name, places));
    }
}

/// A place for a model, at no price yet.
fn at(used: &Used) -> Place {
    Place {
        serves: vec![used.name.clone()],
        accelerator: used.accelerator.to_owned(),
        gpus_per_node: used.gpus_per_node,
        ..Place::default()
    }
}

/// What we pay on demand; where we never did, what whoever supplies it asks, else the cheapest of the large clouds, else
/// of all.
fn on_demand(measured: &Measured, used: &Used) -> Option<Rate> {
    if let Some(price) = own_price(used, Paid::OnDemand) {
        return Some(own_rate(measured, "on demand", price));
    }
    let of_ours = |it: &Price| used.ways.iter().any(|way| way.supplier == it.supplier);
    let of_large = |it: &Price| HYPERSCALERS.contains(&it.supplier.as_str());
    let price = cheapest(measured, used, Tier::OnDemand, of_ours)
        .or_else(|| cheapest(measured, used, Tier::OnDemand, of_large))
        .or_else(|| cheapest(measured, used, Tier::OnDemand, |_| true))?;
    listed(measured, price)
}

fn cheapest<'a>(
    measured: &Measured,
    used: &'a Used,
    tier: Tier,
    is_meant: impl Fn(&Price) -> bool,
) -> Option<&'a Price> {
    let meant = used.listed.iter().filter(|it| it.tier == tier && is_meant(it));
    let told = meant.filter_map(|it| Some((in_its_currency(measured, it)?, it)));
    told.min_by_key(|(amount, _)| *amount).map(|(_, price)| price)
}

/// What an hour costs in the scenario's currency; none where nobody knows what the price's is worth in it.
fn in_its_currency(measured: &Measured, price: &Price) -> Option<Decimal> {
    if price.currency == measured.currency {
        return Some(price.amount);
    }
    let dollar = measured.dollar.filter(|_| price.currency.as_str() == "USD")?;
    Some(product(&[price.amount, dollar]).round(layers::DIGITS).normalize())
}

/// A price of the list in the scenario's currency.
fn listed(measured: &Measured, price: &Price) -> Option<Rate> {
    let amount = in_its_currency(measured, price)?;
    let mut source = format!("{} {}", price.supplier, price.sku).trim_end().to_owned() + ", " + &price.source;
    if let Some(dollar) = measured.dollar.filter(|_| price.currency != measured.currency) {
        source = format!("{source}, a dollar at {} {}", dollar.normalize(), measured.currency);
    }
    Some(Rate {
        price: amount,
        date: Some(price.date),
        source,
        region: price.region.clone(),
        ..Rate::default()
    })
}
