//! Lines over a range, with points of note: what an hour costs by utilization, what was paid by month.

use super::axis::Axis;
use super::color;
use super::frame::{Area, CHARACTER, Drawn, Frame, NARROW, WIDE, count, label_class, position};
use super::svg::Mark;
use crate::money::Decimal;

/// Pixels from a point to its label.
const BESIDE: i32 = 9;
/// Pixels between two lines that are seen as one.
const SAME: f64 = 1.5;

/// Lines that share both axes.
#[derive(Clone, Debug)]
pub struct Lines {
    pub title: String,
    pub description: String,
    /// What the values are counted in: "USD for an hour".
    pub unit: String,
    /// What they are drawn over: "Utilization".
    pub range: String,
    /// Where the range has a label, and which. The first and the last are its ends.
    pub labels: Vec<(Decimal, String)>,
    pub lines: Vec<Line>,
    pub notes: Vec<Note>,
    /// What lies above is cut off; none: nothing is.
    pub top: Option<Decimal>,
    /// How a place in the range is written for people.
    pub format: fn(Decimal) -> String,
}

#[derive(Clone, Debug)]
pub struct Line {
    pub label: String,
    /// From the left to the right.
    pub points: Vec<(Decimal, Decimal)>,
}

/// A point that says something.
#[derive(Clone, Debug)]
pub struct Note {
    pub at: (Decimal, Decimal),
    /// "From 52 % on, our own cost less than AWS".
    pub title: String,
    /// Very short, beside the point: "52 %". Empty: the point alone.
    pub label: String,
}

impl Lines {
    /// Two SVG elements, for wide and for narrow places.
    pub fn drawings(&self) -> [String; 2] {
        [WIDE, NARROW].map(|frame| {
            let frame = frame.with_range();
            let size = self.lines.len() * 2 + self.notes.len() * 2;
            frame.draw(&self.title, &self.description, size, |area| self.draw_marks(&frame, area))
        })
    }

    /// What is drawn as one line, with its class.
    pub fn legend(&self) -> Vec<(String, String)> {
        self.drawn().into_iter().map(|same| (color(same[0]), self.names(&same))).collect()
    }

    /// Lines by their places, those that are seen as one together.
    fn drawn(&self) -> Vec<Vec<usize>> {
        let axis = self.axis(&WIDE);
        let (low, top) = axis.ends();
        let apart = (top - low) * SAME / WIDE.height();
        let is_same = |a: &Line, b: &Line| {
            let is_near = |(a, b): (&(Decimal, Decimal), &(Decimal, Decimal))| {
                let (from, to) = (position(a.1), position(b.1));
                // Above the top nothing is drawn.
                a.0 == b.0 && ((from - to).abs() <= apart || from.min(to) > top)
            };
            a.points.len() == b.points.len() && a.points.iter().zip(&b.points).all(is_near)
        };
        let mut drawn: Vec<Vec<usize>> = Vec::new();
        for (at, line) in self.lines.iter().enumerate() {
            match drawn.iter_mut().find(|same| is_same(&self.lines[same[0]], line)) {
                Some(same) => same.push(at),
                None => drawn.push(vec![at]),
            }
        }
        drawn
    }

    fn names(&self, same: &[usize]) -> String {
        let names: Vec<&str> = same.iter().map(|at| self.lines[*at].label.as_str()).collect();
        match names.split_last() {
            Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
            _ => names.concat(),
        }
    }

    fn axis(&self, frame: &Frame) -> Axis {
        let values = || self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
        let highest = values().max().unwrap_or_default();
        let highest = self.top.map_or(highest, |top| highest.min(top));
        let lowest = values().min().unwrap_or_default().min(Decimal::ZERO);
        Axis::enclosing(lowest, highest.max(Decimal::ZERO), frame.steps)
    }

    /// The same figures as a table: where in the range, and the value of each line there; none where it has none.
    pub fn rows(&self) -> Vec<(String, Vec<Option<Decimal>>)> {
        let mut places: Vec<Decimal> =
            self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect();
        places.sort_unstable();
        places.dedup();
        let value =
            |line: &Line, at: Decimal| line.points.iter().find(|point| point.0 == at).map(|point| point.1);
        let row = |at| ((self.format)(at), self.lines.iter().map(|line| value(line, at)).collect());
        places.into_iter().map(row).collect()
    }

