//! Writing a computed bill.

use chrono::{DateTime, Utc};

use super::{CORRECTION, ComputedBill, UNUSED, columns, hours};
use crate::billing::charge::{ChargeCategory, ChargeKey};
use crate::money::Decimal;
use crate::period::{BillingMonth, ChargePeriod};

/// What is added to or taken from what a key of a bill costs.
#[derive(Clone, Copy, Debug)]
pub struct ComputedCharge<'a> {
    /// Of the bill, but for its category: what is computed belongs to whom that belongs to.
    pub key: &'a ChargeKey,
    pub category: ChargeCategory,
    pub resource_id: &'a str,
    /// A JSON object of names and values.
    pub tags: &'a str,
    pub period: ChargePeriod,
    pub costs: Costs,
    /// In units of the key, of what was paid for; negative where it is another's.
    pub quantity: Option<Decimal>,
    /// What each hour of the day of its period has of the quantity; empty: it is spread evenly over the period.
    pub hours: &'a [(u8, Decimal)],
    /// For people who look at the row: why it is there.
    pub why: &'a str,
}

/// What is added to each cost of FOCUS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    pub billed: Decimal,
    pub effective: Decimal,
    pub list: Decimal,
    pub contracted: Decimal,
}

impl Costs {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            billed: self.billed + other.billed,
            effective: self.effective + other.effective,
            list: self.list + other.list,
            contracted: self.contracted + other.contracted,
        }
    }

    #[must_use]
    pub fn negative(self) -> Self {
        Self {
            billed: -self.billed,
            effective: -self.effective,
            list: -self.list,
            contracted: -self.contracted,
        }
    }

    pub fn is_zero(&self) -> bool {
        [self.billed, self.effective, self.list, self.contracted].iter().all(Decimal::is_zero)
    }
}

/// The file of what is computed of an account's month, written row by row.
pub struct ComputedFile {
    rows: csv::Writer<Vec<u8>>,
    billing_period: [String; 2],
    invoice: String,
}

impl ComputedFile {
    /// `is_final`: the bill has its invoices, so that what follows from it is final, too.
    pub fn new(bill: ComputedBill, month: BillingMonth, is_final: bool) -> Self {
        let mut file = Self {
            rows: csv::Writer::from_writer(Vec::new()),
            billing_period: [month.days().start, month.days().end].map(|day| format!("{day}T00:00:00Z")),
            invoice: if is_final { format!("{}-{month}", bill.name()) } else { String::new() },
        };
        file.record(columns::of(bill));
        file
    }

    pub fn write(&mut self, row: &ComputedCharge<'_>) {
        let ComputedCharge { key, category, resource_id, tags, period, costs, quantity, hours, why } = row;
        let time = |at: DateTime<Utc>| at.format("%Y-%m-%dT%H:%M:%SZ").to_string();
        let [billed, effective, list, contracted] =
            [costs.billed, costs.effective, costs.list, costs.contracted].map(|cost| cost.to_string());
        let [from, until] = self.billing_period.clone();
        let invoice = self.invoice.clone();
        let (start, end) = (time(period.start), time(period.end));
        let class = if key.is_correction { CORRECTION } else { "" };
        let status = if key.is_unused_commitment { UNUSED } else { "" };
        let quantity = quantity.map_or_else(String::new, |it| it.to_string());
        self.record([
            &key.provider,
            &key.billing_account,
            &key.sub_account,
            &key.currency,
            &from,
            &until,
            &start,
            &end,
            category.as_str(),
            why,
            &billed,
            &effective,
            &list,
            &contracted,
            &quantity,
            &hours::text(hours),
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
        ]);
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
