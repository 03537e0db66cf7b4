//! Bills that this product computes from bills, and imports beside them: what adjusts a bill (discounts, markups, minimums, internal
//! prices), and what divides the charges of its machines among those who used them. They are written and read here, so that what is
//! read is what was computed.
//!
//! | what | rule |
//! |---|---|
//! | key | that of the charge that is adjusted or divided; of adjustments with the category Adjustment: rules and filters find both alike |
//! | tags | those of that charge; of a part of it, also what is known of who used it |
//! | account | that of the bill; the scope is one of its own ([`ScopeOf`]), so that the bill agrees with its invoices |
//! | quantity | of adjustments none; what is divided counts once: what users have is taken from the machine |
//! | accumulation | the whole month of an account |

mod billed_day;
mod columns;
mod hours;
pub mod usage_tags;
mod write;

use super::billing_period::BillingPeriod;
use super::charge::{Charge, ChargeCategory, PricingCategory, ScopeOf};
use super::date_order::DateColumns;
use super::header::{Columns, Header};
use super::json;
use super::row::{Column, Outcome, Problem, ReadRow, Row};
use super::value::TimeColumn;
use super::{Format, Guide, Mandatory};

pub use billed_day::BilledDay;
pub use write::{ComputedCharge, ComputedFile, Costs};

use crate::enum_words::words;

/// FOCUS CommitmentDiscountStatus.
const UNUSED: &str = "Unused";
/// FOCUS ChargeClass.
const CORRECTION: &str = "Correction";

words! {
    /// What is computed from a bill.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ComputedBill: name, label, why {
        Adjustments = "adjustments", "Adjustments", "x_GpuledgerAdjustment";
        Usage = "usage", "Costs by use", "x_GpuledgerUsage";
    }
}

impl ComputedBill {
    /// Where what it follows from is entered.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Adjustments => "the bill itself: what adjusts it is entered at Imports, Adjustments",
            Self::Usage => {
                "the bill itself, and the files of the scheduler or meter that knows who used its machines"
            }
        }
    }

    fn scope(self) -> ScopeOf {
        match self {
            Self::Adjustments => ScopeOf::Adjustments,
            Self::Usage => ScopeOf::Usage,
        }
    }

    fn mandatory(self) -> &'static [Mandatory] {
        match self {
            Self::Adjustments => ADJUSTMENTS,
            Self::Usage => USAGE,
        }
    }
}

const ADJUSTMENTS: &[Mandatory] =
    &mandatory(Mandatory { name: "x_GpuledgerAdjustment", keys: &["gpuledgeradjustment"] });
const USAGE: &[Mandatory] = &mandatory(Mandatory { name: "x_GpuledgerUsage", keys: &["gpuledgerusage"] });

/// What marks a row as computed here, and what every row has.
const fn mandatory(why: Mandatory) -> [Mandatory; 11] {
    [
        why,
        Mandatory { name: "ProviderName", keys: &["providername"] },
        Mandatory { name: "BillingAccountId", keys: &["billingaccountid"] },
        Mandatory { name: "BillingCurrency", keys: &["billingcurrency"] },
        Mandatory { name: "BillingPeriodStart", keys: &["billingperiodstart"] },
        Mandatory { name: "ChargePeriodStart", keys: &["chargeperiodstart"] },
        Mandatory { name: "ChargePeriodEnd", keys: &["chargeperiodend"] },
        Mandatory { name: "BilledCost", keys: &["billedcost"] },
        Mandatory { name: "EffectiveCost", keys: &["effectivecost"] },
        Mandatory { name: "ListCost", keys: &["listcost"] },
        Mandatory { name: "ContractedCost", keys: &["contractedcost"] },
    ]
}

pub(super) struct Computed(pub ComputedBill);

impl Format for Computed {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn label(&self) -> &'static str {
        self.0.label()
    }

    fn computed(&self) -> Option<ComputedBill> {
        Some(self.0)
    }

    /// Nobody exports it elsewhere.
    fn guides(&self) -> &'static [Guide] {
        &[]
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        self.0.mandatory()
    }

    fn has_its_columns(&self, header: &Header) -> bool {
        self.0.mandatory()[0].is_in(header)
    }

    fn maps(&self) -> &'static [&'static str] {
        &["tags"]
    }

    fn names(&self) -> Vec<&'static str> {
        columns::KNOWN.names()
    }

    fn billed_columns(&self) -> Vec<Vec<&str>> {
        vec![vec!["billedcost"]]
    }

    fn columns(&self, header: &Header) -> Columns {
        columns::KNOWN.columns(header)
    }

    fn feeds(&self, key: &str) -> Option<&'static str> {
        columns::KNOWN.feeds(key)
    }

    fn reader(&self, header: &Header) -> Box<dyn ReadRow + Send> {
        Box::new(Reader::new(self.0, header))
    }
}

struct Reader {
    bill: ComputedBill,
    at: At,
    period: [TimeColumn; 2],
    billing_period: BillingPeriod,
    last_needed: usize,
    key_columns: Vec<usize>,
    scratch: Vec<u8>,
}

