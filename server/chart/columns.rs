//! Stacked columns.

use super::axis::Axis;
use super::frame::{Area, CHARACTER, Drawn, Frame, NARROW, WIDE, count, labelled, position};
use super::svg::Mark;
use super::{Bucket, Stack};
use crate::money::Decimal;

/// Space on each side of a column, as a part of its place.
const GAP: f64 = 0.11;
/// A place apart from the days stands off from them by a part of a place.
const DISTANCE: f64 = 0.5;

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
    let boxes: usize = columns.iter().map(|column| 1 + column.segments.len()).sum();
    [WIDE, NARROW].map(|frame| {
        frame.draw(&stack.title, &stack.description, boxes, |area| draw_marks(stack, &columns, &frame, area))
    })
}

fn draw_marks(stack: &Stack, columns: &[Column], frame: &Frame, area: &Area<'_>) -> Drawn {
    let places = places(stack, frame.width());
    let end = places.last().map_or(1.0, |place| place.1);
    let (lowest, highest) = extent(stack);
    let axis = Axis::enclosing(lowest, highest, frame.steps);
    let plot = frame.plot(area, end, &axis, &stack.unit)?;
    let draw = |mark: Mark<'_>| plot.draw(&mark);
    let (low, top) = axis.ends();

    let labelled = labelled(&stack.buckets, frame.width() / end);
    for (bucket, (column, (from, to))) in columns.iter().zip(places).enumerate() {
        draw(Mark::Open { class: "column" })?;
        // A field behind the segments answers to the pointer.
        draw(Mark::Box { class: "field", title: &column.title, corners: [(from, low), (to, top)] })?;
        let gap = (to - from) * GAP;
        for Segment { class, title, ends } in &column.segments {
            draw(Mark::Box { class, title, corners: [(from + gap, ends.0), (to - gap, ends.1)] })?;
        }
        draw(Mark::Close)?;
        if labelled[bucket] {
            let text = &stack.buckets[bucket].label;
            draw(Mark::Text { class: "label", text, at: [(f64::midpoint(from, to), low)], by: (0, 18) })?;
        }
    }
    // Over the columns, so that what hangs below the line is distinguished from what stands on it.
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
