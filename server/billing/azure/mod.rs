//! Azure cost and usage details, actual and amortized, as Cost Management exports them and the portal downloads them: for an
//! Enterprise Agreement (EA), a Microsoft Customer Agreement (MCA), partners (CSP) and pay-as-you-go, under old and new names.
//!
//! | what | rule |
//! |---|---|
//! | columns | by letters and digits alone; of a translated name the original in its last parentheses |
//! | account | `BillingAccountId` with `BillingProfileId`, in the form of Azure's FOCUS export; without one the subscription |
//! | sub account | the subscription, in lower case |
//! | billing month | the one that most of `BillingPeriodStartDate` to `BillingPeriodEndDate`, its last day, lies in; without them that of the day |
//! | day | `Date`, in UTC; dates with slashes have the month first where no row of the file proves an order |
//! | billed and effective cost | `CostInBillingCurrency`, `Cost` or `PreTaxCost`: both where a file stands alone |
//! | contracted cost | of usage `UnitPrice` × `Quantity`, else the cost |
//! | list cost | of usage `paygCostInBillingCurrency`, else `PayGPrice` × `Quantity`, else contracted cost |
//! | prices in another currency | × `exchangeRatePricingToBilling`; without it taken as not stated |
//! | quantity, unit | as they stand: the block that `UnitOfMeasure` names (`10 Hours`) multiplies nothing |
//! | `ChargeType` | `Usage`, `Purchase`, `Tax`, `Credit` as such; `Refund` an adjustment and a correction; `Unused…` usage of an unused commitment; `RoundingAdjustment` and what is not known an adjustment |
//! | `PricingModel` | `OnDemand` Standard, `Reservation` and `SavingsPlan` Committed, `Spot` Dynamic; without it by what covers the row and its meter's name |
//! | metered | usage with a quantity, covered or not; not what nobody used, nor refunds |
//! | commitment | `benefitId`, else `ReservationId`, in lower case |
//! | machine | `AdditionalInfo.ServiceType`, else a machine size in the texts of meter and product |
//! | SKU | `MeterId`, else `ProductId` |
//! | accumulation | the whole period: Azure rewrites the month with each run |
//!
//! Sources: Microsoft's *Understand the cost details fields* (names, meanings, ChargeType, PricingModel) and *Cost details FAQ*
//! for costs; FOCUS 1.2 for list and contracted cost; for quantities the real exports in Microsoft's FinOps toolkit, in which
//! quantity × effective price is the cost in every row, whatever the block.
//!
//! *Actual* cost has purchases on their day and usage that they cover for 0; *amortized* cost has none of these purchases, but
//! their cost spread over usage and rows of what nobody used. Which of them a file states is known behind its last row
//! ([`evidence`]).

mod charge_type;
mod columns;
mod costs;
mod evidence;
mod region;
mod service;

use chrono::{DateTime, TimeDelta, Utc};

use self::charge_type::{ChargeType, PricingModel};
use self::costs::Prices;
use self::evidence::{Evidence, Shows};
use super::account_id::{canonical_account, canonical_sub_account};
use super::billing_period::{BillingPeriod, month_of};
use super::charge::{Charge, ChargeKey, is_negation};
use super::currency::CurrencyColumn;
use super::date_order::{DateColumns, DateOrder};
use super::header::{Columns, Header};
use super::machine_cell::Machine;
use super::row::{Column, Outcome, Problem, ReadRow, Row};
use super::statement::Statement;
use super::value::TimeColumn;
use super::{Format, Guide, Mandatory, instance_type, json};
use crate::money::Decimal;
use crate::period::ChargePeriod;

pub(super) struct AzureUsage;

/// As [`canonical_provider`](super::canonical_provider) has it.
const PROVIDER: &str = "Microsoft";

static MANDATORY: &[Mandatory] = &[
    Mandatory { name: "Cost or CostInBillingCurrency", keys: columns::COST },
    Mandatory { name: "Date", keys: columns::DAY },
    Mandatory { name: "MeterCategory", keys: columns::METER_CATEGORY },
];

