//! `sacct --json`, of several versions: numbers stand plain, or in `{set, infinite, number}` since 23.11, and the state of a job as a
//! word or a list of words.

use std::io::Read;

use chrono::DateTime;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::entry::{self, Entry, Time, Wrong};
use super::tres::{self, Gpus};
use crate::billing::Refusal;
use crate::telemetry::job::Job;
use crate::telemetry::reading::{Item, Zones, shown};
use crate::telemetry::walk_json::walk;

const EXPECTED: &str = "the answer of sacct --json, which has a list of jobs";

#[derive(Deserialize, Default)]
#[serde(default)]
struct Entered {
    job_id: Number,
    name: Text,
    user: Text,
    account: Text,
    partition: Text,
    qos: Text,
    cluster: Text,
    nodes: Text,
    state: State,
    time: Times,
    tres: Resources,
    array: Array,
    het: Heterogeneous,
    comment: Comments,
    wckey: WcKey,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct State {
    current: Words,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Times {
    submission: Number,
    start: Number,
    end: Number,
    elapsed: Number,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Resources {
    allocated: Vec<Resource>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Resource {
    #[serde(rename = "type")]
    kind: Text,
    name: Text,
    count: Number,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Array {
    job_id: Number,
    task_id: Number,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Heterogeneous {
    job_id: Number,
    job_offset: Number,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Comments {
    administrator: Text,
    job: Text,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WcKey {
    wckey: Text,
}

/// A text, or none.
#[derive(Default)]
struct Text(String);

/// A whole number, plain or wrapped; `None` where it is not set.
#[derive(Clone, Copy, Default)]
struct Number(Option<i64>);

/// A word, or a list of them.
#[derive(Default)]
struct Words(Vec<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Value::deserialize(deserializer)? {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        }))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(number(&Value::deserialize(deserializer)?)))
    }
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::Object(wrapped) => {
            let is = |name: &str| wrapped.get(name).and_then(Value::as_bool);
            let is_number = is("set") != Some(false) && is("infinite") != Some(true);
            wrapped.get("number").filter(|_| is_number).and_then(number)
        }
        _ => None,
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Ok(Self(match Value::deserialize(deserializer)? {
            Value::Array(words) => words.iter().filter_map(text).collect(),
            other => text(&other).into_iter().collect(),
        }))
    }
}

impl Entered {
    fn entry(self) -> Result<Entry, Wrong> {
        let raw_id = self.job_id.0.filter(|id| *id > 0);
        let raw_id =
            raw_id.ok_or_else(|| Wrong::new("job_id", "nothing", "the number of a job"))?.to_string();
        let part = |number: Number| number.0.filter(|it| *it > 0);
        let id = match (
            part(self.array.job_id),
            self.array.task_id.0,
            part(self.het.job_id),
            self.het.job_offset.0,
        ) {
            (Some(array), Some(task), ..) => format!("{array}_{task}"),
            (_, _, Some(first), Some(offset)) => format!("{first}+{offset}"),
            _ => raw_id.clone(),
        };
        let gpus = gpus(&self.tres.allocated)?;
        let time = |number: Number| part(number).and_then(|it| DateTime::from_timestamp(it, 0)).map(Time::At);
        let job = Job {
            cluster: self.cluster.0,
            id,
            name: self.name.0,
            user: self.user.0,
            account: self.account.0,
            project: self.wckey.wckey.0,
            queue: self.partition.0,
            qos: self.qos.0,
            comment: self.comment.job.0,
            state: entry::state(self.state.current.0.first().map_or("", String::as_str)),
            ..Job::default()
        };
        Ok(Entry {
            job,
            raw_id,
            submitted: time(self.time.submission),
            started: time(self.time.start),
            ended: time(self.time.end),
            elapsed: self.time.elapsed.0.and_then(|it| u64::try_from(it).ok()),
            states_times: true,
            gpus,
            nodes: self.nodes.0,
            admin_comment: self.comment.administrator.0,
        })
    }
}

fn gpus(allocated: &[Resource]) -> Result<Option<Gpus>, Wrong> {
    let (mut untyped, mut typed) = (None, Vec::new());
    for resource in allocated.iter().filter(|it| it.kind.0 == "gres") {
        let Some(rest) = resource.name.0.strip_prefix("gpu") else { continue };
        let count = resource.count.0.and_then(|it| u64::try_from(it).ok()).filter(|it| *it <= tres::MOST);
        let count =
            count.ok_or_else(|| Wrong::new("tres.allocated", resource.name.0.clone(), "a number of GPUs"))?;
        match rest.strip_prefix(':') {
            Some(model) => typed.push((model.to_owned(), count)),
            None if rest.is_empty() => untyped = Some(count),
            None => {}
        }
    }
    Ok((untyped.is_some() || !typed.is_empty()).then(|| tres::of(untyped, &typed)))
}

/// Reads an answer to its end, one job at a time.
///
/// # Errors
/// A [`Refusal`] where it is none, or cannot be read.
pub fn read(input: impl Read, zones: &Zones, each: &mut dyn FnMut(Item)) -> Result<(), Refusal> {
    let mut row = 0;
    // As a value first: what one job has in another shape is that job's fault.
    let mut job = |value: Value| {
        row += 1;
        let made = Entered::deserialize(value)
            .map_err(|error: serde_json::Error| Wrong::new("", error.to_string(), EXPECTED))
            .and_then(Entered::entry)
            .and_then(|entry| {
                let zone = zones.of(&entry.job.cluster);
                entry::job(entry, zone)
            });
        each(match made {
            Ok(Ok(job)) => Item::Job(Box::new(job)),
            Ok(Err(skip)) => Item::Skipped(skip),
            Err(Wrong { column, found, expected }) => Item::rejected(row, column, &found, &expected),
        });
    };
    let met = walk(input, &["jobs", "*"], &["errors"], EXPECTED, &mut job)?;
    let errors = met.kept.get("errors").and_then(Value::as_array).filter(|errors| !errors.is_empty());
    match errors {
        Some(errors) if row == 0 => {
            let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Err(Refusal::new(format!("an answer that says: {}", shown(&said.join("; "))), EXPECTED))
        }
        _ if met.is_there => Ok(()),
        _ => Err(Refusal::new("JSON without a list of jobs", EXPECTED)),
    }
}
