mod encoding;
mod migrations;
mod private;
pub mod sandbox;
