mod book;
pub mod exact;
mod moved;
mod owners;
