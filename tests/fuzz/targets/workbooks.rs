#![no_main]

#[path = "../checks.rs"]
#[allow(dead_code, reason = "each target runs one of them")]
mod checks;
#[path = "../panics.rs"]
mod panics;

libfuzzer_sys::fuzz_target!(init: panics::of_libraries_may_be_caught(), |bytes: &[u8]| checks::workbooks(bytes));
