//! What all drawings have in common: their measures, the axis, the labels below it.

use std::fmt::{self, Write as _};
use std::ops::Range;

use plotters::chart::ChartBuilder;
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};

use super::Bucket;
use super::axis::Axis;
use super::svg::{Mark, Svg, escape};
use crate::money::Decimal;

/// Where marks are placed by pixels.
pub(super) type Area<'a> = DrawingArea<Svg<'a>, Shift>;
/// Where marks are placed by what they stand for.
pub(super) type Plot<'a> = DrawingArea<Svg<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
pub(super) type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<fmt::Error>>;

/// Measures of a drawing, in its own units, which are pixels where it is shown at full width.
pub(super) struct Frame {
    class: &'static str,
    size: (u32, u32),
    left: u32,
    bottom: u32,
    pub steps: i64,
}

const TOP: u32 = 26;
const RIGHT: u32 = 4;
const BOTTOM: u32 = 26;
/// About how wide a character of a label is.
pub(super) const CHARACTER: f64 = 7.0;

pub(super) const WIDE: Frame =
    Frame { class: "chart wide", size: (960, 280), left: 48, bottom: BOTTOM, steps: 5 };
pub(super) const NARROW: Frame =
    Frame { class: "chart narrow", size: (400, 260), left: 40, bottom: BOTTOM, steps: 5 };
/// Of several that stand beside each other.
pub(super) const SMALL: Frame =
    Frame { class: "chart small", size: (320, 200), left: 40, bottom: BOTTOM, steps: 4 };
/// Below the labels of a range, what it is a range of.
const NAME: u32 = 18;
/// About how many bytes a box takes, so that a text need not be copied while it grows.
const BYTES: usize = 160;

impl Frame {
    /// How wide the place for marks is.
    pub fn width(&self) -> f64 {
        f64::from(self.size.0 - self.left - RIGHT)
    }

    /// How high the place for marks is.
    pub fn height(&self) -> f64 {
        f64::from(self.size.1 - TOP - self.bottom)
    }

    /// The same with room for [`Self::name_range`].
    pub fn with_range(self) -> Self {
        Self { size: (self.size.0, self.size.1 + NAME), bottom: self.bottom + NAME, ..self }
    }

    /// Says below its labels what the range is, which ends at `end`.
    pub fn name_range(plot: &Plot<'_>, (end, low): (f64, f64), name: &str) -> Drawn {
        let below = i32::try_from(NAME).unwrap_or_default() + 18;
        plot.draw(&Mark::Text { class: "label", text: name, at: [(end / 2.0, low)], by: (0, below) })
    }

    /// The same for so many rows, one below the other, each so high.
    pub fn of_rows(&self, rows: usize, height: u32) -> Self {
        let rows = u32::try_from(rows).unwrap_or(u32::MAX).max(1);
        let size = (self.size.0, rows.saturating_mul(height).saturating_add(TOP + BOTTOM));
        Self { size, left: RIGHT, steps: if self.width() < 500.0 { 4 } else { 8 }, ..*self }
    }

