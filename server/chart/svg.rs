//! A plotters backend that writes classes instead of colors, and a `<title>` for every mark.
//!
//! Plotters places the marks; what a mark is, only this backend knows: [`Mark`] is an element that can be
//! drawn on it and on no other.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt::Write as _;

use plotters::element::{Drawable, PointCollection};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

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
        let mut points = points;
        if let Self::Path { class, title, .. } = self {
            svg.path(class, title, points);
            return Ok(());
        }
        let mut point = || points.next().unwrap_or_default();
        match self {
            Self::Box { class, title, .. } => {
                let (a, b) = (point(), point());
                svg.rectangle(class, title, a, b);
            }
            Self::Line { class, .. } => {
                let (a, b) = (point(), point());
                svg.line(class, a, b);
            }
            // Above.
            Self::Path { .. } => {}
            Self::Dot { title, .. } => {
                let (x, y) = point();
                svg.dot(title, (x, y));
            }
            Self::Text { class, text, by, .. } => {
                let (x, y) = point();
                svg.text(class, text, (x + by.0, y + by.1));
            }
            Self::Open { class } => svg.write(format_args!("<g class=\"{class}\">")),
            Self::Close => svg.write(format_args!("</g>\n")),
        }
        Ok(())
    }
}

impl Svg<'_> {
    fn rectangle(&mut self, class: &str, title: &str, a: BackendCoord, b: BackendCoord) {
        let (x, y) = (a.0.min(b.0), a.1.min(b.1));
        let (width, height) = ((a.0 - b.0).abs(), (a.1 - b.1).abs());
        let title = escape(title);
        self.write(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\">\
             <title>{title}</title></rect>"
        ));
    }

    fn line(&mut self, class: &str, a: BackendCoord, b: BackendCoord) {
        let ((x1, y1), (x2, y2)) = (a, b);
        self.write(format_args!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>\n"
        ));
    }

    fn path(&mut self, class: &str, title: &str, points: impl Iterator<Item = BackendCoord>) {
        let title = escape(title);
        self.write(format_args!("<polyline class=\"{class}\" points=\""));
        for (x, y) in points {
            self.write(format_args!("{x},{y} "));
        }
        self.write(format_args!("\"><title>{title}</title></polyline>\n"));
    }

    fn dot(&mut self, title: &str, (x, y): BackendCoord) {
        let title = escape(title);
        self.write(format_args!(
            "<circle class=\"dot\" cx=\"{x}\" cy=\"{y}\" r=\"5\"><title>{title}</title></circle>\n"
        ));
    }

    fn text(&mut self, class: &str, text: &str, at: BackendCoord) {
        let text = escape(text);
        self.write(format_args!("<text class=\"{class}\" x=\"{}\" y=\"{}\">{text}</text>\n", at.0, at.1));
    }

    fn write(&mut self, what: std::fmt::Arguments<'_>) {
        // A String takes whatever is written to it.
        let _ = self.out.write_fmt(what);
    }
}

/// What plotters itself may ask for; our charts consist of [`Mark`]s.
impl DrawingBackend for Svg<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, _: BackendColor) -> Drawn {
        self.rectangle("mark", "", at, (at.0 + 1, at.1 + 1));
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, _: &S) -> Drawn {
        self.line("mark", from, to);
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(&mut self, a: BackendCoord, b: BackendCoord, _: &S, _: bool) -> Drawn {
        self.rectangle("mark", "", a, b);
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, _: &S, at: BackendCoord) -> Drawn {
        self.text("mark", text, at);
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