static GUIDES: &[Guide] = &[
    Guide {
        provider: "Microsoft Azure",
        export: "Cost and usage details (actual and amortized)",
        steps: "In Cost Management, under Exports, create one export of actual and one of amortized cost and usage details for your \
                billing account or billing profile. From its storage account, upload the files of the newest run of each together \
                with their manifest.json.",
        forms: "CSV (.gz) or Parquet",
    },
    Guide {
        provider: "Microsoft Azure",
        export: "Usage details of an invoice (EA, MCA)",
        steps: "In Cost Management + Billing, under Usage + charges or Invoices, choose the month and Prepare Azure usage file. \
                Download it and upload it as it is.",
        forms: "CSV (.zip)",
    },
    Guide {
        provider: "Microsoft Azure",
        export: "Usage file of a pay-as-you-go subscription",
        steps: "In the subscription, under Invoices, choose the billing period and download Azure usage. Upload it as it is.",
        forms: "CSV (.zip)",
    },
];

impl Format for AzureUsage {
    fn name(&self) -> &'static str {
        "azure-usage"
    }

    fn label(&self) -> &'static str {
        "Azure cost and usage details"
    }

    fn guides(&self) -> &'static [Guide] {
        GUIDES
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        MANDATORY
    }

    /// Names of meters are Azure's own.
    fn has_its_columns(&self, header: &Header) -> bool {
        header.has_any(&["metercategory", "metersubcategory", "metername"])
    }

    fn states_halves(&self) -> bool {
        true
    }

    fn maps(&self) -> &'static [&'static str] {
        &["tags", "additionalinfo"]
    }

    fn names(&self) -> Vec<&'static str> {
        columns::names()
    }

    fn billed_columns(&self) -> Vec<Vec<&str>> {
        vec![columns::COST.to_vec()]
    }

    fn columns(&self, header: &Header) -> Columns {
        columns::columns(header)
    }

    fn feeds(&self, key: &str) -> Option<&'static str> {
        columns::feeds(key)
    }

    fn feeds_by_name(&self, name: &str) -> Option<&'static str> {
        columns::feeds(&columns::key_in_file(name))
    }

    fn reader(&self, header: &Header) -> Box<dyn ReadRow + Send> {
        Box::new(Reader::new(header))
    }
}

struct Reader {
    at: At,
    prices: Prices,
    day: TimeColumn,
    billing_period: BillingPeriod,
    currency: CurrencyColumn,
    last_needed: usize,
    key_columns: Vec<usize>,
    details: Machine,
    evidence: Evidence,
    /// Which of the costs is taken from the file.
    half: Statement,
    scratch: Vec<u8>,
    text: String,
}

/// Where the columns are.
struct At {
    cost: Column,
    day: Column,
    period_start: Column,
    period_end: Column,
    account: Column,
    profile: Column,
    subscription: Column,
    currency: Column,
    charge_type: Column,
    pricing_model: Column,
    quantity: Column,
    unit: Column,
    commitments: Vec<usize>,
    invoice: Column,
    resource: Column,
    services: Vec<usize>,
    meter_category: Column,
    meter_sub_category: Column,
    meter_name: Column,
    product: Column,
    family: Column,
    skus: Vec<usize>,
    regions: Vec<usize>,
    additional_info: Column,
    tags: Column,
}

impl Reader {
    fn new(header: &Header) -> Self {
        let any = |keys: &[&str]| header.find_any(keys);
        let every =
            |keys: &[&str]| -> Vec<usize> { keys.iter().filter_map(|key| header.find(key)).collect() };
        let at = At {
            cost: any(columns::COST),
            day: any(columns::DAY),
            period_start: any(columns::PERIOD_START),
            period_end: any(columns::PERIOD_END),
            account: any(columns::ACCOUNT),
            profile: any(&["billingprofileid"]),
            subscription: any(columns::SUBSCRIPTION),
            currency: any(columns::CURRENCY),
            charge_type: any(&["chargetype"]),
            pricing_model: any(&["pricingmodel"]),
            quantity: any(columns::QUANTITY),
            unit: any(&["unitofmeasure"]),
            commitments: every(columns::COMMITMENT),
            invoice: any(&["invoiceid"]),
            resource: any(columns::RESOURCE),
            services: every(&["metercategory", "servicename", "consumedservice", "productname", "product"]),
            meter_category: any(columns::METER_CATEGORY),
            meter_sub_category: any(&["metersubcategory"]),
            meter_name: any(&["metername"]),
            product: any(columns::PRODUCT),
            family: any(&["servicefamily"]),
            skus: every(&["meterid", "productid"]),
            regions: every(columns::REGION),
            additional_info: any(&["additionalinfo"]),
            tags: any(&["tags"]),
        };
        let mut key_columns: Vec<usize> = [
            at.account,
            at.profile,
            at.subscription,
            at.currency,
            at.charge_type,
            at.pricing_model,
            at.unit,
            at.meter_category,
            at.meter_sub_category,
            at.meter_name,
            at.product,
            at.family,
            at.additional_info,
            at.tags,
        ]
        .into_iter()
        .flatten()
        .collect();
        for columns in [&at.commitments, &at.services, &at.skus, &at.regions] {
            key_columns.extend(columns);
        }
        Self {
            prices: Prices::new(header),
            day: TimeColumn::default(),
            billing_period: BillingPeriod::with_last_day(at.period_start, at.period_end),
            currency: CurrencyColumn::default(),
            last_needed: Mandatory::last(MANDATORY, header),
            key_columns,
            at,
            details: Machine::default(),
            evidence: Evidence::default(),
            half: Statement::Whole,
            scratch: Vec::new(),
            text: String::new(),
        }
    }
}

