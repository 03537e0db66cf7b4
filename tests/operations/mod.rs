//! What whoever runs gpuledger relies on, seen from outside the process.

pub mod backup;
mod log;
mod pipe;
mod prepare;
mod scenario;
mod stop;
mod unfinished;
