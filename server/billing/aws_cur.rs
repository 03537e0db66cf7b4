//! AWS Cost and Usage Report (legacy): `lineItem/UnblendedCost`, or in snake case as Athena has it.
//! How a row becomes a charge is described in [`super::aws`].

use super::aws;
use super::header::{Columns, Header};
use super::row::ReadRow;
use super::{Format, Mandatory};

pub(super) struct AwsCur;

impl Format for AwsCur {
    fn name(&self) -> &'static str {
        "aws-cur"
    }

    fn label(&self) -> &'static str {
        "AWS Cost and Usage Report"
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        aws::MANDATORY
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
