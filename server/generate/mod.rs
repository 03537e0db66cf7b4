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
pub(crate) mod azure_columns;
pub(crate) mod azure_usage;
pub(crate) mod container;
pub(crate) mod cur_cells;
pub(crate) mod cur_columns;
pub(crate) mod focus;
pub(crate) mod gcp_billing;
pub(crate) mod line;
pub(crate) mod oci_cost;
pub(crate) mod output;
pub(crate) mod prometheus;
pub(crate) mod random;
pub(crate) mod scatter;
pub(crate) mod settle;
pub(crate) mod simulate;
pub(crate) mod slurm;
pub(crate) mod table;
pub(crate) mod world;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::str::FromStr;

use serde::Serialize;

use self::cur_columns::Edition;
use crate::enum_words::{words, written_as_str};
use crate::money::{Currency, Decimal};
use crate::period::BillingMonth;

pub use self::container::Destination;
pub use self::output::Open;

words! {
    /// The format of a generated file: whose columns its rows have.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format: as_str {
        /// Legacy AWS Cost and Usage Report. In Parquet its columns are named as Athena names them.
        AwsCur = "aws-cur";
        /// AWS CUR 2.0 of Data Exports.
        AwsCur2 = "aws-cur-2";
        /// FOCUS 1.2 cost and usage, of any provider.
        Focus = "focus";
        /// Google Cloud's detailed usage cost export to BigQuery.
        GcpBilling = "gcp-billing";
        /// Azure's cost and usage details.
        AzureUsage = "azure-usage";
        /// Oracle's legacy cost report.
        OciCost = "oci-cost";
    }
}

words! {
    /// What the rows are written in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Container: as_str {
        Csv = "csv";
        /// An object a line.
        Json = "json";
        Parquet = "parquet";
    }
}

words! {
    /// Which of Azure's two datasets of a month.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Dataset: as_str {
        /// Purchases when they were made; what they cover costs nothing.
        Actual = "actual";
        /// Purchases spread over the usage that they cover, and what of them goes unused.
        Amortized = "amortized";
    }
}

words! {
    /// Azure's agreement with the customer, which decides the columns.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Agreement: as_str {
        /// Enterprise Agreement.
        Enterprise = "ea";
        /// Microsoft Customer Agreement.
        Customer = "mca";
    }
}

written_as_str!(Format);
written_as_str!(Container);
written_as_str!(Dataset);
written_as_str!(Agreement);

/// What to generate. [`Plan::new`] fills in the rest of what it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub format: Format,
    pub container: Container,
    /// Files that the rows are spread over, in their order.
    pub files: u32,
    /// Rows after the header, exactly. Fewer than about 7,500 (300 of Azure, whose rows are by the day) do not fill a month:
    /// such a file ends earlier.
    pub rows: u64,
    pub month: BillingMonth,
    pub seed: u64,
    pub currency: Currency,
    /// FOCUS ProviderName. Its machines are the provider's own for AWS, Microsoft, Google Cloud and Oracle,
    /// those of a specialty cloud for any other name. The other formats are each of one provider.
    pub provider: String,
    /// Twelve digits on AWS, the enrollment or billing account on Azure, the tenancy on Oracle.
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
    /// This and the next, of Azure.
    pub dataset: Dataset,
    pub agreement: Agreement,
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
    pub files: u64,
    /// Without headers.
    pub rows: u64,
    /// CUR: UnblendedCost. FOCUS: BilledCost. Google: cost and credits. Azure: the cost of the actual dataset; 0 of the amortized
    /// one, which does not state it. Oracle: myCost.
    pub billed: Decimal,
    /// CUR: by AWS's rules for amortized cost. FOCUS: EffectiveCost. Azure: the cost of the amortized dataset; 0 of the actual one.
    /// Others: as billed.
    pub effective: Decimal,
    /// CUR: publicOnDemandCost, of the rows that state it. FOCUS: ListCost. Google: cost_at_list. Others: 0.
    pub list: Decimal,
    /// Metered accelerator-hours by the model's name (`H100`), to twelve places.
    pub accelerator_hours: BTreeMap<&'static str, Decimal>,
    /// Effective cost by the tag `team` as it is spelled, empty without one: of the demonstration's bills alone.
    #[serde(skip)]
    pub teams: BTreeMap<&'static str, Decimal>,
}

