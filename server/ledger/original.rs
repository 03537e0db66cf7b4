//! Originals: every delivered file, kept, addressed by the SHA-256 of the bytes as received.
//!
//! The unpacked content lies in independent zstd frames of [`FRAME`] bytes with an index of rows beside
//! it, so that row 900,000 opens without reading what comes before. What arrived compressed is kept
//! as it arrived as well.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::mpsc::{self, SyncSender};
use std::thread::JoinHandle;

use ring::digest;
use serde::{Deserialize, Serialize};

use crate::store::disk;

/// Content bytes in one frame: large enough to compress well, small enough to open at once.
const FRAME: usize = 4 << 20;
/// Bytes in which two files are compared before they are hashed: the header and the first rows, which mostly state the day.
const START: u64 = 64 << 10;
/// A row position is noted this often.
const ROW_STEP: u64 = 1000;
/// Fast, about a fifth of the size on real exports; higher levels cost more time than the whole import.
const LEVEL: i32 = 1;

/// The folder of originals in a data directory.
#[derive(Clone, Debug)]
pub struct Originals {
    folder: PathBuf,
    kept_free: u64,
}

/// SHA-256 of a file as received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256(pub [u8; 32]);

#[derive(Serialize, Deserialize)]
struct Index {
    content_bytes: u64,
    /// Of the compressed file; originals of earlier versions do not say.
    #[serde(default)]
    stored_bytes: Option<u64>,
    /// Compressed offset of each frame.
    frames: Vec<u64>,
    /// Content offset of row 1, 1 + ROW_STEP, 1 + 2 * ROW_STEP …
    rows: Vec<u64>,
}

impl Originals {
    pub fn new(data_dir: &Path) -> Self {
        Self { folder: data_dir.join("originals"), kept_free: disk::KEPT_FREE }
    }

    /// The same, of which more or less of the disk stays free.
    #[must_use]
    pub fn keeping_free(self, bytes: u64) -> Self {
        Self { kept_free: bytes, ..self }
    }

    /// Fails where too little of the disk is free for so many bytes more.
    pub(super) fn check_room(&self, bytes: u64) -> io::Result<()> {
        disk::check(&self.folder, bytes, self.kept_free)
    }

    /// Starts keeping a file whose hash is not known yet.
    pub fn write(&self) -> io::Result<Writer> {
        make_private_folder(&self.folder)?;
        let file = tempfile::Builder::new().prefix("arriving-").tempfile_in(&self.folder)?;
        Ok(Writer::new(file))
    }

    /// A folder for what is written beside originals. Who gives a file there a name [holds originals](super::hold_originals): else the next
    /// removal of what imports left takes it away.
    pub fn scratch(&self) -> io::Result<&Path> {
        make_private_folder(&self.folder)?;
        Ok(&self.folder)
    }

    /// Where all of them lie.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files of an original, below the folder.
    pub fn files(&self, sha256: &Sha256) -> io::Result<Vec<PathBuf>> {
        let paths = [self.content_path(sha256), self.path(sha256, "index.json"), self.received_path(sha256)];
        // Only what was packed has the third.
        if let Some(missing) = paths[..2].iter().find(|path| !path.exists()) {
            return Err(not_found(&format!("{} is missing", missing.display())));
        }
        let below = paths.iter().filter(|path| path.exists());
        Ok(below.filter_map(|path| path.strip_prefix(&self.folder).ok().map(Path::to_owned)).collect())
    }

    /// Looks whether an original is there in its whole length, without reading it.
    pub(super) fn look(&self, sha256: &Sha256, content_bytes: u64, received_bytes: u64) -> io::Result<()> {
        self.files(sha256)?;
        let index = self.index(sha256)?;
        let content = self.content_path(sha256);
        let stored = fs::metadata(&content)?.len();
        let is_whole = match index.stored_bytes {
            Some(bytes) => stored == bytes,
            None => index.frames.last().is_none_or(|start| stored > *start),
        };
        if index.content_bytes != content_bytes || !is_whole {
            return Err(io::Error::other(format!("{} has another length", content.display())));
        }
        let received = self.received_path(sha256);
        match fs::metadata(&received) {
            Ok(file) if file.len() == received_bytes => Ok(()),
            // What was not packed is its content.
            Err(error) if error.kind() == io::ErrorKind::NotFound && received_bytes == content_bytes => {
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(not_found(&format!("{} is missing", received.display())))
            }
            Err(error) => Err(error),
            Ok(_) => Err(io::Error::other(format!("{} has another length", received.display()))),
        }
    }

