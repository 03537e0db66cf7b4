//! What the rows of a file are billed, read as plain CSV, JSON, Parquet or a workbook by a reader that shares no code with
//! [`crate::billing`]: what it is told are names and separators.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::sync::Arc;

use serde_json::StreamDeserializer;
use serde_json::de::IoRead;
use serde_json::value::RawValue;

use super::{parquet_costs, workbook_costs};
use crate::billing::{Export, Layout};
use crate::money::Decimal;

/// The columns of a file whose amounts add up to what a row is billed.
#[derive(Clone)]
pub(super) struct CostColumns(Arc<Columns>);

struct Columns {
    /// Each under several names, in letters and digits only: the first of these that a file has.
    names: Vec<Vec<String>>,
    /// The same as a mapping states them; none of other formats.
    stated: Vec<String>,
    /// How lines and amounts are written, where people said so: brackets may stand for a minus.
    of_mapping: Option<(Layout, bool)>,
    /// Where the rows of a workbook are.
    layout: Layout,
    /// The member of an object that holds the rows.
    list: Option<&'static str>,
}

/// Those columns of a file, row by row.
pub(super) struct Costs<R: Read> {
    columns: CostColumns,
    rows: Rows<R>,
}

enum Rows<R: Read> {
    Csv(Table<R>),
    /// An object on each line.
    Lines(io::Lines<BufReader<R>>),
    /// The objects of an answer of an API, which is one page.
    Answer(std::vec::IntoIter<Object>),
    /// Objects one after the other.
    Elements(Box<StreamDeserializer<'static, IoRead<Elements<BufReader<R>>>, Object>>),
    Parquet(parquet_costs::Columns),
    Workbook(workbook_costs::Columns),
}

type Object = HashMap<String, Box<RawValue>>;

/// A plain CSV.
struct Table<R> {
    reader: csv::Reader<BufReader<R>>,
    record: csv::ByteRecord,
    columns: Vec<usize>,
    /// It has no line.
    is_empty: bool,
}

impl<R: Read + Seek + Send + 'static> Costs<R> {
    pub fn open(mut content: R, columns: CostColumns) -> io::Result<Self> {
        let mut magic = Vec::new();
        content.by_ref().take(4).read_to_end(&mut magic)?;
        content.rewind()?;
        if magic == b"PAR1" {
            let rows = Rows::Parquet(parquet_costs::Columns::open(content, &columns)?);
            return Ok(Self { columns, rows });
        }
        if magic == b"PK\x03\x04" {
            let rows = workbook_costs::Columns::open(content, &columns, columns.0.layout)?;
            return Ok(Self { columns, rows: Rows::Workbook(rows) });
        }
        let mut content = BufReader::with_capacity(1 << 20, content);
        if content.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
            content.consume(3);
        }
        if columns.0.list.is_some() && content.fill_buf()?.trim_ascii_start().starts_with(b"{") {
            let rows = Rows::Answer(columns.rows_of_answer(content)?);
            return Ok(Self { columns, rows });
        }
        let start = content.fill_buf()?.trim_ascii_start();
        let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let rows = match start {
            [b'{', ..] if serde_json::from_slice::<Object>(line).is_ok() => Rows::Lines(content.lines()),
            [b'{' | b'[', ..] => {
                let elements = serde_json::Deserializer::from_reader(Elements::of(content));
                Rows::Elements(Box::new(elements.into_iter()))
            }
            _ => Rows::Csv(Table::open(content, &columns)?),
        };
        Ok(Self { columns, rows })
    }

    /// What the next row holds; `None` behind the last. A header that is repeated costs nothing.
    pub fn next(&mut self) -> io::Result<Option<Cost>> {
        let cells = match &mut self.rows {
            Rows::Csv(table) => table.next()?,
            Rows::Lines(lines) => {
                let line = loop {
                    match lines.next().transpose()? {
                        None => return Ok(None),
                        Some(line) if line.trim().is_empty() => {}
                        Some(line) => break line,
                    }
                };
                // A line that is no object is a rejected row.
                let object = serde_json::from_str(&line);
                Some(object.map_or_else(|_| vec![line.clone()], |object| self.columns.cells(&object)))
            }
            Rows::Answer(objects) => objects.next().map(|object| self.columns.cells(&object)),
            Rows::Elements(elements) => {
                elements.next().transpose()?.map(|object| self.columns.cells(&object))
            }
            Rows::Parquet(columns) => columns.next()?,
            Rows::Workbook(columns) => columns.next(),
        };
        Ok(cells.map(|cells| Cost { cells, columns: self.columns.clone() }))
    }
}

