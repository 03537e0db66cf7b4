//! The organization's month, step by step (hours, or days): a fleet of machines that run for consecutive hours, what
//! is stored and transferred beside them, and the charges that come once a month.
//!
//! Memory is bounded by the machines that run at once: rows / steps of the month.

use std::io;

use super::amount::Amount;
use super::line::{Kind, Line, Owner, Writer};
use super::random::Random;
use super::settle::{Books, reserved_rates};
use super::world::{
    ACCOUNTS, COST_CENTERS, ENVIRONMENTS, Goods, MISSPELT, Machine, Offer, PROJECTS, Region, TEAMS, WORKLOADS,
};

pub(crate) struct Month {
    pub(crate) rows: u64,
    /// Hours that a row of usage states: 1, or 24 where bills are by the day.
    pub(crate) step: usize,
    /// Steps in the month.
    pub(crate) steps: usize,
    pub(crate) experiments: u32,
    pub(crate) keys: u32,
    pub(crate) is_fleet: bool,
    pub(crate) offer: &'static Offer,
    pub(crate) random: Random,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    OnDemand,
    Spot,
    Reserved,
    Planned,
    Plain,
    PlainSpot,
    Goods,
}

/// A place in the fleet: the same kind of machine all month, one run after another.
struct Slot {
    used: Use,
    machine: Option<&'static Machine>,
    goods: &'static Goods,
    region: &'static Region,
    run: Line,
    /// Runs last for weeks.
    is_steady: bool,
    left: u64,
    rest: u64,
}

/// So that small files hold something of everything.
const FIRST: [Use; 7] =
    [Use::Planned, Use::Reserved, Use::Spot, Use::OnDemand, Use::Goods, Use::Plain, Use::Reserved];
const USES: [Use; 7] =
    [Use::OnDemand, Use::Spot, Use::Reserved, Use::Planned, Use::Plain, Use::PlainSpot, Use::Goods];
const WEIGHTS: [u64; 7] = [270, 100, 80, 100, 120, 40, 290];
/// Rows a step should hold before a whole month is simulated; below, the month ends earlier.
const ROWS_PER_STEP: u64 = 10;
/// Hours that a steady run lasts: one to four weeks.
const STEADY: (u64, u64) = (168, 672);
/// Thousandths of the list price that the savings plan pays.
const PLAN_RATE: u64 = 620;

impl Month {
    /// Hours in the month.
    pub(crate) fn hours(&self) -> usize {
        self.steps * self.step
    }

    /// Writes exactly `rows` rows.
    pub(crate) fn run(mut self, writer: &mut dyn Writer) -> io::Result<()> {
        let once = self.once_a_month(writer);
        let usage = self.rows - once.iter().map(|kind| writer.rows(*kind)).sum::<u64>();
        let steps = (usage / ROWS_PER_STEP).clamp(1, self.steps as u64);
        let mut books = Books::default();
        let (mut fleet, commitment) = self.fleet(usage / steps, usage, &mut books, writer);
        for step in 0..steps {
            let until = u128::from(usage) * u128::from(step + 1) / u128::from(steps);
            self.step(step as usize, until as u64, &mut fleet, commitment, &mut books, writer)?;
        }
        for (at, kind) in once.iter().enumerate() {
            let line = self.settle(*kind, at, &books);
            writer.write(&line)?;
        }
        Ok(())
    }

    /// Slots whose rows fill a step, and the savings plan's commitment for each: what its slots use when
    /// all of them run, and 4 % more.
    fn fleet(
        &mut self,
        per_step: u64,
        usage: u64,
        books: &mut Books,
        writer: &dyn Writer,
    ) -> (Vec<Slot>, Amount) {
        let fee = writer.rows(Kind::PlanFee { commitment: Amount::ZERO, used: Amount::ZERO });
        let has_plan = per_step >= fee + writer.rows(Kind::Planned) + 4;
        let mut room = per_step - if has_plan { fee } else { 0 };
        let mean = usage / u64::from(self.keys.max(1));
        let mut fleet: Vec<Slot> = Vec::new();
        let mut commitment = Amount::ZERO;
        while room > 0 {
            let mut used = match FIRST.get(fleet.len()) {
                Some(used) => *used,
                None => USES[self.random.weighted(&WEIGHTS)],
            };
            if used == Use::Planned && (!has_plan || room < writer.rows(Kind::Planned)) {
                used = Use::OnDemand;
            }
            if rows_per_step(used, writer) > room {
                used = Use::Goods;
            }
            let slot = self.slot(used, mean, books);
            if used == Use::Planned {
                commitment.add(slot.list_rate().per_mille(PLAN_RATE).times(self.step as u64));
            }
            room -= rows_per_step(used, writer);
            fleet.push(slot);
        }
        (fleet, commitment.per_mille(1040))
    }

