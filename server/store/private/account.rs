//! The user that PostgreSQL runs as: ourselves, or, because it refuses to run as root, one that root steps down to.

use super::error::{About, Error, Result};
use super::place::Place;
use crate::store::child::end_with_parent;
use rustix::process::{self, Signal};
use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Whom root steps down to, the first that exists.
const LOWER: [&str; 2] = ["postgres", "nobody"];

/// The user that PostgreSQL's programs run as.
#[derive(Clone, Debug)]
pub struct Account {
    /// `None`: ourselves.
    step_down: Option<Ids>,
}

#[derive(Clone, Debug)]
struct Ids {
    uid: u32,
    gid: u32,
    name: String,
}

impl Account {
    pub fn is_root() -> bool {
        process::geteuid().is_root()
    }

    /// As root: the owner of the data that is there, else `postgres`, else `nobody`.
    pub fn choose(place: &Place) -> Result<Account> {
        if !Self::is_root() {
            return Ok(Account { step_down: None });
        }
        let ids = owner(&place.data()).or_else(lower_user).ok_or(Error::NoAccount)?;
        Ok(Account { step_down: Some(ids) })
    }

    /// Refuses a place that the account cannot reach, naming the directory that is in the way.
    pub fn check_reach(&self, place: &Place) -> Result<()> {
        let Some(ids) = &self.step_down else { return Ok(()) };
        let closed = place.root().ancestors().filter(|directory| !ids.may_pass(directory)).last();
        match closed {
            Some(closed) => Err(Error::OutOfReach { closed: closed.to_owned(), account: ids.name.clone() }),
            None => Ok(()),
        }
    }

    /// Makes a directory, unless it is there, that only the account may enter.
    pub fn make_directory(&self, directory: &Path) -> Result<()> {
        match DirBuilder::new().mode(0o700).create(directory) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(error).about("cannot make", directory)
            }
            _ => self.own(directory),
        }
    }

    /// Makes the account the owner of `path`.
    pub fn own(&self, path: &Path) -> Result<()> {
        let Some(ids) = &self.step_down else { return Ok(()) };
        chown(path, Some(ids.uid), Some(ids.gid)).about("cannot change the owner of", path)
    }

    /// A command that runs as the account, knows nothing of our environment (`PGPORT`, `PGDATA` and their kind
    /// would lead it astray), and is sent SIGINT when the thread that spawned it ends, even by `kill -9`.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::null()).current_dir("/");
        if let Some(ids) = &self.step_down {
            command.uid(ids.uid).gid(ids.gid);
        }
        // PostgreSQL's fast shutdown.
        end_with_parent(&mut command, Signal::INT);
        command
    }
}

impl Ids {
    fn may_pass(&self, directory: &Path) -> bool {
        let Ok(directory) = fs::metadata(directory) else { return false };
        let bit = match (directory.uid(), directory.gid()) {
            (uid, _) if uid == self.uid => 0o100,
            (_, gid) if gid == self.gid => 0o010,
            _ => 0o001,
        };
        directory.mode() & bit != 0
    }
}

/// The owner of data that exists, unless it is root's: then it is not PostgreSQL's.
fn owner(data: &Path) -> Option<Ids> {
    let owner = fs::metadata(data).ok()?;
    let name = format!("user {}", owner.uid());
    (owner.uid() != 0).then(|| Ids { uid: owner.uid(), gid: owner.gid(), name })
}

fn lower_user() -> Option<Ids> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    LOWER.iter().find_map(|name| find_user(&users, name))
}

/// One line of `passwd(5)`: `name:password:uid:gid:…`.
fn find_user(users: &str, name: &str) -> Option<Ids> {
    let user: Vec<&str> =
        users.lines().map(|line| line.split(':').collect()).find(|user: &Vec<_>| user[0] == name)?;
    Some(Ids { uid: user.get(2)?.parse().ok()?, gid: user.get(3)?.parse().ok()?, name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &str = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65533:nobody:/:/bin/false\nbroken\n";

    #[test]
    fn it_finds_a_user_in_the_passwd_file() {
        let nobody = find_user(USERS, "nobody").unwrap();
        assert_eq!((nobody.uid, nobody.gid), (65534, 65533));
    }

    #[test]
    fn it_finds_no_user_that_is_missing_or_half_written() {
        assert!(find_user(USERS, "postgres").is_none());
        assert!(find_user(USERS, "broken").is_none());
    }
}
