//! What a file is packed in, known by its first bytes and never by its name: plain, gzip of one or many
//! members, or a zip with exactly one file inside. Everything streams; nothing is unpacked to disk. A workbook is a zip, too, of
//! many parts ([`workbook`]).

mod directory;
mod workbook;

use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};

use flate2::Crc;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder};

use self::directory::{Entry, ONE_FILE};
pub(super) use self::workbook::Parts;
use super::Refusal;
use super::rows::ReadSeek;

/// Billing exports shrink ten to fifty times. Deflate itself cannot do better than about 1,030 times,
/// and only for content without content.
const MAX_RATIO: u64 = 500;
/// Small files may be as repetitive as they like.
const SLACK: u64 = 1 << 20;

const SHRINKS: &str =
    "a billing export, which shrinks ten to fifty times when packed, not more than five hundred";

const EXPECTED: &str =
    "a billing export as CSV or JSON, plain, .gz or .zip, as Parquet, or as a workbook (.xlsx)";

/// Other containers and formats that people send, by their first bytes.
const NAMED: &[(&[u8], &str, &str)] = &[
    (b"\x28\xb5\x2f\xfd", "a file packed with zstd", "plain CSV, .gz or .zip"),
    (b"BZh", "a file packed with bzip2", "plain CSV, .gz or .zip"),
    (b"\xfd7zXZ\0", "a file packed with xz", "plain CSV, .gz or .zip"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "plain CSV, .gz or .zip"),
    (b"Rar!", "a RAR archive", "plain CSV, .gz or .zip"),
    (b"\xff\x06\0\0sNaPpY", "a file packed with snappy", "plain CSV, .gz or .zip"),
    (b"%PDF", "a PDF document", EXPECTED),
    (
        b"\xd0\xcf\x11\xe0",
        "a workbook with a password, or an old Excel workbook",
        "an .xlsx workbook without a password, or the sheet saved as CSV UTF-8 (comma delimited)",
    ),
    (b"Obj\x01", "an Avro file", "the same export as CSV"),
    (b"ORC", "an ORC file", "the same export as CSV"),
    (b"SQLite format 3", "an SQLite database", EXPECTED),
    (b"\x89PNG", "a picture", EXPECTED),
    (b"\xff\xd8\xff", "a picture", EXPECTED),
];

/// A message of ours on its way through [`io::Error`].
#[derive(Debug, thiserror::Error)]
#[error("{found}")]
pub(super) struct Unpacking {
    pub found: String,
    pub expected: String,
}

fn unpacking(found: String, expected: &str) -> io::Error {
    io::Error::other(Unpacking { found, expected: expected.to_owned() })
}

/// What a Parquet file begins with.
pub const PARQUET: &[u8] = b"PAR1";

/// What a workbook begins with, as every zip. No content that was unpacked begins so that is a text.
pub const WORKBOOK: &[u8] = b"PK\x03\x04";

/// What is inside a file.
pub enum Content {
    Text(Box<dyn Read + Send>),
    /// Parquet, which is packed within and read from several places.
    Parquet(Box<dyn ReadSeek>),
    /// An .xlsx workbook, of which several parts are read.
    Workbook(Box<dyn ReadSeek>),
}

/// What is inside `input`, whatever it is packed in.
///
/// # Errors
/// A [`Refusal`] of what is no container that is read.
pub fn unpack<R: Read + Seek + Send + 'static>(mut input: R) -> Result<Content, Refusal> {
    let start = first_bytes(&mut input)?;
    if start.is_empty() {
        return Err(Refusal::new("an empty file", EXPECTED));
    }
    if let Some((_, found, expected)) = NAMED.iter().find(|(magic, ..)| start.starts_with(magic)) {
        return Err(Refusal::new(*found, *expected));
    }
    Ok(match *start.as_slice() {
        _ if start.starts_with(PARQUET) => Content::Parquet(Box::new(input)),
        [0x1f, 0x8b, ..] => Content::Text(Box::new(Gunzip::new(input))),
        [b'P', b'K', 3 | 5 | 7, ..] => {
            let entries = directory::read(&mut input)?;
            if start.starts_with(WORKBOOK) && workbook::is_one(&entries) {
                return Ok(Content::Workbook(Box::new(input)));
            }
            Content::Text(Box::new(Unzip::new(input, &only_file(entries)?)?))
        }
        _ => Content::Text(Box::new(input)),
    })
}

fn first_bytes<R: Read + Seek>(input: &mut R) -> Result<Vec<u8>, Refusal> {
    let mut start = Vec::with_capacity(16);
    let read = input.by_ref().take(16).read_to_end(&mut start).and_then(|_| input.seek(SeekFrom::Start(0)));
    match read {
        Ok(_) => Ok(start),
        Err(error) => {
            Err(Refusal::new(format!("that the file cannot be read ({error})"), EXPECTED).failed(&error))
        }
    }
}

/// Compares what came out with what went in.
fn within_ratio(packed: u64, unpacked: u64) -> io::Result<()> {
    if unpacked <= packed.saturating_mul(MAX_RATIO).saturating_add(SLACK) {
        return Ok(());
    }
    Err(unpacking(format!("content that unpacks from {packed} bytes to more than {unpacked}"), SHRINKS))
}

/// Counts the packed bytes that pass.
struct Counted<R> {
    input: R,
    count: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.count += read as u64;
        Ok(read)
    }
}

struct Gunzip<R> {
    decoder: MultiGzDecoder<BufReader<Counted<R>>>,
    unpacked: u64,
}

