//! Enums whose variants are words: what is stored, what addresses and files say, what pages call them.

use std::fmt;

/// Declares an enum as a table: each row is a variant with its texts. The functions that the head names answer them, the first
/// function the first text.
///
/// ```ignore
/// words! {
///     /// What a tag can tell about a charge.
///     #[derive(Clone, Copy)]
///     pub enum Label: as_str, name {
///         Team = "team", "Team";
///         CostCentre = "cost-centre", "Cost center";
///     }
/// }
/// ```
///
/// declares `Label` with `Label::ALL` in this order, `as_str` (“cost-centre”) and `name` (“Cost center”). With `impl` instead
/// of `enum`, the functions of an enum that is declared elsewhere: what a page calls its variants.
macro_rules! words {
    ($(#[$about:meta])* $vis:vis enum $name:ident: $($function:ident),+ {
        $($(#[$doc:meta])* $variant:ident = $($text:literal),+;)+
    }) => {
        $(#[$about])*
        $vis enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// In the order in which they are declared.
            pub const ALL: [Self; [$(stringify!($variant)),+].len()] = [$(Self::$variant),+];
        }

        words!(@functions $name: $($function),+ { $($variant = $($text),+;)+ });
    };
    (impl $name:ident: $($function:ident),+ { $($variant:ident = $($text:literal),+;)+ }) => {
        words!(@functions $name: $($function),+ { $($variant = $($text),+;)+ });
    };
    // The first function answers the first text of each row; then the same with the rest of both.
    (@functions $name:ident: $function:ident $(, $functions:ident)* {
        $($variant:ident = $text:literal $(, $texts:literal)*;)+
    }) => {
        impl $name {
            #[doc = concat!("The `", stringify!($function), "` of each variant.")]
            pub fn $function(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        words!(@functions $name: $($functions),* { $($variant = $($texts),*;)+ });
    };
    (@functions $name:ident: { $($variant:ident = ;)+ }) => {};
}

/// Has an enum of [`words!`] printed as its `as_str`, and read from exactly that.
macro_rules! written_as_str {
    ($name:ident) => {
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::enum_words::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.into_iter().find(|it| it.as_str() == text);
                found.ok_or_else(|| $crate::enum_words::UnknownWord {
                    expected: Self::ALL.map(Self::as_str).to_vec(),
                })
            }
        }
    };
}

pub(crate) use {words, written_as_str};

/// A text that is none of the words of an enum.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct UnknownWord {
    pub expected: Vec<&'static str>,
}

/// `expected admin, finance or lead`.
impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.expected.split_last() {
            Some((last, [])) => write!(f, "expected {last}"),
            Some((last, others)) => write!(f, "expected {} or {last}", others.join(", ")),
            None => f.write_str("expected nothing"),
        }
    }
}

#[cfg(test)]
mod tests {
    words! {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Fruit: as_str, name, plural {
            Apple = "apple", "Apple", "Apples";
            Pear = "pear", "Pear", "Pears";
            Quince = "quince", "Quince", "Quinces";
        }
    }
    written_as_str!(Fruit);

    words! {
        impl Fruit: color {
            Apple = "red";
            Pear = "green";
            Quince = "yellow";
        }
    }

    #[test]
    fn each_function_answers_its_column() {
        assert_eq!(Fruit::ALL.map(Fruit::as_str), ["apple", "pear", "quince"]);
        assert_eq!(Fruit::ALL.map(Fruit::name), ["Apple", "Pear", "Quince"]);
        assert_eq!(Fruit::ALL.map(Fruit::plural), ["Apples", "Pears", "Quinces"]);
        assert_eq!(Fruit::ALL.map(Fruit::color), ["red", "green", "yellow"]);
    }

    #[test]
    fn a_word_reads_as_it_is_printed_and_another_names_those_there_are() {
        for fruit in Fruit::ALL {
            assert_eq!(fruit.to_string().parse(), Ok(fruit));
        }
        let error = "Apple".parse::<Fruit>().unwrap_err();
        assert_eq!(error.to_string(), "expected apple, pear or quince");
    }
}
