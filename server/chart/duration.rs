//! A demand duration curve: how many GPUs are asked for in how many of the hours, and what serves them.

use super::axis::Axis;
use super::frame::{Area, Drawn, Frame, SMALL, count, label_class, position};
use super::svg::Mark;
use crate::money::Decimal;

/// Hours from those that ask for most to those that ask for least, cut into equally many, each with what serves it on
/// average, the lowest layer first. The top of all is the demand; the highest hour, which no average shows, stands out.
#[derive(Clone, Debug)]
pub struct Duration {
    pub title: String,
    pub description: String,
    /// "GPUs".
    pub unit: String,
    /// What they are drawn over: "Hours".
    pub range: String,
    pub layers: Vec<DurationLayer>,
    /// Where the axis ends at least, so that drawings beside each other have the same.
    pub top: Decimal,
    /// How a value is written for people.
    pub format: fn(Decimal) -> String,
}

/// What serves a part of the hours.
#[derive(Clone, Debug)]
pub struct DurationLayer {
    pub label: String,
    /// Of its color: what is paid alike looks alike, whatever stands below it.
    pub class: &'static str,
    pub values: Vec<Decimal>,
    /// In the hour that asks for most.
    pub highest: Decimal,
}

impl Duration {
    /// An SVG element, of which several stand beside each other.
    pub fn drawing(&self) -> String {
        let boxes = self.steps() * self.layers.len();
        let frame = SMALL.with_range();
        frame.draw(&self.title, &self.description, boxes, |area| self.draw_marks(&frame, area))
    }

    /// The same figures as a table: which hours, what serves them in the order of the layers, and all of it.
    pub fn rows(&self) -> Vec<(String, Vec<Decimal>, Decimal)> {
        let row = |step| {
            let values: Vec<Decimal> = self.layers.iter().map(|it| value(it, step)).collect();
            let all = values.iter().copied().sum();
            (self.hours(step), values, all)
        };
        let values: Vec<Decimal> = self.layers.iter().map(|it| it.highest).collect();
        let highest = ("the highest hour".to_owned(), values, self.highest());
        let rest = (0..self.steps()).map(row);
        (!self.layers.is_empty()).then_some(highest).into_iter().chain(rest).collect()
    }

    /// What the hour that asks for most asks for.
    pub fn highest(&self) -> Decimal {
        self.layers.iter().map(|it| it.highest).sum()
    }

    fn steps(&self) -> usize {
        self.layers.iter().map(|it| it.values.len()).max().unwrap_or_default()
    }

    /// "5 to 10 % of the hours".
    fn hours(&self, step: usize) -> String {
        let percent = |step: usize| {
            let part = Decimal::from(i64::try_from(step * 100).unwrap_or_default());
            let steps = Decimal::from(i64::try_from(self.steps()).unwrap_or_default());
            part.divide(steps, 1).unwrap_or_default().normalize()
        };
        format!("{} to {}% of hours", percent(step), percent(step + 1))
    }

    fn draw_marks(&self, frame: &Frame, area: &Area<'_>) -> Drawn {
        let end = count(self.steps().max(1));
        let total = |step: usize| self.layers.iter().map(|it| value(it, step)).sum::<Decimal>();
        let highest = self.highest();
        let mean = total(0);
        let axis = Axis::enclosing(Decimal::ZERO, highest.max(mean).max(self.top), frame.steps);
        let plot = frame.plot(area, end, &axis, &self.unit)?;
        let draw = |mark: Mark<'_>| plot.draw(&mark);
        for step in 0..self.steps() {
            let (mut edge, mut from) = (Decimal::ZERO, 0.0);
            for layer in &self.layers {
                let gpus = value(layer, step);
                if gpus.is_zero() {
                    continue;
                }
                edge += gpus;
                let to = position(edge);
                let title =
                    format!("{}, {}: {} {}", self.hours(step), layer.label, (self.format)(gpus), self.unit);
                let class = format!("segment {}", layer.class);
                let corners = [(count(step), from), (count(step + 1), to)];
                draw(Mark::Box { class: &class, title: &title, corners })?;
                from = to;
            }
        }
        if highest > mean {
            let (from, to) = (position(mean), position(highest));
            draw(Mark::Line { class: "middle", ends: [(0.0, from), (0.0, to)] })?;
            draw(Mark::Line { class: "middle", ends: [(0.0, to), (1.0, to)] })?;
            let text = format!("highest hour {}", (self.format)(highest));
            draw(Mark::Text { class: "note name", text: &text, at: [(1.0, to)], by: (5, 4) })?;
        }
        for quarter in 0..=4 {
            let x = end * f64::from(quarter) / 4.0;
            let text = format!("{}%", quarter * 25);
            draw(Mark::Text { class: label_class(x, end), text: &text, at: [(x, 0.0)], by: (0, 18) })?;
        }
        Frame::name_range(&plot, (end, 0.0), &self.range)?;
        draw(Mark::Line { class: "base", ends: [(0.0, 0.0), (end, 0.0)] })
    }
}

fn value(layer: &DurationLayer, step: usize) -> Decimal {
    layer.values.get(step).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Duration {
        let layer = |label: &str, class, values: [i64; 4]| DurationLayer {
            label: label.to_owned(),
            class,
            values: values.into_iter().map(Decimal::from).collect(),
            highest: (values[0] + 1).into(),
        };
        Duration {
            title: "Demand".into(),
            description: "Four quarters of the hours.".into(),
            unit: "GPUs".into(),
            range: "Hours, the busiest first".into(),
            layers: vec![layer("Owned", "s1", [8, 8, 8, 4]), layer("On demand", "s5", [6, 2, 0, 0])],
            top: 20.into(),
            format: |value| value.to_string(),
        }
    }

    #[test]
    fn it_draws_what_serves_which_hours() {
        let svg = chart().drawing();
        for part in [
            "class=\"segment s5\"",
            "<title>0 to 25% of hours, On demand: 6 GPUs</title>",
            "<title>75 to 100% of hours, Owned: 4 GPUs</title>",
            ">50%</text>",
            ">GPUs</text>",
            ">Hours, the busiest first</text>",
            // Of no average.
            ">highest hour 16</text>",
            // It ends where the others do.
            ">20</text>",
        ] {
            assert!(svg.contains(part), "{part}\n{svg}");
        }
        assert_eq!(svg.matches("<rect").count(), 6, "nothing is drawn for zero");
        assert!(!svg.contains("style=") && !svg.contains("NaN"));
    }

    #[test]
    fn its_table_has_every_value() {
        let rows = chart().rows();
        assert_eq!(rows[0], ("the highest hour".to_owned(), vec![9.into(), 7.into()], 16.into()));
        assert_eq!(rows[2], ("25 to 50% of hours".to_owned(), vec![8.into(), 2.into()], 10.into()));
        let mut flat = chart();
        flat.layers.iter_mut().for_each(|it| it.highest = it.values[0]);
        assert!(!flat.drawing().contains("highest"), "nothing stands out");
        let none = Duration { layers: Vec::new(), ..chart() };
        assert!(none.rows().is_empty() && none.drawing().contains("</svg>"));
    }
}
