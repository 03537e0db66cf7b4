//! The schema of a file as columns of a table: structs are taken apart (`project.id`), lists and maps are one cell in JSON.

use parquet::basic::{ConvertedType, LogicalType, Repetition};
use parquet::schema::types::Type;

use super::MAX_BATCH;
use super::leaf::Leaf;

/// A column: its path and what its cells are made of.
pub(super) struct Column {
    pub name: String,
    pub node: Node,
}

/// What a cell is made of.
#[derive(Debug)]
pub(super) enum Node {
    /// The values of the column of this number.
    Leaf(usize),
    Struct {
        definition: i16,
        fields: Vec<(String, Node)>,
    },
    List {
        definition: i16,
        repetition: i16,
        element: Box<Node>,
    },
    Map {
        definition: i16,
        repetition: i16,
        key: Box<Node>,
        value: Option<Box<Node>>,
    },
}

/// How far down a value is.
#[derive(Clone, Copy, Default)]
struct Levels {
    definition: i16,
    repetition: i16,
}

/// The columns of a schema whose depth is bounded.
pub(super) fn columns(schema: &Type) -> Vec<Column> {
    let mut walk = Walk { leaves: 0, columns: Vec::new() };
    for field in schema.get_fields() {
        walk.flatten(field, String::new(), Levels::default());
    }
    walk.columns
}

struct Walk {
    leaves: usize,
    columns: Vec<Column>,
}

impl Walk {
    fn flatten(&mut self, field: &Type, before: String, at: Levels) {
        let name = before + field.name();
        let is_struct = field.is_group() && !is_repeated(field) && !is_list(field) && !is_map(field);
        if !is_struct {
            let node = self.node(field, at);
            self.columns.push(Column { name, node });
            return;
        }
        for inner in field.get_fields() {
            self.flatten(inner, format!("{name}."), below(field, at));
        }
    }

    fn node(&mut self, field: &Type, at: Levels) -> Node {
        let inner = below(field, at);
        if is_repeated(field) {
            // A list without the group around it, as old writers have it.
            let element = Box::new(self.unrepeated(field, inner));
            return Node::List { definition: inner.definition, repetition: inner.repetition, element };
        }
        self.unrepeated(field, inner)
    }

    fn unrepeated(&mut self, field: &Type, at: Levels) -> Node {
        if field.is_primitive() {
            self.leaves += 1;
            return Node::Leaf(self.leaves - 1);
        }
        if is_map(field)
            && let [entries] = field.get_fields()
            && entries.is_group()
            && is_repeated(entries)
            && let [key, rest @ ..] = entries.get_fields()
            && rest.len() < 2
        {
            let inner = below(entries, at);
            let key = Box::new(self.node(key, inner));
            let value = rest.first().map(|value| Box::new(self.node(value, inner)));
            return Node::Map { definition: inner.definition, repetition: inner.repetition, key, value };
        }
        if is_list(field)
            && let [repeated] = field.get_fields()
            && is_repeated(repeated)
        {
            let inner = below(repeated, at);
            let element = match three_level(field, repeated) {
                Some(element) => self.node(element, inner),
                None => self.unrepeated(repeated, inner),
            };
            let element = Box::new(element);
            return Node::List { definition: inner.definition, repetition: inner.repetition, element };
        }
        let fields = field.get_fields().iter().map(|inner| (inner.name().to_owned(), self.node(inner, at)));
        Node::Struct { definition: at.definition, fields: fields.collect() }
    }
}

/// The element of a list in the manner of today: the only field of its repeated group. In the older manner the repeated group
/// is the element ([compatibility rules](https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists)).
fn three_level<'t>(list: &Type, repeated: &'t Type) -> Option<&'t Type> {
    if !repeated.is_group() {
        return None;
    }
    let name = repeated.name();
    match repeated.get_fields() {
        [element] if name != "array" && name != format!("{}_tuple", list.name()) => Some(element),
        _ => None,
    }
}

fn below(field: &Type, at: Levels) -> Levels {
    let repetition = field.get_basic_info().repetition();
    Levels {
        definition: at.definition + i16::from(repetition != Repetition::REQUIRED),
        repetition: at.repetition + i16::from(repetition == Repetition::REPEATED),
    }
}

fn is_repeated(field: &Type) -> bool {
    field.get_basic_info().repetition() == Repetition::REPEATED
}

fn is_list(field: &Type) -> bool {
    let info = field.get_basic_info();
    field.is_group()
        && (info.converted_type() == ConvertedType::LIST
            || matches!(info.logical_type_ref(), Some(LogicalType::List)))
}

fn is_map(field: &Type) -> bool {
    let info = field.get_basic_info();
    field.is_group()
        && (matches!(info.converted_type(), ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE)
            || matches!(info.logical_type_ref(), Some(LogicalType::Map)))
}

