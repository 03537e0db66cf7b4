//! The files of a delivery: opened, read one after the other, and kept as they arrived.

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex};

use crate::billing::{self, Learned, ReadAs, ReadSeek, Refusal};

use super::load::{Failure, LoadError, ended, file_error, refused};
use super::loaded::{Kept, LoadedFile, Source};
use super::original::{self, Originals, Sha256};
use super::progress::{Counted, Progress};
use super::read::Reader;
use super::reading::Sink;

/// The files of a delivery, as they are read one after the other.
pub(super) struct Files<'a> {
    pub originals: &'a Originals,
    pub sources: &'a [Source],
    pub read_as: &'a ReadAs,
    pub progress: &'a Progress,
    /// What the files before the next one say of rows in all of them.
    pub learned: Option<Learned>,
}

impl Files<'_> {
    /// Opens one. Every byte that is read of it goes into the sink, too.
    pub fn open(
        &mut self,
        file_no: usize,
        sink: Box<dyn io::Write + Send>,
    ) -> Result<billing::Export, LoadError> {
        let Self { originals, sources, read_as, progress, .. } = *self;
        let mut export = open(originals, &sources[file_no], read_as, progress.clone(), sink)?;
        export.stand_beside(others(originals, sources, file_no, progress), self.learned.take());
        Ok(export)
    }

    /// Reads one, and writes its original beside, unless that is kept already.
    pub fn read<S: Sink>(
        &mut self,
        reader: &mut Reader<'_, S>,
        file_no: usize,
    ) -> Result<(billing::Export, Option<Unfinished>), Failure> {
        let (originals, source) = (self.originals, &self.sources[file_no]);
        let original = match source.kept {
            Some(_) => None,
            None => Some(originals.write().map_err(|error| file_error(source, error))?),
        };
        let original = original.map(|original| Arc::new(Mutex::new(original)));
        let sink: Box<dyn io::Write + Send> = match &original {
            Some(original) => Box::new(SharedWriter(Arc::clone(original))),
            None => Box::new(io::sink()),
        };
        let mut export = self.open(file_no, sink)?;
        let note_row = |row, offset| {
            if let Some(Ok(mut original)) = original.as_ref().map(|original| original.lock()) {
                original.note_row(row, offset);
            }
        };
        reader.file(file_no as i16, &mut export, note_row).map_err(|error| ended(source, error))?;
        self.learned = export.learned();
        Ok((export, original.map(Unfinished)))
    }
}

/// An original whose content was written. The export that wrote it must be gone.
pub(super) struct Unfinished(Arc<Mutex<original::Writer>>);

impl Unfinished {
    /// Puts it in its place, under the hash of the file: `packed` where that is not its content.
    pub fn finish(
        self,
        originals: &Originals,
        source: &Source,
        packed: Option<Sha256>,
    ) -> io::Result<LoadedFile> {
        let writer = Arc::into_inner(self.0).and_then(|writer| writer.into_inner().ok());
        let writer = writer.ok_or_else(|| io::Error::other("the original is still being written"))?;
        let packed = packed.map(|sha256| (sha256, source.path.as_path()));
        let (sha256, content_bytes) = writer.finish(originals, packed)?;
        let received_bytes = std::fs::metadata(&source.path)?.len();
        Ok(source.loaded(Kept { sha256, received_bytes, content_bytes }))
    }
}

/// For whoever looks at a file twice.
pub(super) fn open_quietly(
    originals: &Originals,
    source: &Source,
    read_as: &ReadAs,
    progress: &Progress,
) -> Result<billing::Export, LoadError> {
    open(originals, source, read_as, progress.uncounted(), Box::new(io::sink()))
}

fn open(
    originals: &Originals,
    source: &Source,
    read_as: &ReadAs,
    progress: Progress,
    sink: Box<dyn io::Write + Send>,
) -> Result<billing::Export, LoadError> {
    let content = content(originals, source).map_err(|error| file_error(source, error))?;
    let opened = billing::open_with_sink(&source.name, Counted::new(content, progress), read_as, sink);
    let mut export = opened.map_err(|refusal| refused(source, refusal))?;
    export.take(source.half);
    Ok(export)
}

/// What a file holds, as it arrived or as it is kept.
fn content(originals: &Originals, source: &Source) -> io::Result<Box<dyn ReadSeek>> {
    Ok(match &source.kept {
        Some(kept) => Box::new(originals.content(&kept.sha256)?),
        None => Box::new(File::open(&source.path)?),
    })
}

/// Opens the contents of the other files of a delivery.
fn others(
    originals: &Originals,
    sources: &[Source],
    file_no: usize,
    progress: &Progress,
) -> Vec<billing::Reopen> {
    let others = sources.iter().enumerate().filter(|(number, _)| *number != file_no);
    let open = |(_, source): (usize, &Source)| -> billing::Reopen {
        let (originals, source, progress) = (originals.clone(), source.clone(), progress.uncounted());
        Box::new(move || {
            let content = content(&originals, &source).map_err(|error| {
                Refusal::new(error.to_string(), "a file that can be read").failed(&error).of(&source.name)
            })?;
            billing::unpack(Counted::new(content, progress.clone()))
        })
    };
    others.map(open).collect()
}

/// The original takes content from the export and row positions from the reader.
struct SharedWriter(Arc<Mutex<original::Writer>>);

impl io::Write for SharedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().map_err(|_| io::Error::other("the original's writer failed"))?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
