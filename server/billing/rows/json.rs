//! Objects out of a stream: one on each line, as BigQuery and others write them, or the elements of one array, which may be the
//! member of an object. Bounded memory, and no allocation per row.

use serde_json::value::RawValue;

use super::Broken;
use super::envelope::{self, Members};
use super::paths::Paths;
use super::record::Record;
use super::stream::{CHUNK, Stream};

/// A walk over the objects of a stream of bytes.
pub(in crate::billing) struct JsonRows {
    stream: Stream,
    shape: Shape,
    /// Start of what follows the current object in the stream's buffer, and the end of that object.
    next: usize,
    end: usize,
    paths: Paths,
    /// Why the current line is no object.
    fault: Option<String>,
    /// Whether a member of this name holds rows.
    is_list: fn(&str) -> bool,
    /// What the object that holds the rows has beside them: behind the last row, all of it.
    members: Members,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Each line is an object: one that is damaged is one row.
    Lines,
    /// Objects with commas between them or without, over any lines.
    Elements(Inside),
}

/// What holds the objects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    Array,
    /// The array that is a member of an object, or of one in that.
    Member {
        is_nested: bool,
    },
}

/// What is known of the names in a file before it is read.
#[derive(Clone, Copy)]
pub(super) struct Names {
    /// Whether an object at this path is one cell: a map whose names are data. Asked without punctuation.
    pub is_map: fn(&str) -> bool,
    /// Whether a member of this name holds rows, where the file is one object.
    pub is_list: fn(&str) -> bool,
}

impl JsonRows {
    /// The objects of `stream` from `start` on. The columns are those of the objects that its first bytes hold: as many bytes as
    /// the first object takes, if that is no longer than a row may be.
    pub(super) fn open(mut stream: Stream, start: usize, names: Names) -> Result<Self, Broken> {
        stream.peek()?;
        let mut rows = Self {
            stream,
            shape: Shape::Lines,
            next: start,
            end: start,
            paths: Paths::new(names.is_map),
            fault: None,
            is_list: names.is_list,
            members: Members::new(),
        };
        rows.look(start);
        while rows.begins_with_a_part() && !rows.stream.is_too_long() {
            // Twice as much each time, since it is looked at from its beginning.
            let enough = 2 * rows.stream.filled;
            while rows.stream.filled < enough && !rows.stream.at_end && !rows.stream.is_too_long() {
                rows.stream.refill()?;
            }
            rows.look(start);
        }
        rows.learn();
        Ok(rows)
    }

    /// What the objects are written in, as far as what is in memory tells.
    fn look(&mut self, start: usize) {
        let buffer = &self.stream.buffer[..self.stream.filled];
        let opened = start + blank(&buffer[start..]);
        let (inside, next) = if buffer[opened..].starts_with(b"[") {
            (Inside::Array, opened + 1)
        } else if let Some(found) = envelope::open(&buffer[opened..], self.is_list) {
            self.members = found.members;
            (Inside::Member { is_nested: found.is_nested }, opened + found.rows)
        } else {
            (Inside::Nothing, opened)
        };
        let line = buffer[next..].split(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_whole = serde_json::from_slice::<&RawValue>(line).is_ok();
        let is_lines = is_whole && inside == Inside::Nothing;
        self.shape = if is_lines { Shape::Lines } else { Shape::Elements(inside) };
        (self.next, self.end) = (next, next);
    }

    /// Whether there is more of the first object to come.
    fn begins_with_a_part(&self) -> bool {
        !self.stream.at_end && matches!(self.found(), Ok(Found::Part))
    }

    /// Whether the first object is longer than a row may be. Before the first row.
    pub(super) fn begins_too_long(&self) -> bool {
        self.stream.is_too_long() && self.begins_with_a_part()
    }

    /// Goes over what is in memory, for the columns that are there.
    fn learn(&mut self) {
        let begin = self.next;
        while let Ok(Found::Object { start, end }) = self.found() {
            if let Ok(object) = std::str::from_utf8(&self.stream.buffer[start..end]) {
                // What is no object is said when it is a row.
                let _ = self.paths.read(object);
            }
            self.next = end;
        }
        self.next = begin;
    }

    /// Settles the columns: those of the first objects, and `names`.
    pub fn expect(&mut self, names: Vec<String>) {
        self.paths.expect(names);
    }

    /// The same columns, of other bytes: a part of the file.
    pub(super) fn continued(self, mut stream: Stream) -> Result<Self, Broken> {
        stream.peek()?;
        Ok(Self { stream, next: 0, end: 0, fault: None, ..self })
    }

    pub fn names(&self) -> &[String] {
        self.paths.names()
    }

    /// The columns that rows had so far, those that nobody expected included.
    pub fn met(&self) -> Vec<String> {
        self.paths.met()
    }

    /// What the object that holds the rows has beside them; of what stands behind them, once there are no more.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// The first bytes of the file, before the first row was taken.
    pub fn start(&self) -> &[u8] {
        &self.stream.buffer[..self.stream.filled.min(CHUNK)]
    }

    /// Moves to the next object; false at the end.
    pub fn advance(&mut self) -> Result<bool, Broken> {
        self.stream.start = self.next;
        self.fault = None;
        loop {
            match self.found()? {
                Found::Object { start, end } => {
                    self.stream.start = start;
                    (self.next, self.end) = (end, end);
                    self.take();
                    return Ok(true);
                }
                Found::Part if self.stream.at_end => return Err(Broken::CutOff),
                Found::Part => {
                    if self.stream.is_too_long() {
                        return Err(Broken::TooLong { field: 0, quoted: false });
                    }
                    self.next -= self.stream.refill()?;
                }
                Found::Closed(members) => {
                    self.members.extend(members);
                    self.next = self.stream.filled;
                    self.shape = Shape::Elements(Inside::Nothing);
                }
                Found::Nothing => return Ok(false),
            }
        }
    }

    /// Why the current row is no object, for people.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    pub fn position(&self) -> u64 {
        self.stream.position()
    }

