mod book;
pub mod exact;
mod owners;
