//! `gpuledger scenario`: where work should run, without a server and without a database.

use std::path::PathBuf;

use anyhow::Context;

use super::{Done, print_json};
use crate::clock;
use crate::command_output::{remark, say};
use crate::economics::check;
use crate::economics::comparison::Comparison;
use crate::economics::uncertainty::Input;
use crate::economics::{Answer, Payback, file};
use crate::money::Decimal;
use crate::price_catalogue::Catalogue;

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
    let mut answer = match Answer::of(&scenario) {
        Ok(answer) => answer,
        Err(refused) => {
            for it in file::located(&text, &refused.0) {
                remark!("{path}, {it}");
            }
            return Ok(Done::Failed);
        }
    };
    // What the page says of prices beside the list: that they are old, or far from it.
    let odd = check::prices(&scenario, Catalogue::shipped(), clock::now().date_naive());
    answer.comparison.warnings.extend(odd.iter().cloned());
    if json {
        print_json(&answer)?;
    } else {
        print(&answer.comparison)?;
        print_how_sure(&answer)?;
        for it in file::located(&text, &answer.comparison.warnings) {
            remark!("{path}, {it}");
        }
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
        if let Some(it) = &option.fallback {
            say!(
                "  That is expected: {} if it works, with a chance of {} %; else {}, {} in vain and then {}",
                it.if_it_works.round(2),
                option.chance.times(100).normalize(),
                it.if_it_fails.round(2),
                it.in_vain.round(2),
                compared.options[it.option].name
            )?;
        }
        let worth = format!("Present value at {} a year", percent(compared.cost_of_capital));
        say!("  {worth:<40} {:>20}", option.present_value.round(2))?;
        say!("  {:<40} {:>20}", "For a productive GPU-hour", hour(option.per_productive_hour))?;
        for (other, payback) in &option.paybacks {
            let described = match payback {
                Payback::AtOnce => "at once".to_owned(),
                Payback::WithSale { months } => {
                    format!("only with what is sold after {} months", months.round(1))
                }
                Payback::After { months } => format!("after {} months", months.round(1)),
                Payback::Never => "not within these months".to_owned(),
            };
            say!("  Paid back against {}: {described}", compared.options[*other].name)?;
        }
        for reason in &option.fails {
            say!("  Does not do the work: {reason}")?;
        }
    }
    Ok(())
}

fn percent(share: Decimal) -> String {
    format!("{} %", share.times(100).round(2).normalize())
}

/// How far the cheapest is ahead, in how many simulations it stays so, and what would make it another.
fn print_how_sure(answer: &Answer) -> anyhow::Result<()> {
    let Some(cheapest_option) = &answer.cheapest_option else { return Ok(()) };
    let name = |at: usize| &answer.comparison.options[at].name;
    let drawn = &answer.simulation.options[cheapest_option.cheapest];
    let (p10, p90) = (drawn.p10.round(2), drawn.p90.round(2));
    let ahead = cheapest_option.ahead.round(2);
    say!(
        "\n{} is {ahead} ahead of {} in present value",
        name(cheapest_option.cheapest),
        name(cheapest_option.next)
    )?;
    say!("  In eight of ten of {} simulations it costs between {p10} and {p90}", answer.simulation.draws)?;
    say!("  It costs least in {} of them", percent(drawn.cheapest.unwrap_or_default()))?;
    let described = |input: &Input, value: Decimal| {
        if input.in_percent { percent(value) } else { value.normalize().to_string() }
    };
    for break_point in &cheapest_option.break_points {
        let (input, way) =
            (&break_point.input, if break_point.value < break_point.input.value { "below" } else { "above" });
        let (value, now) = (described(input, break_point.value), described(input, input.value));
        say!("  With {} at or {way} {value} (now {now}) {} costs less", input.label, name(break_point.to))?;
    }
    Ok(())
}
