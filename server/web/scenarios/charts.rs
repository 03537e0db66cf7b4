//! Charts on the page of a scenario, each with a sentence that says what one sees.

use super::super::filters::figure;
use super::super::words::number;
use super::answer::Answer;
use super::words::{kind, of_input};
use crate::cancellation;
use crate::chart::{Duration, DurationLayer, Histogram, Line, Lines, Note, Spread, Tornado, TornadoBar};
use crate::economics::comparison::{
    Crossing, Curve, Curves, LayerKind, OUR_OWN, Repaid, Scenario, curves, duration, repaid,
};
use crate::money::Decimal;
use crate::money::arithmetic::{count, quotient};

/// Parts that the hours of a demand are cut into.
const STEPS: usize = 24;
/// Colors of one reservation after the other.
const RESERVED: [&str; 3] = ["s2", "s4", "s6"];

/// Everything that is simulated of an answer.
pub(super) struct Charts {
    /// What an hour costs by utilization. None where utilization changes no price.
    pub by_utilization: Option<Lines>,
    /// What each option has paid until when.
    pub paid: Lines,
    /// What serves the hours of the places where that is not one price alone; of the first place, where it is everywhere.
    pub mix: Vec<Duration>,
    /// How often each option came to what.
    pub range: Histogram,
    /// What moves the advantage. None where nothing does, or there is no other option.
    pub break_points: Option<Tornado>,
}

/// Simulations an answer.
pub(super) fn draw(scenario: &Scenario, answer: &Answer) -> Charts {
    Charts {
        by_utilization: by_utilization(scenario, answer),
        paid: paid(answer),
        mix: mix(scenario, answer),
        range: range(answer),
        break_points: break_points(answer),
    }
}

