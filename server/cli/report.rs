//! `gpuledger report`: the figures of the pages, without a server.

use super::{Done, Session, print_json};
use crate::accounts::Viewer;
use crate::command_output::say;
use crate::money::{Currency, Decimal};
use crate::period::Period;
use crate::report::{self, Answers, CostMetric, Filter, Grouping, Question, Unconverted, Unpriced};

#[derive(clap::Subcommand)]
pub enum Report {
    /// Spend of a period in groups.
    Spend(Box<Spend>),
}

#[derive(clap::Args)]
pub struct Spend {
    /// A month (2026-09), a quarter (2026-Q3), a year (2026) or a range (2026-01..2026-09).
    #[arg(long)]
    period: Period,

    /// What to group by: provider, account, service, region, accelerator, pricing, category, commitment-status,
    /// usage-type, sku, resource, day, month, use, job, user, node, queue, namespace, tag:KEY.
    #[arg(long, default_value = "service")]
    by: Grouping,

    /// What to break each group down by: a dimension as of --by.
    #[arg(long)]
    then: Option<Grouping>,

    /// Which cost: billed, effective, contracted, list.
    #[arg(long, default_value = "effective")]
    cost: CostMetric,

    /// Only charges in this currency. Without it, everything in the reporting currency; where none was chosen, the most
    /// used one of the period.
    #[arg(long, value_parser = currency)]
    currency: Option<Currency>,

    /// Convert amounts into this currency, each month at its exchange rate. Without it, into the reporting currency.
    #[arg(long = "in", value_name = "CURRENCY", value_parser = currency)]
    convert_into: Option<Currency>,

    /// Groups to keep; the rest is folded into one.
    #[arg(long)]
    limit: Option<usize>,

    /// As of this sequence of the ledger.
    #[arg(long)]
    sequence: Option<i64>,

    /// Keep only what has this value in a dimension, such as provider=AWS or tag:team=vision, or with not: before it
    /// leave it out. May be repeated.
    #[arg(long = "filter", value_name = "DIMENSION=VALUE", value_parser = filter)]
    filters: Vec<Filter>,

    #[command(flatten)]
    dimensions: Dimensions,
}

/// The dimensions as flags of their own.
#[derive(clap::Args)]
struct Dimensions {
    #[arg(long)]
    provider: Vec<String>,
    #[arg(long)]
    account: Vec<String>,
    #[arg(long)]
    service: Vec<String>,
    #[arg(long)]
    region: Vec<String>,
    #[arg(long)]
    accelerator: Vec<String>,
    #[arg(long)]
    pricing: Vec<String>,
    #[arg(long)]
    category: Vec<String>,
    #[arg(long)]
    commitment_status: Vec<String>,
    #[arg(long)]
    usage_type: Vec<String>,
    #[arg(long)]
    sku: Vec<String>,
    #[arg(long)]
    resource: Vec<String>,
}

pub async fn run(session: Session, report: Report) -> anyhow::Result<Done> {
    let Report::Spend(arguments) = report;
    let question = arguments.question();
    let mut db = session.pool.acquire().await?;
    let spend = Answers::default().priced_spend(&mut db, &question).await?;
    if session.json {
        print_json(&spend)?;
        return Ok(Done::Well);
    }
    let Some(total) = &spend.total else {
        say!("{}: nothing was imported for this period", spend.period)?;
        return Ok(Done::Well);
    };
    let only = spend.only.as_ref().map(|only| format!(", {only} only")).unwrap_or_default();
    say!("{} {} by {}, {}{only}", spend.period, spend.cost, spend.by, total.currency)?;
    let has_owned = spend.has_owned_hours();
    let owned = |hours: Decimal| {
        if has_owned { format!("  {:>14} h owned", hours.round(1)) } else { String::new() }
    };
    let line = |group: &report::Group, indent: &str| {
        let (cost, hours) = (group.cost.amount.round(2), group.accelerator_hours.round(1));
        say!("{cost:>20}  {hours:>14} h{}  {indent}{}", owned(group.owned_hours), group.label)
    };
    for group in &spend.groups {
        line(group, "")?;
        for inside in &group.groups {
            line(inside, "  ")?;
        }
    }
    let (cost, hours) = (total.amount.round(2), spend.accelerator_hours.round(1));
    say!("{cost:>20}  {hours:>14} h{}  total", owned(spend.owned_hours))?;
    if !spend.other_currencies.is_empty() {
        let others: Vec<&str> = spend.other_currencies.iter().map(Currency::as_str).collect();
        say!("not in the total: {}", others.join(", "))?;
    }
    for used in &spend.rates {
        say!("{}: 1 {} = {} {}, {}", used.month, used.currency, used.rate, used.into, used.source)?;
    }
    for (of, unconverted) in [("total", &spend.unconverted), ("previous", &spend.previous_unconverted)] {
        for Unconverted { month, cost } in unconverted {
            say!("not in the {of}: {} {} of {month}, which has no rate", cost.amount, cost.currency)?;
        }
    }
    if spend.rejected_rows > 0 {
        say!("incomplete: {} rows were rejected", spend.rejected_rows)?;
    }
    if spend.unpriced.charges > 0 {
        let Unpriced { charges, accelerator_hours } = &spend.unpriced;
        say!("unpriced: {charges} charges have no rate yet ({accelerator_hours} GPU-hours)")?;
    }
    Ok(Done::Well)
}

impl Spend {
    fn question(self) -> Question {
        let flags = self.dimensions;
        let named = [
            (Grouping::Provider, flags.provider),
            (Grouping::Account, flags.account),
            (Grouping::Service, flags.service),
            (Grouping::Region, flags.region),
            (Grouping::Accelerator, flags.accelerator),
            (Grouping::Pricing, flags.pricing),
            (Grouping::Category, flags.category),
            (Grouping::CommitmentStatus, flags.commitment_status),
            (Grouping::UsageType, flags.usage_type),
            (Grouping::Sku, flags.sku),
            (Grouping::Resource, flags.resource),
        ];
        let named = named.into_iter().map(|(dimension, values)| Filter::keep(dimension, values));
        Question {
            by: self.by,
            then: self.then,
            cost: self.cost,
            currency: self.currency,
            convert_into: self.convert_into,
            filters: Filter::merge(self.filters.into_iter().chain(named)),
            limit: self.limit,
            sequence: self.sequence,
            ..Question::of(self.period, Viewer::Everything)
        }
    }
}

fn currency(text: &str) -> Result<Currency, String> {
    Currency::parse(text).ok_or_else(|| "expected a currency such as USD".to_owned())
}

fn filter(text: &str) -> Result<Filter, String> {
    let (dimension, value) = text.rsplit_once('=').ok_or("expected DIMENSION=VALUE")?;
    let (dimension, leaves_out) =
        dimension.strip_prefix("not:").map_or((dimension, false), |rest| (rest, true));
    let dimension = dimension.parse().map_err(|error: report::ParseQuestionError| error.to_string())?;
    Ok(Filter { dimension, values: vec![value.to_owned()], leaves_out })
}
