//! What commands print. Who closed the other end (`gpuledger report spend | head`) has read enough: what is printed
//! after that is dropped, and the command ends as what it did.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// `println!` that does not panic where nobody reads any more, and answers an error where it cannot write for any
/// other reason, such as a full disk.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::command_output::line(format_args!($($text)*))
    };
}

/// `eprintln!` that does not panic, whatever became of the other end.
macro_rules! remark {
    ($($text:tt)*) => {
        $crate::command_output::error_line(format_args!($($text)*))
    };
}

pub(crate) use {remark, say};

/// What [`say!`] does.
pub(crate) fn line(text: Arguments) -> io::Result<()> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(io::Error::new(error.kind(), format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// What [`remark!`] does.
pub(crate) fn error_line(text: Arguments) {
    // There is no other place to say that it could not be said.
    let _ = writeln!(io::stderr(), "{text}");
}
