//! One form per account, whoever writes it: a scope must be the same whether a CUR or a FOCUS export states it. Names of
//! providers are in [`super::provider_name`].

/// The billing account of exports that name none: their providers know one account a login.
pub(super) const UNNAMED_ACCOUNT: &str = "default";

/// Appends the form of a billing account's id that every format of `provider` agrees on. `provider` is canonical.
///
/// - AWS: twelve digits; zeros that a spreadsheet dropped are put back, hyphens and blanks between digits
///   (`0123-4567-8901`) are left out, longer ids stay as they are.
/// - Microsoft: the enrollment or billing account out of its resource path
///   (`/providers/Microsoft.Billing/billingAccounts/8611537` is `8611537`), in lower case. A Microsoft Customer Agreement
///   invoices each *billing profile* by itself, so there the account is `account/profile`: out of the path that ends in
///   `/billingProfiles/AB12-CDEF-GHI-JKL`, which is the `BillingAccountId` of its FOCUS export, or of the two columns
///   `BillingAccountId` and `BillingProfileId` of cost and usage details (each an id or a path). An enrollment states its own
///   number or path as profile, too, and has none.
/// - Google Cloud: without `billingAccounts/`, in upper case.
/// - Oracle: OCIDs in lower case.
/// - Everyone else: as written; a UUID in lower case, for its letters are digits.
///
/// `profile` is empty where the format has no column of its own for it.
///
/// # Errors
/// What was expected, where the text is what a spreadsheet made of an id: digits are lost in `1.23457E+11`.
pub fn canonical_account(
    provider: &str,
    account: &str,
    profile: &str,
    out: &mut String,
) -> Result<(), &'static str> {
    let account = account.trim();
    check(provider, account)?;
    match provider {
        "AWS" => aws(account, out),
        "Microsoft" => {
            let id = segment_after(account, "billingaccounts")
                .or_else(|| segment_after(account, "subscriptions"))
                .unwrap_or(account);
            lower(id, out);
            let profile = profile.trim();
            let profile = segment_after(account, "billingprofiles")
                .or_else(|| segment_after(profile, "billingprofiles"))
                .or_else(|| segment_after(profile, "billingaccounts"))
                .unwrap_or(profile);
            if !profile.is_empty() && !profile.eq_ignore_ascii_case(id) {
                out.push(OF_PROFILE);
                lower(profile, out);
            }
        }
        "Google Cloud" => {
            let id = strip_prefix_ignoring_case(account, "billingaccounts/").unwrap_or(account);
            if id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') {
                out.extend(id.chars().map(|c| c.to_ascii_uppercase()));
            } else {
                out.push_str(id);
            }
        }
        _ => other(provider, account, out),
    }
    Ok(())
}

/// Appends the form of a sub account's id that every format of `provider` agrees on: an AWS account, an Azure
/// subscription (out of `/subscriptions/…`, in lower case), a Google project (without `projects/`), and whatever others
/// have. `provider` is canonical.
///
/// # Errors
/// As [`canonical_account`].
pub fn canonical_sub_account(provider: &str, id: &str, out: &mut String) -> Result<(), &'static str> {
    let id = id.trim();
    if id.is_empty() {
        return Ok(());
    }
    check(provider, id)?;
    match provider {
        "AWS" => aws(id, out),
        "Microsoft" => lower(segment_after(id, "subscriptions").unwrap_or(id), out),
        "Google Cloud" => lower(strip_prefix_ignoring_case(id, "projects/").unwrap_or(id), out),
        _ => other(provider, id, out),
    }
    Ok(())
}

/// The billing account of a canonical one that is one of its billing profiles; itself where it is none.
pub fn without_profile<'a>(provider: &str, account: &'a str) -> &'a str {
    match account.split_once(OF_PROFILE) {
        Some((whole, _)) if provider == "Microsoft" => whole,
        _ => account,
    }
}

const AWS_DIGITS: usize = 12;
/// Between Microsoft's billing account and its profile.
const OF_PROFILE: char = '/';

const AN_AWS_ACCOUNT: &str = "an account id of twelve digits; a spreadsheet may have shortened it";
const AN_ACCOUNT: &str = "the account id with all of its digits: a spreadsheet shortened it; export the file again, or set the \
                          column to Text before saving";