    pub fn record(&self) -> Record<'_> {
        self.paths.record()
    }

    /// The current object by its paths, those that are no columns included.
    pub fn original(&self, is_map: fn(&str) -> bool) -> Vec<(String, String)> {
        let mut paths = Paths::new(is_map);
        let object = String::from_utf8_lossy(&self.stream.buffer[self.stream.start..self.end]);
        if paths.read(&object).is_err() {
            return vec![(String::new(), object.into_owned())];
        }
        let record = paths.record();
        let value = |column| String::from_utf8_lossy(&record.plain(column)).into_owned();
        paths.names().iter().enumerate().map(|(column, name)| (name.clone(), value(column))).collect()
    }

    fn take(&mut self) {
        let object = &self.stream.buffer[self.stream.start..self.end];
        let read = match std::str::from_utf8(object) {
            Ok(object) => self.paths.read(object).map_err(|error| describe(&error)),
            Err(_) => Err("text that is not UTF-8".to_owned()),
        };
        self.fault = read.err();
    }
}

/// What comes next in the buffer.
enum Found {
    Object {
        start: usize,
        end: usize,
    },
    /// Its end is not there yet.
    Part,
    /// The end of the list, and what its object has behind it.
    Closed(Members),
    Nothing,
}

impl JsonRows {
    fn found(&self) -> Result<Found, Broken> {
        match self.shape {
            Shape::Lines => Ok(self.line()),
            Shape::Elements(inside) => self.element(inside),
        }
    }

    fn line(&self) -> Found {
        let Stream { buffer, filled, at_end, .. } = &self.stream;
        let start = self.next + blank(&buffer[self.next..*filled]);
        match memchr::memchr(b'\n', &buffer[start..*filled]) {
            Some(length) => Found::Object { start, end: start + length },
            None if !at_end => Found::Part,
            None if start == *filled => Found::Nothing,
            None => Found::Object { start, end: *filled },
        }
    }

    fn element(&self, inside: Inside) -> Result<Found, Broken> {
        let Stream { buffer, filled, at_end, .. } = &self.stream;
        let mut start = self.next + blank(&buffer[self.next..*filled]);
        while start < *filled && buffer[start] == b',' {
            start += 1 + blank(&buffer[start + 1..*filled]);
        }
        let rest = &buffer[start..*filled];
        match rest {
            [] if !at_end => Ok(Found::Part),
            [] if inside != Inside::Nothing => Err(Broken::CutOff),
            [] => Ok(Found::Nothing),
            // All of it is read, so that all of it is kept.
            [b']', ..] if matches!(inside, Inside::Member { .. }) && !at_end => Ok(Found::Part),
            [b']', behind @ ..] if let Inside::Member { is_nested } = inside => {
                match envelope::close(behind, is_nested) {
                    Ok(members) => Ok(Found::Closed(members)),
                    Err(error) if error.is_eof() => Err(Broken::CutOff),
                    Err(error) => Err(Broken::Malformed(describe(&error))),
                }
            }
            [b']', behind @ ..] if inside == Inside::Array => match behind.trim_ascii_start() {
                [] if *at_end => Ok(Found::Nothing),
                // All of it is read, so that all of it is kept.
                [] => Ok(Found::Part),
                _ => Err(Broken::Malformed("more behind the end of the list".to_owned())),
            },
            _ => {
                let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<&RawValue>();
                match values.next() {
                    Some(Ok(_)) => Ok(Found::Object { start, end: start + values.byte_offset() }),
                    Some(Err(error)) if error.is_eof() => Ok(Found::Part),
                    Some(Err(error)) => Err(Broken::Malformed(describe(&error))),
                    None => Ok(Found::Part),
                }
            }
        }
    }

