//! What a person does, end to end, over HTTP.

mod admin;
