//! One name per provider and one form per account, whoever writes it: a scope must be the same whether
//! a CUR or a FOCUS export states it.

/// One name per provider: FOCUS ProviderName values, and those that AWS, Microsoft, Google and Oracle use
/// elsewhere. Unknown names keep their spelling.
pub fn canonical_provider(name: &str) -> &str {
    const NAMES: &[(&str, &[&str])] = &[
        ("AWS", &["aws", "amazon", "amazon web services", "amazon web services, inc.", "amazon.com"]),
        ("Microsoft", &["microsoft", "azure", "microsoft azure", "microsoft corporation"]),
        ("Google Cloud", &["google cloud", "google", "gcp", "google cloud platform", "google llc"]),
        ("Oracle", &["oracle", "oci", "oracle cloud", "oracle cloud infrastructure", "oracle corporation"]),
    ];
    let name = name.trim();
    NAMES
        .iter()
        .find(|(_, others)| others.iter().any(|other| other.eq_ignore_ascii_case(name)))
        .map_or(name, |(canonical, _)| canonical)
}

/// Appends the form of an account id that every format of `provider` agrees on. `provider` is canonical.
///
/// - AWS: twelve digits; zeros that a spreadsheet dropped are put back, longer ids stay as they are.
/// - Microsoft: the enrolment or billing account out of its resource path
///   (`/providers/Microsoft.Billing/billingAccounts/8611537` is `8611537`), the subscription out of its
///   (`/subscriptions/…`), in lower case.
/// - Google Cloud: without `billingAccounts/`, in upper case.
/// - Everyone else: as written.
pub fn canonical_account(provider: &str, account: &str, out: &mut String) {
    let account = account.trim();
    match provider {
        "AWS" => {
            let is_short = !account.is_empty() && account.bytes().all(|b| b.is_ascii_digit());
            for _ in account.len()..if is_short { AWS_DIGITS } else { 0 } {
                out.push('0');
            }
            out.push_str(account);
        }
        "Microsoft" => {
            let id = segment_after(account, "billingaccounts")
                .or_else(|| segment_after(account, "subscriptions"))
                .unwrap_or(account);
            out.extend(id.chars().map(|c| c.to_ascii_lowercase()));
        }
        "Google Cloud" => match strip_prefix_ignoring_case(account, "billingaccounts/") {
            Some(id) => out.extend(id.chars().map(|c| c.to_ascii_uppercase())),
            None => out.push_str(account),
        },
        _ => out.push_str(account),
    }
}

const AWS_DIGITS: usize = 12;

/// The part of a resource path that follows the part called `name`.
fn segment_after<'a>(path: &'a str, name: &str) -> Option<&'a str> {
    let mut parts = path.split('/');
    parts.by_ref().find(|part| part.eq_ignore_ascii_case(name))?;
    parts.next().filter(|id| !id.is_empty())
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(provider: &str, text: &str) -> String {
        let mut out = String::new();
        canonical_account(canonical_provider(provider), text, &mut out);
        out
    }

    /// Each line: what one account is called by every format of its provider.
    #[test]
    fn every_format_of_a_provider_states_the_same_account() {
        for (provider, canonical, spellings) in [
            ("AWS", "012345678901", &["012345678901", "12345678901", " 012345678901 "][..]),
            ("Amazon Web Services", "9999999999999", &["9999999999999"]),
            ("aws", "0099999999999", &["0099999999999"]),
            ("Azure", "8611537", &["8611537", "/providers/Microsoft.Billing/billingAccounts/8611537"]),
            (
                "Microsoft",
                "5b1e-aa:91f0_2019-05-31",
                &[
                    "5B1E-AA:91F0_2019-05-31",
                    "/providers/Microsoft.Billing/billingAccounts/5b1e-aa:91f0_2019-05-31",
                    "/providers/Microsoft.Billing/billingAccounts/5b1e-aa:91f0_2019-05-31/billingProfiles/AB-12",
                ],
            ),
            ("Microsoft", "0f39-77", &["0F39-77", "/subscriptions/0f39-77"]),
            ("GCP", "01AB-CDEF", &["01AB-CDEF", "billingAccounts/01AB-CDEF"]),
            ("Oracle", "ocid1.tenancy.oc1..aaaa", &["ocid1.tenancy.oc1..aaaa"]),
            ("Acme", "a1", &["a1"]),
        ] {
            for spelling in spellings {
                assert_eq!(account(provider, spelling), canonical, "{provider} {spelling}");
            }
        }
    }

    #[test]
    fn every_name_of_a_provider_is_one() {
        for (canonical, names) in [
            ("AWS", &["AWS", "aws", "Amazon Web Services, Inc."][..]),
            ("Microsoft", &["Azure", " Microsoft "]),
            ("Google Cloud", &["GCP", "Google Cloud Platform"]),
            ("Oracle", &["OCI"]),
            ("Lambda", &["Lambda"]),
        ] {
            for name in names {
                assert_eq!(canonical_provider(name), canonical, "{name}");
            }
        }
    }
}
