mod private;
mod sandbox;
