//! `/imports/batches/{batch}`: how far an upload is, then what became of each file.

use askama::Template;
use chrono::{DateTime, Utc};

use crate::clock;
use crate::report::{self, Batch, ImportLine, Outcome};
use crate::web::error::{Error, Result};
use crate::web::extract::{Db, Htmx};
use crate::web::layout::Layout;
use crate::web::respond::{self, Format};
use crate::web::{filters, paths};

#[derive(Template)]
#[template(path = "imports/batch.html", blocks = ["live"])]
struct Page {
    layout: Layout,
    path: paths::Batch,
    batch: Batch,
    /// The deliveries of the batch, and those that its duplicates repeat, as they are now.
    lines: Vec<ImportLine>,
    now: DateTime<Utc>,
}

pub async fn show(path: paths::Batch, layout: Layout, Htmx(is_fragment): Htmx, mut db: Db) -> Result {
    let batch = report::batch(&mut db, path.batch.value).await?.ok_or(Error::NotFound)?;
    match path.batch.format {
        Format::Html => {}
        Format::Json => return respond::json(&batch),
        Format::Csv => return Err(Error::NotFound),
    }
    let deliveries: Vec<i64> = batch.deliveries.iter().filter_map(|outcome| outcome.delivery).collect();
    let lines = report::lines_of(&mut db, &deliveries).await?;
    let page = Page { layout, path, batch, lines, now: clock::now() };
    if is_fragment { respond::html(page.as_live()) } else { respond::html(page) }
}

impl Page {
    /// The delivery of an outcome as it is now. `None` where it has none.
    fn line(&self, outcome: &Outcome) -> Option<&ImportLine> {
        self.lines.iter().find(|line| Some(line.delivery) == outcome.delivery)
    }

    fn title(&self) -> String {
        match self.batch.line.files.as_slice() {
            [file] => file.clone(),
            files => format!("{} files", files.len()),
        }
    }
}
