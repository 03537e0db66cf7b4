//! Exact money: decimals that never round by themselves, currencies that never mix.
//!
//! Billing exports carry amounts of thirty digits and more, so neither binary floats nor a 28-digit
//! decimal will do. A [`Decimal`] is a 256-bit integer with a scale; sums of any number of accepted
//! amounts are exact. Rounding happens once, at display, half to even ([`Decimal::round`]).

pub mod arithmetic;
mod decimal;
mod grouped;
mod iso_4217;
mod postgres;
mod written;

pub use decimal::{Decimal, ParseDecimalError, TooManyDigits};
pub use grouped::{grouped, two_readings};
pub use written::written;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What an amount is counted in: an ISO 4217 code, or the name of a virtual currency (tokens, credits).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Currency(String);

impl Currency {
    /// Reads a currency as an export writes it. Three letters are an ISO code in upper case;
    /// anything else of up to 40 characters is a virtual currency and keeps its spelling.
    /// `None` for an empty text, a number or control characters.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_code = text.len() == 3 && text.bytes().all(|b| b.is_ascii_alphabetic());
        if is_code {
            return Some(Self(text.to_ascii_uppercase()));
        }
        let is_name = (1..=40).contains(&text.chars().count())
            && text.chars().any(char::is_alphabetic)
            && text.chars().all(|c| !c.is_control());
        is_name.then(|| Self(text.to_owned()))
    }

    /// A currency that was [parsed](Self::parse) before and comes back from a charge or the ledger.
    pub fn exactly(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True for a code of ISO 4217. A bill may call others by three letters, too, so one that is in the ledger is known
    /// all the same.
    pub fn is_standard(&self) -> bool {
        iso_4217::is_code(&self.0)
    }

    /// Every code of ISO 4217.
    pub fn codes() -> impl Iterator<Item = &'static str> {
        iso_4217::codes()
    }

    /// True for a three-letter code: money. False for tokens and credits, which are never added to money.
    pub fn is_money(&self) -> bool {
        self.0.len() == 3
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An amount in one currency. JSON: `{"amount": "12.50", "currency": "USD"}`, the amount a decimal string.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Money {
    pub amount: Decimal,
    pub currency: Currency,
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// From text or a whole number. A binary float has lost digits already and is refused.
impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Exact;
        impl serde::de::Visitor<'_> for Exact {
            type Value = Decimal;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a decimal number")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Decimal, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_i64<E>(self, n: i64) -> Result<Decimal, E> {
                Ok(n.into())
            }

            fn visit_u64<E>(self, n: u64) -> Result<Decimal, E> {
                Ok(Decimal::new(n.into(), 0))
            }
        }
        deserializer.deserialize_any(Exact)
    }
}

/// For `#[serde(deserialize_with)]` where numbers come as text that the format would take for floats: cells of a CSV.
pub fn from_cell<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Decimal, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

/// A decimal as tests write it.
#[cfg(test)]
pub(crate) fn number(text: &str) -> Decimal {
    text.parse().unwrap()
}
