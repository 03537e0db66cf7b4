//! What a row costs: as stated, and at the prices that it states.

use super::charge_type::ChargeType;
use super::columns;
use crate::billing::header::Header;
use crate::billing::row::{Column, Row};
use crate::money::Decimal;

/// Where prices are.
pub(super) struct Prices {
    contracted: Column,
    list: Column,
    effective: Column,
    list_cost: Column,
    pricing_currency: Column,
    exchange_rate: Column,
}

/// What usage would have cost at two prices.
pub(super) struct Compared {
    pub contracted: Decimal,
    pub list: Decimal,
}

impl Prices {
    pub fn new(header: &Header) -> Self {
        Self {
            contracted: header.find("unitprice"),
            list: header.find_any(columns::LIST_PRICE),
            effective: header.find_any(columns::EFFECTIVE_PRICE),
            list_cost: header.find("paygcostinbillingcurrency"),
            pricing_currency: header.find("pricingcurrency"),
            exchange_rate: header.find("exchangeratepricingtobilling"),
        }
    }

    /// FOCUS multiplies prices by the quantity of usage, covered or not, and has what is no usage match its billed cost. Of
    /// what nobody used nothing would have been bought at another price: 0.
    ///
    /// Azure writes 0 where it states no price. Then contracted cost is the cost, and list cost the contracted one. A price
    /// that is the effective one makes the cost itself, which Azure computed of a quantity with more digits.
    pub fn compare(
        &self,
        row: &mut Row<'_>,
        currency: Column,
        kind: ChargeType,
        (cost, quantity): (Decimal, Option<Decimal>),
    ) -> Compared {
        let quantity = match kind {
            ChargeType::Usage => quantity,
            ChargeType::Unused => return Compared { contracted: Decimal::ZERO, list: Decimal::ZERO },
            _ => None,
        };
        let Some(quantity) = quantity else { return Compared { contracted: cost, list: cost } };
        let effective = price(row, self.effective);
        let rate = self.rate(row, currency);
        let at = |row: &mut Row<'_>, column: Column| {
            let price = price(row, column)?;
            if Some(price) == effective {
                return Some(cost);
            }
            let rate = rate?;
            let product = product(quantity, price, rate);
            if product.is_none() {
                row.remark("a price with too many digits is taken as not stated");
            }
            product
        };
        let contracted = at(row, self.contracted).unwrap_or(cost);
        let list = price(row, self.list_cost).or_else(|| at(row, self.list)).unwrap_or(contracted);
        Compared { contracted, list }
    }

    /// By what a price is multiplied to be one in the billing currency; `None` where that is not stated.
    fn rate(&self, row: &mut Row<'_>, currency: Column) -> Option<Decimal> {
        let is_same = row.is_null(self.pricing_currency)
            || row.word(self.pricing_currency).eq_ignore_ascii_case(row.word(currency));
        if is_same { Some(Decimal::from(1)) } else { price(row, self.exchange_rate) }
    }
}

/// What a quantity costs, as an amount has it.
fn product(quantity: Decimal, price: Decimal, rate: Decimal) -> Option<Decimal> {
    quantity.checked_multiply(price).and_then(|cost| cost.checked_multiply(rate)).ok()?.as_amount()
}

/// A price, for comparison only: what is none counts as not stated.
fn price(row: &mut Row<'_>, column: Column) -> Option<Decimal> {
    let price = row.amount(column).unwrap_or_else(|_| {
        row.remark("a price is no number and taken as not stated");
        None
    });
    price.filter(|price| !price.is_zero())
}