    fn draw_marks(&self, frame: &Frame, area: &Area<'_>) -> Drawn {
        let axis = self.axis(frame);
        let place = |label: Option<&(Decimal, String)>| label.map_or(0.0, |it| position(it.0));
        let begin = place(self.labels.first());
        let end = (place(self.labels.last()) - begin).max(f64::MIN_POSITIVE);
        let plot = frame.plot(area, end, &axis, &self.unit)?;
        let draw = |mark: Mark<'_>| plot.draw(&mark);
        let (low, top) = axis.ends();
        for (at, label) in &self.labels {
            let x = position(*at) - begin;
            let class = label_class(x, end);
            draw(Mark::Text { class, text: label, at: [(x, low)], by: (0, 18) })?;
        }
        Frame::name_range(&plot, (end, low), &self.range)?;
        for same in self.drawn() {
            let (at, title) = (same[0], self.names(&same));
            let points: Vec<(f64, f64)> =
                self.lines[at].points.iter().map(|(x, y)| (position(*x) - begin, position(*y))).collect();
            let class = format!("line {}", color(at));
            for part in below(&points, top) {
                draw(Mark::Path { class: &class, title: &title, points: &part })?;
            }
        }
        let mut notes: Vec<&Note> = self.notes.iter().collect();
        notes.sort_by_key(|note| note.at.0);
        // Where labels end that stand above their points, and below.
        let mut taken = [f64::MIN; 2];
        for note in notes {
            let (x, y) = (position(note.at.0) - begin, position(note.at.1));
            if !(0.0..=end).contains(&x) || y > top {
                continue;
            }
            draw(Mark::Dot { title: &note.title, at: [(x, y)] })?;
            if note.label.is_empty() {
                continue;
            }
            // On the side that has more room; where those before are in the way of both places, the point alone.
            let (pixels, wide) = (
                x / end * frame.width(),
                count(note.label.chars().count()) * CHARACTER + f64::from(2 * BESIDE),
            );
            let (class, by, from) = if x > end / 2.0 {
                ("note tick", -BESIDE, pixels - wide)
            } else {
                ("note name", BESIDE, pixels)
            };
            let Some(side) = taken.iter().position(|until| *until <= from) else { continue };
            taken[side] = from + wide;
            let by = (by, [-7, 17][side]);
            draw(Mark::Text { class, text: &note.label, at: [(x, y)], by })?;
        }
        Ok(())
    }
}

