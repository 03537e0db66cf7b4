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

/// Words in lower case, split at everything but letters and digits. A count glued to a name is a word
/// of its own: `8xh100` is `8x h100`, `h100x8` is `h100 x8`; the size `8xlarge` is none.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_ascii_lowercase();
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let after = &word[digits..];
        if (1..=3).contains(&digits) && after.len() > 2 && after.starts_with('x') && after != "xlarge" {
            words.push(word[..=digits].to_owned());
            words.push(after[1..].to_owned());
            continue;
        }
        match word.rsplit_once('x') {
            Some((name, count)) if name.len() > 1 && (1..=2).contains(&count.len()) && is_number(count) => {
                words.push(name.to_owned());
                words.push(format!("x{count}"));
            }
            _ => words.push(word),
        }
    }
    words
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
            ("BM.GPU.A100-v2.8", "bm gpu a100 v2 8"),
            ("", ""),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }
}
