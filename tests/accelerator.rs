//! GPU recognition, over charge keys as the readers make them.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use gpuledger::accelerator::{
    Accelerators, Catalog, accelerator_hours, find_instance, find_model, instances, recognize,
};
use gpuledger::billing::{ChargeCategory, ChargeKey, canonical_provider};
use gpuledger::money::Decimal;
use proptest::prelude::*;

use crate::support::files;

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
fn it_knows_usage_and_what_adjusts_it() {
    for category in ChargeCategory::ALL {
        let key = ChargeKey { category, ..key("AWS", "p5.48xlarge", "BoxUsage:p5.48xlarge", "Hrs") };
        let is_of_machine = matches!(category, ChargeCategory::Usage | ChargeCategory::Adjustment);
        assert_eq!(recognize(&key).is_some(), is_of_machine, "{category:?}");
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

/// Machines that once had no hours, by provider, what the export names and the unit: how many of which model, with the memory
/// of each.
#[test]
fn it_knows_machines_by_every_name_their_providers_bill() {
    let h = "Hours";
    for (provider, instance_type, meter, unit, expected) in [
        ("Microsoft", "ND96is_MI300X_v5", "", "1 Hour", "8 amd-mi300x 192"),
        ("Microsoft", "", "ND96is MI300X v5 Low Priority", "1 Hour", "8 amd-mi300x 192"),
        ("Microsoft", "Standard_ND128isr_GB300_v6", "", "1 Hour", "4 nvidia-gb300 288"),
        ("Microsoft", "ND128isr_GB300_v6", "ND128isr GB300 v6", "1 Hour", "4 nvidia-gb300 288"),
        ("Microsoft", "", "Virtual Machines NDv5 ND96isr H100 v5 running", "1 Hour", "8 nvidia-h100-sxm 80"),
        ("Oracle", "BM.GPU.B4.8", "", h, "8 nvidia-a100-sxm-40 40"),
        ("Oracle", "BM.GPU.GM4.8", "", h, "8 nvidia-a100-sxm-80 80"),
        ("Oracle", "BM.GPU.MI355X-v1.8", "", h, "8 amd-mi355x 288"),
        ("Oracle", "VM.GPU.A100.40G.1", "", h, "1 nvidia-a100-sxm-40 40"),
        ("Oracle", "VM.GPU.A100.80G.2", "", h, "2 nvidia-a100-sxm-80 80"),
        // No line of the catalog: the shape itself says so.
        ("Oracle", "VM.GPU.L40S.2", "", h, "2 nvidia-l40s 48"),
        ("Oracle", "BM.GPU.MI325X.8", "", h, "8 amd-mi325x 256"),
        ("Google Cloud", "ct5l-hightpu-8t", "", "hour", "8 google-tpu-v5e 16"),
        ("Google Cloud", "", "RTX 6000 96GB running in Americas", "hour", "1 nvidia-rtx-pro-6000 96"),
        (
            "Google Cloud",
            "g4-standard-48",
            "Spot Preemptible RTX 6000 96GB running in Iowa",
            "hour",
            "1 nvidia-rtx-pro-6000 96",
        ),
        ("Google Cloud", "", "Prediction a2-highgpu-8g", "hour", "8 nvidia-a100-sxm-40 40"),
        ("Google Cloud", "a2-highgpu-8g", "Prediction a2-highgpu-8g", "hour", "8 nvidia-a100-sxm-40 40"),
        (
            "Google Cloud",
            "",
            "Vertex AI: Online/Batch Prediction A3 Highgpu 8g running in us-central1",
            "hour",
            "8 nvidia-h100-sxm 80",
        ),
        ("AWS", "p6-b200.48xlarge", "BoxUsage:p6-b200.48xlarge", "Hrs", "8 nvidia-b200 180"),
        ("AWS", "p6-b300.48xlarge", "BoxUsage:p6-b300.48xlarge", "Hrs", "8 nvidia-b300 288"),
        ("AWS", "p6.48xlarge", "", h, "8 nvidia-b200 180"),
        ("Scaleway", "H100-1-80G", "", h, "1 nvidia-h100-pcie 80"),
        ("Scaleway", "H100-SXM-8-80G", "", h, "8 nvidia-h100-sxm 80"),
        ("Scaleway", "L40S-4-48G", "", h, "4 nvidia-l40s 48"),
        ("Scaleway", "GPU-3070-S", "", h, "1 nvidia-rtx-3070 8"),
        ("OVHcloud", "h100-1520", "", h, "4 nvidia-h100-pcie 80"),
        ("OVHcloud", "t1-le-90", "", h, "2 nvidia-v100-16 16"),
        ("OVHcloud", "t2-180", "", h, "4 nvidia-v100-32 32"),
        ("Nebius", "gpu-h200-sxm_1gpu-16vcpu-200gb", "", h, "1 nvidia-h200-sxm 141"),
        ("Nebius", "gpu-b300-sxm_8gpu-192vcpu-2768gb", "", h, "8 nvidia-b300 288"),
        ("Nebius", "gpu-l40s-a_1gpu-16vcpu-64gb", "", h, "1 nvidia-l40s 48"),
        ("Nebius", "", "NVIDIA H100 NVLink with Intel Sapphire Rapids", "GPU hour", "1 nvidia-h100-sxm 80"),
        ("RunPod", "NVIDIA H100 80GB HBM3", "", h, "1 nvidia-h100-sxm 80"),
        ("RunPod", "NVIDIA A100-SXM4-80GB", "", h, "1 nvidia-a100-sxm-80 80"),
        ("RunPod", "2x NVIDIA RTX 6000 Ada Generation", "", h, "2 nvidia-rtx-6000-ada 48"),
        ("RunPod", "NVIDIA RTX 4000 Ada Generation", "", h, "1 nvidia-rtx-4000-ada 20"),
        ("RunPod", "NVIDIA GeForce RTX 3090 Ti", "", h, "1 nvidia-rtx-3090-ti 24"),
        ("RunPod", "Tesla V100-FHHL-16GB", "", h, "1 nvidia-v100-16 16"),
        ("RunPod", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "", h, "1 nvidia-rtx-pro-6000 96"),
        ("Vast.ai", "8x RTX 4090", "", h, "8 nvidia-rtx-4090 24"),
        ("Paperspace", "A100-80Gx8", "", h, "8 nvidia-a100-sxm-80 80"),
        ("Paperspace", "RTX4000", "", h, "1 nvidia-quadro-rtx-4000 8"),
        ("Vultr", "vcg-a40-1c-5g-2vram", "", h, "1/24 nvidia-a40 48"),
        ("Vultr", "vcg-a100-12c-120g-80vram", "", h, "1 nvidia-a100-pcie-80 80"),
        ("Vultr", "vcg-l40s-128c-1500g-384vram", "", h, "8 nvidia-l40s 48"),
        ("Vultr", "vbm-256c-2048gb-8-mi300x-gpu", "", h, "8 amd-mi300x 192"),
        ("IBM Cloud", "gx2-16x128x2v100", "", h, "2 nvidia-v100-16 16"),
        ("IBM Cloud", "gx3d-160x1792x8h100", "", h, "8 nvidia-h100-sxm 80"),
        ("IBM Cloud", "gx3-64x320x4l4", "", h, "4 nvidia-l4 24"),
        ("Alibaba Cloud", "ecs.gn7i-c32g1.32xlarge", "", h, "4 nvidia-a10 24"),
        ("Alibaba Cloud", "ecs.gn6e-c12g1.24xlarge", "", h, "8 nvidia-v100-32 32"),
        ("Alibaba Cloud", "ecs.gn7e-c16g1.32xlarge", "", h, "8 nvidia-a100-sxm-80 80"),
        ("DigitalOcean", "gpu-h200x8-1128gb", "", h, "8 nvidia-h200-sxm 141"),
        ("DigitalOcean", "gpu-6000adax1-48gb", "", h, "1 nvidia-rtx-6000-ada 48"),
        ("DigitalOcean", "gpu-4000adax1-20gb", "", h, "1 nvidia-rtx-4000-ada 20"),
        ("DigitalOcean", "gpu-mi300x8-1536gb-devcloud", "", h, "8 amd-mi300x 192"),
        ("CoreWeave", "gb300-4x", "", h, "4 nvidia-gb300 288"),
        ("Hetzner", "GEX44", "", h, "1 nvidia-rtx-4000-ada 20"),
    ] {
        let key = key(provider, instance_type, meter, unit);
        let found = recognize(&key).map(|found| {
            let memory = found.model.memory_gb.map(|memory| memory.to_string()).unwrap_or_default();
            format!("{} {} {memory}", found.per_unit, found.model.id)
        });
        assert_eq!(found.as_deref(), Some(expected), "{provider} {instance_type} {meter}");
    }
    assert_eq!(
        Catalog::default().why(&key("AWS", "p6.48xlarge", "", h)),
        "p6.48xlarge has 8 B200 by the catalog. There is no such type: taken for p6-b200.48xlarge (p6-b300.48xlarge has 8 B300)."
    );
    // A machine of many GPUs that says only which they are is not taken for one of them.
    assert_eq!(found(&key("Somebody", "NVIDIA H100 80GB HBM3", "", h)), None);
    let stated =
        ChargeKey { stated_accelerators: "8".to_owned(), ..key("RunPod", "NVIDIA H100 80GB HBM3", "", h) };
    assert_eq!(found(&stated).as_deref(), Some("8 H100"));
}

/// What people, drivers, schedulers and vendors call them: the model, and how many a machine of that name has where it says so.
#[test]
fn it_knows_plain_names() {
    for (name, model, count) in [
        ("H100 80GB SXM", "nvidia-h100-sxm", None),
        ("NVIDIA H100 80GB HBM3", "nvidia-h100-sxm", None),
        ("NVIDIA-H100-80GB-HBM3", "nvidia-h100-sxm", None),
        ("H100_NVLINK_80GB", "nvidia-h100-sxm", None),
        ("H100SXM5", "nvidia-h100-sxm", None),
        ("H100_SXM5_80GB", "nvidia-h100-sxm", None),
        ("80GB SXM5 H100", "nvidia-h100-sxm", None),
        ("H100 80 GB PCIe", "nvidia-h100-pcie", None),
        ("PCIe H100 80GB", "nvidia-h100-pcie", None),
        ("H100-PCIE-80GB", "nvidia-h100-pcie", None),
        ("H100 NVL 94GB", "nvidia-h100-nvl", None),
        ("94GB H100", "nvidia-h100-nvl", None),
        ("NVIDIA H100 GPU x86_64", "nvidia-h100-sxm", None),
        ("8x H100", "nvidia-h100-sxm", Some("8")),
        ("8 x H100", "nvidia-h100-sxm", Some("8")),
        ("8\u{d7}H100", "nvidia-h100-sxm", Some("8")),
        ("8 H100", "nvidia-h100-sxm", Some("8")),
        ("8 NVIDIA H100", "nvidia-h100-sxm", Some("8")),
        ("H100 x 8", "nvidia-h100-sxm", Some("8")),
        ("H100x8", "nvidia-h100-sxm", Some("8")),
        ("H100:8", "nvidia-h100-sxm", Some("8")),
        ("A100-80GB:4", "nvidia-a100-sxm-80", Some("4")),
        ("8 GPUs H100 SXM", "nvidia-h100-sxm", Some("8")),
        ("h200-141gb-sxm-ib.8x", "nvidia-h200-sxm", Some("8")),
        ("h100-80gb-sxm-ib.8x", "nvidia-h100-sxm", Some("8")),
        ("H200 NVL", "nvidia-h200-nvl", None),
        ("A100-SXM4-40GB", "nvidia-a100-sxm-40", None),
        ("A100 80 GB", "nvidia-a100-sxm-80", None),
        ("A100SXM4 80G", "nvidia-a100-sxm-80", None),
        ("PCIe A100 80GiB", "nvidia-a100-pcie-80", None),
        ("NVIDIA A100-PCIE-40GB", "nvidia-a100-pcie-40", None),
        ("gpu_1x_a100_sxm4", "nvidia-a100-sxm-40", Some("1")),
        ("32GB Tesla V100", "nvidia-v100-32", None),
        ("Tesla-V100-SXM2-16GB", "nvidia-v100-16", None),
        ("TeslaT4", "nvidia-t4", None),
        ("gpu_4x_a6000", "nvidia-rtx-a6000", Some("4")),
        ("2xRTX4090", "nvidia-rtx-4090", Some("2")),
        ("GeForce RTX 3080Ti", "nvidia-rtx-3080-ti", None),
        ("NVIDIA GeForce RTX 2080 SUPER", "nvidia-rtx-2080-super", None),
        ("RTX6000Ada", "nvidia-rtx-6000-ada", None),
        ("NVIDIA RTX 6000Ada", "nvidia-rtx-6000-ada", None),
        ("RTX PRO6000", "nvidia-rtx-pro-6000", None),
        ("8xMI300X", "amd-mi300x", Some("8")),
        ("AMD_Instinct_MI300X_OAM", "amd-mi300x", None),
    ] {
        assert_eq!(find_model(name).map(|model| model.id), Some(model), "{name}");
        let machine = recognize(&key("Somebody", name, "", "Hours"));
        let found = machine.map(|found| (found.model.id, found.per_unit.to_string()));
        assert_eq!(found, count.map(|count| (model, count.to_owned())), "{name}");
    }
}

/// Texts that hold the name of an accelerator and mean something else, or a thing beside one.
#[test]
fn it_takes_no_near_miss_for_an_accelerator() {
    for (provider, instance_type, meter, sku, unit) in [
        ("Somebody", "", "2x Load balancer L4", "", "Hours"),
        ("Somebody", "", "Load balancer L4", "", "Hours"),
        ("RunPod", "", "Layer 4 (L4) proxy", "", "Hours"),
        ("RunPod", "", "Tier T4 endpoint", "", "Hours"),
        ("RunPod", "", "Endpoint", "A100 Main Street", "Hours"),
        ("Somebody", "", "Desk at A100 Main Street, 2x", "", "Hours"),
        ("Somebody", "", "Room", "STREET-A100-7x", "Hours"),
        ("Somebody", "", "4x NVIDIA H100 software licence", "", "Hours"),
        ("Somebody", "", "NVIDIA AI Enterprise for 8x H100", "", "Hours"),
        ("Somebody", "", "NVIDIA AI Enterprise, H100", "", "GPU-Hours"),
        ("Somebody", "", "Support for 8x H100", "", "Hours"),
        ("AWS", "", "A10 Networks vThunder ADC, 2x throughput", "", "Hours"),
        ("AWS", "t4g.2xlarge", "BoxUsage:t4g.2xlarge", "", "Hrs"),
        ("AWS", "x2gd.16xlarge", "BoxUsage:x2gd.16xlarge", "", "Hrs"),
        ("Microsoft", "", "P40 Disks", "", "1 Hour"),
        ("Microsoft", "", "P4 LRS Disks", "", "1 Hour"),
        ("Microsoft", "Standard_D4s_v5", "D4s v5", "", "1 Hour"),
        ("Google Cloud", "", "Network Load Balancing: Forwarding Rule T4", "", "hour"),
        ("Somebody", "", "Bundle 4090, 3x", "", "Hours"),
        ("Somebody", "", "H20 cooling loop, 8x", "", "Hours"),
        ("Somebody", "8xlarge", "", "", "Hours"),
        ("Somebody", "8x", "", "", "Hours"),
        ("Somebody", "", "8x H100", "", "GB"),
    ] {
        let key = ChargeKey { sku: sku.to_owned(), ..key(provider, instance_type, meter, unit) };
        assert_eq!(found(&key), None, "{instance_type} {meter} {sku}");
    }
    // The same names where the text says what they are.
    for (meter, expected) in [
        ("2x L4", "2 L4"),
        ("2x NVIDIA L4", "2 L4"),
        ("GPU node with L4 accelerators, 4x", "4 L4"),
        ("8x H100 80GB SXM in Frankfurt", "8 H100"),
        ("node of 4 GPUs (A100)", "4 A100"),
    ] {
        assert_eq!(found(&key("Somebody", "", meter, "Hours")).as_deref(), Some(expected), "{meter}");
    }
}

fn rows_of(path: &Path) -> Vec<HashMap<String, String>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    csv::Reader::from_reader(lines.join("\n").as_bytes()).deserialize().map(Result::unwrap).collect()
}

#[test]
fn it_agrees_with_the_shared_price_catalog() {
    let Some(folder) = files::of_others() else { return };
    let mut agreed = 0;
    for row in rows_of(&folder.join("catalog/price_catalog.csv")) {
        let provider = &*canonical_provider(&row["provider"]);
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
    println!("{agreed} machines agree");
    assert!(agreed > 150, "{agreed}");
}

/// Every name in the catalogs of others is asked for; what is recognized has the count that they state.
#[test]
fn it_recognizes_names_of_other_peoples_catalogs() {
    let Some(folder) = files::of_others() else { return };
    let mut described = Vec::new();
    let mut sweep = |list: &str, names: Vec<(String, String, String)>| {
        assert!(!names.is_empty(), "{list} holds no name");
        let mut unknown = BTreeSet::new();
        let mut recognized = 0;
        for (provider, name, count) in &names {
            match recognize(&key(provider, name, "", "Hours")) {
                Some(found) => {
                    assert_eq!(found.per_unit, count.parse().unwrap(), "{list}: {provider} {name}");
                    recognized += 1;
                }
                None => {
                    unknown.insert(format!("{provider} {name}"));
                }
            }
        }
        println!("{list}: {recognized} of {} names recognized; not {unknown:?}", names.len());
        described.push((list.to_owned(), recognized, names.len()));
    };
    let distinct =
        |rows: Vec<(String, String, String)>| rows.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let prices = rows_of(&folder.join("catalog/price_catalog.csv"))
        .into_iter()
        .filter(|row| !row["gpu_count"].is_empty())
        .map(|row| {
            (canonical_provider(&row["provider"]).to_string(), row["sku"].clone(), row["gpu_count"].clone())
        });
    sweep("catalog", distinct(prices.collect()));
    let whole = |count: &str| count.trim_end_matches(".0").to_owned();
    let lambda = rows_of(&folder.join("skypilot-catalog/lambda-vms.csv"))
        .into_iter()
        .filter(|row| !row["AcceleratorCount"].is_empty())
        .map(|row| ("Lambda".to_owned(), row["InstanceType"].clone(), whole(&row["AcceleratorCount"])));
    sweep("skypilot", distinct(lambda.collect()));
    let json = |path: &str| -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(folder.join(path)).unwrap()).unwrap()
    };
    let pods = json("runpod/v1-billing-pods.json");
    let pods = pods.as_array().unwrap().iter().filter_map(|pod| pod["gpuTypeId"].as_str());
    sweep("runpod", pods.map(|name| ("RunPod".to_owned(), name.to_owned(), "1".to_owned())).collect());
    let models = rows_of(&folder.join("catalog/gpu_catalog.csv"));
    let names: Vec<_> = models
        .iter()
        .flat_map(|row| row["recognise_as"].split('|'))
        .filter(|name| !name.is_empty())
        .collect();
    let unknown: Vec<_> = names.iter().filter(|name| find_model(name).is_none()).collect();
    println!("models: {} of {} names recognized; not {unknown:?}", names.len() - unknown.len(), names.len());
    let tpus = json("gpuhunt/tpu_pricing.json");
    let tpus: Vec<&String> = tpus.as_object().unwrap().keys().collect();
    let unknown: Vec<_> = tpus.iter().filter(|name| find_model(name).is_none()).collect();
    assert!(unknown.is_empty() && !tpus.is_empty(), "{unknown:?}");
    for (list, recognized, of) in described {
        assert!(recognized * 10 >= of * 8, "{list}: {recognized} of {of}");
    }
}

