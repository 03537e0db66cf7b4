//! One name per provider, however a file writes it.

use std::borrow::Cow;

/// Names as pages show them, and what else they are called: letters and digits alone, in lower case, without the form of a
/// company and the countries it is for.
const NAMES: &[(&str, &[&str])] = &[
    (
        "AWS",
        &["aws", "amazon", "amazonwebservices", "amazoncom", "amazoninternetservices", "amazondataservices"],
    ),
    ("Microsoft", &["microsoft", "azure", "microsoftazure", "windowsazure"]),
    ("Google Cloud", &["google", "gcp", "googlecloud", "googlecloudplatform"]),
    ("Oracle", &["oracle", "oci", "oraclecloud", "oraclecloudinfrastructure"]),
    ("Akamai", &["akamai", "akamaitechnologies", "linode"]),
    ("Alibaba Cloud", &["alibaba", "alibabacloud", "alibabacloudcomputing", "aliyun"]),
    ("Anthropic", &["anthropic", "anthropicpbc"]),
    ("CoreWeave", &["coreweave", "coreweavecloud"]),
    ("Crusoe", &["crusoe", "crusoecloud", "crusoeenergy", "crusoeenergysystems", "crusoeai"]),
    ("Cudo Compute", &["cudo", "cudocompute", "cudoventures"]),
    ("Databricks", &["databricks"]),
    ("DigitalOcean", &["digitalocean", "digitaloceanholdings", "do"]),
    ("fal", &["fal", "falai"]),
    ("Fireworks AI", &["fireworks", "fireworksai"]),
    ("FluidStack", &["fluidstack"]),
    ("Genesis Cloud", &["genesiscloud"]),
    ("GMI Cloud", &["gmi", "gmicloud"]),
    ("Hetzner", &["hetzner", "hetzneronline", "hetznercloud"]),
    ("Hot Aisle", &["hotaisle"]),
    ("Huawei Cloud", &["huaweicloud", "huawei"]),
    ("Hugging Face", &["huggingface"]),
    ("Hyperstack", &["hyperstack", "hyperstackcloud"]),
    ("IBM Cloud", &["ibm", "ibmcloud", "softlayer", "internationalbusinessmachines"]),
    ("Lambda", &["lambda", "lambdalabs", "lambdacloud", "lambdaai", "lambdalabscloud"]),
    ("Modal", &["modal", "modallabs"]),
    ("Nebius", &["nebius", "nebiusai", "nebiuscloud", "nebiusgroup", "nebiusaicloud"]),
    ("On-premises", &["onpremises", "onpremise"]),
    ("OpenAI", &["openai", "openaiopco"]),
    ("OVHcloud", &["ovh", "ovhcloud", "ovhgroupe"]),
    ("Paperspace", &["paperspace"]),
    ("Prime Intellect", &["primeintellect"]),
    ("RunPod", &["runpod", "runpodio"]),
    ("Scaleway", &["scaleway"]),
    ("SF Compute", &["sfcompute", "sanfranciscocompute"]),
    ("TensorDock", &["tensordock"]),
    ("TensorWave", &["tensorwave"]),
    ("Tencent Cloud", &["tencent", "tencentcloud"]),
    ("Together AI", &["together", "togetherai", "togethercomputer"]),
    ("Vast.ai", &["vast", "vastai"]),
    // Called so before.
    ("Verda", &["verda", "verdacloud", "datacrunch", "datacrunchio"]),
    ("Voltage Park", &["voltagepark"]),
    ("Vultr", &["vultr", "constant", "theconstant", "vultrholdings"]),
];

/// Forms of companies, without points: left out where they end a name.
const LEGAL: &[&str] = &[
    "ab",
    "ag",
    "aps",
    "as",
    "asa",
    "bv",
    "co",
    "company",
    "corp",
    "corporation",
    "doo",
    "gk",
    "gmbh",
    "inc",
    "incorporated",
    "kft",
    "kg",
    "kk",
    "limited",
    "llc",
    "llp",
    "lp",
    "ltd",
    "nv",
    "ou",
    "oy",
    "oyj",
    "oü",
    "pbc",
    "plc",
    "private",
    "pte",
    "pty",
    "pvt",
    "rl",
    "sa",
    "sarl",
    "sas",
    "sasu",
    "se",
    "sia",
    "sl",
    "slu",
    "spa",
    "srl",
    "sà",
    "sàrl",
    "uab",
    "ulc",
    "zrt",
    "&",
];