/// Refuses what is no id: what AWS' are not made of, and numbers that a spreadsheet rounded.
fn check(provider: &str, id: &str) -> Result<(), &'static str> {
    let is_aws = provider == "AWS";
    if is_aws && is_whole_aws(id) {
        return Ok(());
    }
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b' ');
    if is_aws && (id.is_empty() || !id.bytes().all(fits)) {
        return Err(AN_AWS_ACCOUNT);
    }
    if is_rounded(id) {
        return Err(if is_aws { AN_AWS_ACCOUNT } else { AN_ACCOUNT });
    }
    Ok(())
}

/// `1.23457E+11`, `1,23457E+11`, `8611537.0`.
fn is_rounded(id: &str) -> bool {
    let Some(end) = id.find(|c: char| !c.is_ascii_digit()) else { return false };
    if end == 0 {
        return false;
    }
    let rest = &id[end..];
    let decimals = rest.strip_prefix(['.', ',']).unwrap_or(rest);
    let after = decimals.trim_start_matches(|c: char| c.is_ascii_digit());
    let exponent = after.strip_prefix("E+").or_else(|| after.strip_prefix("e+"));
    let is_scientific =
        exponent.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
    let zeros = rest.strip_prefix(['.', ',']);
    let is_decimal = zeros.is_some_and(|zeros| !zeros.is_empty() && zeros.bytes().all(|b| b == b'0'));
    is_scientific || is_decimal
}

/// Twelve digits, as nearly every row has them: nothing is to be made of them.
fn is_whole_aws(id: &str) -> bool {
    id.len() == AWS_DIGITS && id.bytes().all(|byte| byte.is_ascii_digit())
}

fn aws(id: &str, out: &mut String) {
    if is_whole_aws(id) {
        return out.push_str(id);
    }
    let digits = id.bytes().filter(u8::is_ascii_digit).count();
    let is_number = digits > 0 && id.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b' '));
    if !is_number || (digits == id.len() && digits >= AWS_DIGITS) {
        out.push_str(id);
        return;
    }
    for _ in digits..AWS_DIGITS {
        out.push('0');
    }
    out.extend(id.chars().filter(char::is_ascii_digit));
}

fn other(provider: &str, id: &str, out: &mut String) {
    let is_ocid = provider == "Oracle" && strip_prefix_ignoring_case(id, "ocid1.").is_some();
    if is_ocid || is_uuid(id) { lower(id, out) } else { out.push_str(id) }
}

