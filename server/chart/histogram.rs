//! How often what came out: a row for each option, over one axis.

use super::axis::Axis;
use super::color;
use super::frame::{Area, Drawn, Frame, NARROW, WIDE, count, position};
use super::svg::Mark;
use crate::money::Decimal;

/// How high a row is: its name, and its bars below.
const ROW: u32 = 64;
/// Of a row, what its bars may take.
const BARS: f64 = 0.7;

#[derive(Clone, Debug)]
pub struct Histogram {
    pub title: String,
    pub description: String,
    /// What the values are counted in.
    pub unit: String,
    /// What both axes are: "USD over 36 months. The higher, the more often".
    pub axes: String,
    /// One more than there are bars.
    pub edges: Vec<Decimal>,
    pub spreads: Vec<Spread>,
    /// How a value is written for people.
    pub format: fn(Decimal) -> String,
}

/// How often something came out between each two edges.
#[derive(Clone, Debug)]
pub struct Spread {
    pub label: String,
    pub bars: Vec<u32>,
    /// What half of them are below.
    pub middle: Decimal,
}

impl Histogram {
    /// Two SVG elements, for wide and for narrow places.
    pub fn drawings(&self) -> [String; 2] {
        [WIDE, NARROW].map(|frame| {
            let frame = frame.of_rows(self.spreads.len(), ROW);
            let boxes = self.spreads.len() * self.edges.len();
            frame.draw(&self.title, &self.description, boxes, |area| self.draw_marks(&frame, area))
        })
    }

    /// Every option with its class.
    pub fn legend(&self) -> Vec<(String, &str)> {
        self.spreads.iter().enumerate().map(|(at, it)| (color(at), it.label.as_str())).collect()
    }

    /// The same figures as a table: from where to where, and how often for each option.
    pub fn rows(&self) -> Vec<([Decimal; 2], Vec<u32>)> {
        let often = |bar: usize| {
            self.spreads.iter().map(|it| it.bars.get(bar).copied().unwrap_or_default()).collect()
        };
        self.edges.windows(2).enumerate().map(|(bar, ends)| ([ends[0], ends[1]], often(bar))).collect()
    }

    fn draw_marks(&self, frame: &Frame, area: &Area<'_>) -> Drawn {
        let (first, last) = (self.edges.first().copied(), self.edges.last().copied());
        let axis = Axis::around(first.unwrap_or_default(), last.unwrap_or_default(), frame.steps);
        let plot = frame.rows(area, self.spreads.len(), &axis, &self.axes)?;
        let draw = |mark: Mark<'_>| plot.draw(&mark);
        let (low, high) = axis.ends();
        let most =
            self.spreads.iter().flat_map(|it| it.bars.iter().copied()).max().unwrap_or_default().max(1);
        for (at, spread) in self.spreads.iter().enumerate() {
            let below = count(self.spreads.len() - at) - 1.0;
            let draws: u32 = spread.bars.iter().sum();
            let class = format!("segment {}", color(at));
            draw(Mark::Open { class: "column" })?;
            for (ends, often) in self.edges.windows(2).zip(&spread.bars).filter(|(_, often)| **often > 0) {
                let title = format!(
                    "{}: {often} of {draws} between {} and {} {}",
                    spread.label,
                    (self.format)(ends[0]),
                    (self.format)(ends[1]),
                    self.unit
                );
                let top = below + BARS * f64::from(*often) / f64::from(most);
                let corners = [(position(ends[0]), below), (position(ends[1]), top)];
                draw(Mark::Box { class: &class, title: &title, corners })?;
            }
            draw(Mark::Close)?;
            let middle = position(spread.middle);
            draw(Mark::Line { class: "middle", ends: [(middle, below), (middle, below + BARS)] })?;
            draw(Mark::Line { class: "base", ends: [(low, below), (high, below)] })?;
            let name = format!("{}: half below {}", spread.label, (self.format)(spread.middle));
            draw(Mark::Text { class: "note name", text: &name, at: [(low, below + 1.0)], by: (0, 14) })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Histogram {
        let spread = |label: &str, bars: [u32; 3]| Spread {
            label: label.to_owned(),
            bars: bars.to_vec(),
            middle: 15.into(),
        };
        Histogram {
            title: "How sure".into(),
            description: "Two options.".into(),
            unit: "USD".into(),
            axes: "USD over a year. The higher, the more often".into(),
            edges: [10, 14, 18, 22].map(Decimal::from).to_vec(),
            spreads: vec![spread("Our own", [5, 4, 1]), spread("AWS & more", [0, 2, 8])],
            format: |value| value.to_string(),
        }
    }

    #[test]
    fn it_draws_how_often_each_option_came_to_what() {
        for svg in chart().drawings() {
            for part in [
                "<title>Our own: 4 of 10 between 14 and 18 USD</title>",
                "<title>AWS &amp; more: 8 of 10 between 18 and 22 USD</title>",
                "class=\"segment s2\"",
                "class=\"middle\"",
                ">USD over a year. The higher, the more often</text>",
            ] {
                assert!(svg.contains(part), "{part}\n{svg}");
            }
            assert_eq!(svg.matches("<rect").count(), 5, "nothing is drawn for never");
            assert!(!svg.contains("style=") && !svg.contains("NaN"));
        }
    }

    #[test]
    fn its_table_has_every_value() {
        assert_eq!(chart().rows()[1], ([14.into(), 18.into()], vec![4, 2]));
        let none = Histogram { edges: Vec::new(), spreads: Vec::new(), ..chart() };
        assert!(none.rows().is_empty() && none.drawings()[0].contains("</svg>"));
        // What is always the same has no width.
        let certain = Histogram { edges: vec![5.into(); 4], ..chart() };
        assert!(!certain.drawings()[0].contains("NaN"));
    }
}
