//! AWS Cost and Usage Report (legacy): `lineItem/UnblendedCost`, or in snake case as Athena has it.
//! How a row becomes a charge is described in [`super::aws`].

use super::aws;
use super::header::{Columns, Header};
use super::row::ReadRow;
use super::{Format, Guide, Mandatory};

pub(super) struct AwsCur;

impl Format for AwsCur {
    fn name(&self) -> &'static str {
        "aws-cur"
    }

    fn label(&self) -> &'static str {
        "AWS Cost and Usage Report"
    }

    fn guides(&self) -> &'static [Guide] {
        &[Guide {
            provider: "AWS",
            export: "Cost and Usage Report (legacy)",
            steps: "In Billing and Cost Management, under Data Exports, create a legacy CUR export, hourly and with resource IDs. \
                    From its S3 bucket, upload the files of a month together with their Manifest.json.",
            forms: "CSV (.gz, .zip) or Parquet",
        }]
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        aws::MANDATORY
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
