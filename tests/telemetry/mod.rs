//! Usage of accelerators: files of schedulers and meters, what they become, and what follows from it.

mod imports;
mod prometheus;
mod samples;
