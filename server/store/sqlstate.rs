//! What PostgreSQL means by an error, by its code (the manual, appendix A).

use sqlx::error::DatabaseError;

/// Whether PostgreSQL says that it starts, stops or just crashed: soon it answers again.
pub fn is_restarting(error: &sqlx::Error) -> bool {
    has_code(error, &["57P01", "57P02", "57P03"])
}

/// Whether PostgreSQL has no room to write to.
pub fn is_disk_full(error: &sqlx::Error) -> bool {
    has_code(error, &["53100"])
}

/// Whether somebody else holds what was to be locked, for longer than was to be waited.
pub fn is_locked(error: &sqlx::Error) -> bool {
    has_code(error, &["55P03"])
}

pub(super) fn has_code(error: &sqlx::Error, codes: &[&str]) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.is_some_and(|code| codes.contains(&code.as_ref()))
}
