//! What else could do the same: on demand, reserved with the rest on demand, elsewhere, on machines of one's own.

use serde::Serialize;

use super::layers::{self, own_price, own_price_of, own_rate};
use super::{HowPaid, Measured, Used, base, option, staying};
use crate::economics::comparison::{Alternative, Gpus, OtherCost, Owned, Place, Rate};
use crate::money::Decimal;
use crate::money::arithmetic::{count, count_of, product, quotient};
use crate::price_catalogue::{Price, Tier};

/// Clouds of everything, as [`crate::billing::canonical_provider`] writes them; whoever else is on the list rents out
/// accelerators above all.
const HYPERSCALERS: [&str; 6] = ["AWS", "Microsoft", "Google Cloud", "Oracle", "IBM", "Alibaba Cloud"];

/// Options, and why others could not be made.
pub(super) struct Found {
    pub options: Vec<Alternative>,
    pub without: Vec<String>,
    pub too_dear: Vec<TooDear>,
    /// Places of what is paid on, in every option.
    stays: Vec<Place>,
    /// What commitments cost that nothing used, of each model.
    unused: Vec<Option<OtherCost>>,
}

/// A reservation that no GPU would be bought of.
#[derive(Clone, Debug, Serialize)]
pub struct TooDear {
    /// The option that is without it.
    pub option: String,
    /// Whether there is that option, with other models.
    pub is_offered: bool,
    pub name: String,
    pub supplier: String,
    pub price: Decimal,
    /// What the same hour costs when it is paid by use, and whether that is what was paid.
    pub on_demand: Decimal,
    pub is_own: bool,
    /// The GPUs of a machine, and how much those that would be used most are.
    pub gpus: u32,
    pub utilization: Decimal,
}

/// Why a model has no place of some kind.
enum Refusal {
    NoPrice,
    TooDear(Box<TooDear>),
}

/// Makes a place for a model.
type Make<'a> = dyn Fn(&Used) -> Result<Place, Refusal> + 'a;

/// What an hour on demand costs, and whose price it is.
struct OnDemand {
    supplier: String,
    rate: Rate,
    is_own: bool,
}

/// `staying` is done by every option alike. With `is_paid_on` commitments that nothing used are paid by every option, too.
pub(super) fn options(
    measured: &Measured,
    taken: &[&Used],
    staying: &[&Used],
    is_paid_on: bool,
    months: u32,
) -> Found {
    let on_demand = |used: &Used| on_demand(measured, used);
    let as_it_is =
        taken.iter().map(|used| layers::place(measured, used, on_demand(used).map(|it| it.rate), months));
    let stay = |used: &&Used| staying::place(measured, used, on_demand(used).map(|it| it.rate), months);
    let stays: Vec<Place> = staying.iter().map(stay).collect();
    let options = vec![option("As it is", as_it_is.chain(stays.iter().cloned()).collect())];
    let unused = |used: &&Used| if is_paid_on { layers::unused(measured, used) } else { None };
    let unused = taken.iter().map(unused).collect();
    let mut found = Found { options, without: Vec::new(), too_dear: Vec::new(), stays, unused };
    if measured.dollar.is_none() {
        let why = format!(
            "Listed prices are in USD and there is no exchange rate for {}, so they are left out",
            measured.currency
        );
        found.without.push(why);
    }
    let rented = |used: &Used| {
        let OnDemand { supplier, rate, .. } = on_demand(used).ok_or(Refusal::NoPrice)?;
        Ok(Place { supplier, on_demand: Some(rate), ..used.place() })
    };
    let reserved = |tier: Tier, months: u32| move |used: &Used| reserved(measured, used, tier, months);
    let elsewhere = |used: &Used| {
        let (supplier, rate) = elsewhere(measured, used).ok_or(Refusal::NoPrice)?;
        Ok(Place { supplier: supplier.to_owned(), on_demand: Some(rate), ..used.place() })
    };
    let own = |used: &Used| {
        let machines = used.machines.as_ref().ok_or(Refusal::NoPrice)?;
        let owned =
            Owned { gpus: Gpus::Best, machines: machines.owning.clone().in_a_scenario(), ..Owned::default() };
        Ok(Place {
            supplier: machines.name.clone(),
            gpus_per_node: machines.owning.gpus_per_node.max(1),
            owned: Some(owned),
            on_demand: on_demand(used).map(|it| it.rate),
            ..used.place()
        })
    };
    found.add("All on demand", taken, &rented, &rented);
    found.add("Reserved for 1 year, the rest on demand", taken, &reserved(Tier::OneYear, 12), &rented);
    found.add("Reserved for 3 years, the rest on demand", taken, &reserved(Tier::ThreeYears, 36), &rented);
    found.add("The cheapest specialty cloud", taken, &elsewhere, &rented);
    found.add("Machines of our own, the rest on demand", taken, &own, &rented);
    found
}

