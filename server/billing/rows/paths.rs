//! Nested records as cells: which column each value of a JSON object belongs to, by its path (`project.id`).

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::record::{Record, quote};
use crate::billing::header::key_of;

/// Paths that are remembered: a file that has more names its data by them.
const MAX_PATHS: usize = 10_000;
/// Objects within one another that are taken apart; what lies deeper is one cell.
const MAX_DEPTH: usize = 8;

/// The columns of a file of nested records, and the cells of its current row.
pub(super) struct Paths {
    /// Columns whose objects are one cell: maps of names that nobody knows beforehand.
    is_map: fn(&str) -> bool,
    names: Vec<String>,
    nodes: Vec<Node>,
    /// Members of all nodes.
    met: usize,
    /// Once the columns are settled: those that were not met yet, by the key of their name.
    expected: Option<FxHashMap<String, u32>>,
    /// Columns that were met later, and are none of those.
    unknown: Vec<String>,
    text: Vec<u8>,
    cells: Vec<(u32, u32)>,
}

/// An object: its members in the order they were met.
#[derive(Default)]
struct Node {
    path: String,
    members: Vec<Member>,
    by_name: FxHashMap<Box<str>, u32>,
    /// Behind the member that was met last: rows mostly name theirs in the same order.
    next: usize,
}

struct Member {
    name: Box<str>,
    path: String,
    is_map: bool,
    /// Where it goes as a value; `None` where nobody reads it.
    column: Option<u32>,
    /// Whether it was noted as one of those.
    is_unknown: bool,
    /// Where its members are, once it was an object.
    node: Option<u32>,
}

impl Paths {
    /// `is_map` is asked with the [`key_of`] a path.
    pub fn new(is_map: fn(&str) -> bool) -> Self {
        Self {
            is_map,
            names: Vec::new(),
            nodes: vec![Node::default()],
            met: 0,
            expected: None,
            unknown: Vec::new(),
            text: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// The columns: paths in the order they were met, then those that were expected.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The paths that were met, those that are no columns behind the others.
    pub fn met(&self) -> Vec<String> {
        let members = self.nodes.iter().flat_map(|node| &node.members);
        let mut met: Vec<_> = members.filter_map(|member| Some((member.column?, &member.path))).collect();
        met.sort_unstable();
        met.into_iter().map(|(_, path)| path).chain(&self.unknown).cloned().collect()
    }

    /// Settles the columns: those that were met, and `names`, which may be met later.
    pub fn expect(&mut self, names: Vec<String>) {
        let mut expected = FxHashMap::default();
        for name in names {
            expected.insert(key_of(&name).0, self.names.len() as u32);
            self.names.push(name);
        }
        self.expected = Some(expected);
    }

    /// Takes an object apart into the cells of a row.
    pub fn read(&mut self, object: &str) -> Result<(), serde_json::Error> {
        self.text.clear();
        self.cells.clear();
        self.cells.resize(self.names.len(), (0, 0));
        self.object(object, 0, 0)
    }

    pub fn record(&self) -> Record<'_> {
        Record::of_cells(&self.text, &self.cells)
    }

    fn object(&mut self, object: &str, node: usize, depth: usize) -> Result<(), serde_json::Error> {
        self.nodes[node].next = 0;
        let mut json = serde_json::Deserializer::from_str(object);
        json.deserialize_map(Members { paths: self, node, depth })?;
        json.end()
    }

    fn value(&mut self, node: usize, depth: usize, name: &str, value: &str) {
        let Some(at) = self.member(node, name) else { return };
        let next = self.nodes.len() as u32;
        let member = &mut self.nodes[node].members[at];
        if value.starts_with('{') && !member.is_map && depth < MAX_DEPTH {
            let inner = *member.node.get_or_insert(next);
            if inner == next {
                let path = format!("{}.", member.path);
                self.nodes.push(Node { path, ..Node::default() });
            }
            // It was read once as part of the whole.
            let _ = self.object(value, inner as usize, depth + 1);
            return;
        }
        if value == "null" {
            return;
        }
        if member.column.is_none() && self.expected.is_none() {
            member.column = Some(self.names.len() as u32);
            self.names.push(member.path.clone());
            self.cells.push((0, 0));
        }
        let Some(column) = member.column else {
            if !std::mem::replace(&mut member.is_unknown, true) {
                self.unknown.push(member.path.clone());
            }
            return;
        };
        let start = self.text.len();
        match value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            None => self.text.extend_from_slice(value.as_bytes()),
            Some(inner) if !inner.contains('\\') => self.text.extend_from_slice(inner.as_bytes()),
            Some(_) => match serde_json::from_str::<String>(value) {
                Ok(plain) => self.text.extend_from_slice(plain.as_bytes()),
                // Half a surrogate pair: shown as it is written.
                Err(_) => self.text.extend_from_slice(value.as_bytes()),
            },
        }
        quote(&mut self.text, start);
        self.cells[column as usize] = (start as u32, self.text.len() as u32);
    }

    /// Which member of the node has the name; `None` where there are too many to remember.
    fn member(&mut self, node: usize, name: &str) -> Option<usize> {
        let of = &mut self.nodes[node];
        let at = match of.members.get(of.next) {
            Some(member) if *member.name == *name => Some(of.next),
            _ => of.by_name.get(name).map(|at| *at as usize),
        };
        let at = match at {
            Some(at) => at,
            None => self.meet(node, name)?,
        };
        self.nodes[node].next = at + 1;
        Some(at)
    }

    fn meet(&mut self, node: usize, name: &str) -> Option<usize> {
        if self.met == MAX_PATHS {
            return None;
        }
        self.met += 1;
        let of = &mut self.nodes[node];
        let path = format!("{}{name}", of.path);
        let key = key_of(&path).0;
        let column = self.expected.as_ref().and_then(|expected| expected.get(&key).copied());
        let at = of.members.len();
        of.by_name.insert(name.into(), at as u32);
        of.members.push(Member {
            name: name.into(),
            path,
            is_map: (self.is_map)(&key),
            column,
            is_unknown: false,
            node: None,
        });
        Some(at)
    }
}

/// The members of an object, each with its value as the file writes it.
struct Members<'p> {
    paths: &'p mut Paths,
    node: usize,
    depth: usize,
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((Name(name), value)) = map.next_entry::<Name<'de>, &'de RawValue>()? {
            self.paths.value(self.node, self.depth, &name, value.get());
        }
        Ok(())
    }
}

/// Borrowed where nothing was escaped.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);