fn is_uuid(id: &str) -> bool {
    id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn lower(text: &str, out: &mut String) {
    out.extend(text.chars().map(|c| c.to_ascii_lowercase()));
}

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
    use super::super::canonical_provider;
    use super::*;

    fn account(provider: &str, text: &str) -> String {
        of_profile(provider, text, "")
    }

    fn of_profile(provider: &str, text: &str, profile: &str) -> String {
        let mut out = String::new();
        canonical_account(&canonical_provider(provider), text, profile, &mut out).unwrap();
        out
    }

    /// Each line: what one account is called by every format of its provider.
    #[test]
    fn every_format_of_a_provider_states_the_same_account() {
        for (provider, canonical, spellings) in [
            (
                "AWS",
                "012345678901",
                &["012345678901", "12345678901", " 012345678901 ", "0123-4567-8901", "0123 4567 8901"][..],
            ),
            ("Amazon Web Services", "9999999999999", &["9999999999999"]),
            ("aws", "0099999999999", &["0099999999999"]),
            ("Azure", "8611537", &["8611537", "/providers/Microsoft.Billing/billingAccounts/8611537"]),
            (
                "Microsoft",
                "5b1e-aa:91f0_2019-05-31",
                &[
                    "5B1E-AA:91F0_2019-05-31",
                    "/providers/Microsoft.Billing/billingAccounts/5b1e-aa:91f0_2019-05-31",
                ],
            ),
            (
                "Microsoft",
                "5b1e-aa:91f0_2019-05-31/ab12-cdef-ghi-jkl",
                &[
                    "/providers/Microsoft.Billing/billingAccounts/5b1e-aa:91f0_2019-05-31/billingProfiles/AB12-CDEF-GHI-JKL",
                    "/providers/microsoft.billing/billingaccounts/5B1E-AA:91F0_2019-05-31/billingprofiles/ab12-cdef-ghi-jkl/invoiceSections/XY",
                ],
            ),
            ("Microsoft", "0f39-77", &["0F39-77", "/subscriptions/0f39-77"]),
            (
                "GCP",
                "01AB-CDEF",
                &["01AB-CDEF", "01ab-cdef", "billingAccounts/01AB-CDEF", "billingaccounts/01ab-cdef"],
            ),
            ("Google", "Reseller 7", &["Reseller 7"]),
            ("Oracle", "ocid1.tenancy.oc1..aaaa", &["ocid1.tenancy.oc1..aaaa", "OCID1.TENANCY.OC1..AAAA"]),
            ("Fireworks AI", "ml@example.com", &["ml@example.com", " ml@example.com "]),
            ("Acme", "a1", &["a1"]),
            ("Acme", "A1", &["A1"]),
            (
                "Acme",
                "0f8fad5b-d9cb-469f-a165-70867728950e",
                &["0F8FAD5B-D9CB-469F-A165-70867728950E", "0f8fad5b-d9cb-469f-a165-70867728950e"],
            ),
        ] {
            for spelling in spellings {
                assert_eq!(account(provider, spelling), canonical, "{provider} {spelling}");
            }
        }
    }

    #[test]
    fn two_columns_of_azure_state_the_account_that_one_path_states() {
        let account = "5b1e-aa:91f0_2019-05-31";
        let path = "/providers/Microsoft.Billing/billingAccounts/5b1e-aa:91f0_2019-05-31";
        let in_path = format!("{path}/billingProfiles/AB12-CDEF-GHI-JKL");
        for (billing_account, profile) in [
            (in_path.as_str(), ""),
            (in_path.as_str(), "AB12-CDEF-GHI-JKL"),
            (account, "ab12-cdef-ghi-jkl"),
            (path, "AB12-CDEF-GHI-JKL"),
            (account, in_path.as_str()),
        ] {
            let found = of_profile("Microsoft", billing_account, profile);
            assert_eq!(found, "5b1e-aa:91f0_2019-05-31/ab12-cdef-ghi-jkl", "{billing_account} {profile}");
        }
        // An enrollment's profile is itself.
        let path = "/providers/Microsoft.Billing/billingAccounts/8611537";
        for profile in ["8611537", path, &format!("{path}/billingProfiles/8611537")] {
            assert_eq!(of_profile("Microsoft", "8611537", profile), "8611537", "{profile}");
            assert_eq!(of_profile("Microsoft", path, profile), "8611537", "{profile}");
        }
        assert_eq!(without_profile("Microsoft", "5b1e_2019/ab12"), "5b1e_2019");
        assert_eq!(without_profile("Microsoft", "8611537"), "8611537");
        assert_eq!(without_profile("Acme", "a/b"), "a/b");
    }

    #[test]
    fn sub_accounts_have_one_form_as_well() {
        for (provider, id, canonical) in [
            ("AWS", "51738928782", "051738928782"),
            ("Microsoft", "/subscriptions/0A1B-22", "0a1b-22"),
            ("Google Cloud", "projects/ml-train", "ml-train"),
            ("Google Cloud", "abc-def", "abc-def"),
            ("Acme", "", ""),
            ("AWS", "", ""),
        ] {
            let mut out = String::new();
            canonical_sub_account(provider, id, &mut out).unwrap();
            assert_eq!(out, canonical, "{provider} {id}");
        }
    }

    #[test]
    fn ids_that_a_spreadsheet_rounded_are_refused() {
        for provider in ["AWS", "Microsoft", "Google Cloud", "Oracle", "Acme"] {
            for id in ["1.23457E+11", "1.23457e+11", "1,23457E+11", "1E+12", "123456789012.0", "8611537.00"] {
                let mut out = String::new();
                let refused = canonical_account(provider, id, "", &mut out);
                assert!(refused.is_err_and(|expected| expected.contains("spreadsheet")), "{provider} {id}");
                assert!(canonical_sub_account(provider, id, &mut out).is_err(), "{provider} {id}");
                assert_eq!(out, "");
            }
        }
        for id in ["12¥acct", "12é", "12.¥", "acct-1", "1e5", "7E11", "12.5.1", "000-00-000", "1.5", "a.0"]
        {
            assert!(!is_rounded(id), "{id}");
        }
    }
}
