//! Asking a Prometheus over its HTTP API (<https://prometheus.io/docs/prometheus/latest/querying/api/>): what it measured in some
//! hours, into a file of bounded size, within bounded time.

use std::error::Error as _;
use std::ops::Range;
use std::sync::LazyLock;
use std::time::Duration;

use chrono::{DateTime, Utc};
use regex::Regex;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;

use super::series::METRICS;

/// Between two points of a series: a day has 1,440 of the 11,000 that Prometheus answers at most.
const STEP_SECONDS: u32 = 60;
/// Until a connection is there.
const TO_CONNECT: Duration = Duration::from_secs(10);
/// Until the last byte of an answer is there, where nobody waits for it.
const TO_ANSWER: Duration = Duration::from_mins(1);
/// Of an answer with series.
const MOST_BYTES: u64 = 256 << 20;
/// Of any other.
const FEW_BYTES: usize = 1 << 20;
/// Characters of what it says that are shown.
const SHOWN: usize = 300;

/// Where a Prometheus is, and what it is asked for.
#[derive(Clone, Debug)]
pub struct Endpoint {
    client: Client,
    address: Url,
    authorization: Option<HeaderValue>,
    matchers: String,
    /// Until the last byte of an answer is there.
    longest: Duration,
}

/// An address as it is entered.
///
/// # Errors
/// What to enter.
pub fn checked_address(text: &str) -> Result<String, &'static str> {
    let address =
        Url::parse(text.trim()).ok().filter(|it| matches!(it.scheme(), "http" | "https") && it.has_host());
    let address = address.ok_or("Enter an address such as https://prometheus.example.org.")?;
    if !address.username().is_empty() || address.password().is_some() {
        return Err("Enter the address without a user and password: a token has its own field.");
    }
    if address.query().is_some() || address.fragment().is_some() {
        return Err("Enter the address alone, without what stands after ? or #.");
    }
    Ok(address.to_string())
}

/// Label matchers as they are entered, with or without braces around them; none, where that is empty.
///
/// # Errors
/// What to enter.
pub fn checked_matchers(text: &str) -> Result<String, &'static str> {
    #[expect(clippy::unwrap_used, reason = "the pattern is constant and tested")]
    static MATCHERS: LazyLock<Regex> = LazyLock::new(|| {
        let one = r#"[A-Za-z_][A-Za-z0-9_]*\s*(?:=~|!~|!=|=)\s*"(?:[^"\\]|\\.)*""#;
        Regex::new(&format!(r"^(?:{one})(?:\s*,\s*{one})*$")).unwrap()
    });
    let text = text.trim();
    let inner = text.strip_prefix('{').and_then(|it| it.strip_suffix('}')).unwrap_or(text);
    let inner = inner.trim().trim_end_matches(',').trim_end();
    if inner.is_empty() || MATCHERS.is_match(inner) {
        return Ok(inner.to_owned());
    }
    Err("Enter label matchers such as cluster=\"east\", or nothing.")
}

/// Why there is no answer that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It was too slow or too large: fewer hours may do.
    TooMuch(String),
    Other(String),
}

impl Failure {
    pub fn sentence(&self) -> &str {
        match self {
            Self::TooMuch(sentence) | Self::Other(sentence) => sentence,
        }
    }
}

impl Endpoint {
    /// `matchers`: label matchers as PromQL writes them between braces.
    ///
    /// # Errors
    /// What is wrong with the token, or with the certificates of this machine.
    pub fn new(address: &str, token: Option<&str>, matchers: &str) -> Result<Self, String> {
        let mut address = Url::parse(address).map_err(|error| format!("{address} is no address: {error}"))?;
        if !address.path().ends_with('/') {
            address.set_path(&format!("{}/", address.path()));
        }
        let authorization = token
            .map(|token| {
                let mut value = HeaderValue::try_from(format!("Bearer {token}"))
                    .map_err(|_| "the token has characters that a token cannot have")?;
                value.set_sensitive(true);
                Ok::<_, &str>(value)
            })
            .transpose()?;
        // Of several in one process the first stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .connect_timeout(TO_CONNECT)
            // A token goes nowhere else than where it was entered for.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("gpuledger/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| format!("no connection can be made: {}", reason(error)))?;
        Ok(Self { client, address, authorization, matchers: matchers.to_owned(), longest: TO_ANSWER })
    }

    /// The same for somebody who waits no longer than this.
    #[must_use]
    pub fn within(self, longest: Duration) -> Self {
        Self { longest, ..self }
    }

    /// Writes into a file what it answers of a metric in some hours.
    ///
    /// # Errors
    /// A [`Failure`]; the file then holds a part of it, or nothing.
    pub async fn series(
        &self,
        metric: &str,
        hours: &Range<DateTime<Utc>>,
        into: std::fs::File,
    ) -> Result<(), Failure> {
        let (start, end) = (hours.start.timestamp().to_string(), hours.end.timestamp().to_string());
        let asked = [
            ("query", self.selector(metric)),
            ("start", start),
            ("end", end),
            ("step", STEP_SECONDS.to_string()),
        ];
        let mut response = self.get("api/v1/query_range", &asked).await?;
        let failed = |error: std::io::Error| Failure::Other(format!("the answer cannot be kept: {error}"));
        let mut file = tokio::fs::File::from_std(into);
        let mut bytes = 0;
        while let Some(part) = response.chunk().await.map_err(|error| self.failure(error))? {
            bytes += part.len() as u64;
            if bytes > MOST_BYTES {
                return Err(Failure::TooMuch(format!(
                    "the answer has more than {} MiB: narrow the label matchers",
                    MOST_BYTES >> 20
                )));
            }
            file.write_all(&part).await.map_err(failed)?;
        }
        file.flush().await.map_err(failed)
    }

