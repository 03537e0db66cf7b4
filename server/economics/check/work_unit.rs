//! Units of work.

use super::Findings;
use crate::economics::work_unit::{Basis, Offer, Performance};
use crate::money::Decimal;

/// What is odd about offers that are to be ranked.
pub fn offers(offers: &[Offer]) -> Findings {
    let mut found = Findings::default();
    for (at, offer) in offers.iter().enumerate() {
        found.money(&format!("offers.{at}.price"), offer.price);
    }
    let performances: Vec<(String, Performance)> = offers
        .iter()
        .enumerate()
        .map(|(at, offer)| (format!("offers.{at}.performance"), offer.performance))
        .collect();
    let performances: Vec<(&str, Performance)> =
        performances.iter().map(|(field, it)| (field.as_str(), *it)).collect();
    same(&performances, &mut found);
    found.sorted()
}

/// What is odd about performances that are to be compared.
pub fn performances(of: &[(&str, Performance)]) -> Findings {
    let mut found = Findings::default();
    same(of, &mut found);
    found.sorted()
}

fn same(performances: &[(&str, Performance)], found: &mut Findings) {
    let Some((_, first)) = performances.first() else { return };
    for (field, it) in performances {
        let most = Decimal::from(1_000_000_000_000_000);
        let name = format!("{field}.value");
        if found.between(&name, it.value, Decimal::ZERO, most, "expected more than 0, up to 10^15")
            && it.value.is_zero()
        {
            found.refuse(&name, it.value, "expected more than 0");
        }
        let name = format!("{field}.basis");
        if it.basis != first.basis {
            let sparse = [it.basis, first.basis].contains(&Basis::SparseOperations);
            let why = if sparse { ": with sparsity, figures are twice as large" } else { "" };
            let message = format!("cannot be compared with {}{why}", first.basis.name());
            found.refuse(&name, it.basis.name(), &message);
        } else if it.basis == Basis::SparseOperations {
            found.warn(&name, it.basis.name(), "few models use sparsity; enter dense operations");
        }
    }
}
