//! AWS CUR 2.0 (Data Exports): snake case, a fixed schema of which the owner's SQL may leave columns out,
//! and four maps as JSON text (`resource_tags`, `cost_category`, `product`, `discount`).
//! How a row becomes a charge is described in [`super::aws`].

use super::aws;
use super::header::{Columns, Header};
use super::row::ReadRow;
use super::{Format, Guide, Mandatory};

pub(super) struct AwsCur2;

/// Those of [`aws::MANDATORY`] under the names of Data Exports.
static MANDATORY: &[Mandatory] = &[
    Mandatory { name: "line_item_line_item_type", keys: &["lineitemlineitemtype"] },
    Mandatory { name: "line_item_unblended_cost", keys: &["lineitemunblendedcost"] },
    Mandatory { name: "line_item_currency_code", keys: &["lineitemcurrencycode"] },
    Mandatory { name: "line_item_usage_start_date", keys: &["lineitemusagestartdate"] },
    Mandatory { name: "line_item_usage_end_date", keys: &["lineitemusageenddate"] },
    Mandatory { name: "bill_payer_account_id", keys: &["billpayeraccountid"] },
    Mandatory { name: "bill_billing_period_start_date", keys: &["billbillingperiodstartdate"] },
];

impl Format for AwsCur2 {
    fn name(&self) -> &'static str {
        "aws-cur-2"
    }

    fn label(&self) -> &'static str {
        "AWS CUR 2.0"
    }

    fn guides(&self) -> &'static [Guide] {
        &[Guide {
            provider: "AWS",
            export: "CUR 2.0",
            steps: "In Billing and Cost Management, under Data Exports, create a standard data export of CUR 2.0, hourly and with \
                    resource IDs. From its S3 bucket, upload the files of a billing period together with the period's manifest.",
            forms: "CSV (.gz) or Parquet",
        }]
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        MANDATORY
    }

    /// The maps, or columns that the legacy report never had. Without any of them the two cannot be
    /// distinguished, and need not be: they are read the same way.
    fn recognizes(&self, header: &Header) -> bool {
        let is_snake = header.names().iter().any(|name| name == "line_item_unblended_cost");
        is_snake
            && self.mandatory().iter().all(|column| column.is_in(header))
            && ["resourcetags", "costcategory", "product", "discount", "billpayeraccountname"]
                .iter()
                .any(|key| header.has(key))
    }

    fn maps(&self) -> &'static [&'static str] {
        &["product", "resourcetags", "costcategory", "discount"]
    }

    fn has_its_columns(&self, header: &Header) -> bool {
        header.names().iter().all(|name| !name.contains('/'))
    }

    fn billed_columns(&self) -> Vec<Vec<&str>> {
        vec![vec!["lineitemunblendedcost"]]
    }

    fn columns(&self, header: &Header) -> Columns {
        aws::columns(header)
    }

    fn feeds(&self, key: &str) -> Option<&'static str> {
        aws::feeds(key)
    }

    fn reader(&self, header: &Header) -> Box<dyn ReadRow + Send> {
        Box::new(aws::Reader::new(header))
    }
}
