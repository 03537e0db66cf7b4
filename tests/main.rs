//! One test binary: linking once is faster than once per file.

mod formats;
