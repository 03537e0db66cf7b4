//! What a column of a file is used for: how people fill in a mapping, column by column.

use crate::enum_words::words;

words! {
    /// What a column is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Use: as_str, label {
        Start = "start", "Date, month or start of period";
        End = "end", "End of period";
        Cost = "cost", "Cost";
        Tax = "tax", "Tax on the cost";
        Currency = "currency", "Currency";
        Provider = "provider", "Provider";
        Account = "account", "Billing account";
        SubAccount = "sub-account", "Sub-account or project";
        Service = "service", "Service";
        Sku = "sku", "SKU or article number";
        Description = "description", "Description";
        Resource = "resource", "Resource";
        Region = "region", "Region";
        Accelerator = "accelerator", "Machine or GPU model";
        AcceleratorCount = "accelerator-count", "GPUs per machine";
        Quantity = "quantity", "Hours or other quantity";
        Unit = "unit", "Unit of the quantity";
        Category = "category", "Kind of line: usage, tax, credit …";
        Invoice = "invoice", "Invoice number";
        Tag = "tag", "Tag (team, project, cost center …)";
    }
}

impl Use {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
}
