//! What people enter.

use serde::{Deserialize, Serialize};

use crate::money::{Currency, Decimal, TooManyDigits, from_cell, written};
use crate::period::BillingMonth;

/// An agreement on what is billed: a discount of a reseller, a markup of one's own, a minimum of a month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adjustment {
    /// As charges have it.
    pub provider: String,
    /// Empty: each account of the provider.
    #[serde(default)]
    pub billing_account: String,
    pub terms: Terms,
    /// The first billing month that it holds for.
    pub first_month: BillingMonth,
    /// The last one; none where it holds on.
    #[serde(default)]
    pub last_month: Option<BillingMonth>,
    /// Why it is charged, as people read it.
    pub reason: String,
    /// The contract it belongs to, as people refer to it.
    #[serde(default)]
    pub contract: String,
}

/// How it is computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Terms {
    /// Percent of each charge but taxes, taken away.
    Discount {
        #[serde(deserialize_with = "from_cell")]
        percent: Decimal,
    },
    /// Percent of each charge but taxes, added.
    Markup {
        #[serde(deserialize_with = "from_cell")]
        percent: Decimal,
    },
    /// What an account is billed for a month at least, taxes left out: what is missing is charged once the month is over.
    Minimum {
        #[serde(deserialize_with = "from_cell")]
        amount: Decimal,
        currency: Currency,
    },
}

/// More would be a typing error: ten times the cost.
const MOST_PERCENT: i128 = 900;

impl Adjustment {
    /// Whether it is about the bill of an account in a month.
    pub fn holds_for(&self, provider: &str, billing_account: &str, month: BillingMonth) -> bool {
        self.provider.eq_ignore_ascii_case(provider)
            && (self.billing_account.is_empty() || self.billing_account.eq_ignore_ascii_case(billing_account))
            && self.holds_in(month)
    }

    pub fn holds_in(&self, month: BillingMonth) -> bool {
        self.first_month <= month && self.last_month.is_none_or(|last| month <= last)
    }

    /// Whether it is the same agreement as another one, in a month that both hold in.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        self.is_beside(other)
            && self.billing_account.eq_ignore_ascii_case(&other.billing_account)
            && self.terms.is_like(&other.terms)
            && (self.terms.is_minimum() || self.reason.eq_ignore_ascii_case(&other.reason))
    }

    /// Whether both are about some bill: then both are computed of it.
    pub fn is_beside(&self, other: &Self) -> bool {
        let is = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
        is(&self.provider, &other.provider)
            && (self.billing_account.is_empty()
                || other.billing_account.is_empty()
                || is(&self.billing_account, &other.billing_account))
            && self.last_month.is_none_or(|last| other.first_month <= last)
            && other.last_month.is_none_or(|last| self.first_month <= last)
    }

    /// For a person: `AWS, 1234: 8% discount (reseller contract)`.
    pub fn title(&self) -> String {
        let account = if self.billing_account.is_empty() {
            String::new()
        } else {
            format!(", {}", self.billing_account)
        };
        format!("{}{account}: {} ({})", self.provider, self.terms.words(), self.reason)
    }

    /// What is wrong with it by itself, and in which field.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let problem = |field, sentence: &str| Some((field, sentence.to_owned()));
        if self.provider.is_empty() {
            return problem("provider", "Enter the provider as imports name it, such as AWS.");
        }
        match &self.terms {
            Terms::Discount { percent } | Terms::Markup { percent } => {
                let most = if matches!(self.terms, Terms::Discount { .. }) { 100 } else { MOST_PERCENT };
                if percent.is_zero() || percent.is_negative() || *percent > Decimal::new(most, 0) {
                    return Some(("percent", format!("Enter a percentage above 0, and at most {most}.")));
                }
            }
            Terms::Minimum { amount, .. } => {
                if self.billing_account.is_empty() {
                    return problem("billing_account", "Enter the account that the minimum is agreed for.");
                }
                if amount.is_zero() || amount.is_negative() {
                    return problem("amount", "Enter an amount above 0.");
                }
            }
        }
        if self.reason.is_empty() {
            return problem("reason", "Enter why it is charged: people read it on their charges.");
        }
        match self.last_month {
            Some(last) if last < self.first_month => Some((
                "last_month",
                format!("Ends in {}, before it begins in {}.", last.name(), self.first_month.name()),
            )),
            _ => None,
        }
    }
}

impl Terms {
    /// `8% discount`, `minimum of 50,000 USD a month`.
    pub fn words(&self) -> String {
        match self {
            Self::Discount { percent } => format!("{percent}% discount"),
            Self::Markup { percent } => format!("{percent}% markup"),
            Self::Minimum { amount, currency } => {
                format!("minimum of {} {currency} a month", written(*amount, amount.scale()))
            }
        }
    }

    pub fn is_minimum(&self) -> bool {
        matches!(self, Self::Minimum { .. })
    }

    /// Whether it is of the same kind as another: of a minimum, in the same currency.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Minimum { currency: a, .. }, Self::Minimum { currency: b, .. }) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// What a bill of an account lacks of a minimum in a currency, of which it charges this much; zero of anything else.
    ///
    /// # Errors
    /// More digits than there is room for.
    pub fn lacking(&self, currency: &str, billed: Decimal) -> Result<Decimal, TooManyDigits> {
        match self {
            Self::Minimum { amount, currency: of } if of.as_str() == currency => {
                Ok(amount.checked_sub(billed)?.max(Decimal::ZERO))
            }
            _ => Ok(Decimal::ZERO),
        }
    }

    /// What a charge of 1 is changed by; none of a minimum, which is of no single charge.
    pub fn factor(&self) -> Option<Decimal> {
        let hundredth = Decimal::new(1, 2);
        match self {
            Self::Discount { percent } => Some(-percent.multiply(hundredth)),
            Self::Markup { percent } => Some(percent.multiply(hundredth)),
            Self::Minimum { .. } => None,
        }
    }
}
