//! What somebody decides of a delivery that meets others.

/// What to do with what a scope holds already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The delivery takes the place of what is there.
    Replace,
    /// The delivery counts beside what is there.
    Add,
}

impl Decision {
    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Add => "add",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        [Self::Replace, Self::Add].into_iter().find(|decision| decision.as_str() == word)
    }
}
