//! Which panics are findings.

use std::panic::{set_hook, take_hook};

/// Lets panics pass of libraries, which end the program only where we do not catch them: the `parquet` crate panics on some damage,
/// and that ends the file. The fuzzer's own hook ends the program at any panic. Ours are findings wherever they are caught.
pub fn of_libraries_may_be_caught() {
    let of_fuzzer = take_hook();
    set_hook(Box::new(move |panic| {
        // The paths of libraries are absolute.
        if panic.location().is_some_and(|place| !place.file().starts_with('/')) {
            of_fuzzer(panic);
        }
    }));
}
