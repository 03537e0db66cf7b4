#![no_main]

#[path = "../checks.rs"]
#[allow(dead_code, reason = "each target runs one of them")]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::usage(bytes));
