//! What a file is: by its first bytes, then by its header.

use std::sync::Arc;

use super::header::{Columns, Header};
use super::rows::{BYTE_ORDER_MARK, Broken, Record};
use super::unreadable::refuse;
use super::{FORMATS, Format, Mandatory, ReadAs, Refusal, listed, refused_files};

const A_CSV: &str = "a billing export as CSV in UTF-8, as JSON, as Parquet or as a workbook (.xlsx)";

/// What a text holds rows in, behind a byte order mark of so many bytes.
pub(super) enum Text {
    Csv { mark: usize },
    Json { mark: usize },
}

/// Refuses what is no text; answers what kind of text it is.
pub(super) fn text(start: &[u8]) -> Result<Text, Refusal> {
    if start.get(257..262) == Some(b"ustar") {
        return Err(Refusal::new("a tar archive", "its files one by one, or as zip"));
    }
    let zeros_at = |odd: usize| start.iter().skip(odd).step_by(2).take(64).filter(|b| **b == 0).count();
    let is_utf16 = start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff");
    // Half of the bytes of plain text are zeros then, and the other half are none.
    let (even, odd) = (zeros_at(0), zeros_at(1));
    if is_utf16 || (start.len() >= 32 && even.max(odd) > 12 && even.min(odd) == 0) {
        return Err(Refusal::new(
            "text in UTF-16",
            "UTF-8; save the file as \u{201c}CSV UTF-8\u{201d} or export it again",
        ));
    }
    if start.starts_with(b"\x1f\x8b") || start.starts_with(b"PK\x03\x04") {
        return Err(Refusal::new("a file that is packed twice", "one that is packed once"));
    }
    let mark = if start.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let start = &start[mark..];
    if start.is_empty() {
        return Err(Refusal::new("an empty file", A_CSV));
    }
    if start.iter().take(512).filter(|b| **b < 9 || (14..32).contains(*b)).count() > 2 {
        return Err(Refusal::new("no text", A_CSV));
    }
    match start.trim_ascii_start() {
        [] if start.len() < 4096 => Err(Refusal::new("a file of blank lines", A_CSV)),
        [b'{' | b'[', ..] => Ok(Text::Json { mark }),
        text if text.starts_with(b"# HELP ") || text.starts_with(b"# TYPE ") => Err(refused_files::metrics()),
        [b'<', ..] => Err(Refusal::new("HTML or XML", A_CSV)),
        _ if !start.contains(&b'\n') && start.contains(&b'\r') => Err(Refusal::new(
            "lines that end in a carriage return alone",
            "lines that end in a line feed; save the file as \u{201c}CSV UTF-8\u{201d}",
        )),
        _ => Ok(Text::Csv { mark }),
    }
}

/// Columns of a file. Reports of AWS with every tag and product attribute that there is have about a thousand.
const MAX_COLUMNS: usize = 10_000;

/// Refuses names of columns that no export has: none at all, or too many.
pub(super) fn check_names(names: &[String]) -> Result<(), Refusal> {
    if names.is_empty() {
        return Err(Refusal::new(
            "JSON without names and values",
            "a billing export: objects of names and values, one on each line or all of them in a list",
        ));
    }
    few_columns(names.len())
}

fn few_columns(columns: usize) -> Result<(), Refusal> {
    if columns <= MAX_COLUMNS {
        return Ok(());
    }
    Err(Refusal::new(
        format!("a header of {columns} columns"),
        format!("a billing export, which has at most {MAX_COLUMNS}"),
    ))
}

/// Reads the first record as column names.
pub(super) fn header(record: &Record<'_>) -> Result<Header, Refusal> {
    few_columns(record.len())?;
    let mut names = Vec::with_capacity(record.len());
    for field in 0..record.len() {
        let name = String::from_utf8(record.plain(field).into_owned()).map_err(|_| {
            Refusal::new(
                format!("a header that is not UTF-8, in column {}", field + 1),
                "UTF-8; save the file as \u{201c}CSV UTF-8\u{201d} or export it again",
            )
        })?;
        // PostgreSQL's text holds no NUL, a broken header may, and tags are named by it.
        names.push(name.trim().replace('\0', "\u{fffd}"));
    }
    separators(&record.line(), names.len())?;
    Ok(Header::new(names))
}

/// Refuses a header whose names are not separated by commas.
fn separators(line: &[u8], names: usize) -> Result<(), Refusal> {
    let count = |separator: u8| memchr::memchr_iter(separator, line).count();
    if count(b'|') > 4 && count(b'|') >= names {
        return Err(refused_files::bars());
    }
    for (separator, called) in [(b';', "semicolons"), (b'\t', "tabs")] {
        if names == 1 && count(separator) > 3 {
            return Err(Refusal::new(
                format!("columns separated by {called}"),
                "columns separated by commas: export the file again, for a spreadsheet set to a language \
                 with decimal commas has saved it; or say what its columns are at Imports, Mappings",
            ));
        }
    }
    Ok(())
}

pub(super) fn without_header() -> Refusal {
    Refusal::new("a file without a header", "a billing export as CSV")
}

/// A header that cannot be read to its end.
pub(super) fn broken_header(broken: Broken) -> Refusal {
    match broken {
        Broken::TooLong { .. } | Broken::OpenQuote { .. } => Refusal::new("a header without an end", A_CSV),
        other => Refusal { row: None, ..refuse(other, 0, None) },
    }
}

