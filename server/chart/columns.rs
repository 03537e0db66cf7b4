//! Stacked columns.

use std::fmt::Write as _;

use plotters::chart::ChartBuilder;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};

use super::axis::Axis;
use super::svg::{Mark, Svg, escape};
use super::{Bucket, Stack};
use crate::money::Decimal;

/// Measures of a drawing, in its own units, which are pixels where it is shown at full width.
struct Frame {
    class: &'static str,
    size: (u32, u32),
    left: u32,
    steps: i64,
}

const TOP: u32 = 26;
const RIGHT: u32 = 4;
const BOTTOM: u32 = 26;
/// Space on each side of a column, as a part of its place.
const GAP: f64 = 0.11;
/// A place apart from the days stands off from them by a part of a place.
const DISTANCE: f64 = 0.5;
/// About how wide a character of a label is.
const CHARACTER: f64 = 7.0;

const WIDE: Frame = Frame { class: "chart wide", size: (960, 280), left: 48, steps: 5 };
const NARROW: Frame = Frame { class: "chart narrow", size: (400, 260), left: 40, steps: 5 };
/// About how many bytes a box takes, so that a text need not be copied while it grows.
const BYTES: usize = 160;

/// A column, wherever a drawing puts it. Both drawings show the same figures, so each is written once.
struct Column {
    title: String,
    segments: Vec<Segment>,
}

struct Segment {
    class: String,
    title: String,
    /// Where it begins and ends along the value axis.
    ends: (f64, f64),
}

/// The wide drawing and the narrow one.
pub(super) fn draw(stack: &Stack) -> [String; 2] {
    let columns = write_columns(stack);
    [WIDE, NARROW].map(|frame| drawing(stack, &columns, &frame))
}

fn drawing(stack: &Stack, columns: &[Column], frame: &Frame) -> String {
    let (width, height) = frame.size;
    let (title, description) = (escape(&stack.title), escape(&stack.description));
    let boxes: usize = columns.iter().map(|column| 1 + column.segments.len()).sum();
    let mut out = String::with_capacity((boxes + 20) * BYTES);
    // Writing to a text cannot fail, and no mark asks plotters for a font.
    let _ = writeln!(
        out,
        "<svg class=\"{}\" role=\"img\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\">\
         <title>{title}</title><desc>{description}</desc>",
        frame.class
    );
    let area = Svg::new(&mut out, frame.size).into_drawing_area();
    let drawn = draw_marks(stack, columns, frame, &area);
    debug_assert!(drawn.is_ok(), "drawing to a text does not fail");
    drop(area);
    out.push_str("</svg>\n");
    out
}

fn draw_marks(
    stack: &Stack,
    columns: &[Column],
    frame: &Frame,
    area: &DrawingArea<Svg<'_>, Shift>,
) -> Result<(), DrawingAreaErrorKind<std::convert::Infallible>> {
    let places = places(stack, f64::from(frame.size.0 - frame.left - RIGHT));
    let end = places.last().map_or(1.0, |place| place.1);
    let (lowest, highest) = extent(stack);
    let axis = Axis::enclosing(lowest, highest, frame.steps);
    let bound = |tick: Option<&Decimal>| tick.map_or(0.0, |tick| position(*tick));
    let chart = ChartBuilder::on(area)
        .margin_left(frame.left)
        .margin_right(RIGHT)
        .margin_top(TOP)
        .margin_bottom(BOTTOM)
        .build_cartesian_2d(0.0..end, bound(axis.ticks.first())..bound(axis.ticks.last()))?;
    let plot = chart.plotting_area();
    let draw = |mark: Mark<'_>| plot.draw(&mark);

    for tick in &axis.ticks {
        let y = position(*tick);
        let class = if tick.is_zero() { "base" } else { "grid" };
        draw(Mark::Line { class, ends: [(0.0, y), (end, y)] })?;
        draw(Mark::Text { class: "tick", text: &axis.label(*tick), at: [(0.0, y)], by: (-8, 4) })?;
    }
    let top = bound(axis.ticks.last());
    draw(Mark::Text { class: "unit", text: &stack.unit, at: [(0.0, top)], by: (-8, -12) })?;

    let per_place = f64::from(frame.size.0 - frame.left - RIGHT) / end;
    let every = label_step(stack, per_place);
    let low = bound(axis.ticks.first());
    for (bucket, (column, (from, to))) in columns.iter().zip(places).enumerate() {
        draw(Mark::Open { class: "column" })?;
        // A field behind the segments answers to the pointer.
        draw(Mark::Box { class: "field", title: &column.title, corners: [(from, low), (to, top)] })?;
        let gap = (to - from) * GAP;
        for Segment { class, title, ends } in &column.segments {
            draw(Mark::Box { class, title, corners: [(from + gap, ends.0), (to - gap, ends.1)] })?;
        }
        draw(Mark::Close)?;
        if is_labelled(stack, bucket, every) {
            let text = &stack.buckets[bucket].label;
            draw(Mark::Text { class: "label", text, at: [(f64::midpoint(from, to), low)], by: (0, 18) })?;
        }
    }
    // Over the columns, so that what hangs below the line is told from what stands on it.
    draw(Mark::Line { class: "base", ends: [(0.0, 0.0), (end, 0.0)] })
}

