//! From the texts of a form or a row to an entry.

use std::collections::BTreeMap;

use super::super::depreciation::Method;
use super::super::entry::{
    Asset, AssetKind, Cluster, Colocation, Cost, CostKind, Entry, Event, EventKind, Every, Meter, Paid, Pue,
    Span, Staff, StaffHours, Tariff, Utilization,
};
use super::super::power::{self, MeterLocation, Window};
use super::bands::parse_bands;
use super::cells::{Cells, RefusedCell, Texts};
use super::kind::Kind;

/// What is written in the fields of a kind.
///
/// # Errors
/// Every field that is wrong, with what was expected. Whether entries fit together is decided by
/// [`problems`](super::super::problems).
pub fn read(kind: Kind, texts: &impl Texts) -> Result<Entry, Vec<RefusedCell>> {
    let mut cells = Cells::new(texts);
    let entry = match kind {
        Kind::Clusters => Entry::Cluster(cluster(&mut cells)),
        Kind::Assets => Entry::Asset(asset(&mut cells)),
        Kind::Events => Entry::Event(event(&mut cells)),
        Kind::Utilization => Entry::Utilization(Utilization {
            cluster: cells.text("cluster"),
            first: cells.month("first"),
            downtime: cells.percent("downtime", DOWNTIME),
            utilization: cells.percent("utilization", UTILIZATION),
            repeated: cells.percent_or_none("repeated", REPEATED),
        }),
        Kind::Power => Entry::Pue(Pue {
            cluster: cells.text("cluster"),
            first: cells.month("first"),
            value: cells.pue("value"),
        }),
        Kind::Meters => Entry::Meter(Meter {
            cluster: cells.text("cluster"),
            name: cells.text("name"),
            place: cells.word("place", "it or facility", MeterLocation::It),
        }),
        Kind::Tariffs => Entry::Tariff(tariff(&mut cells)),
        Kind::Colocation => Entry::Colocation(Colocation {
            cluster: cells.text("cluster"),
            name: cells.text("name"),
            months: span(&mut cells),
            contracted_kw: cells.amount("contracted_kw"),
            price_per_kw: cells.money("price_per_kw"),
            currency: cells.currency("currency"),
            includes_energy: yes_or_no(&mut cells, "includes_energy"),
        }),
        Kind::Staff => Entry::Staff(Staff {
            cluster: cells.text("cluster"),
            role: cells.text("role"),
            months: span(&mut cells),
            fte: cells.amount("fte"),
            loaded_cost: cells.money("loaded_cost"),
            currency: cells.currency("currency"),
            share: cells.percent("share", (0, 100)),
        }),
        Kind::StaffHours => Entry::StaffHours(StaffHours {
            cluster: cells.text("cluster"),
            role: cells.text("role"),
            month: cells.month("month"),
            hours: cells.amount("hours"),
            hourly_cost: cells.money("hourly_cost"),
            currency: cells.currency("currency"),
        }),
        Kind::Costs => Entry::Cost(Cost {
            cluster: cells.text("cluster"),
            name: cells.text("name"),
            what: cells.word(
                "what",
                "maintenance, licence, space, link, insurance, spares or other",
                CostKind::Other,
            ),
            amount: cells.signed_money("amount"),
            currency: cells.currency("currency"),
            every: cells.word("every", "once, month, quarter or year", Every::Once),
            months: span(&mut cells),
        }),
    };
    cells.finish(entry)
}

/// In percent. What is down all the time is no cluster.
const DOWNTIME: (i64, i64) = (0, 99);
const UTILIZATION: (i64, i64) = (0, 100);
const REPEATED: (i64, i64) = (0, 99);

fn cluster<T: Texts>(cells: &mut Cells<'_, T>) -> Cluster {
    Cluster {
        handle: handle(cells),
        name: cells.text("name"),
        site: cells.text("site"),
        since: cells.day("since"),
        downtime: cells.percent("downtime", DOWNTIME),
        utilization: cells.percent("utilization", UTILIZATION),
        repeated: cells.percent_or_none("repeated", REPEATED),
        rack_kw: cells.amount("rack_kw"),
        cost_of_capital: cells.percent("cost_of_capital", (0, 100)),
        growth: cells.percent("growth", (-100, 1000)),
        lead_months: cells.whole("lead_months", 0, 120),
    }
}

/// A handle stands in addresses and file names.
fn handle<T: Texts>(cells: &mut Cells<'_, T>) -> String {
    let text = cells.optional("handle");
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if text.is_empty() || text.len() > 60 || text.starts_with('-') || !text.bytes().all(is_plain) {
        cells.refuse("handle", "lowercase letters, digits and hyphens, such as h100-east");
    }
    text.to_owned()
}