/// The format of a header.
pub(super) fn format(header: &Header, read_as: &ReadAs) -> Result<Arc<dyn Format>, Refusal> {
    let format = format_by_names(header, read_as)?;
    if let Err(lack) = format.check(header) {
        return Err(Refusal::new(
            format!("a file without {lack}"),
            "a file with them, or a mapping that fits: open the file on the mapping page",
        ));
    }
    let twice = format.mandatory().iter().filter_map(|column| header.find_repeated(column.keys));
    let twice = listed(twice, 20);
    if twice.is_empty() {
        return Ok(format);
    }
    // Which of the two is meant cannot be known, and the charges would rest on it.
    Err(Refusal::new(
        format!("{} with the column {twice} twice", format.label()),
        "each of its columns once: delete the one that is not meant, or export the file again",
    ))
}

fn format_by_names(header: &Header, read_as: &ReadAs) -> Result<Arc<dyn Format>, Refusal> {
    if let Some(wanted) = read_as.name() {
        let imported = read_as.formats().filter(|format| format.computed().is_none());
        let known = listed(imported.map(|format| format.name()), 20);
        let format = read_as.formats().find(|format| format.name() == wanted).ok_or_else(|| {
            Refusal::new(format!("the unknown format \u{201c}{wanted}\u{201d}"), format!("one of {known}"))
        })?;
        return match lacking(&**format, header) {
            missing if missing.is_empty() => Ok(Arc::clone(format)),
            missing => Err(lacks(&**format, &missing)),
        };
    }
    match *read_as.mappings_of(header) {
        [] => {}
        [format] => return Ok(Arc::clone(format)),
        // They may read it as bills of two vendors.
        [..] => {
            let names = listed(read_as.mappings_of(header).iter().map(|format| format.name()), 5);
            return Err(Refusal::new(
                format!("the columns of several mappings: {names}"),
                "one that is chosen: open the file at Imports, Mappings, or name the mapping on the command line with --mapping",
            ));
        }
    }
    if let Some(refusal) = refused_files::by_header(header) {
        return Err(refusal);
    }
    if let Some(format) = FORMATS.iter().find(|format| format.recognizes(header)) {
        if let Some(bill) = format.computed() {
            return Err(Refusal::new(
                format!("{} that were computed here from a bill", bill.label().to_lowercase()),
                bill.hint(),
            ));
        }
        return Ok(Arc::clone(format));
    }
    if let Some(format) = read_as.nearest_mapping(header) {
        return Err(Refusal::new(
            format!("most columns of the {}, but not the same", format.label()),
            "the columns that it was saved for: open the file on the mapping page, and look at what changed",
        ));
    }
    Err(match nearest(header) {
        Some((missing, format)) => lacks(format, &missing),
        None => Refusal::new(
            format!(
                "columns of no billing export that is known ({})",
                listed(header.names().iter().map(String::as_str), 5)
            ),
            format!(
                "a file whose columns you say at Imports, Mappings, usage of GPUs as described at Imports, Usage, or the header of one of these: {}",
                listed(
                    FORMATS.iter().filter(|format| format.computed().is_none()).map(|format| format.label()),
                    20
                )
            ),
        ),
    })
}

/// The format that a header lacks the fewest columns of, and which, where these are few.
fn nearest(header: &Header) -> Option<(Vec<&'static Mandatory>, &'static dyn Format)> {
    FORMATS
        .iter()
        .filter(|format| format.has_its_columns(header))
        .map(|format| (lacking(&**format, header), &**format))
        .filter(|(missing, format)| missing.len() * 2 < format.mandatory().len())
        .min_by_key(|(missing, _)| missing.len())
}

/// Whether a header is one of a format, or lacks little of one.
pub(super) fn is_near(header: &Header) -> bool {
    FORMATS.iter().any(|format| format.recognizes(header)) || nearest(header).is_some()
}

fn lacking(format: &dyn Format, header: &Header) -> Vec<&'static Mandatory> {
    format.mandatory().iter().filter(|column| header.find_any(column.keys).is_none()).collect()
}

fn lacks(format: &dyn Format, missing: &[&Mandatory]) -> Refusal {
    let noun = if missing.len() == 1 { "column" } else { "columns" };
    let names = listed(missing.iter().map(|column| column.name), 20);
    Refusal::new(
        format!("{} without the {noun} {names}", format.label()),
        "a file with them; export it again with all columns",
    )
}

/// What the format says of the columns, and what is odd about any header.
pub(super) fn columns(format: &dyn Format, header: &Header) -> Columns {
    let mut columns = format.columns(header);
    columns.names = header.names().to_vec();
    let repeated = header.repeated().iter().map(|column| header.name(*column));
    // Tags differ in case, and every spelling of an ARN column is read.
    let matters =
        |name: &str| !["resourceTags/", "costCategory/", "tags/"].iter().any(|open| name.starts_with(open));
    let repeated = listed(repeated.filter(|name| matters(name) && !name.to_lowercase().ends_with("arn")), 10);
    // A mapping says which of them it means.
    if !repeated.is_empty() && !format.is_mapping() {
        columns.notes.push(format!("column names that occur twice; the first is read: {repeated}"));
    }
    columns
}

/// True where a row is the header once more: parts that were concatenated.
pub(super) fn repeats(header: &Header, record: &Record<'_>) -> bool {
    record.len() == header.len()
        && header.names().iter().enumerate().all(|(field, name)| {
            let cell = record.plain(field);
            let cell = cell.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&cell);
            cell.trim_ascii() == name.as_bytes()
        })
}