impl ReadRow for Reader {
    fn last_needed(&self) -> usize {
        self.last_needed
    }

    fn dates(&self) -> DateColumns {
        DateColumns { usual: DateOrder::MonthFirst, ..self.billing_period.dates([self.at.day, None]) }
    }

    fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    fn statement(&self) -> Statement {
        self.evidence.statement()
    }

    fn denies(&self, stated: Statement) -> bool {
        self.evidence.denies(stated)
    }

    fn take(&mut self, half: Statement) {
        self.half = half;
    }

    fn read(&mut self, mut row: Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem> {
        let Self { at, prices, day, billing_period, evidence, half, .. } = self;
        row.counted_in(at.currency);
        let cost = row.needed_amount(at.cost)?;
        let start = midnight(row.time(at.day, day)?);
        charge.period = ChargePeriod { start, end: start + TimeDelta::days(1) };
        charge.billing_month = if row.is_null(at.period_start) {
            month_of(&row, at.day, start)?
        } else {
            billing_period.month(&row)?
        };
        row.text(at.invoice, &mut charge.invoice_id)?;
        row.text(at.resource, &mut charge.resource_id)?;
        // Azure writes one resource in several spellings.
        charge.resource_id.make_ascii_lowercase();
        let kind = ChargeType::parse(row.word(at.charge_type));
        if kind == ChargeType::Other {
            row.remark("an unknown ChargeType is booked as an adjustment");
        }
        let quantity = match kind {
            ChargeType::Usage | ChargeType::Unused => row.quantity(at.quantity)?,
            _ => None,
        };
        if let Some(shown) = shows(at, &row, kind, (cost, quantity))
            && evidence.add(shown)
        {
            row.remark("purchases of commitments beside amortized usage: the file is taken for actual cost");
        }
        let compared = prices.compare(&mut row, at.currency, kind, (cost, quantity));
        if *half != Statement::Effective {
            charge.billed_cost = cost;
        }
        if *half != Statement::Billed {
            charge.effective_cost = cost;
            charge.contracted_cost = compared.contracted;
            charge.list_cost = compared.list;
            charge.consumed_quantity = quantity;
            charge.is_metered =
                kind == ChargeType::Usage && quantity.is_some_and(|quantity| !is_negation(cost, quantity));
        }
        Ok(Outcome::Charge)
    }

    fn key(&mut self, mut row: Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let Self { at, currency, details, scratch, text, .. } = self;
        let key = &mut charge.key;
        match at.currency {
            None => key.currency.push_str(columns::NO_CURRENCY),
            Some(_) => currency
                .read(row.word(at.currency), &mut key.currency)
                .map_err(|expected| row.problem(at.currency, expected))?,
        }
        key.provider.push_str(PROVIDER);
        accounts(&row, at, text, key)?;
        let kind = ChargeType::parse(row.word(at.charge_type));
        key.category = kind.category();
        key.is_correction = kind == ChargeType::Refund;
        key.is_unused_commitment = kind == ChargeType::Unused;
        for column in &at.commitments {
            if key.commitment_discount_id.is_empty() {
                row.text(Some(*column), &mut key.commitment_discount_id)?;
            }
        }
        // Azure writes one commitment in several spellings, too.
        key.commitment_discount_id.make_ascii_lowercase();
        names(&row, at, text, key)?;
        row.text(at.unit, &mut key.unit)?;
        machine(&row, at, details, (scratch, text), key)?;
        let is_covered = !key.commitment_discount_id.is_empty();
        let is_spot = [" Spot", " Low Priority"].iter().any(|end| key.meter.ends_with(end));
        key.pricing = PricingModel::parse(row.word(at.pricing_model)).category(kind, is_covered, is_spot);
        if at.tags.is_some() {
            let is_readable =
                json::each(row.cell(at.tags, scratch), |key, value| charge.tags.set(key, value));
            if !is_readable {
                row.remark("tags that are no JSON object are left out");
            }
        }
        Ok(())
    }
}

/// Azure states whole days, some with a time of day.
fn midnight(time: DateTime<Utc>) -> DateTime<Utc> {
    time.date_naive().and_time(chrono::NaiveTime::MIN).and_utc()
}

/// What a row shows of a commitment.
fn shows(
    at: &At,
    row: &Row<'_>,
    kind: ChargeType,
    (cost, quantity): (Decimal, Option<Decimal>),
) -> Option<Shows> {
    let is_of_commitment = PricingModel::parse(row.word(at.pricing_model)).is_commitment()
        || at.commitments.iter().any(|column| !row.is_null(Some(*column)));
    match kind {
        ChargeType::Unused => Some(Shows::Unused),
        ChargeType::Purchase | ChargeType::Refund if is_of_commitment => Some(Shows::Purchase),
        ChargeType::Usage if is_of_commitment && !cost.is_zero() => Some(Shows::PaidUsage),
        ChargeType::Usage if is_of_commitment && quantity.is_some_and(|quantity| !quantity.is_zero()) => {
            Some(Shows::FreeUsage)
        }
        _ => None,
    }
}

/// Who pays: the billing account with its profile, or where a file has none the subscription.
fn accounts(row: &Row<'_>, at: &At, text: &mut String, key: &mut ChargeKey) -> Result<(), Problem> {
    let column = if row.is_null(at.account) { at.subscription } else { at.account };
    text.clear();
    row.text(column, text)?;
    if text.is_empty() {
        return Err(row.problem(at.account.or(at.subscription), "a billing account or a subscription"));
    }
    let profile = std::str::from_utf8(row.word(at.profile)).unwrap_or_default();
    let profile = if row.is_null(at.profile) || row.is_null(at.account) { "" } else { profile };
    canonical_account(PROVIDER, text, profile, &mut key.billing_account)
        .map_err(|expected| row.problem(column, expected))?;
    text.clear();
    row.text(at.subscription, text)?;
    canonical_sub_account(PROVIDER, text, &mut key.sub_account)
        .map_err(|expected| row.problem(at.subscription, expected))
}

/// What stands for no name at all.
const UNASSIGNED: &str = "Unassigned";

/// Service, SKU and region.
fn names(row: &Row<'_>, at: &At, text: &mut String, key: &mut ChargeKey) -> Result<(), Problem> {
    let first = |columns: &[usize], out: &mut String| -> Result<(), Problem> {
        for column in columns {
            row.text(Some(*column), out)?;
            if !out.is_empty() && out != UNASSIGNED {
                return Ok(());
            }
            out.clear();
        }
        Ok(())
    };
    first(&at.services, &mut key.service)?;
    text.clear();
    row.text(at.family, text)?;
    key.service_category.push_str(service::category(&key.service, text));
    first(&at.skus, &mut key.sku)?;
    key.sku.make_ascii_lowercase();
    first(&at.regions, &mut key.region)?;
    region::canonical(&mut key.region);
    Ok(())
}

/// Machine and meter.
fn machine(
    row: &Row<'_>,
    at: &At,
    details: &mut Machine,
    (scratch, text): (&mut Vec<u8>, &mut String),
    key: &mut ChargeKey,
) -> Result<(), Problem> {
    row.text(at.meter_name, &mut key.meter)?;
    if key.meter.is_empty() || key.meter == UNASSIGNED {
        key.meter.clear();
        row.text(at.meter_sub_category, &mut key.meter)?;
    }
    if at.additional_info.is_some() {
        let stated = details.read(row, at.additional_info, scratch);
        key.instance_type.push_str(&stated.instance_type);
    }
    for column in [at.meter_name, at.meter_sub_category, at.product] {
        if !key.instance_type.is_empty() {
            break;
        }
        text.clear();
        row.text(column, text)?;
        key.instance_type.push_str(instance_type::azure_in(text).unwrap_or_default());
    }
    Ok(())
}
