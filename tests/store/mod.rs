mod migrations;
mod private;
pub mod sandbox;
