//! `/imports/{delivery}`: everything about one delivery.

use askama::Template;

use super::changes::changes_page;
use crate::money::Decimal;
use crate::report::{
    self, Changes, ChangesBy, CostBasis, Delivery, DeliveryFile, Effect, ImportScope, RejectedRow,
};
use crate::web::error::{Error, Result};
use crate::web::extract::Db;
use crate::web::layout::Layout;
use crate::web::respond::{self, As, Cell, Format, Record};
use crate::web::{filters, paths};

#[derive(Template)]
#[template(path = "imports/delivery.html")]
struct Page {
    layout: Layout,
    path: paths::Delivery,
    delivery: Delivery,
    effects: Vec<Effect>,
    /// By service, billed; the largest.
    changes: Changes,
}

/// Services on this page whose cost changed.
const SHOWN_CHANGES: i64 = 8;

pub async fn show(path: paths::Delivery, layout: Layout, mut db: Db) -> Result {
    let delivery = report::delivery(&mut db, path.delivery.value).await?.ok_or(Error::NotFound)?;
    match path.delivery.format {
        Format::Html => {}
        Format::Json => return respond::json(&delivery),
        Format::Csv => return respond::csv(&format!("delivery-{}", delivery.delivery), &delivery.scopes),
    }
    let effects = report::effects(&mut db, delivery.delivery).await?;
    let first = report::Page { first: 0, size: SHOWN_CHANGES };
    let changes =
        report::changes(&mut db, delivery.delivery, ChangesBy::Service, CostBasis::Billed, first).await?;
    respond::html(Page { layout, path, delivery, effects, changes })
}

impl Page {
    fn title(&self) -> String {
        format!("Delivery {}", self.delivery.delivery)
    }

    fn is_waiting(&self) -> bool {
        self.delivery.status == "waiting"
    }

    fn is_published(&self) -> bool {
        self.delivery.status == "loaded"
    }

    fn all_changes(&self) -> [(String, String); 3] {
        ChangesBy::ALL.map(|by| {
            let href = changes_page(&self.changes, by, CostBasis::Billed);
            (format!("By {}", by.label().to_lowercase()), href)
        })
    }

    fn original(&self, file: &DeliveryFile) -> paths::DeliveryFile {
        paths::DeliveryFile { delivery: self.delivery.delivery, file: file.file_no }
    }

    fn rejected_of(&self, file: &DeliveryFile) -> paths::DeliveryFileRejected {
        paths::DeliveryFileRejected { delivery: self.delivery.delivery, file: file.file_no }
    }

    fn row(&self, row: &RejectedRow) -> paths::Charge {
        paths::Charge { delivery: self.delivery.delivery, file: row.file_no, row: As::page(row.row) }
    }

    fn rejections(&self) -> paths::DeliveryRejections {
        paths::DeliveryRejections { delivery: self.delivery.delivery }
    }

    fn undo(&self) -> paths::DeliveryUndo {
        paths::DeliveryUndo { delivery: self.delivery.delivery }
    }

    /// What happens to the figures when the delivery is undone.
    fn undo_question(&self) -> String {
        let delivery = self.delivery.delivery;
        if !self.delivery.is_counted {
            return format!("Nothing that a page shows changes: delivery {delivery} does not count now.");
        }
        let mut instead: Vec<i64> =
            self.effects.iter().flat_map(|effect| &effect.counts_without).copied().collect();
        instead.sort_unstable();
        instead.dedup();
        match instead.as_slice() {
            [] => "Its months will show nothing of these accounts, until something else is loaded. The file is kept.".to_owned(),
            [one] => format!("Delivery {one} will count instead, as it did before. The file is kept."),
            several => {
                let names: Vec<String> = several.iter().map(ToString::to_string).collect();
                format!("Deliveries {} will count instead, as they did before. The file is kept.", names.join(", "))
            }
        }
    }
}

impl Record for ImportScope {
    const COLUMNS: &'static [&'static str] = &[
        "billing_period",
        "provider",
        "account",
        "currency",
        "charges",
        "billed_cost",
        "effective_cost",
        "is_counted",
        "is_provisional",
    ];

    fn cells(&self) -> Vec<Cell<'_>> {
        let flag = |is: bool| Cell::text(if is { "yes" } else { "no" });
        vec![
            Cell::text(self.month().to_string()),
            Cell::text(&self.provider),
            Cell::text(&self.billing_account),
            Cell::text(&self.currency),
            Cell::Number(Decimal::from(self.charges)),
            Cell::Number(self.billed()),
            Cell::Number(self.effective()),
            flag(self.is_counted),
            flag(self.is_provisional),
        ]
    }
}
