//! Oracle Cloud (OCI) cost reports: `lineItem/referenceNo`, `cost/myCost`. Their columns resemble those of an AWS report and
//! are none of them: no report of AWS has a `lineItem/referenceNo`, and none of Oracle's a `lineItem/LineItemType`.
//!
//! | what | rule |
//! |---|---|
//! | account | the tenancy, `lineItem/tenantId`, as in Oracle's FOCUS report ([`accounts`]) |
//! | sub account | the compartment, `product/compartmentId` |
//! | billing month | the month in which the usage begins, in UTC: the report has no billing period |
//! | billed cost | `cost/myCost`; empty on what is free, which is 0, and said |
//! | effective, list, contracted cost | billed: the report states no other |
//! | quantity | `usage/billedQuantity` in `cost/skuUnitDescription`, else in `cost/billingUnitReadable` |
//! | meter | `product/Description` |
//! | category | Usage, at the Standard price: the report has no purchases, taxes or credits |
//! | metered | with a quantity, unless billed below zero for a quantity above |
//! | correction | `lineItem/isCorrection`: `lineItem/backreferenceNo` names the row that it corrects, and both count |
//! | tags | a column each, `tags/<namespace>.<key>`, or `tags/<key>` of free-form ones |
//! | accumulation | slices: each file states six hours or so, and what arrived late |
//!
//! Columns of overage are a part of the others: "billedQuantity, myCost, and unitPrice are inclusive of Overage numbers". And
//! `cost/attributedCost` and `usage/attributedUsage` divide what a resource costs among those that use it, and would count it
//! again. Both are from Oracle's documentation, "Cost and Usage Reports Overview", which calls the reference to a corrected row
//! `lineItem/backReference`; files write `lineItem/backreferenceNo`, and there numbers of rows that correct nothing, too.

mod columns;
mod service;

use super::account_id::{canonical_account, canonical_sub_account};
use super::billing_period::month_of;
use super::charge::{Charge, PricingCategory, is_negation};
use super::currency::CurrencyColumn;
use super::date_order::{DateColumns, DateOrder};
use super::header::{Columns, Header};
use super::row::{Column, Outcome, Problem, ReadRow, Row};
use super::value::{TimeColumn, is_null};
use super::{Accumulation, Format, Guide, Mandatory};

pub(super) struct OciCost;

/// Canonical, see [`canonical_provider`](super::canonical_provider).
pub(super) const PROVIDER: &str = "Oracle";

const MANDATORY: &[Mandatory] = &[
    Mandatory { name: "lineItem/referenceNo", keys: &["lineitemreferenceno"] },
    Mandatory { name: "lineItem/tenantId", keys: &["lineitemtenantid"] },
    Mandatory { name: "lineItem/intervalUsageStart", keys: &["lineitemintervalusagestart"] },
    Mandatory { name: "lineItem/intervalUsageEnd", keys: &["lineitemintervalusageend"] },
    Mandatory { name: "cost/myCost", keys: &["costmycost"] },
    Mandatory { name: "cost/currencyCode", keys: &["costcurrencycode"] },
];

const FREE: &str = "no cost/myCost: it counts 0, as what is free";
const FREE_OF_NO_CURRENCY: &str = "no cost/currencyCode where nothing is charged: it counts 0 USD";
const NOTHING_BILLED: &str = "no cost, quantity and currency: nothing was billed";
const CORRECTS: &str = "corrects an earlier row, which lineItem/backreferenceNo names: both rows count";

/// What 0 is counted in where a row of something free names no currency.
const DEFAULT_CURRENCY: &str = "USD";

impl Format for OciCost {
    fn name(&self) -> &'static str {
        "oci-cost"
    }

    fn label(&self) -> &'static str {
        "Oracle Cloud (OCI) cost report"
    }

    fn guides(&self) -> &'static [Guide] {
        &[Guide {
            provider: "Oracle Cloud",
            export: "Cost report",
            steps: "In Billing and Cost Management, under Cost and Usage Reports, download the cost reports of a month. Upload all of \
                    them under their own names: each states a part of the month, and they add up.",
            forms: "CSV (.gz)",
        }]
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        MANDATORY
    }

    fn has_its_columns(&self, header: &Header) -> bool {
        header.has("lineitemreferenceno")
    }

    fn accumulation(&self, _header: &Header) -> Accumulation {
        Accumulation::Slice
    }

    fn billed_columns(&self) -> Vec<Vec<&str>> {
        vec![vec!["costmycost"]]
    }

    fn columns(&self, header: &Header) -> Columns {
        columns::columns(header)
    }

    fn feeds(&self, key: &str) -> Option<&'static str> {
        columns::feeds(key)
    }

    fn reader(&self, header: &Header) -> Box<dyn ReadRow + Send> {
        Box::new(Reader::new(header))
    }
}

