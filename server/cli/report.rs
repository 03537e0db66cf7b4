//! `gpuledger report`: the figures of the pages, without a server.

use super::{Done, Session, print_json};
use crate::accounts::Viewer;
use crate::money::Currency;
use crate::period::Period;
use crate::report::{self, CostBasis, Filter, Grouping, Question};

#[derive(clap::Subcommand)]
pub enum Report {
    /// Spend of a period in groups.
    Spend(Spend),
}

#[derive(clap::Args)]
pub struct Spend {
    /// A month (2026-09), a quarter (2026-Q3), a year (2026) or a range (2026-01..2026-09).
    #[arg(long)]
    period: Period,

    /// What to group by: provider, account, service, region, accelerator, pricing, category, sku,
    /// resource, day, month, tag:KEY.
    #[arg(long, default_value = "provider")]
    by: Grouping,

    /// Which cost: billed, effective, contracted, list.
    #[arg(long, default_value = "effective")]
    cost: CostBasis,

    /// Only this currency; without it the most used one of the period.
    #[arg(long, value_parser = currency)]
    currency: Option<Currency>,

    /// Groups to keep; the rest is folded into one.
    #[arg(long)]
    limit: Option<usize>,

    /// As of this sequence of the ledger.
    #[arg(long)]
    sequence: Option<i64>,

    /// Keep only what has this value in a dimension, such as provider=AWS or tag:team=vision. May be repeated.
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
    sku: Vec<String>,
    #[arg(long)]
    resource: Vec<String>,
}

pub async fn run(session: Session, report: Report) -> anyhow::Result<Done> {
    let Report::Spend(arguments) = report;
    let question = arguments.question();
    let mut db = session.pool.acquire().await?;
    let spend = report::spend(&mut db, &question).await?;
    if session.json {
        print_json(&spend)?;
        return Ok(Done::Well);
    }
    let Some(total) = &spend.total else {
        println!("{}: nothing was imported for this period", spend.period);
        return Ok(Done::Well);
    };
    println!("{} {} by {}, {}", spend.period, spend.cost, spend.by, total.currency);
    for group in &spend.groups {
        println!(
            "{:>20}  {:>14} h  {}",
            group.cost.amount.round(2),
            group.accelerator_hours.round(1),
            group.label
        );
    }
    println!("{:>20}  {:>14} h  total", total.amount.round(2), spend.accelerator_hours.round(1));
    if !spend.other_currencies.is_empty() {
        let others: Vec<&str> = spend.other_currencies.iter().map(Currency::as_str).collect();
        println!("not in the total: {}", others.join(", "));
    }
    if spend.rejected_rows > 0 {
        println!("incomplete: {} rows were rejected", spend.rejected_rows);
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
            (Grouping::Sku, flags.sku),
            (Grouping::Resource, flags.resource),
        ];
        let named = named.into_iter().map(|(dimension, values)| Filter { dimension, values });
        Question {
            period: self.period,
            by: self.by,
            cost: self.cost,
            currency: self.currency,
            filters: Filter::merge(self.filters.into_iter().chain(named)),
            limit: self.limit,
            sequence: self.sequence,
            viewer: Viewer::Everything,
        }
    }
}

fn currency(text: &str) -> Result<Currency, String> {
    Currency::parse(text).ok_or_else(|| "expected a currency such as USD".to_owned())
}

fn filter(text: &str) -> Result<Filter, String> {
    let (dimension, value) = text.rsplit_once('=').ok_or("expected DIMENSION=VALUE")?;
    let dimension = dimension.parse().map_err(|error: report::ParseQuestionError| error.to_string())?;
    Ok(Filter { dimension, values: vec![value.to_owned()] })
}
