//! Files to download: the original as it arrived, and the rows that were rejected.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Read};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse as _;
use futures_util::stream;
use sqlx::PgPool;
use tokio::sync::mpsc;

use super::super::format::Format;
use crate::billing::formula_guard;
use crate::ledger::{self, Sha256};
use crate::report::{self, DeliveryFile, RejectedRow};
use crate::web::csv::{self, Cell, Record as _};
use crate::web::error::{Error, Result};
use crate::web::extract::Db;
use crate::web::{App, paths};

/// Bytes of an original sent at once.
const BLOCK: usize = 1 << 18;
/// Rejected rows fetched at once.
const ROWS: i64 = 10_000;

pub async fn original(path: paths::DeliveryFile, State(app): State<App>, mut db: Db) -> Result {
    let file = report::delivery_file(&mut db, path.delivery, path.file).await?.ok_or(Error::NotFound)?;
    let sha256 = kept(&file)?;
    drop(db);
    let opened = tokio::task::spawn_blocking(move || app.originals.received(&sha256)).await;
    let received = opened.map_err(anyhow::Error::from)??;
    let mut response = (
        [(header::CONTENT_TYPE, "application/octet-stream"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")],
        stream_of(received),
    )
        .into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_DISPOSITION, attachment(&file.name));
    if let Some(bytes) = file.received_bytes {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes));
    }
    Ok(response)
}

fn kept(file: &DeliveryFile) -> std::result::Result<Sha256, Error> {
    file.kept().ok_or_else(|| {
        Error::NoSuchPage(match file.sha256 {
            Some(_) => format!(
                "“{}” was removed to save space. You can upload the file again on the page of its import.",
                file.name
            ),
            None => format!("“{}” was not stored, because nothing was imported.", file.name),
        })
    })
}

pub async fn rejections(
    path: paths::DeliveryRejections,
    format: Format,
    State(app): State<App>,
    mut db: Db,
) -> Result {
    if format != Format::Csv {
        return Err(Error::NotFound);
    }
    report::lines_of(&mut db, &[path.delivery]).await?.pop().ok_or(Error::NotFound)?;
    drop(db);
    let delivery = path.delivery;
    let parts = stream::try_unfold(Next::First, move |next| {
        let pool = app.db.clone();
        async move { part(&pool, delivery, next).await }
    });
    let mut response =
        ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], Body::from_stream(parts)).into_response();
    let name = attachment(&format!("delivery-{delivery}-rejections.csv"));
    response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    Ok(response)
}

/// The rejected rows of a file that are missing still, under its own header, each with why it was rejected: to be corrected
/// and loaded.
pub async fn rejected(path: paths::DeliveryFileRejected, State(app): State<App>, mut db: Db) -> Result {
    let file = report::delivery_file(&mut db, path.delivery, path.file).await?.ok_or(Error::NotFound)?;
    let sha256 = kept(&file)?;
    let read_as = ledger::read_as_of(&mut db, path.delivery).await?;
    drop(db);
    let delivery = path.delivery;
    let (blocks, incoming) = mpsc::channel::<io::Result<Bytes>>(2);
    let rows = ledger::RowsOf::open(&app.originals, &sha256, &read_as)?;
    let mut walk = Some(RejectedRows { rows, next: Some((path.file, 0)), is_begun: false });
    tokio::spawn(async move {
        while let Some(rows) = walk.take() {
            let part = rows.part(&app.db, delivery, path.file).await;
            let item = match part {
                Ok((bytes, next)) => {
                    walk = next;
                    Ok(Bytes::from(bytes))
                }
                Err(error) => Err(io::Error::other(error)),
            };
            // Nobody listens any more: whoever asked has gone.
            if blocks.send(item).await.is_err() {
                break;
            }
        }
    });
    let body = Body::from_stream(stream::unfold(incoming, async |mut incoming| {
        Some((incoming.recv().await?, incoming))
    }));
    let mut response = ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], body).into_response();
    let name = attachment(&format!("delivery-{delivery}-file-{}-rejected.csv", path.file));
    response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    Ok(response)
}

/// A walk over a file that stops at its rejected rows.
struct RejectedRows {
    rows: ledger::RowsOf,
    /// The file and row behind which the next rejected rows are.
    next: Option<(i16, i64)>,
    is_begun: bool,
}

