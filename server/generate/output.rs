//! Where rows go: a buffer that is flushed as it fills, and the sums of what was written.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::amount::{Amount, write_cell, write_padded};
use super::line::{Line, Owner};
use super::scatter::Scatter;
use super::world::{ACCOUNTS, Offer};
use super::{Plan, Totals};
use crate::accelerator::{PARTS, recognize};
use crate::billing::{ChargeKey, canonical_provider};
use crate::money::Decimal;

const FLUSH_AT: usize = 1 << 16;

/// What every format needs to write rows: the plan's texts, ready made, and the destination.
pub(crate) struct Output<'a, W: Write> {
    out: &'a mut W,
    /// Where rows go that are in no order.
    scatter: Option<Scatter>,
    /// Rows that are not flushed yet.
    pub(crate) row: Vec<u8>,
    pub(crate) seed: u64,
    /// `2026-09-01T00:00:00Z` and so on, one an hour, the end of the month included.
    pub(crate) stamps: Vec<[u8; 20]>,
    pub(crate) provider: String,
    /// This and the next three are cells, quoted where they must be.
    pub(crate) currency: String,
    pub(crate) billing_account: String,
    pub(crate) accounts: Vec<String>,
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
}

impl<'a, W: Write> Output<'a, W> {
    pub(crate) fn new(plan: &Plan, provider: &str, offer: &Offer, out: &'a mut W) -> io::Result<Self> {
        let region = offer.regions[0].id;
        let account: String = plan.billing_account.chars().filter(char::is_ascii_alphanumeric).collect();
        Ok(Self {
            out,
            scatter: plan.is_fleet.then(|| Scatter::new(plan.seed ^ 0x5ca7)).transpose()?,
            row: Vec::with_capacity(FLUSH_AT + 4096),
            seed: plan.seed,
            stamps: stamps(plan),
            provider: provider.to_owned(),
            currency: cell(plan.currency.as_str()),
            billing_account: cell(&plan.billing_account),
            accounts: (0..ACCOUNTS).map(|at| cell(&sub_account(&plan.billing_account, at))).collect(),
            account_names: (0..ACCOUNTS).map(|at| format!("account-{}", at + 1)).collect(),
            billing_account_name: "Demonstration Organization".to_owned(),
            invoice_id: cell(plan.invoice_id.as_deref().unwrap_or_default()),
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
        })
    }

    /// Gives the accounts other ids and names.
    pub(crate) fn with_accounts(mut self, name: &str, accounts: &[(&str, &str)]) -> Self {
        self.billing_account_name = cell(name);
        self.accounts = accounts.iter().map(|(id, _)| cell(id)).collect();
        self.account_names = accounts.iter().map(|(_, name)| cell(name)).collect();
        self
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
        let counts = counts && line.kind.runs();
        if let Some(machine) = line.machine.filter(|machine| counts && !machine.accelerators.is_empty()) {
            self.hours.entry(machine.name).or_default().add(line.quantity);
        }
    }

    pub(crate) fn end_header(&mut self) -> io::Result<()> {
        self.out.write_all(&self.row)?;
        self.row.clear();
        Ok(())
    }

    pub(crate) fn end_row(&mut self) -> io::Result<()> {
        if let Some(scatter) = &mut self.scatter {
            scatter.write(&self.row)?;
        } else if self.row.len() >= FLUSH_AT {
            self.out.write_all(&self.row)?;
        } else {
            return Ok(());
        }
        self.row.clear();
        Ok(())
    }

    pub(crate) fn finish(self) -> io::Result<Totals> {
        match self.scatter {
            Some(scatter) => scatter.finish(self.out)?,
            None => self.out.write_all(&self.row)?,
        }
        self.out.flush()?;
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
            rows: self.rows,
            billed: self.billed.to_decimal(),
            effective: self.effective.to_decimal(),
            list: self.list.to_decimal(),
            accelerator_hours: part_hours.into_iter().map(|(model, parts)| (model, exact(parts))).collect(),
        })
    }
}

impl Owner {
    /// `exp-0042`.
    pub(crate) fn write_experiment(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.series.as_bytes());
        out.push(b'-');
        write_padded(out, u64::from(self.experiment), if self.experiment > 9999 { 7 } else { 4 });
    }
}

/// A text as the cell it becomes.
fn cell(text: &str) -> String {
    let mut out = Vec::new();
    write_cell(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
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
