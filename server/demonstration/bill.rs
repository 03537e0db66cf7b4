//! One provider's bill of one month: what ran and was stored, hour by hour or day by day, then what comes once.

use std::collections::BTreeMap;
use std::io;

use chrono::Datelike;

use super::Sums;
use super::organization::{Bill, ORGANIZATION, PLAN_RATE, Reservation, Store, Team, Term, list};
use super::schedule::{Run, lasting_id, runs};
use crate::generate::amount::Amount;
use crate::generate::line::{Kind, Line, Owner, Writer};
use crate::generate::output::{Output, only};
use crate::generate::settle::{reservation_fee, reservation_upfront};
use crate::generate::{self, Agreement, Format, Plan, Totals};
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

/// Thousandths: the enterprise discount, and sales tax on what is left.
const DISCOUNT: u64 = 50;
const TAX: u64 = 65;

/// Which month of the tables a bill states, and how much of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statement {
    /// Of the tables.
    pub(super) index: usize,
    pub(super) month: BillingMonth,
    pub(super) hours: usize,
    /// Hours that are on the bill.
    pub(super) known: usize,
    /// Whether there is an invoice. Tax, support and discounts come with it.
    pub(super) is_closed: bool,
    pub(super) seed: u64,
}

impl Statement {
    /// Where the draws of a bill's month begin: they depend on nothing but the seed and the month.
    pub(super) fn seed_of(&self, bill: &Bill) -> u64 {
        let day = self.month.first_day();
        let month = day.year() as u64 * 12 + u64::from(day.month());
        (self.seed ^ month << 8 ^ bill.provider.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Writes the bill, as the files that its provider makes of a month, and says what it sums to. Azure's are two: what was
/// billed is the sum of the actual cost, what is effective that of the amortized.
pub(super) fn write(bill: &'static Bill, month: &Statement) -> io::Result<(Vec<Vec<u8>>, Sums)> {
    let day = month.month.first_day();
    let invoice = format!("INV-{}{:02}-{:03}", day.year(), day.month(), bill.provider.len() * 37);
    let currency = Currency::parse(bill.currency)
        .ok_or_else(|| io::Error::other(format!("{} is no currency", bill.currency)))?;
    let plan = Plan {
        currency: currency.clone(),
        container: bill.container(),
        provider: bill.provider.to_owned(),
        billing_account: bill.billing_account.to_owned(),
        invoice_id: month.is_closed.then_some(invoice),
        // It names its invoice, which an enrollment does not.
        agreement: Agreement::Customer,
        ..Plan::new(bill.format, 0, month.month, month.seed_of(bill))
    };
    let mut files = Vec::new();
    let mut sums = Sums {
        rows: 0,
        currency,
        billed: Decimal::ZERO,
        effective: Decimal::ZERO,
        teams: BTreeMap::new(),
        accelerator_hours: BTreeMap::new(),
    };
    for dataset in bill.datasets() {
        let plan = Plan { dataset: *dataset, ..plan.clone() };
        let mut file = Vec::new();
        let totals = write_file(bill, month, &plan, &mut file)?;
        let Totals { rows, billed, effective, accelerator_hours, teams, .. } = totals;
        files.push(file);
        sums.rows += rows;
        sums.billed += billed;
        sums.effective += effective;
        // Those of the last: hours stand in both, and what a team costs is effective.
        (sums.accelerator_hours, sums.teams) = (accelerator_hours, teams);
    }
    Ok((files, sums))
}

fn write_file(bill: &'static Bill, month: &Statement, plan: &Plan, out: &mut Vec<u8>) -> io::Result<Totals> {
    let output =
        Output::new(plan, bill.provider, bill.offer, only(out))?.of_teams(ORGANIZATION, bill.accounts);
    let mut books = Books::new(bill, *month, generate::writer(plan, bill.offer, output)?);
    books.run()?;
    books.writer.finish()
}

/// A bill while it is written.
struct Books<'a> {
    bill: &'static Bill,
    month: Statement,
    writer: Box<dyn Writer + 'a>,
    /// Billed so far, before tax.
    by_account: Vec<Amount>,
    /// Hours that reservations were used, in their order.
    reserved: Vec<u64>,
}

impl<'a> Books<'a> {
    fn new(bill: &'static Bill, month: Statement, writer: Box<dyn Writer + 'a>) -> Self {
        Self {
            bill,
            month,
            writer,
            by_account: vec![Amount::ZERO; bill.accounts.len()],
            reserved: vec![0; bill.reservations.len()],
        }
    }

    fn run(&mut self) -> io::Result<()> {
        let runs = runs(self.bill, &self.month);
        let step = self.bill.step();
        for from in (0..self.month.known).step_by(step) {
            let mut used = Amount::ZERO;
            for run in &runs {
                let to = run.to.min(from + step);
                let hours = to.saturating_sub(run.from.max(from)) as u64;
                if hours > 0 {
                    let line = self.machine(run, from, from + step, hours);
                    if line.kind == Kind::Planned {
                        used.add(line.effective);
                    }
                    self.take(&line)?;
                }
            }
            self.plan_fee(from, used)?;
            if from % 24 == 0 {
                self.stores(from)?;
            }
        }
        self.reservations()?;
        if self.month.is_closed {
            self.settle()?;
        }
        Ok(())
    }

    fn machine(&mut self, run: &Run, from: usize, to: usize, hours: u64) -> Line {
        let (bill, work) = (self.bill, run.work);
        let region = &bill.offer.regions[work.region];
        let rate = list(work.machine, self.month.index).per_mille(region.price_level);
        let list = rate.times(hours);
        let (kind, billed, effective) = match work.term {
            Term::OnDemand => (Kind::OnDemand, list, list),
            Term::Spot => {
                let price = rate.per_mille(run.spot).times(hours);
                (Kind::Spot, price, price)
            }
            Term::Planned => (Kind::Planned, Amount::ZERO, rate.per_mille(PLAN_RATE).times(hours)),
            Term::Reserved => {
                let (amortized, recurring) = self.reserve(run, rate, hours);
                let mut both = amortized;
                both.add(recurring);
                (Kind::Reserved { amortized, recurring }, Amount::ZERO, both)
            }
        };
        Line {
            kind,
            from,
            to,
            account: work.account,
            zone: run.zone,
            machine: Some(work.machine),
            resource: run.resource,
            owner: run.owner,
            quantity: Amount::whole(hours),
            list_rate: rate,
            list,
            billed,
            effective,
            ..Line::empty(region)
        }
    }

    /// Books hours on the reservation of a machine; what they take from its upfront fee, and pay.
    fn reserve(&mut self, run: &Run, rate: Amount, hours: u64) -> (Amount, Amount) {
        let of_machine = |reservation: &Reservation| reservation.machine.name == run.work.machine.name;
        let at = self.bill.reservations.iter().position(of_machine).unwrap_or_default();
        self.reserved[at] += hours;
        let Reservation { amortized, recurring, .. } = self.bill.reservations[at];
        (rate.per_mille(amortized).times(hours), rate.per_mille(recurring).times(hours))
    }

    /// The savings plan's hour, and what of it no machine used.
    fn plan_fee(&mut self, hour: usize, used: Amount) -> io::Result<()> {
        let planned = u64::from(self.bill.planned[self.month.index]);
        let mut works = self.bill.works.iter().filter(|work| work.term == Term::Planned);
        let Some(machine) = works.next().map(|work| work.machine).filter(|_| planned > 0) else {
            return Ok(());
        };
        let commitment = list(machine, self.month.index).per_mille(PLAN_RATE).times(planned);
        self.take(&Line {
            kind: Kind::PlanFee { commitment, used },
            from: hour,
            to: hour + 1,
            list: commitment,
            billed: commitment,
            effective: commitment.minus(used),
            machine: Some(machine),
            ..Line::empty(&self.bill.offer.regions[0])
        })
    }

    /// What is stored and transferred on a day.
    fn stores(&mut self, from: usize) -> io::Result<()> {
        for (at, store) in self.bill.stores.iter().enumerate() {
            let quantity = self.quantity(store);
            let list_rate = store.goods.list();
            let cost = quantity.by(list_rate);
            if cost > Amount::ZERO {
                self.take(&Line {
                    from,
                    to: from + 24,
                    account: store.account,
                    goods: store.goods,
                    resource: lasting_id(self.bill.provider, store.goods.usage_type, at),
                    owner: store.team.map(owner_of_data),
                    quantity,
                    list_rate,
                    list: cost,
                    billed: cost,
                    effective: cost,
                    ..Line::empty(&self.bill.offer.regions[0])
                })?;
            }
        }
        Ok(())
    }

    /// A day's share of the month's amount, which grows from month to month, to a thousandth of a unit.
    fn quantity(&self, store: &Store) -> Amount {
        let last = super::organization::MONTHS as u64 - 1;
        let grown = store.from * (last - self.month.index as u64) + store.to * self.month.index as u64;
        let days = self.month.hours as u64 / 24;
        Amount::new((grown * 1000 / last / days) as i64, 3)
    }

    /// Recurring fees, what of them and of the upfront fee goes unused, and that fee itself in the month in which
    /// units are bought.
    fn reservations(&mut self) -> io::Result<()> {
        for (at, reservation) in self.bill.reservations.iter().enumerate() {
            let units = u64::from(reservation.units[self.month.index]);
            if units == 0 {
                continue;
            }
            let rate = list(reservation.machine, self.month.index);
            let (amortized, recurring) =
                (rate.per_mille(reservation.amortized), rate.per_mille(reservation.recurring));
            // The fee is for the whole month from its start; what goes unused of it is known so far.
            let of_month = units * self.month.hours as u64;
            let hours = units * self.month.known as u64;
            let unused_hours = hours - self.reserved[at].min(hours);
            let whole_month = Line {
                to: self.month.hours,
                account: reservation.account,
                machine: Some(reservation.machine),
                ..Line::empty(&self.bill.offer.regions[0])
            };
            let rates = (amortized, recurring);
            self.take(&reservation_fee(&whole_month, units, of_month, unused_hours, rates))?;
            let before = self.month.index.checked_sub(1).map_or(0, |month| reservation.units[month]);
            let bought = units.saturating_sub(u64::from(before));
            if bought > 0 && reservation.amortized > 0 {
                self.take(&reservation_upfront(&whole_month, bought, amortized))?;
            }
        }
        Ok(())
    }

    /// What comes with the invoice.
    fn settle(&mut self) -> io::Result<()> {
        let spent = self.by_account.clone();
        let mut total = Amount::ZERO;
        for amount in &spent {
            total.add(*amount);
        }
        if self.bill.support > 0 {
            self.once(Kind::Support, 0, total.per_mille(self.bill.support))?;
        }
        // Azure's exports hold neither tax nor credits, and the specialty cloud grants none.
        let has_credits = matches!(self.bill.format, Format::AwsCur | Format::GcpBilling);
        if has_credits && self.month.index < 6 {
            self.once(Kind::Credit, 0, Amount::new(-self.bill.credit, 0))?;
        }
        if self.bill.format == Format::GcpBilling {
            let mut total = Amount::ZERO;
            self.by_account.iter().for_each(|amount| total.add(*amount));
            return self.once(Kind::Tax, 0, total.per_mille(TAX));
        }
        if self.bill.format != Format::AwsCur {
            return Ok(());
        }
        if self.month.index == super::CORRECTED {
            self.once(Kind::Refund, 2, spent[2].per_mille(120).negative())?;
        }
        for (account, amount) in spent.into_iter().enumerate() {
            self.once(Kind::Discount, account, amount.per_mille(DISCOUNT).negative())?;
            self.once(Kind::Tax, account, amount.per_mille(1000 - DISCOUNT).per_mille(TAX))?;
        }
        Ok(())
    }

    fn once(&mut self, kind: Kind, account: usize, amount: Amount) -> io::Result<()> {
        self.take(&Line {
            kind,
            to: self.month.hours,
            account,
            billed: amount,
            effective: amount,
            ..Line::empty(&self.bill.offer.regions[0])
        })
    }

    fn take(&mut self, line: &Line) -> io::Result<()> {
        self.by_account[line.account].add(line.billed);
        self.writer.write(line)
    }
}

/// Data is tagged by scripts: always, and for the team only.
fn owner_of_data(team: &'static Team) -> Owner {
    Owner {
        team: team.name,
        project: "datasets",
        environment: "prod",
        workload: "storage",
        cost_center: team.cost_center,
        ..Owner::default()
    }
}
