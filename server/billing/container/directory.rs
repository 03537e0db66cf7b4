//! A zip's table of contents, read within bounds
//! ([why](../../../docs/decisions/the-zip-directory-is-read-by-our-own-code.md)). The record at the end of the file says
//! how many entries it has and how long it is; what says too much is refused before anything else is read. Only the last such
//! record counts, so a zip has one reading.

use std::io::{self, Read, Seek, SeekFrom};

use crate::billing::Refusal;

pub(super) const ONE_FILE: &str = "a zip with exactly one billing export inside";

/// A zip with one export inside has a handful: folders, and what macOS adds.
const MAX_ENTRIES: u64 = 1000;
const MAX_BYTES: u64 = 1 << 20;

const END: &[u8] = b"PK\x05\x06";
const WIDE_END: &[u8] = b"PK\x06\x06";
const WIDE_END_LOCATOR: &[u8] = b"PK\x06\x07";
const ENTRY: &[u8] = b"PK\x01\x02";
const LOCAL_HEADER: &[u8] = b"PK\x03\x04";

/// Lengths of these records without what varies.
const END_BYTES: usize = 22;
const WIDE_END_BYTES: u64 = 56;
const WIDE_END_LOCATOR_BYTES: u64 = 20;
const LOCAL_HEADER_BYTES: u64 = 30;

/// The extra field that holds numbers which do not fit into 32 bits.
const WIDE_NUMBERS: u16 = 1;

/// What the table says of a file inside.
pub(super) struct Entry {
    pub name: String,
    pub is_encrypted: bool,
    pub method: u16,
    pub crc: u32,
    pub packed: u64,
    pub unpacked: u64,
    header_at: u64,
}

/// What the end of the file says of the table.
struct End {
    entries: u64,
    bytes: u64,
    /// The table, or the files in it, are in several parts.
    is_split: bool,
    /// As the zip says; what stands before the zip in the file is not in it.
    offset: u64,
    /// Where the table ends at the latest.
    at: u64,
}

/// Reads the table of contents, which stays within [`MAX_ENTRIES`] and [`MAX_BYTES`].
pub(super) fn read<R: Read + Seek>(input: &mut R) -> Result<Vec<Entry>, Refusal> {
    let end = End::find(input)?;
    if end.is_split {
        return Err(Refusal::new("a part of a zip that was split", format!("{ONE_FILE}, in one part")));
    }
    if end.entries > MAX_ENTRIES {
        return Err(Refusal::new(
            format!("a zip with {} entries", end.entries),
            format!("{ONE_FILE}, and at most {MAX_ENTRIES} entries"),
        ));
    }
    if end.bytes > MAX_BYTES {
        return Err(Refusal::new(
            format!("a zip with a table of contents of {} bytes", end.bytes),
            format!("{ONE_FILE}, and a table of contents of at most {MAX_BYTES} bytes"),
        ));
    }
    if end.entries == 0 {
        return Ok(Vec::new());
    }
    let before = end.before_the_zip(input)?;
    let table = bytes(input, before + end.offset, end.bytes)?;
    let mut fields = Fields(&table);
    (0..end.entries)
        .map(|_| Entry::read(&mut fields, before))
        .collect::<Option<_>>()
        .ok_or_else(|| damaged("its table of contents breaks off"))
}

impl End {
    fn find<R: Read + Seek>(input: &mut R) -> Result<Self, Refusal> {
        let length = input.seek(SeekFrom::End(0)).map_err(|error| unreadable(&error))?;
        // Behind it is a comment at most, of a length of 16 bits.
        let tail_at = length.saturating_sub(END_BYTES as u64 + u64::from(u16::MAX));
        let tail = bytes(input, tail_at, length - tail_at)?;
        let last = tail.windows(END_BYTES).rposition(|record| record.starts_with(END));
        let missing = || damaged("its table of contents is not at its end");
        let last = last.ok_or_else(missing)?;
        let at = tail_at + last as u64;
        let mut fields = Fields(&tail[last..]);
        let end = fields.end(at).ok_or_else(missing)?;
        let is_wide =
            end.entries == u64::from(u16::MAX) || [end.bytes, end.offset].contains(&u64::from(u32::MAX));
        let Some(locator_at) = at.checked_sub(WIDE_END_LOCATOR_BYTES).filter(|_| is_wide) else {
            return Ok(end);
        };
        let locator = bytes(input, locator_at, WIDE_END_LOCATOR_BYTES)?;
        let Some(stated_at) = Fields(&locator).wide_end_locator() else { return Ok(end) };
        // It is where it is said to be or, if something stands before the zip, right before what says so.
        for at in [Some(stated_at), locator_at.checked_sub(WIDE_END_BYTES)].into_iter().flatten() {
            if at.checked_add(WIDE_END_BYTES).is_some_and(|end| end <= locator_at)
                && let Some(end) = Fields(&bytes(input, at, WIDE_END_BYTES)?).wide_end(at)
            {
                return Ok(end);
            }
        }
        Err(missing())
    }

