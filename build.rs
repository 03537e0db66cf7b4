//! Has cargo build again when a migration is added: `sqlx::migrate!` reads the directory, which cargo cannot see.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
