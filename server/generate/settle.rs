//! The charges that come once a month, and the books they are drawn from.

use std::io;

use super::amount::Amount;
use super::line::{Kind, Line, Writer};
use super::simulate::Month;
use super::world::ACCOUNTS;

/// Thousandths of the list price that a reserved hour takes from the upfront fee, and pays.
const AMORTIZED_RATE: u64 = 300;
const RECURRING_RATE: u64 = 250;
const HOURS_OF_A_YEAR: u64 = 8760;

/// What the month amounts to, for the charges at its end.
#[derive(Default)]
pub(crate) struct Books {
    pub(crate) rows: u64,
    pub(crate) by_account: [Amount; ACCOUNTS],
    pub(crate) reserved_units: [u64; 2],
    pub(crate) reserved_hours: [u64; 2],
}

impl Month {
    /// The charges that come once, most telling first, as many as a quarter of the rows has room for.
    pub(crate) fn once_a_month(&self, writer: &dyn Writer) -> Vec<Kind> {
        let zero = Amount::ZERO;
        let fee = Kind::ReservationFee {
            unused_hours: 0,
            unused_amortized: zero,
            unused_recurring: zero,
            units: 0,
        };
        let mut wanted = vec![
            fee,
            fee,
            Kind::ReservationUpfront { units: 0 },
            Kind::Tax,
            Kind::Credit,
            Kind::Refund,
            Kind::Discount,
        ];
        wanted.push(Kind::Support);
        for _ in 1..ACCOUNTS {
            wanted.extend([Kind::Tax, Kind::Discount]);
        }
        wanted.extend([Kind::Credit; 4]);
        wanted.push(Kind::Refund);
        let mut room = self.rows / 4;
        wanted.retain(|kind| {
            let fits = writer.rows(*kind) <= room;
            room -= if fits { writer.rows(*kind) } else { 0 };
            fits
        });
        wanted
    }

    /// The `at`-th of the charges that come once.
    pub(crate) fn settle(&mut self, kind: Kind, at: usize, books: &Books) -> Line {
        let whole_month = Line { kind, from: 0, to: self.hours(), ..Line::empty(&self.offer.regions[0]) };
        let account = at % ACCOUNTS;
        let spent = books.by_account[account];
        // The two reservations are the first two.
        let which = usize::from(at == 1);
        let machine = &self.offer.accelerated[1 + which];
        let units = books.reserved_units[which];
        let amount = |amount: Amount| {
            let amount = amount.to_cents();
            Line { account, billed: amount, effective: amount, ..whole_month }
        };
        match kind {
            Kind::ReservationFee { .. } => {
                let hours = units * self.hours() as u64;
                let unused_hours = hours - books.reserved_hours[which].min(hours);
                let of = Line { machine: Some(machine), ..whole_month };
                reservation_fee(&of, units, hours, unused_hours, reserved_rates(machine.list()))
            }
            Kind::ReservationUpfront { .. } => {
                let machine = &self.offer.accelerated[1];
                let (amortized, _) = reserved_rates(machine.list());
                let of = Line { machine: Some(machine), ..whole_month };
                reservation_upfront(&of, books.reserved_units[0], amortized)
            }
            Kind::Tax => amount(spent.per_mille(82)),
            Kind::Discount => amount(spent.per_mille(50).negative()),
            Kind::Support => amount(books.total().per_mille(30)),
            Kind::Credit => {
                let from = self.random.below(self.steps as u64) as usize * self.step;
                let credit = amount(spent.per_mille(self.random.between(2, 20)).negative());
                Line { from, to: from + self.step, ..credit }
            }
            _ => {
                let from = self.random.below(self.steps as u64) as usize * self.step;
                let refund = amount(spent.per_mille(self.random.between(1, 4)).negative());
                Line { from, to: from + self.step, ..refund }
            }
        }
    }
}

impl Books {
    pub(crate) fn take(&mut self, line: &Line, writer: &mut dyn Writer) -> io::Result<()> {
        self.rows += writer.rows(line.kind);
        self.by_account[line.account].add(line.billed);
        writer.write(line)
    }

    fn total(&self) -> Amount {
        let mut total = Amount::ZERO;
        for amount in self.by_account {
            total.add(amount);
        }
        total
    }
}

/// What an hour of a reserved machine takes from the upfront fee, and its recurring fee.
pub(crate) fn reserved_rates(list: Amount) -> (Amount, Amount) {
    (list.per_mille(AMORTIZED_RATE), list.per_mille(RECURRING_RATE))
}

/// The recurring fee of so many hours, and what of it and of the upfront fee went unused.
pub(crate) fn reservation_fee(
    whole_month: &Line,
    units: u64,
    hours: u64,
    unused_hours: u64,
    (amortized, recurring): (Amount, Amount),
) -> Line {
    let (unused_amortized, unused_recurring) = (amortized.times(unused_hours), recurring.times(unused_hours));
    let mut effective = unused_amortized;
    effective.add(unused_recurring);
    let billed = recurring.times(hours);
    Line {
        kind: Kind::ReservationFee { unused_hours, unused_amortized, unused_recurring, units },
        quantity: Amount::whole(hours),
        list: billed,
        billed,
        effective,
        ..*whole_month
    }
}

/// What is paid once for a year.
pub(crate) fn reservation_upfront(whole_month: &Line, units: u64, amortized: Amount) -> Line {
    let billed = amortized.times(HOURS_OF_A_YEAR * units);
    Line {
        kind: Kind::ReservationUpfront { units },
        to: 1,
        quantity: Amount::whole(units),
        list: billed,
        billed,
        ..*whole_month
    }
}