#[test]
fn it_recognizes_every_machine_of_its_catalog() {
    for instance in instances() {
        let key = key(instance.provider, instance.instance_type, "", "Hours");
        let found = recognize(&key).unwrap_or_else(|| panic!("{instance:?}"));
        assert_eq!((found.model, found.per_unit), (instance.model, instance.accelerators), "{instance:?}");
    }
}

/// Words of a name in some order, with some separator, in some case.
fn written(words: &[&str], order: usize, separator: &str, case: usize) -> String {
    let mut left: Vec<&str> = words.to_vec();
    let mut ordered = Vec::new();
    let mut order = order;
    while !left.is_empty() {
        ordered.push(left.remove(order % left.len()));
        order /= left.len() + 1;
    }
    let text = ordered.join(separator);
    match case {
        0 => text,
        1 => text.to_lowercase(),
        _ => text.to_uppercase(),
    }
}

proptest! {
    #[test]
    fn a_plain_name_means_the_same_in_every_case_order_and_with_every_separator(
        name in prop::sample::select(vec![
            (&["NVIDIA", "H100", "80GB", "SXM5"][..], "nvidia-h100-sxm"),
            (&["H100", "PCIe", "80GB"][..], "nvidia-h100-pcie"),
            (&["H100", "94GB", "NVL"][..], "nvidia-h100-nvl"),
            (&["A100", "SXM4", "40GB"][..], "nvidia-a100-sxm-40"),
            (&["A100", "SXM", "80GB"][..], "nvidia-a100-sxm-80"),
            (&["Tesla", "V100", "32GB"][..], "nvidia-v100-32"),
            (&["NVIDIA", "L40S", "48GB"][..], "nvidia-l40s"),
            (&["AMD", "MI300X", "192GB"][..], "amd-mi300x"),
        ]),
        order in 0..10_000usize,
        separator in prop::sample::select(vec![" ", "-", "_", ".", ", ", "/"]),
        case in 0..3usize,
        count in 1..17usize,
    ) {
        let (words, model) = name;
        let text = written(words, order, separator, case);
        prop_assert_eq!(find_model(&text).map(|model| model.id), Some(model), "{}", text);
        for machine in [format!("{count}x{separator}{text}"), format!("{text}{separator}x{count}")] {
            let found = recognize(&key("Somebody", &machine, "", "Hours"));
            let found = found.map(|found| (found.model.id, found.per_unit.to_string()));
            prop_assert_eq!(found, Some((model, count.to_string())), "{}", machine);
        }
    }

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
