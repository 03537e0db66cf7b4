//! Trackable resources as `sacct` writes them: `billing=200,cpu=32,gres/gpu:h100=8,gres/gpu=8,mem=400G,node=1`
//! (<https://slurm.schedmd.com/tres.html>).

use crate::telemetry::slice::{joined_profiles, share_of_slice};

/// Accelerators of a list of resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gpus {
    /// Whole ones, and slices.
    pub count: u64,
    /// What they amount to, in thousandths of an accelerator.
    pub thousandths: u64,
    /// The model, where the list names exactly one; several are joined by `+`.
    pub model: String,
    /// MIG profile of slices: `3g.40gb`; several, and whole ones beside them, are joined by `+`.
    pub profile: String,
}

/// Nobody holds more in one job; what says so is damaged.
pub const MOST: u64 = 1_000_000;

/// The accelerators of `AllocTRES`. The untyped entry counts all of them and the typed ones repeat it by model: only where
/// it is missing are these added up. `None` where the list has neither.
///
/// # Errors
/// An entry that is no number.
pub fn gpus(tres: &str) -> Result<Option<Gpus>, String> {
    let mut untyped = None;
    let mut typed: Vec<(String, u64)> = Vec::new();
    for entry in tres.split(',') {
        let Some((name, value)) = entry.split_once('=') else { continue };
        let Some(rest) = name.trim().strip_prefix("gres/gpu") else { continue };
        // `gres/gpumem` and `gres/gpuutil` measure.
        if !(rest.is_empty() || rest.starts_with(':')) {
            continue;
        }
        let count =
            value.trim().parse().ok().filter(|count| *count <= MOST).ok_or_else(|| entry.to_owned())?;
        match rest.strip_prefix(':') {
            None => untyped = Some(count),
            Some(model) => typed.push((model.to_owned(), count)),
        }
    }
    if untyped.is_none() && typed.is_empty() {
        return Ok(None);
    }
    Ok(Some(of(untyped, &typed)))
}

/// The count of all, and of each type: a model, or a slice of one, as `a100_3g.20gb`.
pub fn of(untyped: Option<u64>, typed: &[(String, u64)]) -> Gpus {
    let (mut models, mut profiles) = (Vec::new(), Vec::new());
    let (mut count, mut thousandths) = (0, 0);
    for (name, of_type) in typed.iter().filter(|(_, of_type)| *of_type > 0) {
        let (model, profile) = slice(name);
        let (part, whole) = share_of_slice(model, profile);
        count += of_type;
        // Of all of them together: seven sevenths are one.
        thousandths += 1000 * of_type * u64::from(part) / u64::from(whole);
        if !model.is_empty() && !models.contains(&model) {
            models.push(model);
        }
        if !profiles.contains(&profile) {
            profiles.push(profile);
        }
    }
    let all = untyped.unwrap_or(count);
    if all > count && !profiles.contains(&"") {
        profiles.push("");
    }
    // What no type says is whole accelerators.
    let thousandths =
        if typed.is_empty() || all < count { all * 1000 } else { thousandths + (all - count) * 1000 };
    Gpus { count: all, thousandths, model: models.join("+"), profile: joined_profiles(profiles) }
}

/// The model and the profile of a type that is a slice; of any other, itself.
fn slice(name: &str) -> (&str, &str) {
    let (model, profile) = name.rsplit_once('_').unwrap_or(("", name));
    let is_profile = profile.split_once("g.").is_some_and(|(compute, memory)| {
        compute.parse::<u8>().is_ok() && memory.split('+').next().is_some_and(|it| it.ends_with("gb"))
    });
    if is_profile { (model, profile) } else { (name, "") }
}

/// The accelerators of `AllocGRES`, which older versions write, per node: `gpu:2`, `hbm:0,gpu:P100:2(IDX:0,3)`.
///
/// # Errors
/// An entry that is no number.
pub fn gpus_per_node(gres: &str) -> Result<Option<Gpus>, String> {
    let mut typed: Vec<(String, u64)> = Vec::new();
    let mut is_stated = false;
    for entry in outside_brackets(gres) {
        let entry = entry.split('(').next().unwrap_or_default().trim();
        let mut parts = entry.split(':');
        if parts.next() != Some("gpu") {
            continue;
        }
        let rest: Vec<&str> = parts.collect();
        let (model, count) = match rest.as_slice() {
            [] => ("", "1"),
            [count] => ("", *count),
            [model, count, ..] => (*model, *count),
        };
        let count: u64 = count.parse().ok().filter(|count| *count <= MOST).ok_or_else(|| entry.to_owned())?;
        is_stated = true;
        typed.push((model.to_owned(), count));
    }
    Ok(is_stated.then(|| of(None, &typed)))
}

