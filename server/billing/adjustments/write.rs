//! Writing a bill of adjustments.

use chrono::{DateTime, Utc};

use super::columns::COLUMNS;
use super::{CORRECTION, UNUSED};
use crate::billing::charge::ChargeKey;
use crate::money::Decimal;
use crate::period::{BillingMonth, ChargePeriod};

/// What is added to or taken from what a key of a bill costs.
#[derive(Clone, Copy, Debug)]
pub struct AdjustmentRow<'a> {
    /// Of the bill, whatever its category: the adjustment belongs to whom that belongs to.
    pub key: &'a ChargeKey,
    pub resource_id: &'a str,
    /// A JSON object of names and values.
    pub tags: &'a str,
    pub period: ChargePeriod,
    pub costs: AdjustmentCosts,
    /// For people who look at the row: which adjustment it is.
    pub why: &'a str,
}

/// What an adjustment adds to each cost of FOCUS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdjustmentCosts {
    pub billed: Decimal,
    pub effective: Decimal,
    pub list: Decimal,
    pub contracted: Decimal,
}

impl AdjustmentCosts {
    pub fn is_zero(&self) -> bool {
        [self.billed, self.effective, self.list, self.contracted].iter().all(Decimal::is_zero)
    }
}

/// The file of an account's month, written row by row.
pub struct AdjustmentsFile {
    rows: csv::Writer<Vec<u8>>,
    billing_period: [String; 2],
    invoice: String,
}

impl AdjustmentsFile {
    /// `is_final`: the bill has its invoices, so that what follows from it is final, too.
    pub fn new(month: BillingMonth, is_final: bool) -> Self {
        let mut file = Self {
            rows: csv::Writer::from_writer(Vec::new()),
            billing_period: [month.days().start, month.days().end].map(|day| format!("{day}T00:00:00Z")),
            invoice: if is_final { format!("adjustments-{month}") } else { String::new() },
        };
        file.record(COLUMNS.iter().map(|(name, _)| *name));
        file
    }

    pub fn write(&mut self, row: &AdjustmentRow<'_>) {
        let AdjustmentRow { key, resource_id, tags, period, costs, why } = row;
        let time = |at: DateTime<Utc>| at.format("%Y-%m-%dT%H:%M:%SZ").to_string();
        let [billed, effective, list, contracted] =
            [costs.billed, costs.effective, costs.list, costs.contracted].map(|cost| cost.to_string());
        let [from, until] = self.billing_period.clone();
        let invoice = self.invoice.clone();
        let (start, end) = (time(period.start), time(period.end));
        let class = if key.is_correction { CORRECTION } else { "" };
        let status = if key.is_unused_commitment { UNUSED } else { "" };
        let cells: [&str; COLUMNS.len()] = [
            &key.provider,
            &key.billing_account,
            &key.sub_account,
            &key.currency,
            &from,
            &until,
            &start,
            &end,
            "Adjustment",
            why,
            &billed,
            &effective,
            &list,
            &contracted,
            &invoice,
            &key.service,
            &key.service_category,
            &key.sku,
            &key.meter,
            &key.instance_type,
            &key.stated_accelerators,
            &key.unit,
            &key.region,
            resource_id,
            key.pricing.as_str(),
            &key.commitment_discount_id,
            status,
            class,
            tags,
        ];
        self.record(cells);
    }

    fn record<'a>(&mut self, cells: impl IntoIterator<Item = &'a str>) {
        #[expect(
            clippy::expect_used,
            reason = "each row has as many cells as the header, and memory takes them all"
        )]
        self.rows.write_record(cells).expect("rows are written to memory");
    }

    /// What was written since this was asked last.
    pub fn take(&mut self) -> Vec<u8> {
        let written = std::mem::replace(&mut self.rows, csv::Writer::from_writer(Vec::new()));
        // Memory takes what is left.
        written.into_inner().unwrap_or_default()
    }
}