fn write_columns(stack: &Stack) -> Vec<Column> {
    let written = |value: Decimal| format!("{} {}", (stack.format)(value), stack.unit);
    let write = |(i, bucket): (usize, &Bucket)| Column {
        title: format!("{}: {}", bucket.name, written(stack.total(i))),
        segments: segments(stack, i, |label, value| format!("{}, {label}: {}", bucket.name, written(value))),
    };
    stack.buckets.iter().enumerate().map(write).collect()
}

/// A bucket's segments, one on the other: above the line what was spent, below it what was given back.
fn segments(stack: &Stack, bucket: usize, title: impl Fn(&str, Decimal) -> String) -> Vec<Segment> {
    let (mut above, mut below) = ((Decimal::ZERO, 0.0), (Decimal::ZERO, 0.0));
    let mut segments = Vec::with_capacity(stack.series.len());
    for (i, series) in stack.series.iter().enumerate() {
        let Some(value) = series.values.get(bucket).copied().filter(|value| !value.is_zero()) else {
            continue;
        };
        let (edge, at) = if value.is_negative() { &mut below } else { &mut above };
        let begin = *at;
        *edge += value;
        *at = position(*edge);
        segments.push(Segment {
            class: format!("segment {}", stack.class(i)),
            title: title(&series.label, value),
            ends: (begin, *at),
        });
    }
    segments
}

/// Where each bucket begins and ends along the axis, a day's place being 1. A place apart is as wide as
/// its label needs, since its label is a word.
fn places(stack: &Stack, width: f64) -> Vec<(f64, f64)> {
    let needed = |label: &str| (count(label.chars().count()) + 1.0) * CHARACTER;
    let words = stack.buckets.iter().filter(|bucket| bucket.is_apart);
    let (apart, words) = words.fold((0.0, 0.0), |(n, sum), bucket| (n + 1.0, sum + needed(&bucket.label)));
    let days = count(stack.buckets.len()) - apart + DISTANCE * apart;
    let day = ((width - words) / days.max(1.0)).max(1.0);
    let mut end = 0.0;
    let mut was_apart = true;
    let mut places = Vec::with_capacity(stack.buckets.len());
    for bucket in &stack.buckets {
        let begin = if bucket.is_apart && !was_apart { end + DISTANCE } else { end };
        end = begin + if bucket.is_apart { (needed(&bucket.label) / day).max(1.0) } else { 1.0 };
        was_apart = bucket.is_apart;
        places.push((begin, end));
    }
    places
}

/// The lowest and the highest point of any column.
fn extent(stack: &Stack) -> (Decimal, Decimal) {
    let side = |bucket: usize, is_negative: bool| -> Decimal {
        let values = stack.series.iter().filter_map(|series| series.values.get(bucket)).copied();
        values.filter(|value| value.is_negative() == is_negative).sum()
    };
    let buckets = || 0..stack.buckets.len();
    let lowest = buckets().map(|bucket| side(bucket, true)).min().unwrap_or_default();
    let highest = buckets().map(|bucket| side(bucket, false)).max().unwrap_or_default();
    (lowest, highest)
}

/// Every how many columns a label fits.
fn label_step(stack: &Stack, per_place: f64) -> usize {
    let days = stack.buckets.iter().filter(|bucket| !bucket.is_apart);
    let longest = days.map(|bucket| bucket.label.chars().count()).max().unwrap_or(1);
    let needed = (count(longest) + 1.0) * CHARACTER;
    [1, 2, 5, 10, 15].into_iter().find(|step| count(*step) * per_place >= needed).unwrap_or(30)
}

/// 1, 3, 5 … or 1, 5, 10, 15 …, as people count days; what is apart always, and the day before it only
/// where every day is.
fn is_labelled(stack: &Stack, bucket: usize, every: usize) -> bool {
    // Who leaves labels out has chosen already.
    if stack.buckets.iter().any(|bucket| bucket.label.is_empty()) {
        return !stack.buckets[bucket].label.is_empty();
    }
    if stack.buckets[bucket].is_apart || every == 1 {
        return true;
    }
    let is_before_apart = stack.buckets.get(bucket + 1).is_some_and(|next| next.is_apart);
    let is_counted =
        if every == 2 { bucket.is_multiple_of(2) } else { bucket == 0 || (bucket + 1).is_multiple_of(every) };
    is_counted && !is_before_apart
}

/// Columns and characters: a few.
fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

/// For the eye only: a screen has fewer pixels than a float has digits.
fn position(value: Decimal) -> f64 {
    value.to_string().parse().unwrap_or_default()
}