/// As many GPUs as cost least for a term at the cheapest price of the list, and the rest on demand.
fn reserved(measured: &Measured, used: &Used, tier: Tier, months: u32) -> Result<Place, Refusal> {
    let (price, rate) = cheapest(measured, used, tier, |_| true).ok_or(Refusal::NoPrice)?;
    let on_demand = on_demand(measured, used);
    let mut suppliers = vec![price.supplier.as_str()];
    if let Some(OnDemand { supplier, rate: by_use, is_own }) = &on_demand {
        let utilization = utilization_of_first_node(used);
        if product(&[utilization, by_use.price]) <= rate.price {
            return Err(Refusal::TooDear(Box::new(TooDear {
                option: String::new(),
                is_offered: false,
                name: used.name.clone(),
                supplier: price.supplier.clone(),
                price: rate.price,
                on_demand: by_use.price,
                is_own: *is_own,
                gpus: used.gpus_per_node,
                utilization,
            })));
        }
        suppliers.extend(Some(supplier.as_str()).filter(|it| *it != price.supplier));
    }
    let supplier = suppliers.join(", ");
    Ok(Place {
        supplier,
        committed: vec![base(rate, months, Gpus::Best)],
        on_demand: on_demand.map(|it| it.rate),
        ..used.place()
    })
}

/// The share of the hours of the period in which the GPUs of the machine that is used most are: of those that are reserved
/// none is used more.
fn utilization_of_first_node(used: &Used) -> Decimal {
    let (gpus, node) = (used.gpus(), count(used.gpus_per_node));
    let hours = count_of(gpus.len());
    let busy: Decimal = gpus.into_iter().map(|it| it.min(node)).sum();
    quotient(busy, product(&[node, hours])).unwrap_or_default()
}

impl Found {
    /// An option where one model at least has such a place; the others are rented meanwhile.
    fn add(&mut self, name: &str, taken: &[&Used], make: &Make<'_>, otherwise: &Make<'_>) {
        let mut places = Vec::with_capacity(taken.len());
        let (mut is_any, mut without_price, mut too_dear) = (false, Vec::new(), Vec::new());
        for used in taken {
            let place = match make(used) {
                Ok(place) => {
                    is_any = true;
                    Ok(place)
                }
                Err(refusal) => {
                    match refusal {
                        Refusal::NoPrice => without_price.push(used.name.as_str()),
                        Refusal::TooDear(it) => too_dear.push(TooDear { option: name.to_owned(), ..*it }),
                    }
                    otherwise(used)
                }
            };
            let Ok(place) = place else {
                self.without.push(format!("{name} is left out: there is no price for {}", used.name));
                return;
            };
            places.push(place);
        }
        let is_offered = is_any;
        if !is_offered && too_dear.is_empty() {
            self.without.push(format!("{name} is left out: there is no price for any of these models"));
        } else if !without_price.is_empty() {
            let what = if is_offered { ", so all of it is on demand" } else { "" };
            let names = without_price.join(", ");
            self.without.push(format!("{name}: there is no price for {names}{what}"));
        }
        self.too_dear.extend(too_dear.into_iter().map(|it| TooDear { is_offered, ..it }));
        if is_offered {
            for (place, unused) in places.iter_mut().zip(&self.unused) {
                place.others.extend(unused.clone());
            }
            places.extend(self.stays.iter().cloned());
            self.options.push(option(name, places));
        }
    }
}

/// What we pay on demand; where we never did, what whoever supplies it asks, else the cheapest of the large clouds, else
/// of all.
fn on_demand(measured: &Measured, used: &Used) -> Option<OnDemand> {
    if let Some(price) = own_price(used, HowPaid::OnDemand) {
        let supplier = used.suppliers(|it| it.paid == HowPaid::OnDemand);
        return Some(OnDemand { supplier, rate: own_rate(measured, "on demand", price), is_own: true });
    }
    let of_ours = |it: &Price| used.ways.iter().any(|way| way.supplier == it.supplier);
    let of_large = |it: &Price| HYPERSCALERS.contains(&it.supplier.as_str());
    let (price, rate) = cheapest(measured, used, Tier::OnDemand, of_ours)
        .or_else(|| cheapest(measured, used, Tier::OnDemand, of_large))
        .or_else(|| cheapest(measured, used, Tier::OnDemand, |_| true))?;
    Some(OnDemand { supplier: price.supplier.clone(), rate, is_own: false })
}

/// The specialty cloud that costs least on demand: of those that we paid, by what that came to, and of the others, by the
/// list.
fn elsewhere<'a>(measured: &Measured, used: &'a Used) -> Option<(&'a str, Rate)> {
    let is_meant = |supplier: &str| !HYPERSCALERS.contains(&supplier);
    let paid = used.ways.iter().filter(|it| is_meant(&it.supplier)).filter_map(|it| {
        let price = own_price_of(used, HowPaid::OnDemand, &it.supplier)?;
        Some((it.supplier.as_str(), own_rate(measured, "on demand", price)))
    });
    let is_ours =
        |it: &Price| used.ways.iter().any(|way| way.paid == HowPaid::OnDemand && way.supplier == it.supplier);
    let others = cheapest(measured, used, Tier::OnDemand, |it| is_meant(&it.supplier) && !is_ours(it));
    let others = others.map(|(price, rate)| (price.supplier.as_str(), rate));
    paid.chain(others).min_by_key(|(_, rate)| rate.price)
}

/// The cheapest of those that are meant, and its rate in the scenario's currency.
fn cheapest<'a>(
    measured: &Measured,
    used: &'a Used,
    tier: Tier,
    is_meant: impl Fn(&Price) -> bool,
) -> Option<(&'a Price, Rate)> {
    let meant = used.listed.iter().filter(|it| it.tier == tier && is_meant(it));
    let described = meant.filter_map(|it| Some((it, listed(measured, it)?)));
    described.min_by_key(|(_, rate)| rate.price)
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