impl<R: Read> Table<R> {
    fn open(mut content: BufReader<R>, columns: &CostColumns) -> io::Result<Self> {
        let layout = columns.0.of_mapping.map_or_else(Layout::default, |(layout, _)| layout);
        for _ in 1..layout.header_row.unwrap_or(1) {
            content.skip_until(b'\n')?;
        }
        // A carriage return alone ends no row, as for whoever imports.
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .has_headers(false)
            .terminator(csv::Terminator::Any(b'\n'))
            .delimiter(layout.separator)
            .from_reader(content);
        let mut record = csv::ByteRecord::new();
        let is_empty = !reader.read_byte_record(&mut record)?;
        let places = columns.places(&record.iter().collect::<Vec<_>>());
        if !is_empty {
            columns.check(&places)?;
        }
        Ok(Self { reader, record, columns: places, is_empty })
    }

    fn next(&mut self) -> io::Result<Option<Vec<String>>> {
        if self.is_empty {
            return Ok(None);
        }
        loop {
            if !self.reader.read_byte_record(&mut self.record)? {
                return Ok(None);
            }
            // A line of spaces is no row.
            if self.record.len() > 1 || self.record.iter().any(|cell| !cell.trim_ascii().is_empty()) {
                break;
            }
        }
        let cell = |column: &usize| self.record.get(*column).unwrap_or_default();
        Ok(Some(self.columns.iter().map(|at| String::from_utf8_lossy(cell(at)).into_owned()).collect()))
    }
}

/// The elements of a list without its brackets and the commas between them.
pub(super) struct Elements<R> {
    content: R,
    depth: usize,
    is_text: bool,
    is_escaped: bool,
    /// Of what the content begins with: an object belongs to no list.
    outermost: usize,
}

impl<R: BufRead> Elements<R> {
    fn of(mut content: R) -> Self {
        let is_list = content.fill_buf().is_ok_and(|start| start.trim_ascii_start().starts_with(b"["));
        Self { content, depth: 0, is_text: false, is_escaped: false, outermost: usize::from(is_list) }
    }
}

impl<R: Read> Read for Elements<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(into)?;
        for byte in &mut into[..read] {
            if self.is_text {
                let ends = *byte == b'"' && !self.is_escaped;
                self.is_escaped = *byte == b'\\' && !self.is_escaped;
                self.is_text = !ends;
                continue;
            }
            let before = self.depth;
            match *byte {
                b'"' => self.is_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            let is_of_list = before.min(self.depth) < self.outermost && matches!(*byte, b'[' | b']')
                || before == self.outermost && *byte == b',';
            if is_of_list {
                *byte = b' ';
            }
        }
        Ok(read)
    }
}

impl CostColumns {
    /// Those of the format of an export.
    pub fn of(export: &Export) -> Self {
        let format = export.format();
        let billed = format.billed_columns();
        let stated =
            billed.iter().filter(|_| format.is_mapping()).flatten().map(ToString::to_string).collect();
        let names = billed
            .into_iter()
            .map(|names| names.into_iter().map(|name| letters(name.as_bytes())).collect())
            .collect();
        let of_mapping = format.is_mapping().then(|| (export.layout(), format.has_decimal_commas()));
        let layout = export.layout();
        Self(Arc::new(Columns { names, stated, of_mapping, layout, list: format.list() }))
    }

    /// The rows of an object that has them in a list.
    fn rows_of_answer(&self, content: impl Read) -> io::Result<std::vec::IntoIter<Object>> {
        let members: Object = serde_json::from_reader(content)?;
        let list = match self.0.list.and_then(|name| name.strip_prefix("*.")) {
            Some(nested) => members
                .values()
                .find_map(|member| serde_json::from_str::<Object>(member.get()).ok()?.remove(nested)),
            None => self.0.list.and_then(|name| members.get(name)).cloned(),
        };
        let list = list.as_ref().map_or("[]", |list| list.get());
        Ok(serde_json::from_str::<Vec<Object>>(list)?.into_iter())
    }

