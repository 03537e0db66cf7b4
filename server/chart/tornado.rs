//! Which input matters: a bar to each side, the longest first.

use super::axis::Axis;
use super::frame::{Area, Drawn, Frame, NARROW, WIDE, count, position};
use super::svg::Mark;
use crate::money::Decimal;

/// How high a row is: its name, and its bar below.
const ROW: u32 = 40;

/// What becomes of an answer when one input after the other is at its low and at its high.
#[derive(Clone, Debug)]
pub struct Tornado {
    pub title: String,
    pub description: String,
    /// What the answer is counted in.
    pub unit: String,
    /// The answer with all inputs as they are.
    pub base: Decimal,
    /// An answer at which something else begins.
    pub limit: Decimal,
    pub bars: Vec<TornadoBar>,
    /// How an answer is written for people.
    pub format: fn(Decimal) -> String,
}

/// An input.
#[derive(Clone, Debug)]
pub struct TornadoBar {
    pub label: String,
    /// Its low and its high, as people write them.
    pub inputs: [String; 2],
    /// The answer at each.
    pub answers: [Decimal; 2],
}

impl Tornado {
    /// Two SVG elements, for wide and for narrow places.
    pub fn drawings(&self) -> [String; 2] {
        [WIDE, NARROW].map(|frame| {
            let frame = frame.of_rows(self.bars.len(), ROW);
            let boxes = self.bars.len() * 3;
            frame.draw(&self.title, &self.description, boxes, |area| self.draw_marks(&frame, area))
        })
    }

    /// Both sides with their classes.
    pub fn legend(&self) -> Vec<(String, &str)> {
        vec![("s1".to_owned(), "The input at its low"), ("s2".to_owned(), "The input at its high")]
    }

    fn draw_marks(&self, frame: &Frame, area: &Area<'_>) -> Drawn {
        let answers = || self.bars.iter().flat_map(|bar| bar.answers).chain([self.base]);
        let (lowest, highest) = (answers().min(), answers().max());
        let axis = Axis::around(lowest.unwrap_or_default(), highest.unwrap_or_default(), frame.steps);
        let plot = frame.rows(area, self.bars.len(), &axis, &self.unit)?;
        let draw = |mark: Mark<'_>| plot.draw(&mark);
        let base = position(self.base);
        let (low, high) = axis.ends();
        for (at, bar) in self.bars.iter().enumerate() {
            let top = count(self.bars.len() - at);
            draw(Mark::Open { class: "column" })?;
            // Both on one side of the base lie on each other, the longer one below.
            let mut sides = [0, 1];
            sides.sort_by_key(|side| std::cmp::Reverse((bar.answers[*side] - self.base).abs()));
            for side in sides {
                let answer = bar.answers[side];
                let written = (self.format)(answer);
                let title = format!("{}, {}: {written} {}", bar.label, bar.inputs[side], self.unit);
                let class = ["segment s1", "segment s2"][side];
                let corners = [(base, top - 0.5), (position(answer), top - 0.95)];
                draw(Mark::Box { class, title: &title, corners })?;
            }
            draw(Mark::Line { class: "base", ends: [(base, top - 0.45), (base, top - 1.0)] })?;
            draw(Mark::Close)?;
        }
        let limit = position(self.limit);
        if (low..=high).contains(&limit) {
            draw(Mark::Line { class: "limit", ends: [(limit, 0.0), (limit, count(self.bars.len()))] })?;
        }
        // Over all lines, so that they are read.
        for (at, bar) in self.bars.iter().enumerate() {
            let place = [(low, count(self.bars.len() - at))];
            draw(Mark::Text { class: "note name", text: &bar.label, at: place, by: (0, 14) })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Tornado {
        let bar = |label: &str, answers: [i64; 2]| TornadoBar {
            label: label.to_owned(),
            inputs: ["5.50".to_owned(), "8.26".to_owned()],
            answers: answers.map(Decimal::from),
        };
        Tornado {
            title: "What matters".into(),
            description: "Two inputs.".into(),
            unit: "USD".into(),
            base: 100.into(),
            limit: 90.into(),
            bars: vec![bar("On demand, <AWS>", [80, 120]), bar("Residual value", [104, 110])],
            format: |value| value.to_string(),
        }
    }

    #[test]
    fn it_draws_both_sides_of_each_input() {
        for svg in chart().drawings() {
            for part in [
                "<title>On demand, &lt;AWS&gt;, 5.50: 80 USD</title>",
                "<title>On demand, &lt;AWS&gt;, 8.26: 120 USD</title>",
                ">Residual value</text>",
                "class=\"base\"",
                "class=\"limit\"",
            ] {
                assert!(svg.contains(part), "{part}\n{svg}");
            }
            let at = |what: &str| svg.find(what).unwrap();
            assert!(at("class=\"limit\"") < at(">Residual value</text>"), "no line runs through a name");
            assert!(at("8.26: 110 USD") < at("5.50: 104 USD"), "the shorter lies on the longer");
            assert!(!svg.contains("style=") && !svg.contains("NaN"));
        }
    }

    #[test]
    fn it_draws_nothing_and_extremes_without_harm() {
        let vast: Decimal = "999999999999999999999999".parse().unwrap();
        let mut extreme = chart();
        extreme.bars[0].answers = [-vast, vast];
        let none = Tornado { bars: Vec::new(), ..chart() };
        for svg in none.drawings().into_iter().chain(extreme.drawings()) {
            assert!(svg.contains("</svg>") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
