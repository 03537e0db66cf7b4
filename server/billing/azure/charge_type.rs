//! Azure's words for what a charge is and how it is priced.

use crate::billing::charge::{ChargeCategory, PricingCategory};

/// Azure ChargeType.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChargeType {
    Usage,
    /// `UnusedReservation` and `UnusedSavingsPlan`: what was committed to and used by nobody.
    Unused,
    Purchase,
    Refund,
    Tax,
    Credit,
    /// `RoundingAdjustment` and other adjustments.
    Adjustment,
    Other,
}

impl ChargeType {
    /// Of a cell; pay-as-you-go files have no such column, and state usage.
    pub fn parse(text: &[u8]) -> Self {
        let text = text.trim_ascii();
        let known = [
            ("", Self::Usage),
            ("Usage", Self::Usage),
            ("UnusedReservation", Self::Unused),
            ("UnusedSavingsPlan", Self::Unused),
            ("Purchase", Self::Purchase),
            ("Refund", Self::Refund),
            ("Tax", Self::Tax),
            ("Credit", Self::Credit),
            ("RoundingAdjustment", Self::Adjustment),
            ("Adjustment", Self::Adjustment),
        ];
        let found = known.iter().find(|(word, _)| text.eq_ignore_ascii_case(word.as_bytes()));
        found.map_or(Self::Other, |(_, kind)| *kind)
    }

    pub fn category(self) -> ChargeCategory {
        match self {
            Self::Usage | Self::Unused => ChargeCategory::Usage,
            Self::Purchase => ChargeCategory::Purchase,
            Self::Tax => ChargeCategory::Tax,
            Self::Credit => ChargeCategory::Credit,
            Self::Refund | Self::Adjustment | Self::Other => ChargeCategory::Adjustment,
        }
    }
}

/// Azure PricingModel, as far as a row states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PricingModel {
    OnDemand,
    Reservation,
    SavingsPlan,
    Spot,
    NotStated,
}

impl PricingModel {
    pub fn parse(text: &[u8]) -> Self {
        let text = text.trim_ascii();
        let is = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
        if is("OnDemand") || is("On Demand") {
            Self::OnDemand
        } else if is("Reservation") {
            Self::Reservation
        } else if is("SavingsPlan") || is("Savings Plan") {
            Self::SavingsPlan
        } else if is("Spot") {
            Self::Spot
        } else {
            Self::NotStated
        }
    }

    pub fn is_commitment(self) -> bool {
        matches!(self, Self::Reservation | Self::SavingsPlan)
    }

    /// FOCUS PricingCategory of a charge. Where the model is not stated, `is_covered` says whether the row names what covers
    /// it, and `is_spot` whether its meter says Spot.
    pub fn category(self, kind: ChargeType, is_covered: bool, is_spot: bool) -> PricingCategory {
        match (kind.category(), self) {
            (ChargeCategory::Tax | ChargeCategory::Credit | ChargeCategory::Adjustment, _) => {
                PricingCategory::None
            }
            (_, Self::Reservation | Self::SavingsPlan) => PricingCategory::Committed,
            (_, Self::Spot) => PricingCategory::Dynamic,
            (_, Self::NotStated) if is_covered || kind == ChargeType::Unused => PricingCategory::Committed,
            (_, Self::NotStated) if is_spot => PricingCategory::Dynamic,
            (_, Self::OnDemand | Self::NotStated) => PricingCategory::Standard,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charge_types_become_categories() {
        for (text, category) in [
            ("Usage", ChargeCategory::Usage),
            ("", ChargeCategory::Usage),
            ("usage ", ChargeCategory::Usage),
            ("UnusedReservation", ChargeCategory::Usage),
            ("unusedsavingsplan", ChargeCategory::Usage),
            ("Purchase", ChargeCategory::Purchase),
            ("Refund", ChargeCategory::Adjustment),
            ("RoundingAdjustment", ChargeCategory::Adjustment),
            ("Tax", ChargeCategory::Tax),
            ("Credit", ChargeCategory::Credit),
            ("Something new", ChargeCategory::Adjustment),
        ] {
            assert_eq!(ChargeType::parse(text.as_bytes()).category(), category, "{text}");
        }
    }

    #[test]
    fn pricing_models_become_categories() {
        use PricingCategory::{Committed, Dynamic, None, Standard};
        for (kind, model, is_covered, is_spot, category) in [
            ("Usage", "OnDemand", false, false, Standard),
            ("Usage", "Spot", false, false, Dynamic),
            ("Usage", "Reservation", false, false, Committed),
            ("Usage", "SavingsPlan", false, false, Committed),
            ("Usage", "", true, false, Committed),
            ("Usage", "", false, true, Dynamic),
            ("Usage", "", false, false, Standard),
            // What is stated wins.
            ("Usage", "OnDemand", true, true, Standard),
            ("UnusedReservation", "", false, false, Committed),
            ("Purchase", "Reservation", true, false, Committed),
            ("Purchase", "", false, false, Standard),
            ("Refund", "Reservation", true, false, None),
            ("Tax", "OnDemand", false, false, None),
        ] {
            let kind_of = ChargeType::parse(kind.as_bytes());
            let found = PricingModel::parse(model.as_bytes()).category(kind_of, is_covered, is_spot);
            assert_eq!(found, category, "{kind} {model} {is_covered} {is_spot}");
        }
    }
}
