//! `gpuledger generate`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context;

use super::{Done, print_json};
use crate::command_output::say;
use crate::generate::{self, Columns, Format, Plan};
use crate::money::Currency;
use crate::period::BillingMonth;

#[derive(clap::Args)]
pub struct Arguments {
    /// aws-cur or focus.
    #[arg(long, default_value = "aws-cur")]
    format: Format,

    /// Rows after the header.
    #[arg(long, default_value_t = 100_000)]
    rows: u64,

    /// Billing month.
    #[arg(long, default_value = "2026-09")]
    month: BillingMonth,

    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Currency of every amount.
    #[arg(long)]
    currency: Option<String>,

    /// FOCUS ProviderName.
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

    /// Columns of an aws-cur: 63 or 137.
    #[arg(long, default_value = "137")]
    columns: Columns,

    /// Invoice of the closed month; left out, the month is open.
    #[arg(long)]
    invoice_id: Option<String>,

    /// Where to write; a file that exists is written over.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

pub fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Done> {
    let new = if arguments.fleet { Plan::of_fleet } else { Plan::new };
    let mut plan = new(arguments.format, arguments.rows, arguments.month, arguments.seed);
    plan.columns = arguments.columns;
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
    let file = File::create(&arguments.output).with_context(|| format!("{path} cannot be written"))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let totals = generate::write(&plan, &mut out)
        .and_then(|totals| out.flush().map(|()| totals))
        .with_context(|| format!("{path} was not written"))?;
    if json {
        print_json(&totals)?;
    } else {
        say!(
            "{path}: {} rows, billed {}, effective {} {}",
            totals.rows,
            totals.billed,
            totals.effective,
            plan.currency
        )?;
    }
    Ok(Done::Well)
}
