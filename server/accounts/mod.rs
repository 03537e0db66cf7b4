//! People: who may sign in, as what, and how they prove it.
//!
//! Nothing that lets someone in is stored as it is: passwords are argon2id hashes; tokens of sessions, of scripts
//! and of links are kept as their SHA-256. Verbs write their line of the audit trail in the same transaction.
//! Time and randomness are arguments.

pub mod link;
pub mod manage;
pub mod password;
pub mod people;
pub mod role;
pub mod secret;
pub mod session;
pub mod setup;
pub mod sign_in;
pub mod token;

pub use password::Password;
pub use people::{Email, NewPerson, Person, UserId};
pub use role::{Role, Viewer};
pub use secret::Secret;
pub use token::ApiToken;
