//! GPU recognition, over charge keys as the readers make them.

use std::path::Path;

use gpuledger::accelerator::{Accelerators, accelerator_hours, find_instance, instances, recognize};
use gpuledger::billing::{ChargeCategory, ChargeKey, canonical_provider};
use gpuledger::money::Decimal;
use proptest::prelude::*;

fn key(provider: &str, instance_type: &str, meter: &str, unit: &str) -> ChargeKey {
    ChargeKey {
        provider: provider.to_owned(),
        instance_type: instance_type.to_owned(),
        meter: meter.to_owned(),
        unit: unit.to_owned(),
        ..ChargeKey::default()
    }
}

/// `8 H100`, or nothing.
fn found(key: &ChargeKey) -> Option<String> {
    recognize(key).map(|found| format!("{} {}", found.per_unit, found.model.name))
}

#[test]
fn it_counts_what_runs_on_aws_and_nothing_beside_it() {
    for (instance_type, meter, unit, expected) in [
        ("p5.48xlarge", "USW2-BoxUsage:p5.48xlarge", "Hrs", Some("8 H100")),
        ("p5.48xlarge", "BoxUsage:p5.48xlarge", "Hrs", Some("8 H100")),
        ("p5.48xlarge", "USW2-SpotUsage:p5.48xlarge", "Hrs", Some("8 H100")),
        ("p4d.24xlarge", "EUW1-DedicatedUsage:p4d.24xlarge", "Hrs", Some("8 A100")),
        ("p4d.24xlarge", "HostBoxUsage:p4d.24xlarge", "Hrs", Some("8 A100")),
        ("p4d.24xlarge", "UnusedBox:p4d.24xlarge", "Hrs", Some("8 A100")),
        ("p4d.24xlarge", "USE1-UnusedDed:p4d.24xlarge", "Hrs", Some("8 A100")),
        ("g5.12xlarge", "USW2-LAX1-BoxUsage:g5.12xlarge", "Hrs", Some("4 A10G")),
        ("", "BoxUsage:trn1.32xlarge", "Hrs", Some("16 Trainium")),
        ("g6f.large", "BoxUsage:g6f.large", "Hrs", Some("1/8 L4")),
        ("p5.48xlarge", "", "Hours", Some("8 H100")),
        ("p5.48xlarge", "Compute", "Hours", Some("8 H100")),
        ("ml.p4d.24xlarge", "USE1-Train:ml.p4d.24xlarge", "Hrs", Some("8 A100")),
        ("ml.g5.xlarge", "USE1-Host:ml.g5.xlarge", "Hrs", Some("1 A10G")),
        ("", "USW2-Cluster:ml.p5.48xlarge", "Hrs", Some("8 H100")),
        ("", "$1.624 per On Demand Linux g5.4xlarge Instance Hour", "Hours", Some("1 A10G")),
        ("", "Linux/UNIX (Amazon VPC), g5.12xlarge reserved instance applied", "Hrs", Some("4 A10G")),
        ("", "$0.005 per In-use public IPv4 address per hour", "Hours", None),
        ("", "$0.05 for EBS-optimized p3.8xlarge Hour", "Hours", None),
        ("p4d.24xlarge", "SoftwareUsage:p4d.24xlarge", "Hrs", None),
        ("p3.8xlarge", "EBSOptimized:p3.8xlarge", "Hrs", None),
        ("p4d.24xlarge", "Reservation:p4d.24xlarge", "Hrs", None),
        ("p4d.24xlarge", "USE1-Reservation:p4d.24xlarge", "Hrs", None),
        ("p5.48xlarge", "HeavyUsage:p5.48xlarge", "Hrs", None),
        ("p5.48xlarge", "ComputeSP:3yrNoUpfront", "Hrs", None),
        ("p5.48xlarge", "USW2-EKS-Auto:p5.48xlarge", "Hours", None),
        ("p4d.24xlarge", "USW2-DataTransfer-Out-Bytes", "GB", None),
        ("", "USW2-EBS:VolumeUsage.gp3", "GB-Mo", None),
        ("m5.xlarge", "BoxUsage:m5.xlarge", "Hrs", None),
        ("vt1.3xlarge", "BoxUsage:vt1.3xlarge", "Hrs", None),
        ("p5.48xlarge", "BoxUsage:p5.48xlarge", "", None),
    ] {
        assert_eq!(found(&key("AWS", instance_type, meter, unit)).as_deref(), expected, "{meter} {unit}");
    }
}

