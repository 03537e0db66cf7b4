//! A new cluster from a handful of figures: what a newcomer knows of it, with defaults that say where they come from.
//! Pure.

use std::collections::BTreeMap;

use chrono::NaiveDate;

use super::depreciation::Method;
use super::entry::{
    Asset, AssetKind, Cluster, Colocation, Cost, CostKind, Entry, Every, Paid, Pue, Span, Staff, Tariff,
};
use super::power;
use super::sheet::{Cells, Field, RefusedCell, START, Texts};
use super::system::{System, system, systems};
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// What prices of systems, people and energy are shipped in.
const SHIPPED: &str = "USD";

/// What is asked of a new cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    pub name: String,
    pub site: String,
    pub since: NaiveDate,
    pub system: System,
    pub nodes: u32,
    /// Nodes that stand by.
    pub spares: u32,
    pub currency: Currency,
    pub node_price: Decimal,
    /// Of the fabric, per node.
    pub network_price: Decimal,
    pub life_months: u32,
    /// What is left at the end of its life, as a share of the price.
    pub residual: Decimal,
    pub pue: Decimal,
    pub price_per_kwh: Decimal,
    /// Of a contracted kW in a month, where it stands in somebody else's building.
    pub colocation: Option<Decimal>,
    /// Whether energy is in that price.
    pub includes_energy: bool,
    pub fte: Decimal,
    pub loaded_cost: Decimal,
    /// Maintenance in a year, as a share of the price.
    pub maintenance: Decimal,
    pub downtime: Decimal,
    pub utilization: Decimal,
    pub cost_of_capital: Decimal,
}

impl Start {
    /// # Errors
    /// Every field that is wrong, with what was expected.
    pub fn read(texts: &impl Texts) -> Result<Self, Vec<RefusedCell>> {
        let mut cells = Cells::new(texts);
        let found = system(cells.optional("system"));
        if found.is_none() {
            cells.refuse("system", "one of the systems");
        }
        let housing = cells.optional("housing");
        if !["own", "colocation", "colocation-with-energy"].contains(&housing) {
            cells.refuse("housing", "own, colocation or colocation-with-energy");
        }
        let is_colocated = housing != "own";
        let start = Self {
            name: cells.text("name"),
            site: cells.text("site"),
            since: cells.day("since"),
            // The catalog is a part of the program, and is not empty.
            system: found.unwrap_or(&systems()[0]).clone(),
            nodes: cells.whole("nodes", 1, 10_000),
            spares: cells.whole("spares", 0, 10_000),
            currency: cells.currency("currency"),
            node_price: cells.more_than_nothing("node_price"),
            network_price: cells.money("network_price"),
            life_months: cells.whole("life_months", 1, 600),
            residual: cells.percent("residual", (0, 100)),
            pue: cells.pue("pue"),
            price_per_kwh: cells.signed_amount("price_per_kwh"),
            colocation: is_colocated.then(|| cells.more_than_nothing("colocation_price")),
            includes_energy: housing == "colocation-with-energy",
            fte: cells.amount("fte"),
            loaded_cost: cells.money("loaded_cost"),
            maintenance: cells.percent("maintenance", (0, 100)),
            downtime: cells.percent("downtime", (0, 99)),
            utilization: cells.percent("utilization", (0, 100)),
            cost_of_capital: cells.percent("cost_of_capital", (0, 100)),
        };
        start.refuse_dollars(&mut cells);
        cells.finish(start)
    }

    /// What the form begins with is in dollars, which in another currency is nobody's price.
    fn refuse_dollars<T: Texts>(&self, cells: &mut Cells<'_, T>) {
        if self.currency.as_str() == SHIPPED {
            return;
        }
        let shipped = Self::defaults(&self.system, self.since);
        let asked = ["node_price", "network_price", "price_per_kwh", "loaded_cost"];
        let colocation = self.colocation.map(|_| "colocation_price");
        for name in asked.into_iter().chain(colocation) {
            let is_price = |it: &&String| it.parse::<Decimal>().is_ok_and(|it| !it.is_zero());
            let Some(amount) = shipped.get(name).filter(is_price) else { continue };
            if cells.optional(name) == amount {
                let end = if amount.contains('.') { "0" } else { ".00" };
                cells.refuse(
                    name,
                    format!(
                        "a price in {}: {amount} is the default in {SHIPPED} (to use that number, enter {amount}{end})",
                        self.currency
                    ),
                );
            }
        }
    }

    /// What a new form begins with, for a system.
    pub fn defaults(of: &System, today: NaiveDate) -> BTreeMap<String, String> {
        let mut texts: BTreeMap<String, String> =
            START.iter().map(|field| (field.name.to_owned(), field.default.to_owned())).collect();
        texts.insert("system".to_owned(), of.id.clone());
        texts.insert("since".to_owned(), BillingMonth::of(today).first_day().to_string());
        texts.insert("node_price".to_owned(), of.price.to_string());
        texts.insert("network_price".to_owned(), of.network_price.to_string());
        texts
    }

