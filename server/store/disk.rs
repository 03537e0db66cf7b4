//! Room on a disk.

use std::io;
use std::path::Path;

use rustix::fs::statvfs;

/// Bytes that are free for us on the disk of a folder.
pub fn room(folder: &Path) -> io::Result<u64> {
    let disk = statvfs(folder)?;
    Ok(disk.f_bavail * disk.f_frsize)
}