    /// Where they are among names.
    pub fn places(&self, names: &[&[u8]]) -> Vec<usize> {
        let by_letters: Vec<String> = names.iter().map(|name| letters(name)).collect();
        let place =
            |keys: &Vec<String>| keys.iter().find_map(|key| by_letters.iter().position(|name| name == key));
        let of_column = |(at, keys): (usize, &Vec<String>)| {
            let stated = self.0.stated.get(at).and_then(|stated| place_of(stated, names));
            stated.or_else(|| place(keys))
        };
        self.0.names.iter().enumerate().filter_map(of_column).collect()
    }

    /// That they were found, of a format that states them.
    pub fn check(&self, places: &[usize]) -> io::Result<()> {
        let are_missing = places.is_empty() && !self.0.names.is_empty();
        if are_missing { Err(io::Error::other("the original has no cost column")) } else { Ok(()) }
    }

    /// What an object holds where it says what was billed: in a member, or in one of a member.
    fn cells(&self, object: &Object) -> Vec<String> {
        let cells = self.cells_beside(object);
        if !cells.is_empty() {
            return cells;
        }
        let inner = |(name, value): (&String, &RawValue)| {
            let members = serde_json::from_str::<Object>(value.get()).unwrap_or_default();
            members.into_iter().map(|(inner, value)| (format!("{name}.{inner}"), value)).collect::<Vec<_>>()
        };
        self.cells_beside(&object.iter().map(|(name, value)| (name, &**value)).flat_map(inner).collect())
    }

    fn cells_beside(&self, object: &Object) -> Vec<String> {
        let (names, values): (Vec<&[u8]>, Vec<&str>) =
            object.iter().map(|(name, value)| (name.as_bytes(), value.get())).unzip();
        let text = |at: usize| serde_json::from_str(values[at]).unwrap_or_else(|_| values[at].to_owned());
        self.places(&names).into_iter().map(text).collect()
    }

    fn is_name(&self, cell: &str) -> bool {
        !self.places(&[cell.as_bytes()]).is_empty()
    }
}

/// Where a column is that a mapping names: as the file writes it, or the second of those that are written alike where ` (2)` stands
/// behind the name.
fn place_of(stated: &str, names: &[&[u8]]) -> Option<usize> {
    let written = names.iter().position(|name| name.trim_ascii() == stated.trim().as_bytes());
    let numbered = || {
        let (name, number) = stated.trim().strip_suffix(')')?.rsplit_once('(')?;
        let alike = |other: &[u8]| without_marks(&String::from_utf8_lossy(other)) == without_marks(name);
        let mut alike = names.iter().enumerate().filter(|(_, other)| alike(other));
        alike.nth(number.parse::<usize>().ok()?.checked_sub(1)?).map(|(at, _)| at)
    };
    written.or_else(numbered)
}

/// A name in lower case, of which only letters, digits and the signs of currencies matter.
fn without_marks(name: &str) -> String {
    let matters = |c: &char| c.is_alphanumeric() || !c.is_ascii() && !c.is_whitespace() || *c == '$';
    name.chars().filter(matters).flat_map(char::to_lowercase).collect()
}

