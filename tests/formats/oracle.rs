//! Oracle's cost reports, beside the reports whose columns resemble theirs, and beside Oracle's FOCUS report.

use gpuledger::accelerator;
use gpuledger::billing;

use super::read_text;
use crate::support::number;

const HEADER: &str = "lineItem/referenceNo,lineItem/tenantId,lineItem/intervalUsageStart,lineItem/intervalUsageEnd,product/service,\
                      product/compartmentId,product/region,product/resourceId,usage/billedQuantity,cost/productSku,\
                      product/Description,cost/myCost,cost/currencyCode,cost/skuUnitDescription,lineItem/isCorrection,\
                      lineItem/backreferenceNo,tags/Oracle-Tags.CreatedBy,tags/hpc.team";
const ROW: &str = "r-1,ocid1.tenancy.oc1..aaaa,2026-09-03T04:00Z,2026-09-03T05:00:00Z,COMPUTE,ocid1.compartment.oc1..cccc,\
                   us-ashburn-1,ocid1.instance.oc1.iad.anuw,8,B98415,Compute - GPU - H100,80,USD,GPU Hours,false,,default/ada,vision";
const FOCUS: &str = "Provider,Region,BillingAccountId,SubAccountId,BillingCurrency,BilledCost,EffectiveCost,BillingPeriodStart,\
                     BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,ServiceName,ServiceCategory,ResourceId,\
                     ChargeDescription,PricingCategory,UsageQuantity,UsageUnit,SkuId,Tags,oci_ReferenceNumber,oci_CompartmentId";

fn file(header: &str, row: &str) -> Vec<u8> {
    format!("{header}\n{row}\n").into_bytes()
}

fn format_of(header: &str) -> Result<String, String> {
    let opened = billing::open("bill.csv", std::io::Cursor::new(file(header, "")), &billing::ReadAs::any());
    opened.map(|export| export.format().name().to_owned()).map_err(|refusal| refusal.to_string())
}

#[test]
fn a_cost_report_is_told_from_what_resembles_it() {
    let aws = "lineItem/LineItemType,lineItem/UnblendedCost,lineItem/CurrencyCode,lineItem/UsageStartDate,lineItem/UsageEndDate,\
               bill/PayerAccountId,bill/BillingPeriodStartDate";
    assert_eq!(format_of(HEADER).as_deref(), Ok("oci-cost"));
    assert_eq!(format_of(&HEADER.to_uppercase()).as_deref(), Ok("oci-cost"));
    // Names of tags are anybody's, and decide nothing.
    for tag in ["tags/x.recommendation", "tags/billing.paymentId", "tags/MeterName"] {
        assert_eq!(format_of(&format!("{HEADER},{tag}")).as_deref(), Ok("oci-cost"), "{tag}");
    }
    assert_eq!(format_of(aws).as_deref(), Ok("aws-cur"));
    assert_eq!(format_of(&format!("{aws},lineItem/referenceNo,lineItem/tenantId")).as_deref(), Ok("aws-cur"));
    for (header, reason) in [
        (
            HEADER.replace("cost/myCost", "cost/other"),
            "Oracle Cloud (OCI) cost report without the column cost/myCost",
        ),
        (
            HEADER.replace("lineItem/tenantId", "tenant"),
            "Oracle Cloud (OCI) cost report without the column lineItem/tenantId",
        ),
        (HEADER.replace("cost/", "usage/"), "an Oracle Cloud (OCI) usage report: usage without cost"),
        (
            aws.replace("lineItem/UnblendedCost", "cost/myCost"),
            "AWS Cost and Usage Report without the column lineItem/UnblendedCost",
        ),
    ] {
        let refusal = format_of(&header).unwrap_err();
        assert!(refusal.contains(reason), "{refusal}");
    }
}