fn asset<T: Texts>(cells: &mut Cells<'_, T>) -> Asset {
    let what =
        cells.word("what", "node, spare-node, fabric, storage, installation or facility", AssetKind::Node);
    let accelerators = match cells.optional("accelerators") {
        "" => 0,
        _ => cells.whole("accelerators", 0, 1024),
    };
    if what == AssetKind::Node && accelerators == 0 {
        cells.refuse("accelerators", "the number of accelerators in one node");
    }
    if accelerators > 0 && cells.optional("accelerator").is_empty() {
        cells.refuse("accelerator", "an accelerator such as H100 SXM");
    }
    let price = cells.money("price");
    let paid = paid(cells);
    if price.is_zero() && !matches!(paid, Paid::Leased { .. }) {
        cells.refuse("price", "a price above 0; 0 only for a lease");
    }
    let residual = cells.money_or_none("residual");
    if residual > price && !matches!(paid, Paid::Leased { .. }) {
        cells.refuse("residual", "at most the price");
    }
    Asset {
        cluster: cells.text("cluster"),
        name: cells.text("name"),
        what,
        model: cells.optional_text("model"),
        accelerator: cells.optional_text("accelerator"),
        accelerators,
        count: cells.whole("count", 1, 100_000),
        price,
        currency: cells.currency("currency"),
        in_service: cells.day("in_service"),
        life_months: cells.whole("life_months", 1, 600),
        residual,
        depreciation: depreciation(cells),
        paid,
        idle_kw: cells.kilowatts("idle_kw"),
        load_kw: cells.kilowatts("load_kw"),
        rated_kw: cells.kilowatts("rated_kw"),
        tags: tags(cells),
    }
}

fn depreciation<T: Texts>(cells: &mut Cells<'_, T>) -> Method {
    match cells.optional("depreciation") {
        "straight-line" => Method::StraightLine,
        "declining-balance" => {
            let factor = cells.amount("factor");
            if factor.is_zero() {
                cells.refuse("factor", "a factor such as 2");
            }
            Method::DecliningBalance { factor }
        }
        _ => {
            cells.refuse("depreciation", "straight-line or declining-balance");
            Method::StraightLine
        }
    }
}

fn paid<T: Texts>(cells: &mut Cells<'_, T>) -> Paid {
    match cells.optional("paid") {
        "bought" => Paid::Bought,
        "financed" => Paid::Financed {
            yearly_rate: cells.percent("yearly_rate", (0, 100)),
            months: cells.whole("term_months", 1, 600),
        },
        "leased" => {
            Paid::Leased { monthly: cells.money("monthly"), months: cells.whole("term_months", 1, 600) }
        }
        _ => {
            cells.refuse("paid", "bought, financed or leased");
            Paid::Bought
        }
    }
}

fn tags<T: Texts>(cells: &mut Cells<'_, T>) -> BTreeMap<String, String> {
    let mut tags = BTreeMap::new();
    if cells.optional("tags").chars().any(char::is_control) {
        cells.refuse("tags", "tags on one line");
    }
    for pair in cells.optional("tags").split(';').map(str::trim).filter(|pair| !pair.is_empty()) {
        match pair.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
            Some((key, value)) if !key.is_empty() && !value.is_empty() => {
                tags.insert(key.to_owned(), value.to_owned());
            }
            _ => {
                cells.refuse("tags", "tags such as team=vision; env=prod");
                break;
            }
        }
    }
    tags
}

fn event<T: Texts>(cells: &mut Cells<'_, T>) -> Event {
    let what = match cells.optional("what") {
        "disposal" => EventKind::Disposal { proceeds: cells.money_or_none("proceeds") },
        "write-off" => EventKind::WriteOff,
        "move" => EventKind::Move { to: cells.text("to") },
        _ => {
            cells.refuse("what", "disposal, write-off or move");
            EventKind::WriteOff
        }
    };
    Event { asset: cells.text("asset"), units: units(cells), day: cells.day("day"), what }
}

/// `1-4, 7`.
fn units<T: Texts>(cells: &mut Cells<'_, T>) -> Vec<u32> {
    let mut units = Vec::new();
    for part in cells.optional("units").split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
            (Ok(first), Ok(last)) if 1 <= first && first <= last && last <= 100_000 => {
                units.extend(first..=last);
            }
            _ => {
                cells.refuse("units", "unit numbers such as 3 or 1-4, 7");
                break;
            }
        }
    }
    units.sort_unstable();
    units.dedup();
    units
}

fn tariff<T: Texts>(cells: &mut Cells<'_, T>) -> Tariff {
    let bands = parse_bands(cells.optional("bands")).unwrap_or_else(|expected| {
        cells.refuse("bands", expected);
        Vec::new()
    });
    let time_zone = cells.parsed("time_zone", "a time zone such as Europe/Berlin");
    let price = power::Tariff {
        currency: cells.currency("currency"),
        bands,
        price_per_kwh: cells.signed_amount("price_per_kwh"),
        demand_per_kw_month: cells.amount_or_none("demand_per_kw"),
        demand_window: cells.word("demand_window", "15, 30 or 60 minutes", Window::default()),
        time_zone: time_zone.unwrap_or(chrono_tz::Tz::UTC),
    };
    for problem in price.prices().err().unwrap_or_default() {
        let (column, expected) = match problem.field.as_str() {
            "price_per_kwh" => ("price_per_kwh", problem.expected),
            "demand_per_kw_month" => ("demand_per_kw", problem.expected),
            _ => ("bands", format!("of {}: {}", problem.found, problem.expected)),
        };
        cells.refuse(column, expected);
    }
    Tariff { cluster: cells.text("cluster"), name: cells.text("name"), months: span(cells), price }
}

fn span<T: Texts>(cells: &mut Cells<'_, T>) -> Span {
    let (first, last) = (cells.month("first"), cells.month_or_none("last"));
    if last.is_some_and(|last| last < first) {
        cells.refuse("last", "a month not before the first");
    }
    Span { first, last }
}

fn yes_or_no<T: Texts>(cells: &mut Cells<'_, T>, column: &'static str) -> bool {
    match cells.optional(column) {
        "yes" => true,
        "no" => false,
        _ => {
            cells.refuse(column, "yes or no");
            false
        }
    }
}
