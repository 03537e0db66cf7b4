//! FOCUS of publishers that state what was used and not what it costs: CoreWeave.

use gpuledger::accelerator;

use super::{Reading, read_text};
use crate::support::number;

const HEADER: &str = "BillingAccountId,BillingCurrency,BillingPeriodStart,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,\
                      ConsumedQuantity,ConsumedUnit,PricingCategory,ProviderName,RegionId,SkuId";
const ROW: &str = "org-7f3a,USD,2026-09-01T00:00:00Z,2026-09-03T00:00:00Z,2026-09-03T01:00:00Z,Usage,4,Instance-Hours,Standard,\
                   CoreWeave,us-east-04,gd-8xh100ib-i128";

fn csv(header: &str, row: &str) -> Reading {
    read_text(format!("{header}\n{row}\n")).unwrap()
}

#[test]
fn usage_without_cost_has_hours_and_lacks_its_cost() {
    let reading = csv(HEADER, ROW);
    let charge = &reading.charges[0];
    assert!(charge.lacks_cost && charge.is_metered && charge.billed_cost.is_zero());
    assert_eq!(charge.consumed_quantity, Some(number("4")));
    let found = accelerator::recognize(&charge.key).unwrap();
    assert_eq!((found.per_unit.to_string().as_str(), found.model.id), ("8", "nvidia-h100-sxm"));
}

#[test]
fn the_same_rows_as_json_are_the_same_usage() {
    let names: Vec<&str> = HEADER.split(',').collect();
    let values: Vec<&str> = ROW.split(',').collect();
    let members: Vec<String> =
        names.iter().zip(&values).map(|(name, value)| format!("{name:?}: {value:?}")).collect();
    let object = format!("{{{}}}", members.join(", "));
    for text in [object.clone(), format!("[{object}, {object}]")] {
        let reading = read_text(text).unwrap();
        assert!(reading.rejected.is_empty());
        assert!(reading.charges.iter().all(|it| it.lacks_cost && it.consumed_quantity == Some(number("4"))));
    }
}

#[test]
fn empty_cost_columns_are_no_cost_of_zero() {
    for (costs, lacks_cost, billed) in
        [(",", true, "0"), ("NULL,", true, "0"), ("0,0", false, "0"), ("9.5,", false, "9.5")]
    {
        let reading = csv(&format!("{HEADER},BilledCost,EffectiveCost"), &format!("{ROW},{costs}"));
        let charge = &reading.charges[0];
        assert_eq!((charge.lacks_cost, charge.billed_cost), (lacks_cost, number(billed)), "{costs}");
    }
}

#[test]
fn what_is_no_usage_or_has_no_quantity_needs_its_cost() {
    for row in [ROW.replace("Usage,4", "Tax,4"), ROW.replace("Usage,4", "Usage,")] {
        let reading = csv(&format!("{HEADER},BilledCost,EffectiveCost"), &format!("{row},,"));
        let [rejection] = reading.rejected.as_slice() else { panic!("{row}") };
        assert_eq!(rejection.column, "BilledCost");
    }
}

#[test]
fn file_without_cost_and_quantity_is_refused() {
    let header = HEADER.replace(",ConsumedQuantity,ConsumedUnit", "");
    let row = ROW.replace(",4,Instance-Hours", "");
    assert!(read_text(format!("{header}\n{row}\n")).is_err());
}
