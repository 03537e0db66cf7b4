//! When the machines of a month run, and what they are tagged with.

use chrono::{Datelike, Weekday};

use super::bill::Statement;
use super::organization::{Bill, Pattern, Tagging, Work};
use crate::generate::line::Owner;
use crate::generate::random::Random;

/// A machine that runs for consecutive hours.
pub(super) struct Run {
    pub(super) work: &'static Work,
    /// Hours of the month, half-open.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) resource: u64,
    pub(super) zone: u8,
    pub(super) owner: Option<Owner>,
    /// Thousandths of the list price, where the machine is a spot one.
    pub(super) spot: u64,
}

/// Every run of a bill's month. A work's draws are its own, so that a change of one leaves the others as
/// they are.
pub(super) fn runs(bill: &'static Bill, month: &Statement) -> Vec<Run> {
    let mut runs = Vec::new();
    for (at, work) in bill.works.iter().enumerate() {
        let nodes = usize::from(work.nodes[month.index]);
        let random = Random::new(month.seed_of(bill) ^ (at as u64 + 1) << 32);
        Schedule { work, month, nodes, random, runs: &mut runs, experiment: month.index as u32 * 20 }.fill();
    }
    runs
}

/// The id of what stays from month to month.
pub(super) fn lasting_id(of: &str, name: &str, at: usize) -> u64 {
    of.bytes()
        .chain(name.bytes())
        .fold(at as u64 + 1, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

struct Schedule<'a> {
    work: &'static Work,
    month: &'a Statement,
    nodes: usize,
    random: Random,
    runs: &'a mut Vec<Run>,
    experiment: u32,
}

impl Schedule<'_> {
    fn fill(&mut self) {
        match self.work.pattern {
            Pattern::Always => self.always(0..self.nodes),
            Pattern::Serving => {
                let base = self.nodes.div_ceil(2);
                self.always(0..base);
                self.daily(base, (6, 8), (20, 23), 700);
            }
            Pattern::Office => self.daily(0, (7, 9), (16, 19), 0),
            Pattern::Nights => self.nights(),
            Pattern::Training(duty) => self.training(duty),
            Pattern::Forgotten => self.forgotten(),
        }
    }

    /// The same machines month after month: their ids follow from the work alone.
    fn always(&mut self, nodes: std::ops::Range<usize>) {
        for node in nodes {
            let resource = lasting_id(self.work.project, self.work.machine.name, node);
            let owner = self.owner();
            self.push(0, self.month.hours, resource, owner);
        }
    }

    /// From a morning hour to an evening hour; on days of the weekend only so many times out of a thousand.
    fn daily(&mut self, first: usize, morning: (u64, u64), evening: (u64, u64), weekend: u64) {
        for day in 0..self.month.hours.div_ceil(24) {
            for _ in first..self.nodes {
                if self.is_weekend(day) && !self.random.chance(weekend) {
                    continue;
                }
                let from = day * 24 + self.random.between(morning.0, morning.1) as usize;
                let to = day * 24 + self.random.between(evening.0, evening.1) as usize;
                let (resource, owner) = (self.random.next(), self.owner());
                self.push(from, to, resource, owner);
            }
        }
    }

    /// From evening to morning, broken off once in a while and begun again.
    fn nights(&mut self) {
        for day in 0..self.month.hours.div_ceil(24) {
            if day % 7 == 0 {
                self.experiment += 1;
            }
            for _ in 0..self.nodes {
                let from = day * 24 + self.random.between(18, 21) as usize;
                let to = from + self.random.between(8, 12) as usize;
                let owner = self.owner();
                let broken = if self.random.chance(250) { self.random.between(2, 6) as usize } else { 0 };
                if broken > 0 {
                    let resource = self.random.next();
                    self.push(from, from + broken, resource, owner);
                }
                let again = if broken > 0 { from + broken + 1 } else { from };
                let resource = self.random.next();
                self.push(again, to, resource, owner);
            }
        }
    }

    /// All nodes together, an experiment after the other, with pauses between them.
    fn training(&mut self, duty: u64) {
        let mut from = self.random.below(20) as usize;
        while from < self.month.hours {
            let length = self.random.between(40, 130);
            let pause = length * (1000 - duty) / duty * self.random.between(600, 1400) / 1000;
            self.experiment += 1;
            let owner = self.owner();
            self.together(from, from + length as usize, owner);
            from += (length + pause) as usize;
        }
    }

    /// From the second Thursday's morning to Monday's.
    fn forgotten(&mut self) {
        let thursdays = (0..28).filter(|day| self.weekday(*day) == Weekday::Thu);
        let Some(thursday) = thursdays.skip(1).min() else { return };
        self.experiment += 1;
        let owner = self.owner();
        self.together(thursday * 24 + 8, (thursday + 4) * 24 + 9, owner);
    }

    fn together(&mut self, from: usize, to: usize, owner: Option<Owner>) {
        for _ in 0..self.nodes {
            let resource = self.random.next();
            self.push(from, to, resource, owner);
        }
    }

    fn push(&mut self, from: usize, to: usize, resource: u64, owner: Option<Owner>) {
        let (from, to) = (from.min(self.month.hours), to.min(self.month.hours));
        let zone = self.random.below(3) as u8;
        let spot = self.random.between(390, 480);
        if from < to {
            self.runs.push(Run { work: self.work, from, to, resource, zone, owner, spot });
        }
    }

    fn owner(&mut self) -> Option<Owner> {
        let work = self.work;
        // Drawn for everyone, so that tagging does not decide what is drawn after it.
        let (slip, spelling) = (self.random.below(1000), *self.random.pick(work.team.by_hand));
        let by_hand = work.tagging == Tagging::ByHand;
        if work.tagging == Tagging::Never || by_hand && slip < 40 {
            return None;
        }
        Some(Owner {
            team: match slip {
                40..80 if by_hand => "",
                80..220 if by_hand => spelling,
                _ => work.team.name,
            },
            is_capital: by_hand && (220..250).contains(&slip),
            series: work.series,
            experiment: if work.series.is_empty() { 0 } else { self.experiment },
            project: work.project,
            environment: work.environment,
            workload: work.workload,
            cost_center: work.team.cost_center,
        })
    }

    fn is_weekend(&self, day: usize) -> bool {
        matches!(self.weekday(day), Weekday::Sat | Weekday::Sun)
    }

    fn weekday(&self, day: usize) -> Weekday {
        let first = self.month.month.first_day().weekday().num_days_from_monday() as usize;
        [Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri, Weekday::Sat, Weekday::Sun]
            [(first + day) % 7]
    }
}