impl RejectedRows {
    async fn part(
        mut self,
        pool: &PgPool,
        delivery: i64,
        file: i16,
    ) -> anyhow::Result<(Vec<u8>, Option<Self>)> {
        let mut rejections =
            report::rejections(&mut *pool.acquire().await?, delivery, self.next, ROWS).await?;
        let is_last =
            (rejections.len() as i64) < ROWS || rejections.last().is_some_and(|row| row.file_no != file);
        rejections.retain(|row| row.file_no == file);
        self.next = rejections.last().map(|row| (row.file_no, row.row));
        rejections.retain(|row| row.corrected_by.is_none() && !row.is_repeated);
        tokio::task::spawn_blocking(move || {
            let mut writer = ::csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
            // A file of corrected rows has the reasons of before, which say nothing any more.
            let width = self.rows.header().len();
            let is_old = |name: &[u8]| Reasons::COLUMNS.iter().any(|reason| reason.as_bytes() == name);
            let kept: Vec<bool> = self.rows.header().iter().map(|name| !is_old(name)).collect();
            let escaped =
                self.rows.header().iter().position(|name| name == formula_guard::ESCAPED.as_bytes());
            let is_kept = |at: usize| kept.get(at).copied().unwrap_or(true);
            if !self.is_begun {
                self.is_begun = true;
                let header =
                    self.rows.header().iter().filter(|name| !is_old(name)).map(formula_guard::escape);
                writer
                    .write_record(header.chain(Reasons::COLUMNS.iter().map(|name| name.as_bytes().into())))?;
            }
            for rejection in &rejections {
                let record = self.rows.row(rejection.row as u64)?;
                let was_escaped =
                    escaped.is_some_and(|at| record.get(at) == Some(formula_guard::YES.as_bytes()));
                // A row may be shorter than the header; the reasons stand under their own names all the same.
                let missing = std::iter::repeat_n(&[][..], width.saturating_sub(record.len()));
                let fields = record.iter().chain(missing).enumerate();
                let fields = fields.filter(|(at, _)| is_kept(*at)).map(|(_, field)| field);
                // Of a file that people got here before, as it was before.
                let fields =
                    fields.map(|field| if was_escaped { formula_guard::unescape(field) } else { field });
                let fields: Vec<_> = fields.map(formula_guard::escape).collect();
                let is_escaped = fields.iter().any(|field| matches!(field, Cow::Owned(_)));
                let reasons = Reasons { delivery, rejection, is_escaped };
                let reasons = reasons.cells();
                writer.write_record(fields.into_iter().chain(reasons.iter().map(Cell::written)))?;
            }
            let bytes = writer.into_inner().map_err(|error| anyhow::anyhow!("{}", error.error()))?;
            Ok((bytes, (!is_last).then_some(self)))
        })
        .await?
    }
}

/// The columns that say which row it is and why, behind those of the file. No export has such names; the first is how
/// an import knows what it corrects, by the last that cells have an apostrophe before what a spreadsheet would run.
struct Reasons<'a> {
    delivery: i64,
    rejection: &'a RejectedRow,
    is_escaped: bool,
}

impl Reasons<'_> {
    fn mark(&self) -> ledger::Mark {
        ledger::Mark { delivery: self.delivery, file: self.rejection.file_no, row: self.rejection.row }
    }
}

csv::record! {
    |it: Reasons<'_>|
    ledger::CORRECTED => it.mark().to_string(),
    "gpuledger/Column" => &it.rejection.column,
    "gpuledger/Found" => &it.rejection.found,
    "gpuledger/Expected" => &it.rejection.expected,
    formula_guard::ESCAPED => if it.is_escaped { formula_guard::YES } else { "" },
}

/// Which rejected rows come next.
#[derive(Clone, Copy)]
enum Next {
    First,
    After(i16, i64),
    None,
}

async fn part(pool: &PgPool, delivery: i64, next: Next) -> anyhow::Result<Option<(Vec<u8>, Next)>> {
    let after = match next {
        Next::First => None,
        Next::After(file, row) => Some((file, row)),
        Next::None => return Ok(None),
    };
    let rows = report::rejections(&mut *pool.acquire().await?, delivery, after, ROWS).await?;
    let next = match rows.last() {
        Some(last) if rows.len() as i64 == ROWS => Next::After(last.file_no, last.row),
        _ => Next::None,
    };
    Ok(Some((csv::write_rows(&rows, after.is_none())?, next)))
}

/// Reads on a thread of its own, no further ahead than two blocks. An error on the way ends the answer short of
/// its length, which browsers notice.
fn stream_of(mut received: Box<dyn Read + Send>) -> Body {
    let (blocks, incoming) = mpsc::channel::<io::Result<Bytes>>(2);
    tokio::task::spawn_blocking(move || {
        loop {
            let mut block = Vec::with_capacity(BLOCK);
            let read = received.by_ref().take(BLOCK as u64).read_to_end(&mut block);
            let is_last = !matches!(read, Ok(1..));
            let item = read.map(|_| Bytes::from(block));
            // Nobody listens any more: whoever asked has gone.
            if blocks.blocking_send(item).is_err() || is_last {
                break;
            }
        }
    });
    Body::from_stream(stream::unfold(incoming, async |mut incoming| Some((incoming.recv().await?, incoming))))
}

/// To be saved under the last part of this name, whatever is in it: in ASCII for old programs, and exactly.
pub fn attachment(name: &str) -> HeaderValue {
    let name = name.rsplit('/').next().unwrap_or(name);
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let exact = name.bytes().fold(String::new(), |mut text, byte| {
        if is_plain(char::from(byte)) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    });
    let value = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}");
    HeaderValue::from_str(&value).unwrap_or(HeaderValue::from_static("attachment"))
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
}

csv::record! {
    |it: RejectedRow|
    "file" => &it.file,
    "row" => it.row,
    "column" => &it.column,
    "found" => &it.found,
    "expected" => &it.expected,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_a_file_without_letting_the_name_speak() {
        for (name, value) in [
            ("cur-1.csv.gz", "attachment; filename=\"cur-1.csv.gz\"; filename*=UTF-8''cur-1.csv.gz"),
            (
                "a/b/Müller \"x\".csv",
                "attachment; filename=\"M_ller__x_.csv\"; filename*=UTF-8''M%C3%BCller%20%22x%22.csv",
            ),
            (
                "x\r\nSet-Cookie: a=b",
                "attachment; filename=\"x__Set-Cookie__a_b\"; filename*=UTF-8''x%0D%0ASet-Cookie%3A%20a%3Db",
            ),
        ] {
            assert_eq!(attachment(name), value);
        }
    }
}
