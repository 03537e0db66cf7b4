//! Names of machines and models, whatever their spelling.

/// One spelling per machine: `ml.P4D.24xlarge` is p4d.24xlarge, `ND96asr A100 v4 Spot` is
/// Standard_ND96asr_A100_v4.
pub(super) fn canonical_type(text: &str) -> String {
    let mut name = text.trim().to_ascii_lowercase().replace(' ', "_");
    for suffix in ["_spot", "_low_priority", "_promo"] {
        if let Some(short) = name.strip_suffix(suffix) {
            name.truncate(short.len());
        }
    }
    for prefix in ["ml.", "standard_"] {
        if let Some(short) = name.strip_prefix(prefix) {
            name = short.to_owned();
        }
    }
    name
}

/// Words in lower case, split at everything but letters and digits. What people glue and what they part is one:
/// - a count is a word of its own: `8xh100` and `8 x H100` are `8x h100`, `h100x8` is `h100 x8`; the size `8xlarge` is none;
/// - so are a brand before a name and a form behind it: `RTX4090` is `rtx 4090`, `H100SXM5` is `h100 sxm5`;
/// - memory is one: `80 GB`, `80GiB` and `80G` are `80gb`.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let text = text.replace('\u{d7}', "x");
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_ascii_lowercase();
        let is_after_number = words.last().is_some_and(|last| is_number(last) && last.len() <= 3);
        match word.as_str() {
            "x" if is_after_number => words.last_mut().into_iter().for_each(|last| last.push('x')),
            "gb" | "gib" if is_after_number => {
                words.last_mut().into_iter().for_each(|last| last.push_str("gb"));
            }
            _ if words.last().is_some_and(|last| last == "x") && is_number(&word) && word.len() <= 2 => {
                words.last_mut().into_iter().for_each(|last| last.push_str(&word));
            }
            _ => part(&word, &mut words),
        }
    }
    words
}

/// Brands that are glued to a name, and forms of the same.
const BRANDS: &[&str] = &["nvidia", "geforce", "instinct", "quadro", "tesla", "rtx", "pro"];
const FORMS: &[&str] = &["sxm", "sxm2", "sxm3", "sxm4", "sxm5", "sxm6", "pcie", "nvl", "nvlink"];

/// Appends a word in its parts.
fn part(word: &str, words: &mut Vec<String>) {
    let has_digit = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let after = &word[digits..];
    if (1..=3).contains(&digits) && after.len() > 2 && after.starts_with('x') && after != "xlarge" {
        words.push(word[..=digits].to_owned());
        return part(&after[1..], words);
    }
    if let Some((name, count)) = word.rsplit_once('x')
        && name.len() > 1
        && (1..=2).contains(&count.len())
        && is_number(count)
    {
        part(name, words);
        words.push(format!("x{count}"));
        return;
    }
    for brand in BRANDS {
        if let Some(name) = word.strip_prefix(brand).filter(|name| has_digit(name)) {
            words.push((*brand).to_owned());
            return part(name, words);
        }
    }
    for form in FORMS {
        if let Some(name) = word.strip_suffix(form).filter(|name| name.len() > 1 && has_digit(name)) {
            part(name, words);
            words.push((*form).to_owned());
            return;
        }
    }
    for suffix in ["ti", "super"] {
        if let Some(number) = word.strip_suffix(suffix).filter(|number| is_number(number)) {
            words.extend([number.to_owned(), suffix.to_owned()]);
            return;
        }
    }
    let is_memory = matches!(after, "g" | "gib") && (2..=3).contains(&digits);
    words.push(if is_memory { format!("{}gb", &word[..digits]) } else { word.to_owned() });
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_splits_counts_from_names() {
        for (text, expected) in [
            ("gd-8xh100ib-i128", "gd 8x h100ib i128"),
            ("n3-H100x4", "n3 h100 x4"),
            ("gpu-mi300x8-1536gb", "gpu mi300 x8 1536gb"),
            ("AMD Instinct MI300X", "amd instinct mi300x"),
            ("p5.48xlarge", "p5 48xlarge"),
            ("8x H100 SXM", "8x h100 sxm"),
            ("8 x H100", "8x h100"),
            ("8\u{d7}H100", "8x h100"),
            ("H100 x 8", "h100 x8"),
            ("H100SXM5", "h100 sxm5"),
            ("2xRTX4090", "2x rtx 4090"),
            ("RTX3080Ti", "rtx 3080 ti"),
            ("TeslaT4", "tesla t4"),
            ("A100 80 GB", "a100 80gb"),
            ("A100-80Gx8", "a100 80gb x8"),
            ("NVIDIA-H100-80GiB", "nvidia h100 80gb"),
            ("a3-highgpu-8g", "a3 highgpu 8g"),
            ("Standard_NC24ads_A100_v4", "standard nc24ads a100 v4"),
            ("BM.GPU.A100-v2.8", "bm gpu a100 v2 8"),
            ("", ""),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }
}
