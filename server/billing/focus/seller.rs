//! Who a row's billing account is with: whose bill it stands on.
//!
//! FOCUS 1.3 calls the seller of a marketplace `ServiceProviderName`, while the cloud whose marketplace it is issues the
//! invoice (*Entity Identification*, scenarios 3.1 to 3.4). The account is the cloud's then, and so are the row's scope and
//! month: a CUR states the same charge under AWS. Where a seller hands out a bill of its own, the account is the seller's,
//! so that the issuer decides only where the account's id is one that this cloud gives out.

use super::At;
use crate::billing::charge::MAX_ID;
use crate::billing::header::Header;
use crate::billing::provider_name::canonical_provider;
use crate::billing::row::{Problem, Row};
use crate::billing::{Mandatory, aws};

/// Columns that name the seller, those of later versions first; then, behind so many, whoever made it or asks for the money.
pub(super) const PROVIDERS: &[&str] = &[
    "serviceprovidername",
    "providername",
    "provider",
    "publishername",
    "publisher",
    "invoiceissuername",
    "invoiceissuer",
];

const SELLERS: usize = 3;

pub(super) const MANDATORY: Mandatory =
    Mandatory { name: "ProviderName or ServiceProviderName", keys: PROVIDERS };

pub(super) const MICROSOFT: &str = "Microsoft";
pub(super) const GOOGLE: &str = "Google Cloud";

const OVER_A_MARKETPLACE: &str =
    "sold over the marketplace of the cloud that issues the invoice: it stands on that cloud's account";
const UNNAMED: &str = "no ProviderName beside an Azure billing profile: it is Microsoft";

/// Those of the columns that name the seller.
pub(super) fn sellers(header: &Header) -> Vec<usize> {
    PROVIDERS[..SELLERS].iter().filter_map(|key| header.find(key)).collect()
}

/// Canonical names of the last seller and the last issuer of an invoice: most files hold one.
#[derive(Default)]
pub(super) struct Sellers {
    seller: Name,
    issuer: Name,
}

/// A canonical name, and the cell it follows from.
#[derive(Default)]
struct Name {
    cell: Vec<u8>,
    text: String,
    canonical: String,
}

/// Whom the account is with, and what is odd about how the row says so.
pub(super) struct Seller<'s> {
    pub name: &'s str,
    pub remark: Option<&'static str>,
}

impl Sellers {
    /// Of a row.
    pub fn read(&mut self, at: &At, row: &Row<'_>) -> Result<Seller<'_>, Problem> {
        let stated = at.providers.iter().copied().find(|column| !row.is_null(Some(*column)));
        let names_a_seller = stated.is_some_and(|column| at.sellers.contains(&column));
        if !names_a_seller && at.billing_profile.is_some() && !row.is_null(at.billing_profile) {
            return Ok(Seller { name: MICROSOFT, remark: Some(UNNAMED) });
        }
        let Some(column) = stated else {
            return Err(row.problem(at.providers.first().copied(), "the name of a provider"));
        };
        let Self { seller, issuer } = self;
        seller.read(row, column)?;
        let is_service_provider = at.service_provider == Some(column);
        if let Some(invoice) = at.issuer
            && is_service_provider
            && !row.is_null(Some(invoice))
        {
            issuer.read(row, invoice)?;
            if issuer.canonical != seller.canonical && gives_out(&issuer.canonical, row.word(at.account)) {
                return Ok(Seller { name: &issuer.canonical, remark: Some(OVER_A_MARKETPLACE) });
            }
        }
        Ok(Seller { name: &seller.canonical, remark: None })
    }
}

impl Name {
    fn read(&mut self, row: &Row<'_>, column: usize) -> Result<(), Problem> {
        let cell = row.word(Some(column));
        if cell == self.cell.as_slice() && !self.canonical.is_empty() {
            return Ok(());
        }
        self.text.clear();
        row.text(Some(column), &mut self.text)?;
        if self.text.len() > MAX_ID {
            return Err(row.problem(Some(column), "a name of at most 1000 bytes"));
        }
        self.canonical = canonical_provider(&self.text).into_owned();
        self.cell.clear();
        self.cell.extend_from_slice(cell);
        Ok(())
    }
}

/// Whether a billing account's id has a form that only this cloud's have.
fn gives_out(cloud: &str, account: &[u8]) -> bool {
    let account = account.trim_ascii().to_ascii_lowercase();
    match cloud {
        aws::PROVIDER => account.len() == 12 && account.iter().all(u8::is_ascii_digit),
        MICROSOFT => account.starts_with(b"/providers/microsoft.billing/billingaccounts/"),
        GOOGLE => {
            let id = account.strip_prefix(b"billingaccounts/").unwrap_or(&account);
            id.len() == 20 && id.split(|byte| *byte == b'-').all(is_google_group)
        }
        _ => false,
    }
}

/// `01AB23` of `01AB23-4567CD-89EF01`.
fn is_google_group(group: &[u8]) -> bool {
    group.len() == 6 && group.iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_known_by_the_form_of_its_id() {
        for (cloud, account, gives) in [
            ("AWS", "012345678901", true),
            ("AWS", "51738928782", false),
            ("AWS", "acct-1", false),
            ("Microsoft", "/providers/Microsoft.Billing/billingAccounts/8611537", true),
            ("Microsoft", "8611537", false),
            ("Google Cloud", "01AB23-4567CD-89EF01", true),
            ("Google Cloud", "billingAccounts/01AB23-4567CD-89EF01", true),
            ("Google Cloud", "01AB23-4567CD-89EF0G", false),
            ("Databricks", "012345678901", false),
        ] {
            assert_eq!(gives_out(cloud, account.as_bytes()), gives, "{cloud} {account}");
        }
    }
}
