//! What a file is read as: what it is recognized to be, or what somebody said.

use std::io::Cursor;
use std::sync::Arc;

use super::header::Header;
use super::rows::{self, Layout};
use super::{Content, FORMATS, Format};

/// What a file may be.
#[derive(Clone, Default)]
pub struct ReadAs {
    /// The name of a format; any of them where there is none.
    name: Option<String>,
    /// Those of the mappings that people saved.
    mapped: Arc<[Arc<dyn Format>]>,
}

impl ReadAs {
    /// Any format that is built in.
    pub fn any() -> Self {
        Self::default()
    }

    /// The format of this name, where there is one, and else any.
    pub fn named(name: Option<&str>) -> Self {
        Self { name: name.map(str::to_owned), mapped: Arc::default() }
    }

    /// The same, with mappings beside the formats that are built in.
    #[must_use]
    pub fn with_mappings(self, mapped: Arc<[Arc<dyn Format>]>) -> Self {
        Self { mapped, ..self }
    }

    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What is built in, and then mappings.
    pub(super) fn formats(&self) -> impl Iterator<Item = &Arc<dyn Format>> {
        FORMATS.iter().chain(self.mapped.iter())
    }

    /// The mapping that knows a header.
    pub(super) fn mapping(&self, header: &Header) -> Option<&Arc<dyn Format>> {
        self.mapped.iter().find(|format| format.recognizes(header))
    }

    /// The mapping most of whose columns a header has.
    pub(super) fn nearest_mapping(&self, header: &Header) -> Option<&Arc<dyn Format>> {
        self.mapped.iter().find(|format| format.has_its_columns(header))
    }

    /// How the rows of a text stand in it, of which these are the first bytes.
    pub fn layout(&self, start: &[u8]) -> Layout {
        let fits = |layout: Layout, is_it: &dyn Fn(&Header) -> bool| {
            let start = Content::Text(Box::new(Cursor::new(start.to_vec())));
            rows::open(start, Box::new(std::io::sink()), |_| layout).is_ok_and(|opened| is_it(&opened.header))
        };
        if self.name.is_some() {
            // Corrected rows of such a file are a plain CSV.
            let named = self.mapped.iter().find(|format| Some(format.name()) == self.name());
            let named = named.filter(|format| fits(format.layout(), &|header| format.check(header).is_ok()));
            return named.map_or_else(Layout::default, |format| format.layout());
        }
        let known = |format: &&Arc<dyn Format>| fits(format.layout(), &|header| format.recognizes(header));
        let near =
            |format: &&Arc<dyn Format>| fits(format.layout(), &|header| format.has_its_columns(header));
        let mapped = || self.mapped.iter();
        let found = mapped().find(known).or_else(|| {
            // Of a file that has a layout of its own, it is said which of its columns changed.
            mapped().filter(|format| format.layout() != Layout::default()).find(near)
        });
        found.map_or_else(Layout::default, |format| format.layout())
    }
}
