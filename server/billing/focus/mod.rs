//! FOCUS cost and usage, 1.0 to 1.4, from any publisher; the 1.0 preview and 0.5 under their old names.
//!
//! | what | rule |
//! |---|---|
//! | provider | `ServiceProviderName` (1.3), `ProviderName`, `Provider`, else publisher or invoice issuer; of a marketplace's seller the cloud that issues the invoice (see `seller.rs`) |
//! | account, sub account | the provider's canonical form, so that a CUR and a FOCUS export of one account are one scope; of Azure with the billing profile, out of the path or of `x_BillingProfileId`; of Oracle the tenancy and the compartment, see [`oracle::accounts`] |
//! | billing month | the month that most of `BillingPeriodStart` to `BillingPeriodEnd` lies in |
//! | currency | `BillingCurrency` always; `PricingCurrency` (tokens) and 0.5's `BilledCurrency` are not what costs are counted in |
//! | billed cost | mandatory in every row, but of usage that states neither it nor an effective cost: that lacks its cost, which a rate card prices |
//! | effective cost | as stated; where a row leaves it empty: 0 on a Purchase (what it covers carries it), else billed cost, and said; of Azure's purchases of commitments 0 (see `costs.rs`) |
//! | list, contracted cost | as stated; an empty one counts 0, and said: a price is not invented; of Azure as far as its own tools repair it (see `costs.rs`) |
//! | service | AWS: `x_ServiceCode`, else the code of a known name, so that it agrees with the CUR; others: `ServiceName`; where Azure leaves it empty `x_SkuMeterCategory`, the type of the commitment or the publisher, and said |
//! | sub account | of Google's view, which states the billing account there, the project (`x_Project`) |
//! | commitment | `CommitmentDiscountId` as it is written |
//! | quantity | `ConsumedQuantity`; `PricingQuantity` where the file has no such column, or that is 0 beside a cost (see `quantity.rs`) |
//! | split costs | parts belong to the resource and tags that they are allocated to; the origin beside them is not metered (see `split.rs`) |
//! | instance type | `SkuPriceDetails.InstanceType` or `ServiceType`, `x_InstanceType`, end of AWS's `x_UsageType`, `x_SkuDetails`, the words of `ChargeDescription`, Google's label of the machine; of Nebius the platform and preset that its texts name (see `nebius.rs`), of CoreWeave the known type that they name (see `coreweave.rs`) |
//! | pricing category | `PricingCategory`; where that says `Other` or nothing and `x_PricingCategory` says `Owned`: what the organization has of its own |
//! | meter | `x_UsageType` (AWS), `SkuMeter`, `x_SkuMeterName`; where there is none, `ChargeDescription` of usage that is not AWS's (theirs holds rates) |
//! | metered | Usage with a quantity; not of unused commitments, nor negations (billed below zero for a quantity above, and no correction), nor the origin of a split cost |
//! | accumulation | the whole period; Oracle's reports (`oci_ReferenceNumber`) are slices |
//!
//! 0.5 is read because only names changed (`AmortizedCost`, `ChargeType`, `Region`); its lack of list costs
//! is said. Google's view writes words of FOCUS in lower case, and `error` for what it does not know: an adjustment, and said.
//! Azure's 1.0 writes times without seconds. Literal `NULL` is null. Amounts such as `$50,000.00 ` and dates such as `4/1/25` occur in the
//! specification's own examples: the sign must be one of the row's currency, and the file's rows must tell which
//! number is the month.

mod columns;
mod coreweave;
mod costs;
mod nebius;
mod quantity;
mod seller;
mod split;
mod tags;
mod usage;

use super::account_id::{canonical_account, canonical_sub_account};
use super::aws;
use super::billing_period::BillingPeriod;
use super::charge::{Charge, ChargeCategory, ChargeKey, PricingCategory};
use super::currency::CurrencyColumn;
use super::date_order::DateColumns;
use super::header::{Columns, Header};
use super::machine_cell::Machine;
use super::row::{Column, Outcome, Problem, ReadRow, Row};
use super::value::{self, TimeColumn};
use super::{ANY_OTHER, Accumulation, Format, Guide, Mandatory, instance_type, json, oracle};
use columns::CONSUMED;
use costs::Price;
use seller::{GOOGLE, MICROSOFT, PROVIDERS, Seller, Sellers};
use split::Split;
use tags::TagColumns;
pub(super) use usage::FocusUsage;

