//! What something was done to.

use uuid::Uuid;

use crate::period::BillingMonth;

/// A thing that a page can lead to, as it was called then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    Delivery(i64),
    /// A change of the allocation.
    Change(i64),
    /// A change of the asset register.
    AssetRegisterChange(i64),
    /// A change of the price list.
    PriceChange(i64),
    /// A change of the rate cards.
    RateCardChange(i64),
    /// A change of the adjustments.
    AdjustmentChange(i64),
    /// Invoices of a month.
    Invoices(BillingMonth),
    /// What was uploaded together.
    Batch(Uuid),
    Person {
        id: i64,
        email: String,
    },
    Scenario {
        id: i64,
        name: String,
    },
    /// What was added to the catalog of accelerators.
    Catalog {
        id: i64,
        name: String,
    },
    /// An import of usage.
    Usage(i64),
    /// A Prometheus, with its name.
    Prometheus(i64, String),
    /// A mapping, by its name.
    Mapping(String),
    /// Nothing that has a page: the name says what it was.
    Other(&'static str),
}

impl Object {
    /// Kind, number and name, as they are stored.
    pub fn parts(&self) -> (&'static str, String, String) {
        match self {
            Self::Delivery(id) => ("delivery", id.to_string(), format!("delivery {id}")),
            Self::AssetRegisterChange(id) => ("register-change", id.to_string(), format!("change {id}")),
            Self::PriceChange(id) => ("price-change", id.to_string(), format!("change {id}")),
            Self::AdjustmentChange(id) => ("adjustment-change", id.to_string(), format!("change {id}")),
            Self::RateCardChange(id) => ("rate-card-change", id.to_string(), format!("change {id}")),
            Self::Invoices(month) => ("invoices", month.to_string(), format!("invoices of {}", month.name())),
            Self::Change(id) => ("change", id.to_string(), format!("change {id}")),
            Self::Batch(id) => ("batch", id.to_string(), "upload".to_owned()),
            Self::Person { id, email } => ("person", id.to_string(), email.clone()),
            Self::Scenario { id, name } => ("scenario", id.to_string(), name.clone()),
            Self::Catalog { id, name } => ("catalog", id.to_string(), name.clone()),
            Self::Usage(id) => ("usage", id.to_string(), format!("usage import {id}")),
            Self::Prometheus(id, name) => ("prometheus", id.to_string(), name.clone()),
            Self::Mapping(name) => ("mapping", name.clone(), name.clone()),
            Self::Other(name) => ("", String::new(), (*name).to_owned()),
        }
    }
}
