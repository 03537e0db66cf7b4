//! What is bought, and what the capital in it costs in a year.
//!
//! - nodes in service = ⌈G ÷ g⌉; spare nodes = ⌈σ × nodes in service⌉
//! - purchase C₀ = nodes × (node price + fabric) + storage + installation + building, in money. Nodes that are leased are
//!   no part of it, nor of what is sold
//! - lease = 12 × nodes × price of a month, in money a year, for the life: it cannot be ended earlier
//! - capital recovery factor = r ÷ (1 − (1 + r)^−L), a year; 1 ÷ L where r is 0
//! - capital = (C₀ − S ÷ (1 + r)^L) × capital recovery factor, in money a year: the annuity that pays back the purchase
//!   and its interest, less what is sold at the end
//!
//! - beside rents, which are paid by the month, the same annuity is paid by the month: monthly recovery factor =
//!   rₘ ÷ (1 − (1 + rₘ)^−12L) with rₘ = (1 + r)^(1 ÷ 12) − 1, at the end of each month as everything is that is paid during
//!   one ([`crate::economics::cash`]). A year-end annuity beside monthly rents charges owning months of interest too much
//!
//! The twelfth root is a binary float of 16 digits ([`growth`]); what it multiplies is exact.
//!
//! The factor stands in every textbook of engineering economics ("equivalent annual cost"). At 10 % and 3 years it is
//! 0.4021.

use serde::{Deserialize, Serialize};

use super::Owning;
use crate::money::Decimal;
use crate::money::arithmetic::{ceiling, count, decimal, floor, growth, one, product, quotient, whole};

/// How nodes come to be there. The rest of a cluster is bought either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "nodes", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Tenure {
    #[default]
    Bought,
    /// Money for a node and month, until they go back at the end of their life.
    Leased { price: Decimal },
}

/// What connects nodes with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Fabric {
    /// Money for each node: switches, cables, adapters.
    Node { price: Decimal },
    /// Money for a port of a switch, and how many a node takes. Cables are in the price of a port or entered with the
    /// installation.
    Port { price: Decimal, per_node: u32 },
}

impl Default for Fabric {
    fn default() -> Self {
        Self::Node { price: 50_000.into() }
    }
}

impl Fabric {
    /// Money a node.
    pub fn per_node(&self) -> Decimal {
        match *self {
            Self::Node { price } => price,
            Self::Port { price, per_node } => product(&[price, count(per_node)]),
        }
    }
}

/// Money for a port of a switch. InfiniBand HDR with 40 ports went for 50,000 to 80,000: 1,250 to 2,000 a port.
pub fn port_price(switch: Decimal, ports: u32) -> Option<Decimal> {
    quotient(switch, count(ports))
}

/// What equipment is worth at the end of its life, as a share of its price.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Residual {
    Share {
        share: Decimal,
    },
    /// The shares after 1, 2, 3, … years; what lies between two is interpolated, and what lies beyond is the last.
    Age {
        shares: Vec<Decimal>,
    },
}

impl Default for Residual {
    /// After 1 to 5 years: 0.65, 0.45, 0.30, 0.175, 0.125, each ± 0.15. A single guide to prices of used GPUs; a weak
    /// source.
    fn default() -> Self {
        let shares = [650, 450, 300, 175, 125].map(|thousandths| decimal(thousandths, 3));
        Self::Age { shares: shares.to_vec() }
    }
}

impl Residual {
    /// At an age, of equipment that is planned for so many years. Where only the share at the end of its life is entered,
    /// it loses value on its way there as used machines do: share + (1 − share) × (T(age) − T(life)) ÷ (1 − T(life)), where
    /// T is the table of the default.
    pub fn at_age(&self, age: Decimal, life: Decimal) -> Decimal {
        let Self::Share { share } = self else { return self.share(age) };
        if age >= life {
            return *share;
        }
        let table = Self::default();
        let (now, end) = (table.share(age), table.share(life));
        let left = quotient(now - end, one() - end).unwrap_or_default();
        *share + product(&[one() - *share, left])
    }

