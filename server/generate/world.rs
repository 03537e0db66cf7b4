//! What the invented organization rents, where, and for whom. Prices are near list, and invented
//! where that is simpler: nobody should plan with them.

use super::amount::Amount;

pub(crate) struct Machine {
    pub(crate) name: &'static str,
    pub(crate) vcpu: u32,
    pub(crate) memory_gib: u32,
    /// Accelerators in it: `8`, `1/6`; empty for none.
    pub(crate) accelerators: &'static str,
    /// List price of an hour, in hundredths of a cent.
    price: i64,
    /// How often it is rented, against the others.
    pub(crate) weight: u64,
}

impl Machine {
    pub(crate) fn list(&self) -> Amount {
        Amount::new(self.price, 4)
    }
}

pub(crate) const fn machine(
    name: &'static str,
    accelerators: &'static str,
    vcpu: u32,
    memory_gib: u32,
    price: i64,
    weight: u64,
) -> Machine {
    Machine { name, vcpu, memory_gib, accelerators, price, weight }
}

pub(crate) struct Region {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    /// What AWS usage types begin with there.
    pub(crate) prefix: &'static str,
    /// Prices there, in thousandths of the home region's.
    pub(crate) price_level: u64,
}

const fn region(id: &'static str, name: &'static str, prefix: &'static str, price_level: u64) -> Region {
    Region { id, name, prefix, price_level }
}

/// A provider's offer. Of the machines with accelerators the first is what savings plans cover, the next
/// two are what is reserved (in the first region).
pub(crate) struct Offer {
    pub(crate) provider: &'static str,
    pub(crate) service: &'static str,
    pub(crate) accelerated: &'static [Machine],
    pub(crate) plain: &'static [Machine],
    pub(crate) regions: &'static [Region],
    /// What it rents out beside machines.
    pub(crate) goods: &'static [Goods],
    /// What the id of a machine begins with.
    pub(crate) machine_id: &'static str,
}

pub(crate) static AWS: Offer = Offer {
    provider: "AWS",
    service: "Amazon Elastic Compute Cloud",
    accelerated: &[
        machine("p5.48xlarge", "8", 192, 2048, 550_400, 12),
        machine("p4d.24xlarge", "8", 96, 1152, 219_576, 14),
        machine("g5.12xlarge", "4", 48, 192, 56_720, 16),
        machine("p5en.48xlarge", "8", 192, 2048, 632_960, 4),
        machine("g6.12xlarge", "4", 48, 192, 46_016, 12),
        machine("g6e.12xlarge", "4", 48, 384, 104_926, 8),
        machine("g5.2xlarge", "1", 8, 32, 12_120, 14),
        machine("g6f.large", "1/8", 2, 8, 2_020, 6),
        machine("trn1.32xlarge", "16", 128, 512, 215_000, 6),
        machine("inf2.48xlarge", "12", 192, 768, 129_813, 4),
        machine("g4dn.xlarge", "1", 4, 16, 5_260, 10),
    ],
    plain: &[
        machine("m7i.2xlarge", "", 8, 32, 4_032, 5),
        machine("c7i.8xlarge", "", 32, 64, 14_280, 3),
        machine("r7i.4xlarge", "", 16, 128, 10_584, 2),
        machine("m5.xlarge", "", 4, 16, 1_920, 4),
    ],
    regions: &[
        region("us-west-2", "US West (Oregon)", "USW2-", 1000),
        region("us-east-1", "US East (N. Virginia)", "", 1000),
        region("eu-west-1", "EU (Ireland)", "EU-", 1080),
        region("ap-northeast-1", "Asia Pacific (Tokyo)", "APN1-", 1250),
    ],
    goods: &AWS_GOODS,
    machine_id: "i-0",
};

pub(crate) static AZURE: Offer = Offer {
    provider: "Microsoft",
    service: "Virtual Machines",
    accelerated: &[
        machine("Standard_ND96isr_H100_v5", "8", 96, 1900, 983_200, 10),
        machine("Standard_NC24ads_A100_v4", "1", 24, 220, 36_730, 14),
        machine("Standard_NC64as_T4_v3", "4", 64, 440, 43_520, 8),
        machine("Standard_NV6ads_A10_v5", "1/6", 6, 55, 4_540, 10),
        machine("Standard_NV12ads_A10_v5", "1/3", 12, 110, 9_080, 6),
    ],
    plain: &[
        machine("Standard_D8s_v5", "", 8, 32, 3_840, 5),
        machine("Standard_E16s_v5", "", 16, 128, 10_080, 3),
    ],
    regions: &[region("westus3", "West US 3", "", 1000), region("westeurope", "West Europe", "", 1150)],
    goods: &AZURE_GOODS,
    machine_id: "vm-gpu-",
};

