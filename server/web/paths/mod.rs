//! Every URL. Routes are built from these, and links are printed with them.

mod allocation;
mod changes;
mod clusters;
mod prices;
mod scenarios;

pub use allocation::*;
pub use changes::*;
pub use clusters::*;
pub use prices::*;
pub use scenarios::*;

use super::format::{File, PAGE};
use std::fmt;

use axum_extra::routing::TypedPath;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Error;
use crate::period::Period;
use crate::report::ChangesBy;

/// A path with its question: `/sign-in?next=%2Faccount`.
pub fn with_query(path: impl TypedPath, query: &impl Serialize) -> String {
    path.with_query_params(query).to_string().replacen("?&", "?", 1)
}

/// A text of people as the last part of an address. One that ends as a file does, or that reads as a way to somewhere else,
/// gets a suffix that says that it is a page: `/experiments/run.json.html`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Named(pub String);

impl From<String> for Named {
    fn from(text: String) -> Self {
        Self(text.strip_suffix(PAGE).map(str::to_owned).unwrap_or(text))
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text) = self;
        let is_other = [".", "..", "compare"].contains(&text.as_str());
        let has_suffix = text.ends_with(PAGE) || File::ends(text);
        write!(f, "{text}{}", if is_other || has_suffix { PAGE } else { "" })
    }
}

#[derive(TypedPath)]
#[typed_path("/", rejection(Error))]
pub struct Home;

#[derive(TypedPath)]
#[typed_path("/overview", rejection(Error))]
pub struct Overview;

#[derive(TypedPath)]
#[typed_path("/sign-in", rejection(Error))]
pub struct SignIn;

#[derive(TypedPath)]
#[typed_path("/sign-out", rejection(Error))]
pub struct SignOut;

#[derive(TypedPath, Deserialize)]
#[typed_path("/setup/{token}", rejection(Error))]
pub struct Setup {
    pub token: String,
}

#[derive(TypedPath)]
#[typed_path("/account", rejection(Error))]
pub struct Account;

#[derive(TypedPath)]
#[typed_path("/account/password", rejection(Error))]
pub struct AccountPassword;

#[derive(TypedPath)]
#[typed_path("/account/appearance", rejection(Error))]
pub struct AccountAppearance;

#[derive(TypedPath)]
#[typed_path("/account/sessions/end-others", rejection(Error))]
pub struct AccountOtherSessions;

#[derive(TypedPath, Deserialize)]
#[typed_path("/account/sessions/{session}/end", rejection(Error))]
pub struct AccountSession {
    pub session: i64,
}

#[derive(TypedPath)]
#[typed_path("/account/tokens", rejection(Error))]
pub struct AccountTokens;

#[derive(TypedPath, Deserialize)]
#[typed_path("/account/tokens/{token}/revoke", rejection(Error))]
pub struct AccountToken {
    pub token: i64,
}

/// Where someone with a link chooses a password.
#[derive(TypedPath, Deserialize)]
#[typed_path("/password/{token}", rejection(Error))]
pub struct PasswordLink {
    pub token: String,
}

#[derive(TypedPath)]
#[typed_path("/access", rejection(Error))]
pub struct WhoMay;

#[derive(TypedPath)]
#[typed_path("/glossary", rejection(Error))]
pub struct Glossary;

#[derive(TypedPath)]
#[typed_path("/people", rejection(Error))]
pub struct People;

