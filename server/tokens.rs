//! Tokens of language models on a bill: which model's, what for, and how many one unit of the billed quantity is.
//!
//! A bill says it in words: AWS in the usage type (`USW2-Claude4.5Sonnet-cache-read-input-token-count` in units of 1K tokens: *Amazon
//! Bedrock User Guide*, Understanding your Cost and Usage Report data), the AWS Marketplace in a usage type of millions
//! (`USE1-MP:USE1_InputTokenCount-Units`) whose service is the model, Azure in the meter (`gpt 4o 1120 Inp glbl Tokens` in units of
//! 1K, `GPT 5 outpt Glbl 1M Tokens`). What does not say how many tokens a unit is, is none here.

use serde::Serialize;

use crate::enum_words::{words, written_as_str};

words! {
    /// What tokens were for. Each is priced apart.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum TokenKind: as_str, label {
        Input = "input", "Input";
        /// Input that was read from a cache.
        CachedInput = "cached-input", "Cached input";
        /// Input that was written to a cache.
        CacheWrite = "cache-write", "Cache write";
        Output = "output", "Output";
        /// The bill does not say: embeddings, training.
        Other = "other", "Other";
    }
}

written_as_str!(TokenKind);

/// What a bill says of the tokens that it charges.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tokens {
    /// As the bill names it, with its tier where it has one.
    pub model: String,
    pub kind: TokenKind,
    /// Tokens in one unit of the quantity.
    pub per_unit: u32,
}

const THOUSAND: u32 = 1_000;
const MILLION: u32 = 1_000_000;

/// The tokens that a quantity counts, by the texts of its charge; `None` where it counts something else, or does not say how many a
/// unit is.
pub fn recognize(service: &str, sku: &str, meter: &str, unit: &str) -> Option<Tokens> {
    let [of_unit, of_meter, of_sku] = [unit, meter, sku].map(words_of);
    let says_tokens = |words: &[String]| words.iter().any(|word| is_token(word));
    let says_kind = |words: &[String]| says_tokens(words) || words.iter().any(|word| kind_of(word).is_some());
    let of_text =
        if !says_kind(&of_meter) && (says_kind(&of_sku) || of_meter.is_empty()) { of_sku } else { of_meter };
    if !says_tokens(&of_unit) && !says_tokens(&of_text) {
        return None;
    }
    let per_unit = per_unit(&of_unit, &of_text)?;
    // Where the unit says how many, a number before the kind is of the model's name: `Qwen2.5-7B-1M output tokens`.
    let unit_says = (0..of_unit.len()).any(|at| count_at(&of_unit, at).is_some());
    let count = count_of_tokens(&of_text)
        .filter(|(_, words)| !unit_says || of_text.get(words.end).is_some_and(|next| is_token(next)));
    let count = count.map(|(_, words)| words).unwrap_or_default();
    Some(Tokens { model: model_of(service, &of_text, &count), kind: kind(&of_text), per_unit })
}

/// Words of a text. Of a word of several, as `InputTokenCount`, each.
fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in without_grouping(text).split(|c: char| !(c.is_alphanumeric() || c == '.')) {
        let has_token = part.contains("Token");
        let mut word = String::new();
        for c in part.chars() {
            if has_token && c.is_uppercase() && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            word.push(c);
        }
        words.push(word);
    }
    words.retain(|word| word.chars().any(char::is_alphanumeric));
    words
}

/// `1,000` as one number.
fn without_grouping(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_digit = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(char::is_ascii_digit);
    let is_grouping = |at: usize| chars[at] == ',' && is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
    (0..chars.len()).filter(|at| !is_grouping(*at)).map(|at| chars[at]).collect()
}

fn is_token(word: &str) -> bool {
    ["token", "tokens"].iter().any(|it| word.eq_ignore_ascii_case(it))
}

/// What a word tells of the kind of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Input,
    Output,
    Cache,
    Write,
    Read,
}

fn kind_of(word: &str) -> Option<Says> {
    Some(match word.to_ascii_lowercase().as_str() {
        "input" | "inp" | "inpt" | "prompt" => Says::Input,
        "output" | "outp" | "outpt" | "completion" => Says::Output,
        "cache" | "cached" | "cchd" | "cachd" => Says::Cache,
        "write" | "writes" | "creation" => Says::Write,
        "read" | "reads" | "hit" => Says::Read,
        _ => return None,
    })
}

/// Azure's `5.4 opt Gl 1M Tokens`. There are models of that name, too: it says output where nothing else says what it is.
fn is_short_output(word: &str) -> bool {
    word.eq_ignore_ascii_case("opt")
}