#[test]
fn it_counts_no_surcharge_of_another_service() {
    for service in
        ["ElasticMapReduce", "Amazon Elastic MapReduce", "Amazon EMR", "Amazon Bedrock", "AWS Marketplace"]
    {
        let mut surcharge = key("AWS", "p4d.24xlarge", "USE1-BoxUsage:p4d.24xlarge", "Hrs");
        assert!(recognize(&surcharge).is_some());
        service.clone_into(&mut surcharge.service);
        assert_eq!(found(&surcharge), None, "{service}");
    }
}

#[test]
fn it_counts_usage_only() {
    for category in ChargeCategory::ALL {
        let key = ChargeKey { category, ..key("AWS", "p5.48xlarge", "BoxUsage:p5.48xlarge", "Hrs") };
        assert_eq!(recognize(&key).is_some(), category == ChargeCategory::Usage, "{category:?}");
    }
}

#[test]
fn it_counts_nodes_of_ones_own_by_what_their_row_states() {
    for (instance_type, stated, unit, expected) in [
        ("HGX H100", "8", "Hours", Some("8 H100")),
        ("8xH100", "8", "Hours", Some("8 H100")),
        ("8xH100", "", "Hours", Some("8 H100")),
        ("dgx-h100", "8", "Hours", Some("8 H100")),
        ("DGX H200", "8", "Hours", Some("8 H200")),
        ("MI300X", "8", "Hours", Some("8 MI300X")),
        ("rack 7", "8", "Hours", Some("8 Unknown accelerator")),
        // Neither a number beside the model nor one in its name.
        ("HGX H100", "", "Hours", None),
        ("HGX H100", "8", "kWh", None),
    ] {
        let key = ChargeKey {
            stated_accelerators: stated.to_owned(),
            service: "GPU nodes".to_owned(),
            ..key("On-premises", instance_type, "Node hours in service", unit)
        };
        assert_eq!(found(&key).as_deref(), expected, "{instance_type} x{stated} {unit}");
    }
}

#[test]
fn it_counts_azure_machines_and_their_fractions() {
    for (instance_type, meter, unit, expected) in [
        ("Standard_ND96isr_H100_v5", "ND96isr H100 v5", "1 Hour", Some("8 H100")),
        ("Standard_ND96asr_v4", "ND96asr A100 v4", "10 Hours", Some("8 A100")),
        ("", "NC24ads A100 v4 Spot", "1 Hour", Some("1 A100")),
        ("Standard_NV6ads_A10_v5", "NV6ads A10 v5", "1 Hour", Some("1/6 A10")),
        ("Standard_NV12ads_A10_v5", "NV12ads A10 v5", "Hours", Some("1/3 A10")),
        ("Standard_NV4as_v4", "NV4as v4", "1 Hour", Some("1/8 MI25")),
        ("Standard_D4s_v5", "D4s v5", "1 Hour", None),
        ("Standard_NC24ads_A100_v4", "Premium All-purpose Compute DBU", "1 Hour", None),
        ("Standard_NC24ads_A100_v4", "24 vCPU VM License", "1 Hour", None),
        ("Standard_NC24ads_A100_v4", "P10 LRS Disk", "1/Month", None),
    ] {
        assert_eq!(found(&key("Microsoft", instance_type, meter, unit)).as_deref(), expected, "{meter}");
    }
    let sixth = ChargeKey {
        stated_accelerators: "1".to_owned(),
        ..key("Microsoft", "Standard_NV6ads_A10_v5", "", "Hours")
    };
    assert_eq!(found(&sixth).as_deref(), Some("1/6 A10"), "the catalog knows better than a rounded export");
}

