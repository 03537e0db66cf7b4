//! The pages of a column, unpacked: each only as large as its header says, and that only as large as is allowed.

use std::io::Read as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use parquet::basic::{Compression, Encoding, Type as Physical};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;

use super::compact::Unreadable;
use super::header::{self, PageHeader};
use super::memory::{Held, Memory};
use super::source::Source;

/// Bytes of a page, unpacked: writers make them of one or a few megabytes.
const MAX_PAGE: i64 = 32 << 20;
/// Values of a page, nulls included: a few bytes can state any number of them.
const MAX_VALUES: i64 = 16 << 20;
/// Bytes in which a header ends: most have a hundred, one with statistics of long texts some thousands.
const MAX_HEADER: usize = 1 << 20;
/// Bytes read at once in search of a header.
const WINDOW: usize = 4 << 10;
/// Values of lists that one batch of rows may hold.
const MAX_NESTED: u64 = 2 << 20;
/// Bytes of what decodes a column, without its dictionary and its page: buffers of a thousand levels and indices.
const DECODER: u64 = 8 << 10;

/// Values that were handed out of lists since the batch began.
#[derive(Clone, Default)]
pub(super) struct Nested(Arc<AtomicU64>);

impl Nested {
    pub fn begin_batch(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    fn add(&self, values: u64) -> Result<()> {
        let before = self.0.fetch_add(values, Ordering::Relaxed);
        if before > MAX_NESTED {
            Err(refused("lists of more than two million values in a few rows"))
        } else {
            Ok(())
        }
    }
}

pub(super) struct Pages {
    source: Arc<Source>,
    memory: Memory,
    nested: Nested,
    compression: Compression,
    is_nested: bool,
    /// Bytes of a value of the dictionary once it is decoded, beside those that it has in the dictionary's page.
    decoded: u64,
    /// Where the next header begins, and where the column ends.
    next: u64,
    end: u64,
    /// The next header, once it was looked at.
    header: Option<PageHeader>,
    /// Rows before the next page, where each value is one.
    rows: u64,
    /// The page that was handed out last, or what is behind one that was left out.
    last: Mark,
    /// Where the dictionary is, once it was handed out, and where to go on behind it if that is elsewhere.
    dictionary: Option<u64>,
    behind_dictionary: Option<u64>,
    /// What decodes the pages.
    decoder: Held,
    /// How often they were begun.
    begun: u64,
    /// Whether what is handed out next was handed out before.
    is_again: bool,
    /// Whether the rows are left out.
    is_passing: bool,
}

/// A place among the pages, and how many rows are before it.
#[derive(Clone, Copy)]
struct Mark {
    at: u64,
    rows: u64,
}

impl Pages {
    pub fn new(
        source: Arc<Source>,
        column: &ColumnChunkMetaData,
        nested: Nested,
        memory: Memory,
    ) -> Result<Self> {
        let (start, length) = column.byte_range();
        let end = start.checked_add(length).filter(|end| *end <= source.length());
        let end = end.ok_or_else(|| refused("a column that lies beyond the end of the file"))?;
        Ok(Self {
            source,
            decoder: memory.hold(0)?,
            memory,
            nested,
            compression: column.compression(),
            is_nested: column.column_descr().max_rep_level() > 0,
            decoded: decoded(column.column_descr().physical_type()),
            next: start,
            end,
            header: None,
            rows: 0,
            last: Mark { at: start, rows: 0 },
            dictionary: None,
            behind_dictionary: None,
            begun: 0,
            is_again: false,
            is_passing: false,
        })
    }

    /// Begins for another decoder: with the dictionary, then with the page that was handed out last, or the first. Answers how
    /// many rows are before it. Where in a page of lists a row begins is not stated, so that these begin once only.
    pub fn begin(&mut self) -> Result<u64> {
        self.decoder.more(DECODER)?;
        self.is_again = self.begun > 0;
        self.begun += 1;
        self.is_passing = true;
        self.header = None;
        self.rows = self.last.rows;
        self.next = self.last.at;
        if let Some(dictionary) = self.dictionary {
            self.next = dictionary;
            self.behind_dictionary = Some(self.last.at);
        }
        Ok(self.last.rows)
    }

    /// From here on rows are read: values of lists, which are kept for a batch, count.
    pub fn arrive(&mut self) {
        self.is_passing = false;
    }

    /// What decoded them is gone.
    pub fn put_away(&mut self) {
        self.decoder.clear();
    }