fn kind(words: &[String]) -> TokenKind {
    let says = |what| words.iter().any(|word| kind_of(word) == Some(what));
    match (says(Says::Cache), says(Says::Write), says(Says::Output), says(Says::Input)) {
        (true, true, ..) => TokenKind::CacheWrite,
        (true, ..) => TokenKind::CachedInput,
        (_, _, true, _) => TokenKind::Output,
        (_, _, _, true) => TokenKind::Input,
        _ if words.iter().any(|word| is_short_output(word)) => TokenKind::Output,
        _ => TokenKind::Other,
    }
}

fn per_unit(unit: &[String], text: &[String]) -> Option<u32> {
    const TIMES: [&str; 6] = ["hour", "hours", "hr", "hrs", "minute", "month"];
    if unit.iter().any(|word| TIMES.iter().any(|time| word.eq_ignore_ascii_case(time))) {
        return None;
    }
    if let Some((tokens, _)) = (0..unit.len()).find_map(|at| count_at(unit, at)) {
        return Some(tokens);
    }
    if unit.iter().any(|word| is_token(word)) {
        return Some(1);
    }
    // `Units` says nothing, and the text may.
    let is_marketplace = text.iter().any(|word| word == "MP");
    count_of_tokens(text).map(|(tokens, _)| tokens).or(is_marketplace.then_some(MILLION))
}

/// How many tokens a text says that a unit is, and which of its words say so: those before *tokens*, with what says the kind between
/// them. Other numbers are of the model's name.
fn count_of_tokens(text: &[String]) -> Option<(u32, std::ops::Range<usize>)> {
    (0..text.len()).find_map(|at| {
        let (tokens, words) = count_at(text, at)?;
        let after =
            text[at + words..].iter().find(|word| kind_of(word).is_none() && !is_short_output(word))?;
        (tokens >= THOUSAND && is_token(after)).then_some((tokens, at..at + words))
    })
}

/// The count that begins with a word, and of how many words it is: `1K`, `Million`, `1 million`, `1000`.
fn count_at(words: &[String], at: usize) -> Option<(u32, usize)> {
    let scale = |word: &str| match word.to_ascii_lowercase().as_str() {
        "k" | "thousand" | "thousands" => Some(THOUSAND),
        "m" | "million" | "millions" => Some(MILLION),
        _ => None,
    };
    let word = words.get(at)?;
    if let Some(scale) = scale(word) {
        return Some((scale, 1));
    }
    let lower = word.to_ascii_lowercase();
    let (number, own) = match lower.strip_suffix(['k', 'm']) {
        Some(number) => (number, scale(&lower[number.len()..])?),
        None => (lower.as_str(), 1),
    };
    let number: u32 = number
        .parse()
        .ok()
        .filter(|number| [1, 10, 100, THOUSAND, 10_000, 100_000, MILLION].contains(number))?;
    match words.get(at + 1).and_then(|next| scale(next)).filter(|_| own == 1) {
        Some(next) => Some((number.checked_mul(next)?, 2)),
        None => Some((number.checked_mul(own)?, 1)),
    }
}

/// What is left of the text that says no kind, no count and no region; the service, where that is nothing but a tier.
fn model_of(service: &str, words: &[String], count: &std::ops::Range<usize>) -> String {
    let is_of_unit = |word: &str| {
        is_token(word)
            || matches!(word.to_ascii_lowercase().as_str(), "count" | "unit" | "units" | "mp" | "mantle")
    };
    let is_of_model = |word: &str| !is_short_output(word) || words.iter().any(|it| kind_of(it).is_some());
    let left: Vec<&str> = words
        .iter()
        .enumerate()
        .filter(|(at, _)| !count.contains(at))
        .map(|(_, word)| word.as_str())
        .filter(|word| kind_of(word).is_none() && is_of_model(word) && !is_of_unit(word) && !is_region(word))
        .collect();
    let is_tier = |word: &str| {
        let tiers = [
            "global",
            "glbl",
            "gl",
            "standard",
            "priority",
            "flex",
            "batch",
            "latency",
            "optimized",
            "longctx",
            "geo",
        ];
        tiers.iter().any(|tier| word.eq_ignore_ascii_case(tier))
    };
    if !left.iter().all(|word| is_tier(word)) {
        return left.join(" ");
    }
    if left.is_empty() { service.to_owned() } else { format!("{service}, {}", left.join(" ")) }
}

