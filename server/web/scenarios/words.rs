//! How a comparison is told: hours, layers, places, verdicts.

use super::super::filters::figure;
use super::super::words::{FINE, break_even, number as plain, stated};
use crate::money::Decimal;
use crate::scenario::comparison::{Against, Layer, LayerKind, Line, OptionAnswer, PlaceAnswer};
use crate::scenario::figure::Unit;

/// Where a line is paid, where there are several places.
pub(super) fn place(option: &OptionAnswer, line: &Line) -> String {
    match option.places.get(line.place) {
        Some(place) if option.places.len() > 1 => place.supplier.clone(),
        _ => String::new(),
    }
}

/// From when on owning costs less.
pub(super) fn against(it: &Against) -> String {
    break_even(&it.break_even)
}

/// What other bases of a place would cost more than the one that was taken.
pub(super) fn policies(place: &PlaceAnswer) -> Vec<(String, Decimal)> {
    // Support and other costs are on top of both.
    let own: Decimal = place.layers.iter().map(|it| it.cost).sum();
    let told = |name: &str, gpus: Decimal| format!("{name}: {} GPUs", plain(gpus, 1));
    place.policies.iter().map(|it| (told(it.name, it.gpus), it.cost - own)).collect()
}

/// What an hour costs; where there are none that is undefined.
#[expect(clippy::ref_option, reason = "templates pass references")]
pub(super) fn hour(cost: &Option<Decimal>) -> String {
    cost.map_or_else(|| "undefined".to_owned(), |cost| figure(cost, 2))
}

pub(super) fn gpus(layer: &Layer) -> String {
    layer.gpus.map_or_else(|| "no limit".to_owned(), |gpus| plain(gpus, 1))
}

pub(super) fn hours(hours: &Decimal) -> String {
    stated(*hours, Unit::Hours, "")
}

pub(super) fn number(value: &Decimal) -> String {
    plain(*value, FINE)
}

/// How a price is paid.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(super) fn kind(kind: &LayerKind) -> &'static str {
    match kind {
        LayerKind::Owned => "owned",
        LayerKind::Committed => "reserved",
        LayerKind::Spot => "spot, with work that is done again",
        LayerKind::OnDemand => "on demand",
        LayerKind::Tokens => "by the token",
    }
}