/// Where the columns are.
struct At {
    period: [Column; 2],
    category: Column,
    costs: [Column; 4],
    quantity: Column,
    hours: Column,
    invoice: Column,
    resource: Column,
    provider: Column,
    account: Column,
    sub_account: Column,
    currency: Column,
    service: Column,
    service_category: Column,
    sku: Column,
    meter: Column,
    machine: Column,
    accelerators: Column,
    unit: Column,
    region: Column,
    pricing: Column,
    commitment: Column,
    commitment_status: Column,
    class: Column,
    tags: Column,
}

impl Reader {
    fn new(bill: ComputedBill, header: &Header) -> Self {
        let at = At {
            period: [header.find("chargeperiodstart"), header.find("chargeperiodend")],
            costs: ["billedcost", "effectivecost", "listcost", "contractedcost"].map(|key| header.find(key)),
            category: header.find("chargecategory"),
            quantity: header.find("consumedquantity"),
            hours: header.find("gpuledgerhours"),
            invoice: header.find("invoiceid"),
            resource: header.find("resourceid"),
            provider: header.find("providername"),
            account: header.find("billingaccountid"),
            sub_account: header.find("subaccountid"),
            currency: header.find("billingcurrency"),
            service: header.find("servicename"),
            service_category: header.find("servicecategory"),
            sku: header.find("skuid"),
            meter: header.find("skumeter"),
            machine: header.find("instancetype"),
            accelerators: header.find("accelerators"),
            unit: header.find("consumedunit"),
            region: header.find("regionid"),
            pricing: header.find("pricingcategory"),
            commitment: header.find("commitmentdiscountid"),
            commitment_status: header.find("commitmentdiscountstatus"),
            class: header.find("chargeclass"),
            tags: header.find("tags"),
        };
        let key_columns = [
            at.provider,
            at.account,
            at.sub_account,
            at.currency,
            at.category,
            at.service,
            at.service_category,
            at.sku,
            at.meter,
            at.machine,
            at.accelerators,
            at.unit,
            at.region,
            at.pricing,
            at.commitment,
            at.commitment_status,
            at.class,
            at.tags,
        ];
        Self {
            bill,
            period: Default::default(),
            billing_period: BillingPeriod::new(
                header.find("billingperiodstart"),
                header.find("billingperiodend"),
            ),
            last_needed: Mandatory::last(bill.mandatory(), header),
            key_columns: key_columns.into_iter().flatten().collect(),
            at,
            scratch: Vec::new(),
        }
    }
}

impl ReadRow for Reader {
    fn last_needed(&self) -> usize {
        self.last_needed
    }

    fn dates(&self) -> DateColumns {
        self.billing_period.dates(self.at.period)
    }

    fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    fn read(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem> {
        let at = &self.at;
        charge.scope = self.bill.scope();
        charge.period = row.period(at.period, &mut self.period)?;
        charge.billing_month = self.billing_period.month(&row)?;
        let [billed, effective, list, contracted] = at.costs;
        charge.billed_cost = row.needed_amount(billed)?;
        charge.effective_cost = row.needed_amount(effective)?;
        charge.list_cost = row.needed_amount(list)?;
        charge.contracted_cost = row.needed_amount(contracted)?;
        charge.consumed_quantity = row.amount(at.quantity)?;
        charge.is_metered = charge.consumed_quantity.is_some();
        if !hours::read(row.word(at.hours), &mut charge.hours) {
            return Err(row.problem(at.hours, "hours of a day, each with a quantity: 9:2.5 10:8"));
        }
        row.verbatim(at.invoice, &mut charge.invoice_id)?;
        row.verbatim(at.resource, &mut charge.resource_id)?;
        Ok(Outcome::Charge)
    }

    fn key(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let Self { at, scratch, .. } = self;
        let key = &mut charge.key;
        for (column, text) in [
            (at.provider, &mut key.provider),
            (at.account, &mut key.billing_account),
            (at.sub_account, &mut key.sub_account),
            (at.currency, &mut key.currency),
            (at.service, &mut key.service),
            (at.service_category, &mut key.service_category),
            (at.sku, &mut key.sku),
            (at.meter, &mut key.meter),
            (at.machine, &mut key.instance_type),
            (at.accelerators, &mut key.stated_accelerators),
            (at.unit, &mut key.unit),
            (at.region, &mut key.region),
            (at.commitment, &mut key.commitment_discount_id),
        ] {
            row.verbatim(column, text)?;
        }
        let category = row.word(at.category);
        key.category = ChargeCategory::ALL
            .into_iter()
            .find(|it| it.as_str().as_bytes() == category)
            .ok_or_else(|| row.problem(at.category, "a charge category of FOCUS"))?;
        key.is_correction = row.word(at.class) == CORRECTION.as_bytes();
        let pricing = row.word(at.pricing);
        key.pricing = PricingCategory::ALL
            .into_iter()
            .find(|it| it.as_str().as_bytes() == pricing)
            .ok_or_else(|| row.problem(at.pricing, "a pricing category of FOCUS, or Owned"))?;
        key.is_unused_commitment = row.word(at.commitment_status) == UNUSED.as_bytes();
        if !json::each(row.cell(at.tags, scratch), |name, value| charge.tags.set(name, value)) {
            return Err(row.problem(at.tags, "a JSON object of names and values"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;
    use crate::billing::{self, ChargeKey, Step};
    use crate::money::Decimal;
    use crate::period::{BillingMonth, ChargePeriod};

    fn read(content: Vec<u8>, bill: ComputedBill) -> Vec<Charge> {
        let mut export =
            billing::open("a.csv", Cursor::new(content), &billing::ReadAs::computed(bill)).unwrap();
        assert_eq!(export.format().name(), bill.name());
        let (mut charges, mut charge) = (Vec::new(), Charge::default());
        while let Some(step) = export.next(&mut charge).unwrap() {
            assert_eq!(step, Step::Charge);
            charges.push(charge.clone());
        }
        charges
    }

    fn period(from: &str, until: &str) -> ChargePeriod {
        ChargePeriod { start: from.parse().unwrap(), end: until.parse().unwrap() }
    }

    #[test]
    fn nobody_imports_what_is_computed_here() {
        for (bill, expected) in [
            (ComputedBill::Adjustments, "adjustments that were computed here"),
            (ComputedBill::Usage, "costs by use that were computed here"),
        ] {
            let mut file = ComputedFile::new(bill, "2026-09".parse().unwrap(), true);
            let refused = billing::open("a.csv", Cursor::new(file.take()), &billing::ReadAs::any());
            let said = refused.err().unwrap().to_string();
            assert!(said.contains(expected), "{said}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(
            texts in prop::collection::vec("[ -~éñ日\n\"]{0,12}", 12),
            mantissas in prop::array::uniform4(any::<i64>()),
            scale in 0u8..30,
            tag in "[ -~é\n]{1,8}",
            is_unused in any::<bool>(),
            pricing in 0usize..6,
            of_usage in any::<bool>(),
            quantity in proptest::option::of(any::<i64>()),
            hours in proptest::collection::btree_map(0u8..24, any::<i64>(), 0..24),
        ) {
            let hours: Vec<_> =
                hours.into_iter().map(|(hour, it)| (hour, Decimal::new(i128::from(it), 6))).collect();
            let (bill, category) = if of_usage {
                (ComputedBill::Usage, ChargeCategory::Usage)
            } else {
                (ComputedBill::Adjustments, ChargeCategory::Adjustment)
            };
            let quantity = quantity.map(|it| Decimal::new(i128::from(it), 6));
            let text = |at: usize| texts[at].clone();
            let key = ChargeKey {
                provider: format!("p{}", text(0)),
                billing_account: format!("a{}", text(1)),
                sub_account: text(2),
                service: text(3),
                service_category: text(4),
                sku: text(5),
                meter: text(6),
                instance_type: text(7),
                stated_accelerators: text(8),
                unit: text(9),
                region: text(10),
                commitment_discount_id: text(11),
                currency: "EUR".to_owned(),
                pricing: PricingCategory::ALL[pricing],
                is_unused_commitment: is_unused,
                is_correction: is_unused,
                ..ChargeKey::default()
            };
            let [billed, effective, list, contracted] =
                mantissas.map(|it| Decimal::new(i128::from(it), scale));
            let mut file = ComputedFile::new(bill, "2026-09".parse().unwrap(), true);
            let row = ComputedCharge {
                key: &key,
                category,
                resource_id: "i-1, \"two\"",
                tags: &serde_json::json!({ "team": tag.as_str(), "=1+1": "x" }).to_string(),
                period: period("2026-09-03T00:00:00Z", "2026-09-04T00:00:00Z"),
                costs: Costs { billed, effective, list, contracted },
                quantity,
                hours: &hours,
                why: "Discount of 8%: contract, \"renewed\"",
            };
            file.write(&row);
            file.write(&ComputedCharge { period: period("2026-09-01T00:00:00Z", "2026-10-01T00:00:00Z"), ..row });
            let charges = read(file.take(), bill);
            prop_assert_eq!(charges.len(), 2);
            let charge = &charges[0];
            prop_assert_eq!(&charge.key, &ChargeKey { category, ..key });
            let costs = [charge.billed_cost, charge.effective_cost, charge.list_cost, charge.contracted_cost];
            prop_assert_eq!(costs, [billed, effective, list, contracted]);
            prop_assert_eq!(charge.tags.get("team"), Some(tag.as_str()));
            prop_assert_eq!(&charge.resource_id, "i-1, \"two\"");
            prop_assert_eq!(charge.billing_month, "2026-09".parse::<BillingMonth>().unwrap());
            prop_assert_eq!(charge.scope, bill.scope());
            prop_assert_eq!((charge.consumed_quantity, charge.is_metered), (quantity, quantity.is_some()));
            prop_assert_eq!(&charge.hours, &hours);
            prop_assert_eq!(&charge.invoice_id, &format!("{}-2026-09", bill.name()));
            prop_assert_eq!(charges.iter().map(|it| it.period.is_longer_than_a_day()).collect::<Vec<_>>(), [false, true]);
        }
    }
}
