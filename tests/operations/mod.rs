//! What whoever runs gpuledger relies on, seen from outside the process.

mod log;
mod stop;
