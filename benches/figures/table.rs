//! The table of figures.

pub struct Figure {
    pub name: String,
    pub measured: Measured,
    /// `None`: said for the reader, promised to nobody.
    pub at_most: Option<(f64, &'static str)>,
}

pub enum Measured {
    /// In the unit of the limit, and how it came about.
    As(f64, String),
    /// Why not.
    Not(String),
}

pub fn print(figures: &[Figure]) {
    println!("\n{:<74} {:>12} {:>12}  ", "figure", "measured", "at most");
    for Figure { name, measured, at_most } in figures {
        let unit = at_most.map_or("s", |(_, unit)| unit);
        let limit = at_most.map_or_else(String::new, |(limit, unit)| format!("{limit} {unit}"));
        let (value, verdict) = match measured {
            Measured::Not(why) => (String::new(), format!("not measured: {why}")),
            Measured::As(value, how) => {
                let verdict = match at_most {
                    Some((limit, _)) if value <= limit => "met",
                    Some(_) => "NOT MET",
                    None => "",
                };
                (format!("{value:.2} {unit}"), format!("{verdict:<8} {how}"))
            }
        };
        println!("{name:<74} {value:>12} {limit:>12}  {verdict}");
    }
}