/// The name of a column, of which only letters and digits matter. A translated one has Azure's own in parentheses behind it.
fn letters(name: &[u8]) -> String {
    let own = name.trim_ascii().strip_suffix(b")");
    let name =
        own.map_or(name, |name| name.iter().rposition(|byte| *byte == b'(').map_or(name, |at| &name[at..]));
    let letters = String::from_utf8_lossy(name);
    letters.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

/// The cells of a row in the cost columns.
pub(super) struct Cost {
    cells: Vec<String>,
    columns: CostColumns,
}

impl Cost {
    /// What they add up to.
    pub fn amount(&self) -> io::Result<Decimal> {
        let mut sum = Decimal::ZERO;
        for cell in self.cells.iter().filter(|cell| !self.columns.is_name(cell)) {
            let amount = match (self.columns.0.of_mapping, cell.trim_start().as_bytes()) {
                (Some((_, has_decimal_commas)), _) => entered(cell, has_decimal_commas)?,
                (None, [b'[' | b'{', ..]) => amounts_in(cell)?,
                (None, _) => amount(cell.as_bytes())?,
            };
            sum = sum.checked_add(amount).map_err(io::Error::other)?;
        }
        Ok(sum)
    }
}

/// The sum of what stands behind each name `amount` in a list, whichever quotes it has.
fn amounts_in(list: &str) -> io::Result<Decimal> {
    let mut sum = Decimal::ZERO;
    for (at, name) in list.match_indices("amount") {
        let behind = &list[at + name.len()..];
        let Some(value) = behind.strip_prefix(['"', '\'']).map(str::trim_start) else { continue };
        let Some(value) = value.strip_prefix(':') else { continue };
        let value = value.trim_start().trim_start_matches(['"', '\'']);
        let end =
            value.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(value.len());
        let amount = amount(&value.as_bytes()[..end])?;
        sum = sum.checked_add(amount).map_err(io::Error::other)?;
    }
    Ok(sum)
}

/// Currency signs, separators of thousands and spaces are decoration; no text at all is nothing.
fn amount(cell: &[u8]) -> io::Result<Decimal> {
    let plain: Vec<u8> =
        cell.iter().copied().filter(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte)).collect();
    if plain.is_empty() || cell.eq_ignore_ascii_case(b"null") {
        return Ok(Decimal::ZERO);
    }
    Decimal::parse(&plain)
        .map_err(|_| io::Error::other(format!("no amount: {}", String::from_utf8_lossy(cell))))
}

/// An amount as people write it: a minus before or behind it, or brackets around it.
fn entered(cell: &str, has_decimal_commas: bool) -> io::Result<Decimal> {
    // As programs write small ones: 5e-06.
    if cell.contains(['e', 'E'])
        && let Ok(plain) = Decimal::parse(cell.trim().as_bytes())
    {
        return Ok(plain);
    }
    let (mark, is_negative) = (if has_decimal_commas { ',' } else { '.' }, cell.contains(['(', '-', '−']));
    let digits = cell.chars().filter(|c| c.is_ascii_digit() || *c == mark);
    let plain: String = digits.map(|c| if c == mark { '.' } else { c }).collect();
    if plain.is_empty() {
        return Ok(Decimal::ZERO);
    }
    let value =
        Decimal::parse(plain.as_bytes()).map_err(|_| io::Error::other(format!("no amount: {cell}")))?;
    Ok(if is_negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_a_mapping_says() {
        for (cell, has_decimal_commas, expected) in [
            ("1.234,50 €", true, "1234.50"),
            ("($ 1,234.50)", false, "-1234.50"),
            ("5,00-", true, "-5.00"),
            ("EUR 7", false, "7"),
            ("5e-06", false, "0.000005"),
            ("", false, "0"),
        ] {
            assert_eq!(entered(cell, has_decimal_commas).unwrap(), expected.parse().unwrap(), "{cell}");
        }
    }

    #[test]
    fn columns_are_found_as_a_mapping_states_them() {
        for (stated, names, expected) in [
            ("Net (USD)", &["Tax (USD)", "Net (USD)"][..], Some(1)),
            ("Amount", &["Amount", "Amount"], Some(0)),
            ("Amount (2)", &["Amount", "Amount"], Some(1)),
            ("AMOUNT (2)", &["Amount", "Unit", "AMOUNT "], Some(2)),
            ("Betrag € (2)", &["Betrag $", "Betrag €", "Betrag €"], Some(2)),
            ("(2)", &["Date", "", ""], Some(2)),
            ("Cost", &["Amount"], None),
        ] {
            let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
            assert_eq!(place_of(stated, &names), expected, "{stated}");
        }
    }

    #[test]
    fn amounts_of_a_list_add_up_whoever_wrote_it() {
        for (list, sum) in [
            ("[]", "0"),
            (r#"[{"name":"a","amount":-1.25},{"amount":"-0.75"}]"#, "-2.00"),
            (r#"{"amount": 0, "name": ""}"#, "0"),
            ("[{'name': 'amount', 'amount': -5e-06, 'id': None}]", "-0.000005"),
            (r#"[{"amount":null}]"#, "0"),
        ] {
            assert_eq!(amounts_in(list).unwrap(), sum.parse().unwrap(), "{list}");
        }
    }
}
