//! Answers of Prometheus' HTTP API to `query_range`.

use std::io::{self, Write};

use serde_json::{Map, Value};

/// In the order in which they are written.
pub(crate) type Labels = Vec<(&'static str, String)>;

/// A series: its labels, and its points as a time (seconds since 1970) and a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    pub(crate) labels: Labels,
    pub(crate) points: Vec<(i64, String)>,
}

/// Writes an answer with these series.
pub(crate) fn write(out: &mut impl Write, series: &[Series]) -> io::Result<()> {
    write!(out, r#"{{"status":"success","data":{{"resultType":"matrix","result":["#)?;
    for (place, it) in series.iter().enumerate() {
        let labels: Map<String, Value> =
            it.labels.iter().map(|(name, value)| ((*name).to_owned(), Value::from(value.as_str()))).collect();
        let comma = if place == 0 { "" } else { "," };
        write!(out, r#"{comma}{{"metric":{},"values":["#, Value::from(labels))?;
        for (place, (at, value)) in it.points.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(out, r#"{comma}[{at},"{value}"]"#)?;
        }
        write!(out, "]}}")?;
    }
    writeln!(out, "]}}}}")
}