    /// Whether the file ended within the current row.
    pub fn is_cut_off(&self) -> bool {
        let Stream { buffer, filled, at_end, .. } = &self.stream;
        self.fault.is_some() && *at_end && self.end == *filled && !buffer[..*filled].ends_with(b"\n")
    }
}

/// Bytes that say nothing.
fn blank(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// What is wrong with a text, without where: the row says that.
fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    format!("JSON that cannot be read at character {}: {what}", error.column())
}

#[cfg(test)]
mod tests {
    use std::io::{self, Cursor};

    use super::*;

    const NAMES: Names = Names { is_map: |path| path == "tags", is_list: |name| name == "records" };

    /// The columns, then each row: its cells, or why it is none; at last how the walk ended.
    fn walk(text: &str, expected: &[&str]) -> Vec<String> {
        let stream = Stream::new(Box::new(Cursor::new(text.as_bytes().to_vec())), Box::new(io::sink()));
        let mut rows = JsonRows::open(stream, 0, NAMES).unwrap();
        rows.expect(expected.iter().map(|name| (*name).to_owned()).collect());
        let mut walked = vec![rows.names().join(",")];
        loop {
            match rows.advance() {
                Ok(true) => walked.push(match rows.fault() {
                    Some(fault) if rows.is_cut_off() => format!("cut off: {fault}"),
                    Some(fault) => format!("fault: {fault}"),
                    None => {
                        let record = rows.record();
                        let cell = |field| String::from_utf8_lossy(&record.plain(field)).into_owned();
                        (0..record.len()).map(cell).collect::<Vec<_>>().join("|")
                    }
                }),
                Ok(false) => return walked,
                Err(broken) => {
                    walked.push(format!("{broken:?}"));
                    return walked;
                }
            }
        }
    }

    #[test]
    fn values_become_cells_by_their_paths() {
        let rows = walk(
            concat!(
                r#"{"cost": 0.10000000000000000000001, "project": {"id": "a\u00e9", "labels": [{"key": "x"}]}}"#,
                "\r\n\n",
                r#"{"project": {"labels": [], "id": null}, "cost": 5e-06, "tags": {"b": {"c": 1}}, "on": true}"#,
                "\n",
                r#"{"cost": "\"quoted\"", "project": null, "tags": "\"a\": \"b\""}"#,
            ),
            &[],
        );
        assert_eq!(
            rows,
            [
                "cost,project.id,project.labels,tags,on",
                r#"0.10000000000000000000001|aé|[{"key": "x"}]||"#,
                r#"5e-06||[]|{"b": {"c": 1}}|true"#,
                r#""quoted"|||"a": "b"|"#,
            ]
        );
    }

    #[test]
    fn a_list_is_the_same_as_lines() {
        let lines = "{\"a\": 1, \"b\": {\"c\": \"x,]}\"}}\n{\"a\": 2}\n";
        let rows = ["a,b.c", "1|x,]}", "2|"];
        assert_eq!(walk(lines, &[]), rows);
        for list in [
            "[{\"a\": 1, \"b\": {\"c\": \"x,]}\"}},{\"a\": 2}]",
            "\n[\n  {\n    \"a\": 1,\n    \"b\": {\n \"c\": \"x,]}\"}}\n,\n{\"a\":\n2}\n]\n\n",
            "{\n\"a\": 1, \"b\": {\"c\": \"x,]}\"}}\n{\n\"a\": 2}",
        ] {
            assert_eq!(walk(list, &[]), rows, "{list}");
        }
    }

    #[test]
    fn an_object_with_a_list_of_rows_is_the_same_as_the_list() {
        let rows = ["a,b.c", "1|x,]}", "2|"];
        for text in [
            "{\"records\": [{\"a\": 1, \"b\": {\"c\": \"x,]}\"}},{\"a\": 2}]}",
            "\n{\n\"ok\": true, \"page\": {\"of\": 1},\n\"records\": [\n{\"a\": 1, \"b\": {\"c\": \"x,]}\"}}, {\"a\": 2}\n], \"next\": null}\n",
        ] {
            assert_eq!(walk(text, &[]), rows, "{text}");
        }
        // Of another name it is a cell.
        assert_eq!(walk("{\"labels\": [{\"a\": 1}]}", &[]), ["labels", "[{\"a\": 1}]"]);
        let cut = [
            "{\"records\": [{\"a\": 1}",
            "{\"records\": [{\"a\": 1}]",
            "{\"records\": [{\"a\": 1}], \"next\": \"x",
        ];
        for text in cut {
            assert_eq!(walk(text, &[]).last().unwrap(), "CutOff", "{text}");
        }
        assert!(walk("{\"records\": [{\"a\": 1}]} {}", &[]).last().unwrap().starts_with("Malformed"));
    }

