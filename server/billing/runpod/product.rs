//! What RunPod bills: its products, of which each is an export of its own, and the parts that an amount is divided into.

use crate::billing::Accumulation;
use crate::billing::header::Header;

/// What the records of a file are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Product {
    /// `/v2/billing`: one record for all of them.
    All,
    Pods,
    Serverless,
    NetworkVolumes,
    PublicEndpoints,
    Clusters,
}

/// A service in the words of FOCUS.
pub(super) struct Service {
    pub name: &'static str,
    pub category: &'static str,
}

/// A part of an amount: the member that states it, and what it is for.
pub(super) struct Part {
    pub member: &'static str,
    pub meter: &'static str,
    pub service: &'static Service,
}

impl Product {
    /// By the members that its records have: nothing else tells the product before the last row is read.
    pub fn of(header: &Header) -> Self {
        let is_divided = super::is_divided(header);
        let has = |keys: &[&str]| header.has_any(keys);
        if has(&["podgpuamount", "serverlessgpuamount", "storagestandardamount", "clustergpuamount"]) {
            Self::All
        } else if has(&["clusterid", "networkingamount"]) {
            Self::Clusters
        } else if has(&["networkvolumeid", "standardamount", "highperformancestorageamount"]) {
            Self::NetworkVolumes
        } else if has(&["serverlessid", "feeamount"]) || (has(&["endpointid"]) && !is_divided) {
            Self::Serverless
        } else if has(&["podid", "gputypeid", "gpuamount", "timebilledms"]) {
            Self::Pods
        } else if is_divided {
            Self::PublicEndpoints
        } else {
            // Of the products of version 1 only these are grouped by nothing and have no time.
            Self::NetworkVolumes
        }
    }

    pub fn accumulation(self) -> Accumulation {
        match self {
            Self::All => Accumulation::WholePeriod,
            Self::Pods => Accumulation::Kind("pods"),
            Self::Serverless => Accumulation::Kind("serverless"),
            Self::NetworkVolumes => Accumulation::Kind("network-volumes"),
            Self::PublicEndpoints => Accumulation::Kind("public-endpoints"),
            Self::Clusters => Accumulation::Kind("clusters"),
        }
    }

    /// Whether its records of version 1 are the time of machines.
    pub fn is_timed(self) -> bool {
        matches!(self, Self::Pods | Self::Serverless)
    }

    /// Whether version 2 has one record of it in each bucket, and no id.
    pub fn is_one_record_a_bucket(self) -> bool {
        matches!(self, Self::All | Self::PublicEndpoints)
    }

    pub fn service(self) -> &'static Service {
        match self {
            Self::All => &ALL,
            Self::Pods => &PODS,
            Self::Serverless => &SERVERLESS,
            Self::NetworkVolumes => &NETWORK_VOLUMES,
            Self::PublicEndpoints => &PUBLIC_ENDPOINTS,
            Self::Clusters => &CLUSTERS,
        }
    }

    /// What an amount that is not divided is for.
    pub fn meter(self) -> &'static str {
        match self {
            Self::All => "All of RunPod",
            Self::Pods => "Pod",
            Self::Serverless => "Serverless worker",
            Self::NetworkVolumes => "Network volume",
            Self::PublicEndpoints => "Public endpoint",
            Self::Clusters => "Cluster",
        }
    }

    /// The meter of time on a machine of which no GPU type is stated. It says GPU, so that it is looked for.
    pub fn meter_without_gpu_type(self) -> &'static str {
        if self == Self::Serverless {
            "Serverless worker, GPU type not stated"
        } else {
            "Pod, GPU type not stated"
        }
    }

    /// The members that hold the id of what was billed.
    pub fn ids(self) -> &'static [&'static str] {
        match self {
            Self::All => &[],
            Self::Pods => &["podid"],
            Self::Serverless => &["serverlessid", "endpointid"],
            Self::NetworkVolumes => &["networkvolumeid"],
            Self::PublicEndpoints => &["endpointid"],
            Self::Clusters => &["clusterid"],
        }
    }

    /// What version 2 divides its total into.
    pub fn parts(self) -> &'static [Part] {
        match self {
            Self::All => ALL_PARTS,
            Self::Pods => POD_PARTS,
            Self::Serverless => SERVERLESS_PARTS,
            Self::NetworkVolumes => VOLUME_PARTS,
            Self::PublicEndpoints => &[],
            Self::Clusters => CLUSTER_PARTS,
        }
    }
}