impl Plan {
    /// A plan for a US dollar bill in CSV with 40 experiments and a run of about a day and a half per key.
    pub fn new(format: Format, rows: u64, month: BillingMonth, seed: u64) -> Self {
        let (provider, billing_account) = match format {
            Format::AwsCur | Format::AwsCur2 | Format::Focus => ("AWS", "210987654321"),
            Format::GcpBilling => ("Google Cloud", "01A2B3-C4D5E6-F7A8B9"),
            Format::AzureUsage => ("Microsoft", "84512377"),
            Format::OciCost => ("Oracle", "ocid1.tenancy.oc1..aaaaaaaademonstration"),
        };
        Self {
            format,
            container: Container::Csv,
            files: 1,
            rows,
            month,
            seed,
            currency: Currency::parse("USD").unwrap_or_else(|| unreachable!("USD is a currency")),
            provider: provider.to_owned(),
            billing_account: billing_account.to_owned(),
            experiments: 40,
            keys: u32::try_from(rows / 36).unwrap_or(u32::MAX).max(1),
            invoice_id: None,
            is_fleet: false,
            columns: Columns::Many,
            dataset: Dataset::Actual,
            agreement: Agreement::Enterprise,
        }
    }

    /// A plan for the bill of a fleet: a new machine for every 16 rows, and 5,000 experiments.
    pub fn of_fleet(format: Format, rows: u64, month: BillingMonth, seed: u64) -> Self {
        let keys = u32::try_from(rows / 16).unwrap_or(u32::MAX).max(1);
        Self { is_fleet: true, experiments: 5000, keys, ..Self::new(format, rows, month, seed) }
    }
}

impl Plan {
    /// Whose bill it is: a matter of choice in FOCUS alone.
    fn provider(&self) -> &str {
        match self.format {
            Format::Focus => &self.provider,
            Format::AwsCur | Format::AwsCur2 => "AWS",
            Format::GcpBilling => "Google Cloud",
            Format::AzureUsage => "Microsoft",
            Format::OciCost => "Oracle",
        }
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

/// Writes one file and says what it sums to. Memory stays bounded by the machines that run at once (rows
/// divided by the hours of the month, some hundred bytes each) and in Parquet by a row group; the rows of a fleet wait in
/// temporary files.
pub fn write(plan: &Plan, out: &mut (impl Write + Send)) -> io::Result<Totals> {
    write_files(&Plan { files: 1, ..plan.clone() }, output::only(out))
}

/// As [`write`], into the files that `open` opens by their numbers, from 1.
pub fn write_files(plan: &Plan, open: Open<'_>) -> io::Result<Totals> {
    let provider = plan.provider();
    let offer = world::offer(&crate::billing::canonical_provider(provider));
    let output = output::Output::new(plan, provider, offer, open)?;
    let step = if plan.format == Format::AzureUsage { 24 } else { 1 };
    let month = simulate::Month {
        rows: plan.rows,
        step,
        steps: (output.stamps.len() - 1) / step,
        experiments: plan.experiments,
        keys: plan.keys,
        is_fleet: plan.is_fleet,
        offer,
        random: random::Random::new(plan.seed),
    };
    let mut writer = writer(plan, offer, output)?;
    month.run(&mut *writer)?;
    writer.finish()
}

/// What writes events in the plan's format.
pub(crate) fn writer<'a>(
    plan: &Plan,
    offer: &'static world::Offer,
    output: output::Output<'a>,
) -> io::Result<Box<dyn line::Writer + 'a>> {
    Ok(match plan.format {
        Format::AwsCur => Box::new(aws_cur::AwsCur::new(output, plan.columns, Edition::Legacy)?),
        Format::AwsCur2 => Box::new(aws_cur::AwsCur::new(output, plan.columns, Edition::Second)?),
        Format::Focus => Box::new(focus::Focus::new(output, offer)?),
        Format::GcpBilling => Box::new(gcp_billing::GcpBilling::new(output, plan.month)?),
        Format::AzureUsage => {
            Box::new(azure_usage::AzureUsage::new(output, plan.month, plan.dataset, plan.agreement)?)
        }
        Format::OciCost => Box::new(oci_cost::OciCost::new(output)?),
    })
}
