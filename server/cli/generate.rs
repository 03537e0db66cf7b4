//! `gpuledger generate`.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::{Done, print_json};
use crate::command_output::say;
use crate::generate::{self, Agreement, Columns, Container, Dataset, Destination, Format, Plan, Totals};
use crate::money::Currency;
use crate::period::BillingMonth;

#[derive(clap::Args)]
pub struct Arguments {
    /// aws-cur, aws-cur-2, focus, gcp-billing, azure-usage or oci-cost.
    #[arg(long, default_value = "aws-cur")]
    format: Format,

    /// csv, json (an object a line) or parquet.
    #[arg(long, default_value = "csv")]
    container: Container,

    /// Rows after the header, of all files.
    #[arg(long, default_value_t = 100_000)]
    rows: u64,

    /// Spread the rows over so many files: for FILE bill.csv, bill-00001.csv and so on.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    files: u32,

    /// Billing month.
    #[arg(long, default_value = "2026-09")]
    month: BillingMonth,

    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Currency of every amount.
    #[arg(long)]
    currency: Option<String>,

    /// Of focus: its ProviderName.
    #[arg(long)]
    provider: Option<String>,

    #[arg(long)]
    billing_account: Option<String>,

    /// Distinct experiment labels.
    #[arg(long)]
    experiments: Option<u32>,

    /// About how many distinct charge keys.
    #[arg(long)]
    keys: Option<u32>,

    /// The bill of a large organization: machines that run for minutes to weeks, rows in no order, thousands of tag values.
    #[arg(long)]
    fleet: bool,

    /// Columns of an aws-cur, 63 or 137; an aws-cur-2 has those that they become.
    #[arg(long, default_value = "137")]
    columns: Columns,

    /// Of azure-usage: actual or amortized.
    #[arg(long, default_value = "actual")]
    dataset: Dataset,

    /// Of azure-usage: ea (Enterprise Agreement) or mca (Microsoft Customer Agreement).
    #[arg(long, default_value = "ea")]
    agreement: Agreement,

    /// Invoice of the closed month; left out, the month is open.
    #[arg(long)]
    invoice_id: Option<String>,

    /// Where to write; files that exist are written over.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

pub fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Done> {
    let new = if arguments.fleet { Plan::of_fleet } else { Plan::new };
    let mut plan = new(arguments.format, arguments.rows, arguments.month, arguments.seed);
    plan.container = arguments.container;
    plan.files = arguments.files;
    plan.columns = arguments.columns;
    plan.dataset = arguments.dataset;
    plan.agreement = arguments.agreement;
    if let Some(currency) = &arguments.currency {
        plan.currency = Currency::parse(currency).context("expected a currency such as USD")?;
    }
    if let Some(provider) = &arguments.provider {
        plan.provider.clone_from(provider);
    }
    if let Some(account) = &arguments.billing_account {
        plan.billing_account.clone_from(account);
    }
    plan.experiments = arguments.experiments.unwrap_or(plan.experiments);
    plan.keys = arguments.keys.unwrap_or(plan.keys);
    plan.invoice_id.clone_from(&arguments.invoice_id);

    let path = arguments.output.display();
    let open = |number: u64| -> io::Result<Destination<'_>> {
        let path =
            if plan.files > 1 { numbered(&arguments.output, number) } else { arguments.output.clone() };
        let file = File::create(&path).map_err(|error| {
            io::Error::new(error.kind(), format!("{} cannot be written: {error}", path.display()))
        })?;
        Ok(Box::new(BufWriter::with_capacity(1 << 20, file)))
    };
    let totals =
        generate::write_files(&plan, Box::new(open)).with_context(|| format!("{path} was not written"))?;
    if json {
        print_json(&totals)?;
    } else {
        let files = if totals.files > 1 { format!("{} files, ", totals.files) } else { String::new() };
        say!("{path}: {files}{} rows, {} {}", totals.rows, costs(&plan, &totals), plan.currency)?;
    }
    Ok(Done::Well)
}

/// What the rows sum to; a dataset of Azure states one of the two.
fn costs(plan: &Plan, totals: &Totals) -> String {
    let Totals { billed, effective, .. } = totals;
    match (plan.format, plan.dataset) {
        (Format::AzureUsage, Dataset::Actual) => format!("billed {billed}"),
        (Format::AzureUsage, Dataset::Amortized) => format!("effective {effective}"),
        _ => format!("billed {billed}, effective {effective}"),
    }
}

/// `bill.csv` as `bill-00003.csv`.
fn numbered(path: &Path, number: u64) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (stem, ending) = name.split_once('.').unwrap_or((&name, ""));
    let point = if ending.is_empty() { "" } else { "." };
    path.with_file_name(format!("{stem}-{number:05}{point}{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_numbered_before_their_ending() {
        for (path, expected) in [
            ("/tmp/bill.csv", "/tmp/bill-00002.csv"),
            ("bill", "bill-00002"),
            ("a/b.snappy.parquet", "a/b-00002.snappy.parquet"),
        ] {
            assert_eq!(numbered(Path::new(path), 2), Path::new(expected));
        }
    }
}