    /// How many bytes of the file stand before the zip.
    fn before_the_zip<R: Read + Seek>(&self, input: &mut R) -> Result<u64, Refusal> {
        let fits = |before: u64| {
            let end = before.checked_add(self.offset)?.checked_add(self.bytes)?;
            (end <= self.at).then_some(before)
        };
        let behind = self.at.checked_sub(self.bytes).and_then(|start| start.checked_sub(self.offset));
        for before in [Some(0), behind].into_iter().flatten().filter_map(fits) {
            if bytes(input, before + self.offset, ENTRY.len() as u64)? == ENTRY {
                return Ok(before);
            }
        }
        Err(damaged("its table of contents is not where it says"))
    }
}

impl Entry {
    fn read(fields: &mut Fields, before: u64) -> Option<Self> {
        fields.expect(ENTRY)?;
        fields.take(4)?;
        let (flags, method) = (fields.u16()?, fields.u16()?);
        fields.take(4)?;
        let (crc, packed, unpacked) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let (name, extra, comment) = (fields.u16()?, fields.u16()?, fields.u16()?);
        fields.take(8)?;
        let header_at = fields.u32()?;
        let name = fields.take(name.into())?;
        let mut wide = Fields(fields.take(extra.into())?).wide_numbers();
        fields.take(comment.into())?;
        let mut whole = |number: u32| if number == u32::MAX { wide.u64() } else { Some(number.into()) };
        // In this order they are in the extra field.
        let (unpacked, packed, header_at) = (whole(unpacked)?, whole(packed)?, whole(header_at)?);
        Some(Self {
            name: String::from_utf8_lossy(name).into_owned(),
            is_encrypted: flags & 1 == 1,
            method,
            crc,
            packed,
            unpacked,
            header_at: header_at.checked_add(before)?,
        })
    }

    /// Where in the file its content begins.
    pub fn content_at<R: Read + Seek>(&self, input: &mut R) -> Result<u64, Refusal> {
        let header = bytes(input, self.header_at, LOCAL_HEADER_BYTES)?;
        let varying =
            Fields(&header).local_header().ok_or_else(|| damaged("its file is not where it says"))?;
        Ok(self.header_at + LOCAL_HEADER_BYTES + varying)
    }
}

/// Numbers of a record, from its beginning. `None` where it is too short.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*number)
    }

    fn u16(&mut self) -> Option<u16> {
        self.number().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.number().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.number().map(u64::from_le_bytes)
    }

    fn expect(&mut self, mark: &[u8]) -> Option<()> {
        (self.take(mark.len())? == mark).then_some(())
    }

    fn end(&mut self, at: u64) -> Option<End> {
        self.expect(END)?;
        let disks = [self.u16()?, self.u16()?];
        self.take(2)?;
        let (entries, bytes, offset) = (self.u16()?, self.u32()?, self.u32()?);
        // The largest number stands for one that the wide record has.
        let is_split = disks.iter().any(|disk| !matches!(*disk, 0 | u16::MAX));
        let comment = self.u16()?;
        self.take(comment.into())?;
        Some(End { entries: entries.into(), bytes: bytes.into(), is_split, offset: offset.into(), at })
    }

    fn wide_end_locator(&mut self) -> Option<u64> {
        self.expect(WIDE_END_LOCATOR)?;
        self.take(4)?;
        self.u64()
    }

    fn wide_end(&mut self, at: u64) -> Option<End> {
        self.expect(WIDE_END)?;
        self.take(12)?;
        let disks = [self.u32()?, self.u32()?];
        self.take(8)?;
        let (entries, bytes, offset) = (self.u64()?, self.u64()?, self.u64()?);
        Some(End { entries, bytes, is_split: disks != [0, 0], offset, at })
    }

    /// The extra field of that name, or nothing.
    fn wide_numbers(mut self) -> Self {
        while let (Some(kind), Some(length)) = (self.u16(), self.u16()) {
            let Some(data) = self.take(length.into()) else { break };
            if kind == WIDE_NUMBERS {
                return Self(data);
            }
        }
        Self(&[])
    }

    /// How long the varying part behind the header of a file is.
    fn local_header(&mut self) -> Option<u64> {
        self.expect(LOCAL_HEADER)?;
        self.take(22)?;
        Some(u64::from(self.u16()?) + u64::from(self.u16()?))
    }
}

fn bytes<R: Read + Seek>(input: &mut R, at: u64, count: u64) -> Result<Vec<u8>, Refusal> {
    if i64::try_from(at).is_err() {
        return Err(damaged("it names a place that no file has"));
    }
    let mut bytes = Vec::new();
    let read =
        input.seek(SeekFrom::Start(at)).and_then(|_| input.by_ref().take(count).read_to_end(&mut bytes));
    match read {
        Ok(read) if read as u64 == count => Ok(bytes),
        Ok(_) => Err(damaged("it ends too early")),
        Err(error) => Err(unreadable(&error)),
    }
}

fn damaged(why: &str) -> Refusal {
    Refusal::new(format!("a damaged or cut off zip ({why})"), "the whole file; transfer it again")
}

pub(super) fn unreadable(error: &io::Error) -> Refusal {
    Refusal::new(format!("that the file cannot be read ({error})"), ONE_FILE).failed(error)
}
