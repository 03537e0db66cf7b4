//! Tokens: random, handed out once, kept only as their hash.

use std::fmt;

use rand::CryptoRng;
use sha2::{Digest, Sha256};

/// 32 random bytes in hexadecimal: what a cookie or a one-time link carries.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn random(rng: &mut impl CryptoRng) -> Self {
        let mut bytes = [0u8; 32];
        rng.fill_bytes(&mut bytes);
        Self(hex(&bytes))
    }

    /// Reads a token that a browser sent back. `None` for anything that [`Secret::random`] cannot have made.
    pub fn parse(text: &str) -> Option<Self> {
        let is_token = text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        is_token.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the database keeps. A plain hash will do: nobody guesses 256 random bits.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }

    /// The token that forms of this visitor carry: made from the cookie's secret, so it needs no storing,
    /// and it tells nobody the cookie.
    pub fn csrf(&self) -> String {
        hex(&Sha256::new().chain_update(b"gpuledger form\0").chain_update(self.0.as_bytes()).finalize())
    }

    /// Compares in constant time.
    pub fn csrf_is(&self, sent: &str) -> bool {
        is_same(&self.csrf(), sent)
    }

    /// What shows that a text was given to this visitor. A hash of a hash: what is known of one text helps with no longer one.
    pub fn signature(&self, text: &str) -> String {
        let key = Sha256::new().chain_update(b"gpuledger text\0").chain_update(self.0.as_bytes()).finalize();
        let inner = Sha256::new().chain_update(key).chain_update(text.as_bytes()).finalize();
        hex(&Sha256::new().chain_update(key).chain_update(inner).finalize())
    }

    /// Compares in constant time.
    pub fn signature_is(&self, text: &str, sent: &str) -> bool {
        is_same(&self.signature(text), sent)
    }
}

/// In constant time.
fn is_same(expected: &str, sent: &str) -> bool {
    expected.len() == sent.len()
        && expected.bytes().zip(sent.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back_only_what_it_made() {
        let secret = Secret::random(&mut rand::rng());
        assert_eq!(Secret::parse(secret.as_str()), Some(secret.clone()));
        assert_ne!(secret, Secret::random(&mut rand::rng()));
        for text in ["", "abc", &"A".repeat(64), &"é".repeat(32), &"0".repeat(65)] {
            assert_eq!(Secret::parse(text), None, "{text}");
        }
    }

    #[test]
    fn its_form_token_is_its_own() {
        let (one, other) = (Secret::random(&mut rand::rng()), Secret::random(&mut rand::rng()));
        assert!(one.csrf_is(&one.csrf()));
        assert!(!one.csrf_is(&other.csrf()));
        assert!(!one.csrf_is(""));
        assert_ne!(one.csrf(), one.as_str());
    }

    #[test]
    fn its_signature_is_of_one_text_and_one_visitor() {
        let (one, other) = (Secret::random(&mut rand::rng()), Secret::random(&mut rand::rng()));
        let signature = one.signature("Saved.");
        assert!(one.signature_is("Saved.", &signature));
        assert!(!one.signature_is("Removed.", &signature));
        assert!(!one.signature_is("Saved.", ""));
        assert!(!other.signature_is("Saved.", &signature));
        assert_ne!(one.signature(""), one.csrf());
    }

    #[test]
    fn it_hides_itself_from_logs() {
        let secret = Secret::random(&mut rand::rng());
        assert!(!format!("{secret:?}").contains(secret.as_str()));
    }
}