    /// An SVG element with a title, of about so many boxes.
    pub fn draw(
        &self,
        title: &str,
        description: &str,
        boxes: usize,
        marks: impl FnOnce(&Area<'_>) -> Drawn,
    ) -> String {
        let (width, height) = self.size;
        let (title, description) = (escape(title), escape(description));
        let mut out = String::with_capacity((boxes + 20) * BYTES);
        // Writing to a text cannot fail, and no mark asks plotters for a font.
        let _ = writeln!(
            out,
            "<svg class=\"{}\" role=\"img\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\">\
             <title>{title}</title><desc>{description}</desc>",
            self.class
        );
        let area = Svg::new(&mut out, self.size).into_drawing_area();
        let drawn = marks(&area);
        debug_assert!(drawn.is_ok(), "drawing to a text does not fail");
        drop(area);
        out.push_str("</svg>\n");
        out
    }

    /// The place for marks, with the axis of values and its lines.
    pub fn plot<'a>(&self, area: &Area<'a>, end: f64, axis: &Axis, unit: &str) -> Drawn<Plot<'a>> {
        let (low, top) = axis.ends();
        let plot = self.place(area, 0, 0.0..end, low..top)?;
        for tick in &axis.ticks {
            let y = position(*tick);
            let class = if tick.is_zero() { "base" } else { "grid" };
            plot.draw(&Mark::Line { class, ends: [(0.0, y), (end, y)] })?;
            plot.draw(&Mark::Text { class: "tick", text: &axis.label(*tick), at: [(0.0, y)], by: (-8, 4) })?;
        }
        plot.draw(&Mark::Text { class: "unit", text: unit, at: [(0.0, top)], by: (-8, -12) })?;
        Ok(plot)
    }

    /// The place for rows, with the axis of values below them. The first row lies between `rows` and `rows` − 1.
    pub fn rows<'a>(&self, area: &Area<'a>, rows: usize, axis: &Axis, unit: &str) -> Drawn<Plot<'a>> {
        let (low, high) = axis.ends();
        let top = count(rows.max(1));
        // Room for the half of the first and the last label that lies beyond the axis.
        let beside = 24;
        let plot = self.place(area, beside, low..high, 0.0..top)?;
        for tick in &axis.ticks {
            let x = position(*tick);
            plot.draw(&Mark::Line { class: "grid", ends: [(x, 0.0), (x, top)] })?;
            plot.draw(&Mark::Text { class: "label", text: &axis.label(*tick), at: [(x, 0.0)], by: (0, 18) })?;
        }
        plot.draw(&Mark::Text { class: "name", text: unit, at: [(low, top)], by: (0, -12) })?;
        Ok(plot)
    }

    /// The place within the margins, with so many pixels more on both sides.
    fn place<'a>(&self, area: &Area<'a>, beside: u32, x: Range<f64>, y: Range<f64>) -> Drawn<Plot<'a>> {
        let chart = ChartBuilder::on(area)
            .margin_left(self.left + beside)
            .margin_right(RIGHT + beside)
            .margin_top(TOP)
            .margin_bottom(self.bottom)
            .build_cartesian_2d(x, y)?;
        Ok(chart.plotting_area().clone())
    }
}

/// The class of a label at `x` of a range that ends at `end`: those of both ends stay within the drawing.
pub(super) fn label_class(x: f64, end: f64) -> &'static str {
    if x <= 0.0 {
        "name"
    } else if x >= end {
        "tick"
    } else {
        "label"
    }
}

/// Which columns have their label below them. Years that begin have theirs first, the last of them before all: one that
/// finds no room at the begin of the axis is understood from the next.
pub(super) fn labelled(buckets: &[Bucket], per_place: f64) -> Vec<bool> {
    let every = label_step(buckets, per_place);
    let length = |at: usize| count(buckets[at].label.chars().count());
    let (years, others): (Vec<usize>, Vec<usize>) =
        (0..buckets.len()).partition(|at| buckets[*at].names_year);
    let others = others.into_iter().filter(|at| is_labelled(buckets, *at, every));
    let mut shown = vec![false; buckets.len()];
    for at in years.iter().rev().copied().chain(others) {
        let has_room = |year: &usize| {
            let needed = (f64::midpoint(length(at), length(*year)) + 1.0) * CHARACTER;
            !shown[*year] || count(at.abs_diff(*year)) * per_place >= needed
        };
        shown[at] = years.iter().all(has_room);
    }
    shown
}

/// Every how many columns a label fits.
fn label_step(buckets: &[Bucket], per_place: f64) -> usize {
    let days = buckets.iter().filter(|bucket| !bucket.is_apart && !bucket.names_year);
    let longest = days.map(|bucket| bucket.label.chars().count()).max().unwrap_or(1);
    let needed = (count(longest) + 1.0) * CHARACTER;
    [1, 2, 5, 10, 15].into_iter().find(|step| count(*step) * per_place >= needed).unwrap_or(30)
}

/// 1, 3, 5 … or 1, 5, 10, 15 …, as people count days; what is apart always, and the day before it only
/// where every day is.
fn is_labelled(buckets: &[Bucket], bucket: usize, every: usize) -> bool {
    // Who leaves labels out has chosen already.
    if buckets.iter().any(|bucket| bucket.label.is_empty()) {
        return !buckets[bucket].label.is_empty();
    }
    if buckets[bucket].is_apart || every == 1 {
        return true;
    }
    let is_before_apart = buckets.get(bucket + 1).is_some_and(|next| next.is_apart);
    let is_counted =
        if every == 2 { bucket.is_multiple_of(2) } else { bucket == 0 || (bucket + 1).is_multiple_of(every) };
    is_counted && !is_before_apart
}

/// Columns and characters: a few.
pub(super) fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

/// For the eye only: a screen has fewer pixels than a float has digits.
pub(super) fn position(value: Decimal) -> f64 {
    value.to_string().parse().unwrap_or_default()
}
