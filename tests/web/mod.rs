mod access;
mod account;
mod forgery;
mod headers;
mod imports;
mod people;
mod setup;
mod sign_in;
