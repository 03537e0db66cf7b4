//! From the start of the program to its first answer.

use super::Sizes;
use super::process::{Server, folder};
use super::table::{Figure, Measured};

pub fn measure(sizes: &Sizes) -> Vec<Figure> {
    let (mut empty, mut existing) = (f64::MAX, f64::MAX);
    for run in 1..=sizes.runs {
        eprintln!("start, run {run}");
        let folder = folder();
        for best in [&mut empty, &mut existing] {
            *best = best.min(Server::start(folder.path()).took.as_secs_f64());
        }
    }
    let figure = |of: &str, value, limit| Figure {
        name: format!("start to first page, {of} data directory"),
        measured: Measured::As(value, format!("fastest of {}", sizes.runs)),
        at_most: Some((limit, "s")),
    };
    vec![figure("empty", empty, 5.0), figure("existing", existing, 1.0)]
}
