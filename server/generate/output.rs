//! Where rows go: one file or several, in order or in none, and the sums of what was written.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::amount::Amount;
use super::container::{self, Destination, WriteRows};
use super::line::Line;
use super::scatter::Scatter;
use super::table::{Cells, Table};
use super::world::{ACCOUNTS, Offer};
use super::{Container, Plan, Totals};
use crate::accelerator::{PARTS, recognize};
use crate::billing::{ChargeKey, canonical_provider};
use crate::money::Decimal;

/// Opens the file of a number, from 1.
pub type Open<'a> = Box<dyn FnMut(u64) -> io::Result<Destination<'a>> + 'a>;

/// The one file that all rows go to.
pub(crate) fn only(out: &mut (impl Write + Send)) -> Open<'_> {
    let mut out = Some(out);
    Box::new(move |_| match out.take() {
        Some(out) => Ok(Box::new(out)),
        None => Err(io::Error::other("there is only one file")),
    })
}

/// What every format needs to write rows: the plan's texts, ready made, and the destination.
pub(crate) struct Output<'a> {
    files: Files<'a>,
    /// Where rows wait that are in no order.
    scatter: Option<Scatter>,
    /// The cells of the row that is being written.
    pub(crate) cells: Cells,
    pub(crate) seed: u64,
    pub(crate) container: Container,
    /// `2026-09-01T00:00:00Z` and so on, one an hour, the end of the month included.
    pub(crate) stamps: Vec<[u8; 20]>,
    pub(crate) provider: String,
    pub(crate) currency: String,
    pub(crate) billing_account: String,
    /// As long as nobody gave others, made up by the rules of AWS.
    pub(crate) accounts: Vec<String>,
    are_accounts_given: bool,
    pub(crate) account_names: Vec<String>,
    pub(crate) billing_account_name: String,
    pub(crate) invoice_id: String,
    pub(crate) plan_arn: String,
    /// Ends where the machine's name follows.
    pub(crate) reservation_arn: String,
    rows: u64,
    billed: Amount,
    effective: Amount,
    list: Amount,
    /// Quantity of each machine, in hours.
    hours: BTreeMap<&'static str, Amount>,
    /// Effective cost by the tag `team`, where somebody asks.
    teams: Option<BTreeMap<&'static str, Amount>>,
}

/// The files that rows are written to, one after the other.
struct Files<'a> {
    open: Open<'a>,
    table: Table,
    container: Container,
    current: Option<Box<dyn WriteRows + 'a>>,
    opened: u64,
    /// Rows of the current file, and those of a whole one.
    rows: u64,
    rows_each: u64,
}

impl<'a> Output<'a> {
    /// [`Self::begin`] comes before the first row.
    pub(crate) fn new(plan: &Plan, provider: &str, offer: &Offer, open: Open<'a>) -> io::Result<Self> {
        let region = offer.regions[0].id;
        let account: String = plan.billing_account.chars().filter(char::is_ascii_alphanumeric).collect();
        Ok(Self {
            files: Files {
                open,
                table: Table::default(),
                container: plan.container,
                current: None,
                opened: 0,
                rows: 0,
                rows_each: match plan.files {
                    0 | 1 => u64::MAX,
                    files => plan.rows.div_ceil(u64::from(files)).max(1),
                },
            },
            scatter: plan.is_fleet.then(|| Scatter::new(plan.seed ^ 0x5ca7)).transpose()?,
            cells: Cells::default(),
            seed: plan.seed,
            container: plan.container,
            stamps: stamps(plan),
            provider: provider.to_owned(),
            currency: plan.currency.as_str().to_owned(),
            billing_account: plan.billing_account.clone(),
            accounts: (0..ACCOUNTS).map(|at| sub_account(&plan.billing_account, at)).collect(),
            are_accounts_given: false,
            account_names: (0..ACCOUNTS).map(|at| format!("account-{}", at + 1)).collect(),
            billing_account_name: "Demonstration Organization".to_owned(),
            invoice_id: plan.invoice_id.clone().unwrap_or_default(),
            plan_arn: format!(
                "arn:aws:savingsplans::{account}:savingsplan/6a0c3f52-91d4-4a7e-8d10-2c7c9e0b41f7"
            ),
            reservation_arn: match &*canonical_provider(provider) {
                "Microsoft" => "/providers/Microsoft.Capacity/reservationOrders/5d0e1f7a-".to_owned(),
                _ => format!("arn:aws:ec2:{region}:{account}:reserved-instances/5d0e1f7a-"),
            },
            rows: 0,
            billed: Amount::ZERO,
            effective: Amount::ZERO,
            list: Amount::ZERO,
            hours: BTreeMap::new(),
            teams: None,
        })
    }

    /// Gives the accounts other ids and names, and sums up what each team costs.
    pub(crate) fn of_teams(mut self, name: &str, accounts: &[(&str, &str)]) -> Self {
        self.teams = Some(BTreeMap::new());
        self.are_accounts_given = true;
        name.clone_into(&mut self.billing_account_name);
        self.accounts = accounts.iter().map(|(id, _)| (*id).to_owned()).collect();
        self.account_names = accounts.iter().map(|(_, name)| (*name).to_owned()).collect();
        self
    }