#[derive(Clone, Copy, TypedPath, Deserialize)]
#[typed_path("/people/{person}", rejection(Error))]
pub struct Person {
    pub person: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/people/{person}/disable", rejection(Error))]
pub struct PersonDisable {
    pub person: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/people/{person}/enable", rejection(Error))]
pub struct PersonEnable {
    pub person: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/people/{person}/sign-out", rejection(Error))]
pub struct PersonSignOut {
    pub person: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/people/{person}/link", rejection(Error))]
pub struct PersonLink {
    pub person: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/people/{person}/tokens/{token}/revoke", rejection(Error))]
pub struct PersonToken {
    pub person: i64,
    pub token: i64,
}

#[derive(TypedPath)]
#[typed_path("/audit", rejection(Error))]
pub struct Audit;

#[derive(TypedPath)]
#[typed_path("/imports", rejection(Error))]
pub struct Imports;

/// What was submitted together.
#[derive(Clone, Copy, TypedPath, Deserialize)]
#[typed_path("/imports/batches/{batch}", rejection(Error))]
pub struct Batch {
    pub batch: Uuid,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/imports/batches/{batch}/cancel", rejection(Error))]
pub struct BatchCancel {
    pub batch: Uuid,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/imports/batches/{batch}/retry", rejection(Error))]
pub struct BatchRetry {
    pub batch: Uuid,
}

#[derive(Clone, Copy, TypedPath, Deserialize)]
#[typed_path("/imports/{delivery}", rejection(Error))]
pub struct Delivery {
    pub delivery: i64,
}

/// What a delivery changed, by account, service or key.
#[derive(Clone, Copy, TypedPath, Deserialize)]
#[typed_path("/imports/{delivery}/changes/{by}", rejection(Error))]
pub struct DeliveryChanges {
    pub delivery: i64,
    pub by: ChangesBy,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/imports/{delivery}/rejections", rejection(Error))]
pub struct DeliveryRejections {
    pub delivery: i64,
}

/// Where files of an archived import are uploaded again.
#[derive(TypedPath, Deserialize)]
#[typed_path("/imports/{delivery}/files", rejection(Error))]
pub struct DeliveryFiles {
    pub delivery: i64,
}

/// The rejected rows of a file as the file has them, to be corrected.
#[derive(TypedPath, Deserialize)]
#[typed_path("/imports/{delivery}/files/{file}/rejected", rejection(Error))]
pub struct DeliveryFileRejected {
    pub delivery: i64,
    pub file: i16,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/imports/{delivery}/files/{file}", rejection(Error))]
pub struct DeliveryFile {
    pub delivery: i64,
    pub file: i16,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/imports/{delivery}/replace", rejection(Error))]
pub struct DeliveryReplace {
    pub delivery: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/imports/{delivery}/add", rejection(Error))]
pub struct DeliveryAdd {
    pub delivery: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/imports/{delivery}/discard", rejection(Error))]
pub struct DeliveryDiscard {
    pub delivery: i64,
}

/// Why a delivery made its months smaller.
#[derive(TypedPath, Deserialize)]
#[typed_path("/imports/{delivery}/explain", rejection(Error))]
pub struct DeliveryExplain {
    pub delivery: i64,
}

/// How much of what it replaces an import may lack before somebody is asked.
#[derive(TypedPath)]
#[typed_path("/imports/limits", rejection(Error))]
pub struct ImportLimits;

#[derive(TypedPath, Deserialize)]
#[typed_path("/imports/{delivery}/undo", rejection(Error))]
pub struct DeliveryUndo {
    pub delivery: i64,
}

/// Loads the rows of an archived import again.
#[derive(TypedPath, Deserialize)]
#[typed_path("/imports/{delivery}/load-again", rejection(Error))]
pub struct DeliveryLoadAgain {
    pub delivery: i64,
}

/// What takes disk space.
#[derive(TypedPath)]
#[typed_path("/storage", rejection(Error))]
pub struct Storage;

/// Archives what is inactive.
#[derive(TypedPath)]
#[typed_path("/storage/archive", rejection(Error))]
pub struct StorageArchive;

#[derive(TypedPath, Deserialize)]
#[typed_path("/assets/{file}", rejection(Error))]
pub struct Asset {
    pub file: String,
}

#[derive(TypedPath)]
#[typed_path("/healthz", rejection(Error))]
pub struct Health;

/// Why spend changed since the period before.
#[derive(TypedPath, Deserialize)]
#[typed_path("/variance/{period}", rejection(Error))]
pub struct Variance {
    pub period: Period,
}

/// Where a form that names two months leads; without any, the latest month.
#[derive(TypedPath)]
#[typed_path("/spend", rejection(Error))]
pub struct AnyPeriod;

#[derive(TypedPath)]
#[typed_path("/readyz", rejection(Error))]
pub struct Ready;

#[derive(TypedPath)]
#[typed_path("/metrics", rejection(Error))]
pub struct Metrics;

#[derive(TypedPath, Deserialize)]
#[typed_path("/spend/{period}", rejection(Error))]
pub struct Spend {
    pub period: Period,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/charges/{period}", rejection(Error))]
pub struct Charges {
    pub period: Period,
}

/// A charge by the row of the file that it comes from.
#[derive(TypedPath, Deserialize)]
#[typed_path("/charges/{delivery}/{file}/{row}", rejection(Error))]
pub struct Charge {
    pub delivery: i64,
    pub file: i16,
    pub row: i64,
}

/// Where leads find their team and everybody else all of them, in the latest month.
#[derive(TypedPath)]
#[typed_path("/teams", rejection(Error))]
pub struct Teams;

/// Every team's part of a period.
#[derive(TypedPath, Deserialize)]
#[typed_path("/chargeback/{period}", rejection(Error))]
pub struct Chargeback {
    pub period: Period,
}

/// A team; leads to the latest month.
#[derive(TypedPath, Deserialize)]
#[typed_path("/teams/{team}", rejection(Error))]
pub struct AnyTeam {
    pub team: String,
}

#[derive(Clone, TypedPath, Deserialize)]
#[typed_path("/teams/{team}/{period}", rejection(Error))]
pub struct Team {
    pub team: String,
    pub period: Period,
}

/// What a team is charged, on paper.
#[derive(Clone, TypedPath, Deserialize)]
#[typed_path("/teams/{team}/{period}/statement", rejection(Error))]
pub struct Statement {
    pub team: String,
    pub period: Period,
}

/// Leads to the experiments of the latest month.
#[derive(TypedPath)]
#[typed_path("/experiments", rejection(Error))]
pub struct AnyExperiments;

#[derive(TypedPath, Deserialize)]
#[typed_path("/experiments/during/{period}", rejection(Error))]
pub struct Experiments {
    pub period: Period,
}

/// Some experiments side by side.
#[derive(TypedPath)]
#[typed_path("/experiments/compare", rejection(Error))]
pub struct CompareExperiments;

/// An experiment by its label.
#[derive(TypedPath, Deserialize)]
#[typed_path("/experiments/{experiment}", rejection(Error))]
pub struct Experiment {
    pub experiment: Named,
}

/// An experiment's name, team and project.
#[derive(TypedPath, Deserialize)]
#[typed_path("/experiments/{experiment}/change", rejection(Error))]
pub struct ExperimentChange {
    pub experiment: String,
}

/// Makes an experiment another spelling of a second.
#[derive(TypedPath, Deserialize)]
#[typed_path("/experiments/{experiment}/merge", rejection(Error))]
pub struct ExperimentMerge {
    pub experiment: String,
}

/// Where the ledger is compared with invoices; leads to the latest month.
#[derive(TypedPath)]
#[typed_path("/invoices", rejection(Error))]
pub struct AnyInvoices;

#[derive(TypedPath, Deserialize)]
#[typed_path("/invoices/{period}", rejection(Error))]
pub struct Invoices {
    pub period: Period,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/invoices/{period}/remove", rejection(Error))]
pub struct InvoiceRemove {
    pub period: Period,
}

#[derive(TypedPath)]
#[typed_path("/rates", rejection(Error))]
pub struct Rates;

#[derive(TypedPath)]
#[typed_path("/rates/file", rejection(Error))]
pub struct RatesFile;

#[derive(TypedPath)]
#[typed_path("/rates/remove", rejection(Error))]
pub struct RatesRemove;

#[derive(TypedPath)]
#[typed_path("/rates/reporting-currency", rejection(Error))]
pub struct ReportingCurrency;

/// What is unallocated; leads to the latest month.
#[derive(TypedPath)]
#[typed_path("/unallocated", rejection(Error))]
pub struct AnyUnallocated;

#[derive(TypedPath, Deserialize)]
#[typed_path("/unallocated/{period}", rejection(Error))]
pub struct Unallocated {
    pub period: Period,
}

#[derive(TypedPath)]
#[typed_path("/budgets", rejection(Error))]
pub struct Budgets;

#[derive(TypedPath, Deserialize)]
#[typed_path("/budgets/{budget}", rejection(Error))]
pub struct Budget {
    pub budget: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/budgets/{budget}/end", rejection(Error))]
pub struct BudgetEnd {
    pub budget: i64,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/budgets/{budget}/remove", rejection(Error))]
pub struct BudgetRemove {
    pub budget: i64,
}

#[derive(TypedPath)]
#[typed_path("/quantities", rejection(Error))]
pub struct Quantities;

#[derive(TypedPath)]
#[typed_path("/quantities/file", rejection(Error))]
pub struct QuantitiesFile;

#[derive(TypedPath)]
#[typed_path("/quantities/remove", rejection(Error))]
pub struct QuantitiesRemove;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_ends_as_a_file_does_has_a_page_of_its_own() {
        for (label, page) in [
            ("exp-7", "exp-7"),
            ("run.json", "run.json.html"),
            ("index.html", "index.html.html"),
            ("x.json.html", "x.json.html.html"),
            ("compare", "compare.html"),
            ("..", "...html"),
            (".json", ".json.html"),
        ] {
            assert_eq!(Named(label.to_owned()).to_string(), page);
            assert_eq!(Named::from(page.to_owned()), Named(label.to_owned()));
        }
    }
}
