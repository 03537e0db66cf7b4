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

use std::fmt;
use std::str::FromStr;

use axum_extra::routing::TypedPath;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Error;
use super::respond::As;
use crate::period::Period;
use crate::report::ChangesBy;

/// A path with its question: `/sign-in?next=%2Faccount`.
pub fn with_query(path: impl TypedPath, query: &impl Serialize) -> String {
    path.with_query_params(query).to_string().replacen("?&", "?", 1)
}

#[derive(TypedPath)]
#[typed_path("/", rejection(Error))]
pub struct Home;

#[derive(TypedPath)]
#[typed_path("/overview", rejection(Error))]
pub struct Overview;

#[derive(TypedPath)]
#[typed_path("/overview.json", rejection(Error))]
pub struct OverviewJson;

#[derive(TypedPath)]
#[typed_path("/overview.csv", rejection(Error))]
pub struct OverviewCsv;

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
#[typed_path("/audit.json", rejection(Error))]
pub struct AuditJson;

#[derive(TypedPath)]
#[typed_path("/audit.csv", rejection(Error))]
pub struct AuditCsv;

#[derive(TypedPath)]
#[typed_path("/imports", rejection(Error))]
pub struct Imports;

#[derive(TypedPath)]
#[typed_path("/imports.json", rejection(Error))]
pub struct ImportsJson;

#[derive(TypedPath)]
#[typed_path("/imports.csv", rejection(Error))]
pub struct ImportsCsv;

/// What was submitted together.
#[derive(Clone, Copy, TypedPath, Deserialize)]
#[typed_path("/imports/batches/{batch}", rejection(Error))]
pub struct Batch {
    pub batch: As<Uuid>,
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
    pub delivery: As<i64>,
}

/// What a delivery changed, by account, service or key.
#[derive(Clone, Copy, TypedPath, Deserialize)]
#[typed_path("/imports/{delivery}/changes/{by}", rejection(Error))]
pub struct DeliveryChanges {
    pub delivery: i64,
    pub by: As<ChangesBy>,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/imports/{delivery}/rejections.csv", rejection(Error))]
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

#[derive(TypedPath)]
#[typed_path("/storage.json", rejection(Error))]
pub struct StorageJson;

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
    pub period: As<Period>,
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
    pub period: As<Period>,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/charges/{period}", rejection(Error))]
pub struct Charges {
    pub period: As<Period>,
}

/// A charge by the row of the file that it comes from.
#[derive(TypedPath, Deserialize)]
#[typed_path("/charges/{delivery}/{file}/{row}", rejection(Error))]
pub struct Charge {
    pub delivery: i64,
    pub file: i16,
    pub row: As<i64>,
}

/// Where leads find their team and everybody else all of them, in the latest month.
#[derive(TypedPath)]
#[typed_path("/teams", rejection(Error))]
pub struct Teams;

/// Every team's part of a period.
#[derive(TypedPath, Deserialize)]
#[typed_path("/chargeback/{period}", rejection(Error))]
pub struct Chargeback {
    pub period: As<Period>,
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
    pub period: As<Period>,
}

/// What a team is charged, on paper.
#[derive(Clone, TypedPath, Deserialize)]
#[typed_path("/teams/{team}/{period}/{what}", rejection(Error))]
pub struct Statement {
    pub team: String,
    pub period: Period,
    pub what: As<Stated>,
}

/// The last part of the address of a statement: `statement`.
#[derive(Clone, Copy, Debug)]
pub struct Stated;

impl fmt::Display for Stated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("statement")
    }
}

impl FromStr for Stated {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "statement" { Ok(Self) } else { Err("expected statement") }
    }
}

/// Leads to the experiments of the latest month.
#[derive(TypedPath)]
#[typed_path("/experiments", rejection(Error))]
pub struct AnyExperiments;

#[derive(TypedPath, Deserialize)]
#[typed_path("/experiments/during/{period}", rejection(Error))]
pub struct Experiments {
    pub period: As<Period>,
}

/// Some experiments side by side.
#[derive(TypedPath)]
#[typed_path("/experiments/compare", rejection(Error))]
pub struct CompareExperiments;

#[derive(TypedPath)]
#[typed_path("/experiments/compare.json", rejection(Error))]
pub struct CompareExperimentsJson;

#[derive(TypedPath)]
#[typed_path("/experiments/compare.csv", rejection(Error))]
pub struct CompareExperimentsCsv;

/// An experiment by its label.
#[derive(TypedPath, Deserialize)]
#[typed_path("/experiments/{experiment}", rejection(Error))]
pub struct Experiment {
    pub experiment: As<String>,
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
    pub period: As<Period>,
}

#[derive(TypedPath, Deserialize)]
#[typed_path("/invoices/{period}/remove", rejection(Error))]
pub struct InvoiceRemove {
    pub period: As<Period>,
}

#[derive(TypedPath)]
#[typed_path("/rates", rejection(Error))]
pub struct Rates;

#[derive(TypedPath)]
#[typed_path("/rates.json", rejection(Error))]
pub struct RatesJson;

#[derive(TypedPath)]
#[typed_path("/rates.csv", rejection(Error))]
pub struct RatesCsv;

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
    pub period: As<Period>,
}

#[derive(TypedPath)]
#[typed_path("/budgets", rejection(Error))]
pub struct Budgets;

#[derive(TypedPath)]
#[typed_path("/budgets.json", rejection(Error))]
pub struct BudgetsJson;

#[derive(TypedPath)]
#[typed_path("/budgets.csv", rejection(Error))]
pub struct BudgetsCsv;

#[derive(TypedPath, Deserialize)]
#[typed_path("/budgets/{budget}", rejection(Error))]
pub struct Budget {
    pub budget: As<i64>,
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
#[typed_path("/quantities.json", rejection(Error))]
pub struct QuantitiesJson;

#[derive(TypedPath)]
#[typed_path("/quantities.csv", rejection(Error))]
pub struct QuantitiesCsv;

#[derive(TypedPath)]
#[typed_path("/quantities/file", rejection(Error))]
pub struct QuantitiesFile;

#[derive(TypedPath)]
#[typed_path("/quantities/remove", rejection(Error))]
pub struct QuantitiesRemove;
