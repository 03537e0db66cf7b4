//! Secrets of other systems, as the database holds them: sealed with a key that stays in the data directory.
//!
//! So neither a copy of the database nor a backup tells them. Where the key is lost, they are entered again.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rand::RngCore as _;
use rand::rngs::StdRng;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// In the data directory.
const FILE: &str = "secrets.key";
/// Bytes of a key.
const LENGTH: usize = 32;

#[derive(Clone, Debug)]
pub struct Secrets {
    file: PathBuf,
}

impl Secrets {
    pub fn new(data_dir: &Path) -> Self {
        Self { file: data_dir.join(FILE) }
    }

    /// A secret as it is stored: a nonce, and what AES-256-GCM makes of it.
    ///
    /// # Errors
    /// Where the key cannot be read or made.
    pub fn seal(&self, secret: &str, dice: &mut StdRng) -> io::Result<Vec<u8>> {
        let key = self.key_or_new(dice)?;
        let mut nonce = [0; NONCE_LEN];
        dice.fill_bytes(&mut nonce);
        let mut sealed = secret.as_bytes().to_vec();
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed)
            .map_err(|_| io::Error::other("the secret is too long to be sealed"))?;
        Ok([&nonce[..], &sealed].concat())
    }

    /// What was sealed. `None` where it was with another key.
    pub fn open(&self, sealed: &[u8]) -> Option<String> {
        let key = self.key().ok()?;
        let (nonce, rest) = sealed.split_at_checked(NONCE_LEN)?;
        let mut opened = rest.to_vec();
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let secret = key.open_in_place(nonce, Aad::empty(), &mut opened).ok()?;
        String::from_utf8(secret.to_vec()).ok()
    }

    fn key_or_new(&self, dice: &mut StdRng) -> io::Result<LessSafeKey> {
        if !self.file.exists() {
            let mut bytes = [0; LENGTH];
            dice.fill_bytes(&mut bytes);
            let folder = self.file.parent().unwrap_or(Path::new("."));
            std::fs::create_dir_all(folder)?;
            // For its owner alone, and there only once it is whole.
            let mut new = tempfile::NamedTempFile::new_in(folder)?;
            new.write_all(&bytes)?;
            new.as_file().sync_all()?;
            match new.persist_noclobber(&self.file) {
                Ok(_) => {}
                // Another process was first.
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.error),
            }
        }
        self.key()
    }

    fn key(&self) -> io::Result<LessSafeKey> {
        let bytes = std::fs::read(&self.file)?;
        let key = UnboundKey::new(&AES_256_GCM, &bytes);
        key.map(LessSafeKey::new).map_err(|_| io::Error::other(format!("{} is no key", self.file.display())))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use rand::SeedableRng as _;

    use super::*;

    #[test]
    fn a_secret_is_opened_with_its_key_alone() {
        let (here, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (secrets, others) = (Secrets::new(here.path()), Secrets::new(elsewhere.path()));
        let mut dice = StdRng::seed_from_u64(1);
        let sealed = secrets.seal("s3cret", &mut dice).unwrap();
        assert!(!sealed.windows(6).any(|it| it == b"s3cret"));
        assert_eq!(secrets.open(&sealed).as_deref(), Some("s3cret"));
        assert_ne!(secrets.seal("s3cret", &mut dice).unwrap(), sealed, "the same is never sealed alike");
        assert_eq!(others.open(&sealed), None, "without a key");
        others.seal("x", &mut dice).unwrap();
        assert_eq!(others.open(&sealed), None, "with another key");
        assert_eq!(secrets.open(&sealed[..5]), None);
        let mode = std::fs::metadata(here.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