#[test]
fn it_counts_google_gpu_meters_once_and_machines_never_beside_them() {
    let machine = "a3-highgpu-8g";
    for (instance_type, meter, unit, expected) in [
        (machine, "Nvidia H100 80GB GPU running in Americas", "seconds", Some("1 H100")),
        ("", "Nvidia Tesla A100 GPU running in Americas", "hour", Some("1 A100")),
        (
            "",
            "Spot Preemptible Nvidia L4 GPU attached to Spot Preemptible VMs running in Iowa",
            "hour",
            Some("1 L4"),
        ),
        ("", "Nvidia Future 1TB GPU running in Americas", "hour", Some("1 Unknown accelerator")),
        ("", "TpuV5e running in Oregon", "hour", Some("1 TPU v5e")),
        (machine, "A3 Instance Core running in Americas", "hour", None),
        (machine, "A3 Instance Ram running in Americas", "gibibyte hour", None),
        ("", "Commitment v1: Nvidia H100 80GB GPU running in Americas for 1 Year", "hour", None),
        ("", "Licensing Fee for Windows on Nvidia L4 GPU", "hour", None),
        (machine, "Something beside the machine", "hour", None),
        (machine, "", "hour", Some("8 H100")),
        ("n2-standard-8", "N2 Instance Core running in Americas", "hour", None),
    ] {
        assert_eq!(found(&key("Google Cloud", instance_type, meter, unit)).as_deref(), expected, "{meter}");
    }
    let stated =
        ChargeKey { stated_accelerators: "8".to_owned(), ..key("Google Cloud", machine, "Compute", "Hours") };
    assert_eq!(found(&stated).as_deref(), Some("8 H100"));
}

#[test]
fn it_counts_gpu_hours_of_others_as_they_are_metered() {
    for (provider, instance_type, meter, unit, expected) in [
        (
            "Oracle",
            "BM.GPU.H100.8",
            "Oracle Cloud Infrastructure - Compute - GPU - H100",
            "GPU Per Hour",
            Some("1 H100"),
        ),
        ("Oracle", "", "Compute - GPU - A10", "GPU Per Hour", Some("1 A10")),
        ("Oracle", "BM.GPU.H100.8", "", "Hours", Some("8 H100")),
        ("Oracle", "VM.Standard.E4.Flex", "Standard - E4 - OCPU", "OCPU Per Hour", None),
        ("Lambda", "gpu_8x_h100_sxm5", "", "Hours", Some("8 H100")),
        ("Lambda", "8x H100 SXM", "", "hours", Some("8 H100")),
        ("CoreWeave", "gd-8xh100ib-i128", "", "Instance-Hours", Some("8 H100")),
        ("CoreWeave", "b200-8x", "", "Hours", Some("8 B200")),
        ("Nebius", "gpu-h200-sxm_8gpu-128vcpu-1600gb", "", "Hours", Some("8 H200")),
        ("DigitalOcean", "gpu-mi300x8-1536gb", "", "hours", Some("8 MI300X")),
        ("Hyperstack", "n3-H100x4", "", "Hours", Some("4 H100")),
        ("RunPod", "NVIDIA H100 80GB HBM3", "", "GPU-Hours", Some("1 H100")),
        ("Fireworks", "", "H100 80GB", "accelerator_seconds", Some("1 H100")),
        ("Nebius", "", "Network egress", "GPU-Hours", None),
        ("Anyone", "", "", "Hours", None),
    ] {
        assert_eq!(
            found(&key(provider, instance_type, meter, unit)).as_deref(),
            expected,
            "{provider} {meter}"
        );
    }
}

