//! How a comparison is shown: hours, layers, places, verdicts.

use super::super::filters::figure;
use super::super::words::{FINE, break_even, number as plain, stated};
use super::field::{Drawn, Field, Takes};
use crate::economics::comparison::{Against, Comparison, Layer, LayerKind, Line, OptionAnswer, PlaceAnswer};
use crate::economics::published_figures::Value;
use crate::economics::uncertainty::Input;
use crate::money::Decimal;

/// What a line is paid for and to whom, where there are several places.
pub(super) fn place(option: &OptionAnswer, line: &Line) -> String {
    option.places.get(line.place).map_or_else(String::new, |place| in_option(option, place))
}

/// A place in an option that has several: the works it serves, and who sells there.
pub(super) fn in_option(option: &OptionAnswer, place: &PlaceAnswer) -> String {
    if option.places.len() == 1 {
        return String::new();
    }
    let described = place.serves.iter().chain([&place.supplier]).filter(|it| !it.is_empty());
    described.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// An option, with a place of it where it has several.
pub(super) fn whose(option: &OptionAnswer, place: &PlaceAnswer) -> String {
    let described = in_option(option, place);
    if described.is_empty() { option.name.clone() } else { format!("{}, {described}", option.name) }
}

/// Owning against a price, for all options that have it.
pub(super) struct OwningAgainst<'a> {
    pub owning: &'a str,
    pub against: String,
    pub price: Decimal,
    pub verdict: String,
}

/// From when on owning costs less, each price once.
pub(super) fn against(compared: &Comparison) -> Vec<OwningAgainst<'_>> {
    let name = |at: usize| compared.options[at].name.as_str();
    let mut described: Vec<(&Against, Vec<&str>)> = Vec::new();
    for it in &compared.break_evens {
        let of = compared.options[it.renting].places.first().map_or("", |place| place.supplier.as_str());
        let of = if of.is_empty() { name(it.renting) } else { of };
        let same = described.iter_mut().find(|(other, _)| {
            (other.owning, other.price, other.kind, &other.break_even)
                == (it.owning, it.price, it.kind, &it.break_even)
        });
        match same {
            Some((_, suppliers)) if suppliers.contains(&of) => {}
            Some((_, suppliers)) => suppliers.push(of),
            None => described.push((it, vec![of])),
        }
    }
    let row = |(it, suppliers): (&Against, Vec<&str>)| OwningAgainst {
        owning: name(it.owning),
        against: format!("{}, {}", suppliers.join(" and "), kind(&it.kind)),
        price: it.price,
        verdict: break_even(&it.break_even),
    };
    described.into_iter().map(row).collect()
}

/// Whether the best of all bases is none. Where one that was tried costs less, somebody entered that there is none.
pub(super) fn is_without_base(place: &PlaceAnswer) -> bool {
    let has_base = place.layers.iter().any(|it| it.kind.is_paid_unused());
    !has_base && !place.policies.is_empty() && !place.policies.iter().any(|it| it.more.is_negative())
}

/// What other bases of a place would cost more than the one that was taken.
pub(super) fn policies(place: &PlaceAnswer) -> Vec<(String, Decimal)> {
    let described = |name: &str, gpus: Decimal| format!("{name}: {} GPUs", plain(gpus, 1));
    place.policies.iter().map(|it| (described(it.name, it.gpus), it.more)).collect()
}

/// What an hour costs; where there are none that is undefined.
#[expect(clippy::ref_option, reason = "templates pass references")]
pub(super) fn hour(cost: &Option<Decimal>) -> String {
    cost.map_or_else(|| "undefined".to_owned(), |cost| figure(cost, 2))
}

/// A figure of a claim; they are all in dollars.
pub(super) fn in_dollars(figure: &Value) -> String {
    stated(figure.value, figure.unit, "dollars")
}

pub(super) fn gpus(layer: &Layer) -> String {
    layer.gpus.map_or_else(|| "no limit".to_owned(), |gpus| plain(gpus, 1))
}

/// What a field is drawn between, and who says so.
pub(super) fn drawn(field: &Field, drawn: &Drawn) -> String {
    let is_share = matches!(field.takes, Takes::Percent | Takes::PercentOrNone | Takes::OneOf(_));
    let shown = |value: Decimal| {
        if is_share { format!("{}%", plain(value.times(100), 2)) } else { plain(value, FINE) }
    };
    let says = drawn.source.as_deref().unwrap_or("usual range, an assumption");
    let says = if says.is_empty() { "entered" } else { says };
    format!("Range {} to {}: {says}", shown(drawn.low), shown(drawn.high))
}

/// A value of what is uncertain, as the form has it: shares as percentages.
pub(super) fn of_input(input: &Input, value: &Decimal) -> String {
    if input.in_percent { format!("{}%", plain(value.times(100), 2)) } else { plain(*value, FINE) }
}

pub(super) fn tenths(value: &Decimal) -> String {
    plain(*value, 1)
}

/// How a price is paid. That of spot has the work that is done again.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(super) fn kind(kind: &LayerKind) -> &'static str {
    match kind {
        LayerKind::Block => "in blocks",
        LayerKind::Owned => "owned",
        LayerKind::Committed => "reserved",
        LayerKind::Spend => "under a spend commitment",
        LayerKind::Spot => "spot",
        LayerKind::OnDemand => "on demand",
        LayerKind::Tokens => "per token",
    }
}
