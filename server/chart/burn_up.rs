//! What was spent so far against what may be, day by day, and what is expected until the end.

use super::Bucket;
use super::axis::Axis;
use super::frame::{Area, Drawn, Frame, NARROW, WIDE, count, labelled, position};
use super::svg::Mark;
use crate::money::Decimal;

/// A column a day up to what was spent by then, a line for the limit, a band for the days to come.
#[derive(Clone, Debug)]
pub struct BurnUp {
    pub title: String,
    pub description: String,
    /// What the values are counted in: "USD".
    pub unit: String,
    pub limit: Decimal,
    pub days: Vec<BurnUpDay>,
    /// How a value is written for people.
    pub format: fn(Decimal) -> String,
}

/// A day, and what was or will be spent by its end.
#[derive(Clone, Debug)]
pub struct BurnUpDay {
    pub day: Bucket,
    pub amount: BurnUpAmount,
}

#[derive(Clone, Copy, Debug)]
pub enum BurnUpAmount {
    Spent(Decimal),
    Expected { low: Decimal, expected: Decimal, high: Decimal },
}

impl BurnUp {
    /// Two SVG elements, for wide and for narrow places.
    pub fn drawings(&self) -> [String; 2] {
        [WIDE, NARROW].map(|frame| {
            let boxes = self.days.len() * 3;
            frame.draw(&self.title, &self.description, boxes, |area| self.draw_marks(&frame, area))
        })
    }

    /// Whether there are days to come.
    pub fn has_band(&self) -> bool {
        self.days.iter().any(|day| matches!(day.amount, BurnUpAmount::Expected { .. }))
    }

    fn draw_marks(&self, frame: &Frame, area: &Area<'_>) -> Drawn {
        let end = count(self.days.len().max(1));
        let ends = self.days.iter().map(|day| day.amount.ends());
        let lowest = ends.clone().map(|ends| ends.0).min().unwrap_or_default().min(Decimal::ZERO);
        let highest = ends.map(|ends| ends.1).max().unwrap_or_default().max(self.limit);
        let axis = Axis::enclosing(lowest, highest, frame.steps);
        let plot = frame.plot(area, end, &axis, &self.unit)?;
        let draw = |mark: Mark<'_>| plot.draw(&mark);
        let (low, top) = axis.ends();
        let buckets: Vec<Bucket> = self.days.iter().map(|day| day.day.clone()).collect();
        let labelled = labelled(&buckets, frame.width() / end);
        for (place, day) in self.days.iter().enumerate() {
            let (from, to) = (count(place), count(place + 1));
            let title = self.title_of(day);
            draw(Mark::Open { class: "column" })?;
            // A field behind the marks answers to the pointer.
            draw(Mark::Box { class: "field", title: &title, corners: [(from, low), (to, top)] })?;
            match day.amount {
                BurnUpAmount::Spent(spent) => {
                    let corners = [(from, 0.0), (to, position(spent))];
                    draw(Mark::Box { class: "segment s1", title: &title, corners })?;
                }
                BurnUpAmount::Expected { low, expected, high } => {
                    let corners = [(from, position(low)), (to, position(high))];
                    draw(Mark::Box { class: "band", title: &title, corners })?;
                    let y = position(expected);
                    draw(Mark::Line { class: "expected", ends: [(from, y), (to, y)] })?;
                }
            }
            draw(Mark::Close)?;
            if labelled[place] {
                let at = [(f64::midpoint(from, to), low)];
                draw(Mark::Text { class: "label", text: &day.day.label, at, by: (0, 18) })?;
            }
        }
        let limit = position(self.limit);
        draw(Mark::Line { class: "base", ends: [(0.0, 0.0), (end, 0.0)] })?;
        draw(Mark::Line { class: "limit", ends: [(0.0, limit), (end, limit)] })
    }

    fn title_of(&self, day: &BurnUpDay) -> String {
        let written = |amount| format!("{} {}", (self.format)(amount), self.unit);
        let name = &day.day.name;
        match day.amount {
            BurnUpAmount::Spent(spent) => format!("{name}: {} spent", written(spent)),
            BurnUpAmount::Expected { low, expected, high } => {
                format!("{name}: {} expected, {} to {}", written(expected), (self.format)(low), written(high))
            }
        }
    }
}

impl BurnUpAmount {
    /// The lowest and the highest of it.
    fn ends(self) -> (Decimal, Decimal) {
        match self {
            Self::Spent(spent) => (spent, spent),
            Self::Expected { low, high, .. } => (low, high),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_draws_what_is_spent_the_limit_and_the_band() {
        let day = |number: u32, amount| BurnUpDay {
            day: Bucket {
                label: number.to_string(),
                name: format!("{number} Sep 2026"),
                is_apart: false,
                names_year: false,
            },
            amount,
        };
        let expected = BurnUpAmount::Expected { low: 30.into(), expected: 40.into(), high: 60.into() };
        let chart = BurnUp {
            title: "Spend & budget".into(),
            description: "Two days.".into(),
            unit: "USD".into(),
            limit: 50.into(),
            days: vec![day(1, BurnUpAmount::Spent(20.into())), day(2, expected)],
            format: |value| value.to_string(),
        };
        for svg in chart.drawings() {
            for part in [
                "<title>Spend &amp; budget</title>",
                "<title>1 Sep 2026: 20 USD spent</title>",
                "<title>2 Sep 2026: 40 USD expected, 30 to 60 USD</title>",
                "class=\"band\"",
                "class=\"limit\"",
            ] {
                assert!(svg.contains(part), "{part}\n{svg}");
            }
            assert!(!svg.contains("style=") && !svg.contains("NaN"));
        }
        let none = BurnUp { days: Vec::new(), ..chart };
        assert!(none.drawings()[0].contains("</svg>"));
    }
}
