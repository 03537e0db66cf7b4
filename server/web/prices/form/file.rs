//! A file of prices: what it would change is shown before anything is changed.

use crate::changes::{self, Document as _, Outcome};
use chrono::NaiveDate;
use sqlx::PgConnection;

use super::super::to_change;
use super::Page;
use super::typed::Typed;
use crate::compute::compute;
use crate::price_catalogue::read::{self, About, LONGEST, is_long};
use crate::price_catalogue::{self, Edit, Entries, Report};
use crate::web::error::{Error, Result};
use crate::web::extract::{Sending, Upload};
use crate::web::{paths, respond};

/// A catalogue of the largest cloud with all its regions has some 20 MB.
const LARGEST_FILE: usize = 40 << 20;
/// Of what stands beside a file, so that what is too long is refused in words.
const LARGEST_TEXT: usize = 10_000;
/// A file changes so many prices at most.
const MOST_EDITS: usize = 20_000;

/// A file with what stands beside it in the form.
#[derive(Default)]
struct Sent {
    name: String,
    content: Vec<u8>,
    supplier: String,
    read_on: String,
    read_at: String,
}

impl Sent {
    async fn receive(mut upload: Upload) -> Result<Self> {
        let mut sent = Self::default();
        while let Some(mut field) = upload.next_field().await? {
            let of = field.name().unwrap_or_default().to_owned();
            let file = field.file_name().map(str::to_owned);
            let most = if file.is_some() { LARGEST_FILE } else { LARGEST_TEXT };
            let mut content = Vec::new();
            while let Some(chunk) = field.chunk().await.map_err(|error| Upload::broken_off(&error))? {
                if content.len() + chunk.len() > most {
                    return Err(Error::TooLarge);
                }
                content.extend_from_slice(&chunk);
            }
            let text = || String::from_utf8_lossy(&content).trim().to_owned();
            match of.as_str() {
                "supplier" => sent.supplier = text(),
                "read_on" => sent.read_on = text(),
                "read_at" => sent.read_at = text(),
                _ => {
                    if let Some(name) = file.filter(|it| !it.is_empty()) {
                        (sent.name, sent.content) = (name, content);
                    }
                }
            }
        }
        Ok(sent)
    }

    fn read(&self, today: NaiveDate) -> Result<read::Read, String> {
        if self.name.is_empty() {
            return Err("Choose a price file.".to_owned());
        }
        let texts =
            [("Supplier", &self.supplier), ("Source", &self.read_at), ("The name of the file", &self.name)];
        for (label, text) in texts {
            if text.contains('\0') {
                return Err(format!("{label}: remove the NUL character."));
            }
            if is_long(text) {
                return Err(format!("{label}: enter at most {LONGEST} characters."));
            }
        }
        let date = match self.read_on.as_str() {
            "" => today,
            text => text.parse::<NaiveDate>().map_err(|_| "Read on: enter a date such as 2026-09-30.")?,
        };
        if date > today {
            return Err("Read on: enter today or an earlier date.".to_owned());
        }
        let source = if self.read_at.is_empty() { self.name.clone() } else { self.read_at.clone() };
        let about = About { supplier: Some(self.supplier.clone()), date, source, today };
        read::read(&self.content, &about).map_err(|error| format!("{}: {error}.", self.name))
    }

    /// What it would change, and what it has besides.
    fn edits(&self, entries: &Entries, today: NaiveDate) -> Result<(Vec<Edit>, Report), String> {
        let read::Read { format, rows, prices, skipped, rejected, rejected_count } = self.read(today)?;
        let count = prices.len();
        let edits = price_catalogue::edits_of_file(entries, prices.into_iter().map(|(_, it)| it).collect());
        if edits.len() > MOST_EDITS {
            let (name, found) = (&self.name, edits.len());
            return Err(format!("{name}: changes {found} prices; import at most {MOST_EDITS} at once."));
        }
        let known = count - edits.len();
        Ok((edits, Report { format: Some(format), rows, known, skipped, rejected, rejected_count }))
    }
}

/// Reads a file and shows what it would change; nothing is changed yet. Nobody holds a connection while it arrives, or is
/// read.
pub async fn load(_: paths::PricesFile, sending: Sending, upload: Upload) -> Result {
    let Sending { now, layout, by, app, .. } = sending;
    let today = now.date_naive();
    let sent = Sent::receive(upload).await?;
    let entries = entries(&mut *app.db.acquire().await?).await?;
    let (name, found) = compute(move || {
        let found = sent.edits(&entries, today);
        (sent.name, found)
    })
    .await?;
    let mut db = app.db.acquire().await?;
    let refused = match found {
        Ok((edits, report)) => {
            let prices =
                if edits.len() == 1 { "one price".to_owned() } else { format!("{} prices", edits.len()) };
            let summary = format!("{name}: {prices}");
            let about = changes::About { summary: &summary, reason: None };
            let report = serde_json::to_value(&report)?;
            let outcome = changes::draft::<Entries>(&mut db, edits, Some(&report), about, by.at(now)).await?;
            match outcome {
                Outcome::Waits(change) | Outcome::At { change, .. } => {
                    return Ok(respond::see_other(to_change(change)));
                }
                _ => "This changes no prices.".to_owned(),
            }
        }
        Err(sentence) => sentence,
    };
    let mut fields = Typed::new(today, changes::Kind::Prices.version(&mut db).await?).fields();
    fields.refuse("files", refused);
    respond::refused(Page::new(layout, None, fields))
}

async fn entries(db: &mut PgConnection) -> sqlx::Result<Entries> {
    let revision = changes::Kind::Prices.version(&mut *db).await?;
    price_catalogue::Entries::as_of(db, revision).await
}