    /// The header of the next page that holds values.
    fn look(&mut self) -> Result<Option<&PageHeader>> {
        while self.header.is_none() {
            if self.next >= self.end {
                return Ok(None);
            }
            let header = self.read_header()?;
            self.next += header.length as u64;
            match header.kind {
                header::DATA | header::DATA_V2 | header::DICTIONARY => {}
                header::INDEX => {
                    self.next += header.packed as u64;
                    continue;
                }
                _ => return Err(refused("a page of an unknown kind")),
            }
            self.header = Some(header);
        }
        Ok(self.header.as_ref())
    }

    fn read_header(&self) -> Result<PageHeader> {
        let mut window = WINDOW;
        loop {
            let left = (self.end - self.next).min(window as u64) as usize;
            let bytes = self.source.read(self.next, left)?;
            match PageHeader::read(&bytes) {
                Ok(header) => return self.checked(header),
                Err(Unreadable::Short) if left == window && window < MAX_HEADER => window *= 16,
                Err(_) => return Err(refused("a page without a header that can be read")),
            }
        }
    }

    /// What the rest relies on: nothing is negative, and all of it is there.
    fn checked(&self, header: PageHeader) -> Result<PageHeader> {
        let left = (self.end - self.next).saturating_sub(header.length as u64);
        if header.packed < 0 || header.packed as u64 > left {
            return Err(refused("a page that is longer than its column"));
        }
        if !(0..=MAX_PAGE).contains(&header.unpacked) || header.packed > MAX_PAGE {
            return Err(refused("a page of more than 32 MB"));
        }
        if !(0..=MAX_VALUES).contains(&header.values) {
            return Err(refused("a page of more than 16 million values"));
        }
        let levels = [header.definition_bytes, header.repetition_bytes];
        let within = levels.iter().all(|bytes| (0..=header.unpacked).contains(bytes));
        if !within || !(0..=MAX_VALUES).contains(&header.rows) || !(0..=header.values).contains(&header.nulls)
        {
            return Err(refused("a page whose header contradicts itself"));
        }
        Ok(header)
    }

    /// The content of the page behind the header, unpacked.
    fn unpacked(&self, header: &PageHeader) -> Result<Vec<u8>> {
        let size = header.unpacked as usize;
        if self.compression == Compression::UNCOMPRESSED || !header.is_packed {
            if header.packed != header.unpacked {
                return Err(refused(OTHER_SIZE));
            }
            return Ok(self.source.read(self.next, size)?);
        }
        let _packed = self.memory.hold(header.packed as u64)?;
        let packed = self.source.read(self.next, header.packed as usize)?;
        // Levels are packed in pages of version 1 only. Their sizes are none below zero: `checked` has looked.
        let of_levels = (header.definition_bytes + header.repetition_bytes) as usize;
        let (levels, packed) = packed.split_at_checked(of_levels).ok_or_else(|| refused(OTHER_SIZE))?;
        let values = size.checked_sub(of_levels).ok_or_else(|| refused(OTHER_SIZE))?;
        let mut page = vec![0; size];
        page[..of_levels].copy_from_slice(levels);
        if values == 0 {
            return Ok(page);
        }
        let unpacked = match self.compression {
            Compression::SNAPPY => {
                if snap::raw::decompress_len(packed).ok() != Some(values) {
                    return Err(refused(OTHER_SIZE));
                }
                let mut unsnap = snap::raw::Decoder::new();
                unsnap.decompress(packed, &mut page[of_levels..]).map_err(|_| refused(DAMAGED))?
            }
            Compression::ZSTD(_) => {
                self.memory.unzstd(packed, &mut page[of_levels..]).map_err(|_| refused(DAMAGED))?
            }
            Compression::GZIP(_) => {
                page.truncate(of_levels);
                let unzipped = flate2::bufread::MultiGzDecoder::new(packed);
                // One more than it may be, to see that it is more.
                let unzipped = unzipped.take(values as u64 + 1).read_to_end(&mut page);
                unzipped.map_err(|_| refused(DAMAGED))?
            }
            other => return Err(refused(&format!("columns packed with {other}"))),
        };
        if unpacked == values { Ok(page) } else { Err(refused(OTHER_SIZE)) }
    }

