//! The cost columns of a Parquet file, read by the reader that its crate comes with: it shares no code with [`crate::billing`], which
//! reads pages by itself.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, FileReader, Length};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;
use serde_json::Value;

use super::costs::CostColumns;

pub(super) struct Columns(RowIter<'static>);

impl Columns {
    pub fn open<R: Read + Seek + Send + 'static>(mut content: R, columns: &CostColumns) -> io::Result<Self> {
        let length = content.seek(SeekFrom::End(0))?;
        let file = Chunks { content: Arc::new(Mutex::new(content)), length };
        let reader = SerializedFileReader::new(file).map_err(io::Error::other)?;
        let schema = reader.metadata().file_metadata().schema();
        let fields = schema.get_fields();
        let places = columns.places(&fields.iter().map(|field| field.name().as_bytes()).collect::<Vec<_>>());
        columns.check(&places)?;
        let wanted: Vec<_> = places.into_iter().map(|at| fields[at].clone()).collect();
        let projection = Type::group_type_builder(schema.name()).with_fields(wanted).build();
        let rows = projection
            .and_then(|projection| RowIter::from_file_into(Box::new(reader)).project(Some(projection)))
            .map_err(io::Error::other)?;
        Ok(Self(rows))
    }

    /// What the next row holds, as text, lists as JSON; `None` behind the last.
    pub fn next(&mut self) -> io::Result<Option<Vec<String>>> {
        let Some(row) = self.0.next().transpose().map_err(io::Error::other)? else { return Ok(None) };
        let text = |field: &Field| match field {
            Field::Null => String::new(),
            Field::Str(text) => text.clone(),
            Field::ListInternal(_) | Field::Group(_) => json(field).to_string(),
            field => field.to_string(),
        };
        Ok(Some(row.get_column_iter().map(|(_, field)| text(field)).collect()))
    }
}

/// A list as JSON, in which numbers stay texts.
fn json(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Str(text) => text.clone().into(),
        Field::ListInternal(list) => list.elements().iter().map(json).collect(),
        Field::Group(row) => row.get_column_iter().map(|(name, field)| (name.clone(), json(field))).collect(),
        field => field.to_string().into(),
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
