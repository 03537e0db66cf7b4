//! Where people find the exports that are read.

/// Whoever is named nowhere else; stands last.
pub const ANY_OTHER: &str = "Any other";

/// An export that is read, under the name that its provider has for it.
#[derive(Clone, Copy, Debug)]
pub struct Guide {
    pub provider: &'static str,
    pub export: &'static str,
    /// How to get it there and what to upload, in two sentences.
    pub steps: &'static str,
    /// What the provider writes it as.
    pub forms: &'static str,
}
