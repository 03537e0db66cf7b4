//! Thrift's compact protocol, in which Parquet states what a file holds: enough of it to look at what is stated before
//! anything is made room for.

/// Why something cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It may go on behind the bytes that are there.
    Short,
    Damaged,
}

/// Structs within one another.
const MAX_DEPTH: usize = 16;

/// Types of fields.
pub(super) const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const INTEGERS: std::ops::RangeInclusive<u8> = 4..=6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
pub(super) const STRUCT: u8 = 12;

pub(super) struct Compact<'a> {
    bytes: &'a [u8],
}

impl<'a> Compact<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Bytes behind what was read.
    pub fn left(&self) -> usize {
        self.bytes.len()
    }

    /// Calls `element` for each of a list of structs, which reads it; answers how many there are.
    pub fn structs(
        &mut self,
        kind: u8,
        mut element: impl FnMut(&mut Self) -> Result<(), Unreadable>,
    ) -> Result<u64, Unreadable> {
        if kind != LIST {
            return Err(Unreadable::Damaged);
        }
        let (count, of) = self.list()?;
        if of != STRUCT {
            return Err(Unreadable::Damaged);
        }
        (0..count).try_for_each(|_| element(self))?;
        Ok(count)
    }

    /// How many elements follow, and their type.
    fn list(&mut self) -> Result<(u64, u8), Unreadable> {
        let byte = self.byte()?;
        let count = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
        Ok((count, byte & 15))
    }

    /// Calls `field` with the number and the type of each field of a struct; it reads or skips what the field holds.
    pub fn fields(
        &mut self,
        mut field: impl FnMut(&mut Self, i64, u8) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        let mut id = 0;
        loop {
            let byte = self.byte()?;
            if byte == 0 {
                return Ok(());
            }
            id = match byte >> 4 {
                0 => self.integer()?,
                more => id.checked_add(i64::from(more)).ok_or(Unreadable::Damaged)?,
            };
            field(self, id, byte & 15)?;
        }
    }

    /// The fields of a field that is a struct.
    pub fn inner(
        &mut self,
        kind: u8,
        field: impl FnMut(&mut Self, i64, u8) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        if kind == STRUCT { self.fields(field) } else { Err(Unreadable::Damaged) }
    }

    pub fn number(&mut self, kind: u8) -> Result<i64, Unreadable> {
        if INTEGERS.contains(&kind) { self.integer() } else { Err(Unreadable::Damaged) }
    }

    fn byte(&mut self) -> Result<u8, Unreadable> {
        let (byte, rest) = self.bytes.split_first().ok_or(Unreadable::Short)?;
        self.bytes = rest;
        Ok(*byte)
    }

    fn varint(&mut self) -> Result<u64, Unreadable> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(Unreadable::Damaged)
    }

    fn integer(&mut self) -> Result<i64, Unreadable> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn skip_bytes(&mut self, bytes: u64) -> Result<(), Unreadable> {
        let bytes = usize::try_from(bytes).map_err(|_| Unreadable::Damaged)?;
        self.bytes = self.bytes.get(bytes..).ok_or(Unreadable::Short)?;
        Ok(())
    }

    pub fn skip(&mut self, kind: u8, depth: usize) -> Result<(), Unreadable> {
        if depth == MAX_DEPTH {
            return Err(Unreadable::Damaged);
        }
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.skip_bytes(1),
            DOUBLE => self.skip_bytes(8),
            BINARY => {
                let length = self.varint()?;
                self.skip_bytes(length)
            }
            LIST | SET => {
                let (count, of) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(of, depth))
            }
            MAP => {
                let count = self.varint()?;
                let kinds = if count == 0 { 0 } else { self.byte()? };
                (0..count).try_for_each(|_| {
                    self.skip_element(kinds >> 4, depth)?;
                    self.skip_element(kinds & 15, depth)
                })
            }
            STRUCT => self.fields(|compact, _, kind| compact.skip(kind, depth + 1)),
            kind if INTEGERS.contains(&kind) => self.varint().map(|_| ()),
            _ => Err(Unreadable::Damaged),
        }
    }

    /// In a list a boolean is a byte; as a field it is part of its type.
    fn skip_element(&mut self, kind: u8, depth: usize) -> Result<(), Unreadable> {
        match kind {
            TRUE | FALSE => self.skip_bytes(1),
            kind => self.skip(kind, depth + 1),
        }
    }
}