    /// How many series of GPUs it has now, by their metric.
    ///
    /// # Errors
    /// Why it does not say.
    pub async fn test(&self) -> Result<Vec<(String, u64)>, String> {
        let selector = self.selector(&METRICS.join("|"));
        let asked = [("query", format!("count by (__name__) ({selector})"))];
        let answer = async {
            let text = self.read_text(self.get("api/v1/query", &asked).await?).await?;
            serde_json::from_str::<Value>(&text).map_err(|_| {
                Failure::Other(format!("it answers something else than Prometheus: {}", shown(&text)))
            })
        };
        let answer = answer.await.map_err(|failure| failure.sentence().to_owned())?;
        let Some(series) = answer["data"]["result"].as_array() else {
            return Err("it answers something else than Prometheus".to_owned());
        };
        let counted = series.iter().filter_map(|it| {
            let name = it["metric"]["__name__"].as_str()?.to_owned();
            Some((name, it["value"][1].as_str()?.parse().ok()?))
        });
        Ok(counted.collect())
    }

    fn selector(&self, metric: &str) -> String {
        let comma = if self.matchers.is_empty() { "" } else { "," };
        format!("{{__name__=~\"{metric}\"{comma}{}}}", self.matchers)
    }

    /// An answer that begins well.
    async fn get(&self, path: &str, asked: &[(&str, String)]) -> Result<Response, Failure> {
        let mut address = self
            .address
            .join(path)
            .map_err(|error| Failure::Other(format!("{} is no address: {error}", self.address)))?;
        address.query_pairs_mut().extend_pairs(asked);
        let mut request = self.client.get(address).timeout(self.longest);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let response = request.send().await.map_err(|error| self.failure(error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status.is_redirection() {
            return Err(Failure::Other(format!("it answers {status}: enter the address that this leads to")));
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(Failure::Other(format!("it answers {status}: enter a token that may read it")));
        }
        let text = self.read_text(response).await.unwrap_or_default();
        let said: Value = serde_json::from_str(&text).unwrap_or_default();
        let sentence = match said["error"].as_str() {
            Some(error) => format!("it answers {status}: {}", shown(error)),
            None => format!("it answers {status}"),
        };
        // Too many samples for its memory or its time.
        let is_too_much = matches!(said["errorType"].as_str(), Some("execution" | "timeout"));
        Err(if is_too_much { Failure::TooMuch(sentence) } else { Failure::Other(sentence) })
    }

    /// A short answer, or the beginning of one.
    async fn read_text(&self, mut response: Response) -> Result<String, Failure> {
        let mut bytes = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| self.failure(error))? {
            bytes.extend_from_slice(&part);
            if bytes.len() > FEW_BYTES {
                break;
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn failure(&self, error: reqwest::Error) -> Failure {
        if error.is_timeout() && !error.is_connect() {
            return Failure::TooMuch(format!("no whole answer within {:?}", self.longest));
        }
        let what = if error.is_connect() { "it cannot be reached" } else { "the answer breaks off" };
        Failure::Other(format!("{what}: {}", reason(error)))
    }
}

/// The innermost reason, without the address and the number that the system has for it.
fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        reason = inner.to_string();
        source = inner.source();
    }
    shown(reason.split(" (os error ").next().unwrap_or(&reason))
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_entered_is_checked() {
        assert_eq!(
            checked_address(" https://p.example.org:9090/x ").unwrap(),
            "https://p.example.org:9090/x"
        );
        for wrong in
            ["prometheus", "ftp://a", "http://", "http://me:secret@a", "http://a/?q=1", "file:///etc/passwd"]
        {
            assert!(checked_address(wrong).is_err(), "{wrong}");
        }
        for (typed, read) in [
            ("", ""),
            ("{}", ""),
            (r#"cluster="east""#, r#"cluster="east""#),
            (r#"{ cluster = "e\"a}st", job!~"x|y", }"#, r#"cluster = "e\"a}st", job!~"x|y""#),
        ] {
            assert_eq!(checked_matchers(typed).as_deref(), Ok(read), "{typed}");
        }
        for wrong in ["east", r#"cluster="east"} or {a="b""#, r#"cluster="ea"#, "cluster=east", r#"="east""#]
        {
            assert!(checked_matchers(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn series_are_asked_for_with_what_was_entered() {
        let plain = Endpoint::new("https://prometheus.example.org/east", None, "").unwrap();
        assert_eq!(plain.address.join("api/v1/query").unwrap().path(), "/east/api/v1/query");
        assert_eq!(plain.selector("A|B"), r#"{__name__=~"A|B"}"#);
        let narrow = Endpoint::new("http://127.0.0.1:9090", Some("t"), r#"cluster="east""#).unwrap();
        assert_eq!(narrow.selector("A"), r#"{__name__=~"A",cluster="east"}"#);
        assert!(!format!("{narrow:?}").contains("Bearer"), "{narrow:?}");
        assert!(Endpoint::new("http://127.0.0.1:9090", Some("a\nb"), "").is_err());
    }
}
