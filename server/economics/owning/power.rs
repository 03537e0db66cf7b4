//! What the machines draw, and what that costs.
//!
//! - a node draws P(u) = idle + (load − idle) × u × (1 − δ), in kW of its machines, averaged over the calendar
//! - energy = nodes × P(u) × PUE × 8,760 × tariff, in money a year; spares that are switched on are idle
//! - demand charge = 12 × charge × peak, in money a year; the peak is nodes × load × PUE, and spares idle
//! - colocation = 12 × price × contracted kW, in money a year. The contract is for what the machines can draw, not for
//!   what they do. Where it includes energy, energy and demand charge are 0.
//!
//! Where only a GPU's power is known: node = GPUs × a GPU's kW × a factor for everything else in the node. A DGX H100
//! is rated 10.2 kW for eight GPUs of 0.7 kW, a factor of 1.82; a DGX A100 6.5 kW for eight of 0.4 kW, 2.03 (NVIDIA,
//! data sheets).

use serde::{Deserialize, Serialize};

use super::Owning;
use crate::money::Decimal;
use crate::money::arithmetic::{HOURS_PER_YEAR, count, decimal, one, product};

/// kW, idle and at work, before what the room adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Draw {
    Node {
        idle_kw: Decimal,
        load_kw: Decimal,
    },
    /// Where only the GPU's is known. The factor is what a node draws for a kW of its GPUs.
    Gpu {
        idle_kw: Decimal,
        load_kw: Decimal,
        node_factor: Decimal,
    },
}

impl Default for Draw {
    /// At work 8.4 kW: the most that was measured of a DGX H100 (Latif et al., IEEE Access 2025). Idle a quarter of
    /// it: an assumption.
    fn default() -> Self {
        Self::Node { idle_kw: decimal(21, 1), load_kw: decimal(84, 1) }
    }
}

/// Where the machines stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "in", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Housing {
    /// In a room of one's own: energy and demand charge are paid.
    #[default]
    OwnRoom,
    Colocation {
        /// Money for a contracted kW and month. 100 to 400 are asked; 200 is common.
        price: Decimal,
        /// kW. Without it, what all nodes that are bought are rated for.
        contracted_kw: Option<Decimal>,
        /// Has no default: offers mean the one or the other, and it is most of the price.
        energy: Energy,
    },
}

/// Whether the price of colocation includes the energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Energy {
    Included,
    Separate,
}

impl Owning {
    /// kW of a node, idle and at work.
    pub fn node_draw(&self) -> (Decimal, Decimal) {
        match self.draw {
            Draw::Node { idle_kw, load_kw } => (idle_kw, load_kw),
            Draw::Gpu { idle_kw, load_kw, node_factor } => {
                let of_node = |kw| product(&[count(self.gpus_per_node), kw, node_factor]);
                (of_node(idle_kw), of_node(load_kw))
            }
        }
    }

    fn pays_energy(&self) -> bool {
        !matches!(self.housing, Housing::Colocation { energy: Energy::Included, .. })
    }

    /// Nodes that are switched on beside those in service.
    pub(super) fn idle_nodes(&self) -> Decimal {
        if self.hot_spares { count(self.spare_nodes()) } else { Decimal::ZERO }
    }

    /// A price of the power company; nothing where colocation includes what it is for.
    pub(super) fn paid(&self, price: Decimal) -> Decimal {
        if self.pays_energy() { price } else { Decimal::ZERO }
    }

    /// What a kW that is drawn all year costs, with what the room adds.
    fn kw_year(&self) -> Decimal {
        product(&[self.pue, HOURS_PER_YEAR.into(), self.paid(self.tariff)])
    }

    /// Money a year, whatever is done with the machines, and for each 1.00 of utilization.
    pub(super) fn energy(&self) -> (Decimal, Decimal) {
        let nodes = count(self.nodes_in_service());
        let (idle, load) = self.node_draw();
        let fixed = product(&[nodes + self.idle_nodes(), idle, self.kw_year()]);
        let variable = product(&[nodes, load - idle, one() - self.unavailability, self.kw_year()]);
        (fixed, variable)
    }

    /// kW of the room at its highest.
    pub fn peak_kw(&self) -> Decimal {
        let (idle, load) = self.node_draw();
        let machines = product(&[count(self.nodes_in_service()), load]) + product(&[self.idle_nodes(), idle]);
        product(&[machines, self.pue])
    }

    pub(super) fn demand(&self) -> Decimal {
        product(&[12.into(), self.paid(self.demand_charge), self.peak_kw()])
    }

    /// kW that a colocation is paid for.
    pub fn contracted_kw(&self) -> Decimal {
        match self.housing {
            Housing::Colocation { contracted_kw: Some(kw), .. } => kw,
            Housing::Colocation { .. } => product(&[count(self.purchase().nodes_bought()), self.rated_kw]),
            Housing::OwnRoom => Decimal::ZERO,
        }
    }

    pub(super) fn colocation_price(&self) -> Decimal {
        match self.housing {
            Housing::Colocation { price, .. } => price,
            Housing::OwnRoom => Decimal::ZERO,
        }
    }

    pub(super) fn colocation(&self) -> Decimal {
        product(&[12.into(), self.colocation_price(), self.contracted_kw()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::arithmetic::quotient;
    use crate::money::number;

    #[test]
    fn colocation_needs_to_say_whether_it_includes_energy() {
        let without = r#"{"housing":{"in":"colocation","price":"200","contracted_kw":null}}"#;
        assert!(serde_json::from_str::<Owning>(without).unwrap_err().to_string().contains("energy"));
        let with =
            r#"{"housing":{"in":"colocation","price":"200","contracted_kw":null,"energy":"included"}}"#;
        let owning: Owning = serde_json::from_str(with).unwrap();
        // Nine nodes that can draw 10.2 kW.
        assert_eq!(owning.colocation(), number("220320"));
        assert_eq!((owning.energy(), owning.demand()), ((Decimal::ZERO, Decimal::ZERO), Decimal::ZERO));
    }

    #[test]
    fn a_contract_is_for_what_it_says() {
        let housing = Housing::Colocation {
            price: number("150"),
            contracted_kw: Some(number("100")),
            energy: Energy::Separate,
        };
        let owning = Owning { housing, demand_charge: number("15"), ..Owning::default() };
        assert_eq!(owning.colocation(), number("180000"));
        assert_eq!(owning.demand(), number("15724.8"));
    }

    #[test]
    fn a_node_draws_more_than_its_gpus() {
        let node_factor = quotient(number("10.2"), number("0.7").times(8)).unwrap();
        assert_eq!(node_factor.round(2), number("1.82"));
        let draw = Draw::Gpu { idle_kw: number("0.1"), load_kw: number("0.7"), node_factor };
        let (idle, load) = Owning { draw, ..Owning::default() }.node_draw();
        assert_eq!((idle.round(4), load.round(4)), (number("1.4571"), number("10.2000")));
    }

    #[test]
    fn spares_that_are_on_draw_what_an_idle_node_draws() {
        let (cold, cold_rises) = Owning::default().energy();
        let hot = Owning { hot_spares: true, ..Owning::default() };
        let (with, rises) = hot.energy();
        assert_eq!(with - cold, number("2391.48"));
        assert_eq!(rises, cold_rises);
        assert_eq!(hot.peak_kw() - Owning::default().peak_kw(), number("2.73"));
    }
}
