//! From an entry to the texts of its fields.

use std::collections::BTreeMap;

use super::super::depreciation::Method;
use super::super::entry::{Asset, Entry, Event, EventKind, Paid, Span};
use super::bands::write_bands;
use crate::money::{Decimal, two_readings};

/// What the fields of its kind hold, by name.
pub fn cells(entry: &Entry) -> BTreeMap<String, String> {
    let mut row = Row(BTreeMap::new());
    if let (Some(cluster), false) = (entry.cluster(), matches!(entry, Entry::Cluster(_))) {
        row.set("cluster", cluster);
    }
    match entry {
        Entry::Cluster(it) => {
            row.set("handle", &it.handle);
            row.set("name", &it.name);
            row.set("site", &it.site);
            row.set("since", it.since);
            row.percent("downtime", it.downtime);
            row.percent("utilization", it.utilization);
            row.percent_or_none("repeated", it.repeated);
            row.set("rack_kw", it.rack_kw);
            row.percent("cost_of_capital", it.cost_of_capital);
            row.percent("growth", it.growth);
            row.set("lead_months", it.lead_months);
        }
        Entry::Asset(it) => asset(it, &mut row),
        Entry::Event(it) => event(it, &mut row),
        Entry::Utilization(it) => {
            row.set("first", it.first);
            row.percent("downtime", it.downtime);
            row.percent("utilization", it.utilization);
            row.percent_or_none("repeated", it.repeated);
        }
        Entry::Pue(it) => {
            row.set("first", it.first);
            row.set("value", it.value);
        }
        Entry::Meter(it) => {
            row.set("name", &it.name);
            row.word("place", &it.place);
        }
        Entry::Tariff(it) => {
            row.set("name", &it.name);
            row.span(it.months);
            let price = &it.price;
            row.set("currency", &price.currency);
            row.set("price_per_kwh", price.price_per_kwh);
            row.set("bands", write_bands(&price.bands));
            row.set("demand_per_kw", price.demand_per_kw_month);
            row.word("demand_window", &price.demand_window);
            row.set("time_zone", price.time_zone);
        }
        Entry::Colocation(it) => {
            row.set("name", &it.name);
            row.span(it.months);
            row.set("contracted_kw", it.contracted_kw);
            row.money("price_per_kw", it.price_per_kw);
            row.set("currency", &it.currency);
            row.set("includes_energy", if it.includes_energy { "yes" } else { "no" });
        }
        Entry::Staff(it) => {
            row.set("role", &it.role);
            row.span(it.months);
            row.set("fte", it.fte);
            row.money("loaded_cost", it.loaded_cost);
            row.set("currency", &it.currency);
            row.percent("share", it.share);
        }
        Entry::StaffHours(it) => {
            row.set("role", &it.role);
            row.set("month", it.month);
            row.set("hours", it.hours);
            row.money("hourly_cost", it.hourly_cost);
            row.set("currency", &it.currency);
        }
        Entry::Cost(it) => {
            row.set("name", &it.name);
            row.word("what", &it.what);
            row.money("amount", it.amount);
            row.set("currency", &it.currency);
            row.word("every", &it.every);
            row.span(it.months);
        }
    }
    row.0
}

fn asset(it: &Asset, row: &mut Row) {
    row.set("name", &it.name);
    row.word("what", &it.what);
    row.set("model", &it.model);
    row.set("accelerator", &it.accelerator);
    row.set("accelerators", if it.accelerators == 0 { String::new() } else { it.accelerators.to_string() });
    row.set("count", it.count);
    row.money("price", it.price);
    row.set("currency", &it.currency);
    row.set("in_service", it.in_service);
    row.set("life_months", it.life_months);
    row.money("residual", it.residual);
    match &it.depreciation {
        Method::StraightLine => row.set("depreciation", "straight-line"),
        Method::DecliningBalance { factor } => {
            row.set("depreciation", "declining-balance");
            row.set("factor", factor);
        }
    }
    match &it.paid {
        Paid::Bought => row.set("paid", "bought"),
        Paid::Financed { yearly_rate, months } => {
            row.set("paid", "financed");
            row.percent("yearly_rate", *yearly_rate);
            row.set("term_months", months);
        }
        Paid::Leased { monthly, months } => {
            row.set("paid", "leased");
            row.money("monthly", *monthly);
            row.set("term_months", months);
        }
    }
    for (name, kw) in [("idle_kw", it.idle_kw), ("load_kw", it.load_kw), ("rated_kw", it.rated_kw)] {
        row.set(name, if kw.is_zero() { String::new() } else { kw.to_string() });
    }
    let tags: Vec<String> = it.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    row.set("tags", tags.join("; "));
}

fn event(it: &Event, row: &mut Row) {
    row.set("asset", &it.asset);
    row.set("units", ranges(&it.units));
    row.set("day", it.day);
    row.set("what", it.what.name());
    match &it.what {
        EventKind::Disposal { proceeds } => row.money("proceeds", *proceeds),
        EventKind::WriteOff => {}
        EventKind::Move { to } => row.set("to", to),
    }
}

/// `1-4, 7` of numbers in order.
pub(in super::super) fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let texts: Vec<String> = runs
        .map(|run| match run {
            [only] => only.to_string(),
            _ => format!("{}-{}", run[0], run[run.len() - 1]),
        })
        .collect();
    texts.join(", ")
}

struct Row(BTreeMap<String, String>);

impl Row {
    #[expect(clippy::needless_pass_by_value, reason = "texts, numbers and days, as they are at hand")]
    fn set(&mut self, name: &str, value: impl ToString) {
        self.0.insert(name.to_owned(), value.to_string());
    }

    /// With a decimal more where it could be read in two ways.
    fn money(&mut self, name: &str, amount: Decimal) {
        let text = amount.to_string();
        let is_read_in_two = two_readings(text.strip_prefix('-').unwrap_or(&text)).is_some();
        self.set(name, if is_read_in_two { format!("{text}0") } else { text });
    }

    fn percent(&mut self, name: &str, share: Decimal) {
        self.set(name, share.times(100).normalize());
    }

    fn percent_or_none(&mut self, name: &str, share: Option<Decimal>) {
        match share {
            Some(share) => self.percent(name, share),
            None => self.set(name, ""),
        }
    }

    fn word(&mut self, name: &str, word: &impl serde::Serialize) {
        // Words of ours are texts.
        if let Ok(serde_json::Value::String(word)) = serde_json::to_value(word) {
            self.set(name, word);
        }
    }

    fn span(&mut self, months: Span) {
        self.set("first", months.first);
        self.set("last", months.last.map(|last| last.to_string()).unwrap_or_default());
    }
}
