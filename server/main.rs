//! The `gpuledger` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    gpuledger::cli::run()
}
