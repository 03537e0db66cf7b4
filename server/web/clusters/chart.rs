//! The charts of a cluster's page.

use super::super::filters;
use crate::chart::{Bucket, COLOURS, Series, Stack};
use crate::money::{Currency, Decimal};
use crate::onprem::Component;
use crate::report::ClusterReport;
use crate::telemetry::by_week::HeldWeek;

pub(super) fn over_time(it: &ClusterReport, currency: &Currency) -> Stack {
    let mut totals: Vec<(Component, Decimal)> = Component::ALL
        .into_iter()
        .map(|component| {
            let of_month = it.recent().iter().filter_map(|month| month.summary.components.get(&component));
            (component, of_month.copied().sum::<Decimal>())
        })
        .filter(|(_, sum)| !sum.is_zero())
        .collect();
    totals.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    Stack {
        title: "Effective cost by month and component".to_owned(),
        description: "Stacked columns; the table below has the same figures.".to_owned(),
        unit: currency.to_string(),
        buckets: Bucket::months(&it.recent().iter().map(|it| it.summary.month).collect::<Vec<_>>()),
        series: totals
            .into_iter()
            .map(|(component, _)| Series {
                label: component.name().to_owned(),
                values: it
                    .recent()
                    .iter()
                    .map(|month| month.summary.components.get(&component).copied().unwrap_or_default())
                    .collect(),
                is_other: false,
            })
            .collect(),
        format: |amount: Decimal| filters::figure(amount, 2),
    }
}

/// Energy of the site, what was measured below what was computed.
pub(super) fn energy(it: &ClusterReport) -> Stack {
    let series =
        |label: &str, values: Vec<Decimal>| Series { label: label.to_owned(), values, is_other: false };
    Stack {
        title: "Energy of the site by month".to_owned(),
        description: "Stacked columns, measured and modeled; the table below has the same figures."
            .to_owned(),
        unit: "kWh".to_owned(),
        buckets: Bucket::months(&it.energy.iter().map(|it| it.month).collect::<Vec<_>>()),
        series: vec![
            series("Measured", it.energy.iter().map(|it| it.measured_kwh).collect()),
            series("Modeled", it.energy.iter().map(|it| it.modelled_kwh).collect()),
        ],
        format: |kwh: Decimal| filters::figure(kwh, 1),
    }
}

/// How many accelerators were held, by week.
pub(super) fn weeks(it: &ClusterReport) -> Stack {
    let bucket = |week: &HeldWeek| Bucket {
        label: week.begins.format("%b %-d").to_string(),
        name: format!("week from {}", week.begins.format("%b %-d, %Y")),
        is_apart: false,
        names_year: false,
    };
    Stack {
        title: "GPUs held by jobs, mean of each week".to_owned(),
        description: "Columns by week; the table below has the same figures, and the peak of each week."
            .to_owned(),
        unit: "GPUs".to_owned(),
        buckets: it.weeks.iter().map(bucket).collect(),
        series: vec![Series {
            label: "Held, mean".to_owned(),
            values: it.weeks.iter().map(|week| week.mean).collect(),
            is_other: false,
        }],
        format: |gpus: Decimal| filters::figure(gpus, 1),
    }
}

/// What the books say the assets are worth at the end of each year; the largest have a color of their own.
pub(super) fn book_values(it: &ClusterReport, currency: &Currency) -> Stack {
    let mut assets: Vec<(i64, Decimal)> = Vec::new();
    for (id, value) in it.year_ends.iter().flat_map(|end| &end.values) {
        match assets.iter_mut().find(|(known, _)| known == id) {
            Some((_, sum)) => *sum += *value,
            None => assets.push((*id, *value)),
        }
    }
    assets.sort_by_key(|(id, sum)| (std::cmp::Reverse(*sum), *id));
    let value = |end: &crate::onprem::YearEnd, id: i64| {
        end.values.iter().find(|(of, _)| *of == id).map_or(Decimal::ZERO, |(_, value)| *value)
    };
    let name = |id: i64| it.schedules.iter().find(|it| it.id == id).map(|it| it.name.clone());
    let of_asset = |id: i64, label: String| Series {
        label,
        values: it.year_ends.iter().map(|end| value(end, id)).collect(),
        is_other: false,
    };
    let (named, rest): (Vec<_>, Vec<_>) = assets
        .into_iter()
        .enumerate()
        .partition(|(place, (id, _))| *place < COLOURS - 1 && name(*id).is_some());
    let mut series: Vec<Series> =
        named.into_iter().map(|(_, (id, _))| of_asset(id, name(id).unwrap_or_default())).collect();
    if !rest.is_empty() {
        let sum = |end| rest.iter().map(|(_, (id, _))| value(end, *id)).sum();
        let values = it.year_ends.iter().map(sum).collect();
        series.push(Series { label: "other".to_owned(), values, is_other: true });
    }
    Stack {
        title: "Book value at the end of each year".to_owned(),
        description: "Stacked columns by asset, falling to what is left at the end of life.".to_owned(),
        unit: currency.to_string(),
        buckets: it
            .year_ends
            .iter()
            .map(|end| Bucket {
                label: end.year.to_string(),
                name: format!("Dec 31, {}", end.year),
                is_apart: false,
                names_year: false,
            })
            .collect(),
        series,
        format: |amount: Decimal| filters::figure(amount, 2),
    }
}