pub(super) struct Focus;

static MANDATORY: &[Mandatory] = &[
    Mandatory { name: "BilledCost", keys: &["billedcost"] },
    Mandatory { name: "EffectiveCost", keys: &["effectivecost", "amortizedcost"] },
    Mandatory { name: "BillingAccountId", keys: &["billingaccountid"] },
    Mandatory { name: "BillingCurrency", keys: &["billingcurrency"] },
    Mandatory { name: "BillingPeriodStart", keys: &["billingperiodstart"] },
    Mandatory { name: "ChargePeriodStart", keys: &["chargeperiodstart"] },
    Mandatory { name: "ChargePeriodEnd", keys: &["chargeperiodend"] },
    Mandatory { name: "ChargeCategory", keys: &["chargecategory", "chargetype"] },
    seller::MANDATORY,
];

static GUIDES: &[Guide] = &[
    Guide {
        provider: "AWS",
        export: "FOCUS 1.0 or 1.2 with AWS columns",
        steps: "In Billing and Cost Management, under Data Exports, create a standard data export of FOCUS with AWS columns. From its \
                S3 bucket, upload the files of a billing period together with the period's manifest.",
        forms: "CSV (.gz) or Parquet",
    },
    Guide {
        provider: "Microsoft Azure",
        export: "Cost and usage details (FOCUS)",
        steps: "In Cost Management, under Exports, create an export of cost and usage details (FOCUS) for a month. From its storage \
                account, upload the file of the newest run.",
        forms: "CSV (.gz) or Parquet",
    },
    Guide {
        provider: "Google Cloud",
        export: "FOCUS",
        steps: "In BigQuery, select a billing month from Google's FOCUS view or its FOCUS export. Save the result as newline-delimited \
                JSON or as Parquet, and upload it.",
        forms: "JSON or Parquet",
    },
    Guide {
        provider: "Oracle Cloud",
        export: "FOCUS report",
        steps: "In Billing and Cost Management, under Cost and Usage Reports, download the FOCUS reports of a month. Upload all of \
                them: each states a part of the month, and they add up.",
        forms: "CSV (.gz)",
    },
    Guide {
        provider: "Nebius",
        export: "FOCUS 1.2 export",
        steps: "In the console, under Billing and Export, create a periodic export to an Object Storage bucket, and upload the files of \
                a month from there. Unpack the archive of a one-time export first.",
        forms: "CSV",
    },
    Guide {
        provider: ANY_OTHER,
        export: "FOCUS 1.0 to 1.4, cost and usage",
        steps: "Look for FOCUS among the billing exports of the provider. Upload the cost and usage dataset of a month.",
        forms: "CSV (.gz, .zip), JSON or Parquet",
    },
];

/// What publishers put into maps, those of their own (`x_`) included.
const MAPS: &[&str] = &[
    "tags",
    "allocatedtags",
    "allocatedmethoddetails",
    "skupricedetails",
    "skudetails",
    "contractapplied",
    "commitmentprogrameligibilitydetails",
    "discounts",
    "costcategories",
];

impl Format for Focus {
    fn name(&self) -> &'static str {
        "focus"
    }

    fn label(&self) -> &'static str {
        "FOCUS cost and usage"
    }

    fn guides(&self) -> &'static [Guide] {
        GUIDES
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        MANDATORY
    }

    fn accumulation(&self, header: &Header) -> Accumulation {
        if header.has("ocireferencenumber") { Accumulation::Slice } else { Accumulation::WholePeriod }
    }

    fn maps(&self) -> &'static [&'static str] {
        MAPS
    }

    fn names(&self) -> Vec<&'static str> {
        columns::names()
    }

    fn billed_columns(&self) -> Vec<Vec<&str>> {
        vec![vec!["billedcost"]]
    }

    fn columns(&self, header: &Header) -> Columns {
        columns::columns(header)
    }

    fn feeds(&self, key: &str) -> Option<&'static str> {
        columns::feeds(key)
    }

    fn reader(&self, header: &Header) -> Box<dyn ReadRow + Send> {
        Box::new(Reader::new(header, MANDATORY))
    }
}

