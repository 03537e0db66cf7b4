//! Who pays, taken out of what is shown to people who may not see it.

use serde_json::Value;

/// How the billing account of a charge is written: in the ledger, in its file, and each part of a path.
#[derive(Debug)]
pub struct Payer(Vec<String>);

/// Shorter names stand for anything.
const SHORTEST: usize = 4;
const HIDDEN: &str = "…";

impl Payer {
    /// Of a charge, also as its file spells it. `None` where the charge has no sub-account, or is of the billing account
    /// itself: then pages name that as its account.
    pub fn of<'a>(
        billing_account: &'a str,
        sub_account: &str,
        spellings: impl IntoIterator<Item = &'a str>,
    ) -> Option<Self> {
        let is_another = [billing_account, sub_account].iter().all(|it| !it.is_empty())
            && !billing_account.eq_ignore_ascii_case(sub_account);
        is_another.then(|| Self::new(spellings.into_iter().chain([billing_account]), sub_account))
    }

    /// `sub_account`, which may be seen, is none of its spellings.
    fn new<'a>(accounts: impl IntoIterator<Item = &'a str>, sub_account: &str) -> Self {
        let mut spellings: Vec<String> = accounts
            .into_iter()
            .flat_map(|account| std::iter::once(account).chain(account.split('/')))
            .filter(|it| it.len() >= SHORTEST && !it.eq_ignore_ascii_case(sub_account) && !is_of_path(it))
            .map(str::to_ascii_lowercase)
            .collect();
        // The whole before its parts.
        spellings.sort_by_key(|it| std::cmp::Reverse(it.len()));
        spellings.dedup();
        Self(spellings)
    }

    /// A text without it, where it stands as a word of its own.
    pub fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, spelling| hide(&text, spelling))
    }

    /// The values of tags without it.
    pub fn hide_in_tags(&self, tags: &mut Value) {
        for value in tags.as_object_mut().into_iter().flatten().map(|(_, value)| value) {
            if let Value::String(text) = value {
                *text = self.hide(text);
            }
        }
    }

    /// Whether a text may be one that [`Self::hide`] has changed.
    pub fn is_hidden_in(text: &str) -> bool {
        text.contains(HIDDEN)
    }
}

/// Names of the parts of an address, which are the same for everybody.
fn is_of_path(text: &str) -> bool {
    ["providers", "microsoft.billing", "billingaccounts", "billingprofiles"]
        .iter()
        .any(|it| text.eq_ignore_ascii_case(it))
}

fn hide(text: &str, spelling: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let (mut shown, mut from, mut end) = (String::with_capacity(text.len()), 0, 0);
    while let Some(at) = lower[from..].find(spelling).map(|at| from + at) {
        let after = at + spelling.len();
        let is_word = !lower[..at].ends_with(char::is_alphanumeric)
            && !lower[after..].starts_with(char::is_alphanumeric);
        if is_word {
            shown.push_str(&text[end..at]);
            shown.push_str(HIDDEN);
            end = after;
        }
        from = after;
    }
    shown.push_str(&text[end..]);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_account_beside_the_charge_s_own_is_hidden() {
        for (billing_account, sub_account, is_hidden) in [
            ("111122223333", "444455556666", true),
            ("111122223333", "", false),
            ("111122223333", "111122223333", false),
            ("Acme", "acme", false),
            ("", "444455556666", false),
        ] {
            let payer = Payer::of(billing_account, sub_account, None);
            assert_eq!(payer.is_some(), is_hidden, "{billing_account}, {sub_account}");
        }
    }

    #[test]
    fn an_account_is_hidden_as_a_word_of_its_own() {
        let azure = "/providers/Microsoft.Billing/billingAccounts/AB12-CD/billingProfiles/XY99-Z";
        for (accounts, text, expected) in [
            (
                &["111122223333"][..],
                "arn:aws:savingsplans::111122223333:plan/1",
                "arn:aws:savingsplans::…:plan/1",
            ),
            (&["111122223333"], "cur-111122223333-09.csv", "cur-…-09.csv"),
            (&["111122223333"], "9111122223333", "9111122223333"),
            (&["a100"], "gpu_8x_a1001, A100", "gpu_8x_a1001, …"),
            (&["1"], "12.50, 1", "12.50, 1"),
            (&["acme"], "acme-prod", "acme-prod"),
            (
                &["ab12-cd/xy99-z", azure],
                "of /providers/Microsoft.Billing/billingAccounts/AB12-CD/billingProfiles/XY99-Z/x",
                "of …/x",
            ),
            (&["ab12-cd/xy99-z", azure], "plan of AB12-CD, xy99-z", "plan of …, …"),
            (&["ünder"], "Über ünder ünderling", "Über … ünderling"),
        ] {
            let sub_account = if text == "acme-prod" { "acme" } else { "sub" };
            let payer = Payer::new(accounts.iter().copied(), sub_account);
            assert_eq!(payer.hide(text), expected, "{accounts:?}");
        }
    }
}
