//! Workbooks (.xlsx) as spreadsheet programs write them, part by part.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A sheet: what stands in each cell, and which cells are merged.
#[derive(Clone, Default)]
pub struct Sheet {
    pub name: &'static str,
    pub is_hidden: bool,
    /// Rows by number, from 1, each with its cells from the first column on.
    pub rows: Vec<(u32, Vec<Cell>)>,
    /// As in `A2:A4`.
    pub merged: Vec<&'static str>,
}

/// What stands in a cell.
#[derive(Clone)]
pub enum Cell {
    Nothing,
    Text(String),
    Number(&'static str),
    /// A number with a format of dates.
    Date(&'static str),
    /// A number with a format of dates and times.
    Time(&'static str),
    /// What a formula came to.
    Formula(&'static str),
    Error(&'static str),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        if text.is_empty() { Self::Nothing } else { Self::Text(text.to_owned()) }
    }
}

/// A row of texts.
pub fn texts(cells: &[&str]) -> Vec<Cell> {
    cells.iter().map(|cell| Cell::from(*cell)).collect()
}

pub fn workbook(sheets: &[Sheet]) -> Vec<u8> {
    zip(&parts(sheets, false))
}

/// With days that are counted from 1904 on.
pub fn workbook_of_1904(sheets: &[Sheet]) -> Vec<u8> {
    zip(&parts(sheets, true))
}

pub fn zip(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(name.as_str(), SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";

/// The parts of a workbook. Texts are shared.
pub fn parts(sheets: &[Sheet], is_1904: bool) -> Vec<(String, Vec<u8>)> {
    let (mut strings, mut list, mut relations) = (Vec::new(), String::new(), String::new());
    let mut all = Vec::new();
    for (at, sheet) in sheets.iter().enumerate() {
        let id = at + 1;
        let state = if sheet.is_hidden { r#" state="hidden""# } else { "" };
        write!(list, r#"<sheet name="{}" sheetId="{id}"{state} r:id="rId{id}"/>"#, sheet.name).unwrap();
        let target = format!("worksheets/sheet{id}.xml");
        write!(relations, r#"<Relationship Id="rId{id}" Type="{OFFICE}/worksheet" Target="{target}"/>"#)
            .unwrap();
        all.push((format!("xl/{target}"), sheet_xml(sheet, &mut strings)));
    }
    let date_system = if is_1904 { r#"<workbookPr date1904="1"/>"# } else { "" };
    let workbook = format!(
        r#"<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">{date_system}<sheets>{list}</sheets></workbook>"#
    );
    let relations = format!(r#"<Relationships xmlns="{PACKAGE}">{relations}</Relationships>"#);
    let package = format!(
        r#"<Relationships xmlns="{PACKAGE}"><Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
    );
    let texts: String = strings
        .iter()
        .flat_map(|text| ["<si><t>".to_owned(), escaped(text), "</t></si>".to_owned()])
        .collect();
    let count = strings.len();
    let strings = format!(r#"<sst xmlns="{MAIN}" count="{count}" uniqueCount="{count}">{texts}</sst>"#);
    let formats = [0, 14, 22].map(|id| format!(r#"<xf numFmtId="{id}"/>"#)).concat();
    let styles = format!(r#"<styleSheet xmlns="{MAIN}"><cellXfs count="3">{formats}</cellXfs></styleSheet>"#);
    for (name, text) in [
        ("[Content_Types].xml", "<Types/>".to_owned()),
        ("_rels/.rels", package),
        ("xl/workbook.xml", workbook),
        ("xl/_rels/workbook.xml.rels", relations),
        ("xl/sharedStrings.xml", strings),
        ("xl/styles.xml", styles),
    ] {
        all.push((name.to_owned(), text.into_bytes()));
    }
    all
}

fn sheet_xml(sheet: &Sheet, strings: &mut Vec<String>) -> Vec<u8> {
    let mut rows = String::new();
    for (number, cells) in &sheet.rows {
        write!(rows, r#"<row r="{number}">"#).unwrap();
        for (at, cell) in cells.iter().enumerate() {
            let place = format!(r#"r="{}{number}""#, column(at));
            match cell {
                Cell::Nothing => write!(rows, r#"<c {place} s="1"/>"#),
                Cell::Text(text) => {
                    strings.push(text.clone());
                    write!(rows, r#"<c {place} t="s"><v>{}</v></c>"#, strings.len() - 1)
                }
                Cell::Number(number) => write!(rows, "<c {place}><v>{number}</v></c>"),
                Cell::Date(days) => write!(rows, r#"<c {place} s="1"><v>{days}</v></c>"#),
                Cell::Time(days) => write!(rows, r#"<c {place} s="2"><v>{days}</v></c>"#),
                Cell::Formula(value) => write!(rows, "<c {place}><f>SUM(A1:A9)</f><v>{value}</v></c>"),
                Cell::Error(error) => write!(rows, r#"<c {place} t="e"><f>A0</f><v>{error}</v></c>"#),
            }
            .unwrap();
        }
        rows += "</row>";
    }
    let merged: String = sheet.merged.iter().flat_map(|of| [r#"<mergeCell ref=""#, of, r#""/>"#]).collect();
    let merged = if merged.is_empty() { merged } else { format!("<mergeCells>{merged}</mergeCells>") };
    format!(r#"<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData>{merged}</worksheet>"#).into_bytes()
}

/// `A`, `B`, … `Z`, `AA`.
fn column(at: usize) -> String {
    let letter = |at: usize| char::from(b'A' + (at % 26) as u8);
    if at < 26 { letter(at).to_string() } else { format!("{}{}", letter(at / 26 - 1), letter(at)) }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