struct Reader {
    at: At,
    times: [TimeColumn; 2],
    billing_period: BillingPeriod,
    currency: CurrencyColumn,
    last_needed: usize,
    identity: Vec<usize>,
    key_columns: Vec<usize>,
    sellers: Sellers,
    details: Machine,
    scratch: Vec<u8>,
    text: String,
}

/// Where the columns are.
struct At {
    providers: Vec<usize>,
    sellers: Vec<usize>,
    service_provider: Column,
    issuer: Column,
    publisher: Column,
    billed: Column,
    effective: Column,
    list: Price,
    contracted: Price,
    account: Column,
    billing_profile: Column,
    currency: Column,
    start: Column,
    end: Column,
    category: Column,
    class: Column,
    pricing: Column,
    own_pricing: Column,
    sub_account: Column,
    /// Google's project: its id, or all of it as JSON.
    project_id: Column,
    project: Column,
    compartment: Column,
    service: Column,
    meter_category: Column,
    service_code: Column,
    service_category: Column,
    sku: Column,
    region: Column,
    quantity: Column,
    unit: Column,
    pricing_quantity: Column,
    pricing_unit: Column,
    commitment: Column,
    commitment_type: Column,
    commitment_status: Column,
    invoice: Column,
    resource: Column,
    description: Column,
    back_reference: Column,
    usage_type: Column,
    meters: Vec<usize>,
    price_details: Column,
    instance_type: Column,
    sku_details: Column,
    tags: TagColumns,
    split: Split,
}

