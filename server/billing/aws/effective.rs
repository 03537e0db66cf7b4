//! Effective, list and contracted cost by line item type; the table stands in [`super`].

use crate::billing::charge::{Charge, ChargeCategory, PricingCategory};
use crate::billing::header::Header;
use crate::billing::row::{Column, Problem, Row};
use crate::money::Decimal;

/// AWS LineItemType.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineItem {
    Usage,
    DiscountedUsage,
    SavingsPlanCoveredUsage,
    SavingsPlanNegation,
    SavingsPlanUpfrontFee,
    SavingsPlanRecurringFee,
    ReservationFee,
    Fee,
    Tax,
    Credit,
    Refund,
    Discount,
    Other,
}

impl LineItem {
    /// `None` for a cell that holds nothing.
    pub fn parse(text: &[u8]) -> Option<Self> {
        Some(match text.trim_ascii() {
            b"" => return None,
            b"Usage" => Self::Usage,
            b"DiscountedUsage" => Self::DiscountedUsage,
            b"SavingsPlanCoveredUsage" => Self::SavingsPlanCoveredUsage,
            b"SavingsPlanNegation" => Self::SavingsPlanNegation,
            b"SavingsPlanUpfrontFee" => Self::SavingsPlanUpfrontFee,
            b"SavingsPlanRecurringFee" => Self::SavingsPlanRecurringFee,
            b"RIFee" => Self::ReservationFee,
            b"Fee" => Self::Fee,
            b"Tax" => Self::Tax,
            b"Credit" => Self::Credit,
            b"Refund" => Self::Refund,
            b"EdpDiscount"
            | b"PrivateRateDiscount"
            | b"Discount"
            | b"BundledDiscount"
            | b"RiVolumeDiscount"
            | b"SppDiscount" => Self::Discount,
            _ => Self::Other,
        })
    }

    pub fn category(self) -> ChargeCategory {
        match self {
            Self::Usage
            | Self::DiscountedUsage
            | Self::SavingsPlanCoveredUsage
            | Self::SavingsPlanNegation => ChargeCategory::Usage,
            Self::SavingsPlanUpfrontFee
            | Self::SavingsPlanRecurringFee
            | Self::ReservationFee
            | Self::Fee => ChargeCategory::Purchase,
            Self::Tax => ChargeCategory::Tax,
            Self::Credit => ChargeCategory::Credit,
            Self::Refund | Self::Discount | Self::Other => ChargeCategory::Adjustment,
        }
    }

    pub fn pricing(self, is_spot: bool) -> PricingCategory {
        match self {
            Self::Usage if is_spot => PricingCategory::Dynamic,
            Self::DiscountedUsage | Self::SavingsPlanCoveredUsage | Self::SavingsPlanNegation => {
                PricingCategory::Committed
            }
            Self::Usage
            | Self::SavingsPlanUpfrontFee
            | Self::SavingsPlanRecurringFee
            | Self::ReservationFee
            | Self::Fee => PricingCategory::Standard,
            Self::Tax | Self::Credit | Self::Refund | Self::Discount | Self::Other => PricingCategory::None,
        }
    }

    /// Usage that was paid for, covered by a commitment or not.
    pub fn is_usage(self) -> bool {
        matches!(self, Self::Usage | Self::DiscountedUsage | Self::SavingsPlanCoveredUsage)
    }
}

/// Where the parts of the effective cost are.
pub(super) struct Amortization {
    reservation: Column,
    reservation_unused: [Column; 2],
    savings_plan: Column,
    commitment: Column,
    used_commitment: Column,
    reservation_arn: Column,
    has_commitments: bool,
}

impl Amortization {
    pub fn new(header: &Header) -> Self {
        let reservation_arn = header.find("reservationreservationarn");
        Self {
            reservation: header.find("reservationeffectivecost"),
            reservation_unused: [
                header.find("reservationunusedamortizedupfrontfeeforbillingperiod"),
                header.find("reservationunusedrecurringfee"),
            ],
            savings_plan: header.find("savingsplansavingsplaneffectivecost"),
            commitment: header.find("savingsplantotalcommitmenttodate"),
            used_commitment: header.find("savingsplanusedcommitment"),
            reservation_arn,
            has_commitments: reservation_arn.is_some() || header.has("savingsplansavingsplanarn"),
        }
    }

