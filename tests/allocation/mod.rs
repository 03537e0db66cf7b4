mod book;
mod exact;
mod owners;
