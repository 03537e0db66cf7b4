//! Racks and heat.
//!
//! - nodes in a rack = ⌊kW of a rack ÷ kW that a node can draw⌋; none fits where that is 0
//! - racks = ⌈nodes bought ÷ nodes in a rack⌉
//! - air that a rack needs = 3.16 × W ÷ rise in °F, in cubic feet a minute: 3.412 BTU/h a W over 1.08, the heat that
//!   air at sea level carries (ASHRAE, Fundamentals)
//!
//! Above 50 kW a rack is cooled by liquid: air does not carry more away.

use serde::Serialize;

use super::Owning;
use crate::money::Decimal;
use crate::money::arithmetic::{count, decimal, floor, product, quotient, whole};

/// kW of a rack that air still cools.
const MOST_BY_AIR: i64 = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cooling {
    Air,
    Liquid,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Racks {
    /// 0: not even one fits.
    pub nodes_per_rack: u32,
    /// None where no node fits.
    pub racks: Option<u32>,
    pub cooling: Cooling,
    /// kW of a full rack.
    pub heat_kw: Decimal,
    /// Cubic feet a minute through a full rack, where air cools it.
    pub airflow: Option<Decimal>,
}

/// Cubic feet a minute that carry so many watts away. `None` where air does not get warmer.
pub fn airflow(watts: Decimal, rise: Decimal) -> Option<Decimal> {
    quotient(product(&[decimal(316, 2), watts]), rise)
}

impl Owning {
    pub fn racks(&self) -> Racks {
        let nodes_per_rack = quotient(self.rack_kw, self.rated_kw).map_or(0, |fit| whole(floor(fit)));
        let bought = self.purchase().nodes_bought();
        let heat_kw = product(&[count(nodes_per_rack.min(bought)), self.rated_kw]);
        let cooling = if self.rack_kw > Decimal::from(MOST_BY_AIR) { Cooling::Liquid } else { Cooling::Air };
        let by_air = cooling == Cooling::Air && nodes_per_rack > 0;
        Racks {
            nodes_per_rack,
            racks: (nodes_per_rack > 0).then(|| bought.div_ceil(nodes_per_rack)),
            cooling,
            heat_kw,
            airflow: by_air.then(|| airflow(product(&[heat_kw, 1000.into()]), self.air_rise)).flatten(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rack_holds_what_it_can_power_and_cool() {
        let of = |rack_kw: i64| Owning { rack_kw: rack_kw.into(), ..Owning::default() }.racks();
        let forty = of(40);
        assert_eq!((forty.nodes_per_rack, forty.racks, forty.cooling), (3, Some(3), Cooling::Air));
        assert_eq!(forty.airflow.unwrap().round(1), decimal(48348, 1));
        let liquid = of(130);
        assert_eq!((liquid.nodes_per_rack, liquid.racks, liquid.cooling), (12, Some(1), Cooling::Liquid));
        // Nine nodes do not fill the rack.
        assert_eq!((liquid.heat_kw, liquid.airflow), (decimal(918, 1), None));
        let small = of(10);
        assert_eq!((small.nodes_per_rack, small.racks, small.airflow), (0, None, None));
        assert_eq!(of(50).cooling, Cooling::Air);
    }
}
