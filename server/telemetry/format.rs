//! Which files of usage are read, and how they are recognized: by how they begin, never by their names.

use std::io::{self, Read};
use std::path::Path;

use super::columns::ColumnNames;
use super::reading::{Item, Zones};
use super::{nvidia_smi, opencost, openshift, plain_csv, prometheus, slurm};
use crate::billing::{self, Content, Refusal};
use crate::enum_words::{words, written_as_str};

/// Of what is looked at.
const START: u64 = 64 << 10;

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format: as_str, label {
        Slurm = "slurm", "Slurm accounting (sacct)";
        SlurmJson = "slurm-json", "Slurm accounting (sacct --json)";
        Prometheus = "prometheus", "Prometheus, series of the DCGM exporter";
        NvidiaSmi = "nvidia-smi", "nvidia-smi log";
        OpenShift = "openshift-gpu", "OpenShift GPU usage";
        OpenCost = "opencost", "OpenCost or Kubecost allocations";
        OpenCostCsv = "opencost-csv", "OpenCost export";
        PlainCsv = "usage-csv", "Usage as plain CSV";
    }
}

written_as_str!(Format);

/// What a text is, by its beginning. `None` where it is no usage. `said`: columns of CSV files, as somebody said.
pub fn recognize(start: &[u8], said: &[ColumnNames]) -> Option<Format> {
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('{') {
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let is_slurm = has(&["\"jobs\""]) && has(&["\"job_id\"", "\"Slurm\"", "\"slurm\""]);
        let is_prometheus = has(&["\"status\""]) && has(&["\"resultType\"", "\"errorType\""]);
        return if is_slurm {
            Some(Format::SlurmJson)
        } else if is_prometheus {
            Some(Format::Prometheus)
        } else {
            opencost::is_json(text).then_some(Format::OpenCost)
        };
    }
    let of_text = [
        (slurm::is_sacct(text), Format::Slurm),
        (nvidia_smi::is_log(text) || nvidia_smi::is_log_without_header(text), Format::NvidiaSmi),
        (openshift::is_usage(text), Format::OpenShift),
        (opencost::is_csv(text), Format::OpenCostCsv),
        (plain_csv::is_usage(text, said), Format::PlainCsv),
    ];
    of_text.into_iter().find_map(|(is_it, format)| is_it.then_some(format))
}

/// The same of a file, whatever it is packed in.
///
/// # Errors
/// Those of reading it. What cannot be unpacked is no usage: whoever reads bills says what it is.
pub fn recognize_file(path: &Path, said: &[ColumnNames]) -> io::Result<Option<Format>> {
    let Ok(Content::Text(text)) = billing::unpack(std::fs::File::open(path)?) else { return Ok(None) };
    let mut start = Vec::new();
    // What breaks off is said when it is read.
    let _ = text.take(START).read_to_end(&mut start);
    Ok(recognize(&start, said))
}

impl Format {
    /// Reads a text to its end.
    ///
    /// # Errors
    /// A [`Refusal`] of what cannot be read.
    pub fn read(
        self,
        text: impl Read,
        zones: &Zones,
        said: &[ColumnNames],
        each: &mut dyn FnMut(Item),
    ) -> Result<(), Refusal> {
        match self {
            Self::Slurm => slurm::read_text(text, zones, each),
            Self::SlurmJson => slurm::read_json(text, zones, each),
            Self::Prometheus => prometheus::read(text, each),
            Self::NvidiaSmi => nvidia_smi::read(text, zones.unnamed, each),
            Self::OpenShift => openshift::read(text, each),
            Self::OpenCost => opencost::read_json(text, each),
            Self::OpenCostCsv => opencost::read_csv(text, each),
            Self::PlainCsv => plain_csv::read(text, zones.unnamed, said, each),
        }
    }

    /// What is the source of what it says.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Slurm | Self::SlurmJson => "slurm",
            Self::Prometheus => "prometheus",
            Self::NvidiaSmi => "nvidia-smi",
            Self::OpenShift => "openshift",
            Self::OpenCost | Self::OpenCostCsv => "opencost",
            Self::PlainCsv => "csv",
        }
    }
}