    /// After so many years.
    pub fn share(&self, years: Decimal) -> Decimal {
        let shares = match self {
            Self::Share { share } => return *share,
            Self::Age { shares } => shares,
        };
        let complete = floor(years);
        let at = |age: usize| match age {
            0 => one(),
            _ => shares.get(age - 1).or(shares.last()).copied().unwrap_or_default(),
        };
        let age = whole(complete) as usize;
        at(age) + product(&[at(age + 1) - at(age), years - complete])
    }
}

/// What is bought.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Purchase {
    pub nodes_in_service: u32,
    pub spare_nodes: u32,
    /// 0 where they are leased.
    pub nodes: Decimal,
    /// Price of the nodes that are leased. Nobody pays it; maintenance is a share of it all the same.
    pub leased: Decimal,
    pub fabric: Decimal,
    pub storage: Decimal,
    pub installation: Decimal,
    pub building: Decimal,
    /// C₀.
    pub total: Decimal,
    /// S: of nodes, fabric and storage. Installation and building cannot be sold.
    pub residual: Decimal,
}

impl Purchase {
    /// What can be sold: nodes, fabric and storage.
    pub fn equipment(&self) -> Decimal {
        self.nodes + self.fabric + self.storage
    }

    pub fn nodes_bought(&self) -> u32 {
        self.nodes_in_service.saturating_add(self.spare_nodes)
    }
}

impl Owning {
    /// ⌈G ÷ g⌉.
    pub fn nodes_in_service(&self) -> u32 {
        self.gpus.div_ceil(self.gpus_per_node.max(1))
    }

    pub(super) fn spare_nodes(&self) -> u32 {
        whole(ceiling(product(&[self.spare_share, count(self.nodes_in_service())])))
    }

    pub fn purchase(&self) -> Purchase {
        let (nodes_in_service, spare_nodes) = (self.nodes_in_service(), self.spare_nodes());
        let bought = count(nodes_in_service.saturating_add(spare_nodes));
        let price = product(&[bought, self.node_price]);
        let (nodes, leased) = match self.tenure {
            Tenure::Bought => (price, Decimal::ZERO),
            Tenure::Leased { .. } => (Decimal::ZERO, price),
        };
        let fabric = product(&[bought, self.fabric.per_node()]);
        let equipment = nodes + fabric + self.storage;
        Purchase {
            nodes_in_service,
            spare_nodes,
            nodes,
            leased,
            fabric,
            storage: self.storage,
            installation: self.installation,
            building: self.building,
            total: equipment + self.installation + self.building,
            residual: product(&[equipment, self.residual.share(self.life_years)]),
        }
    }
}

/// What one unit of money that is paid at the start costs in each of so many years. `None` for a life of 0.
pub fn capital_recovery_factor(rate: Decimal, years: Decimal) -> Option<Decimal> {
    let grown = growth(rate, years);
    if rate.is_zero() || grown == one() {
        return quotient(one(), years);
    }
    quotient(product(&[rate, grown]), grown - one())
}

/// When the annuity of what is paid once is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Annuity {
    /// At the end of each year: the yearly view of a cluster.
    Yearly,
    /// At the end of each month, as rents are.
    Monthly,
}

/// What one unit of money that is paid at the start costs at the end of each month of so many years.
pub fn monthly_recovery_factor(rate: Decimal, years: Decimal) -> Option<Decimal> {
    let grown = growth(rate, years);
    let monthly = growth(rate, quotient(one(), 12.into())?) - one();
    if monthly.is_zero() || grown == one() {
        return quotient(one(), years.times(12));
    }
    quotient(product(&[monthly, grown]), grown - one())
}