/// `a(b,c),d` is two entries.
fn outside_brackets(text: &str) -> Vec<&str> {
    let (mut entries, mut depth, mut begins) = (Vec::new(), 0_u32, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                entries.push(&text[begins..at]);
                begins = at + 1;
            }
            _ => {}
        }
    }
    entries.push(&text[begins..]);
    entries
}

/// How busy the accelerators of a step were, in whole percent, by `gres/gpuutil`. 0 can mean that nothing was measured (MIG, AMD,
/// CUDA before 12), and so is none.
pub fn utilization(tres: &str) -> Option<u64> {
    let entry = tres.split(',').find_map(|entry| entry.trim().strip_prefix("gres/gpuutil="))?;
    let whole = entry.trim().trim_end_matches('%').split('.').next()?;
    whole.parse().ok().filter(|percent| (1..=100 * MOST).contains(percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_its_share_of_an_accelerator() {
        for (tres, expected) in [
            ("gres/gpu:a100_3g.20gb=1,gres/gpu=1", (1, 500, "a100", "3g.20gb")),
            ("gres/gpu:nvidia_a100_1g.5gb=2,gres/gpu=3", (3, 1285, "nvidia_a100", "1g.5gb+whole")),
            ("gres/gpu:1g.10gb=7", (7, 1000, "", "1g.10gb")),
            ("gres/gpu:h100=2,gres/gpu:h100_3g.40gb=2", (4, 3000, "h100", "whole+3g.40gb")),
            ("gres/gpu:rtx_4090=2", (2, 2000, "rtx_4090", "")),
            ("gres/gpu=8", (8, 8000, "", "")),
        ] {
            let found = gpus(tres).unwrap().unwrap();
            let found = (found.count, found.thousandths, found.model.as_str(), found.profile.as_str());
            assert_eq!(found, expected, "{tres}");
        }
    }

    #[test]
    fn typed_and_untyped_entries_count_once() {
        for (tres, expected) in [
            ("billing=200,cpu=32,gres/gpu:h100=8,gres/gpu=8,mem=400G,node=1", Some((8, "h100"))),
            ("gres/gpu=8,gres/gpu:h100=8", Some((8, "h100"))),
            ("cpu=2,gres/gpu:a100=1,gres/gpu:a10=1,gres/gpu=2", Some((2, "a100+a10"))),
            ("cpu=2,gres/gpu:a100=1,gres/gpu:a10=2", Some((3, "a100+a10"))),
            ("gres/gpu=0", Some((0, ""))),
            ("cpu=16,mem=16G,node=1", None),
            ("gres/gpumem=4G,gres/gpuutil=90,cpu=1", None),
            ("gres/shard=4,gres/mps=50", None),
            ("", None),
        ] {
            let found = gpus(tres).unwrap().map(|it| (it.count, it.model));
            assert_eq!(found, expected.map(|(count, model)| (count, model.to_owned())), "{tres}");
        }
        assert_eq!(gpus("gres/gpu=many"), Err("gres/gpu=many".to_owned()));
        assert!(gpus("gres/gpu=99999999999").is_err());
    }

    #[test]
    fn old_entries_are_per_node() {
        for (gres, expected) in [
            ("gpu:2", Some((2, ""))),
            ("gpu:0(IDX:N/A)", Some((0, ""))),
            ("gpu:P100:2(IDX:0,3),bandwidth:4G", Some((2, "P100"))),
            ("bandwidth:4G,gpu:P100:2(IDX:1,3),hbm:0", Some((2, "P100"))),
            ("gpu", Some((1, ""))),
            ("hbm:0", None),
            ("", None),
        ] {
            let found = gpus_per_node(gres).unwrap().map(|it| (it.count, it.model));
            assert_eq!(found, expected.map(|(count, model)| (count, model.to_owned())), "{gres}");
        }
        assert!(gpus_per_node("gpu:x").is_err());
    }

    #[test]
    fn no_utilization_is_unknown() {
        assert_eq!(utilization("cpu=00:00:01,gres/gpumem=100M,gres/gpuutil=87,mem=1G"), Some(87));
        assert_eq!(utilization("gres/gpuutil=0"), None);
        assert_eq!(utilization("gres/gpuutil=inf"), None);
        assert_eq!(utilization("cpu=1"), None);
    }
}