pub(crate) static GOOGLE: Offer = Offer {
    provider: "Google Cloud",
    service: "Compute Engine",
    accelerated: &[
        machine("a3-highgpu-8g", "8", 208, 1872, 882_500, 10),
        machine("a2-highgpu-1g", "1", 12, 85, 36_735, 12),
        machine("g2-standard-48", "4", 48, 192, 40_000, 10),
    ],
    plain: &[machine("n2-standard-8", "", 8, 32, 3_885, 5)],
    regions: &[region("us-central1", "Iowa", "", 1000), region("europe-west4", "Netherlands", "", 1100)],
    goods: &GOODS,
    machine_id: "gce-",
};

static ORACLE: Offer = Offer {
    provider: "Oracle",
    service: "Compute",
    accelerated: &[
        machine("BM.GPU.H100.8", "8", 224, 2048, 800_000, 10),
        machine("BM.GPU4.8", "8", 128, 2048, 244_000, 8),
        machine("VM.GPU.A10.1", "1", 30, 240, 20_000, 8),
    ],
    plain: &[machine("VM.Standard.E5.Flex", "", 16, 128, 7_360, 5)],
    regions: &[region("us-chicago-1", "US Midwest (Chicago)", "", 1000)],
    goods: &GOODS,
    machine_id: "ocid1.instance.",
};

/// Any other name: a specialty cloud that says how many of what in the machine's name.
pub(crate) static SPECIALTY: Offer = Offer {
    provider: "",
    service: "GPU Instances",
    accelerated: &[
        machine("8x H100 SXM", "8", 208, 1800, 239_200, 12),
        machine("8x A100 SXM 80GB", "8", 240, 1800, 143_200, 8),
        machine("1x H100 PCIe", "1", 26, 200, 24_900, 8),
        machine("8x B200 SXM6", "8", 208, 2900, 399_200, 5),
    ],
    plain: &[machine("cpu-16", "", 16, 64, 4_800, 5)],
    regions: &[region("us-east", "US East", "", 1000), region("eu-north", "EU North", "", 1000)],
    goods: &GOODS,
    machine_id: "node-",
};

/// The offer of a provider, by its canonical name.
pub(crate) fn offer(provider: &str) -> &'static Offer {
    [&AWS, &AZURE, &GOOGLE, &ORACLE]
        .into_iter()
        .find(|offer| offer.provider == provider)
        .unwrap_or(&SPECIALTY)
}

/// Usage that is no machine: storage, transfer, requests.
pub(crate) struct Goods {
    pub(crate) code: &'static str,
    pub(crate) service: &'static str,
    pub(crate) category: &'static str,
    pub(crate) family: &'static str,
    pub(crate) usage_type: &'static str,
    pub(crate) operation: &'static str,
    pub(crate) unit: &'static str,
    /// Price of one unit, in millionths.
    price: i64,
    /// The most that an hour uses, in thousandths of a unit.
    pub(crate) most: u64,
    /// What its resource id begins with; empty for none.
    pub(crate) resource: &'static str,
}

impl Goods {
    pub(crate) fn list(&self) -> Amount {
        Amount::new(self.price, 6)
    }
}

pub(crate) static AWS_GOODS: [Goods; 8] = [
    Goods {
        code: "AmazonEC2",
        service: "Amazon Elastic Compute Cloud",
        category: "Storage",
        family: "Storage",
        usage_type: "EBS:VolumeUsage.gp3",
        operation: "CreateVolume-Gp3",
        unit: "GB-Mo",
        price: 80_000,
        most: 2_700,
        resource: "vol-0",
    },
    Goods {
        code: "AmazonS3",
        service: "Amazon Simple Storage Service",
        category: "Storage",
        family: "Storage",
        usage_type: "TimedStorage-ByteHrs",
        operation: "StandardStorage",
        unit: "GB-Mo",
        price: 23_000,
        most: 90_000,
        resource: "datasets-",
    },
    Goods {
        code: "AmazonS3",
        service: "Amazon Simple Storage Service",
        category: "Storage",
        family: "API Request",
        usage_type: "Requests-Tier2",
        operation: "GetObject",
        unit: "Requests",
        price: 1,
        most: 900_000_000,
        resource: "datasets-",
    },
    Goods {
        code: "AWSDataTransfer",
        service: "AWS Data Transfer",
        category: "Networking",
        family: "Data Transfer",
        usage_type: "DataTransfer-Out-Bytes",
        operation: "RunInstances",
        unit: "GB",
        price: 90_000,
        most: 40_000,
        resource: "",
    },
    Goods {
        code: "AmazonEC2",
        service: "Amazon Elastic Compute Cloud",
        category: "Networking",
        family: "Data Transfer",
        usage_type: "DataTransfer-Regional-Bytes",
        operation: "InterZone-In",
        unit: "GB",
        price: 10_000,
        most: 600_000,
        resource: "i-0",
    },
    Goods {
        code: "AmazonFSx",
        service: "Amazon FSx",
        category: "Storage",
        family: "Storage",
        usage_type: "Storage-Lustre:SSD",
        operation: "CreateFileSystem:Lustre",
        unit: "GB-Mo",
        price: 140_000,
        most: 16_000,
        resource: "fs-0",
    },
    Goods {
        code: "AmazonCloudWatch",
        service: "AmazonCloudWatch",
        category: "Management and Governance",
        family: "Metric",
        usage_type: "CW:MetricMonitorUsage",
        operation: "MetricStorage",
        unit: "Metrics",
        price: 300_000,
        most: 4_000,
        resource: "",
    },
    Goods {
        code: "AmazonEKS",
        service: "Amazon Elastic Container Service for Kubernetes",
        category: "Compute",
        family: "Compute",
        usage_type: "AmazonEKS-Hours:perCluster",
        operation: "CreateOperation",
        unit: "Hours",
        price: 100_000,
        most: 1_000,
        resource: "cluster/ml-",
    },
];

