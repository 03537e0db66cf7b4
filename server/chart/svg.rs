//! A plotters backend that writes classes instead of colors, and a `<title>` for every mark.
//!
//! Plotters places the marks; what a mark is, only this backend knows: [`Mark`] is an element that can be
//! drawn on it and on no other.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use plotters::element::{Drawable, PointCollection};
use plotters_backend::{BackendColor, BackendCoord, DrawingBackend, DrawingErrorKind};

type Drawn = Result<(), DrawingErrorKind<fmt::Error>>;

/// Writes to a text that the caller keeps.
pub(super) struct Svg<'a> {
    out: &'a mut String,
    size: (u32, u32),
}

impl<'a> Svg<'a> {
    pub fn new(out: &'a mut String, size: (u32, u32)) -> Self {
        Self { out, size }
    }
}

/// What charts consist of.
pub(super) enum Mark<'a> {
    /// A rectangle between two points, which says what it is.
    Box {
        class: &'a str,
        title: &'a str,
        corners: [(f64, f64); 2],
    },
    /// A line between two points.
    Line {
        class: &'static str,
        ends: [(f64, f64); 2],
    },
    /// A line through many points, which says what it is.
    Path {
        class: &'a str,
        title: &'a str,
        points: &'a [(f64, f64)],
    },
    /// A point of note.
    Dot {
        title: &'a str,
        at: [(f64, f64); 1],
    },
    /// A text moved by some pixels from its point. Its class says how it is aligned.
    Text {
        class: &'static str,
        text: &'a str,
        at: [(f64, f64); 1],
        by: (i32, i32),
    },
    /// Everything until [`Mark::Close`] belongs together.
    Open {
        class: &'static str,
    },
    Close,
}

impl<'a> PointCollection<'a, (f64, f64)> for &'a Mark<'_> {
    type Point = &'a (f64, f64);
    type IntoIter = std::slice::Iter<'a, (f64, f64)>;

    fn point_iter(self) -> Self::IntoIter {
        match self {
            Mark::Box { corners: points, .. } | Mark::Line { ends: points, .. } => points.iter(),
            Mark::Path { points, .. } => points.iter(),
            Mark::Text { at, .. } | Mark::Dot { at, .. } => at.iter(),
            Mark::Open { .. } | Mark::Close => [].iter(),
        }
    }
}

impl Drawable<Svg<'_>> for Mark<'_> {
    fn draw<I: Iterator<Item = BackendCoord>>(&self, points: I, svg: &mut Svg<'_>, _: (u32, u32)) -> Drawn {
        self.write(points, svg.out).map_err(DrawingErrorKind::DrawingError)
    }
}

impl Mark<'_> {
    /// Writes the element, with its points where they are drawn.
    fn write(&self, mut points: impl Iterator<Item = BackendCoord>, out: &mut String) -> fmt::Result {
        let mut point = || points.next().unwrap_or_default();
        match self {
            Self::Box { class, title, .. } => {
                let (a, b) = (point(), point());
                let (x, y) = (a.0.min(b.0), a.1.min(b.1));
                let (width, height) = ((a.0 - b.0).abs(), (a.1 - b.1).abs());
                let title = escape(title);
                write!(
                    out,
                    "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\">\
                     <title>{title}</title></rect>"
                )
            }
            Self::Line { class, .. } => {
                let ((x1, y1), (x2, y2)) = (point(), point());
                writeln!(out, "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>")
            }
            Self::Path { class, title, .. } => {
                write!(out, "<polyline class=\"{class}\" points=\"")?;
                for (x, y) in points {
                    write!(out, "{x},{y} ")?;
                }
                writeln!(out, "\"><title>{}</title></polyline>", escape(title))
            }
            Self::Dot { title, .. } => {
                let ((x, y), title) = (point(), escape(title));
                writeln!(
                    out,
                    "<circle class=\"dot\" cx=\"{x}\" cy=\"{y}\" r=\"5\"><title>{title}</title></circle>"
                )
            }
            Self::Text { class, text, by, .. } => {
                let (x, y) = point();
                let (x, y, text) = (x + by.0, y + by.1, escape(text));
                writeln!(out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>")
            }
            Self::Open { class } => write!(out, "<g class=\"{class}\">"),
            Self::Close => writeln!(out, "</g>"),
        }
    }
}

/// Plotters itself draws nothing of our charts: they consist of [`Mark`]s.
impl DrawingBackend for Svg<'_> {
    type ErrorType = fmt::Error;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, _: BackendCoord, _: BackendColor) -> Drawn {
        Ok(())
    }
}

/// For text and for attributes.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: &u8| !matches!(byte, b'<' | b'>' | b'&' | b'"' | b'\'' | 0x7f | ..0x20);
    // Beside ASCII only the control characters after it are none of a text's, and they begin with this byte.
    if text.as_bytes().iter().all(|byte| is_plain(byte) && *byte != 0xc2) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}
