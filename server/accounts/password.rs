//! Passwords: long rather than odd, hashed with argon2id away from the threads that answer pages.

use std::collections::HashSet;
use std::fmt;
use std::sync::LazyLock;

use argon2::Argon2;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use rand::CryptoRng;
use tokio::sync::Semaphore;

/// Short enough to be typed, long enough that a stolen table of hashes is of little use.
const SHORTEST: usize = 10;
/// Nobody remembers more, and hashing must not be made to swallow megabytes.
const LONGEST: usize = 200;
/// Different characters. With fewer, length is repetition.
const FEWEST: usize = 4;

/// A password that someone chose and that may be kept.
pub struct Password(String);

/// Why a password is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    #[error("Choose at least {SHORTEST} characters. A few words in a row are easy to remember.")]
    Short,
    #[error("Choose at most {LONGEST} characters.")]
    Long,
    #[error("Choose a password that is not your email address.")]
    IsEmail,
    #[error("Choose a password that is more than part of your email address or a common word with digits.")]
    Guessable,
    #[error("Choose at least {FEWEST} different characters.")]
    FewCharacters,
    #[error("Choose a password with at least {SHORTEST} characters that do not repeat.")]
    Repeats,
    #[error("Choose another password: this one is too common.")]
    Common,
}

impl Password {
    pub fn choose(text: &str, email: &str) -> Result<Self, WeakPassword> {
        let length = text.chars().count();
        if length < SHORTEST {
            return Err(WeakPassword::Short);
        }
        if length > LONGEST {
            return Err(WeakPassword::Long);
        }
        if text.eq_ignore_ascii_case(email) {
            return Err(WeakPassword::IsEmail);
        }
        if is_common(text) {
            return Err(WeakPassword::Common);
        }
        if piece(text).chars().count() < SHORTEST {
            return Err(WeakPassword::Repeats);
        }
        if text.to_lowercase().chars().collect::<HashSet<_>>().len() < FEWEST {
            return Err(WeakPassword::FewCharacters);
        }
        if is_guessable(text, email) {
            return Err(WeakPassword::Guessable);
        }
        Ok(Self(text.to_owned()))
    }

    /// The hash to store, in the PHC format that names its own parameters.
    pub async fn hash(self, rng: &mut (impl CryptoRng + Send)) -> Result<String, HashError> {
        let mut salt = [0u8; 16];
        rng.fill_bytes(&mut salt);
        on_blocking_thread(move || hash_now(&self.0, &salt)).await?
    }
}

/// Passwords of 6 characters and more among the 20,000 that leaked most often, in lower case: those of Royce Williams's
/// list, as Django ships it (`common-passwords.txt.gz`), in the order of their bytes.
const COMMON: &str = include_str!("common_passwords.txt");

/// What people know in their order: the alphabet, the digits, and how keys stand beside each other.
const ROWS: [&str; 4] =
    ["abcdefghijklmnopqrstuvwxyz", "1234567890", "qwertyuiopasdfghjklzxcvbnm", "qwertzuiopasdfghjklyxcvbnm"];

/// Whether everyone tries it: as it stands, without the digits and signs that people put around a word to be let in, or as
/// often one after the other as it takes.
fn is_common(text: &str) -> bool {
    static COMMON_ONES: LazyLock<HashSet<&str>> = LazyLock::new(|| COMMON.lines().collect());
    let text = text.trim().to_lowercase();
    let once = piece(&text);
    let word = once.trim_matches(|c: char| !c.is_alphabetic());
    let known =
        |text: &str| ["gpuledger", "correcthorsebatterystaple"].contains(&text) || COMMON_ONES.contains(text);
    known(&text) || known(once) || known(word) || is_row(once)
}

/// Words that are tried here before others. As long as those of the list they would be among them.
const ROOTS: [&str; 7] = ["admin", "root", "user", "test", "demo", "gpu", "gpuledger"];

/// Whether its letters are nothing but words that stand in the e-mail address, or that are tried on every server.
fn is_guessable(text: &str, email: &str) -> bool {
    let (text, email) = (text.to_lowercase(), email.to_lowercase());
    let (local, domain) = email.rsplit_once('@').unwrap_or((&email, ""));
    // In one piece, too: `exampleorg` of `example.org`.
    let mut known: HashSet<String> = [local, domain].map(letters).into();
    known.extend(words(&email).chain(ROOTS).map(str::to_owned));
    let is_known = |word: &str| known.contains(word) || known.contains(piece(word));
    words(&text).next().is_some() && (words(&text).all(is_known) || is_known(&letters(&text)))
}

/// The runs of letters in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty())
}

/// All letters of a text.
fn letters(text: &str) -> String {
    words(text).collect()
}

/// What a text repeats; all of it where it repeats nothing.
fn piece(text: &str) -> &str {
    let repeats = |piece: &&str| {
        text.len().is_multiple_of(piece.len()) && piece.repeat(text.len() / piece.len()) == text
    };
    text.char_indices().skip(1).map(|(end, _)| &text[..end]).find(repeats).unwrap_or(text)
}

