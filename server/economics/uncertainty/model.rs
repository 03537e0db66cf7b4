//! What options cost as worth today: a plain sum of products in binary floats, for as many simulations as wanted.
//!
//! Each product is an amount for each month, discounted by what money costs, times what became of inputs. What is owned is
//! an annuity that is paid by the month.
//!
//! Made of an exact answer: how much of each layer is used stays as it was decided there. A test holds that it gives
//! what the exact one gives, whatever the inputs.

use super::{Input, Sensitivity, tornado};
use crate::economics::cash::Payments;
use crate::economics::comparison::{
    Comparison, Every, Generation, LayerKind, PerWhat, Place, PlaceAnswer, Scenario,
};
use crate::economics::egress::Hop;
use crate::economics::owning::{Housing, Residual};
use crate::money::Decimal;
use crate::money::arithmetic::{count, quotient};

/// Every option of a scenario.
pub struct Model {
    pub(super) inputs: Vec<Input>,
    options: Vec<Vec<Piece>>,
    /// Of options that are uncertain to work, by their place.
    uncertain: Vec<Uncertain>,
    /// Of the inputs, as they were entered.
    pub(super) values: Vec<f64>,
    /// What money costs in a year, and which input that is.
    rate: (f64, Option<usize>),
    months: u32,
}

/// An option that is uncertain to work, as [`Fallback`](crate::economics::comparison::Fallback).
struct Uncertain {
    option: usize,
    chance: f64,
    /// The option that it falls back on.
    other: usize,
    in_vain: Vec<Piece>,
}

/// Whether options that are uncertain work.
#[derive(Clone, Copy)]
pub(super) enum Works {
    /// Each as often as is expected.
    Expected,
    /// Those whose chance is more than this.
    Drawn(f64),
}

/// A part of what an option costs.
enum Piece {
    /// An amount times what became of inputs.
    Scaled {
        /// As worth today.
        amount: f64,
        /// After 0, 1, 2, … months.
        paid: Vec<f64>,
        by: Vec<By>,
    },
    Owned(Box<OwnedPiece>),
}

/// How an amount follows an input, which is given by its place.
#[derive(Clone, Copy)]
enum By {
    /// Twice as much for twice the input.
    Times(usize),
    /// Half as much.
    Over(usize),
    /// As what is left of all.
    Rest(usize),
}

/// Inputs by their places, so far as they are uncertain.
fn times<const N: usize>(inputs: [Option<usize>; N]) -> Vec<By> {
    inputs.into_iter().flatten().map(By::Times).collect()
}

/// What depends on the purchase.
struct OwnedPiece {
    nodes: f64,
    leased: f64,
    fabric: f64,
    storage: f64,
    installation: f64,
    building: f64,
    /// How many generations went before it.
    after: i32,
    /// What is left of nodes, fabric and storage.
    residual: Left,
    life: f64,
    maintenance: f64,
    /// Paid once for a life, and for people before it.
    once: Vec<(f64, Option<usize>)>,
    people_before: f64,
    /// The months before it, and those of it that are looked at.
    from: f64,
    months: f64,
    by: OwnedInputs,
}

/// As [`Residual`].
enum Left {
    Share(f64),
    Age(Vec<f64>),
}

impl Left {
    /// At an age, of machines that are planned for so many years; what is entered of it times a factor.
    fn at_age(&self, age: f64, life: f64, factor: f64) -> f64 {
        match self {
            Self::Share(share) if age >= life => share * factor,
            Self::Share(share) => {
                let used = Self::of(&Residual::default());
                let (now, end) = (used.at_age(age, life, 1.0), used.at_age(life, life, 1.0));
                share * factor + (1.0 - share * factor) * (now - end) / (1.0 - end)
            }
            Self::Age(shares) => {
                let complete = age.floor();
                let at = |age: usize| match age {
                    0 => 1.0,
                    _ => factor * shares.get(age - 1).or(shares.last()).copied().unwrap_or_default(),
                };
                let year = complete as usize;
                at(year) + (at(year + 1) - at(year)) * (age - complete)
            }
        }
    }

    fn of(residual: &Residual) -> Self {
        match residual {
            Residual::Share { share } => Self::Share(float(*share)),
            Residual::Age { shares } => Self::Age(shares.iter().map(|it| float(*it)).collect()),
        }
    }
}

/// Years that are none.
const NO_TIME: f64 = 1e-6;