#[test]
fn what_is_wrong_with_a_row_is_said_with_column_and_what_was_expected() {
    let usual = |cell: &str, other: &str| {
        assert_eq!(ROW.matches(cell).count(), 1, "{cell}");
        ROW.replace(cell, other)
    };
    for (row, column, expected) in [
        (usual(",80,", ",\"80,5\","), "cost/myCost", "a number with a decimal point"),
        (usual(",80,", ",eighty,"), "cost/myCost", ""),
        (usual(",80,", ",€ 80,"), "cost/myCost", "an amount in USD"),
        (usual("USD", "US$"), "cost/currencyCode", "the code USD"),
        (usual("USD", "$"), "cost/currencyCode", "the code of the currency"),
        (usual("USD", ""), "cost/currencyCode", "the currency of the cost, such as USD"),
        (usual("ocid1.tenancy.oc1..aaaa", ""), "lineItem/tenantId", "the OCID of a tenancy"),
        (
            usual("ocid1.tenancy.oc1..aaaa", "1.23457E+11"),
            "lineItem/tenantId",
            "the account id with all of its digits",
        ),
        (usual("2026-09-03T04:00Z", "2026-02-30T04:00Z"), "lineItem/intervalUsageStart", "a time such as"),
        (
            usual("2026-09-03T04:00Z", "2101-09-03T04:00Z"),
            "lineItem/intervalUsageEnd",
            "not before the start",
        ),
        (
            usual("2026-09-03T04:00Z", "1999-09-03T04:00Z"),
            "lineItem/intervalUsageStart",
            "the years 2000 to 2100",
        ),
        (usual(",8,", ",eight,"), "usage/billedQuantity", ""),
        (usual(",false,", ",perhaps,"), "lineItem/isCorrection", "true, false or nothing"),
    ] {
        let reading = read_text(file(HEADER, &row)).unwrap();
        let [rejection] = reading.rejected.as_slice() else { panic!("{row}: {:?}", reading.charges) };
        assert_eq!((rejection.row, rejection.column.as_str()), (1, column), "{rejection}");
        assert!(rejection.expected.contains(expected), "{rejection}");
    }
}

/// A cost report and a FOCUS report of one tenancy state the same scope and the same charge.
#[test]
fn a_focus_report_of_the_tenancy_states_the_same() {
    let cost = read_text(file(HEADER, ROW)).unwrap();
    for (account, sub_account) in [
        ("ocid1.tenancy.oc1..aaaa", "ocid1.compartment.oc1..cccc"),
        ("OCID1.TENANCY.OC1..AAAA", ""),
        ("23465677", "ocid1.tenancy.oc1..aaaa"),
    ] {
        let row = format!(
            "Oracle,us-ashburn-1,{account},{sub_account},USD,80,80,2026-09-01T00:00Z,2026-10-01T00:00Z,2026-09-03T04:00Z,\
             2026-09-03T05:00Z,Usage,COMPUTE,Compute,ocid1.instance.oc1.iad.anuw,Compute - GPU - H100,On-Demand,8,GPU Hours,B98415,\
             \"{{\"\"Oracle-Tags.CreatedBy\"\":\"\"default/ada\"\",\"\"hpc.team\"\":\"\"vision\"\"}}\",r-1,\
             ocid1.compartment.oc1..cccc"
        );
        let focus = read_text(file(FOCUS, &row)).unwrap();
        assert_eq!((cost.rejected.len(), focus.rejected.len()), (0, 0), "{:?}", focus.rejected);
        let (one, other) = (&cost.charges[0], &focus.charges[0]);
        assert_eq!(one.key, other.key);
        assert_eq!(one.tags, other.tags);
        assert_eq!((one.billing_month, one.period), (other.billing_month, other.period));
        assert_eq!((one.billed_cost, one.consumed_quantity), (other.billed_cost, other.consumed_quantity));
    }
}

#[test]
fn hours_of_gpus_are_those_of_the_meter_that_counts_gpus() {
    for (description, unit, expected) in [
        ("Compute - GPU - H100", "GPU Hours", Some("1 H100")),
        ("Compute - GPU - H100", "GPU Per Hour", Some("1 H100")),
        ("Oracle Cloud Infrastructure - Compute - GPU - H200", "GPU Per Hour", Some("1 H200")),
        ("Compute - GPU - A100 - v2", "GPU Hours", Some("1 A100")),
        ("Compute - GPU - L40S", "Hours", Some("1 L40S")),
        ("Compute - GPU - MI300X", "GPU Hours", Some("1 MI300X")),
        ("Compute - BM.GPU.H100.8", "Hours", Some("8 H100")),
        ("BM.GPU.B300.8", "Node Hours", Some("8 B300")),
        ("Standard - E4", "OCPU Hours", None),
        ("Standard - E4 - Memory", "GB Hours", None),
        ("Compute - GPU - H100 - Block Volume", "GB Months", None),
        ("MySQL Database for HeatWave - Standard - Node per hour", "Instance per hour", None),
        ("OS - Windows License for GPU H100", "OCPU Per Hour", None),
    ] {
        let row = ROW.replace("Compute - GPU - H100", description).replace("GPU Hours", unit);
        let reading = read_text(file(HEADER, &row)).unwrap();
        let charge = &reading.charges[0];
        assert!(charge.is_metered && charge.consumed_quantity == Some(number("8")));
        let found =
            accelerator::recognize(&charge.key).map(|it| format!("{} {}", it.per_unit, it.model.name));
        assert_eq!(found.as_deref(), expected, "{description} {unit}");
    }
}
