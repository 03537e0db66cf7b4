//! FOCUS of publishers that state what was used and not what it costs: CoreWeave's export, in public preview, whose cost is planned for the
//! same columns (docs.coreweave.com, *Export usage with the FOCUS API*). Its rows are read as any of FOCUS. What is empty there (region
//! name, description, charge class) is no matter here.

use super::columns::CONSUMED;
use super::{Focus, Reader, seller};
use crate::billing::header::{Columns, Header};
use crate::billing::row::ReadRow;
use crate::billing::{Format, Guide, Mandatory};

pub(in crate::billing) struct FocusUsage;

static MANDATORY: &[Mandatory] = &[
    Mandatory { name: "BillingAccountId", keys: &["billingaccountid"] },
    Mandatory { name: "BillingCurrency", keys: &["billingcurrency"] },
    Mandatory { name: "BillingPeriodStart", keys: &["billingperiodstart"] },
    Mandatory { name: "ChargePeriodStart", keys: &["chargeperiodstart"] },
    Mandatory { name: "ChargePeriodEnd", keys: &["chargeperiodend"] },
    Mandatory { name: "ChargeCategory", keys: &["chargecategory", "chargetype"] },
    Mandatory { name: "ConsumedQuantity", keys: CONSUMED },
    Mandatory { name: "ConsumedUnit", keys: &["consumedunit", "usageunit"] },
    seller::MANDATORY,
];

static GUIDES: &[Guide] = &[Guide {
    provider: "CoreWeave",
    export: "FOCUS Billing Export API",
    steps: "Request a billing month from the FOCUS export API as CSV or JSON, all of its pages, and upload the file. It has hours and no \
            cost: enter your contract's rates under Rate cards.",
    forms: "CSV or JSON",
}];

impl Format for FocusUsage {
    fn name(&self) -> &'static str {
        "focus-usage"
    }

    fn label(&self) -> &'static str {
        "FOCUS usage without cost"
    }

    fn guides(&self) -> &'static [Guide] {
        GUIDES
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        MANDATORY
    }

    fn recognizes(&self, header: &Header) -> bool {
        self.has_its_columns(header) && self.mandatory().iter().all(|column| column.is_in(header))
    }

    /// One of FOCUS that lost a cost column is no usage without cost.
    fn has_its_columns(&self, header: &Header) -> bool {
        !header.has_any(&["billedcost", "effectivecost", "amortizedcost"])
    }

    fn maps(&self) -> &'static [&'static str] {
        Focus.maps()
    }

    fn names(&self) -> Vec<&'static str> {
        Focus.names()
    }

    /// None.
    fn billed_columns(&self) -> Vec<Vec<&str>> {
        Vec::new()
    }

    fn columns(&self, header: &Header) -> Columns {
        Focus.columns(header)
    }

    fn feeds(&self, key: &str) -> Option<&'static str> {
        Focus.feeds(key)
    }

    fn reader(&self, header: &Header) -> Box<dyn ReadRow + Send> {
        Box::new(Reader::new(header, MANDATORY))
    }
}
