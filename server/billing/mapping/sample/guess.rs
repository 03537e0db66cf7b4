//! How rows stand in a file: what separates the columns of a text, and which line of it or of a sheet names them.

use std::collections::BTreeMap;
use std::io::{self, Cursor};

use crate::billing::Content;
use crate::billing::mapping::document::Separator;
use crate::billing::mapping::suggest::cells::{is_blank, is_number_or_time};
use crate::billing::rows::{self, BYTE_ORDER_MARK, Layout, Start, Workbook};

/// Bytes of a text that are looked at.
const BYTES: usize = 64 << 10;
/// Titles and addresses above a header are no longer.
const LINES: usize = 30;

/// What people said of how rows stand in a file; what they did not say is guessed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub separator: Option<Separator>,
    /// Which line names the columns, from 1.
    pub header_row: Option<u32>,
    /// The name of a sheet of a workbook.
    pub sheet: Option<String>,
}

/// How rows stand in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    pub separator: Separator,
    /// `None` where nothing looks like one.
    pub header_row: Option<u32>,
    /// The lines above the header.
    pub above: Vec<String>,
    /// The names of the sheets of a workbook, and which one it is.
    pub sheets: Vec<String>,
    sheet: Option<usize>,
    /// Whether it is another one than that which is read where nothing is said.
    pub is_other_sheet: bool,
}

impl Shape {
    /// `said` is what people said of it.
    pub fn guess(start: Start<'_>, said: &Said) -> Self {
        match start {
            Start::Text(start) => Self::of_text(start, said.separator, said.header_row),
            Start::Workbook(workbook) => Self::of_workbook(workbook, said),
        }
    }

    /// The name of the sheet.
    pub fn sheet(&self) -> Option<&str> {
        self.sheet.and_then(|at| self.sheets.get(at)).map(String::as_str)
    }

    /// That of the separator with which a line looks like a header; of several, the one that gives the most lines the same
    /// number of fields, and then the most fields. A header comes first because the decimal commas of amounts divide as many
    /// lines as semicolons do, and none of the parts is a name.
    fn of_text(start: &[u8], separator: Option<Separator>, header_row: Option<u32>) -> Self {
        let start = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start);
        let candidates = Separator::ALL.into_iter().filter(|it| separator.is_none_or(|said| said == *it));
        let grids = candidates.map(|separator| (separator, Grid::new(records(start, separator))));
        // The first of equals: a comma before the others.
        let best = grids.reduce(|best, next| if next.1.rank() > best.1.rank() { next } else { best });
        let Some((separator, grid)) = best else { return Self::default() };
        let header_row =
            header_row.unwrap_or_else(|| grid.header.map_or(grid.first_of_width(), |it| it.at) as u32 + 1);
        let above = grid.above(header_row, char::from(separator.byte()));
        Self { separator, header_row: Some(header_row), above, ..Self::default() }
    }

    /// The rows of a sheet have the same columns, whichever of them are filled.
    fn of_workbook(workbook: &mut Workbook, said: &Said) -> Self {
        let sheets = workbook.sheets();
        let mut find = |name| workbook.header(name, Layout::default()).ok().flatten()?.0.sheet;
        let first = find(None);
        let sheet = said.sheet.as_deref().map_or(first, |name| find(Some(name)));
        let mut lines = Vec::new();
        for row in 1..=LINES as u32 {
            let layout = Layout { header_row: Some(row), sheet, ..Layout::default() };
            // A row without a value is none.
            let Ok(found) = workbook.header(None, layout) else { break };
            lines.push(found.map_or_else(Vec::new, |(_, header)| header.names().to_vec()));
        }
        let width = Grid::new(lines.clone()).width;
        for line in lines.iter_mut().filter(|line| !line.is_empty()) {
            line.resize(width.max(1), String::new());
        }
        let grid = Grid::new(lines);
        let header_row = said.header_row.or(grid.header.map(|names| names.at as u32 + 1));
        let above = header_row.map(|row| grid.above(row, ' ')).unwrap_or_default();
        let is_other_sheet = sheet != first;
        Self { separator: Separator::default(), header_row, above, sheets, sheet, is_other_sheet }
    }

    pub fn layout(&self) -> Layout {
        let (separator, header_row) = (self.separator.byte(), self.header_row);
        Layout { separator, header_row, sheet: self.sheet, ..Layout::default() }
    }
}

/// The lines at the beginning of a file, cell by cell.
struct Grid {
    /// Every record, blank ones too, since a header is counted by them.
    lines: Vec<Vec<String>>,
    /// The most common number of fields beyond 1, and how many lines have it.
    width: usize,
    lines_of_width: usize,
    header: Option<Names>,
}

/// A line that looks like a header.
#[derive(Clone, Copy)]
struct Names {
    at: usize,
    /// The higher the better.
    rank: u8,
}

impl Grid {
    fn new(lines: Vec<Vec<String>>) -> Self {
        let mut by_width = BTreeMap::new();
        for line in lines.iter().filter(|line| line.len() > 1) {
            *by_width.entry(line.len()).or_insert(0) += 1;
        }
        // The widest of equals.
        let (width, lines_of_width) =
            by_width.into_iter().max_by_key(|(width, lines)| (*lines, *width)).unwrap_or_default();
        let mut grid = Self { lines, width, lines_of_width, header: None };
        grid.header = grid.find_header();
        grid
    }

    fn rank(&self) -> (Option<u8>, usize, usize) {
        (self.header.map(|names| names.rank), self.lines_of_width, self.width)
    }

