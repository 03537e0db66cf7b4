//! What a file is read as: what it is recognized to be, or what somebody said.

use std::io::Cursor;
use std::sync::Arc;

use super::header::Header;
use super::rows::{self, Layout, Start};
use super::{ComputedBill, Content, FORMATS, Format};

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

    /// What this product computes from bills.
    pub fn computed(bill: ComputedBill) -> Self {
        Self::named(Some(bill.name()))
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

    /// The mappings that know a header.
    pub(super) fn mappings_of(&self, header: &Header) -> Vec<&Arc<dyn Format>> {
        self.mapped.iter().filter(|format| format.recognizes(header)).collect()
    }

    /// The mapping most of whose columns a header has.
    pub(super) fn nearest_mapping(&self, header: &Header) -> Option<&Arc<dyn Format>> {
        let built_in = FORMATS.iter().filter(|format| format.is_mapping());
        self.mapped.iter().chain(built_in).find(|format| format.has_its_columns(header))
    }

    /// How the rows of a text or a workbook stand in it.
    pub fn layout(&self, start: Start<'_>) -> Layout {
        match start {
            Start::Text(start) => self.layout_by(|format| {
                let start = Content::Text(Box::new(Cursor::new(start.to_vec())));
                let opened = rows::open(start, Box::new(std::io::sink()), |_| format.layout()).ok()?;
                Some((opened.layout, opened.header))
            }),
            Start::Workbook(workbook) => {
                self.layout_by(|format| workbook.header(format.sheet(), format.layout()).ok().flatten())
            }
        }
    }

    /// The same of a file in which `find` looks for the header, as a mapping says.
    fn layout_by(&self, mut find: impl FnMut(&dyn Format) -> Option<(Layout, Header)>) -> Layout {
        let mut fits = |format: &Arc<dyn Format>, is_it: &dyn Fn(&Header) -> bool| {
            find(&**format).filter(|(_, header)| is_it(header)).map(|(layout, _)| layout)
        };
        if self.name.is_some() {
            // Corrected rows of such a file are a plain CSV.
            let named = self.mapped.iter().find(|format| Some(format.name()) == self.name());
            return named
                .and_then(|format| fits(format, &|header| format.check(header).is_ok()))
                .unwrap_or_default();
        }
        let known = self.mapped.iter().find_map(|format| fits(format, &|header| format.recognizes(header)));
        let found = known.or_else(|| {
            // Of a file that has a layout of its own, it is said which of its columns changed.
            let mut own = self.mapped.iter().filter(|format| format.layout() != Layout::default());
            own.find_map(|format| fits(format, &|header| format.has_its_columns(header)))
        });
        found.unwrap_or_default()
    }
}
