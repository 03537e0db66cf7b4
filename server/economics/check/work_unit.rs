//! Units of work.

use super::Findings;
use crate::economics::work_unit::{Basis, Offer, Performance};
use crate::money::Decimal;

/// What is odd about offers that are to be ranked.
pub fn offers(offers: &[Offer]) -> Findings {
    let mut found = Findings::default();
    found.each("offers", offers, |offer, found| {
        found.money("price", offer.price);
    });
    let Some(first) = offers.first() else { return found };
    found.each("offers", offers, |offer, found| {
        found.within("performance", |found| same(offer.performance, first.performance, found));
    });
    found.sorted()
}

/// What is odd about two performances that are to be compared.
pub fn performances(of: Performance, over: Performance) -> Findings {
    let mut found = Findings::default();
    for (field, it) in [("of", of), ("over", over)] {
        found.within(field, |found| same(it, of, found));
    }
    found.sorted()
}

/// What is odd about a performance beside the first.
fn same(it: Performance, first: Performance, found: &mut Findings) {
    let most = Decimal::from(1_000_000_000_000_000);
    if found.between("value", it.value, Decimal::ZERO, most, "expected more than 0, up to 10^15")
        && it.value.is_zero()
    {
        found.refuse("value", it.value, "expected more than 0");
    }
    if it.basis != first.basis {
        let sparse = [it.basis, first.basis].contains(&Basis::SparseOperations);
        let why = if sparse { ": with sparsity, figures are twice as large" } else { "" };
        let message = format!("cannot be compared with {}{why}", first.basis.name());
        found.refuse("basis", it.basis.name(), &message);
    } else if it.basis == Basis::SparseOperations {
        found.warn("basis", it.basis.name(), "few models use sparsity; enter dense operations");
    }
}