/// Countries and what large providers call their companies there: left out of names that are known.
const PLACES: &[&str] = &[
    "africa",
    "america",
    "americas",
    "apac",
    "arabia",
    "argentina",
    "asia",
    "australia",
    "austria",
    "belgium",
    "brasil",
    "brazil",
    "canada",
    "chile",
    "china",
    "colombia",
    "denmark",
    "deutschland",
    "east",
    "emea",
    "emirates",
    "espana",
    "españa",
    "eu",
    "europe",
    "finland",
    "france",
    "germany",
    "global",
    "hong",
    "iberica",
    "india",
    "indonesia",
    "international",
    "ireland",
    "israel",
    "italia",
    "italy",
    "japan",
    "kingdom",
    "kong",
    "korea",
    "latin",
    "luxembourg",
    "malaysia",
    "mexico",
    "middle",
    "méxico",
    "nederland",
    "netherlands",
    "new",
    "north",
    "norway",
    "operations",
    "pacific",
    "philippines",
    "poland",
    "portugal",
    "regional",
    "sales",
    "saudi",
    "schweiz",
    "services",
    "singapore",
    "south",
    "spain",
    "states",
    "sweden",
    "switzerland",
    "taiwan",
    "thailand",
    "turkey",
    "uk",
    "united",
    "us",
    "usa",
    "vietnam",
    "zealand",
];

/// Words that are written in capitals.
const CAPITALS: &[&str] = &[
    "ai", "api", "dgx", "gpu", "gpus", "hpc", "hpe", "ibm", "it", "llm", "ml", "ntt", "nvidia", "ovh", "sk",
    "uk", "usa",
];

/// One name per provider: what FOCUS calls the large ones, and how the others write themselves.
///
/// `Coreweave`, `CoreWeave, Inc.` and `coreweave ` are one; so are `Microsoft Ireland Operations Limited` and `Azure`. A
/// name that is not known is one whatever its case, blanks and form of company, and is written the same whichever file came
/// first: each word with a capital, `…cloud` as `…Cloud`, abbreviations of the trade in capitals.
pub fn canonical_provider(name: &str) -> Cow<'static, str> {
    let mut words: Vec<&str> = name.split_whitespace().collect();
    strip(&mut words, LEGAL);
    let mut known = words.as_slice();
    loop {
        if let Some(name) = find(known) {
            return Cow::Borrowed(name);
        }
        match known {
            [before @ .., last] if !before.is_empty() && is_one_of(last, PLACES) => known = before,
            // `Oracle Deutschland B.V. & Co. KG`, `Microsoft Corporation (India) Pvt Ltd`.
            [before @ .., last] if !before.is_empty() && is_one_of(last, LEGAL) => known = before,
            _ => break,
        }
    }
    let written = words.iter().map(|word| written(word)).collect::<Vec<_>>().join(" ");
    Cow::Owned(written.trim_end_matches([',', ' ']).to_owned())
}

/// Leaves out the last words of a list, but never the first.
fn strip(words: &mut Vec<&str>, list: &[&str]) {
    while words.len() > 1 && words.last().is_some_and(|word| is_one_of(word, list)) {
        words.pop();
    }
}

fn is_one_of(word: &str, list: &[&str]) -> bool {
    let word: String =
        word.chars().filter(|c| !matches!(c, '.' | ',' | '(' | ')')).flat_map(char::to_lowercase).collect();
    // A comma that stands alone is no word.
    word.is_empty() || list.contains(&word.as_str())
}

fn find(words: &[&str]) -> Option<&'static str> {
    let letters: String = words
        .iter()
        .flat_map(|word| word.chars())
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    NAMES.iter().find(|(_, others)| others.contains(&letters.as_str())).map(|(name, _)| *name)
}

