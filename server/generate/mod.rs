//! Demonstration exports: billing files of an invented organization, of any size, for trying the product
//! and for measuring it.
//!
//! The same [`Plan`] gives the same bytes, always: no clock, no randomness but the seed's. What is in the
//! files: machines that run for consecutive hours (on demand, spot, reserved, under a savings plan),
//! storage and transfer beside them, several accounts and regions, six teams by tag with misspelt tags
//! and untagged resources, commitments with their fees and what of them goes unused, credits, refunds,
//! a discount, support and tax. [`Totals`] says what a correct reader finds.

pub(crate) mod amount;
pub(crate) mod aws_cur;
pub(crate) mod cur_cells;
pub(crate) mod cur_columns;
pub(crate) mod focus;
pub(crate) mod line;
pub(crate) mod output;
pub(crate) mod random;
pub(crate) mod scatter;
pub(crate) mod settle;
pub(crate) mod simulate;
pub(crate) mod world;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::str::FromStr;

use serde::Serialize;

use crate::enum_words::{words, written_as_str};
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

words! {
    /// The format of a generated file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format: as_str {
        /// Legacy AWS Cost and Usage Report, CSV.
        AwsCur = "aws-cur";
        /// FOCUS 1.2 cost and usage, CSV, of any provider.
        Focus = "focus";
    }
}

written_as_str!(Format);

/// What to generate. [`Plan::new`] fills in the rest of what it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub format: Format,
    /// Rows after the header, exactly. Fewer than about 7,500 do not fill a month: such a file ends at
    /// an earlier hour.
    pub rows: u64,
    pub month: BillingMonth,
    pub seed: u64,
    pub currency: Currency,
    /// FOCUS ProviderName. Its machines are the provider's own for AWS, Microsoft, Google Cloud and Oracle,
    /// those of a specialty cloud for any other name. A CUR is always of AWS.
    pub provider: String,
    /// Twelve digits on AWS.
    pub billing_account: String,
    /// Distinct values of the tag `experiment`.
    pub experiments: u32,
    /// About how many distinct charge keys the file has: each run of a machine is one, so fewer keys make
    /// longer runs.
    pub keys: u32,
    /// `None` as long as the month is open: the column stays empty.
    pub invoice_id: Option<String>,
    /// The bill of a large organization: half of its machines run for weeks, the others for minutes to hours, and the
    /// rows are in no order.
    pub is_fleet: bool,
    /// Of a CUR.
    pub columns: Columns,
}

/// How many columns a CUR has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// 63: those that mostly have a value.
    Few,
    /// 137, more than a third of them empty, as AWS writes them for an organization that uses many of its products.
    Many,
}

/// A number of columns that no [`Columns`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 63 or 137")]
pub struct ParseColumnsError;

/// What a generated file sums to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Without the header.
    pub rows: u64,
    /// CUR: UnblendedCost. FOCUS: BilledCost.
    pub billed: Decimal,
    /// CUR: by AWS's rules for amortized cost. FOCUS: EffectiveCost.
    pub effective: Decimal,
    /// CUR: publicOnDemandCost, of the rows that state it. FOCUS: ListCost.
    pub list: Decimal,
    /// Metered accelerator-hours by the model's name (`H100`), to twelve places.
    pub accelerator_hours: BTreeMap<&'static str, Decimal>,
}

impl Plan {
    /// A plan for a US dollar bill of AWS with 40 experiments and a run of about a day and a half per key.
    pub fn new(format: Format, rows: u64, month: BillingMonth, seed: u64) -> Self {
        Self {
            format,
            rows,
            month,
            seed,
            currency: Currency::parse("USD").unwrap_or_else(|| unreachable!("USD is a currency")),
            provider: "AWS".to_owned(),
            billing_account: "210987654321".to_owned(),
            experiments: 40,
            keys: u32::try_from(rows / 36).unwrap_or(u32::MAX).max(1),
            invoice_id: None,
            is_fleet: false,
            columns: Columns::Many,
        }
    }

    /// A plan for the bill of a fleet: a new machine for every 16 rows, and 5,000 experiments.
    pub fn of_fleet(format: Format, rows: u64, month: BillingMonth, seed: u64) -> Self {
        let keys = u32::try_from(rows / 16).unwrap_or(u32::MAX).max(1);
        Self { is_fleet: true, experiments: 5000, keys, ..Self::new(format, rows, month, seed) }
    }
}

impl Columns {
    pub const ALL: [Self; 2] = [Self::Few, Self::Many];

    pub fn count(self) -> usize {
        match self {
            Self::Few => 63,
            Self::Many => 137,
        }
    }
}

impl FromStr for Columns {
    type Err = ParseColumnsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|columns| columns.count().to_string() == text);
        found.ok_or(ParseColumnsError)
    }
}

/// Writes the file and says what it sums to. Memory stays bounded by the machines that run at once (rows
/// divided by the hours of the month, some hundred bytes each); the rows of a fleet wait in temporary files.
pub fn write(plan: &Plan, out: &mut impl Write) -> io::Result<Totals> {
    let provider = if plan.format == Format::AwsCur { "AWS" } else { plan.provider.as_str() };
    let offer = world::offer(&crate::billing::canonical_provider(provider));
    let output = output::Output::new(plan, provider, offer, out)?;
    let month = simulate::Month {
        rows: plan.rows,
        hours: output.stamps.len() - 1,
        experiments: plan.experiments,
        keys: plan.keys,
        is_fleet: plan.is_fleet,
        offer,
        random: random::Random::new(plan.seed),
    };
    match plan.format {
        Format::AwsCur => {
            let mut writer = aws_cur::AwsCur::new(output, plan.columns)?;
            month.run(&mut writer)?;
            writer.into_output().finish()
        }
        Format::Focus => {
            let mut writer = focus::Focus::new(output, offer)?;
            month.run(&mut writer)?;
            writer.into_output().finish()
        }
    }
}