#[derive(Default)]
struct OwnedInputs {
    node: Option<usize>,
    fabric: Option<usize>,
    storage: Option<usize>,
    installation: Option<usize>,
    building: Option<usize>,
    next_price: Option<usize>,
    residual: Option<usize>,
    life: Option<usize>,
    maintenance: Option<usize>,
    staff: Option<usize>,
}

impl Model {
    /// Of a scenario's own answer, and what is uncertain about it.
    pub fn new(scenario: &Scenario, compared: &Comparison, inputs: &[Input]) -> Self {
        let rate = float(scenario.cost_of_capital);
        let today = discounts(rate, scenario.months);
        let all = scenario.options.iter().zip(&compared.options).enumerate();
        let (mut options, mut uncertain) = (Vec::new(), Vec::new());
        for (at, (option, answer)) in all {
            let (mut pieces, mut in_vain) = (Vec::new(), Vec::new());
            for (n, (place, found)) in option.places.iter().zip(&answer.places).enumerate() {
                let prefix = format!("/option/{at}/place/{n}");
                let of = Builder { inputs, prefix, today: &today, pieces: Vec::new(), in_vain: Vec::new() };
                let of = of.place(scenario, place, found);
                pieces.extend(of.pieces);
                in_vain.extend(of.in_vain);
            }
            options.push(pieces);
            if let Some(fallback) = &answer.fallback {
                let (chance, other) = (float(answer.chance), fallback.option);
                uncertain.push(Uncertain { option: at, chance, other, in_vain });
            }
        }
        Self {
            options,
            uncertain,
            values: inputs.iter().map(|it| float(it.value)).collect(),
            rate: (rate, inputs.iter().position(|it| it.keys.iter().any(|key| key == "/cost_of_capital"))),
            months: scenario.months,
            inputs: inputs.to_vec(),
        }
    }

    /// What moves each option's present value most first, by the options' places.
    pub fn sensitivities(&self) -> Vec<Vec<Sensitivity>> {
        let of_option = |option: usize| {
            tornado(&self.inputs, |at, value| self.with(at, float(value)).get(option).map(|it| cents(*it)))
        };
        (0..self.options.len()).map(of_option).collect()
    }

    /// What each option costs with one input at another value.
    pub(super) fn with(&self, at: usize, value: f64) -> Vec<f64> {
        let (mut values, mut totals) = (self.values.clone(), Vec::new());
        values[at] = value;
        self.totals(&values, Works::Expected, &mut totals);
        totals
    }

    /// Whether any option is uncertain to work.
    pub(super) fn is_uncertain(&self) -> bool {
        !self.uncertain.is_empty()
    }

    /// What each option costs with inputs at these values, as worth today.
    pub(super) fn totals(&self, values: &[f64], works: Works, totals: &mut Vec<f64>) {
        let factor = |at: usize| values[at] / self.values[at];
        let by = |by: &By| match *by {
            By::Times(at) => factor(at),
            By::Over(at) => 1.0 / factor(at),
            By::Rest(at) => (1.0 - values[at]) / (1.0 - self.values[at]),
        };
        let own = self.rate.0;
        let rate = self.rate.1.map_or(own, |at| values[at]);
        // To the last bit what it was, unless it was simulated.
        let today = (rate.to_bits() != own.to_bits()).then(|| discounts(rate, self.months));
        let sum = |pieces: &[Piece]| {
            let of = |piece: &Piece| match piece {
                Piece::Scaled { amount, paid, by: all } => {
                    let amount = today.as_ref().map_or(*amount, |today| worth(paid, today));
                    all.iter().fold(amount, |cost, it| cost * by(it))
                }
                Piece::Owned(owned) => owned.cost(rate, &factor),
            };
            pieces.iter().map(of).sum::<f64>()
        };
        totals.clear();
        totals.extend(self.options.iter().map(|it| sum(it)));
        // What they fall back on is certain, so that none of it changes meanwhile.
        for it in &self.uncertain {
            let fails = sum(&it.in_vain) + totals[it.other];
            let total = &mut totals[it.option];
            *total = match works {
                Works::Expected => it.chance * *total + (1.0 - it.chance) * fails,
                Works::Drawn(share) if share < it.chance => *total,
                Works::Drawn(_) => fails,
            };
        }
    }
}

