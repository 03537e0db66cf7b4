//! Fireworks' billing metrics: the CSV that `firectl billing export-metrics` writes (`firectl export billing-metrics` before). A row
//! is an event, such as a request, and states what was used and not what it costs.
//!
//! | what | rule |
//! |---|---|
//! | account | `email`, that of the account |
//! | service | Fireworks AI |
//! | charge period | from `start_time` to `end_time`; a second where the end is not after the start |
//! | billing month | the month in which the event begins, in UTC |
//! | cost | none is stated: a rate card prices each charge |
//! | currency | US dollars, in which all of Fireworks' prices are |
//! | charges of a row | input tokens without the cached ones, cached input tokens (`cached_prompt_tokens`, where the file has it) and output tokens, each where there are any; without tokens its accelerator seconds |
//! | tokens and accelerator seconds | the tokens are the charges: serverless is billed by the token, and its seconds are information only; the import's page says how many rows have both |
//! | neither | skipped |
//! | quantity | tokens in millions, exactly, or `accelerator_seconds` |
//! | SKU | `base_model_name`; of GPU time without one `accelerator_type` |
//! | meter of tokens | `base_model_name`, one of Fireworks' own without `accounts/fireworks/models/`, and `input tokens`, `cached input tokens` or `output tokens`; of other usage than [`TEXT`] its type behind it, since training has prices of its own |
//! | meter of GPU time | `usage_type` and `accelerator_type`, by which the accelerator is recognized whatever the model is called |
//! | instance type | `accelerator_type` of GPU time |
//! | category | Usage, at the Standard price |
//! | metered | always |
//! | tags | `usage_type` and `model_bucket` |
//! | identity | none: rows are events, and equal ones are events of their own |
//! | accumulation | whole periods; an export is of 31 days at most, which is a month |
//!
//! From the vendor (docs.fireworks.ai, *Exporting Billing Metrics* and *How do I export serverless usage metrics*): the columns, of
//! which the last two are newer, one row of serverless usage, in which accelerator and seconds are empty; that `prompt_tokens` =
//! `cached_prompt_tokens` + `uncached_prompt_tokens`, and that on-demand deployments and training are in the export, too. It does
//! not say which types of usage there are, nor shows a row of a deployment: that `accelerator_seconds` counts each accelerator, as
//! the name says, is taken, and that what is billed by the second has no tokens.

mod columns;

use chrono::TimeDelta;

use super::account_id::canonical_account;
use super::billing_period::month_of;
use super::charge::{Charge, MAX_ID, PricingCategory};
use super::date_order::{DateColumns, DateOrder};
use super::header::{Columns, Header};
use super::row::{Column, Outcome, Problem, ReadRow, Row};
use super::value::TimeColumn;
use super::{Format, Guide, Mandatory};
use crate::money::Decimal;
use crate::period::{BillingMonth, ChargePeriod};

pub(super) struct FireworksMetrics;

/// Canonical, see [`canonical_provider`](super::canonical_provider).
const PROVIDER: &str = "Fireworks AI";
const CURRENCY: &str = "USD";
const CATEGORY: &str = "AI and Machine Learning";

const MANDATORY: &[Mandatory] = &[
    Mandatory { name: "email", keys: &["email"] },
    Mandatory { name: "start_time", keys: &["starttime"] },
    Mandatory { name: "end_time", keys: &["endtime"] },
    Mandatory { name: "usage_type", keys: &["usagetype"] },
    Mandatory { name: "accelerator_type", keys: &["acceleratortype"] },
    Mandatory { name: "accelerator_seconds", keys: &["acceleratorseconds"] },
    Mandatory { name: "base_model_name", keys: &["basemodelname"] },
    Mandatory { name: "prompt_tokens", keys: &["prompttokens"] },
    Mandatory { name: "completion_tokens", keys: &["completiontokens"] },
];
const CACHED: &str = "cachedprompttokens";

/// Of the models that Fireworks offers to everybody; those of an account have its name.
const OF_FIREWORKS: &str = "accounts/fireworks/models/";
/// The usage that is documented.
const TEXT: &str = "TEXT_COMPLETION_INFERENCE_USAGE";

const NOTHING_USED: &str = "neither tokens nor accelerator seconds";
const TOKENS_COUNT: &str =
    "tokens and accelerator seconds: the tokens are charges, and the seconds are information only";
const A_COUNT: &str = "a whole number of tokens, 0 or more";
const SECONDS: &str = "a number of seconds, 0 or more";

