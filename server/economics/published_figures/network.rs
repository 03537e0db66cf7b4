//! About moving data.

use super::{PublishedFigure, value};
use crate::economics::egress::{Rates, Transfer, TransferCost};
use crate::economics::figure::Unit;
use crate::money::Decimal;
use crate::money::arithmetic::{decimal, product, quotient};

pub(super) const FIGURES: &[fn() -> Option<PublishedFigure>] =
    &[daily_checkpoint, half_a_petabyte, placement, next_gigabyte];

fn moved(rates: Rates, gigabytes: i64) -> Option<TransferCost> {
    Transfer { rates, gigabytes: gigabytes.into(), ..Transfer::default() }.cost().ok()
}

fn flat() -> Rates {
    Rates::Flat { price: decimal(9, 2) }
}

fn daily_checkpoint() -> Option<PublishedFigure> {
    Some(PublishedFigure {
        id: "daily-checkpoint",
        says: "To download a checkpoint of 140 GB every day costs 378 dollars a month.",
        printed: "$378",
        reproduced: Some(value(moved(flat(), 4200)?.total.value?, Unit::Money, "4,200 GB at 0.09")),
        right: vec![
            value(moved(Rates::Aws, 4200)?.total.value?, Unit::Money, "at AWS, with no other outgoing data"),
            value(moved(Rates::Azure, 4200)?.total.value?, Unit::Money, "at Azure"),
        ],
        why: "The first 100 GB a month are free. Also, 140 GB are only the weights of a 70B model; a \
              training checkpoint is several times larger.",
    })
}

fn half_a_petabyte() -> Option<PublishedFigure> {
    let cost = moved(Rates::Aws, 500_000)?;
    Some(PublishedFigure {
        id: "half-a-petabyte",
        says: "To move 500 TB out of a cloud costs a fortune and takes days.",
        printed: "$45,000",
        reproduced: Some(value(moved(flat(), 500_000)?.total.value?, Unit::Money, "at 0.09 per GB")),
        right: vec![
            value(cost.total.value?, Unit::Money, "at AWS, in one month"),
            value(cost.per_gigabyte.value?, Unit::MoneyPerGigabyte, "on average"),
            value(cost.time.value?, Unit::Days, "at 10 Gbit/s, used only for this"),
        ],
        why: "Prices fall by monthly tiers, from 0.09 to 0.05 per GB.",
    })
}

fn placement() -> Option<PublishedFigure> {
    let gigabytes = 10_240;
    Some(PublishedFigure {
        id: "free-ten-terabytes",
        says: "To send 10 TiB out of AWS costs nothing, says a tool that chooses where work runs (SkyPilot 0.14.1).",
        printed: "$0.00",
        reproduced: Some(value(
            subtracted_bounds(gigabytes.into()),
            Unit::Money,
            "if each tier’s limit is subtracted from the rest",
        )),
        right: vec![value(moved(Rates::Aws, gigabytes)?.total.value?, Unit::Money, "at AWS, tier by tier")],
        why: "Exactly at a tier limit, the calculation leaves nothing for lower tiers. Decisions based on \
              it send data where it costs most.",
    })
}

fn next_gigabyte() -> Option<PublishedFigure> {
    let tariff = Rates::GooglePremium.tariff();
    Some(PublishedFigure {
        id: "next-gigabyte",
        says: "1,025 GiB out of Google Cloud cost less than 1,024, says the same tool.",
        printed: "$112.75",
        reproduced: Some(value(
            price_of_all_units(1025.into()),
            Unit::Money,
            "if all of it costs the price of the last tier",
        )),
        right: vec![
            value(tariff.cost(1024.into()), Unit::Money, "for 1,024 GiB"),
            value(tariff.cost(1025.into()), Unit::Money, "for 1,025 GiB"),
            value(quotient(tariff.cost(1025.into()), 1025.into())?, Unit::MoneyPerGibibyte, "on average"),
        ],
        why: "The price of a tier applies only to the data in that tier.",
    })
}

/// Egress of AWS as a published tool computes it: of what goes beyond a tier's bound the bound is taken off, and with it
/// what the tiers below should cost.
pub fn subtracted_bounds(gigabytes: Decimal) -> Decimal {
    let tiers = [(51_200, 70), (10_240, 85), (1, 90)];
    let mut left = gigabytes;
    let mut cost = Decimal::ZERO;
    if left > 153_600.into() {
        return product(&[left, decimal(50, 3)]);
    }
    for (bound, thousandths) in tiers {
        let bound = Decimal::from(bound);
        if left >= bound {
            cost += product(&[left - bound, decimal(thousandths, 3)]);
            left = if thousandths == 90 { left } else { left - bound };
        }
    }
    cost
}

/// Egress of Google Cloud as the same tool computes it: everything at the price of the tier it ends in.
pub fn price_of_all_units(gibibytes: Decimal) -> Decimal {
    let thousandths = match gibibytes {
        few if few <= 1024.into() => 120,
        some if some <= 10_240.into() => 110,
        _ => 80,
    };
    product(&[gibibytes, decimal(thousandths, 3)])
}