    /// Makes up the ids of accounts by another rule, from 1 on, unless they were given.
    pub(crate) fn make_accounts(&mut self, id: impl Fn(u64) -> String) {
        if !self.are_accounts_given {
            self.accounts = (1..=self.accounts.len() as u64).map(id).collect();
        }
    }

    /// Opens the first file.
    pub(crate) fn begin(&mut self, table: Table) -> io::Result<()> {
        self.files.table = table;
        self.files.next()
    }

    /// Adds a written row to the sums. `counts`: whether its quantity is time of its machine.
    pub(crate) fn tally(
        &mut self,
        line: &Line,
        counts: bool,
        billed: Amount,
        effective: Amount,
        list: Amount,
    ) {
        self.rows += 1;
        self.billed.add(billed);
        self.effective.add(effective);
        self.list.add(list);
        if let Some(teams) = &mut self.teams {
            let owner = line.owner.filter(|owner| line.kind.is_usage() && !owner.is_capital);
            teams.entry(owner.map_or("", |owner| owner.team)).or_default().add(effective);
        }
        let counts = counts && line.kind.runs();
        if let Some(machine) = line.machine.filter(|machine| counts && !machine.accelerators.is_empty()) {
            self.hours.entry(machine.name).or_default().add(line.quantity);
        }
    }

    /// The row in [`Self::cells`] is whole; the next one begins.
    pub(crate) fn end_row(&mut self) -> io::Result<()> {
        match &mut self.scatter {
            Some(scatter) => scatter.write(&self.cells)?,
            None => self.files.row(&self.cells)?,
        }
        self.cells.clear();
        Ok(())
    }

    pub(crate) fn finish(mut self) -> io::Result<Totals> {
        if let Some(scatter) = self.scatter.take() {
            scatter.finish(|cells| self.files.row(cells))?;
        }
        let files = self.files.opened;
        self.files.end()?;
        let mut part_hours: BTreeMap<&'static str, Decimal> = BTreeMap::new();
        for (machine, hours) in &self.hours {
            let key = ChargeKey {
                provider: canonical_provider(&self.provider).into_owned(),
                instance_type: (*machine).to_owned(),
                unit: "Hours".to_owned(),
                ..ChargeKey::default()
            };
            if let Some(found) = recognize(&key) {
                *part_hours.entry(found.model.name).or_insert(Decimal::ZERO) +=
                    hours.to_decimal().times(found.per_unit.parts());
            }
        }
        let exact = |parts: Decimal| parts.divide(Decimal::from(PARTS), 12).unwrap_or(Decimal::ZERO);
        Ok(Totals {
            files,
            rows: self.rows,
            billed: self.billed.to_decimal(),
            effective: self.effective.to_decimal(),
            list: self.list.to_decimal(),
            accelerator_hours: part_hours.into_iter().map(|(model, parts)| (model, exact(parts))).collect(),
            teams: self.teams.into_iter().flatten().map(|(team, cost)| (team, cost.to_decimal())).collect(),
        })
    }
}

impl Files<'_> {
    fn next(&mut self) -> io::Result<()> {
        self.end()?;
        self.opened += 1;
        let out = (self.open)(self.opened)?;
        self.current = Some(container::begin(self.container, &self.table, out)?);
        self.rows = 0;
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.current.take().map_or(Ok(()), WriteRows::finish)
    }

    fn row(&mut self, cells: &Cells) -> io::Result<()> {
        if self.rows == self.rows_each {
            self.next()?;
        }
        self.rows += 1;
        self.current.as_mut().map_or(Ok(()), |file| file.row(cells))
    }
}

/// Every hour of the month and its end.
fn stamps(plan: &Plan) -> Vec<[u8; 20]> {
    let days = plan.month.days();
    let mut stamps = Vec::new();
    for day in days.start.iter_days().take_while(|day| *day < days.end) {
        stamps.extend((0..24).map(|hour| stamp(&format!("{day}T{hour:02}:00:00Z"))));
    }
    stamps.push(stamp(&format!("{}T00:00:00Z", days.end)));
    stamps
}

fn stamp(text: &str) -> [u8; 20] {
    text.as_bytes().try_into().unwrap_or(*b"0000-00-00T00:00:00Z")
}

/// Accounts under the billing account: twelve digits like it on AWS, one of them with a leading zero.
fn sub_account(billing_account: &str, at: usize) -> String {
    match billing_account.parse::<u64>() {
        Ok(number) if billing_account.len() == 12 => {
            let digits = number.wrapping_add((at as u64 + 1) * 104_729_000_017) % 1_000_000_000_000;
            if at == 3 { format!("0{:011}", digits % 100_000_000_000) } else { format!("{digits:012}") }
        }
        _ => format!("{billing_account}-{:02}", at + 1),
    }
}
