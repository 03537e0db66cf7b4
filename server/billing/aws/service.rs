//! AWS services: the code that CUR and FOCUS' `x_ServiceCode` give, the name that FOCUS' ServiceName may
//! give instead, and the FOCUS ServiceCategory. Codes are what charges carry: they are stable, and every
//! row of a CUR has one. A name that is not listed stays as it is written.

struct Service {
    code: &'static str,
    names: &'static [&'static str],
    category: &'static str,
}

/// The code of a service that is called by its name.
pub(in crate::billing) fn code(name: &str) -> Option<&'static str> {
    SERVICES.iter().find(|service| service.names.contains(&name)).map(|service| service.code)
}

/// FOCUS ServiceCategory of a code; empty where it is not listed.
pub(in crate::billing) fn category(code: &str) -> &'static str {
    SERVICES.iter().find(|service| service.code == code).map_or("", |service| service.category)
}

const fn service(code: &'static str, names: &'static [&'static str], category: &'static str) -> Service {
    Service { code, names, category }
}

static SERVICES: &[Service] = &[
    service("AmazonEC2", &["Amazon Elastic Compute Cloud", "Amazon EC2", "EC2 - Other"], "Compute"),
    service("AmazonS3", &["Amazon Simple Storage Service", "Amazon S3"], "Storage"),
    service("AmazonCloudWatch", &["Amazon CloudWatch"], "Management and Governance"),
    service("AWSELB", &["Elastic Load Balancing"], "Networking"),
    service("AmazonVPC", &["Amazon Virtual Private Cloud"], "Networking"),
    service("AWSDataTransfer", &["AWS Data Transfer"], "Networking"),
    service("AmazonECS", &["Amazon Elastic Container Service"], "Compute"),
    service(
        "AmazonEKS",
        &["Amazon Elastic Kubernetes Service", "Amazon Elastic Container Service for Kubernetes"],
        "Compute",
    ),
    service(
        "AmazonECR",
        &["Amazon EC2 Container Registry (ECR)", "Amazon Elastic Container Registry"],
        "Compute",
    ),
    service("AmazonSageMaker", &["Amazon SageMaker", "Amazon SageMaker AI"], "AI and Machine Learning"),
    service("AmazonBedrock", &["Amazon Bedrock"], "AI and Machine Learning"),
    service("AmazonRDS", &["Amazon Relational Database Service"], "Databases"),
    service("AmazonDynamoDB", &["Amazon DynamoDB"], "Databases"),
    service("AmazonElastiCache", &["Amazon ElastiCache"], "Databases"),
    service("AmazonRedshift", &["Amazon Redshift"], "Analytics"),
    service("AmazonAthena", &["Amazon Athena"], "Analytics"),
    service("AWSGlue", &["AWS Glue"], "Analytics"),
    service("ElasticMapReduce", &["Amazon Elastic MapReduce"], "Analytics"),
    service("AWSLambda", &["AWS Lambda"], "Compute"),
    service("AWSQueueService", &["Amazon Simple Queue Service"], "Integration"),
    service("AmazonSNS", &["Amazon Simple Notification Service"], "Integration"),
    service("AmazonStates", &["AWS Step Functions"], "Integration"),
    service("AmazonCloudFront", &["Amazon CloudFront"], "Networking"),
    service("AmazonRoute53", &["Amazon Route 53"], "Networking"),
    service("AmazonEFS", &["Amazon Elastic File System"], "Storage"),
    service("AmazonFSx", &["Amazon FSx"], "Storage"),
    service("AmazonGlacier", &["Amazon Glacier", "Amazon S3 Glacier"], "Storage"),
    service("AWSBackup", &["AWS Backup"], "Storage"),
    service("awskms", &["AWS Key Management Service"], "Security"),
    service("AWSSecretsManager", &["AWS Secrets Manager"], "Security"),
    service("AmazonGuardDuty", &["Amazon GuardDuty"], "Security"),
    service("AWSCloudTrail", &["AWS CloudTrail"], "Management and Governance"),
    service("AWSConfig", &["AWS Config"], "Management and Governance"),
    service("AWSSystemsManager", &["AWS Systems Manager"], "Management and Governance"),
    service("ComputeSavingsPlans", &["Savings Plans for AWS Compute usage"], "Compute"),
    service(
        "MachineLearningSavingsPlans",
        &["Savings Plans for AWS Machine Learning"],
        "AI and Machine Learning",
    ),
];
