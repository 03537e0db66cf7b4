mod configuration;
pub mod exact;
mod moved;
mod owners;