    #[test]
    fn members_beside_the_rows_are_kept() {
        let text = "{\"ok\": true, \"records\": [{\"a\": 1}], \"total\": 2}";
        let stream = Stream::new(Box::new(Cursor::new(text.as_bytes().to_vec())), Box::new(io::sink()));
        let mut rows = JsonRows::open(stream, 0, NAMES).unwrap();
        while rows.advance().unwrap() {}
        let members = rows.members().iter().map(|(name, json)| format!("{name} {}", json.get()));
        assert_eq!(members.collect::<Vec<_>>(), ["ok true", "total 2"]);
    }

    #[test]
    fn a_first_object_is_as_long_as_any_other() {
        let long = "x".repeat(3 * CHUNK);
        for text in [
            format!("{{\"a\": \"{long}\", \"b\": 1}}\n{{\"a\": 2, \"b\": 3}}\n"),
            format!("[{{\"a\": \"{long}\", \"b\": 1}},{{\"a\": 2, \"b\": 3}}]"),
            format!("[\n{{\n\"a\": \"{long}\",\n\"b\": 1\n}},\n{{\"a\": 2,\n\"b\": 3}}\n]\n"),
            format!("{{\"a\": \"{long}\",\n\"b\": 1}} {{\"a\": 2, \"b\": 3}}"),
        ] {
            let rows = walk(&text, &[]);
            assert_eq!((rows.len(), rows[0].as_str(), rows[2].as_str()), (3, "a,b", "2|3"), "{}", &text[..9]);
            assert_eq!(rows[1].len(), long.len() + 2);
        }
        // Whole, but its line ends only with the chunk behind.
        let whole = format!("{{\"a\": \"{}\"}}", &long[..CHUNK - 9]);
        assert_eq!(whole.len(), CHUNK);
        assert_eq!(walk(&format!("{whole}\n{{\"a\": 2}}\n"), &[])[2], "2");
    }

    #[test]
    fn a_column_that_is_met_late_is_read_if_it_was_expected() {
        let mut text = "{\"a\": 1}\n".repeat(100_000);
        text.push_str("{\"a\": 2, \"bee\": 3, \"c\": 4, \"d\": {\"e\": 5}}\n");
        let rows = walk(&text, &["Bee", "d.e"]);
        assert_eq!(rows[0], "a,Bee,d.e");
        assert_eq!(rows.last().unwrap(), "2|3|5");
        assert_eq!(rows.len(), 100_002);
    }

    #[test]
    fn what_is_no_object_is_a_row_on_a_line_and_an_end_in_a_list() {
        let unread = "fault: JSON that cannot be read at character 9: expected `,` or `}`";
        assert_eq!(walk("{\"a\": 1}\n{\"a\": 1 2}\n{\"a\": 3}\n", &[]), ["a", "1", unread, "3"]);
        let rows = walk("{\"a\": 1}\n5\n[]\nnull\n{\"a\": 2}", &[]);
        assert_eq!((rows.len(), rows.last().unwrap().as_str()), (6, "2"));
        assert!(rows[2..5].iter().all(|row| row.starts_with("fault: ")), "{rows:?}");
        assert!(walk("[{\"a\": 1}, {\"a\": 1 2}]", &[]).last().unwrap().starts_with("Malformed"));
        assert!(walk("[{\"a\": 1}] {}", &[]).last().unwrap().starts_with("Malformed"));
    }

    #[test]
    fn a_file_that_was_cut_off_says_so() {
        assert!(walk("{\"a\": 1}\n{\"a\": \"1", &[]).last().unwrap().starts_with("cut off: "));
        for list in ["[{\"a\": 1}", "[{\"a\": 1},", "[{\"a\": 1}, {\"a\"", "{\n\"a\": 1}\n{\n\"a\""] {
            assert_eq!(walk(list, &[]).last().unwrap(), "CutOff", "{list}");
        }
    }

    #[test]
    fn objects_within_objects_are_taken_apart_only_so_far() {
        let deep = format!("{}1{}", "{\"a\": ".repeat(10_000), "}".repeat(10_000));
        let rows = walk(&format!("{{\"b\": 1}}\n{deep}\n{{\"b\": 2}}\n"), &[]);
        assert_eq!(rows.len(), 4);
        assert_eq!(rows[0], "b,a.a.a.a.a.a.a.a.a");
        assert!(rows[3].starts_with("2|"));
    }
}
