//! Who pays, taken out of what is shown to people who may not see it.

/// How the billing account of a charge is written: in the ledger, in its file, and each part of a path.
#[derive(Debug)]
pub struct Payer(Vec<String>);

/// Shorter names stand for anything.
const SHORTEST: usize = 4;
const HIDDEN: &str = "…";

impl Payer {
    /// `sub_account`, which may be seen, is none of its spellings.
    pub fn new<'a>(accounts: impl IntoIterator<Item = &'a str>, sub_account: &str) -> Self {
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
