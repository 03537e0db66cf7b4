//! Units of time, as exports spell them.

/// Words that may stand before the unit of time and say only whose time it is (`Instance-Hours`).
/// Others make it another quantity: GB-hours and vCPU-hours measure no accelerator.
const WHOSE: [&str; 20] = [
    "gpu",
    "gpus",
    "accelerator",
    "accelerators",
    "chip",
    "chips",
    "tpu",
    "instance",
    "instances",
    "vm",
    "vms",
    "node",
    "nodes",
    "host",
    "server",
    "machine",
    "compute",
    "pod",
    "per",
    "device",
];

/// Seconds in one unit of a metered quantity: `Hrs`, `1 Hour`, `GPU-Hours`, `seconds`. `None` where the
/// unit is not the time of a machine or an accelerator (`GB-Mo`, `vCPU-Hours`, months).
///
/// A block (`10 Hours`, Azure's UnitOfMeasure) is read as plain hours: the quantities beside it are.
pub fn seconds_per_unit(unit: &str) -> Option<u32> {
    let (time, words) = words(unit)?;
    words.iter().all(|word| WHOSE.contains(&word.as_str())).then_some(time)
}

/// Whether the unit itself counts accelerators: `GPU-Hours`, `GPU Per Hour`, chip-hours.
pub(super) fn counts_accelerators(unit: &str) -> bool {
    words(unit).is_some_and(|(_, words)| {
        words.iter().any(|word| {
            matches!(
                word.as_str(),
                "gpu" | "gpus" | "accelerator" | "accelerators" | "chip" | "chips" | "tpu"
            )
        })
    })
}

/// The unit of time and the words before it. `None` where there is no unit of time.
fn words(unit: &str) -> Option<(u32, Vec<String>)> {
    let mut words: Vec<String> = unit
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !word.bytes().all(|b| b.is_ascii_digit()))
        .map(str::to_ascii_lowercase)
        .collect();
    let time = seconds(&words.pop()?)?;
    Some((time, words))
}

fn seconds(word: &str) -> Option<u32> {
    Some(match word {
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
        "m" | "min" | "mins" | "minute" | "minutes" => 60,
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        "d" | "day" | "days" => 86_400,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_knows_units_of_time() {
        for (unit, seconds) in [
            ("Hrs", Some(3600)),
            ("Hours", Some(3600)),
            ("Hour", Some(3600)),
            ("1 Hour", Some(3600)),
            ("10 Hours", Some(3600)),
            ("100 Hours", Some(3600)),
            ("GPU-Hours", Some(3600)),
            ("GPU Per Hour", Some(3600)),
            ("GPU_HOURS", Some(3600)),
            ("Instance-Hours", Some(3600)),
            ("hour", Some(3600)),
            ("h", Some(3600)),
            ("seconds", Some(1)),
            ("Second", Some(1)),
            ("accelerator_seconds", Some(1)),
            ("accelerator-seconds", Some(1)),
            ("minutes", Some(60)),
            ("Days", Some(86_400)),
            ("GB-Hours", None),
            ("vCPU-Hours", None),
            ("OCPU Per Hour", None),
            ("Lambda-GB-Second", None),
            ("gibibyte hour", None),
            ("GB-Mo", None),
            ("1 GB/Month", None),
            ("1/Month", None),
            ("Requests", None),
            ("10K", None),
            ("", None),
            ("1", None),
            ("ms", None),
        ] {
            assert_eq!(seconds_per_unit(unit), seconds, "{unit}");
        }
    }

    #[test]
    fn it_knows_units_that_count_accelerators() {
        for unit in ["GPU-Hours", "GPU Per Hour", "chip hour", "accelerator_seconds", "accelerator-seconds"] {
            assert!(counts_accelerators(unit), "{unit}");
        }
        for unit in ["Hrs", "Instance-Hours", "GPU", ""] {
            assert!(!counts_accelerators(unit), "{unit}");
        }
    }
}
