use gpuledger::store::private;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [private::SUBCOMMAND, "--data-dir", data_dir, "--postgres", postgres] = arguments[..] else {
        return ExitCode::from(2);
    };
    match private::keep(Path::new(data_dir), Path::new(postgres)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gpuledger: {error}");
            ExitCode::FAILURE
        }
    }
}
