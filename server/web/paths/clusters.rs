//! On-premises clusters and the asset register of what they cost.

use crate::onprem::Kind;
use crate::period::BillingMonth;

paths! {
    "/clusters" => Clusters;
    /// The form of a new cluster.
    "/clusters/new" => NewCluster;
    /// What would come of that form: the figure beside it.
    "/clusters/new/figure" => NewClusterFigure;
    "/clusters/{cluster}" => Cluster { cluster: String };
    /// What a cluster is charged in a month, line by line.
    "/clusters/{cluster}/{month}" => ClusterMonth { cluster: String, month: BillingMonth };
    "/clusters/{cluster}/publish" => ClusterPublish { cluster: String };
    "/clusters/{cluster}/readings" => ClusterReadings { cluster: String };

    /// Everything of a kind that was entered.
    "/asset-register/{kind}" => AssetRegister { kind: Kind };
    "/asset-register/{kind}/file" => AssetRegisterFile { kind: Kind };
    "/asset-register/{kind}/new" => AssetRegisterNew { kind: Kind };
    "/asset-register/entries/{entry}" => AssetRegisterEntry { entry: i64 };
    "/asset-register/entries/{entry}/remove" => AssetRegisterRemove { entry: i64 };
}