/// What capital costs in a year: the book view of the same purchase is [`crate::onprem::Schedule`].
pub fn annualized(price: Decimal, residual: Decimal, rate: Decimal, years: Decimal) -> Option<Decimal> {
    let sold = quotient(residual, growth(rate, years))?;
    Some(product(&[price - sold, capital_recovery_factor(rate, years)?]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::number;

    #[test]
    fn a_recovery_factor_pays_back_purchase_and_interest() {
        for (rate, years, expected) in
            [("0.10", "3", "0.4021"), ("0", "3", "0.3333"), ("0", "2.5", "0.4000"), ("0.08", "5", "0.2505")]
        {
            let factor = capital_recovery_factor(number(rate), number(years)).unwrap();
            assert_eq!(factor.round(4), number(expected), "{rate} over {years} years");
        }
        assert_eq!(capital_recovery_factor(number("0.1"), Decimal::ZERO), None);
        // Close to no interest the factor comes close to that of none.
        let nearly = capital_recovery_factor(number("0.000000001"), number("3.5")).unwrap();
        assert!((nearly - quotient(one(), number("3.5")).unwrap()).abs() < number("0.00000001"));
        // Between two whole years it lies between theirs.
        let between = capital_recovery_factor(number("0.1"), number("2.5")).unwrap();
        assert!(between > number("0.4021") && between < number("0.5762"));
    }

    #[test]
    fn a_monthly_annuity_costs_what_is_paid_at_the_end_of_each_month() {
        // 36 ÷ 31.1865 of economics.md, where three yearly payments are 1.2063.
        let monthly = monthly_recovery_factor(number("0.10"), 3.into()).unwrap();
        assert_eq!(monthly.times(36).round(4), number("1.1543"));
        let yearly = capital_recovery_factor(number("0.10"), 3.into()).unwrap();
        assert_eq!(yearly.times(3).round(4), number("1.2063"));
        let free = monthly_recovery_factor(Decimal::ZERO, 3.into()).unwrap();
        assert_eq!(free.times(36).round(15), one());
        assert_eq!(monthly_recovery_factor(number("0.1"), Decimal::ZERO), None);
    }

    #[test]
    fn a_residual_by_age_is_interpolated() {
        let residual = Residual::default();
        for (years, share) in
            [("0", "1"), ("0.5", "0.825"), ("1", "0.65"), ("3", "0.3"), ("3.5", "0.2375"), ("9", "0.125")]
        {
            assert_eq!(residual.share(number(years)), number(share), "after {years} years");
        }
    }

    #[test]
    fn before_the_end_of_its_life_equipment_is_worth_what_used_machines_go_for() {
        let table = Residual::default();
        let share = Residual::Share { share: number("0.2") };
        let at = |it: &Residual, age: &str| it.at_age(number(age), 3.into()).round(4);
        // Of the table 0.65 and 0.45 after one and two years, and 0.30 after three.
        assert_eq!((at(&table, "1"), at(&table, "2.5")), (number("0.65"), number("0.375")));
        assert_eq!(
            (at(&share, "0"), at(&share, "3"), at(&share, "4")),
            (one(), number("0.2"), number("0.2"))
        );
        assert_eq!((at(&share, "1"), at(&share, "2")), (number("0.6"), number("0.3714")));
    }

    #[test]
    fn whole_nodes_are_bought_and_spares_besides() {
        let owning =
            Owning { gpus: 65, spare_share: number("0.05"), storage: 1000.into(), ..Owning::default() };
        let purchase = owning.purchase();
        assert_eq!((purchase.nodes_in_service, purchase.spare_nodes, purchase.nodes_bought()), (9, 1, 10));
        assert_eq!(purchase.total, 4_251_000.into());
        let none = Owning { gpus: 0, ..Owning::default() }.purchase();
        assert_eq!((none.nodes_bought(), none.total), (0, Decimal::ZERO));
    }

    #[test]
    fn a_fabric_is_priced_by_node_or_by_port() {
        let price = port_price(50_000.into(), 40).unwrap();
        assert_eq!(price, 1250.into());
        assert_eq!(Fabric::Port { price, per_node: 8 }.per_node(), 10_000.into());
        assert_eq!(port_price(50_000.into(), 0), None);
    }
}
