//! What jobstats leaves in a job's `AdminComment`: `JS1:` and a summary as JSON, packed and in base64
//! (<https://princetonuniversity.github.io/jobstats/setup/summaries/>).

use std::collections::BTreeMap;
use std::io::Read as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use serde::Deserialize;

use crate::telemetry::metered::ten_thousandths;

/// Larger summaries are not read: those of the largest jobs are a hundredth of it.
const MOST: u64 = 16 << 20;

#[derive(Deserialize)]
struct Summary {
    #[serde(default)]
    nodes: BTreeMap<String, Node>,
}

#[derive(Deserialize)]
struct Node {
    /// Percent, by the number of the accelerator.
    #[serde(default)]
    gpu_utilization: BTreeMap<String, f64>,
}

/// How much the accelerators of each node worked on average, as [`crate::telemetry::job::Holding::utilization`] counts. Empty
/// where the comment is none of jobstats, or says that the job was too short or was not measured.
pub fn utilization(comment: &str) -> BTreeMap<String, u32> {
    summary(comment).map_or_else(BTreeMap::new, |summary| {
        let of_node = |(name, node): (String, Node)| Some((name, mean(node.gpu_utilization.values())?));
        summary.nodes.into_iter().filter_map(of_node).collect()
    })
}

fn summary(comment: &str) -> Option<Summary> {
    let packed = comment.trim().strip_prefix("JS1:")?;
    let packed = BASE64_STANDARD.decode(packed.trim()).ok()?;
    let mut json = Vec::new();
    GzDecoder::new(packed.as_slice()).take(MOST).read_to_end(&mut json).ok()?;
    serde_json::from_slice(&json).ok()
}

/// `None` of nothing, and of what is no percentage.
fn mean<'a>(percents: impl Iterator<Item = &'a f64>) -> Option<u32> {
    let (mut sum, mut count) = (0.0, 0_u32);
    for percent in percents {
        if !(0.0..=100.0).contains(percent) {
            return None;
        }
        sum += percent;
        count += 1;
    }
    (count > 0).then(|| ten_thousandths(sum / f64::from(count) / 100.0))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn comment(json: &str) -> String {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(json.as_bytes()).unwrap();
        format!("JS1:{}", BASE64_STANDARD.encode(packed.finish().unwrap()))
    }

    #[test]
    fn a_summary_says_how_busy_each_node_was() {
        let json = r#"{"gpus": 4, "nodes": {
            "n1": {"cpus": 12, "gpu_utilization": {"0": 98.6, "1": 0}, "gpu_used_memory": {"0": 1}},
            "n2": {"cpus": 12, "gpu_utilization": {"3": 50}},
            "n3": {"cpus": 12}, "n4": {"gpu_utilization": {"0": 1000}}
        }, "total_time": 50944}"#;
        let expected = BTreeMap::from([("n1".to_owned(), 4930), ("n2".to_owned(), 5000)]);
        assert_eq!(utilization(&comment(json)), expected);
    }

    #[test]
    fn anything_else_measured_nothing() {
        for text in ["", "JS1:Short", "JS1:None", "JS1:!!", "JS1:aGVsbG8=", "looks fine", &comment("[]")] {
            assert!(utilization(text).is_empty(), "{text}");
        }
    }
}
