//! What options cost as a plain sum of products in binary floats, for as many draws as wanted.
//!
//! Made of an exact answer: how much of each layer is used stays as it was decided there. A test holds that it gives
//! what the exact one gives, whatever the inputs.

use super::{Input, Swing, tornado};
use crate::money::Decimal;
use crate::scenario::comparison::{Comparison, Generation, LayerKind, PerWhat, Place, PlaceAnswer, Scenario};
use crate::scenario::owning::{Housing, Residual};

/// Every option of a scenario.
pub struct Model {
    pub(super) inputs: Vec<Input>,
    options: Vec<Vec<Piece>>,
    /// Of the inputs, as they were entered.
    pub(super) values: Vec<f64>,
}

/// A part of what an option costs.
enum Piece {
    /// An amount that is proportional to inputs, by their places.
    Scaled {
        amount: f64,
        by: Vec<usize>,
    },
    Owned(Box<OwnedPiece>),
}

/// What depends on the purchase.
struct OwnedPiece {
    nodes: f64,
    leased: f64,
    fabric: f64,
    storage: f64,
    rest: f64,
    /// What is left of nodes, fabric and storage.
    residual: Left,
    life: f64,
    rate: f64,
    maintenance: f64,
    /// Paid once for a life, and for people before it, of which the second changes with their cost.
    once: f64,
    people_before: f64,
    years: f64,
    by: OwnedInputs,
}

/// As [`Residual`].
enum Left {
    Share(f64),
    Age(Vec<f64>),
}

impl Left {
    fn after(&self, years: f64) -> f64 {
        let shares = match self {
            Self::Share(share) => return *share,
            Self::Age(shares) => shares,
        };
        let complete = years.floor();
        let at = |age: usize| match age {
            0 => 1.0,
            _ => shares.get(age - 1).or(shares.last()).copied().unwrap_or_default(),
        };
        let age = complete as usize;
        at(age) + (at(age + 1) - at(age)) * (years - complete)
    }
}

#[derive(Default)]
struct OwnedInputs {
    node: Option<usize>,
    fabric: Option<usize>,
    residual: Option<usize>,
    life: Option<usize>,
    rate: Option<usize>,
    maintenance: Option<usize>,
    staff: Option<usize>,
}

impl Model {
    /// Of a scenario's own answer, and what is uncertain about it.
    pub fn new(scenario: &Scenario, compared: &Comparison, inputs: &[Input]) -> Self {
        let options = scenario.options.iter().zip(&compared.options).enumerate();
        let options = options.map(|(at, (option, answer))| {
            let places = option.places.iter().zip(&answer.places).enumerate();
            let of_place = places.flat_map(|(n, (place, found))| {
                Builder { inputs, prefix: format!("/option/{at}/place/{n}"), pieces: Vec::new() }
                    .place(scenario, place, found)
            });
            of_place.collect()
        });
        Self {
            options: options.collect(),
            values: inputs.iter().map(|it| float(it.value)).collect(),
            inputs: inputs.to_vec(),
        }
    }

    /// What moves each option's total most first, by the options' places.
    pub fn swings(&self) -> Vec<Vec<Swing>> {
        let of_option = |option: usize| {
            tornado(&self.inputs, |at, value| self.with(at, float(value)).get(option).map(|it| cents(*it)))
        };
        (0..self.options.len()).map(of_option).collect()
    }

    /// What each option costs with one input at another value.
    pub(super) fn with(&self, at: usize, value: f64) -> Vec<f64> {
        let (mut values, mut totals) = (self.values.clone(), Vec::new());
        values[at] = value;
        self.totals(&values, &mut totals);
        totals
    }

    /// What each option costs with inputs at these values.
    pub(super) fn totals(&self, values: &[f64], totals: &mut Vec<f64>) {
        let factor = |at: usize| values[at] / self.values[at];
        totals.clear();
        totals.extend(self.options.iter().map(|pieces| {
            let of = |piece: &Piece| match piece {
                Piece::Scaled { amount, by } => by.iter().fold(*amount, |cost, at| cost * factor(*at)),
                Piece::Owned(owned) => owned.cost(&factor),
            };
            pieces.iter().map(of).sum::<f64>()
        }));
    }
}

impl OwnedPiece {
    fn cost(&self, factor: &impl Fn(usize) -> f64) -> f64 {
        let times = |at: Option<usize>| at.map_or(1.0, factor);
        let equipment = self.nodes * times(self.by.node) + self.fabric * times(self.by.fabric) + self.storage;
        let purchase = equipment + self.rest;
        let rate = self.rate * times(self.by.rate);
        let life = self.life * times(self.by.life);
        let grown = (1.0 + rate).powf(life);
        let recovery = if rate == 0.0 { 1.0 / life } else { rate * grown / (grown - 1.0) };
        let sold = equipment * self.residual.after(life) * times(self.by.residual) / grown;
        // People who are hired before it runs are paid off with the first life.
        let paid_off = (life / self.years).min(1.0);
        let once = self.once + self.people_before * times(self.by.staff) * paid_off;
        let maintained = purchase + self.leased * times(self.by.node);
        let maintenance = self.maintenance * times(self.by.maintenance) * maintained;
        ((purchase - sold + once) * recovery + maintenance) * self.years
    }
}

struct Builder<'a> {
    inputs: &'a [Input],
    prefix: String,
    pieces: Vec<Piece>,
}

