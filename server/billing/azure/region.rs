//! Azure's regions: files write `EastUS2`, `US East 2` and `eastus2` for one.

/// Names of old meters, without blanks and in lower case, and what the region is called now. FOCUS exports of Azure write the
/// latter.
const FORMERLY: &[(&str, &str)] = &[
    ("useast", "eastus"),
    ("useast2", "eastus2"),
    ("uswest", "westus"),
    ("uswest2", "westus2"),
    ("uswest3", "westus3"),
    ("uscentral", "centralus"),
    ("usnorthcentral", "northcentralus"),
    ("ussouthcentral", "southcentralus"),
    ("uswestcentral", "westcentralus"),
    ("euwest", "westeurope"),
    ("eunorth", "northeurope"),
    ("apeast", "eastasia"),
    ("apsoutheast", "southeastasia"),
    ("jaeast", "japaneast"),
    ("jawest", "japanwest"),
    ("brsouth", "brazilsouth"),
    ("aueast", "australiaeast"),
    ("ausoutheast", "australiasoutheast"),
    ("cacentral", "canadacentral"),
    ("caeast", "canadaeast"),
    ("incentral", "centralindia"),
    ("insouth", "southindia"),
    ("inwest", "westindia"),
    ("krcentral", "koreacentral"),
    ("krsouth", "koreasouth"),
];

/// Brings the name of a region into the form that all files agree on.
pub(super) fn canonical(region: &mut String) {
    region.retain(|c| !c.is_whitespace());
    region.make_ascii_lowercase();
    if region == "unassigned" {
        region.clear();
    }
    if let Some((_, now)) = FORMERLY.iter().find(|(before, _)| *before == region.as_str()) {
        (*now).clone_into(region);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_region_are_one() {
        for (text, expected) in [
            ("EastUS2", "eastus2"),
            ("US East 2", "eastus2"),
            ("eastus2", "eastus2"),
            ("UK South", "uksouth"),
            ("EU West", "westeurope"),
            ("westeurope", "westeurope"),
            ("Unassigned", ""),
            ("", ""),
        ] {
            let mut region = text.to_owned();
            canonical(&mut region);
            assert_eq!(region, expected, "{text}");
        }
    }
}