impl Node {
    /// The columns of values that it is made of.
    pub fn leaves(&self, out: &mut Vec<usize>) {
        match self {
            Self::Leaf(leaf) => out.push(*leaf),
            Self::Struct { fields, .. } => fields.iter().for_each(|(_, field)| field.leaves(out)),
            Self::List { element, .. } => element.leaves(out),
            Self::Map { key, value, .. } => {
                key.leaves(out);
                if let Some(value) = value {
                    value.leaves(out);
                }
            }
        }
    }

    /// The first of them: its levels tell whether the whole is there. A struct without fields has none.
    fn first(&self) -> Option<usize> {
        match self {
            Self::Leaf(leaf) => Some(*leaf),
            Self::Struct { fields, .. } => fields.iter().find_map(|(_, field)| field.first()),
            Self::List { element, .. } => element.first(),
            Self::Map { key, .. } => key.first(),
        }
    }

    /// Appends the next value as a cell: text as it is, and nothing for a null.
    pub fn cell(&self, leaves: &mut [Leaf], out: &mut Vec<u8>) {
        let Self::Leaf(leaf) = self else {
            let before = out.len();
            self.json(leaves, out);
            if &out[before..] == b"null" {
                out.truncate(before);
            }
            return;
        };
        let leaf = &mut leaves[*leaf];
        if let Some(at) = leaf.take() {
            leaf.write(at, out);
        }
    }

    /// Appends the next value in JSON. A list ends where it is longer than all texts may be together: a million values may be the
    /// same text of a megabyte.
    fn json(&self, leaves: &mut [Leaf], out: &mut Vec<u8>) {
        let Some(first) = self.first() else { return out.extend_from_slice(b"null") };
        match self {
            Self::Leaf(leaf) => {
                let leaf = &mut leaves[*leaf];
                match leaf.take() {
                    None => out.extend_from_slice(b"null"),
                    Some(at) if leaf.is_quoted() => quoted(out, |out| leaf.write(at, out)),
                    Some(at) => leaf.write(at, out),
                }
            }
            Self::Struct { definition, .. } if leaves[first].definition() < *definition => {
                self.pass(leaves);
                out.extend_from_slice(b"null");
            }
            Self::Struct { fields, .. } => {
                for (at, (name, field)) in fields.iter().enumerate() {
                    out.push(if at == 0 { b'{' } else { b',' });
                    quoted(out, |out| out.extend_from_slice(name.as_bytes()));
                    out.push(b':');
                    field.json(leaves, out);
                }
                out.push(b'}');
            }
            Self::List { definition, .. } | Self::Map { definition, .. }
                if leaves[first].definition() < *definition =>
            {
                // One level less is an empty list, fewer are none at all.
                let is_empty = leaves[first].definition() + 1 == *definition;
                self.pass(leaves);
                let empty: &[u8] = if matches!(self, Self::Map { .. }) { b"{}" } else { b"[]" };
                out.extend_from_slice(if is_empty { empty } else { b"null" });
            }
            Self::List { repetition, element, .. } => {
                out.push(b'[');
                loop {
                    element.json(leaves, out);
                    if leaves[first].repetition() != *repetition || out.len() > MAX_BATCH {
                        break;
                    }
                    out.push(b',');
                }
                out.push(b']');
            }
            Self::Map { repetition, key, value, .. } => {
                out.push(b'{');
                loop {
                    quoted(out, |out| key.cell(leaves, out));
                    out.push(b':');
                    match value {
                        Some(value) => value.json(leaves, out),
                        None => out.extend_from_slice(b"null"),
                    }
                    if leaves[first].repetition() != *repetition || out.len() > MAX_BATCH {
                        break;
                    }
                    out.push(b',');
                }
                out.push(b'}');
            }
        }
    }

    /// Goes on behind a value of which nothing is there: each of its columns says so once.
    fn pass(&self, leaves: &mut [Leaf]) {
        match self {
            Self::Leaf(leaf) => {
                let _ = leaves[*leaf].take();
            }
            Self::Struct { fields, .. } => fields.iter().for_each(|(_, field)| field.pass(leaves)),
            Self::List { element, .. } => element.pass(leaves),
            Self::Map { key, value, .. } => {
                key.pass(leaves);
                if let Some(value) = value {
                    value.pass(leaves);
                }
            }
        }
    }
}

/// Appends the text that `write` appends as a string of JSON.
fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    let start = out.len();
    write(out);
    let text = &out[start..];
    let is_escaped = |byte: &u8| matches!(*byte, 0..b' ' | b'"' | b'\\');
    if !text.iter().any(is_escaped) && std::str::from_utf8(text).is_ok() {
        return out.push(b'"');
    }
    let text = out.split_off(start);
    out.pop();
    // Nothing that writes a text into memory fails.
    let _ = serde_json::to_writer(out, &*String::from_utf8_lossy(&text));
}
