//! Situations that many meet, as scenarios to begin with.
//!
//! Each is a file that anybody could have written, with a source and a date for each price. Its note says what the
//! situation is, what is claimed about it, and what to look at.

/// A scenario to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// A handle that stays.
    pub handle: &'static str,
    pub name: &'static str,
    /// What it asks, in a sentence.
    pub about: &'static str,
    /// As [`super::file::read`] reads it.
    pub text: &'static str,
    /// Figures that others print about it, by their handles in [`super::published_figures`].
    pub published_figures: &'static [&'static str],
}

/// All of them, the most common situation first.
pub const fn templates() -> &'static [Template] {
    TEMPLATES
}

/// The one of a handle.
pub fn template(handle: &str) -> Option<&'static Template> {
    TEMPLATES.iter().find(|it| it.handle == handle)
}

/// Which figures that others print are about the situation of a template.
pub fn published_figures_about(handle: &str) -> &'static [&'static str] {
    template(handle).map_or(&[], |it| it.published_figures)
}

const TEMPLATES: &[Template] = &[
    Template {
        handle: "ten-nodes",
        name: "The vendor’s ten-node offer",
        about: "Is the offered cluster worth its price, and is it the right size?",
        text: include_str!("../templates/ten-nodes.toml"),
        published_figures: &["above-forty-percent", "reservation", "break-even", "yearly-cost"],
    },
    Template {
        handle: "eight-million",
        name: "Eight million a year on demand",
        about: "What would the same hours cost today, elsewhere, reserved or on-prem?",
        text: include_str!("../templates/eight-million.toml"),
        published_figures: &["eight-million", "same-work", "one-year-commitment"],
    },
    Template {
        handle: "four-runs",
        name: "Four fine-tuning runs a year",
        about: "Does a cluster pay off that runs eight weeks a year?",
        text: include_str!("../templates/four-runs.toml"),
        published_figures: &["training-hours", "years-of-rent"],
    },
    Template {
        handle: "inference-cliff",
        name: "The inference cliff",
        about: "When does serving cost more than training did, and what changes that?",
        text: include_str!("../templates/inference-cliff.toml"),
        published_figures: &["seventy-billion-on-one-card", "fp8-on-a100", "three-times-cheaper"],
    },
    Template {
        handle: "wrong-cloud",
        name: "500 TB in the wrong cloud",
        about: "Is it worth moving the data to where GPUs cost less?",
        text: include_str!("../templates/wrong-cloud.toml"),
        published_figures: &["half-a-petabyte", "daily-checkpoint", "free-ten-terabytes", "next-gigabyte"],
    },
    Template {
        handle: "second-cloud",
        name: "A second specialty cloud",
        about: "What does it save to run batch work where GPU-hours cost half?",
        text: include_str!("../templates/second-cloud.toml"),
        published_figures: &["thousand-hours", "spot-discount", "checkpoint-waste"],
    },
    Template {
        handle: "base-and-burst",
        name: "Base-load and burst",
        about: "How much of a changing demand should be reserved, owned or rented?",
        text: include_str!("../templates/base-and-burst.toml"),
        published_figures: &["peak-of-half", "one-year-commitment", "spot-band"],
    },
    Template {
        handle: "custom-silicon",
        name: "Train on Nvidia, serve on custom silicon",
        about: "Is it worth porting to a cloud’s own chip?",
        text: include_str!("../templates/custom-silicon.toml"),
        published_figures: &["four-petaflops", "three-times-the-bandwidth"],
    },
];

#[cfg(test)]
mod tests;
