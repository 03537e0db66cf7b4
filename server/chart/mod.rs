//! Charts: figures to SVG, drawn by plotters through a backend of our own ([`svg`]).
//!
//! A drawing has no colors and no fonts in it, only classes: the style sheet gives it both themes and
//! print. Every mark has a `<title>` for the pointer. Positions are binary floats here and nowhere else;
//! what is written is always the exact figure.

mod axis;
mod burn_up;
mod columns;
mod duration;
mod frame;
mod histogram;
mod lines;
mod svg;
mod tornado;

pub use burn_up::{BurnUp, BurnUpAmount, BurnUpDay};
pub use duration::{Duration, DurationLayer};
pub use histogram::{Histogram, Spread};
pub use lines::{Line, Lines, Note};
pub use tornado::{Tornado, TornadoBar};

use chrono::Datelike as _;

use crate::money::Decimal;
use crate::period::BillingMonth;

/// Series with a color of their own. What comes after them belongs in a series called "other".
pub const COLOURS: usize = 8;

/// The class of the color of a series by its place.
fn color(place: usize) -> String {
    if place < COLOURS { format!("s{}", place + 1) } else { "other".to_owned() }
}

/// Stacked columns: one column a day or a month, one segment a series. Negative values (credits) hang
/// below the line.
#[derive(Clone, Debug)]
pub struct Stack {
    /// What it shows, in a few words: "Effective cost by day and provider".
    pub title: String,
    /// What one should see, in a sentence, for those who do not see it.
    pub description: String,
    /// What the values are counted in: "USD".
    pub unit: String,
    pub buckets: Vec<Bucket>,
    /// At the bottom of each column comes the first.
    pub series: Vec<Series>,
    /// How a value is written for people.
    pub format: fn(Decimal) -> String,
}

/// One column.
#[derive(Clone, Debug)]
pub struct Bucket {
    /// Below the axis, very short: "3", "Sep", "Jan 2026".
    pub label: String,
    /// In full: "3 Sep 2026".
    pub name: String,
    /// Stands at a distance, for what belongs to no day: "Whole period".
    pub is_apart: bool,
    /// The label names a year that begins here: it has its place before others.
    pub names_year: bool,
}

impl Bucket {
    /// A column a month, in their order.
    pub fn months(months: &[BillingMonth]) -> Vec<Self> {
        let (Some(first), Some(last)) = (months.first(), months.last()) else { return Vec::new() };
        let bucket = |month: &BillingMonth| {
            let (label, names_year) = month_label(*month, (*first, *last));
            Self { label, name: month.name(), is_apart: false, names_year }
        };
        months.iter().map(bucket).collect()
    }
}

/// A month below an axis from `first` to `last`: `Sep`. Where that spans years, `Jan 2026` at its first month and wherever a
/// year begins; and whether it names the year.
pub fn month_label(month: BillingMonth, (first, last): (BillingMonth, BillingMonth)) -> (String, bool) {
    let spans_years = first.first_day().year() != last.first_day().year();
    let names_year = spans_years && (month == first || month.first_day().month() == 1);
    (month.first_day().format(if names_year { "%b %Y" } else { "%b" }).to_string(), names_year)
}

/// The values of one group, a value for each bucket.
#[derive(Clone, Debug)]
pub struct Series {
    pub label: String,
    pub values: Vec<Decimal>,
    /// The rest, in grey.
    pub is_other: bool,
}

impl Stack {
    /// Two SVG elements, for wide and for narrow places: the style sheet shows the one that fits.
    pub fn drawings(&self) -> [String; 2] {
        columns::draw(self)
    }

    /// The class of a series' color, for its segments and its place in the legend.
    pub fn class(&self, series: usize) -> String {
        match self.series.get(series) {
            Some(found) if !found.is_other => color(series),
            _ => "other".to_owned(),
        }
    }

    /// Every series with its class.
    pub fn legend(&self) -> Vec<(String, &str)> {
        self.series.iter().enumerate().map(|(i, series)| (self.class(i), series.label.as_str())).collect()
    }

    /// The same figures as a table: a bucket's name, its values in the order of the series, their sum.
    pub fn rows(&self) -> Vec<(&str, Vec<Decimal>, Decimal)> {
        let value = |series: &Series, i: usize| series.values.get(i).copied().unwrap_or_default();
        let values = |i: usize| self.series.iter().map(|series| value(series, i)).collect();
        let buckets = self.buckets.iter().enumerate();
        buckets.map(|(i, bucket)| (bucket.name.as_str(), values(i), self.total(i))).collect()
    }

