mod private;
pub mod sandbox;