    /// What the header's lack of columns means for the effective cost.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.has_commitments && self.reservation.is_none() {
            notes.push(
                "without reservation/EffectiveCost, the effective cost of reservations is their billed cost"
                    .to_owned(),
            );
        }
        if self.has_commitments && self.savings_plan.is_none() {
            notes.push(
                "without savingsPlan/SavingsPlanEffectiveCost, the effective cost of savings plans is their billed cost"
                    .to_owned(),
            );
        }
        notes
    }

    /// Whether a fee is what the usage costs that it covers, since the file spreads none over it.
    pub fn is_in_the_fee(&self, kind: LineItem, row: &Row<'_>) -> bool {
        match kind {
            LineItem::ReservationFee => self.reservation.is_none(),
            LineItem::Fee => self.reservation.is_none() && !row.is_null(self.reservation_arn),
            LineItem::SavingsPlanRecurringFee | LineItem::SavingsPlanUpfrontFee => {
                self.savings_plan.is_none()
            }
            _ => false,
        }
    }

    /// Fills in what follows from the billed cost; `list` is the on-demand cost where the row states it.
    pub fn fill(
        &self,
        kind: LineItem,
        list: Option<Decimal>,
        row: &mut Row<'_>,
        charge: &mut Charge,
    ) -> Result<(), Problem> {
        let billed = charge.billed_cost;
        charge.effective_cost = self.effective(kind, billed, row)?;
        (charge.list_cost, charge.contracted_cost) = match kind {
            LineItem::Usage | LineItem::SavingsPlanCoveredUsage => (list.unwrap_or(billed), billed),
            LineItem::DiscountedUsage => (list.unwrap_or(billed), list.unwrap_or(billed)),
            LineItem::SavingsPlanNegation => (Decimal::ZERO, Decimal::ZERO),
            LineItem::Discount => (Decimal::ZERO, billed),
            _ => (billed, billed),
        };
        Ok(())
    }

    fn effective(&self, kind: LineItem, billed: Decimal, row: &mut Row<'_>) -> Result<Decimal, Problem> {
        Ok(match kind {
            LineItem::DiscountedUsage if self.reservation.is_some() => {
                covered(self.reservation, billed, row)?
            }
            LineItem::SavingsPlanCoveredUsage if self.savings_plan.is_some() => {
                covered(self.savings_plan, billed, row)?
            }
            LineItem::ReservationFee if self.reservation.is_some() => {
                let [upfront, recurring] = self.reservation_unused;
                row.amount(upfront)?.unwrap_or_default() + row.amount(recurring)?.unwrap_or_default()
            }
            LineItem::SavingsPlanRecurringFee if self.savings_plan.is_some() => {
                let (commitment, used) = (row.amount(self.commitment)?, row.amount(self.used_commitment)?);
                if let (Some(commitment), Some(used)) = (commitment, used) {
                    commitment - used
                } else {
                    row.remark("a savings plan fee does not say what was unused: its effective cost is 0");
                    Decimal::ZERO
                }
            }
            LineItem::SavingsPlanNegation | LineItem::SavingsPlanUpfrontFee
                if self.savings_plan.is_some() =>
            {
                Decimal::ZERO
            }
            LineItem::Fee if self.reservation.is_some() && !row.is_null(self.reservation_arn) => {
                Decimal::ZERO
            }
            _ => billed,
        })
    }
}

/// Usage under a commitment costs what its column says.
fn covered(column: Column, billed: Decimal, row: &mut Row<'_>) -> Result<Decimal, Problem> {
    let stated = row.amount(column)?;
    if stated.is_none() {
        row.remark("usage under a commitment does not state its effective cost: it is the billed cost");
    }
    Ok(stated.unwrap_or(billed))
}