#[test]
fn it_believes_the_export_about_machines_it_does_not_know() {
    for (instance_type, meter, stated, expected) in [
        ("p9.96xlarge", "BoxUsage:p9.96xlarge", "16", Some("16 Unknown accelerator")),
        ("z1-b300", "Compute", "8", Some("8 B300")),
        ("m9.large", "BoxUsage:m9.large", "0", None),
        ("m9.large", "BoxUsage:m9.large", "NA", None),
        ("m9.large", "BoxUsage:m9.large", "", None),
        ("p9.large", "BoxUsage:p9.large", "0.125", Some("1/8 Unknown accelerator")),
        ("p9.large", "SoftwareUsage:p9.large", "8", None),
    ] {
        let key =
            ChargeKey { stated_accelerators: stated.to_owned(), ..key("AWS", instance_type, meter, "Hrs") };
        assert_eq!(found(&key).as_deref(), expected, "{meter} {stated}");
    }
}

#[test]
fn it_adds_up_hours_seconds_and_fractions_exactly() {
    // What the reports' SQL multiplies.
    let hours = |key: &ChargeKey, quantity: &str| {
        let found = recognize(key).unwrap();
        let quantity: Decimal = quantity.parse().unwrap();
        quantity.times(found.per_unit.parts()).times(found.seconds_per_unit.into())
    };
    let whole = hours(&key("AWS", "p5.48xlarge", "BoxUsage:p5.48xlarge", "Hrs"), "0.5");
    let seconds = hours(&key("Google Cloud", "", "Nvidia L4 GPU running in Iowa", "seconds"), "1");
    let sixth = hours(&key("Microsoft", "Standard_NV6ads_A10_v5", "", "Hours"), "0.1");
    let sum: Decimal = [whole, sixth.times(60)].into_iter().chain((0..3600).map(|_| seconds)).sum();
    assert_eq!(accelerator_hours(sum, 6), "6".parse().unwrap());
}

#[test]
fn it_agrees_with_the_shared_price_catalog() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/catalog/price_catalog.csv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not here", path.display());
        return;
    };
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let text = lines.join(
        "
",
    );
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let mut agreed = 0;
    for row in rows.deserialize::<std::collections::HashMap<String, String>>() {
        let row = row.unwrap();
        let provider = match canonical_provider(&row["provider"]) {
            "azure" => "Microsoft",
            "gcp" => "Google Cloud",
            other => other,
        };
        let sku = &row["sku"];
        let is_machine = ["AWS", "Microsoft", "Oracle"].contains(&provider)
            || (provider == "Google Cloud" && !sku.contains(' '));
        let Some(instance) = find_instance(provider, sku) else {
            assert!(!is_machine, "{provider} {sku} is missing");
            continue;
        };
        let count: Accelerators = row["gpu_count"].parse().unwrap();
        assert_eq!(instance.accelerators, count, "{provider} {sku}");
        agreed += 1;
    }
    assert!(agreed > 150, "{agreed}");
}

#[test]
fn it_recognizes_every_machine_of_its_catalog() {
    for instance in instances() {
        let key = key(instance.provider, instance.instance_type, "", "Hours");
        let found = recognize(&key).unwrap_or_else(|| panic!("{instance:?}"));
        assert_eq!((found.model, found.per_unit), (instance.model, instance.accelerators), "{instance:?}");
    }
}

proptest! {
    #[test]
    fn it_never_panics(
        provider in "AWS|Microsoft|Google Cloud|Oracle|.{0,8}",
        instance_type in "(ml\\.)?[a-z0-9]{0,4}[.x]?[0-9x]{0,4}|.{0,20}",
        meter in "[A-Z0-9]{0,4}-?BoxUsage:?.{0,10}|.{0,30}|.*gpu.*",
        unit in "Hrs|seconds|GPU-Hours|.{0,10}",
        stated in "[0-9./]{0,8}|.{0,6}",
    ) {
        let mut key = key(&provider, &instance_type, &meter, &unit);
        key.stated_accelerators = stated;
        if let Some(found) = recognize(&key) {
            prop_assert!(!found.per_unit.is_zero());
            prop_assert!(found.seconds_per_unit > 0);
        }
    }
}
