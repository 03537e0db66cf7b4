//! One column of a Parquet file, read by the reader that its crate comes with: it shares no code with [`crate::billing`], which
//! reads pages by itself.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, FileReader, Length};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;

pub(super) struct Column(RowIter<'static>);

impl Column {
    /// The column that `choose` picks among the names of all.
    pub fn open<R: Read + Seek + Send + 'static>(
        mut content: R,
        choose: impl Fn(&[&[u8]]) -> Option<usize>,
    ) -> io::Result<Self> {
        let length = content.seek(SeekFrom::End(0))?;
        let file = Chunks { content: Arc::new(Mutex::new(content)), length };
        let reader = SerializedFileReader::new(file).map_err(io::Error::other)?;
        let schema = reader.metadata().file_metadata().schema();
        let names: Vec<&[u8]> = schema.get_fields().iter().map(|field| field.name().as_bytes()).collect();
        let wanted = choose(&names).and_then(|at| schema.get_fields().get(at));
        let wanted = wanted.ok_or_else(|| io::Error::other("the original has no cost column"))?;
        let projection = Type::group_type_builder(schema.name()).with_fields(vec![wanted.clone()]).build();
        let rows = projection
            .and_then(|projection| RowIter::from_file_into(Box::new(reader)).project(Some(projection)))
            .map_err(io::Error::other)?;
        Ok(Self(rows))
    }

    /// What the next row holds, as text; `None` behind the last.
    pub fn next(&mut self) -> io::Result<Option<String>> {
        let Some(row) = self.0.next().transpose().map_err(io::Error::other)? else { return Ok(None) };
        let field = row.get_column_iter().next().map(|(_, field)| field);
        Ok(Some(match field {
            None | Some(Field::Null) => String::new(),
            Some(Field::Str(text)) => text.clone(),
            Some(field) => field.to_string(),
        }))
    }
}

/// A file that is read from several places.
struct Chunks<R> {
    content: Arc<Mutex<R>>,
    length: u64,
}

/// From a place on.
struct Tail<R> {
    content: Arc<Mutex<R>>,
    at: u64,
}

fn locked<R>(content: &Mutex<R>) -> MutexGuard<'_, R> {
    content.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<R> Length for Chunks<R> {
    fn len(&self) -> u64 {
        self.length
    }
}

impl<R: Read + Seek + Send> ChunkReader for Chunks<R> {
    type T = Tail<R>;

    fn get_read(&self, start: u64) -> Result<Tail<R>> {
        Ok(Tail { content: Arc::clone(&self.content), at: start })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes> {
        let mut content = locked(&self.content);
        content.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        content.by_ref().take(length as u64).read_to_end(&mut bytes)?;
        Ok(bytes.into())
    }
}

impl<R: Read + Seek> Read for Tail<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut content = locked(&self.content);
        content.seek(SeekFrom::Start(self.at))?;
        let read = content.read(into)?;
        self.at += read as u64;
        Ok(read)
    }
}