static ALL: Service = Service { name: "RunPod", category: "Other" };
static PODS: Service = Service { name: "Pods", category: "Compute" };
static SERVERLESS: Service = Service { name: "Serverless", category: "Compute" };
static NETWORK_VOLUMES: Service = Service { name: "Network volumes", category: "Storage" };
static PUBLIC_ENDPOINTS: Service = Service { name: "Public endpoints", category: "AI and Machine Learning" };
static CLUSTERS: Service = Service { name: "Clusters", category: "Compute" };

const fn part(member: &'static str, meter: &'static str, service: &'static Service) -> Part {
    Part { member, meter, service }
}

/// What version 1 states beside the amount of a network volume.
pub(super) static BESIDE: Part =
    part("highPerformanceStorageAmount", "High-performance storage", &NETWORK_VOLUMES);

static POD_PARTS: &[Part] = &[
    part("gpuAmount", "Pod GPU", &PODS),
    part("cpuAmount", "Pod CPU", &PODS),
    part("diskAmount", "Pod disk", &PODS),
];

static SERVERLESS_PARTS: &[Part] = &[
    part("gpuAmount", "Serverless GPU", &SERVERLESS),
    part("cpuAmount", "Serverless CPU", &SERVERLESS),
    part("diskAmount", "Serverless disk", &SERVERLESS),
    part("feeAmount", "Serverless platform fee", &SERVERLESS),
];

static VOLUME_PARTS: &[Part] = &[
    part("standardAmount", "Standard storage", &NETWORK_VOLUMES),
    part("highPerformanceAmount", "High-performance storage", &NETWORK_VOLUMES),
];

static CLUSTER_PARTS: &[Part] = &[
    part("gpuAmount", "Cluster GPU", &CLUSTERS),
    part("diskAmount", "Cluster disk", &CLUSTERS),
    part("networkingAmount", "Cluster networking", &CLUSTERS),
];

static ALL_PARTS: &[Part] = &[
    part("podGpuAmount", "Pod GPU", &PODS),
    part("podCpuAmount", "Pod CPU", &PODS),
    part("podDiskAmount", "Pod disk", &PODS),
    part("serverlessGpuAmount", "Serverless GPU", &SERVERLESS),
    part("serverlessCpuAmount", "Serverless CPU", &SERVERLESS),
    part("serverlessDiskAmount", "Serverless disk", &SERVERLESS),
    part("serverlessFeeAmount", "Serverless platform fee", &SERVERLESS),
    part("storageStandardAmount", "Standard storage", &NETWORK_VOLUMES),
    part("storageHighPerformanceAmount", "High-performance storage", &NETWORK_VOLUMES),
    part("endpointAmount", "Public endpoint", &PUBLIC_ENDPOINTS),
    part("clusterGpuAmount", "Cluster GPU", &CLUSTERS),
    part("clusterDiskAmount", "Cluster disk", &CLUSTERS),
    part("clusterNetworkingAmount", "Cluster networking", &CLUSTERS),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_members_of_records_tell_the_product() {
        for (names, expected) in [
            ("time amount timeBilledMs diskSpaceBilledGB podId", Product::Pods),
            ("time amount timeBilledMs diskSpaceBilledGb gpuTypeId", Product::Pods),
            ("time amount timeBilledMs diskSpaceBilledGb", Product::Pods),
            ("time amount timeBilledMs diskSpaceBilledGb endpointId", Product::Serverless),
            ("time amount diskSpaceBilledGb", Product::NetworkVolumes),
            (
                "time amount diskSpaceBilledGb highPerformanceStorageAmount highPerformanceStorageDiskSpaceBilledGb",
                Product::NetworkVolumes,
            ),
            ("startTime endTime podId totalAmount gpuAmount cpuAmount diskAmount", Product::Pods),
            (
                "startTime endTime serverlessId totalAmount gpuAmount cpuAmount diskAmount feeAmount",
                Product::Serverless,
            ),
            (
                "startTime endTime networkVolumeId totalAmount standardAmount highPerformanceAmount",
                Product::NetworkVolumes,
            ),
            (
                "startTime endTime clusterId totalAmount gpuAmount diskAmount networkingAmount",
                Product::Clusters,
            ),
            ("startTime endTime totalAmount", Product::PublicEndpoints),
            ("startTime endTime totalAmount endpointId", Product::PublicEndpoints),
            ("startTime endTime totalAmount podGpuAmount endpointAmount clusterGpuAmount", Product::All),
        ] {
            let header = Header::new(names.split(' ').map(str::to_owned).collect());
            assert_eq!(Product::of(&header), expected, "{names}");
        }
    }
}