    fn page(&mut self, header: &PageHeader) -> Result<Page> {
        let at = self.next - header.length as u64;
        let held = self.memory.hold(header.unpacked as u64)?;
        let buf = held.page(self.unpacked(header)?);
        self.next += header.packed as u64;
        if self.is_again {
            self.memory.again(header.unpacked as u64)?;
        }
        let (num_values, encoding) = (header.values as u32, encoding(header.encoding)?);
        if header.kind == header::DICTIONARY {
            self.begin_dictionary(header, at)?;
            return Ok(Page::DictionaryPage { buf, num_values, encoding, is_sorted: false });
        }
        self.last = Mark { at, rows: self.rows };
        self.rows += header.values as u64;
        self.is_again = false;
        if self.is_nested && !self.is_passing {
            self.nested.add(header.values as u64)?;
        }
        if header.kind == header::DATA_V2 {
            return Ok(Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                num_nulls: header.nulls as u32,
                num_rows: header.rows as u32,
                def_levels_byte_len: header.definition_bytes as u32,
                rep_levels_byte_len: header.repetition_bytes as u32,
                is_compressed: header.is_packed,
                statistics: None,
            });
        }
        Ok(Page::DataPage {
            buf,
            num_values,
            encoding,
            def_level_encoding: self::encoding(header.definition_encoding)?,
            rep_level_encoding: self::encoding(header.repetition_encoding)?,
            statistics: None,
        })
    }

    /// Adds the decoded dictionary at `at` to what is held in memory, and continues after its page.
    fn begin_dictionary(&mut self, header: &PageHeader, at: u64) -> Result<()> {
        // A value has a byte at least: else it would be made room for values that are not there.
        if header.values > header.unpacked {
            return Err(refused("a dictionary of more values than it has bytes"));
        }
        // Each text becomes a slice, which takes more than an empty one has in the page.
        let decoded = header.values as u64 * self.decoded;
        self.decoder.more(decoded)?;
        if self.is_again {
            self.memory.again(decoded)?;
        }
        self.dictionary = Some(at);
        if self.last.at == at {
            self.last.at = self.next;
        }
        if let Some(next) = self.behind_dictionary.take() {
            self.next = next;
        }
        Ok(())
    }

    fn get_next_page(&mut self) -> Result<Option<Page>> {
        if self.look()?.is_none() {
            return Ok(None);
        }
        self.header.take().map(|header| self.page(&header)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        let is_nested = self.is_nested;
        Ok(self.look()?.map(|header| {
            // Where each value is a row, by the values: so rows are counted here, whatever else the header says.
            let rows = if is_nested { header.rows } else { header.values };
            PageMetadata {
                num_rows: (header.kind == header::DATA_V2).then_some(rows as usize),
                num_levels: Some(header.values as usize),
                is_dict: header.kind == header::DICTIONARY,
            }
        }))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.look()?;
        if let Some(header) = self.header.take() {
            self.next += header.packed as u64;
            if header.kind != header::DICTIONARY {
                self.rows += header.values as u64;
                self.last = Mark { at: self.next, rows: self.rows };
                self.is_again = false;
            }
        }
        Ok(())
    }
}

/// The pages of a column, both for what decodes them and for who puts that away.
#[derive(Clone)]
pub(super) struct SharedPages(Arc<Mutex<Pages>>);

impl SharedPages {
    pub fn new(pages: Pages) -> Self {
        Self(Arc::new(Mutex::new(pages)))
    }

    pub fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageReader for SharedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.lock().get_next_page()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.lock().peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.lock().skip_next_page()
    }
}

impl Iterator for SharedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// Bytes of a value in the crate's dictionary.
fn decoded(physical: Physical) -> u64 {
    let bytes = match physical {
        Physical::BOOLEAN => size_of::<bool>(),
        Physical::INT32 | Physical::FLOAT => size_of::<i32>(),
        Physical::INT64 | Physical::DOUBLE => size_of::<i64>(),
        Physical::INT96 => size_of::<Int96>(),
        Physical::BYTE_ARRAY => size_of::<ByteArray>(),
        Physical::FIXED_LEN_BYTE_ARRAY => size_of::<FixedLenByteArray>(),
    };
    bytes as u64
}

const OTHER_SIZE: &str = "a page of another size than its header says";
const DAMAGED: &str = "a page that cannot be unpacked";

/// How values are written. Text as differences to the text before is left out: a few bytes would become any number of them.
fn encoding(number: i64) -> Result<Encoding> {
    Ok(match number {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        3 => Encoding::RLE,
        #[expect(deprecated, reason = "levels of old files")]
        4 => Encoding::BIT_PACKED,
        5 => Encoding::DELTA_BINARY_PACKED,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        6 | 7 => return Err(refused("text in the encodings of Parquet's version 2")),
        other => return Err(refused(&format!("the unknown encoding {other}"))),
    })
}

