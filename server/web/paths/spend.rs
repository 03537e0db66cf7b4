//! What was spent, and what it is compared with: budgets, invoices, exchange rates.

use crate::period::Period;

paths! {
    "/overview" => Overview;
    /// Where a form that names two months leads; without any, the latest month.
    "/spend" => AnyPeriod;
    "/spend/{period}" => Spend { period: Period };
    /// Why spend changed since the period before.
    "/variance/{period}" => Variance { period: Period };
    /// Tokens of language models.
    "/tokens/{period}" => Tokens { period: Period };
    "/charges/{period}" => Charges { period: Period };
    /// A charge by the row of the file that it comes from.
    "/charges/{delivery}/{file}/{row}" => Charge { delivery: i64, file: i16, row: i64 };

    "/budgets" => Budgets;
    "/budgets/{budget}" => Budget { budget: i64 };
    "/budgets/{budget}/end" => BudgetEnd { budget: i64 };
    "/budgets/{budget}/remove" => BudgetRemove { budget: i64 };

    /// Where the ledger is compared with invoices; leads to the latest month.
    "/invoices" => AnyInvoices;
    "/invoices/{period}" => Invoices { period: Period };
    "/invoices/{period}/remove" => InvoiceRemove { period: Period };

    "/rates" => Rates;
    "/rates/file" => RatesFile;
    "/rates/remove" => RatesRemove;
    "/rates/reporting-currency" => ReportingCurrency;
}