impl Format for FireworksMetrics {
    fn name(&self) -> &'static str {
        "fireworks-metrics"
    }

    fn label(&self) -> &'static str {
        "Fireworks billing metrics"
    }

    fn guides(&self) -> &'static [Guide] {
        &[Guide {
            provider: "Fireworks AI",
            export: "Billing metrics",
            steps: "For a whole month, run firectl billing export-metrics --start-time 2026-09-01 --end-time 2026-10-01 and upload \
                    billing_metrics.csv. It has tokens and GPU time and no cost: enter rates per 1M tokens and per GPU-hour under \
                    Rate cards.",
            forms: "CSV",
        }]
    }

    fn mandatory(&self) -> &'static [Mandatory] {
        MANDATORY
    }

    /// Most of its names are those of many things.
    fn has_its_columns(&self, header: &Header) -> bool {
        header.has("acceleratorseconds") && header.has_any(&["prompttokens", "completiontokens"])
    }

    fn names(&self) -> Vec<&'static str> {
        columns::names()
    }

    /// None.
    fn billed_columns(&self) -> Vec<Vec<&str>> {
        Vec::new()
    }

    fn columns(&self, header: &Header) -> Columns {
        columns::columns(header)
    }

    fn feeds(&self, key: &str) -> Option<&'static str> {
        columns::feeds(key)
    }

    fn reader(&self, header: &Header) -> Box<dyn ReadRow + Send> {
        Box::new(Reader::new(header))
    }
}

/// What a charge of a row is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Used {
    Input,
    CachedInput,
    Output,
    AcceleratorTime,
}

impl Used {
    /// The end of its meter; nothing of what is no token.
    fn tokens(self) -> Option<&'static str> {
        match self {
            Self::Input => Some("input tokens"),
            Self::CachedInput => Some("cached input tokens"),
            Self::Output => Some("output tokens"),
            Self::AcceleratorTime => None,
        }
    }
}

struct Reader {
    at: At,
    times: [TimeColumn; 2],
    last_needed: usize,
    key_columns: Vec<usize>,
    /// The charges of the row that is being read, and which of them is the one that is being read.
    charges: Vec<(Used, Decimal)>,
    charge: usize,
    period: ChargePeriod,
    month: BillingMonth,
    text: String,
}

/// Where the columns are.
struct At {
    email: Column,
    start: Column,
    end: Column,
    usage_type: Column,
    accelerator: Column,
    seconds: Column,
    model: Column,
    bucket: Column,
    input: Column,
    cached: Column,
    output: Column,
}

impl Reader {
    fn new(header: &Header) -> Self {
        let at = At {
            email: header.find("email"),
            start: header.find("starttime"),
            end: header.find("endtime"),
            usage_type: header.find("usagetype"),
            accelerator: header.find("acceleratortype"),
            seconds: header.find("acceleratorseconds"),
            model: header.find("basemodelname"),
            bucket: header.find("modelbucket"),
            input: header.find("prompttokens"),
            cached: header.find(CACHED),
            output: header.find("completiontokens"),
        };
        let key_columns = [at.email, at.usage_type, at.accelerator, at.model, at.bucket];
        Self {
            times: Default::default(),
            last_needed: Mandatory::last(MANDATORY, header),
            key_columns: key_columns.into_iter().flatten().collect(),
            at,
            charges: Vec::new(),
            charge: 0,
            period: ChargePeriod::default(),
            month: BillingMonth::default(),
            text: String::new(),
        }
    }

    /// Fills the charge with one of the row; false behind the last.
    fn fill(&self, charge: &mut Charge) -> bool {
        let Some((used, quantity)) = self.charges.get(self.charge) else { return false };
        charge.period = self.period;
        charge.billing_month = self.month;
        charge.consumed_quantity = Some(*quantity);
        charge.is_metered = true;
        charge.lacks_cost = true;
        charge.key_cells.extend([*used as u8, b'\n']);
        true
    }
}

impl ReadRow for Reader {
    fn last_needed(&self) -> usize {
        self.last_needed
    }

    fn dates(&self) -> DateColumns {
        DateColumns {
            columns: [self.at.start, self.at.end].into_iter().flatten().collect(),
            billing_period: None,
            usual: DateOrder::Undecided,
        }
    }

    fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    fn read(&mut self, mut row: Row<'_>, charge: &mut Charge) -> Result<Outcome, Problem> {
        let Self { at, times: [starts, ends], charges, text, .. } = self;
        let start = row.time(at.start, starts)?;
        let end = row.time(at.end, ends)?;
        let end =
            if end > start { end } else { start.checked_add_signed(TimeDelta::seconds(1)).unwrap_or(start) };
        self.period = ChargePeriod { start, end };
        self.month = month_of(&row, at.start, start)?;
        // Texts of the meter, which is longer of some charges of a row than of others.
        for column in [at.model, at.usage_type, at.accelerator] {
            text.clear();
            row.text(column, text)?;
            if text.len() > MAX_ID {
                return Err(row.problem(column, format!("at most {MAX_ID} bytes")));
            }
        }
        let input = tokens(&row, at.input)?;
        let cached = tokens(&row, at.cached)?;
        let output = tokens(&row, at.output)?;
        if cached > input {
            return Err(row.problem(at.cached, format!("at most prompt_tokens, {input}")));
        }
        let seconds = row.quantity(at.seconds)?.unwrap_or_default();
        if seconds.is_negative() {
            return Err(row.problem(at.seconds, SECONDS));
        }
        charges.clear();
        for (used, count) in
            [(Used::Input, input - cached), (Used::CachedInput, cached), (Used::Output, output)]
        {
            if !count.is_zero() {
                charges.push((used, millions(count)));
            }
        }
        if !seconds.is_zero() {
            if charges.is_empty() {
                charges.push((Used::AcceleratorTime, seconds));
            } else {
                row.remark(TOKENS_COUNT);
            }
        }
        self.charge = 0;
        Ok(if self.fill(charge) { Outcome::Charge } else { Outcome::Skipped(NOTHING_USED) })
    }

    fn further(&mut self, _row: Row<'_>, charge: &mut Charge) -> Result<bool, Problem> {
        self.charge += 1;
        Ok(self.fill(charge))
    }

    fn key(&mut self, row: Row<'_>, charge: &mut Charge) -> Result<(), Problem> {
        let Self { at, charges, text, .. } = self;
        let Some((used, _)) = charges.get(self.charge) else { return Ok(()) };
        let key = &mut charge.key;
        key.provider.push_str(PROVIDER);
        text.clear();
        row.text(at.email, text)?;
        if text.is_empty() {
            return Err(row.problem(at.email, "the email of the account"));
        }
        canonical_account(PROVIDER, text, "", &mut key.billing_account)
            .map_err(|expected| row.problem(at.email, expected))?;
        key.service.push_str(PROVIDER);
        key.service_category.push_str(CATEGORY);
        key.pricing = PricingCategory::Standard;
        key.currency.push_str(CURRENCY);
        row.text(at.model, &mut key.sku)?;
        text.clear();
        row.text(at.usage_type, text)?;
        if let Some(tokens) = used.tokens() {
            let model = key.sku.strip_prefix(OF_FIREWORKS).unwrap_or(&key.sku);
            let usage_type = if text == TEXT { "" } else { text.as_str() };
            for word in [model, tokens, usage_type] {
                add_word(word, &mut key.meter);
            }
            key.unit.push_str("1M tokens");
        } else {
            row.text(at.accelerator, &mut key.instance_type)?;
            for word in [text, &key.instance_type] {
                add_word(word, &mut key.meter);
            }
            if key.sku.is_empty() {
                key.sku.push_str(&key.instance_type);
            }
            key.unit.push_str("accelerator-seconds");
        }
        for (column, tag) in [(at.usage_type, "usage_type"), (at.bucket, "model_bucket")] {
            text.clear();
            row.verbatim(column, text)?;
            charge.tags.set(tag, text);
        }
        Ok(())
    }
}

/// Adds a word to a text, behind a blank; nothing where it is empty.
fn add_word(word: &str, out: &mut String) {
    if !word.is_empty() && !out.is_empty() {
        out.push(' ');
    }
    out.push_str(word);
}

/// A number of tokens; 0 of an empty cell.
fn tokens(row: &Row<'_>, column: Column) -> Result<Decimal, Problem> {
    let count = row.quantity(column)?.unwrap_or_default().normalize();
    if count.is_negative() || count.scale() > 0 { Err(row.problem(column, A_COUNT)) } else { Ok(count) }
}

