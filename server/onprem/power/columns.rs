//! Which columns a meter's file has: recognized by the words in their names, so that `Energy (kWh)`, `energy_kwh`
//! and `kWh` are one.

use serde::{Deserialize, Serialize};

use crate::entered_csv::{EnteredCsv, RefusedRow};
use crate::money::Decimal;

/// What the values of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Intervals,
    Register,
    Power,
}

/// What a file is read by.
pub(super) struct Columns {
    /// Of a file of one meter there is none.
    pub meter: Option<usize>,
    pub times: Times,
    pub value: usize,
    pub unit: Unit,
    pub kind: Kind,
}

#[derive(Clone, Copy)]
pub(super) enum Times {
    Between(usize, usize),
    At(usize),
}

/// What a value counts: so many kWh, or so many kW, is one.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    Energy(Decimal),
    Power(Decimal),
}

/// Names of a column's words. A file that has several takes the one by the first name, and else none.
const METER: &[&str] = &[
    "meter",
    "meter_id",
    "meter_name",
    "device",
    "device_id",
    "device_name",
    "pdu",
    "pdu_id",
    "pdu_name",
    "outlet",
    "node",
    "node_name",
    "host",
    "hostname",
    "sensor",
    "rack",
];
const FROM: &[&str] = &[
    "from",
    "start",
    "begin",
    "start_time",
    "start_at",
    "start_timestamp",
    "start_date",
    "from_time",
    "interval_start",
    "interval_begin",
    "period_start",
];
const UNTIL: &[&str] = &[
    "until",
    "to",
    "end",
    "stop",
    "end_time",
    "end_at",
    "end_timestamp",
    "end_date",
    "to_time",
    "until_time",
    "interval_end",
    "period_end",
];
const AT: &[&str] = &[
    "at",
    "time",
    "timestamp",
    "time_stamp",
    "datetime",
    "date_time",
    "ts",
    "read_at",
    "reading_time",
    "recorded_at",
    "measured_at",
    "sampled_at",
    "collected_at",
];
/// What makes a column of energy one of a register.
const CUMULATIVE: &[&str] = &["total", "cumulative", "register", "counter", "lifetime", "running", "reading"];
/// What a column with a unit is about when it is neither energy nor mean power.
const OTHER: &[&str] = &[
    "per", "price", "cost", "rate", "tariff", "max", "maximum", "min", "minimum", "peak", "rated", "limit",
    "budget",
];

pub(super) const EXPECTED: &str = "the columns meter,from,until,kwh (energy of an interval), meter,at,total_kwh \
                                   (a register that grows) or meter,at,watts (power)";

impl Columns {
    pub fn of(file: &EnteredCsv<'_>) -> Result<Self, RefusedRow> {
        file.refuse_semicolons("header")?;
        let header = &file.header;
        let names: Vec<Vec<String>> = header.iter().map(words).collect();
        let refused = |found: String, expected: String| RefusedRow::new(0, "header", &found, expected);
        let called = |places: &[usize]| -> String {
            places.iter().filter_map(|place| header.get(*place)).collect::<Vec<_>>().join(",")
        };
        let place_of = |role: &[&str], what: &str| -> Result<Option<usize>, RefusedRow> {
            let places: Vec<usize> =
                (0..names.len()).filter(|place| role.contains(&names[*place].join("_").as_str())).collect();
            let first = places.iter().find(|place| names[**place].join("_") == role[0]);
            match (places.as_slice(), first) {
                ([] | [_], _) => Ok(places.first().copied()),
                (_, Some(first)) => Ok(Some(*first)),
                _ => Err(refused(called(&places), format!("one column for {what}; call it {}", role[0]))),
            }
        };
        let meter = place_of(METER, "the meter")?;
        let times = match (place_of(FROM, "the start")?, place_of(UNTIL, "the end")?) {
            (Some(from), Some(until)) => Some(Times::Between(from, until)),
            // A start without an end is no interval; another column may be the time.
            _ => place_of(AT, "the time")?.map(Times::At),
        };
        let units: Vec<(usize, Unit, bool)> = names
            .iter()
            .enumerate()
            .filter_map(|(place, words)| {
                let is_cumulative = words.iter().any(|word| CUMULATIVE.contains(&word.as_str()));
                Some((place, unit(words)?, is_cumulative))
            })
            .collect();
        let (Some(times), false) = (times, units.is_empty()) else {
            let missing = match (times.is_none(), units.is_empty()) {
                (true, true) => "times and values",
                (true, false) => "times",
                _ => "values with their unit",
            };
            let found: Vec<&str> = header.iter().take(8).collect();
            return Err(refused(found.join(","), format!("{EXPECTED}; missing: {missing}")));
        };
        // Energy is what is paid for; power beside it says the same less exactly.
        let has_energy = units.iter().any(|(_, unit, _)| matches!(unit, Unit::Energy(_)));
        let wants_register = matches!(times, Times::At(_));
        let mut fitting = units;
        fitting.retain(|(_, unit, _)| matches!(unit, Unit::Energy(_)) == has_energy);
        // One time goes with a register, two with what was used between them.
        if has_energy && fitting.iter().any(|(_, _, is_cumulative)| *is_cumulative == wants_register) {
            fitting.retain(|(_, _, is_cumulative)| *is_cumulative == wants_register);
        }
        let places: Vec<usize> = fitting.iter().map(|(place, ..)| *place).collect();
        let [(value, unit, is_cumulative)] = fitting[..] else {
            return Err(refused(called(&places), "one column of values; leave out the others".to_owned()));
        };
        if has_energy && is_cumulative && !wants_register {
            let expected = "the energy of each interval (kwh); a register has one time (at)";
            return Err(refused(called(&places), expected.to_owned()));
        }
        let kind = match (times, unit) {
            (Times::Between(..), _) => Kind::Intervals,
            (Times::At(_), Unit::Energy(_)) => Kind::Register,
            (Times::At(_), Unit::Power(_)) => Kind::Power,
        };
        Ok(Self { meter, times, value, unit, kind })
    }
}

/// `Energy (kWh)` as `energy`, `kwh`; that a time is in UTC is no part of its name.
fn words(cell: &str) -> Vec<String> {
    let words = cell.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).filter(|word| word != "utc").collect()
}

fn unit(words: &[String]) -> Option<Unit> {
    if words.iter().any(|word| OTHER.contains(&word.as_str())) {
        return None;
    }
    let (kilo, one, milli) = (Decimal::from(1000), Decimal::from(1), Decimal::new(1, 3));
    let units = words.iter().filter_map(|word| match word.as_str() {
        "wh" => Some(Unit::Energy(milli)),
        "kwh" | "energykwh" => Some(Unit::Energy(one)),
        // No meter counts in thousandths of a watt-hour.
        "mwh" => Some(Unit::Energy(kilo)),
        "w" | "watt" | "watts" | "powerwatts" | "powerconsumedwatts" => Some(Unit::Power(milli)),
        "kw" | "kilowatt" | "kilowatts" => Some(Unit::Power(one)),
        _ => None,
    });
    let units: Vec<Unit> = units.collect();
    match (units.as_slice(), words) {
        ([unit], _) => Some(*unit),
        // What utilities send without saying so.
        ([], [word]) if matches!(word.as_str(), "energy" | "consumption") => Some(Unit::Energy(one)),
        _ => None,
    }
}