struct Reader {
    at: At,
    times: [TimeColumn; 2],
    currency: CurrencyColumn,
    last_needed: usize,
    identity: Vec<usize>,
    key_columns: Vec<usize>,
    text: String,
}

/// Where the columns are.
struct At {
    tenant: Column,
    start: Column,
    end: Column,
    cost: Column,
    currency: Column,
    service: Column,
    compartment: Column,
    region: Column,
    resource: Column,
    quantity: Column,
    units: [Column; 2],
    sku: Column,
    description: Column,
    is_correction: Column,
    tags: Vec<TagColumn>,
}

/// A column that holds one tag.
struct TagColumn {
    column: usize,
    key: String,
}

impl Reader {
    fn new(header: &Header) -> Self {
        let find = |key: &str| header.find(key);
        let mut key_columns = Vec::new();
        let mut key = |key: &str| {
            let column = header.find(key);
            key_columns.extend(column);
            column
        };
        let columns = header.names().iter().enumerate();
        let tags = columns
            .filter_map(|(column, name)| Some(TagColumn { column, key: columns::tag_key(name)?.to_owned() }))
            .collect();
        let at = At {
            tenant: key("lineitemtenantid"),
            start: find("lineitemintervalusagestart"),
            end: find("lineitemintervalusageend"),
            cost: find("costmycost"),
            currency: key("costcurrencycode"),
            service: key("productservice"),
            compartment: key("productcompartmentid"),
            region: key("productregion"),
            resource: find("productresourceid"),
            quantity: find("usagebilledquantity"),
            units: [key("costskuunitdescription"), key("costbillingunitreadable")],
            sku: key("costproductsku"),
            description: key("productdescription"),
            is_correction: key("lineitemiscorrection"),
            tags,
        };
        key_columns.extend(at.tags.iter().map(|tag| tag.column));
        let others = [at.start, at.end, at.service, at.resource, at.sku];
        let named =
            find("lineitemreferenceno").map(|id| std::iter::once(id).chain(others.into_iter().flatten()));
        Self {
            times: Default::default(),
            currency: CurrencyColumn::default(),
            last_needed: Mandatory::last(MANDATORY, header),
            identity: named.map(Iterator::collect).unwrap_or_default(),
            key_columns,
            at,
            text: String::new(),
        }
    }
}

impl ReadRow for Reader {
    fn last_needed(&self) -> usize {
        self.last_needed
    }

    fn dates(&self) -> DateColumns {
        DateColumns {
            columns: [self.at.start, self.at.end].into_iter().flatten().collect(),
            billing_period: None,
            usual: DateOrder::Undecided,
        }
    }

    /// The reference number is the "line identifier" of Oracle's documentation.
    fn identity(&self) -> &[usize] {
        &self.identity
    }

    fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    fn read(&mut self, mut row: Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem> {
        let Self { at, times, .. } = self;
        row.counted_in(at.currency);
        charge.period = row.period([at.start, at.end], times)?;
        charge.billing_month = month_of(&row, at.start, charge.period.start)?;
        let stated = row.amount(at.cost)?;
        let cost = stated.unwrap_or_default();
        charge.consumed_quantity = row.quantity(at.quantity)?;
        if row.is_null(at.currency) {
            if !cost.is_zero() {
                return Err(row.problem(at.currency, "the currency of the cost, such as USD"));
            }
            if stated.or(charge.consumed_quantity).is_none() {
                return Ok(Outcome::Skipped(NOTHING_BILLED));
            }
            row.remark(FREE_OF_NO_CURRENCY);
        } else if stated.is_none() {
            row.remark(FREE);
        }
        row.text(at.resource, &mut charge.resource_id)?;
        let is_correction = is_correction(at, &row)?;
        if is_correction {
            row.remark(CORRECTS);
            charge.corrects_a_row = true;
        }
        charge.billed_cost = cost;
        charge.effective_cost = cost;
        charge.list_cost = cost;
        charge.contracted_cost = cost;
        charge.is_metered =
            charge.consumed_quantity.is_some_and(|quantity| is_correction || !is_negation(cost, quantity));
        Ok(Outcome::Charge)
    }

    fn key(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let Self { at, currency, text, .. } = self;
        let key = &mut charge.key;
        key.provider.push_str(PROVIDER);
        // A row with a cost and no currency was rejected.
        if row.is_null(at.currency) {
            key.currency.push_str(DEFAULT_CURRENCY);
        } else {
            currency
                .read(row.word(at.currency), &mut key.currency)
                .map_err(|expected| row.problem(at.currency, expected))?;
        }
        text.clear();
        row.text(at.tenant, text)?;
        if text.is_empty() {
            return Err(row.problem(at.tenant, "the OCID of a tenancy"));
        }
        canonical_account(PROVIDER, text, "", &mut key.billing_account)
            .map_err(|expected| row.problem(at.tenant, expected))?;
        text.clear();
        row.text(at.compartment, text)?;
        canonical_sub_account(PROVIDER, text, &mut key.sub_account)
            .map_err(|expected| row.problem(at.compartment, expected))?;
        row.text(at.service, &mut key.service)?;
        key.service_category.push_str(service::category(&key.service));
        row.text(at.sku, &mut key.sku)?;
        row.text(at.region, &mut key.region)?;
        row.text(at.description, &mut key.meter)?;
        for unit in at.units {
            if key.unit.is_empty() {
                row.text(unit, &mut key.unit)?;
            }
        }
        key.pricing = PricingCategory::Standard;
        key.is_correction = is_correction(at, &row)?;
        for TagColumn { column, key } in &at.tags {
            text.clear();
            row.verbatim(Some(*column), text)?;
            charge.tags.set(key, text);
        }
        Ok(())
    }
}

fn is_correction(at: &At, row: &Row<'_>) -> Result<bool, Problem> {
    let word = row.word(at.is_correction).trim_ascii();
    if word.eq_ignore_ascii_case(b"true") {
        return Ok(true);
    }
    if word.eq_ignore_ascii_case(b"false") || row.is_null(at.is_correction) {
        return Ok(false);
    }
    Err(row.problem(at.is_correction, "true, false or nothing"))
}

/// Whether a cell of FOCUS' `oci_BackReferenceNumber` names a row, as far as that can be told: in cost reports, rows that correct
/// nothing have a number of some digits in the column of that meaning.
pub(super) fn corrects(back_reference: &[u8]) -> bool {
    let text = back_reference.trim_ascii();
    !is_null(text) && !text.iter().all(u8::is_ascii_digit)
}

/// Which of three ids in Oracle's FOCUS report are the tenancy and the compartment, which a cost report calls by these names.
/// The account is the tenancy where `BillingAccountId` is one; files in which that is the number of a subscription have the
/// tenancy in `SubAccountId`. The compartment is `oci_CompartmentId`, else the sub account that is no tenancy.
pub(super) fn accounts<'a>(
    account: &'a str,
    sub_account: &'a str,
    compartment: &'a str,
) -> (&'a str, &'a str) {
    let is_tenancy = |id: &str| {
        let start = id.trim_start().get(..TENANCY.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(TENANCY))
    };
    let account = if is_tenancy(sub_account) { sub_account } else { account };
    let rest = if is_tenancy(sub_account) { "" } else { sub_account };
    (account, if compartment.is_empty() { rest } else { compartment })
}

/// How the OCID of a tenancy begins.
const TENANCY: &str = "ocid1.tenancy.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Decimal;

    #[test]
    fn a_focus_report_states_tenancy_and_compartment_as_a_cost_report_does() {
        let (tenancy, child, compartment) =
            ("ocid1.tenancy.oc1..aaaa", "ocid1.tenancy.oc1..bbbb", "ocid1.compartment.oc1..cccc");
        for (stated, found) in [
            ([tenancy, "", ""], (tenancy, "")),
            ([tenancy, compartment, ""], (tenancy, compartment)),
            ([tenancy, compartment, compartment], (tenancy, compartment)),
            (["23465677", tenancy, compartment], (tenancy, compartment)),
            (
                ["ocid1.organizationssubscription.oc1..dddd", "OCID1.TENANCY.OC1..AAAA", ""],
                ("OCID1.TENANCY.OC1..AAAA", ""),
            ),
            // A tenancy within an organization: each row of a cost report names the one that used something.
            ([tenancy, child, compartment], (child, compartment)),
            // The root compartment of a tenancy has its OCID.
            ([tenancy, tenancy, tenancy], (tenancy, tenancy)),
            (["23465677", "", ""], ("23465677", "")),
        ] {
            let [account, sub_account, named] = stated;
            assert_eq!(accounts(account, sub_account, named), found, "{stated:?}");
        }
    }

    #[test]
    fn a_number_of_digits_names_no_row() {
        for (cell, expected) in
            [("", false), ("NULL", false), ("17053", false), ("V2.Fr+x==", true), ("7108a1f83bdbad70", true)]
        {
            assert_eq!(corrects(cell.as_bytes()), expected, "{cell}");
        }
    }

    #[test]
    fn what_is_billed_below_zero_for_a_quantity_is_no_usage() {
        for (cost, quantity, expected) in
            [("-1", "2", true), ("-1", "-2", false), ("-1", "0", false), ("1", "2", false), ("0", "2", false)]
        {
            let number = |text: &str| text.parse::<Decimal>().unwrap();
            assert_eq!(is_negation(number(cost), number(quantity)), expected, "{cost} for {quantity}");
        }
    }
}
