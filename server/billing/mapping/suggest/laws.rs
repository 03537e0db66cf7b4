//! How columns with amounts depend on one another, as nearly all rows agree.

use super::table::Table;
use crate::money::Decimal;

/// The amounts of some columns in the rows that have all of them.
pub(super) fn rows<const N: usize>(
    table: &Table<'_>,
    columns: [usize; N],
) -> impl Iterator<Item = [Decimal; N]> {
    (0..table.rows).filter_map(move |row| {
        let mut amounts = [Decimal::ZERO; N];
        for (amount, at) in amounts.iter_mut().zip(columns) {
            *amount = (*table.columns[at].amounts.get(row)?)?;
        }
        Some(amounts)
    })
}

/// Whether nine of ten rows agree, and at least one of them by more than chance.
fn is_law<T>(rows: impl Iterator<Item = T>, holds: impl Fn(&T) -> bool, tells: impl Fn(&T) -> bool) -> bool {
    let (mut all, mut agree, mut telling) = (0, 0, false);
    for row in rows {
        let does = holds(&row);
        all += 1;
        agree += usize::from(does);
        telling |= does && tells(&row);
    }
    telling && agree * 10 >= all * 9
}

/// Whether two amounts differ by no more than rounding: a cent, or so much of a hundred thousand.
fn is_near(one: Decimal, other: Decimal, of_hundred_thousand: i64) -> bool {
    let Ok(difference) = one.checked_sub(other) else { return false };
    let share = Decimal::new(i128::from(of_hundred_thousand), 5);
    let room = other.abs().checked_multiply(share).unwrap_or_default();
    difference.abs() <= room.max(Decimal::new(1, 2))
}

pub(super) fn is_sum(table: &Table<'_>, [one, other]: [usize; 2], sum: usize) -> bool {
    if one == sum || other == sum || one == other {
        return false;
    }
    let adds = |[one, other, sum]: &[Decimal; 3]| {
        one.checked_add(*other).is_ok_and(|expected| is_near(expected, *sum, 0))
    };
    is_law(rows(table, [one, other, sum]), adds, |[one, other, _]| !one.is_zero() && !other.is_zero())
}

/// Whether a list cost without its deduction, which may be written with a minus, is the net one.
pub(super) fn is_left_of(table: &Table<'_>, [list, off]: [usize; 2], net: usize) -> bool {
    let is_left = |[list, off, net]: &[Decimal; 3]| {
        list.checked_sub(off.abs()).is_ok_and(|left| is_near(left, *net, 0))
    };
    list != net && is_law(rows(table, [list, off, net]), is_left, |[_, off, _]| !off.is_zero())
}

/// A price is rounded, so that the product is more or less the cost. Where all is one, it says nothing.
pub(super) fn is_product(table: &Table<'_>, [quantity, price]: [usize; 2], cost: usize) -> bool {
    let multiplies = |[quantity, price, cost]: &[Decimal; 3]| {
        quantity.checked_multiply(*price).is_ok_and(|product| is_near(product, *cost, 500))
    };
    let tells = |[quantity, price, cost]: &[Decimal; 3]| {
        !cost.is_zero() && *quantity != Decimal::from(1) && *price != Decimal::from(1)
    };
    quantity != price && quantity != cost && is_law(rows(table, [quantity, price, cost]), multiplies, tells)
}

pub(super) fn is_product_and_tax(
    table: &Table<'_>,
    quantities: &[usize],
    amounts: &[usize],
    tax: usize,
    gross: usize,
) -> bool {
    let is_it = |quantity: usize, price: usize| {
        let adds = |[quantity, price, tax, gross]: &[Decimal; 4]| {
            let product = quantity.checked_multiply(*price);
            product.and_then(|it| it.checked_add(*tax)).is_ok_and(|it| is_near(it, *gross, 50))
        };
        let tells = |[_, price, tax, _]: &[Decimal; 4]| !tax.is_zero() && !price.is_zero();
        is_law(rows(table, [quantity, price, tax, gross]), adds, tells)
    };
    let prices = || amounts.iter().filter(|at| **at != tax && **at != gross);
    quantities.iter().any(|quantity| prices().any(|price| price != quantity && is_it(*quantity, *price)))
}

pub(super) fn is_same(table: &Table<'_>, one: usize, other: usize) -> bool {
    one == other || is_law(rows(table, [one, other]), |[one, other]| one == other, |_| true)
}

pub(super) fn is_sum_of_others(table: &Table<'_>, sum: usize, all: &[usize]) -> bool {
    let row = |row: usize| {
        let amount = |at: usize| table.columns[at].amounts.get(row).copied().flatten();
        let others = all.iter().filter(|at| **at != sum).map(|at| amount(*at).unwrap_or_default());
        let others = others.map(Some).reduce(|sum, next| sum?.checked_add(next?).ok());
        Some([others??, amount(sum)?])
    };
    is_law(
        (0..table.rows).filter_map(row),
        |[one, other]| is_near(*one, *other, 0),
        |[_, sum]| !sum.is_zero(),
    )
}

/// Whether an amount grows from row to row by what another one is.
pub(super) fn runs(table: &Table<'_>, total: usize, amounts: &[usize]) -> bool {
    let grows_by = |step: usize| {
        let both: Vec<[Decimal; 2]> = rows(table, [total, step]).collect();
        let grows = |pair: &&[[Decimal; 2]]| {
            let [[before, _], [total, step]] = **pair else { return false };
            before.checked_add(step).is_ok_and(|expected| is_near(expected, total, 0))
        };
        let tells = |pair: &&[[Decimal; 2]]| pair.first().is_some_and(|[before, _]| !before.is_zero());
        both.len() > 2 && is_law(both.windows(2), grows, tells)
    };
    amounts.iter().any(|step| *step != total && grows_by(*step))
}

/// Whether each row costs more than the one before, of more rows than do so by chance.
pub(super) fn rises(table: &Table<'_>, cost: usize) -> bool {
    const FEW: usize = 8;
    let costs: Vec<Decimal> = table.columns[cost].amounts.iter().flatten().copied().collect();
    costs.len() >= FEW && costs.windows(2).all(|pair| pair[0] < pair[1])
}