/// A region as AWS begins usage types with: `USE1`, `APNE1`.
fn is_region(word: &str) -> bool {
    const PLACES: [&str; 10] = ["US", "EU", "AP", "CA", "SA", "AF", "ME", "IL", "MX", "UG"];
    let is_place = PLACES.iter().any(|place| word.starts_with(place));
    let (letters, digit) = word.split_at_checked(word.len().saturating_sub(1)).unwrap_or_default();
    is_place
        && letters.len() <= 4
        && letters.bytes().all(|byte| byte.is_ascii_uppercase())
        && digit.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_knows_the_tokens_of_bills() {
        use TokenKind::{CacheWrite, CachedInput, Input, Other, Output};
        for (service, meter, unit, expected) in [
            (
                "Amazon Bedrock",
                "USW2-Claude4.5Sonnet-input-tokens",
                "1K tokens",
                Some(("Claude4.5Sonnet", Input, THOUSAND)),
            ),
            (
                "Amazon Bedrock",
                "USW2-Claude4.5Sonnet-output-tokens",
                "1K tokens",
                Some(("Claude4.5Sonnet", Output, THOUSAND)),
            ),
            (
                "Amazon Bedrock",
                "USE1-NovaPro-cache-read-input-token-count",
                "1K tokens",
                Some(("NovaPro", CachedInput, THOUSAND)),
            ),
            (
                "Amazon Bedrock",
                "APNE1-Claude4.5Sonnet-cache-write-input-token-count",
                "1K tokens",
                Some(("Claude4.5Sonnet", CacheWrite, THOUSAND)),
            ),
            (
                "Claude Haiku 4.5 (Amazon Bedrock Edition)",
                "USE1-MP:USE1_InputTokenCount-Units",
                "Units",
                Some(("Claude Haiku 4.5 (Amazon Bedrock Edition)", Input, MILLION)),
            ),
            (
                "Claude Opus 4.5 (Amazon Bedrock Edition)",
                "USW2-MP:USW2_output_tokens_global_standard-Units",
                "Units",
                Some(("Claude Opus 4.5 (Amazon Bedrock Edition), global standard", Output, MILLION)),
            ),
            (
                "Cognitive Services",
                "gpt 4o 1120 Inp glbl Tokens",
                "1K",
                Some(("gpt 4o 1120 glbl", Input, THOUSAND)),
            ),
            (
                "Cognitive Services",
                "gpt 4.1 nano cached Inp glbl Tokens",
                "1K",
                Some(("gpt 4.1 nano glbl", CachedInput, THOUSAND)),
            ),
            ("Foundry Models", "GPT 5 outpt Glbl 1M Tokens", "1M", Some(("GPT 5 Glbl", Output, MILLION))),
            ("Foundry Models", "5.4 opt Dz 1M Tokens", "1M", Some(("5.4 Dz", Output, MILLION))),
            ("Inference", "llama-3.3-70b prompt", "Tokens", Some(("llama 3.3 70b", Input, 1))),
            (
                "Inference",
                "text-embedding-3-small",
                "1M tokens",
                Some(("text embedding 3 small", Other, MILLION)),
            ),
            ("Inference", "opt-66b input tokens", "1M tokens", Some(("opt 66b", Input, MILLION))),
            (
                "Inference",
                "Llama3-1-70B-input-tokens",
                "1 million tokens",
                Some(("Llama3 1 70B", Input, MILLION)),
            ),
            ("Inference", "Llama3-70B-input-tokens", "1,000 tokens", Some(("Llama3 70B", Input, THOUSAND))),
            (
                "Inference",
                "Qwen2.5-7B-Instruct-1M output tokens",
                "1 K tokens",
                Some(("Qwen2.5 7B Instruct 1M", Output, THOUSAND)),
            ),
            ("Inference", "kimi-k2 Million Input Tokens", "Units", Some(("kimi k2", Input, MILLION))),
            (
                "Inference",
                "gpt-oss-120B per 100 tokens",
                "10 tokens",
                Some(("gpt oss 120B per 100", Other, 10)),
            ),
            ("OpenAI", "", "tokens", Some(("OpenAI", Other, 1))),
            // A unit that says nothing, time, and other words with token.
            ("Inference", "llama-3.3-70b input tokens", "Units", None),
            ("Inference", "provisioned tokens per minute", "Hours", None),
            ("AWS Security Token Service", "Requests", "Count", None),
            ("Amazon EC2", "BoxUsage:p5.48xlarge", "Hrs", None),
            ("Storage", "Write Operations", "10K", None),
        ] {
            let found = recognize(service, "", meter, unit);
            let found = found.as_ref().map(|it| (it.model.as_str(), it.kind, it.per_unit));
            assert_eq!(found, expected, "{service} {meter} {unit}");
        }
    }

    #[test]
    fn the_sku_says_what_the_meter_does_not() {
        let found = recognize("Vertex AI", "Gemini 2.5 Pro input tokens", "count", "1M tokens").unwrap();
        assert_eq!(
            (found.model.as_str(), found.kind, found.per_unit),
            ("Gemini 2.5 Pro", TokenKind::Input, MILLION)
        );
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(service in ".*", sku in ".*", meter in ".*", unit in "(1K|1M|Units)? ?(tokens)?.*") {
            if let Some(tokens) = recognize(&service, &sku, &meter, &unit) {
                prop_assert!(tokens.per_unit > 0);
            }
        }
    }
}