    fn slot(&mut self, used: Use, mean: u64, books: &mut Books) -> Slot {
        let offer = self.offer;
        let machine = match used {
            Use::Planned => Some(&offer.accelerated[0]),
            Use::Reserved => {
                let which = self.random.below(2) as usize;
                books.reserved_units[which] += 1;
                Some(&offer.accelerated[1 + which])
            }
            Use::OnDemand | Use::Spot => Some(self.any_of(offer.accelerated)),
            Use::Plain | Use::PlainSpot => Some(self.any_of(offer.plain)),
            Use::Goods => None,
        };
        let goods = self.random.pick(self.offer.goods);
        let region = match used {
            Use::Reserved => &offer.regions[0],
            _ => self.random.pick(offer.regions),
        };
        let is_steady = self.is_fleet && self.random.chance(500);
        let mut slot =
            Slot { used, machine, goods, region, is_steady, run: Line::empty(region), left: 0, rest: 0 };
        self.start(&mut slot, mean);
        // Runs do not all begin with the month.
        slot.left = self.random.between(1, slot.left);
        slot
    }

    fn any_of(&mut self, machines: &'static [Machine]) -> &'static Machine {
        let mut at = self.random.below(machines.iter().map(|machine| machine.weight).sum());
        for machine in machines {
            if at < machine.weight {
                return machine;
            }
            at -= machine.weight;
        }
        &machines[0]
    }

    /// The next run of a slot: its hours, its owner, its machine's id and price.
    fn start(&mut self, slot: &mut Slot, mean: u64) {
        let step = self.step as u64;
        slot.left = if slot.is_steady {
            self.random.between(STEADY.0 / step, STEADY.1 / step)
        } else if self.is_fleet {
            self.random.between(1, mean.max(1))
        } else {
            self.random.between(mean.div_ceil(2).max(1), (mean + mean / 2).max(1))
        };
        slot.rest = if self.random.chance(300) { self.random.between(1, 3) } else { 0 };
        let list_rate = slot.list_rate();
        let list = list_rate.times(step);
        let (kind, billed, effective) = match slot.used {
            Use::OnDemand | Use::Plain => (Kind::OnDemand, list, list),
            Use::Spot | Use::PlainSpot => {
                let price = list_rate.per_mille(self.random.between(280, 450)).times(step);
                (Kind::Spot, price, price)
            }
            Use::Reserved => {
                let (amortized, recurring) = reserved_rates(list_rate);
                let (amortized, recurring) = (amortized.times(step), recurring.times(step));
                let mut both = amortized;
                both.add(recurring);
                (Kind::Reserved { amortized, recurring }, Amount::ZERO, both)
            }
            Use::Planned => (Kind::Planned, Amount::ZERO, list_rate.per_mille(PLAN_RATE).times(step)),
            Use::Goods => (Kind::Goods, Amount::ZERO, Amount::ZERO),
        };
        let owner = self.owner();
        slot.run = Line {
            kind,
            machine: slot.machine,
            goods: slot.goods,
            account: self.random.below(ACCOUNTS as u64) as usize,
            zone: self.random.below(3) as u8,
            resource: self.random.next(),
            owner,
            quantity: Amount::whole(step),
            list_rate,
            list,
            billed,
            effective,
            ..Line::empty(slot.region)
        };
        // Some minutes of an hour.
        if self.is_fleet && slot.left == 1 && matches!(slot.used, Use::OnDemand | Use::Plain) {
            let run = &mut slot.run;
            run.quantity = Amount::new(self.random.between(50, 999) as i64, 3).times(step);
            run.list = run.quantity.by(list_rate);
            (run.billed, run.effective) = (run.list, run.list);
        }
    }

    /// Most resources are tagged as they should be, some by hand, some not at all.
    fn owner(&mut self) -> Option<Owner> {
        if self.random.chance(80) {
            return None;
        }
        let experiment = 1 + self.random.below(u64::from(self.experiments.max(1))) as u32;
        let team = experiment as usize % TEAMS.len();
        let is_misspelt = self.random.chance(30);
        Some(Owner {
            team: if self.random.chance(20) {
                ""
            } else if is_misspelt {
                MISSPELT[team]
            } else {
                TEAMS[team]
            },
            is_capital: self.random.chance(25),
            series: "exp",
            experiment: if self.random.chance(950) { experiment } else { 0 },
            project: PROJECTS[experiment as usize / TEAMS.len() % PROJECTS.len()],
            environment: ENVIRONMENTS[self.random.weighted(&[6, 3, 1])],
            workload: WORKLOADS[experiment as usize % WORKLOADS.len()],
            cost_center: COST_CENTERS[team],
        })
    }

    /// One step of the whole fleet, filled up with transfers and requests to `until` rows.
    fn step(
        &mut self,
        step: usize,
        until: u64,
        fleet: &mut [Slot],
        commitment: Amount,
        books: &mut Books,
        writer: &mut dyn Writer,
    ) -> io::Result<()> {
        let mean = self.rows / u64::from(self.keys.max(1));
        let mut used = Amount::ZERO;
        for slot in fleet {
            if slot.left == 0 {
                if slot.rest > 0 {
                    slot.rest -= 1;
                    for _ in 0..rows_per_step(slot.used, writer) {
                        self.filler(step, slot.region, books, writer)?;
                    }
                    continue;
                }
                self.start(slot, mean);
            }
            slot.left -= 1;
            if slot.used == Use::Goods {
                self.goods(step, slot.run, books, writer)?;
                continue;
            }
            slot.run.from = step * self.step;
            slot.run.to = slot.run.from + self.step;
            match slot.run.kind {
                Kind::Planned => used.add(slot.run.effective),
                Kind::Reserved { .. } => {
                    let is_second =
                        slot.machine.is_some_and(|machine| machine.name == self.offer.accelerated[2].name);
                    books.reserved_hours[usize::from(is_second)] += self.step as u64;
                }
                _ => {}
            }
            books.take(&slot.run, writer)?;
        }
        if commitment > Amount::ZERO {
            let kind = Kind::PlanFee { commitment, used };
            let line = Line {
                kind,
                from: step * self.step,
                to: (step + 1) * self.step,
                quantity: Amount::whole(self.step as u64),
                list: commitment,
                billed: commitment,
                effective: commitment.minus(used),
                machine: Some(&self.offer.accelerated[0]),
                ..Line::empty(&self.offer.regions[0])
            };
            books.take(&line, writer)?;
        }
        while books.rows < until {
            self.filler(step, &self.offer.regions[0], books, writer)?;
        }
        Ok(())
    }

    fn filler(
        &mut self,
        step: usize,
        region: &'static Region,
        books: &mut Books,
        writer: &mut dyn Writer,
    ) -> io::Result<()> {
        let goods = self.random.pick(self.offer.goods);
        let account = self.random.below(ACCOUNTS as u64) as usize;
        let line = Line { kind: Kind::Goods, goods, account, ..Line::empty(region) };
        self.goods(step, line, books, writer)
    }

    fn goods(
        &mut self,
        step: usize,
        mut line: Line,
        books: &mut Books,
        writer: &mut dyn Writer,
    ) -> io::Result<()> {
        let most = line.goods.most;
        line.from = step * self.step;
        line.to = line.from + self.step;
        line.quantity = Amount::new(self.random.between(0, most) as i64, 3);
        line.list_rate = line.goods.list().per_mille(line.region.price_level);
        line.list = line.quantity.by(line.list_rate);
        line.billed = line.list;
        line.effective = line.list;
        books.take(&line, writer)
    }
}

impl Slot {
    fn list_rate(&self) -> Amount {
        let list = self.machine.map_or(self.goods.list(), Machine::list);
        list.per_mille(self.region.price_level)
    }
}

fn rows_per_step(used: Use, writer: &dyn Writer) -> u64 {
    writer.rows(match used {
        Use::Planned => Kind::Planned,
        Use::Goods => Kind::Goods,
        _ => Kind::OnDemand,
    })
}