impl Reader {
    fn new(header: &Header, mandatory: &[Mandatory]) -> Self {
        let any = |keys: &[&str]| header.find_any(keys);
        let mut key_columns = Vec::new();
        let mut key = |keys: &[&str]| {
            let column = header.find_any(keys);
            key_columns.extend(column);
            column
        };
        let has_consumed = header.has_any(CONSUMED);
        let at = At {
            providers: PROVIDERS.iter().filter_map(|key| header.find(key)).collect(),
            sellers: seller::sellers(header),
            service_provider: any(&["serviceprovidername"]),
            issuer: any(&["invoiceissuername"]),
            publisher: any(&["publishername"]),
            billed: any(&["billedcost"]),
            effective: any(&["effectivecost", "amortizedcost"]),
            list: Price::list(header),
            contracted: Price::contracted(header),
            account: key(&["billingaccountid"]),
            billing_profile: header.find_custom("billingprofileid"),
            currency: key(&["billingcurrency"]),
            start: any(&["chargeperiodstart"]),
            end: any(&["chargeperiodend"]),
            category: key(&["chargecategory", "chargetype"]),
            class: key(&["chargeclass"]),
            pricing: key(&["pricingcategory"]),
            own_pricing: header.find_custom("pricingcategory"),
            sub_account: key(&["subaccountid"]),
            project_id: key(&["projectid"]),
            project: key(&["project"]),
            compartment: key(&["ocicompartmentid"]),
            service: key(&["servicename"]),
            meter_category: key(&["skumetercategory"]),
            service_code: key(&["servicecode"]),
            service_category: key(&["servicecategory"]),
            sku: key(&["skuid"]),
            region: key(&["regionid", "region", "regionname"]),
            quantity: if has_consumed { any(CONSUMED) } else { any(&["pricingquantity"]) },
            unit: if has_consumed { key(&["consumedunit", "usageunit"]) } else { key(&["pricingunit"]) },
            pricing_quantity: any(&["pricingquantity"]),
            pricing_unit: any(&["pricingunit"]),
            commitment: key(&["commitmentdiscountid"]),
            commitment_type: key(&["commitmentdiscounttype"]),
            commitment_status: key(&["commitmentdiscountstatus"]),
            invoice: any(&["invoiceid"]),
            resource: any(&["resourceid"]),
            description: key(&["chargedescription"]),
            back_reference: any(&["ocibackreferencenumber"]),
            usage_type: key(&["usagetype"]),
            meters: ["skumeter", "skumetername", "skudescription"]
                .iter()
                .filter_map(|key| header.find(key))
                .collect(),
            price_details: key(&["skupricedetails"]),
            instance_type: key(&["instancetype"]),
            sku_details: key(&["skudetails"]),
            tags: TagColumns::new(header),
            split: Split::new(header),
        };
        key_columns.extend([at.billing_profile, at.own_pricing].into_iter().flatten());
        key_columns.extend(at.providers.iter().chain(&at.meters));
        key_columns.extend(at.tags.columns().chain(at.split.tags));
        // FOCUS has no identity of a row; Oracle's extension names its line.
        let named = header.find("ocireferencenumber").map(|id| {
            let others = [at.start, at.end, at.category, at.resource];
            std::iter::once(id).chain(others.into_iter().flatten()).collect()
        });
        Self {
            times: Default::default(),
            billing_period: BillingPeriod::new(any(&["billingperiodstart"]), any(&["billingperiodend"])),
            currency: CurrencyColumn::default(),
            last_needed: Mandatory::last(mandatory, header),
            identity: named.unwrap_or_default(),
            key_columns,
            at,
            sellers: Sellers::default(),
            details: Machine::default(),
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
        self.billing_period.dates([self.at.start, self.at.end])
    }

    fn identity(&self) -> &[usize] {
        &self.identity
    }

    fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    fn read(&mut self, mut row: Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem> {
        let Self { at, times, billing_period, sellers, .. } = self;
        let Seller { name, remark } = sellers.read(at, &row)?;
        let (is_azure, is_google, is_nebius) = (name == MICROSOFT, name == GOOGLE, name == nebius::PROVIDER);
        if let Some(remark) = remark {
            row.remark(remark);
        }
        row.counted_in(at.currency);
        charge.lacks_cost = lacks_cost(at, &row)?;
        if !charge.lacks_cost {
            charge.billed_cost = row.needed_amount(at.billed)?;
        }
        charge.period = row.period([at.start, at.end], times)?;
        charge.billing_month = billing_period.month(&row)?;
        row.text(at.invoice, &mut charge.invoice_id)?;
        row.text(at.resource, &mut charge.resource_id)?;
        let category = category(at, &row)?;
        if !charge.lacks_cost {
            costs::fill(&mut row, at, category, is_azure, charge)?;
        }
        quantity::fill(&mut row, at, category, charge)?;
        at.split.fill(&mut row, charge)?;
        if is_azure {
            // Azure writes one resource in several spellings.
            charge.resource_id.make_ascii_lowercase();
        }
        if is_google && states_the_billing_account(at, &row) {
            row.remark("SubAccountId is the billing account: the project (x_Project) stands for it");
        }
        if is_nebius && nebius::may_count_twice(at, &row, category, charge.effective_cost) {
            row.remark(nebius::MAY_COUNT_TWICE);
        }
        if is_error(at, &row) {
            row.remark("a ChargeCategory of error is booked as an adjustment");
        }
        if oracle::corrects(row.word(at.back_reference)) {
            row.remark("corrects an earlier row, which oci_BackReferenceNumber names: both rows count");
            charge.corrects_a_row = true;
        }
        Ok(Outcome::Charge)
    }

    fn key(&mut self, mut row: Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let Self { at, currency, sellers, details, scratch, text, .. } = self;
        let key = &mut charge.key;
        key.provider.push_str(sellers.read(at, &row)?.name);
        let stated = if row.is_null(at.currency) { b"" } else { row.word(at.currency) };
        currency.read(stated, &mut key.currency).map_err(|expected| row.problem(at.currency, expected))?;
        key.category = category(at, &row)?;
        key.pricing = pricing_of(&row, at)
            .ok_or_else(|| row.problem(at.pricing, "Standard, Dynamic, Committed, Other or nothing"))?;
        key.is_correction = is_correction(at, &row);
        accounts(&row, at, key, scratch)?;
        let is_aws = key.provider == aws::PROVIDER;
        let (is_azure, is_google) = (key.provider == MICROSOFT, key.provider == GOOGLE);
        row.text(at.service_code, &mut key.service)?;
        if key.service.is_empty() {
            row.text(at.service, &mut key.service)?;
            if is_aws && let Some(code) = aws::service_code(&key.service) {
                code.clone_into(&mut key.service);
            }
            if is_azure && key.service.is_empty() {
                service_of_azure(&mut row, at, &mut key.service)?;
            }
        }
        row.text(at.service_category, &mut key.service_category)?;
        row.text(at.sku, &mut key.sku)?;
        row.text(at.region, &mut key.region)?;
        row.text(at.commitment, &mut key.commitment_discount_id)?;
        key.is_unused_commitment = is_unused_commitment(at, &row);
        row.text(at.unit, &mut key.unit)?;
        machine(&row, at, is_aws, details, (scratch, text), key)?;
        let (tags, machine) = (&mut charge.tags, &mut key.instance_type);
        at.tags.read(at, &mut row, (is_aws, is_google), scratch, tags, machine);
        Ok(())
    }
}

/// Whether it is usage of which no cost is stated, billed or effective, but how much was used.
fn lacks_cost(at: &At, row: &Row<'_>) -> Result<bool, Problem> {
    let states_none = row.is_null(at.billed) && row.is_null(at.effective);
    Ok(states_none && category(at, row)? == ChargeCategory::Usage && row.quantity(at.quantity)?.is_some())
}

/// Google's view states the billing account as sub-account.
fn states_the_billing_account(at: &At, row: &Row<'_>) -> bool {
    !row.is_null(at.sub_account) && row.word(at.sub_account) == row.word(at.account)
}

/// The id of Google's project; nothing where the row has none.
fn project(row: &Row<'_>, at: &At, scratch: &mut Vec<u8>, out: &mut String) -> Result<(), Problem> {
    row.text(at.project_id, out)?;
    if out.is_empty() {
        json::each(row.cell(at.project, scratch), |name, value| {
            if name.eq_ignore_ascii_case("id") {
                value.clone_into(out);
            }
        });
    }
    Ok(())
}

/// Azure leaves `ServiceName` empty on purchases of commitments and of the Marketplace, rounding, shortfalls and credits
/// (microsoft/finops-toolkit, issue 1569).
fn service_of_azure(row: &mut Row<'_>, at: &At, out: &mut String) -> Result<(), Problem> {
    for column in [at.meter_category, at.commitment_type, at.publisher] {
        if out.is_empty() {
            row.text(column, out)?;
        }
    }
    row.remark(if out.is_empty() {
        "Azure states no ServiceName, and nothing that could stand for it"
    } else {
        "Azure states no ServiceName: it is the meter category, the type of the commitment or the publisher"
    });
    Ok(())
}

/// What Google's view writes for kinds of cost that it does not know.
fn is_error(at: &At, row: &Row<'_>) -> bool {
    row.word(at.category).trim_ascii() == b"error"
}

/// Billing account and sub account in the form that other formats of the provider have for them.
fn accounts(row: &Row<'_>, at: &At, key: &mut ChargeKey, scratch: &mut Vec<u8>) -> Result<(), Problem> {
    if row.is_null(at.account) {
        return Err(row.problem(at.account, "a billing account"));
    }
    let id = |column: Column| -> Result<String, Problem> {
        let mut text = String::new();
        row.text(column, &mut text)?;
        Ok(text)
    };
    let (account, mut sub_account) = (id(at.account)?, id(at.sub_account)?);
    let (profile, compartment) = (id(at.billing_profile)?, id(at.compartment)?);
    if key.provider == GOOGLE && states_the_billing_account(at, row) {
        sub_account.clear();
        project(row, at, scratch, &mut sub_account)?;
    }
    let (account, sub_account) = if key.provider == oracle::PROVIDER {
        oracle::accounts(&account, &sub_account, &compartment)
    } else {
        (account.as_str(), sub_account.as_str())
    };
    canonical_account(&key.provider, account, &profile, &mut key.billing_account)
        .map_err(|expected| row.problem(at.account, expected))?;
    canonical_sub_account(&key.provider, sub_account, &mut key.sub_account)
        .map_err(|expected| row.problem(at.sub_account, expected))
}

/// FOCUS words, and those of 0.5.
fn category(at: &At, row: &Row<'_>) -> Result<ChargeCategory, Problem> {
    let category = match row.word(at.category).trim_ascii() {
        b"Usage" => Some(ChargeCategory::Usage),
        b"error" => Some(ChargeCategory::Adjustment),
        other => std::str::from_utf8(other).ok().and_then(ChargeCategory::parse),
    };
    category.ok_or_else(|| row.problem(at.category, "Usage, Purchase, Tax, Credit or Adjustment"))
}

fn is_correction(at: &At, row: &Row<'_>) -> bool {
    row.word(at.class).eq_ignore_ascii_case(b"Correction")
}

fn is_unused_commitment(at: &At, row: &Row<'_>) -> bool {
    row.word(at.commitment_status).eq_ignore_ascii_case(b"Unused")
}

/// What FOCUS has a word for, else whether it is owned, which a column of ours says.
fn pricing_of(row: &Row<'_>, at: &At) -> Option<PricingCategory> {
    let is_owned = at.own_pricing.is_some()
        && row
            .word(at.own_pricing)
            .trim_ascii()
            .eq_ignore_ascii_case(PricingCategory::Owned.as_str().as_bytes());
    if is_owned && at.own_pricing == at.pricing {
        return Some(PricingCategory::Owned);
    }
    match pricing(row.word(at.pricing))? {
        PricingCategory::None | PricingCategory::Other if is_owned => Some(PricingCategory::Owned),
        stated => Some(stated),
    }
}

fn pricing(text: &[u8]) -> Option<PricingCategory> {
    match text.trim_ascii() {
        b"Standard" => Some(PricingCategory::Standard),
        null if value::is_null(null) => Some(PricingCategory::None),
        // The 1.0 preview's words.
        b"On-Demand" => Some(PricingCategory::Standard),
        b"Commitment-Based" | b"Commitment Based" => Some(PricingCategory::Committed),
        other => PricingCategory::parse(std::str::from_utf8(other).ok()?),
    }
}

/// Instance type, accelerators and meter.
fn machine(
    row: &Row<'_>,
    at: &At,
    is_aws: bool,
    details: &mut Machine,
    (scratch, text): (&mut Vec<u8>, &mut String),
    key: &mut ChargeKey,
) -> Result<(), Problem> {
    if at.price_details.is_some() {
        let stated = details.read(row, at.price_details, scratch);
        key.instance_type.push_str(&stated.instance_type);
        key.stated_accelerators.push_str(&stated.accelerators);
    }
    row.text(at.usage_type, &mut key.meter)?;
    for meter in &at.meters {
        if key.meter.is_empty() {
            row.text(Some(*meter), &mut key.meter)?;
        }
    }
    if key.instance_type.is_empty() {
        row.text(at.instance_type, &mut key.instance_type)?;
    }
    if key.instance_type.is_empty()
        && let Some((_, suffix)) = key.meter.rsplit_once(':')
        && instance_type::is_aws(suffix)
    {
        key.instance_type.push_str(suffix);
    }
    if key.instance_type.is_empty() && at.sku_details.is_some() {
        json::each(row.cell(at.sku_details, scratch), |name, value| {
            if matches!(name, "ServiceType" | "x_ServiceType" | "InstanceType") {
                value.clone_into(&mut key.instance_type);
            }
        });
    }
    let needs_meter = key.meter.is_empty() && !is_aws && key.category == ChargeCategory::Usage;
    if key.instance_type.is_empty() || needs_meter {
        text.clear();
        row.text(at.description, text)?;
        if key.instance_type.is_empty() {
            let found = if is_aws { instance_type::aws_in(text) } else { instance_type::azure_in(text) };
            key.instance_type.push_str(found.unwrap_or_default());
        }
        if needs_meter {
            key.meter.push_str(text);
        }
        if key.instance_type.is_empty() {
            let texts = [key.meter.as_str(), &key.sku, text];
            key.instance_type = match key.provider.as_str() {
                nebius::PROVIDER => nebius::machine_in(texts),
                coreweave::PROVIDER => coreweave::machine_in(texts, &key.unit),
                _ => String::new(),
            };
        }
    }
    Ok(())
}