impl Builder<'_> {
    fn input(&self, end: &str) -> Option<usize> {
        let key = format!("{}{end}", self.prefix);
        self.inputs.iter().position(|it| it.keys.contains(&key))
    }

    fn scaled(&mut self, amount: Decimal, by: &[Option<usize>]) {
        let by = by.iter().copied().flatten().collect();
        self.pieces.push(Piece::Scaled { amount: float(amount), by });
    }

    fn place(mut self, scenario: &Scenario, place: &Place, found: &PlaceAnswer) -> Vec<Piece> {
        let support = self.input("/support");
        for layer in &found.layers {
            let of = |list: &str| self.input(&format!("/{list}/{}/rate/price", layer.entered?));
            let mut by = match layer.kind {
                LayerKind::Owned => continue,
                LayerKind::OnDemand => vec![self.input("/on_demand/price")],
                LayerKind::Tokens => vec![self.input("/per_million_tokens/price")],
                LayerKind::Spot => vec![self.input("/spot/rate/price"), self.input("/spot/rework")],
                // What is committed to is paid whatever prices are.
                LayerKind::Spend => Vec::new(),
                LayerKind::Block => vec![of("blocks")],
                LayerKind::Committed => vec![of("committed")],
            };
            // What is paid at the start of a term is the same at any price of its hours.
            let of_hours = layer.cost - layer.upfront;
            self.scaled(of_hours, &by);
            self.scaled(layer.upfront, &[]);
            by.push(support);
            self.scaled(of_hours.multiply(place.support), &by);
            self.scaled(layer.upfront.multiply(place.support), &[support]);
        }
        if !found.unserved_cost.is_zero() {
            // Of several works it is a mean of what each says, which no one of them scales.
            let says =
                |at| self.inputs.iter().position(|it| it.keys.contains(&format!("/work/{at}/unserved_cost")));
            let mut by: Vec<Option<usize>> = scenario.served_at(place).map(says).collect();
            by.dedup();
            self.scaled(found.unserved_cost, if by.len() == 1 { &by } else { &[] });
        }
        for generation in &found.generations {
            self.owned(generation);
        }
        for other in &place.others {
            let amount = match other.per {
                PerWhat::Once => other.amount,
                PerWhat::Month => other.amount.times(scenario.months.into()),
                PerWhat::GpuHour => other.amount.multiply(found.gpu_hours),
            };
            self.scaled(amount, &[]);
        }
        for moved in &found.moved {
            self.scaled(moved.cost, &[]);
        }
        if let Some(porting) = &place.porting {
            let [once, monthly] = porting.costs();
            let by = [self.input("/porting/engineer_weeks"), self.input("/porting/loaded_cost")];
            self.scaled(once + monthly.times(scenario.months.into()), &by);
            let both = found.ported.map_or(Decimal::ZERO, |it| it.both);
            self.scaled(both, &[self.input("/porting/meanwhile/price")]);
        }
        self.pieces
    }

    fn owned(&mut self, generation: &Generation) {
        use crate::scenario::owning::Part;

        let machines = &generation.machines;
        if machines.gpus == 0 {
            return;
        }
        let machine = |name: &str| self.input(&format!("/owned/machines{name}"));
        let by = OwnedInputs {
            node: machine("/node_price"),
            fabric: machine("/fabric/price"),
            residual: machine("/residual/share"),
            life: machine("/life_years"),
            rate: self.inputs.iter().position(|it| it.keys.iter().any(|key| key == "/cost_of_capital")),
            maintenance: machine("/maintenance_share"),
            staff: machine("/staff/loaded_cost"),
        };
        let (tariff, pue) = (machine("/tariff"), machine("/pue"));
        let (charge, software) = (machine("/demand_charge"), machine("/software_per_gpu"));
        let (housing, lease) = (machine("/housing/price"), machine("/tenure/price"));
        let purchase = machines.purchase();
        let residual = match &machines.residual {
            Residual::Share { share } => Left::Share(float(*share)),
            Residual::Age { shares } => Left::Age(shares.iter().map(|it| float(*it)).collect()),
        };
        let once: Decimal = machines.one_offs.iter().map(|it| it.amount).sum();
        let years = f64::from(generation.months) / 12.0;
        let staff = by.staff;
        self.pieces.push(Piece::Owned(Box::new(OwnedPiece {
            nodes: float(purchase.nodes),
            leased: float(purchase.leased),
            fabric: float(purchase.fabric),
            storage: float(purchase.storage),
            rest: float(purchase.installation + purchase.building),
            residual,
            life: float(machines.life_years),
            rate: float(machines.cost_of_capital),
            maintenance: float(machines.maintenance_share),
            once: float(once),
            people_before: float(machines.staff_before()),
            years,
            by,
        })));
        let is_colocated = matches!(machines.housing, Housing::Colocation { .. });
        for (part, cost) in &generation.parts {
            let by: &[Option<usize>] = match part {
                Part::Capital | Part::Maintenance | Part::StaffBefore | Part::OneOff => continue,
                Part::Lease => &[lease],
                Part::Energy => &[tariff, pue],
                Part::DemandCharge => &[pue, charge],
                Part::Colocation if is_colocated => &[housing],
                Part::Staff => &[staff],
                Part::Software => &[software],
                Part::Colocation | Part::Other => &[],
            };
            self.scaled(*cost, by);
        }
    }
}

/// From here on exact again, in cents.
pub(super) fn cents(amount: f64) -> Decimal {
    Decimal::parse(format!("{amount:.2}").as_bytes()).unwrap_or_default()
}

/// Nearest binary float.
pub(super) fn float(value: Decimal) -> f64 {
    value.to_string().parse().unwrap_or_default()
}