impl OwnedPiece {
    fn cost(&self, rate: f64, factor: &impl Fn(usize) -> f64) -> f64 {
        let times = |at: Option<usize>| at.map_or(1.0, factor);
        let machines = self.nodes * times(self.by.node) + self.fabric * times(self.by.fabric);
        let equipment =
            machines * times(self.by.next_price).powi(self.after) + self.storage * times(self.by.storage);
        let room = self.installation * times(self.by.installation) + self.building * times(self.by.building);
        let purchase = equipment + room;
        let life = self.life * times(self.by.life);
        let once: f64 = self.once.iter().map(|(amount, by)| amount * times(*by)).sum();
        let worth = |age: f64| equipment * self.residual.at_age(age, life, times(self.by.residual));
        // Paid once, less what it is sold for after so many years, as worth when it is paid.
        let paid = |years: f64| purchase + once - worth(years) * (1.0 + rate).powf(-years);
        let years = self.months / 12.0;
        let lives = ((years + NO_TIME) / life).floor();
        let rest = years - lives * life;
        let mut capital = 0.0;
        // Whole lives, an annuity each; and machines that are sold before the end of theirs.
        if lives > 0.0 {
            let of_lives = annuity(rate, self.from, lives * life * 12.0);
            capital += paid(life) / annuity(rate, 0.0, life * 12.0) * of_lives;
        }
        if rest > NO_TIME {
            capital += paid(rest) * (1.0 + rate).powf(-self.from / 12.0 - lives * life);
        }
        // People who are hired before it runs are paid off with the first life.
        let people = self.people_before * times(self.by.staff) * (1.0 + rate).powf(-self.from / 12.0);
        let leased = self.leased * times(self.by.node) * times(self.by.next_price).powi(self.after);
        let maintenance = self.maintenance * times(self.by.maintenance) * (purchase + leased);
        capital + people + maintenance / 12.0 * annuity(rate, self.from, self.months)
    }
}

/// What one unit of money is worth today that is paid after 0, 1, 2, … months.
fn discounts(rate: f64, months: u32) -> Vec<f64> {
    (0..=months).map(|month| (1.0 + rate).powf(-f64::from(month) / 12.0)).collect()
}

fn worth(paid: &[f64], today: &[f64]) -> f64 {
    paid.iter().zip(today).map(|(paid, today)| paid * today).sum()
}

/// What one unit of money at the end of each of so many months is worth today, after so many others.
fn annuity(rate: f64, from: f64, months: f64) -> f64 {
    let monthly = (rate.ln_1p() / 12.0).exp_m1();
    if monthly == 0.0 {
        return months;
    }
    (1.0 + rate).powf(-from / 12.0) * -(-months * monthly.ln_1p()).exp_m1() / monthly
}

struct Builder<'a> {
    inputs: &'a [Input],
    prefix: String,
    /// Discounts at what money costs.
    today: &'a [f64],
    pieces: Vec<Piece>,
    /// What is lost where porting fails.
    in_vain: Vec<Piece>,
}

