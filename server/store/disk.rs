//! Room on a disk.

use std::io;
use std::path::Path;

use rustix::fs::statvfs;

/// What is left of the disk of the data folder: room for the log of PostgreSQL, which ends without any, and to take back
/// what was loaded.
pub const KEPT_FREE: u64 = 96 << 20;

/// Fails where the disk of a folder has no room for so many bytes more beside what stays free.
pub fn check(folder: &Path, bytes: u64, kept_free: u64) -> io::Result<()> {
    let room = room(folder)?;
    if room >= kept_free.saturating_add(bytes) {
        return Ok(());
    }
    let found = format!("{} MB of it are free, and {} MB stay so", room >> 20, kept_free >> 20);
    Err(io::Error::new(io::ErrorKind::StorageFull, found))
}

/// Bytes that are free for us on the disk of a folder.
pub fn room(folder: &Path) -> io::Result<u64> {
    let disk = statvfs(folder)?;
    Ok(disk.f_bavail * disk.f_frsize)
}