/// What is wrong with a file, for people.
pub(super) fn refused(found: &str) -> ParquetError {
    ParquetError::General(found.to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use parquet::basic::{GzipLevel, ZstdLevel};
    use parquet::schema::parser::parse_message_type;
    use parquet::schema::types::SchemaDescriptor;

    use super::super::memory::Limits;
    use super::*;

    /// A number as Thrift's compact protocol writes it.
    fn number(value: i64, out: &mut Vec<u8>) {
        let mut rest = (value << 1 ^ value >> 63) as u64;
        while rest > 127 {
            out.push(rest as u8 | 128);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    /// A page: its header, and what stands behind it.
    fn page(kind: i64, unpacked: i64, packed: i64, values: i64, content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for value in [kind, unpacked, packed] {
            bytes.push(0x15);
            number(value, &mut bytes);
        }
        // The struct is field 5 of a page of data and field 7 of a dictionary.
        bytes.push(if kind == header::DICTIONARY { 0x4c } else { 0x2c });
        for value in [values, 0, 3, 3] {
            bytes.push(0x15);
            number(value, &mut bytes);
        }
        bytes.extend([0, 0]);
        [&bytes, content].concat()
    }

    fn first(file: Vec<u8>, compression: Compression) -> Result<Option<Page>> {
        let schema = parse_message_type("message schema { REQUIRED BYTE_ARRAY text (UTF8); }").unwrap();
        let column = SchemaDescriptor::new(Arc::new(schema)).column(0);
        let column = ColumnChunkMetaData::builder(column)
            .set_total_compressed_size(file.len() as i64)
            .set_compression(compression)
            .build()?;
        let memory = Memory::new(Limits::of_file(file.len() as u64));
        let source = Source::new(Box::new(Cursor::new(file)))?;
        Pages::new(Arc::new(source), &column, Nested::default(), memory)?.get_next_page()
    }

    #[test]
    fn a_page_is_what_its_header_says() {
        let whole =
            first(page(header::DATA, 5, 5, 1, b"\x01\0\0\0a"), Compression::UNCOMPRESSED).unwrap().unwrap();
        assert_eq!((whole.num_values(), whole.buffer().as_ref()), (1, &b"\x01\0\0\0a"[..]));
    }

    #[test]
    fn nothing_is_made_room_for_that_is_not_there() {
        let gzip = Compression::GZIP(GzipLevel::default());
        let bomb = {
            let mut encoder =
                flate2::read::GzEncoder::new(std::io::repeat(0).take(1 << 30), flate2::Compression::fast());
            let mut packed = vec![0; 100_000];
            encoder.read_exact(&mut packed).unwrap();
            packed
        };
        for (file, compression, reason) in [
            (
                page(header::DICTIONARY, 5, 5, 1 << 31, b"\x01\0\0\0a"),
                Compression::UNCOMPRESSED,
                "16 million",
            ),
            (
                page(header::DICTIONARY, 5, 5, 1000, b"\x01\0\0\0a"),
                Compression::UNCOMPRESSED,
                "than it has bytes",
            ),
            (page(header::DATA, 1 << 31, 5, 1, b"\x01\0\0\0a"), Compression::SNAPPY, "32 MB"),
            (page(header::DATA, -1, 5, 1, b"\x01\0\0\0a"), Compression::SNAPPY, "32 MB"),
            (
                page(header::DATA, 5, 500, 1, b"\x01\0\0\0a"),
                Compression::UNCOMPRESSED,
                "longer than its column",
            ),
            (page(header::DATA, 5, 4, 1, b"\x01\0\0\0"), Compression::UNCOMPRESSED, OTHER_SIZE),
            // Snappy's own length is half a gigabyte, zstd's is anything.
            (page(header::DATA, 5, 5, 1, b"\xff\xff\xff\xff\x01"), Compression::SNAPPY, OTHER_SIZE),
            (
                page(header::DATA, 5, 5, 1, b"\x28\xb5\x2f\xfd\0"),
                Compression::ZSTD(ZstdLevel::default()),
                DAMAGED,
            ),
            (page(header::DATA, 1000, bomb.len() as i64, 1, &bomb), gzip, OTHER_SIZE),
            (page(9, 5, 5, 1, b"\x01\0\0\0a"), Compression::UNCOMPRESSED, "unknown kind"),
            (vec![0x1c; 50], Compression::UNCOMPRESSED, "without a header"),
        ] {
            let refused = first(file, compression).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(refused.contains(reason), "{reason}: {refused}");
        }
    }
}
