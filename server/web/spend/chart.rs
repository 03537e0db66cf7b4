//! Spend over time as stacked columns.

use super::filters;
use crate::chart;
use crate::money::Decimal;
use crate::period::{BillingMonth, Period};
use crate::report::{Bucket, Series, Spend, Step};

pub(in crate::web) fn stack(spend: &Spend, step: Step, series: Series) -> chart::Stack {
    let time = match step {
        Step::Day => "day",
        Step::Month => "month",
    };
    let what = match &spend.by {
        by if by.is_time() || !spend.is_charted_by_group() => String::new(),
        by => format!(" and {}", by.label().to_lowercase()),
    };
    let others = series.groups.len() - usize::from(series.has_others);
    // Days of several months are distinguished by the month's name below its first.
    let has_months = step == Step::Day && !spend.period.is_one_month();
    chart::Stack {
        title: format!("{} by {time}{what}", spend.cost.label()),
        description: format!(
            "{}, stacked columns; the table below has the same figures.",
            spend.period.name()
        ),
        unit: spend.currency.as_ref().map(ToString::to_string).unwrap_or_default(),
        buckets: series.buckets.into_iter().map(|it| bucket(it, spend.period, has_months)).collect(),
        series: series
            .groups
            .into_iter()
            .enumerate()
            .map(|(i, (label, values))| chart::Series { label, values, is_other: i == others && i > 0 })
            .collect(),
        format: |amount: Decimal| filters::figure(amount, 2),
    }
}

fn bucket(bucket: Bucket, period: Period, has_months: bool) -> chart::Bucket {
    let month_label = |month| chart::month_label(month, (period.first(), period.last()));
    let ((label, names_year), name, is_apart) = match bucket {
        Bucket::Day(day) => {
            let label = match day.format("%-d").to_string() {
                first if has_months && first == "1" => month_label(BillingMonth::of(day)),
                _ if has_months => (String::new(), false),
                number => (number, false),
            };
            (label, day.format("%b %-d, %Y").to_string(), false)
        }
        Bucket::Month(month) => (month_label(month), month.first_day().format("%b %Y").to_string(), false),
        Bucket::WholePeriod => {
            (("Month".into(), false), "Whole period: tax, fees, subscriptions".into(), true)
        }
        Bucket::Outside => (("Outside".into(), false), "Outside the month".into(), true),
    };
    chart::Bucket { label, name, is_apart, names_year }
}