/// The parts of a line that do not lie above a value, cut where they cross it.
fn below(points: &[(f64, f64)], top: f64) -> Vec<Vec<(f64, f64)>> {
    let mut parts: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut part: Vec<(f64, f64)> = Vec::new();
    let mut before: Option<(f64, f64)> = None;
    for &(x, y) in points {
        if let Some((from_x, from_y)) = before
            && (from_y > top) != (y > top)
        {
            part.push((from_x + (x - from_x) * (top - from_y) / (y - from_y), top));
            if y > top {
                parts.push(std::mem::take(&mut part));
            }
        }
        if y <= top {
            part.push((x, y));
        }
        before = Some((x, y));
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Lines {
        let line = |label: &str, points: &[(i64, i64)]| Line {
            label: label.to_owned(),
            points: points.iter().map(|(x, y)| ((*x).into(), (*y).into())).collect(),
        };
        Lines {
            title: "Cost of an hour".into(),
            description: "Two ways.".into(),
            unit: "USD".into(),
            range: "Utilization".into(),
            labels: vec![(5.into(), "5 %".into()), (50.into(), "50 %".into()), (100.into(), "100 %".into())],
            lines: vec![
                line("Our own & <theirs>", &[(5, 60), (50, 6), (100, 3)]),
                line("AWS", &[(5, 7), (100, 7)]),
            ],
            notes: vec![Note {
                at: (43.into(), 7.into()),
                title: "From 43 % on".into(),
                label: "43 %".into(),
            }],
            top: Some(14.into()),
            format: |at| format!("{at} %"),
        }
    }

    #[test]
    fn it_draws_each_line_and_what_is_to_be_noted() {
        for svg in chart().drawings() {
            for part in [
                "<polyline class=\"line s1\"",
                "<title>Our own &amp; &lt;theirs&gt;</title></polyline>",
                "<polyline class=\"line s2\"",
                "<circle class=\"dot\"",
                "<title>From 43 % on</title></circle>",
                ">100 %</text>",
            ] {
                assert!(svg.contains(part), "{part}\n{svg}");
            }
            assert!(!svg.contains("style=") && !svg.contains("NaN"));
        }
        assert_eq!(chart().legend()[1], ("s2".to_owned(), "AWS".to_owned()));
    }

    #[test]
    fn both_axes_say_what_they_are() {
        for svg in chart().drawings() {
            assert!(svg.contains(">USD</text>") && svg.contains(">Utilization</text>"), "{svg}");
        }
    }

    #[test]
    fn lines_that_lie_on_each_other_are_one_with_both_names() {
        let mut chart = chart();
        let mut beside = chart.lines[0].clone();
        beside.label = "As many as pay".into();
        // A hair away, and far away only where neither is drawn.
        beside.points[0].1 = 90.into();
        beside.points[2].1 = "3.02".parse().unwrap();
        chart.lines.push(beside);
        let legend = chart.legend();
        assert_eq!(legend.len(), 2);
        assert_eq!(legend[0], ("s1".to_owned(), "Our own & <theirs> and As many as pay".to_owned()));
        for svg in chart.drawings() {
            assert_eq!(svg.matches("<polyline").count(), 2);
            assert!(svg.contains("&lt;theirs&gt; and As many as pay</title></polyline>"), "{svg}");
        }
        assert_eq!(chart.rows()[2].1.len(), 3, "the table has the figures of each");
        chart.lines[2].points[1].1 = 7.into();
        assert_eq!(chart.legend().len(), 3);
    }

    #[test]
    fn labels_that_would_lie_on_each_other_are_left_to_their_points() {
        let mut chart = chart();
        let note =
            |at: i64| Note { at: (at.into(), 7.into()), title: format!("at {at}"), label: format!("{at} %") };
        chart.notes = [20, 21, 22, 40].map(note).to_vec();
        let [wide, _] = chart.drawings();
        assert_eq!(wide.matches("<circle").count(), 4);
        let has = |text: &str| wide.contains(&format!(">{text}</text>"));
        assert_eq!(["20 %", "21 %", "22 %", "40 %"].map(has), [true, true, false, true], "{wide}");
    }

    #[test]
    fn what_lies_above_is_cut_where_it_crosses() {
        assert_eq!(
            below(&[(0.0, 30.0), (10.0, 10.0), (20.0, 5.0)], 20.0),
            [[(5.0, 20.0), (10.0, 10.0), (20.0, 5.0)]]
        );
        let twice = below(&[(0.0, 0.0), (10.0, 20.0), (20.0, 0.0)], 10.0);
        assert_eq!(twice, [vec![(0.0, 0.0), (5.0, 10.0)], vec![(15.0, 10.0), (20.0, 0.0)]]);
        assert!(below(&[(0.0, 30.0), (10.0, 30.0)], 20.0).is_empty());
    }

    #[test]
    fn its_table_has_every_value() {
        let rows = chart().rows();
        assert_eq!(rows[0], ("5 %".to_owned(), vec![Some(60.into()), Some(7.into())]));
        assert_eq!(rows[1], ("50 %".to_owned(), vec![Some(6.into()), None]));
    }

    #[test]
    fn it_draws_nothing_and_extremes_without_harm() {
        let none = Lines { lines: Vec::new(), labels: Vec::new(), ..chart() };
        let vast: Decimal = "999999999999999999999999".parse().unwrap();
        let line = Line { label: String::new(), points: vec![(5.into(), -vast), (5.into(), vast)] };
        let extreme = Lines { lines: vec![line], top: None, ..chart() };
        for svg in none.drawings().into_iter().chain(extreme.drawings()) {
            assert!(svg.contains("</svg>") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
