//! `gpuledger scenario`: where work should run, without a server and without a database.

use std::path::PathBuf;

use anyhow::Context;

use super::{Done, print_json};
use crate::money::Decimal;
use crate::scenario::comparison::Comparison;
use crate::scenario::{Payback, file};
use crate::terminal::{remark, say};

#[derive(clap::Args)]
pub struct Arguments {
    /// What is compared, as a page of scenarios hands it out.
    file: PathBuf,
}

pub fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Done> {
    let path = arguments.file.display();
    let text = std::fs::read_to_string(&arguments.file).with_context(|| format!("{path} cannot be read"))?;
    let scenario = match file::read(&text) {
        Ok(scenario) => scenario,
        Err(wrong) => {
            for it in wrong {
                remark!("{path}, {it}");
            }
            return Ok(Done::Failed);
        }
    };
    let compared = scenario.compare().with_context(|| format!("{path} cannot be computed with"))?;
    if json {
        print_json(&compared)?;
    } else {
        print(&compared)?;
    }
    Ok(Done::Well)
}

fn print(compared: &Comparison) -> anyhow::Result<()> {
    let currency = &compared.currency;
    let hour =
        |cost: Option<Decimal>| cost.map_or_else(|| "undefined".to_owned(), |cost| cost.round(4).to_string());
    say!("Over {} months, in {currency}", compared.months)?;
    for work in &compared.work {
        let (hours, mean, peak) = (work.gpu_hours.round(0), work.mean.round(1), work.peak.round(1));
        say!("  {}: {hours} GPU-hours, {mean} GPUs on average, {peak} at most", work.name)?;
    }
    for (at, option) in compared.options.iter().enumerate() {
        let mark = if compared.cheapest == Some(at) { ", the cheapest" } else { "" };
        say!("\n{}{mark}", option.name)?;
        for line in &option.lines {
            say!("  {:<40} {:>20}", line.name, line.cost.round(2))?;
        }
        say!("  {:<40} {:>20}", "Total", option.total.round(2))?;
        say!("  {:<40} {:>20}", "For a productive GPU-hour", hour(option.per_productive_hour))?;
        for (other, payback) in &option.paybacks {
            let told = match payback {
                Payback::AtOnce => "at once".to_owned(),
                Payback::After { months } => format!("after {} months", months.round(1)),
                Payback::Never => "not within these months".to_owned(),
            };
            say!("  Paid back against {}: {told}", compared.options[*other].name)?;
        }
        for reason in &option.fails {
            say!("  Does not do the work: {reason}")?;
        }
    }
    for finding in &compared.warnings {
        remark!("{finding}");
    }
    Ok(())
}