impl<R: Read> Gunzip<R> {
    fn new(input: R) -> Self {
        let counted = BufReader::with_capacity(128 << 10, Counted { input, count: 0 });
        Self { decoder: MultiGzDecoder::new(counted), unpacked: 0 }
    }
}

impl<R: Read> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer).map_err(|error| damaged("gzip", &error))?;
        self.unpacked += read as u64;
        within_ratio(self.decoder.get_ref().get_ref().count, self.unpacked)?;
        Ok(read)
    }
}

/// An error of the decoder is damage; one of the input beneath it is not.
fn damaged(container: &str, error: &io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => unpacking(
            format!("that the {container} data end too early: the file was cut off"),
            "the whole file; transfer it again",
        ),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            unpacking(format!("damaged {container} data ({error})"), "an undamaged file; transfer it again")
        }
        kind => io::Error::new(kind, error.to_string()),
    }
}

/// A file of a zip archive, checked against the size and checksum that the archive states.
struct Unzip<R> {
    content: Packed<R>,
    packed: u64,
    unpacked: u64,
    stated: u64,
    stated_crc: u32,
    crc: Crc,
}

enum Packed<R> {
    Stored(Take<R>),
    Deflated(DeflateDecoder<BufReader<Take<R>>>),
}

/// Characters of a name that a message shows.
const MAX_SHOWN: usize = 100;

impl<R: Read + Seek> Unzip<R> {
    fn new(mut input: R, entry: &Entry) -> Result<Self, Refusal> {
        if entry.is_encrypted {
            return Err(Refusal::new(
                format!("that {} in the zip is encrypted", shown(&entry.name)),
                "a zip without a password",
            ));
        }
        let (packed, stated) = (entry.packed, entry.unpacked);
        within_ratio(packed, stated).map_err(|_| {
            Refusal::new(format!("a zip whose content unpacks from {packed} to {stated} bytes"), SHRINKS)
        })?;
        let at = entry.content_at(&mut input)?;
        input.seek(SeekFrom::Start(at)).map_err(|error| directory::unreadable(&error))?;
        let input = input.take(packed);
        let content = match entry.method {
            STORED => Packed::Stored(input),
            DEFLATED => Packed::Deflated(DeflateDecoder::new(BufReader::with_capacity(128 << 10, input))),
            other => {
                let found = format!("a zip packed with {}", method(other));
                return Err(Refusal::new(found, "a zip packed with deflate, the usual method"));
            }
        };
        Ok(Self { content, packed, unpacked: 0, stated, stated_crc: entry.crc, crc: Crc::new() })
    }
}

/// What a zip calls its methods of packing.
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

fn method(number: u16) -> String {
    match number {
        9 => "Deflate64".to_owned(),
        12 => "bzip2".to_owned(),
        14 => "LZMA".to_owned(),
        93 => "zstd".to_owned(),
        95 => "xz".to_owned(),
        _ => format!("method {number}"),
    }
}

/// Directories do not count, nor what macOS adds.
fn only_file(entries: Vec<Entry>) -> Result<Entry, Refusal> {
    if let Some(entry) = entries.iter().find(|entry| climbs_out(&entry.name)) {
        let found = format!("a zip with the path {}, which climbs out of it", shown(&entry.name));
        return Err(Refusal::new(found, ONE_FILE));
    }
    if entries.iter().any(|entry| entry.name == "[Content_Types].xml") {
        return Err(Refusal::new(
            "an Office document that is no .xlsx workbook",
            "an .xlsx workbook, or the sheet saved as CSV UTF-8 (comma delimited)",
        ));
    }
    let is_file = |entry: &Entry| !entry.name.ends_with('/') && !entry.name.starts_with("__MACOSX/");
    let mut files = entries.into_iter().filter(is_file);
    match (files.next(), files.next()) {
        (None, _) => Err(Refusal::new("a zip without a file inside", ONE_FILE)),
        (Some(file), None) => Ok(file),
        (Some(first), Some(second)) => {
            let (first, second, more) = (shown(&first.name), shown(&second.name), files.count());
            Err(Refusal::new(
                format!(
                    "a zip with {} files inside ({first}, {second}{})",
                    2 + more,
                    if more > 0 { ", …" } else { "" }
                ),
                format!("{ONE_FILE}; send several files one by one"),
            ))
        }
    }
}

/// A name for a message: printable, and cut where it is long.
fn shown(name: &str) -> String {
    let mut shown: String =
        name.chars().take(MAX_SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if name.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

fn climbs_out(name: &str) -> bool {
    name.starts_with(['/', '\\'])
        || name.split(['/', '\\']).any(|part| part == "..")
        || name.as_bytes().get(1) == Some(&b':')
}

impl<R: Read> Read for Unzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.content {
            Packed::Stored(input) => input.read(buffer)?,
            Packed::Deflated(decoder) => decoder.read(buffer).map_err(|error| damaged("zip", &error))?,
        };
        self.crc.update(&buffer[..read]);
        self.unpacked += read as u64;
        within_ratio(self.packed, self.unpacked)?;
        let is_whole = self.unpacked == self.stated && self.crc.sum() == self.stated_crc;
        if read == 0 && !buffer.is_empty() && !is_whole {
            return Err(unpacking(
                format!(
                    "damaged zip data ({} bytes instead of {}, or another checksum)",
                    self.unpacked, self.stated
                ),
                "an undamaged file; transfer it again",
            ));
        }
        Ok(read)
    }
}
