//! Readings of meters from a file: all of it, or nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use askama::Template;

use super::super::error::{Error, Result};
use super::super::extract::{Sending, Upload};
use super::super::layout::Layout;
use super::super::{paths, respond};
use super::to;
use crate::changes::{Document as _, Outcome, Problem};
use crate::compute::compute;
use crate::entered_csv::RefusedRow;
use crate::onprem::power;
use crate::onprem::{self, MeterReadings};

/// A year of quarter hours of forty meters.
const LARGEST_FILE: usize = 96 << 20;
/// Of what is wrong at most so much is shown.
const SHOWN: usize = 50;

#[derive(Template)]
#[template(path = "clusters/readings.html")]
struct RefusedPage {
    layout: Layout,
    cluster: String,
    name: String,
    rows: usize,
    refused: Vec<RefusedRow>,
}

impl RefusedPage {
    fn back(&self) -> String {
        to(&self.cluster)
    }
}

pub async fn load(path: paths::ClusterReadings, sending: Sending, mut upload: Upload) -> Result {
    let Sending { now, layout, by, app, .. } = sending;
    let (name, content) = upload.one_file(LARGEST_FILE).await?;
    let read = compute(move || power::read(&content)).await?;
    let mut db = app.db.acquire().await?;
    let (_, asset_register) = onprem::AssetRegister::current(&mut db).await?;
    let cluster = asset_register.cluster(&path.cluster).ok_or(Error::NotFound)?;
    let mut page =
        RefusedPage { layout, cluster: cluster.handle.clone(), name, rows: 0, refused: Vec::new() };
    let file = match read {
        Ok(file) => file,
        Err(refused) => {
            page.refused = vec![refused];
            return respond::refused(page);
        }
    };
    page.rows = file.rows;
    page.refused = file.refused;
    let meters: BTreeMap<&str, i64> = asset_register
        .meters()
        .filter(|(_, it)| it.cluster == cluster.handle)
        .map(|(id, it)| (it.name.as_str(), id))
        .collect();
    let mut by_meter: BTreeMap<i64, MeterReadings> = BTreeMap::new();
    for reading in file.readings {
        // Said once a meter: of the file, not of a row.
        let mut refuse = |column: &str, found: &str, expected: String| {
            let refused = RefusedRow::new(0, column, found, expected);
            if !page.refused.contains(&refused) {
                page.refused.push(refused);
            }
        };
        let Some(id) = meters.get(reading.meter.as_str()) else {
            let known: Vec<&str> = meters.keys().copied().collect();
            let expected = match known.as_slice() {
                [] => "a meter of this cluster: add the meter first".to_owned(),
                known => format!("a meter of this cluster: {}", known.join(", ")),
            };
            refuse("meter", &reading.meter, expected);
            continue;
        };
        if reading.from.date_naive() < cluster.since {
            let expected = format!("{} or later, when the cluster begins", cluster.since);
            refuse("time", &format!("readings of {} before that", reading.meter), expected);
            continue;
        }
        if reading.until > now {
            let expected = "readings up to now".to_owned();
            refuse(
                "time",
                &format!("readings of {} until {}", reading.meter, reading.until.date_naive()),
                expected,
            );
            continue;
        }
        let of_meter =
            by_meter.entry(*id).or_insert_with(|| MeterReadings { meter_id: *id, readings: Vec::new() });
        of_meter.readings.push(reading);
    }
    if !page.refused.is_empty() || by_meter.is_empty() {
        page.refused.truncate(SHOWN);
        return respond::refused(page);
    }
    let meters: Vec<MeterReadings> = by_meter.into_values().collect();
    let count: usize = meters.iter().map(|it| it.readings.len()).sum();
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let (readings, of) = (counted(count, "reading"), counted(meters.len(), "meter"));
    let summary = format!("{}: {readings} of {of} of {}", page.name, cluster.name);
    let outcome = onprem::take_readings(&mut db, &meters, &summary, by.at(now)).await?;
    if let Outcome::Refused(problems) = outcome {
        let refused = |it: Problem| {
            RefusedRow::new(0, "time", &it.of, format!("readings that do not overlap: {}", it.message))
        };
        page.refused = problems.into_iter().map(refused).collect();
        return respond::refused(page);
    }
    let mut sentence = format!("{summary}. Publish the changed months to update them.");
    if file.duplicates > 0 {
        let _ = write!(sentence, " {} readings were in the file twice.", file.duplicates);
    }
    if let Some(reset) = file.resets.first() {
        let _ = write!(
            sentence,
            " A meter restarted from zero {}, first in row {}.",
            if file.resets.len() == 1 { "once".to_owned() } else { format!("{} times", file.resets.len()) },
            reset.row
        );
    }
    if let Some(gap) = file.gaps.first() {
        let _ = write!(
            sentence,
            " Readings are missing {}, first from {} to {} ({}): whole days without readings are modeled.",
            if file.gaps.len() == 1 { "once".to_owned() } else { format!("{} times", file.gaps.len()) },
            gap.from.format("%Y-%m-%d %H:%M"),
            gap.until.format("%Y-%m-%d %H:%M"),
            gap.meter
        );
    }
    Ok(respond::flash(to(&cluster.handle), &sentence))
}