/// A whole number of tokens in units of a million.
fn millions(tokens: Decimal) -> Decimal {
    tokens.multiply(Decimal::new(1, 6)).normalize()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::accelerator;
    use crate::billing::{ReadAs, Step, open};
    use crate::money::number;
    use crate::tokens::{TokenKind, recognize};

    const HEADER: &str = "email,start_time,end_time,usage_type,accelerator_type,accelerator_seconds,base_model_name,model_bucket,\
                          parameter_count,prompt_tokens,completion_tokens,cached_prompt_tokens,uncached_prompt_tokens";

    /// The charges of one row, of which these cells are given: from usage type to model, and the tokens.
    fn charges(used: &str, tokens: &str) -> Vec<Charge> {
        let times = "2025-10-20 17:16:48 UTC,2025-10-20 17:16:48 UTC";
        let text = format!("{HEADER}\nml@example.com,{times},{used},Some Bucket,8030261248,{tokens}\n");
        let mut export = open("metrics.csv", Cursor::new(text.into_bytes()), &ReadAs::any()).unwrap();
        assert_eq!(export.format().name(), "fireworks-metrics");
        let (mut charge, mut charges) = (Charge::default(), Vec::new());
        let step = export.next(&mut charge).unwrap();
        assert_eq!(step, Some(Step::Charge));
        charges.push(charge.clone());
        while export.further(&mut charge, |_| false).unwrap() {
            charges.push(charge.clone());
        }
        charges
    }

    #[test]
    fn tokens_of_every_charge_are_recognized_with_model_and_kind() {
        use TokenKind::{CachedInput, Input, Output};
        let fine_tuned = "SUPERVISED_FINE_TUNING_USAGE,,,accounts/fireworks/models/llama-v3p1-8b-instruct";
        for (used, tokens, expected) in [
            (
                "TEXT_COMPLETION_INFERENCE_USAGE,,,accounts/fireworks/models/llama4-maverick-instruct-basic",
                "803,109,200,603",
                &[
                    ("llama4 maverick instruct basic", Input, "0.000603"),
                    ("llama4 maverick instruct basic", CachedInput, "0.0002"),
                    ("llama4 maverick instruct basic", Output, "0.000109"),
                ][..],
            ),
            (
                "TEXT_COMPLETION_INFERENCE_USAGE,,,accounts/acme/models/support-bot",
                "0,1000000,0,0",
                &[("accounts acme models support bot", Output, "1")],
            ),
            ("TEXT_COMPLETION_INFERENCE_USAGE,,,", "7,,,", &[("Fireworks AI", Input, "0.000007")]),
            // Training is priced apart, and so is its meter.
            (
                fine_tuned,
                "2500000,0,0,2500000",
                &[("llama v3p1 8b instruct SUPERVISED FINE TUNING USAGE", Input, "2.5")],
            ),
        ] {
            let found = charges(used, tokens);
            assert_eq!(found.len(), expected.len(), "{used}");
            for (charge, (model, kind, quantity)) in found.iter().zip(expected) {
                let key = &charge.key;
                let tokens = recognize(&key.service, &key.sku, &key.meter, &key.unit).unwrap();
                assert_eq!((tokens.model.as_str(), tokens.kind, tokens.per_unit), (*model, *kind, 1_000_000));
                assert_eq!(charge.consumed_quantity, Some(number(quantity)), "{}", key.meter);
                assert!(charge.lacks_cost && charge.is_metered && accelerator::recognize(key).is_none());
            }
        }
    }

    #[test]
    fn accelerator_seconds_are_time_of_one_accelerator_of_the_type() {
        for (accelerator, expected) in [
            ("NVIDIA_A100_80GB", "nvidia-a100-sxm-80"),
            ("NVIDIA_A100_40GB", "nvidia-a100-sxm-40"),
            ("NVIDIA_A10G_24GB", "nvidia-a10g"),
            ("NVIDIA_L4_24GB", "nvidia-l4"),
            ("NVIDIA_H100_80GB", "nvidia-h100-sxm"),
            ("NVIDIA_H200_141GB", "nvidia-h200-sxm"),
            ("NVIDIA_B200_180GB", "nvidia-b200"),
            ("NVIDIA_B300_288GB", "nvidia-b300"),
            ("NVIDIA_GB200", "nvidia-gb200"),
            ("NVIDIA_GB300", "nvidia-gb300"),
            ("AMD_MI300X_192GB", "amd-mi300x"),
            ("AMD_MI325X_256GB", "amd-mi325x"),
            ("AMD_MI350X_288GB", "amd-mi350x"),
        ] {
            // The name of a model that people made says nothing of what it runs on.
            let used = format!("DEPLOYMENT_USAGE,{accelerator},7200,accounts/acme/models/for-t4");
            let [charge] = &*charges(&used, ",,,") else { panic!("{accelerator} is one charge") };
            let found = accelerator::recognize(&charge.key).unwrap();
            let per_unit = (found.per_unit.to_string(), found.seconds_per_unit);
            assert_eq!((found.model.id, per_unit), (expected, ("1".to_owned(), 1)), "{accelerator}");
            assert_eq!(charge.consumed_quantity, Some(number("7200")));
            assert!(charge.lacks_cost && charge.is_metered);
        }
    }
}