/// Whether its characters follow each other as everybody knows them, forwards or backwards, once or around.
fn is_row(text: &str) -> bool {
    let backwards: String = text.chars().rev().collect();
    ROWS.iter().any(|row| {
        let around = row.repeat(2 + text.len() / row.len());
        around.contains(text) || around.contains(&backwards)
    })
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// Whether `text` is the password behind `hash`. Without a hash (nobody has that address) it spends the
/// same time and answers no, so that the answer's delay does not tell who has an account.
pub async fn verify(hash: Option<String>, text: String) -> Result<bool, HashError> {
    static NOBODY: LazyLock<Option<String>> = LazyLock::new(|| hash_now("nobody's password", &[7; 16]).ok());
    if text.chars().count() > LONGEST {
        return Ok(false);
    }
    on_blocking_thread(move || {
        let is_known = hash.is_some();
        let Some(hash) = hash.or_else(|| NOBODY.clone()) else { return false };
        let matches = PasswordHash::new(&hash)
            .is_ok_and(|hash| Argon2::default().verify_password(text.as_bytes(), &hash).is_ok());
        matches && is_known
    })
    .await
}

/// Hashing failed: no memory, or the server is stopping.
#[derive(Debug, thiserror::Error)]
pub enum HashError {
    #[error("the password could not be hashed: {0}")]
    Argon2(argon2::password_hash::Error),
    #[error("hashing was interrupted")]
    Interrupted(#[from] tokio::task::JoinError),
}

fn hash_now(text: &str, salt: &[u8; 16]) -> Result<String, HashError> {
    let salt = SaltString::encode_b64(salt).map_err(HashError::Argon2)?;
    let hash = Argon2::default().hash_password(text.as_bytes(), &salt).map_err(HashError::Argon2)?;
    Ok(hash.to_string())
}

/// Argon2 takes tens of milliseconds and 19 MiB by design: never on a thread that answers pages, and only a
/// few at a time, so that a flood of sign-ins fills a queue and not the memory.
async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, HashError> {
    static PLACES: Semaphore = Semaphore::const_new(4);
    // The places are never closed, so there is always one to wait for.
    let _place = PLACES.acquire().await.ok();
    Ok(tokio::task::spawn_blocking(work).await?)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::*;

    #[tokio::test]
    async fn it_knows_the_password_and_no_other() {
        let password = Password::choose("correct horse battery", "a@example.org").unwrap();
        let hash = password.hash(&mut StdRng::seed_from_u64(1)).await.unwrap();
        assert!(hash.starts_with("$argon2id$"));
        assert!(verify(Some(hash.clone()), "correct horse battery".into()).await.unwrap());
        assert!(!verify(Some(hash.clone()), "correct horse".into()).await.unwrap());
        assert!(!verify(Some(hash), "x".repeat(100_000)).await.unwrap());
        assert!(!verify(None, "nobody's password".into()).await.unwrap());
        assert!(!verify(Some("damaged".into()), "correct horse battery".into()).await.unwrap());
    }

    #[test]
    fn it_refuses_weak_ones_with_a_sentence() {
        use WeakPassword::{Common, FewCharacters, Guessable, IsEmail, Long, Repeats, Short};
        for (text, why) in [
            ("short", Short),
            ("äöüäöüäöü", Short),
            (&"ab".repeat(101), Long),
            ("ADA@example.org", IsEmail),
            ("aaaaaaaaaaaa", Common),
            ("?x?x?x?x?x?x", Repeats),
            ("ßäöüßäöüßäöü", Repeats),
            ("1q2w3e4r5t", Common),
            (" QwertyUiop", Common),
            ("Liverpool2026!", Common),
            ("gpuledger-2026", Common),
            ("passwordpassword", Common),
            ("Password1Password1", Common),
            ("trustno1trustno1", Common),
            ("123456789012", Common),
            ("0987654321098", Common),
            ("abcdefghijkl", Common),
            ("ZYXWVUTSRQ", Common),
            ("qwertyuiopasdf", Common),
            ("correcthorsebatterystaple", Common),
            ("aaaaaaaaaaab", FewCharacters),
            ("aAbBaAbBbBaAc", FewCharacters),
            ("admin1234567", Guessable),
            ("GPU-admin-2026!", Guessable),
            ("adminadmin12", Guessable),
            ("root@example.org", Guessable),
            ("Ada1815!1852?", Guessable),
            ("example.org2026", Guessable),
            ("2026ExampleOrg!", Guessable),
        ] {
            assert_eq!(Password::choose(text, "ada@example.org").err(), Some(why), "{text}");
        }
    }

    #[test]
    fn parts_of_the_email_address_with_digits_around_them_are_refused() {
        for (text, email) in [
            ("example.org2026", "language@example.org"),
            ("nlpteam202611", "NlpTeam@example.org"),
            ("smith-2026-11", "j.smith+gpu@example.org"),
            ("JSmith..123456", "j.smith@example.org"),
            ("gpus1234567", "ada@gpus.example.org"),
        ] {
            assert_eq!(Password::choose(text, email).err(), Some(WeakPassword::Guessable), "{text}");
        }
    }

    #[test]
    fn words_beside_those_of_the_email_address_are_taken() {
        for text in ["ada likes long engines", "admin of nine herons", "example-org-heron", "8253-7714-0926"]
        {
            assert!(Password::choose(text, "ada@example.org").is_ok(), "{text}");
        }
    }
}