    pub fn fields() -> &'static [Field] {
        START
    }

    /// In addresses and on bills: the name in small letters, digits and hyphens.
    pub fn handle(&self) -> String {
        let mut handle = String::new();
        for c in self.name.to_lowercase().chars() {
            if c.is_ascii_alphanumeric() {
                handle.push(c);
            } else if !handle.is_empty() && !handle.ends_with('-') {
                handle.push('-');
            }
        }
        handle.truncate(40);
        match handle.trim_end_matches('-') {
            // Addresses of other pages.
            "" | "new" | "claims" => format!("cluster-{}", self.since),
            handle => handle.to_owned(),
        }
    }

    /// GPUs in service.
    pub fn accelerators(&self) -> u32 {
        self.nodes.saturating_mul(self.system.accelerators)
    }

    /// What is written down of it: the cluster, nodes and fabric, and what runs from its first month on.
    pub fn entries(&self) -> Vec<Entry> {
        let handle = self.handle();
        let first = BillingMonth::of(self.since);
        let months = Span { first, last: None };
        let mut entries = vec![
            Entry::Cluster(Cluster {
                handle: handle.clone(),
                name: self.name.clone(),
                site: self.site.clone(),
                since: self.since,
                downtime: self.downtime,
                utilization: self.utilization,
                repeated: None,
                rack_kw: Decimal::from(40),
                cost_of_capital: self.cost_of_capital,
                growth: Decimal::ZERO,
                lead_months: 12,
            }),
            Entry::Asset(self.nodes_of(&handle, AssetKind::Node, "node", self.nodes)),
        ];
        if self.spares > 0 {
            entries.push(Entry::Asset(self.nodes_of(&handle, AssetKind::SpareNode, "spare", self.spares)));
        }
        if !self.network_price.is_zero() {
            let fabric = Asset {
                what: AssetKind::Fabric,
                model: String::new(),
                accelerator: String::new(),
                accelerators: 0,
                price: self.network_price,
                residual: self.left_of(self.network_price),
                idle_kw: Decimal::ZERO,
                load_kw: Decimal::ZERO,
                rated_kw: Decimal::ZERO,
                ..self.nodes_of(&handle, AssetKind::Fabric, "fabric", self.nodes + self.spares)
            };
            entries.push(Entry::Asset(fabric));
        }
        entries.push(Entry::Pue(Pue { cluster: handle.clone(), first, value: self.pue }));
        let price = power::Tariff::flat(self.currency.clone(), self.price_per_kwh);
        entries.push(Entry::Tariff(Tariff {
            cluster: handle.clone(),
            name: "Energy".to_owned(),
            months,
            price,
        }));
        if let Some(price_per_kw) = self.colocation {
            let nodes = i64::from(self.nodes) + i64::from(self.spares);
            entries.push(Entry::Colocation(Colocation {
                cluster: handle.clone(),
                name: "Colocation".to_owned(),
                months,
                contracted_kw: self.system.rated_kw.times(nodes).normalize(),
                price_per_kw,
                currency: self.currency.clone(),
                includes_energy: self.includes_energy,
            }));
        }
        if !self.fte.is_zero() && !self.loaded_cost.is_zero() {
            entries.push(Entry::Staff(Staff {
                cluster: handle.clone(),
                role: format!("{} operations", self.name),
                months,
                fte: self.fte,
                loaded_cost: self.loaded_cost,
                currency: self.currency.clone(),
                share: Decimal::from(1),
            }));
        }
        let maintenance = self.price().multiply(self.maintenance).round(2);
        if !maintenance.is_zero() {
            entries.push(Entry::Cost(Cost {
                cluster: handle,
                name: "Maintenance and support".to_owned(),
                what: CostKind::Maintenance,
                amount: maintenance,
                currency: self.currency.clone(),
                every: Every::Year,
                months,
            }));
        }
        entries
    }

    /// What all of it costs to buy.
    pub fn price(&self) -> Decimal {
        (self.node_price + self.network_price).times(i64::from(self.nodes + self.spares))
    }

    fn left_of(&self, price: Decimal) -> Decimal {
        price.multiply(self.residual).round(2).normalize()
    }

    fn nodes_of(&self, handle: &str, what: AssetKind, name: &str, count: u32) -> Asset {
        let System { name: model, accelerator, accelerators, idle_kw, load_kw, rated_kw, .. } = &self.system;
        let is_spare = what == AssetKind::SpareNode;
        Asset {
            cluster: handle.to_owned(),
            name: format!("{handle}-{name}"),
            what,
            model: model.clone(),
            accelerator: accelerator.clone(),
            accelerators: *accelerators,
            count,
            price: self.node_price,
            currency: self.currency.clone(),
            in_service: self.since,
            life_months: self.life_months,
            residual: self.left_of(self.node_price),
            depreciation: Method::StraightLine,
            paid: Paid::Bought,
            // What stands by is off.
            idle_kw: if is_spare { Decimal::ZERO } else { *idle_kw },
            load_kw: if is_spare { Decimal::ZERO } else { *load_kw },
            rated_kw: *rated_kw,
            tags: BTreeMap::new(),
        }
    }
}