/// Storage, transfer and the like of a cloud that is not AWS: no product code, family or operation.
const fn goods(
    service: &'static str,
    category: &'static str,
    usage_type: &'static str,
    unit: &'static str,
    price: i64,
    most: u64,
    resource: &'static str,
) -> Goods {
    Goods {
        code: "",
        service,
        category,
        family: "",
        usage_type,
        operation: usage_type,
        unit,
        price,
        most,
        resource,
    }
}

pub(crate) static AZURE_GOODS: [Goods; 4] = [
    goods("Storage Accounts", "Storage", "Hot LRS Data Stored", "GB-Month", 18_400, 90_000, "stdata"),
    goods("Virtual Machines", "Storage", "P30 LRS Disk", "GB-Month", 132_000, 2_000, "disk-"),
    goods("Virtual Network", "Networking", "Standard Data Transfer Out", "GB", 87_000, 40_000, ""),
    goods(
        "Azure Monitor",
        "Management and Governance",
        "Analytics Logs Data Ingestion",
        "GB",
        2_300_000,
        900,
        "",
    ),
];

pub(crate) static GOODS: [Goods; 3] = [
    goods("Block Storage", "Storage", "NVMe volume", "GB-Month", 70_000, 4_000, "volume-"),
    goods("Shared File System", "Storage", "Shared file system", "GB-Month", 90_000, 30_000, "fs-"),
    goods("Network", "Networking", "Egress", "GB", 20_000, 90_000, ""),
];

pub(crate) static TEAMS: [&str; 6] = ["research", "vision", "language", "inference", "robotics", "platform"];
/// How the same teams are written by hand.
pub(crate) static MISSPELT: [&str; 6] =
    ["Reserch", " vision", "Language", "inference-team", "robotics ", "platfrom"];
pub(crate) static PROJECTS: [&str; 8] = [
    "pretraining",
    "segmentation",
    "alignment",
    "serving",
    "grasping",
    "diffusion, \"v2\"",
    "evaluation",
    "tooling",
];
pub(crate) static ENVIRONMENTS: [&str; 3] = ["prod", "dev", "staging"];
pub(crate) static WORKLOADS: [&str; 3] = ["training", "serving", "batch"];
/// Where finance books the teams.
pub(crate) static COST_CENTERS: [&str; 6] =
    ["CC-4100", "CC-4210", "CC-4220", "CC-5100", "CC-4300", "CC-6000"];
/// Accounts under the billing account; their numbers follow from it.
pub(crate) const ACCOUNTS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accelerator::{Accelerators, recognize};
    use crate::billing::ChargeKey;

    #[test]
    fn it_rents_machines_that_are_recognized() {
        for offer in [&AWS, &AZURE, &GOOGLE, &ORACLE, &SPECIALTY] {
            assert!(offer.accelerated.len() >= 3, "one for the plan, two to reserve");
            for machine in offer.accelerated.iter().chain(offer.plain) {
                let key = ChargeKey {
                    provider: offer.provider.to_owned(),
                    instance_type: machine.name.to_owned(),
                    unit: "Hours".to_owned(),
                    ..ChargeKey::default()
                };
                let expected: Option<Accelerators> = machine.accelerators.parse().ok();
                assert_eq!(recognize(&key).map(|found| found.per_unit), expected, "{}", machine.name);
            }
        }
    }
}