/// A word of a name that is not known.
fn written(word: &str) -> String {
    let small = word.to_lowercase();
    let bare = small.trim_matches(|c: char| !c.is_alphanumeric());
    if CAPITALS.contains(&bare) {
        return small.to_uppercase();
    }
    let at = small.find(char::is_alphanumeric).unwrap_or(0);
    let (before, rest) = small.split_at(at);
    let mut letters = rest.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let word = format!("{before}{first}{}", letters.as_str());
    match word.strip_suffix("cloud") {
        Some(before) => format!("{before}Cloud"),
        None => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_provider_is_one() {
        for (canonical, names) in [
            (
                "AWS",
                &[
                    "AWS",
                    "aws",
                    "Amazon",
                    "Amazon Web Services, Inc.",
                    "AMAZON  WEB SERVICES",
                    "Amazon Web Services EMEA SARL",
                    "Amazon Web Services Canada, Inc.",
                    "Amazon Web Services India Private Limited",
                    "Amazon.com, Inc.",
                ][..],
            ),
            (
                "Microsoft",
                &[
                    "Azure",
                    " Microsoft ",
                    "microsoft corporation",
                    "Microsoft Ireland Operations Limited",
                    "Microsoft Corporation (India) Pvt Ltd",
                    "Microsoft Regional Sales Pte. Ltd.",
                ],
            ),
            (
                "Google Cloud",
                &[
                    "GCP",
                    "Google Cloud Platform",
                    "google",
                    "Google LLC",
                    "Google Cloud EMEA Limited",
                    "Google Cloud Canada Corporation",
                    "Google Asia Pacific Pte. Ltd.",
                ],
            ),
            (
                "Oracle",
                &["OCI", "Oracle America, Inc.", "Oracle Deutschland B.V. & Co. KG", "oracle corporation"],
            ),
            (
                "CoreWeave",
                &["CoreWeave", "Coreweave", "COREWEAVE", "CoreWeave, Inc.", "core weave", "CoreWeave UK Ltd"],
            ),
            ("Lambda", &["Lambda", "Lambda Labs", "Lambda Labs, Inc.", "lambdalabs", "Lambda, Inc."]),
            ("Nebius", &["Nebius", "Nebius B.V.", "NEBIUS AI", "Nebius Group N.V."]),
            ("DigitalOcean", &["DigitalOcean", "Digital Ocean", "DigitalOcean, LLC", "digitalocean"]),
            ("Paperspace", &["Paperspace", "Paperspace Co.", "PAPERSPACE"]),
            ("RunPod", &["RunPod", "Runpod, Inc.", "runpod.io"]),
            ("Vast.ai", &["Vast.ai", "vast.ai Inc", "VastAI"]),
            ("Vultr", &["Vultr", "The Constant Company, LLC"]),
            ("Verda", &["DataCrunch Oy", "Verda"]),
            ("On-premises", &["On-premises", "on premises", "On-Premises"]),
            // Known to nobody: one whatever the order they come in.
            ("NeoCloud", &["NeoCloud", "Neocloud", "NEOCLOUD", "neocloud GmbH"]),
            ("Acme AI", &["Acme AI", "acme ai", "ACME AI, Inc.", "Acme  AI"]),
            ("Nordlicht Cloud", &["Nordlicht Cloud", "NORDLICHT CLOUD", "Nordlicht Cloud GmbH & Co. KG"]),
            ("Ärzte Rechenzentrum", &["Ärzte Rechenzentrum", "ÄRZTE RECHENZENTRUM AG"]),
            ("Gpuhouse.io", &["GPUhouse.io", "gpuhouse.io Ltd."]),
            ("Foo", &["Foo", "Foo , Inc", "Foo, Inc.", "foo ,", "Foo , , Ltd"]),
        ] {
            for name in names {
                assert_eq!(canonical_provider(name), canonical, "{name}");
            }
        }
    }

    #[test]
    fn companies_of_one_name_beside_clouds_stay_themselves() {
        for (name, expected) in [
            ("Microsoft Advertising", "Microsoft Advertising"),
            ("Google Workspace", "Google Workspace"),
            ("Oracle NetSuite", "Oracle Netsuite"),
            ("Inc", "Inc"),
            ("Co", "Co"),
            ("", ""),
        ] {
            assert_eq!(canonical_provider(name), expected, "{name}");
        }
    }

    #[test]
    fn a_canonical_name_is_its_own() {
        for (name, others) in NAMES {
            assert_eq!(canonical_provider(name), *name);
            for other in *others {
                assert_eq!(canonical_provider(other), *name, "{other}");
            }
        }
        for name in ["NeoCloud", "Acme AI", "B"] {
            assert_eq!(canonical_provider(&canonical_provider(name)), canonical_provider(name));
        }
    }
}
