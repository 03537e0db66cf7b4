mod access;
mod account;
mod forgery;
mod headers;
mod people;
mod setup;
mod sign_in;