    /// Every file in the folder, those that are only half kept included.
    pub fn every_file(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for entry in entries {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path());
                } else {
                    files.push(entry.path());
                }
            }
        }
        Ok(files)
    }

    /// The bytes of the rows around `row` (1-based, the header not counted), a thousand at most, and the number of
    /// the first of them.
    pub fn rows_around(&self, sha256: &Sha256, row: u64) -> io::Result<(Vec<u8>, u64)> {
        let index = self.index(sha256)?;
        let step = ((row.max(1) - 1) / ROW_STEP).min(index.rows.len().saturating_sub(1) as u64);
        let start = *index.rows.get(step as usize).ok_or_else(|| not_found("the file has no rows"))?;
        let end = index.rows.get(step as usize + 1).copied().unwrap_or(index.content_bytes);
        let mut rows = Vec::new();
        self.content_at(sha256, index, start)?.take(end - start).read_to_end(&mut rows)?;
        Ok((rows, 1 + step * ROW_STEP))
    }

    /// The whole unpacked content.
    pub fn content(&self, sha256: &Sha256) -> io::Result<Content> {
        let index = self.index(sha256)?;
        self.content_at(sha256, index, 0)
    }

    /// The file as it arrived.
    pub fn received(&self, sha256: &Sha256) -> io::Result<Box<dyn Read + Send>> {
        match File::open(self.received_path(sha256)) {
            Ok(file) => Ok(Box::new(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Box::new(self.content(sha256)?)),
            Err(error) => Err(error),
        }
    }

    /// Removes a file that nothing refers to any more.
    pub(super) fn remove(&self, sha256: &Sha256) -> io::Result<()> {
        // The content first, since its presence says that the original is complete.
        for path in [self.content_path(sha256), self.path(sha256, "index.json"), self.received_path(sha256)] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether one of these begins with the same bytes as a file.
    pub(super) fn any_begins_like(&self, these: &[Sha256], file: &Path) -> io::Result<bool> {
        let start = |from: &mut dyn Read| {
            let mut start = Vec::new();
            from.take(START).read_to_end(&mut start).map(|_| start)
        };
        let wanted = start(&mut File::open(file)?)?;
        // One that cannot be read is no reason to hash.
        let is_same =
            |sha256| self.received(sha256).is_ok_and(|mut it| start(&mut it).is_ok_and(|it| it == wanted));
        Ok(these.iter().any(is_same))
    }

    fn content_at(&self, sha256: &Sha256, index: Index, offset: u64) -> io::Result<Content> {
        let file = File::open(self.content_path(sha256))?;
        let mut content = Content { file, index, frame: 0, block: Vec::new(), at: 0 };
        content.seek_to(offset)?;
        Ok(content)
    }

    fn index(&self, sha256: &Sha256) -> io::Result<Index> {
        let bytes = fs::read(self.path(sha256, "index.json"))?;
        serde_json::from_slice(&bytes).map_err(io::Error::other)
    }

    fn content_path(&self, sha256: &Sha256) -> PathBuf {
        self.path(sha256, "zst")
    }

    fn received_path(&self, sha256: &Sha256) -> PathBuf {
        self.path(sha256, "received")
    }

    fn path(&self, sha256: &Sha256, extension: &str) -> PathBuf {
        let hex = sha256.to_string();
        self.folder.join(&hex[..2]).join(format!("{hex}.{extension}"))
    }
}

/// Takes the unpacked content as it is read and compresses it on a thread of its own, beside the import.
pub struct Writer {
    block: Vec<u8>,
    content_bytes: u64,
    rows: Vec<u64>,
    next_row: u64,
    compressor: Option<Compressor>,
}

struct Compressor {
    blocks: SyncSender<Vec<u8>>,
    thread: JoinHandle<io::Result<Compressed>>,
}

struct Compressed {
    file: tempfile::NamedTempFile,
    frames: Vec<u64>,
    bytes: u64,
    /// Of the content.
    sha256: Sha256,
}

impl Writer {
    fn new(mut file: tempfile::NamedTempFile) -> Self {
        let (blocks, incoming) = mpsc::sync_channel::<Vec<u8>>(1);
        let thread = std::thread::spawn(move || {
            let (mut frames, mut offset) = (Vec::new(), 0u64);
            let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
            let mut hasher = Hasher::default();
            for block in incoming {
                hasher.update(&block);
                let frame = compressor.compress(&block)?;
                frames.push(offset);
                offset += frame.len() as u64;
                file.write_all(&frame)?;
            }
            Ok(Compressed { file, frames, bytes: offset, sha256: hasher.finish() })
        });
        Self {
            block: Vec::with_capacity(FRAME),
            content_bytes: 0,
            rows: Vec::new(),
            next_row: 1,
            compressor: Some(Compressor { blocks, thread }),
        }
    }

    /// Notes that `row` begins at `offset` of the content. Cheap to call for every row.
    pub fn note_row(&mut self, row: u64, offset: u64) {
        if row == self.next_row {
            self.rows.push(offset);
            self.next_row += ROW_STEP;
        }
    }

    /// Puts the file in its place, under the hash of its content; where what was received is not its content, `packed` has
    /// its hash and where it lies. Answers the hash and the size of the content.
    pub fn finish(
        mut self,
        originals: &Originals,
        packed: Option<(Sha256, &Path)>,
    ) -> io::Result<(Sha256, u64)> {
        self.send_block()?;
        let compressor = self.compressor.take().ok_or_else(gone)?;
        drop(compressor.blocks);
        let Compressed { file, frames, bytes, sha256 } = compressor.thread.join().map_err(|_| gone())??;
        let sha256 = packed.map_or(sha256, |(sha256, _)| sha256);
        let index = Index {
            content_bytes: self.content_bytes,
            stored_bytes: Some(bytes),
            frames,
            rows: std::mem::take(&mut self.rows),
        };
        let target = originals.content_path(&sha256);
        let folder = target.parent().ok_or_else(gone)?;
        make_private_folder(folder)?;
        if let Some((_, packed)) = packed {
            originals.check_room(fs::metadata(packed)?.len())?;
            let mut copy = tempfile::NamedTempFile::new_in(folder)?;
            io::copy(&mut File::open(packed)?, copy.as_file_mut())?;
            keep(copy, &originals.received_path(&sha256))?;
        }
        let mut index_file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer(&mut index_file, &index)?;
        keep(index_file, &originals.path(&sha256, "index.json"))?;
        // Last, since its presence says that the original is complete.
        keep(file, &target)?;
        File::open(folder)?.sync_all()?;
        Ok((sha256, self.content_bytes))
    }

    fn send_block(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let block = std::mem::replace(&mut self.block, Vec::with_capacity(FRAME));
        let compressor = self.compressor.as_ref().ok_or_else(gone)?;
        if compressor.blocks.send(block).is_ok() {
            return Ok(());
        }
        // The thread hung up: its own error, a full disk mostly, is the one worth telling.
        let compressor = self.compressor.take().ok_or_else(gone)?;
        compressor.thread.join().map_err(|_| gone())?.and(Err(gone()))
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(FRAME - self.block.len());
        self.block.extend_from_slice(&bytes[..taken]);
        self.content_bytes += taken as u64;
        if self.block.len() == FRAME {
            self.send_block()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// SHA-256 of bytes as they come. By ring, twice as fast as sha2 where the processor has no instructions for it: there the
/// hash cost a third of the import's time.
pub struct Hasher(digest::Context);

impl Default for Hasher {
    fn default() -> Self {
        Self(digest::Context::new(&digest::SHA256))
    }
}

impl Hasher {
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn finish(self) -> Sha256 {
        let mut hash = [0; digest::SHA256_OUTPUT_LEN];
        hash.copy_from_slice(self.0.finish().as_ref());
        Sha256(hash)
    }
}

/// Unpacked content, read frame by frame.
pub struct Content {
    file: File,
    index: Index,
    frame: usize,
    block: Vec<u8>,
    at: usize,
}

impl Content {
    fn seek_to(&mut self, offset: u64) -> io::Result<()> {
        let frame = (offset / FRAME as u64) as usize;
        // A Parquet file or a workbook is read from place to place, mostly within a frame.
        if self.frame != frame + 1 || self.block.is_empty() {
            self.frame = frame;
            self.load()?;
        }
        self.at = (offset % FRAME as u64) as usize;
        Ok(())
    }

    fn load(&mut self) -> io::Result<()> {
        self.at = 0;
        self.block.clear();
        let Some(&start) = self.index.frames.get(self.frame) else {
            return Ok(());
        };
        self.frame += 1;
        self.file.seek(SeekFrom::Start(start))?;
        let length = match self.index.frames.get(self.frame) {
            Some(end) => end - start,
            None => u64::MAX,
        };
        let mut packed = Vec::new();
        (&self.file).take(length).read_to_end(&mut packed)?;
        self.block = zstd::bulk::decompress(&packed, FRAME)?;
        Ok(())
    }
}

impl Read for Content {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.block.len() {
            self.load()?;
        }
        let taken = into.len().min(self.block.len().saturating_sub(self.at));
        into[..taken].copy_from_slice(&self.block[self.at..self.at + taken]);
        self.at += taken;
        Ok(taken)
    }
}

impl Seek for Content {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        // The frame that is loaded is the one before the next.
        let at = (self.frame.max(1) as u64 - 1) * FRAME as u64 + self.at as u64;
        let offset = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(by) => at.checked_add_signed(by),
            SeekFrom::End(by) => self.index.content_bytes.checked_add_signed(by),
        };
        let offset = offset.ok_or_else(|| io::Error::other("before the start of the file"))?;
        self.seek_to(offset)?;
        Ok(offset)
    }
}

impl std::fmt::Display for Sha256 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for Sha256 {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for Sha256 {
    type Err = ();

    fn from_str(hex: &str) -> Result<Self, ()> {
        if hex.len() != 64 || !hex.is_ascii() {
            return Err(());
        }
        let mut bytes = [0; 32];
        for (byte, at) in bytes.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&hex[at..at + 2], 16).map_err(|_| ())?;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<Vec<u8>> for Sha256 {
    type Error = Vec<u8>;

    fn try_from(bytes: Vec<u8>) -> Result<Self, Self::Error> {
        bytes.try_into().map(Self)
    }
}

/// On the disk, then in its place: a name never stands for half a file.
fn keep(file: tempfile::NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_data()?;
    file.persist(path)?;
    Ok(())
}

/// Bills are nobody else's business, and the data directory itself can be passed by PostgreSQL's user.
fn make_private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn gone() -> io::Error {
    io::Error::other("the compressor stopped")
}

fn not_found(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_far_in_opens_without_what_comes_before() {
        let folder = tempfile::tempdir().unwrap();
        let originals = Originals::new(folder.path());
        let mut writer = originals.write().unwrap();
        let mut offset = 0;
        for row in 1..=300_000u64 {
            writer.note_row(row, offset);
            let line = format!("{row},some text that is the same in every row\n");
            writer.write_all(line.as_bytes()).unwrap();
            offset += line.len() as u64;
        }
        let (sha256, bytes) = writer.finish(&originals, None).unwrap();
        assert_eq!(bytes, offset);

        let (rows, first) = originals.rows_around(&sha256, 250_500).unwrap();
        let lines: Vec<&[u8]> = rows.split_inclusive(|byte| *byte == b'\n').collect();
        assert_eq!((first, lines.len()), (250_001, 1000));
        assert!(lines[0].starts_with(b"250001,some ") && lines[999].starts_with(b"251000,some "));
        let mut whole = Vec::new();
        originals.received(&sha256).unwrap().read_to_end(&mut whole).unwrap();
        assert_eq!(whole.len() as u64, offset);
    }

    #[test]
    fn files_are_compared_by_how_they_begin() {
        let folder = tempfile::tempdir().unwrap();
        let originals = Originals::new(folder.path());
        let content = "a row\n".repeat(50_000).into_bytes();
        let missing = Sha256([8; 32]);
        let mut writer = originals.write().unwrap();
        writer.write_all(&content).unwrap();
        let (kept, _) = writer.finish(&originals, None).unwrap();

        let file = folder.path().join("bill.csv");
        for (at, is_same) in [(None, true), (Some(10), false), (Some(content.len() - 1), true)] {
            let mut other = content.clone();
            if let Some(at) = at {
                other[at] = b'!';
            }
            fs::write(&file, other).unwrap();
            assert_eq!(originals.any_begins_like(&[missing, kept], &file).unwrap(), is_same, "{at:?}");
        }
        assert!(!originals.any_begins_like(&[missing], &file).unwrap());
    }
}