    /// A column's sum.
    pub fn total(&self, bucket: usize) -> Decimal {
        self.series.iter().filter_map(|series| series.values.get(bucket)).copied().sum()
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.values.iter().all(Decimal::is_zero))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(columns: &[&[&str]]) -> Stack {
        let series = columns.iter().enumerate().map(|(i, values)| Series {
            label: ["AWS", "<Lambda & \"co\">", "other"][i].to_owned(),
            values: values.iter().map(|value| value.parse().unwrap()).collect(),
            is_other: i == 2,
        });
        Stack {
            title: "Billed cost by day".into(),
            description: "Three days.".into(),
            unit: "USD".into(),
            buckets: (1..=columns[0].len())
                .map(|day| Bucket {
                    label: day.to_string(),
                    name: format!("{day} Sep 2026"),
                    is_apart: false,
                    names_year: false,
                })
                .collect(),
            series: series.collect(),
            format: |value| value.round(2).to_string(),
        }
    }

    #[test]
    fn it_draws_every_value_with_its_exact_figure() {
        let [svg, _] = stack(&[&["1200.50", "0", "-30"], &["0.005", "7", "1"], &["1", "1", "1"]]).drawings();
        for title in ["1 Sep 2026, AWS: 1200.50 USD", "3 Sep 2026, AWS: -30.00 USD", "2 Sep 2026: 8.00 USD"] {
            assert!(svg.contains(&format!("<title>{title}</title>")), "{title}\n{svg}");
        }
        assert!(!svg.contains("2 Sep 2026, AWS"), "nothing is drawn for zero");
        assert!(svg.contains("class=\"segment s1\"") && svg.contains("class=\"segment other\""));
    }

    #[test]
    fn it_needs_no_colors_fonts_or_inline_styles() {
        let [_, svg] = stack(&[&["1", "2"]]).drawings();
        for word in ["style=", "fill=", "stroke=", "font-family", "#"] {
            assert!(!svg.contains(word), "{word}\n{svg}");
        }
        assert!(svg.starts_with("<svg class=\"chart narrow\" role=\"img\""));
        assert!(svg.trim_end().ends_with("</svg>"));
    }

    #[test]
    fn it_escapes_what_others_named() {
        let [svg, _] = stack(&[&["1"], &["1"]]).drawings();
        assert!(svg.contains("&lt;Lambda &amp; &quot;co&quot;&gt;") && !svg.contains("<Lambda"));
    }

    #[test]
    fn it_draws_nothing_and_extremes_without_harm() {
        for columns in [
            &[&["0", "0"][..]][..],
            &[&["-5", "-0.0000001"]],
            &[&["999999999999999999999999", "0.0000000000000000000000001"]],
        ] {
            let stack = stack(columns);
            for svg in stack.drawings() {
                assert!(svg.contains("</svg>") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
        let mut none = stack(&[&["1"]]);
        none.buckets.clear();
        assert!(none.drawings()[0].contains("</svg>"));
    }

    #[test]
    fn months_name_the_year_where_it_begins_and_only_where_there_are_several() {
        let labels = |first: &str, months: u32, per_place: f64| {
            let first: BillingMonth = first.parse().unwrap();
            let months: Vec<BillingMonth> = (0..months).map(|n| first.plus(n)).collect();
            let buckets = Bucket::months(&months);
            let shown = frame::labelled(&buckets, per_place).into_iter().zip(buckets);
            shown.filter(|(is_shown, _)| *is_shown).map(|(_, it)| it.label).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(labels("2026-01", 4, 70.0), "Jan Feb Mar Apr");
        assert_eq!(labels("2025-11", 4, 70.0), "Nov 2025 Dec Jan 2026 Feb");
        // Where there is room for every second one only, the year that begins stays.
        assert_eq!(labels("2025-12", 8, 27.0), "Jan 2026 Apr Jun");
        assert_eq!(labels("2025-06", 13, 27.0), "Jun 2025 Aug Oct Jan 2026 Apr Jun");
    }

    #[test]
    fn it_greys_what_has_no_color_left() {
        let mut many = stack(&[&["1"]]);
        many.series = vec![many.series[0].clone(); 10];
        assert_eq!(many.class(7), "s8");
        assert_eq!(many.class(8), "other");
    }
}