impl Charts {
    /// The colors of [`Self::mix`], each once.
    pub(super) fn layers(&self) -> Vec<(&'static str, &str)> {
        let mut found: Vec<(&'static str, &str)> = Vec::new();
        for layer in self.mix.iter().flat_map(|it| &it.layers) {
            if !found.iter().any(|(class, _)| *class == layer.class) {
                found.push((layer.class, &layer.label));
            }
        }
        found
    }
}

fn percent(share: Decimal) -> String {
    format!("{}%", number(share.times(100), 1))
}

fn by_utilization(scenario: &Scenario, answer: &Answer) -> Option<Lines> {
    let found = curves(scenario, &answer.comparison);
    let is_moved = |it: &Curve| matches!(it.kind, LayerKind::Owned | LayerKind::Committed);
    if found.curves.len() < 2 || !found.curves.iter().any(is_moved) {
        return None;
    }
    let name = |curve: &Curve| {
        let of = if curve.supplier.is_empty() { answer.name(&curve.option) } else { curve.supplier.as_str() };
        if curve.kind == LayerKind::Owned {
            return answer.name(&curve.option).to_owned();
        }
        // One supplier asks several prices, of today and of before.
        format!("{of} {} at {}", kind(&curve.kind), figure(full(curve), 2))
    };
    let names: Vec<String> = found.curves.iter().map(name).collect();
    let title = described_by_utilization(&found, &names);
    let mut crossings = found.crossings;
    crossings.sort_by_key(|it| it.utilization);
    let mut notes: Vec<Note> = crossings
        .iter()
        .map(|it| Note {
            at: (it.utilization, it.cost),
            title: described(it, &names),
            label: percent(it.utilization),
        })
        .collect();
    // Machines that differ in their number alone cross at one point.
    notes.dedup_by(|later, before| later.label == before.label && later.at.1 == before.at.1);
    let description =
        [title.trim_end_matches('.')].into_iter().chain(notes.iter().map(|it| it.title.as_str()));
    let description = format!("{}.", description.collect::<Vec<_>>().join(". "));
    let at = |hundredths: i64| (Decimal::new(hundredths.into(), 2), format!("{hundredths}%"));
    Some(Lines {
        title,
        description,
        unit: format!("{} per GPU-hour of work", answer.currency()),
        range: "Utilization".to_owned(),
        labels: [5, 25, 50, 75, 100].map(at).to_vec(),
        lines: found
            .curves
            .into_iter()
            .zip(names)
            .map(|(curve, label)| Line { label, points: curve.points })
            .collect(),
        notes,
        top: Some(found.top),
        format: percent,
    })
}

/// What an hour costs where all of it is used.
fn full(curve: &Curve) -> Decimal {
    curve.points.last().map(|it| it.1).unwrap_or_default()
}

fn described(it: &Crossing, names: &[String]) -> String {
    let (from, own, than) = (percent(it.utilization), &names[it.curve], &names[it.than]);
    format!("From {from} utilization, an hour costs less with {own} than with {than}")
}

/// What is owned against the price that it is measured by: the cheapest that is paid by use. Where nothing is owned,
/// reservations against the cheapest that they begin to cost less than.
fn described_by_utilization(found: &Curves, names: &[String]) -> String {
    let of = |is_it: fn(LayerKind) -> bool| {
        found.curves.iter().enumerate().filter(move |(_, it)| is_it(it.kind)).map(|(at, _)| at)
    };
    let owned: Vec<usize> = of(|it| it == LayerKind::Owned).collect();
    let used: Vec<usize> = of(|it| it != LayerKind::Owned && !it.is_paid_unused()).collect();
    let cheapest = used.iter().copied().min_by_key(|at| full(&found.curves[*at]));
    match cheapest {
        _ if owned.is_empty() => {
            let first = found.crossings.iter().min_by_key(|it| (it.cost, it.utilization));
            first.map_or_else(
                || "No option becomes cheaper than another at any utilization.".to_owned(),
                |it| format!("{}.", described(it, names)),
            )
        }
        None => {
            "Utilization does not matter here: owned and reserved capacity is paid whether it is used or not."
                .to_owned()
        }
        Some(than) => {
            let from = |own: &usize| found.crossings.iter().find(|it| (it.curve, it.than) == (*own, than));
            let mut verdicts: Vec<(String, Vec<&str>)> = Vec::new();
            for own in &owned {
                let verdict = from(own).map_or_else(
                    || "at no utilization".to_owned(),
                    |it| format!("from {} utilization", percent(it.utilization)),
                );
                match verdicts.iter_mut().find(|(same, _)| *same == verdict) {
                    Some((_, of)) => of.push(&names[*own]),
                    None => verdicts.push((verdict, vec![&names[*own]])),
                }
            }
            let described = verdicts.iter().map(|(verdict, of)| {
                let costs = if of.len() == 1 { "costs" } else { "cost" };
                format!("{} {costs} less {verdict}", of.join(" and "))
            });
            let which = if used.len() == 1 { "" } else { ", the cheapest price paid by use" };
            format!("Compared with {}{which}: {}.", names[than], described.collect::<Vec<_>>().join("; "))
        }
    }
}

fn paid(answer: &Answer) -> Lines {
    let compared = &answer.comparison;
    let (months, every) = (compared.months, if compared.months > 24 { 12 } else { 6 });
    let mut labels: Vec<(Decimal, String)> = vec![(Decimal::ZERO, "start".to_owned())];
    // The last one has room beside it.
    let between = (1..months).filter(|month| month % every == 0 && months - month > every / 3);
    labels.extend(between.map(|month| (count(month), month.to_string())));
    labels.push((count(months), months.to_string()));
    let lines: Vec<Line> = compared
        .options
        .iter()
        .map(|option| Line {
            label: option.name.clone(),
            points: (0..).map(count).zip(option.payments.cumulative()).collect(),
        })
        .collect();
    let repaid = repaid(compared);
    let says = |it: &Repaid| {
        let (name, other) = (answer.name(&it.option), answer.name(&it.other));
        let after = number(it.months, 1);
        if it.is_by_sale {
            format!("After {after} months {name} has cost no more than {other}, only by selling what is left")
        } else {
            format!("After {after} months {name} has cost no more than {other}")
        }
    };
    let first = repaid.iter().filter(|it| compared.cheapest.is_none_or(|at| at == it.option));
    let title = match first.min_by_key(|it| it.months) {
        Some(it) => format!("{}.", says(it)),
        None => match compared.options.iter().filter(|it| it.fails.is_empty()).min_by_key(|it| it.paid) {
            Some(only) if compared.options.len() == 1 => {
                format!("{} is paid within {months} months.", answer.money(only.paid))
            }
            Some(least) => {
                format!(
                    "{} has the lowest payments after {months} months: {}.",
                    least.name,
                    answer.money(least.paid)
                )
            }
            None => "Payments of each option over time.".to_owned(),
        },
    };
    let notes = repaid.iter().map(|it| Note {
        at: (it.months, it.paid),
        title: says(it),
        // Where the axis ends it says when.
        label: if it.months >= count(months) { String::new() } else { number(it.months, 1) },
    });
    Lines {
        description: title.clone(),
        title,
        unit: format!("{} paid so far", answer.currency()),
        range: "Months".to_owned(),
        labels,
        lines,
        notes: notes.collect(),
        top: None,
        format: |month| if month.is_zero() { "at the start".to_owned() } else { number(month, 0) },
    }
}

fn mix(scenario: &Scenario, answer: &Answer) -> Vec<Duration> {
    let (mut drawn, mut plain) = (Vec::new(), Vec::new());
    let demands = scenario.demands();
    for (option, entered) in scenario.options.iter().enumerate() {
        for (at, place) in entered.places.iter().enumerate() {
            cancellation::check();
            let Some(found) = duration(scenario, (&demands, &answer.comparison), (option, at), STEPS) else {
                continue;
            };
            let whose =
                if place.serves.is_empty() { place.supplier.clone() } else { place.serves.join(", ") };
            let name = match (entered.places.len(), whose.as_str()) {
                (1, _) => entered.name.clone(),
                (_, "") => format!("{}, place {}", entered.name, at + 1),
                (_, whose) => format!("{}, {whose}", entered.name),
            };
            let is_plain = match found.layers.as_slice() {
                [] => true,
                [only] => matches!(only.kind, Some(LayerKind::OnDemand | LayerKind::Tokens)),
                _ => false,
            };
            let mut reserved = RESERVED.into_iter();
            let layers = found.layers.into_iter().map(|it| DurationLayer {
                class: match it.kind {
                    Some(LayerKind::Owned) => "s1",
                    Some(LayerKind::Committed) if it.name == OUR_OWN => "s1",
                    Some(LayerKind::Committed) => reserved.next().unwrap_or("s6"),
                    Some(LayerKind::Block) => "s4",
                    Some(LayerKind::Spot) => "s8",
                    Some(LayerKind::OnDemand) => "s5",
                    Some(LayerKind::Spend | LayerKind::Tokens) => "s7",
                    None => "other",
                },
                label: it.name,
                values: it.gpus,
                highest: it.highest,
            });
            let layers: Vec<DurationLayer> = layers.collect();
            let served = |layer: &DurationLayer| -> Decimal {
                let hours = found.hours.iter().map(|it| i64::try_from(*it).unwrap_or(i64::MAX));
                layer.values.iter().zip(hours).map(|(gpus, hours)| gpus.times(hours)).sum()
            };
            let all: Decimal = layers.iter().map(served).sum();
            let part = |layer: &DurationLayer| {
                let share = quotient(served(layer), all).unwrap_or_default().times(100).round(1);
                let name = layer.label.to_lowercase();
                if share.is_zero() {
                    format!("{name} less than 0.1%")
                } else {
                    format!("{name} {}%", number(share, 1))
                }
            };
            let parts: Vec<String> = layers.iter().map(part).collect();
            let chart = Duration {
                title: if parts.is_empty() { name } else { format!("{name}: {}", parts.join(", ")) },
                description: "GPUs needed by share of hours, the highest first.".to_owned(),
                unit: "GPUs".to_owned(),
                range: "Hours, busiest first".to_owned(),
                layers,
                top: Decimal::ZERO,
                format: |gpus| number(gpus, 1),
            };
            if is_plain { plain.push(chart) } else { drawn.push(chart) }
        }
    }
    if drawn.is_empty() {
        drawn.extend(plain.into_iter().take(1));
    }
    let highest = |it: &Duration| it.rows().into_iter().map(|(.., all)| all).max().unwrap_or_default();
    let top = drawn.iter().map(highest).max().unwrap_or_default();
    for it in &mut drawn {
        it.top = top;
    }
    drawn
}

fn range(answer: &Answer) -> Histogram {
    let drawn = &answer.simulation;
    let title = match answer.comparison.cheapest {
        Some(at) => format!(
            "{} costs between {} and {} in 80% of simulations.",
            answer.name(&at),
            answer.money(drawn.options[at].p10),
            answer.money(drawn.options[at].p90)
        ),
        None => "Cost of each option in all simulations.".to_owned(),
    };
    let spreads = drawn.options.iter().enumerate().map(|(at, it)| Spread {
        label: answer.name(&at).to_owned(),
        bars: it.bars.clone(),
        middle: it.p50,
    });
    Histogram {
        description: title.clone(),
        title,
        unit: answer.currency().to_string(),
        axes: format!(
            "{}, {} over {} months. Height: number of simulations",
            answer.currency(),
            answer.present_value(),
            answer.comparison.months
        ),
        edges: drawn.edges.clone(),
        spreads: spreads.collect(),
        format: |amount| number(amount, 0),
    }
}

fn break_points(answer: &Answer) -> Option<Tornado> {
    let cheapest_option = answer.cheapest_option.as_ref()?;
    let first = cheapest_option.sensitivities.first()?;
    let ends = (first.low.min(first.high), first.low.max(first.high));
    let after = if ends.0.is_negative() {
        ", and below zero another option is cheaper".to_owned()
    } else {
        ", always ahead".to_owned()
    };
    let title = format!(
        "{} changes the advantage most: between {} and {}{after}.",
        first.input.label,
        answer.money(ends.0),
        answer.money(ends.1)
    );
    let bars = answer.sensitivities().into_iter().map(|it| TornadoBar {
        label: format!(
            "{}: {} to {}",
            it.input.label,
            of_input(&it.input, &it.input.low),
            of_input(&it.input, &it.input.high)
        ),
        inputs: [it.input.low, it.input.high].map(|value| of_input(&it.input, &value)),
        answers: [it.low, it.high],
    });
    Some(Tornado {
        description: title.clone(),
        title,
        unit: format!("{} ahead of the next option", answer.currency()),
        base: cheapest_option.ahead,
        limit: Decimal::ZERO,
        bars: bars.collect(),
        format: |amount| figure(amount, 0),
    })
}
