//! The parts of a workbook that are read, behind checks of their sizes.
//!
//! | part | at most, unpacked |
//! |---|---|
//! | all that are XML | 512 MB |
//! | `sharedStrings.xml`, which stays in memory | 64 MB |
//! | styles, the list of sheets, relations | 8 MB each |
//! | merged cells of a sheet, which stay in memory, too | [`MAX_MERGES`] |
//!
//! Whoever parses them gets a zip that is made here, of those parts alone and with one table of contents: another reader of zips may
//! find another table in the same file. What the table states is believed after each part was unpacked once.

use std::io::{self, Read, Seek, SeekFrom};

use super::directory::{self, Entry};
use super::{Unzip, shown, within_ratio};
use crate::billing::Refusal;
use crate::billing::reread::Shared;
use crate::billing::rows::{Broken, ReadSeek};
use crate::billing::unreadable::refuse;

const MAX_ALL: u64 = 512 << 20;
const MAX_STRINGS: u64 = 64 << 20;
const MAX_OTHER: u64 = 8 << 20;
/// Merged cells of a sheet. Nobody merges as many by hand, and a list that is sorted into groups of two has fewer.
const MAX_MERGES: usize = 1 << 18;
/// Bytes of the shortest text in the table of texts: `<si/>`.
const SHORTEST_TEXT: usize = 5;
const CHUNK: usize = 64 << 10;

const EXPECTED: &str = "a workbook with a table of charges: at most 512 MB when unpacked, 64 MB of them texts; or its sheet as CSV UTF-8";

/// Whether a zip is a workbook.
pub(super) fn is_one(entries: &[Entry]) -> bool {
    entries.iter().any(|entry| entry.name.eq_ignore_ascii_case("xl/workbook.xml"))
}

/// A zip of the parts that are XML, each at the place where the file has it.
pub(in crate::billing) struct Parts {
    file: Shared<Box<dyn ReadSeek>>,
    pieces: Vec<Piece>,
    length: u64,
    at: u64,
}

struct Piece {
    /// Where it begins in the zip.
    at: u64,
    bytes: Bytes,
}

enum Bytes {
    Ours(Vec<u8>),
    /// From here on in the file.
    OfFile(u64),
}

impl Parts {
    /// # Errors
    /// A [`Refusal`] of what is too large, damaged or encrypted.
    pub fn open(file: &Shared<Box<dyn ReadSeek>>) -> Result<Self, Refusal> {
        let mut entries = directory::read(&mut file.again())?;
        entries.retain(|entry| ["xml", "rels"].contains(&extension(&entry.name.to_ascii_lowercase())));
        check_sizes(&entries)?;
        for entry in &entries {
            check_content(file, entry)?;
        }
        let mut parts = Self { file: file.again(), pieces: Vec::new(), length: 0, at: 0 };
        let mut table = Vec::new();
        for entry in &entries {
            let header_at = parts.length;
            let at = entry.content_at(&mut parts.file)?;
            parts.push(Bytes::Ours(local_header(entry)), 0);
            parts.push(Bytes::OfFile(at), entry.packed);
            table.extend(table_entry(entry, header_at));
        }
        let end = end(entries.len(), table.len(), parts.length);
        parts.push(Bytes::Ours(table), 0);
        parts.push(Bytes::Ours(end), 0);
        Ok(parts)
    }

    fn push(&mut self, bytes: Bytes, of_file: u64) {
        let at = self.length;
        self.length += match &bytes {
            Bytes::Ours(bytes) => bytes.len() as u64,
            Bytes::OfFile(_) => of_file,
        };
        self.pieces.push(Piece { at, bytes });
    }
}

fn extension(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or_default()
}

/// What the table of contents says.
fn check_sizes(entries: &[Entry]) -> Result<(), Refusal> {
    let bomb =
        |of: String| Refusal::new(format!("a workbook with what may be a zip bomb inside: {of}"), EXPECTED);
    for entry in entries {
        let Entry { name, packed, unpacked, .. } = entry;
        let lower = name.to_ascii_lowercase();
        let most = match lower.rsplit('/').next().unwrap_or_default() {
            "sharedstrings.xml" => MAX_STRINGS,
            "styles.xml" | "workbook.xml" => MAX_OTHER,
            _ if extension(&lower) == "rels" => MAX_OTHER,
            _ => MAX_ALL,
        };
        if *unpacked > most || within_ratio(*packed, *unpacked).is_err() {
            return Err(bomb(format!("{} unpacks from {packed} bytes to {unpacked}", shown(name))));
        }
    }
    let sum = |of: fn(&Entry) -> u64| entries.iter().fold(0u64, |sum, entry| sum.saturating_add(of(entry)));
    let (packed, unpacked) = (sum(|entry| entry.packed), sum(|entry| entry.unpacked));
    // What is packed is hardly larger than what comes out.
    if packed.max(unpacked) > MAX_ALL + (MAX_ALL >> 4) || unpacked > MAX_ALL {
        return Err(bomb(format!("its parts unpack from {packed} bytes to {unpacked}")));
    }
    Ok(())
}

