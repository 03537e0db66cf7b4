//! What Azure's meters are categories of, in the words of FOCUS.

/// MeterCategory and the ServiceCategory of FOCUS; where it is none of these, the family says it.
const OF_METER: &[(&str, &str)] = &[
    ("Virtual Machines", "Compute"),
    ("Virtual Machines Licenses", "Compute"),
    ("Azure App Service", "Web"),
    ("Azure Kubernetes Service", "Compute"),
    ("Container Instances", "Compute"),
    ("Container Registry", "Compute"),
    ("Functions", "Compute"),
    ("Storage", "Storage"),
    ("Backup", "Storage"),
    ("Azure NetApp Files", "Storage"),
    ("Bandwidth", "Networking"),
    ("Load Balancer", "Networking"),
    ("Virtual Network", "Networking"),
    ("VPN Gateway", "Networking"),
    ("NAT Gateway", "Networking"),
    ("ExpressRoute", "Networking"),
    ("Application Gateway", "Networking"),
    ("Azure DNS", "Networking"),
    ("Azure Machine Learning", "AI and Machine Learning"),
    ("Cognitive Services", "AI and Machine Learning"),
    ("Azure OpenAI", "AI and Machine Learning"),
    ("Foundry Models", "AI and Machine Learning"),
    ("SQL Database", "Databases"),
    ("Azure Cosmos DB", "Databases"),
    ("Azure Database for PostgreSQL", "Databases"),
    ("Azure Database for MySQL", "Databases"),
    ("Redis Cache", "Databases"),
    ("Azure Databricks", "Analytics"),
    ("Log Analytics", "Management and Governance"),
    ("Azure Monitor", "Management and Governance"),
    ("Key Vault", "Security"),
];

/// ServiceFamily and the ServiceCategory of FOCUS, where they differ in more than nothing.
const OF_FAMILY: &[(&str, &str)] = &[
    ("AI + Machine Learning", "AI and Machine Learning"),
    ("Analytics", "Analytics"),
    ("Compute", "Compute"),
    ("Containers", "Compute"),
    ("Databases", "Databases"),
    ("Developer Tools", "Developer Tools"),
    ("Identity", "Identity"),
    ("Integration", "Integration"),
    ("Internet of Things", "Internet of Things"),
    ("Management and Governance", "Management and Governance"),
    ("Media", "Media"),
    ("Migration", "Migration"),
    ("Networking", "Networking"),
    ("Security", "Security"),
    ("Storage", "Storage"),
    ("Web", "Web"),
    ("Windows Virtual Desktop", "End User Computing"),
];

/// The category of a meter; empty where neither text is known.
pub(super) fn category(meter_category: &str, family: &str) -> &'static str {
    let find = |list: &[(&str, &'static str)], text: &str| {
        list.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, category)| *category)
    };
    find(OF_METER, meter_category).or_else(|| find(OF_FAMILY, family)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meter_says_the_category_and_else_its_family() {
        for (meter, family, expected) in [
            ("Virtual Machines", "Compute", "Compute"),
            // Real exports have every meter of some subscriptions in one family.
            ("Storage", "Compute", "Storage"),
            ("Something new", "AI + Machine Learning", "AI and Machine Learning"),
            ("Something new", "", ""),
        ] {
            assert_eq!(category(meter, family), expected, "{meter} {family}");
        }
    }
}