impl Builder<'_> {
    /// Of this place.
    fn input(&self, end: &str) -> Option<usize> {
        self.input_at(&format!("{}{end}", self.prefix))
    }

    fn input_at(&self, pointer: &str) -> Option<usize> {
        self.inputs.iter().position(|it| it.keys.iter().any(|key| key == pointer))
    }

    fn scaled(&mut self, paid: &Payments, by: Vec<By>) {
        self.pieces.extend(self.piece(paid, by));
    }

    /// None where nothing is paid.
    fn piece(&self, paid: &Payments, by: Vec<By>) -> Option<Piece> {
        let paid: Vec<f64> = paid.by_the_month().into_iter().map(float).collect();
        let is_paid = paid.iter().any(|it| *it != 0.0);
        is_paid.then(|| Piece::Scaled { amount: worth(&paid, self.today), paid, by })
    }

    fn place(mut self, scenario: &Scenario, place: &Place, found: &PlaceAnswer) -> Self {
        let support = times([self.input("/support")]);
        let (hours, there) = (self.hours(), self.input("/obtainable"));
        for layer in &found.layers {
            let of = |list: &str, price| self.input(&format!("/{list}/{}/{price}", layer.entered?));
            let with_hours = |by| [by, hours.clone()].concat();
            let by = match layer.kind {
                LayerKind::Owned => continue,
                LayerKind::OnDemand => with_hours(times([self.input("/on_demand/price"), there])),
                LayerKind::Tokens => {
                    let tokens = self.tokens(scenario, place);
                    with_hours(times([self.input("/per_million_tokens/price"), tokens, there]))
                }
                LayerKind::Spot => {
                    with_hours(times([self.input("/spot/rate/price"), self.input("/spot/rework")]))
                }
                // What is committed to is paid whatever prices are.
                LayerKind::Spend => Vec::new(),
                LayerKind::Block => times([of("blocks", "rate/price")]),
                LayerKind::Committed => times([of("committed", "rate/price")]),
            };
            let upfront = times([of("committed", "upfront")]);
            // What is paid at the start of a term is the same at any price of its hours.
            let paid = &layer.paid;
            self.scaled(&paid.support, [&by[..], &support].concat());
            self.scaled(&paid.support_upfront, [&upfront[..], &support].concat());
            self.scaled(&paid.hours, by);
            self.scaled(&paid.upfront, upfront);
        }
        self.unserved(scenario, place, (found, there));
        for generation in found.generations.iter().enumerate() {
            self.owned(generation);
        }
        for (at, other) in place.others.iter().enumerate() {
            let mut by = times([self.input(&format!("/others/{at}/amount"))]);
            if other.per == PerWhat::GpuHour {
                by.extend(&hours);
            }
            if let Some(paid) = found.paid_besides.others.get(at) {
                self.scaled(paid, by);
            }
        }
        self.moved(scenario, place, found);
        if let Some(porting) = &place.porting {
            let [once, monthly] = porting.costs();
            let by = times([self.input("/porting/engineer_weeks"), self.input("/porting/loaded_cost")]);
            let anew = [self.input("/porting/releases_per_year"), self.input("/porting/ported_anew")];
            let each = Payments::level(Decimal::ZERO, monthly, scenario.months);
            self.scaled(&each, [&by[..], &times(anew)].concat());
            let meanwhile = times([self.input("/porting/meanwhile/price")]);
            for (paid, by) in [(&first(once, scenario.months), by), (&found.paid_besides.both, meanwhile)] {
                self.in_vain.extend(self.piece(paid, by.clone()));
                self.scaled(paid, by);
            }
        }
        self
    }

    /// How many hours a place takes for those of the work.
    fn hours(&self) -> Vec<By> {
        let worth = self.input("/performance").map(By::Over);
        times([self.input("/rework")]).into_iter().chain(worth).collect()
    }

    /// How many tokens an hour of the work makes, where that was entered.
    fn tokens(&self, scenario: &Scenario, place: &Place) -> Option<usize> {
        let mut served = scenario.served_at(place);
        let first = served.find(|at| scenario.work[*at].tokens_of_an_hour().is_some())?;
        self.input_at(&format!("/work/{first}/tokens_per_hour"))
    }

    /// An hour of the work costs the same that is not served, however many here it is.
    fn unserved(
        &mut self,
        scenario: &Scenario,
        place: &Place,
        (found, there): (&PlaceAnswer, Option<usize>),
    ) {
        if found.unserved_cost.is_zero() {
            return;
        }
        // Of several works it is a mean of what each says, which no one of them scales.
        let says = |at| self.input_at(&format!("/work/{at}/unserved_cost"));
        let mut costs: Vec<Option<usize>> = scenario.served_at(place).map(says).collect();
        costs.dedup();
        let cost = if let [one] = costs[..] { times([one]) } else { Vec::new() };
        // Where nothing is sold by use, nothing is ever there.
        let missing = there.filter(|_| place.is_by_use()).map(By::Rest);
        self.scaled(&found.paid_besides.unserved, cost.into_iter().chain(missing).collect());
    }

    /// What is listed for data is one factor on its list; a price of one's own, and one between regions, is its own.
    fn moved(&mut self, scenario: &Scenario, place: &Place, found: &PlaceAnswer) {
        for (n, (entered, answer)) in place.moved.iter().zip(&found.moved).enumerate() {
            let input = |end: &str| self.input(&format!("/moved/{n}/{end}"));
            let list = input("rates/of");
            let each = times([list, input("rates/price")]);
            let tiers = answer.each.parts.len() - entered.hops.len();
            let of_hop = |(at, hop): (usize, &Hop)| match hop {
                Hop::Region { .. } => times([input(&format!("hops/{at}/price"))]),
                Hop::Nat | Hop::Zones => times([list]),
            };
            let by = std::iter::repeat_n(each, tiers).chain(entered.hops.iter().enumerate().map(of_hop));
            let by: Vec<Vec<By>> = by.collect();
            for (part, by) in answer.each.parts.iter().zip(by) {
                let each = part.value.unwrap_or_default();
                let paid = match entered.every {
                    Every::Month => Payments::level(Decimal::ZERO, each, scenario.months),
                    Every::Once => first(each, scenario.months),
                };
                self.scaled(&paid, by);
            }
        }
    }

    fn owned(&mut self, (at, generation): (usize, &Generation)) {
        use crate::economics::owning::Part;

        let machines = &generation.machines;
        if machines.gpus == 0 {
            return;
        }
        let machine = |name: &str| self.input(&format!("/owned/machines{name}"));
        let by = OwnedInputs {
            node: machine("/node_price"),
            fabric: machine("/fabric/price"),
            storage: machine("/storage"),
            installation: machine("/installation"),
            building: machine("/building"),
            next_price: self.input("/owned/refresh/price_ratio"),
            residual: machine("/residual/share").or(machine("/residual/by")),
            life: machine("/life_years"),
            maintenance: machine("/maintenance_share"),
            staff: machine("/staff/loaded_cost"),
        };
        let (tariff, pue, draw) = (machine("/tariff"), machine("/pue"), machine("/draw/of"));
        let (charge, software) = (machine("/demand_charge"), machine("/software_per_gpu"));
        let housing = machine("/housing/price");
        let mut lease = times([machine("/tenure/price")]);
        lease.extend(by.next_price.iter().flat_map(|it| std::iter::repeat_n(By::Times(*it), at)));
        let purchase = machines.purchase();
        let residual = Left::of(&machines.residual);
        let one_offs = machines.one_offs.iter().enumerate();
        let once = one_offs.map(|(n, it)| (float(it.amount), machine(&format!("/one_offs/{n}/amount"))));
        let once = once.collect();
        let staff = by.staff;
        self.pieces.push(Piece::Owned(Box::new(OwnedPiece {
            nodes: float(purchase.nodes),
            leased: float(purchase.leased),
            fabric: float(purchase.fabric),
            storage: float(purchase.storage),
            installation: float(purchase.installation),
            building: float(purchase.building),
            after: i32::try_from(at).unwrap_or(i32::MAX),
            residual,
            life: float(machines.life_years),
            maintenance: float(machines.maintenance_share),
            once,
            people_before: float(machines.staff_before()),
            from: generation.from.into(),
            months: generation.months.into(),
            by,
        })));
        let is_colocated = matches!(machines.housing, Housing::Colocation { .. });
        let mut others =
            (0..machines.others.len()).map(|n| self.input(&format!("/owned/machines/others/{n}/amount")));
        let of_part = |(part, cost): &(Part, Decimal)| {
            let by = match part {
                Part::Capital | Part::Maintenance | Part::StaffBefore | Part::OneOff => return None,
                Part::Lease => lease.clone(),
                Part::Energy => times([tariff, pue, draw]),
                Part::DemandCharge => times([pue, charge, draw]),
                Part::Colocation if is_colocated => times([housing]),
                Part::Colocation => Vec::new(),
                Part::Staff => times([staff]),
                Part::Software => times([software]),
                // In the order in which they were entered.
                Part::Other => times([others.next().flatten()]),
            };
            Some((*cost, by))
        };
        let parts: Vec<(Decimal, Vec<By>)> = generation.parts.iter().filter_map(of_part).collect();
        for (cost, by) in parts {
            let mut paid = Payments::over(generation.from + generation.months);
            let each = quotient(cost, count(generation.months)).unwrap_or_default();
            (generation.from..generation.from + generation.months).for_each(|month| paid.during(month, each));
            self.scaled(&paid, by);
        }
    }
}

/// All of it at the start.
fn first(amount: Decimal, months: u32) -> Payments {
    Payments::level(amount, Decimal::ZERO, months)
}

/// From here on exact again, in cents.
pub(super) fn cents(amount: f64) -> Decimal {
    Decimal::parse(format!("{amount:.2}").as_bytes()).unwrap_or_default()
}

/// Nearest binary float.
pub(super) fn float(value: Decimal) -> f64 {
    value.to_string().parse().unwrap_or_default()
}