/// Whether a part is what the table says, and XML in UTF-8.
fn check_content(file: &Shared<Box<dyn ReadSeek>>, entry: &Entry) -> Result<(), Refusal> {
    if entry.is_encrypted {
        return Err(Refusal::new("a workbook whose parts are encrypted", "a workbook without a password"));
    }
    let read = |error| refuse(Broken::Input(error), 0, None);
    let mut content = Unzip::new(file.again(), entry)?;
    let mut bytes = vec![0; CHUNK];
    // The table of texts says how many it has, and the parser makes room for them.
    let (mut texts, mut merges) = (Vec::new(), Merges::default());
    let is_strings = entry.name.to_ascii_lowercase().ends_with("sharedstrings.xml");
    loop {
        let count = content.read(&mut bytes).map_err(read)?;
        if count == 0 {
            break;
        }
        if memchr::memchr(0, &bytes[..count]).is_some() {
            let found = format!("a workbook whose part {} is not in UTF-8", shown(&entry.name));
            return Err(Refusal::new(found, "an .xlsx workbook; save it again"));
        }
        if is_strings {
            texts.extend_from_slice(&bytes[..count]);
        }
        merges.count(&bytes[..count]);
        if merges.number > MAX_MERGES {
            let part = shown(&entry.name);
            let found = format!("a workbook whose part {part} has more than {MAX_MERGES} merged cells");
            return Err(Refusal::new(found, "a workbook without them, or its sheet as CSV UTF-8"));
        }
    }
    let most = texts.len() / SHORTEST_TEXT + 1;
    if counts(&texts).any(|count| count > most) {
        return Err(Refusal::new(
            "a damaged workbook, which says of itself that it has more texts than fit into it",
            EXPECTED,
        ));
    }
    Ok(())
}

/// How many merged cells a part has, piece by piece: the parser takes all of them into memory before anybody can count.
#[derive(Default)]
struct Merges {
    number: usize,
    /// The end of the piece before, in which a name may have begun.
    end: Vec<u8>,
}

impl Merges {
    fn count(&mut self, piece: &[u8]) {
        // As `<mergeCell ref="A1:A2"/>`, whatever prefix it has; not the list, `<mergeCells>`.
        const NAME: &[u8] = b"mergeCell";
        let joined = [&self.end[..], piece].concat();
        let is_one =
            |at: &usize| joined.get(at + NAME.len()).is_some_and(|next| !next.is_ascii_alphanumeric());
        self.number += memchr::memmem::find_iter(&joined, NAME).filter(is_one).count();
        // What ends with the name and no byte behind it was not counted yet.
        self.end = joined[joined.len().saturating_sub(NAME.len())..].to_vec();
    }
}

/// How many texts a table of texts says that it has, wherever it does.
fn counts(bytes: &[u8]) -> impl Iterator<Item = usize> {
    const NAME: &[u8] = b"uniqueCount";
    memchr::memmem::find_iter(bytes, NAME).filter_map(|at| {
        let value = bytes[at + NAME.len()..].iter();
        let digits = value.skip_while(|byte| byte.is_ascii_whitespace() || b"=\"'+".contains(byte));
        let digits: Vec<u8> = digits.copied().take_while(u8::is_ascii_digit).take(30).collect();
        let digits = String::from_utf8(digits).ok().filter(|digits| !digits.is_empty())?;
        Some(digits.parse().unwrap_or(usize::MAX))
    })
}

/// Without an own time, flags or extra fields. Sizes are at most [`MAX_ALL`], or little more.
fn common(entry: &Entry) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in [20, 0, entry.method, 0, 0x21] {
        bytes.extend(number.to_le_bytes());
    }
    for number in [entry.crc, entry.packed as u32, entry.unpacked as u32] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend((entry.name.len() as u16).to_le_bytes());
    bytes.extend([0; 2]);
    bytes
}

fn local_header(entry: &Entry) -> Vec<u8> {
    [super::WORKBOOK, &common(entry), entry.name.as_bytes()].concat()
}

fn table_entry(entry: &Entry, header_at: u64) -> Vec<u8> {
    let at = (header_at as u32).to_le_bytes();
    [b"PK\x01\x02\x14\0", &common(entry)[..], &[0; 10], &at, entry.name.as_bytes()].concat()
}

fn end(entries: usize, table: usize, table_at: u64) -> Vec<u8> {
    let count = (entries as u16).to_le_bytes();
    let (bytes, at) = ((table as u32).to_le_bytes(), (table_at as u32).to_le_bytes());
    [b"PK\x05\x06\0\0\0\0", &count[..], &count, &bytes, &at, &[0; 2]].concat()
}

impl Read for Parts {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.length {
            return Ok(0);
        }
        let next = self.pieces.partition_point(|piece| piece.at <= self.at);
        let end = self.pieces.get(next).map_or(self.length, |piece| piece.at);
        let most = (end - self.at).min(buffer.len() as u64) as usize;
        let Piece { at, bytes } = &self.pieces[next - 1];
        let within = self.at - at;
        let read = match bytes {
            Bytes::Ours(bytes) => (&bytes[within as usize..]).read(&mut buffer[..most])?,
            Bytes::OfFile(start) => {
                self.file.seek(SeekFrom::Start(start + within))?;
                self.file.read(&mut buffer[..most])?
            }
        };
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Parts {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
        };
        self.at =
            at.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a place before the beginning"))?;
        Ok(self.at)
    }
}