    /// The first line of the usual width that holds names, with data in the next line; where there is none, with data in one
    /// of the next few, since units may stand between; else one that is a field longer or shorter, since the last separator of
    /// a line is sometimes left off.
    fn find_header(&self) -> Option<Names> {
        let find = |rank: u8, off: usize, within: usize| {
            let mut lines = 0..self.lines.len().min(LINES);
            let at = lines.find(|at| self.has_names(*at, off) && self.is_followed_by_data(*at, within))?;
            Some(Names { at, rank })
        };
        find(2, 0, 1).or_else(|| find(1, 0, 4)).or_else(|| find(0, 1, 1))
    }

    /// Whether all cells of a line are texts, or nearly so.
    fn has_names(&self, at: usize, off: usize) -> bool {
        let line = &self.lines[at];
        let empty = line.iter().filter(|cell| is_blank(cell)).count();
        line.len() > 1
            && line.len().abs_diff(self.width) <= off
            && empty * 4 <= line.len()
            && !line.iter().any(|cell| is_number_or_time(cell))
    }

    fn is_followed_by_data(&self, at: usize, within: usize) -> bool {
        let has_text = |line: &&Vec<String>| line.iter().any(|cell| !is_blank(cell));
        let mut next = self.lines[at + 1..].iter().filter(has_text).take(within);
        next.any(|line| line.len() > 1 && line.iter().any(|cell| is_number_or_time(cell)))
    }

    /// The line to read names from where none looks like a header: the first of the usual width, or that is not blank.
    fn first_of_width(&self) -> usize {
        let has_text = |line: &[String]| line.iter().any(|cell| !is_blank(cell));
        let of_width = self.lines.iter().position(|line| line.len() == self.width && has_text(line));
        of_width.or_else(|| self.lines.iter().position(|line| has_text(line))).unwrap_or_default()
    }

    /// The lines above a header, with this between their cells.
    fn above(&self, header_row: u32, between: char) -> Vec<String> {
        let text = |line: &Vec<String>| {
            let text = line.join(&between.to_string());
            text.trim_end_matches(|c: char| c == between || c.is_whitespace()).to_owned()
        };
        self.lines.iter().take((header_row as usize).saturating_sub(1)).map(text).collect()
    }
}

/// The records at the start of a text, without quotes.
fn records(start: &[u8], separator: Separator) -> Vec<Vec<String>> {
    let whole = match start.get(..BYTES) {
        // The last line is most likely a part of one.
        Some(cut) => cut.iter().rposition(|byte| *byte == b'\n').map_or(cut, |end| &cut[..=end]),
        None => start,
    };
    // A blank line is the header, so that no title is refused for one.
    let text = Content::Text(Box::new(Cursor::new([b"\n", whole].concat())));
    let layout = Layout { separator: separator.byte(), header_row: Some(1), ..Layout::default() };
    let mut records = Vec::new();
    let Ok(mut opened) = rows::open(text, Box::new(io::sink()), |_| layout) else { return records };
    // What cannot be read is said when the rows are.
    while matches!(opened.rows.advance(), Ok(true)) {
        let record = opened.rows.record();
        let cell = |field| String::from_utf8_lossy(&record.plain(field)).trim().to_owned();
        records.push((0..record.len()).map(cell).collect());
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guessed(text: &str) -> (Separator, u32) {
        let shape = Shape::of_text(text.as_bytes(), None, None);
        (shape.separator, shape.header_row.unwrap())
    }

    #[test]
    fn separators_and_headers_are_found_below_titles() {
        use Separator::{Comma, Semicolon, Tab};
        for (text, expected) in [
            ("Date,Cost\n2026-09-01,5\n", (Comma, 1)),
            ("\u{feff}Date,Cost\n2026-09-01,5\n", (Comma, 1)),
            ("Date\tCost\n2026-09-01\t1,5\n", (Tab, 1)),
            // Every row has a decimal comma, and every title one, too.
            ("Nord GmbH, Berlin\n\nDatum;Betrag\n1.9.2026;1,5\n2.9.2026;2,5\n", (Semicolon, 3)),
            ("Acme,Inc\nBill to,Zed\nNo,7\n\nDate,Item,Cost\n1 Sep 2026,a,1\n2 Sep 2026,b,2\n", (Comma, 5)),
            ("\"A title\nof two lines\"\nDate,Cost\n2026-09-01,5\n", (Comma, 2)),
            // A field more than names.
            ("Date,Cost,Item\n2026-09-01,1,a,\n2026-09-01,2,b,\n2026-09-01,2,b,\n", (Comma, 1)),
            // Units stand below the names.
            ("Date,Time,Cost\n,(h),(USD)\n2026-09-01,1,5\n", (Comma, 1)),
            // Lists in cells are no columns.
            ("Date,Cost,Tags\n2026-09-01,5,a;b;c;d\n2026-09-01,6,a;b;c;d\n", (Comma, 1)),
            ("only text", (Comma, 1)),
            ("\n\n", (Comma, 1)),
            ("", (Comma, 1)),
        ] {
            assert_eq!(guessed(text), expected, "{text:?}");
        }
    }

    #[test]
    fn lines_above_the_header_are_kept_as_text() {
        let above =
            |said| Shape::of_text(b"Bill;;\n;;\na;b;c\n1;2;3\n", Some(Separator::Semicolon), said).above;
        assert_eq!(above(None), ["Bill", ""]);
        assert_eq!(above(Some(1)), Vec::<String>::new());
        assert_eq!(above(Some(0)), Vec::<String>::new());
        assert_eq!(above(Some(u32::MAX)).len(), 4);
    }
}
