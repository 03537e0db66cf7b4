//! Settings: flags, environment, defaults. Each is read into a type that cannot be wrong, once, at start.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use axum::http::Uri;

use crate::store::private;

/// Settings of `gpuledger`. Every flag may stand before or after the command.
#[derive(Clone, Debug, clap::Args)]
pub struct Settings {
    /// Folder for original files and the private PostgreSQL.
    #[arg(long, env = "GPULEDGER_DATA_DIR", default_value_os_t = private::default_data_dir(), global = true)]
    pub data_dir: PathBuf,

    /// Address and port to answer on.
    #[arg(long, env = "GPULEDGER_LISTEN", default_value = "127.0.0.1:8080", global = true)]
    pub listen: SocketAddr,

    /// Where people reach the server, such as https://gpus.example.org. With https, cookies are marked
    /// secure and browsers are told to keep to https. Default: the listening address, over http.
    #[arg(long, env = "GPULEDGER_BASE_URL", global = true)]
    base_url: Option<BaseUrl>,

    /// A PostgreSQL server to use. Default: a private one in the data folder.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, global = true)]
    database_url: Option<DatabaseUrl>,

    /// How the log on standard error is written: as text for people, or a JSON object a line for machines.
    #[arg(long, env = "GPULEDGER_LOG_FORMAT", value_enum, default_value_t, global = true)]
    pub log_format: LogFormat,

    /// Address or network of a reverse proxy, such as 10.0.0.0/8, whose X-Forwarded-For is believed. May be
    /// repeated, or separated by commas. Default: none is.
    #[arg(
        long = "trusted-proxy",
        env = "GPULEDGER_TRUSTED_PROXY",
        value_name = "ADDRESS",
        value_delimiter = ',',
        global = true
    )]
    pub trusted_proxies: Vec<Network>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// Scheme and host, without a path: links begin at its root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    is_https: bool,
    authority: String,
}

/// An address, or all that begin with the same bits. Read from an empty text it has no address: what passes variables on
/// passes empty ones as well, which name none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(Option<Prefix>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Prefix {
    address: IpAddr,
    bits: u8,
}

/// A PostgreSQL connection string. Printing it hides the password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    #[error("expected http:// or https:// and a host, without a path, such as https://gpus.example.org")]
    BaseUrl,
    #[error("expected postgres://user:password@host/database")]
    DatabaseUrl,
    #[error("expected an address such as 10.0.0.7 or a network such as 10.0.0.0/8")]
    Network,
}

impl Settings {
    /// For tests and tools that have no command line.
    pub fn new(data_dir: impl Into<PathBuf>, listen: SocketAddr, base_url: Option<BaseUrl>) -> Self {
        Self {
            data_dir: data_dir.into(),
            listen,
            base_url,
            database_url: None,
            log_format: LogFormat::default(),
            trusted_proxies: Vec::new(),
        }
    }

    /// The PostgreSQL server to use; `None` for the private one. What passes variables on passes empty ones as well, which
    /// name none.
    pub fn database_url(&self) -> Option<&DatabaseUrl> {
        self.database_url.as_ref().filter(|url| !url.0.is_empty())
    }

    /// Whether people come through a proxy, as https tells, that is not named: all of them have its address then.
    pub fn lacks_trusted_proxy(&self) -> bool {
        self.base_url().is_https() && self.trusted_proxies.iter().all(|network| network.0.is_none())
    }

    pub fn base_url(&self) -> BaseUrl {
        self.base_url.clone().unwrap_or_else(|| BaseUrl::listening_on(self.listen))
    }
}

impl BaseUrl {
    fn listening_on(address: SocketAddr) -> Self {
        let authority = match address.ip() {
            ip if ip.is_unspecified() => format!("localhost:{}", address.port()),
            IpAddr::V4(_) | IpAddr::V6(_) => address.to_string(),
        };
        Self { is_https: false, authority }
    }

    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// Host and port as a browser sends them in `Host` and `Origin`.
    pub fn authority(&self) -> &str {
        &self.authority
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.is_https { "https" } else { "http" }, self.authority)
    }
}

impl FromStr for BaseUrl {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let uri: Uri = text.parse().map_err(|_| SettingError::BaseUrl)?;
        let is_https = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(SettingError::BaseUrl),
        };
        let authority = uri.authority().ok_or(SettingError::BaseUrl)?.as_str().to_ascii_lowercase();
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() || authority.contains('@') {
            return Err(SettingError::BaseUrl);
        }
        Ok(Self { is_https, authority })
    }
}

impl Network {
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.is_some_and(|prefix| prefix.begins(address))
    }
}

impl Prefix {
    fn begins(self, address: IpAddr) -> bool {
        let bits = |address: IpAddr| match address.to_canonical() {
            IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, true),
            IpAddr::V6(address) => (address.to_bits(), false),
        };
        let ((own, own_kind), (other, other_kind)) = (bits(self.address), bits(address));
        let differing = (own ^ other).leading_zeros();
        own_kind == other_kind && differing >= u32::from(self.bits)
    }
}

impl FromStr for Network {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self(None));
        }
        let (address, bits) = text.split_once('/').map_or((text, None), |(a, b)| (a, Some(b)));
        let address = address.parse::<IpAddr>().map_err(|_| SettingError::Network)?.to_canonical();
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), str::parse).map_err(|_| SettingError::Network)?;
        if bits <= most { Ok(Self(Some(Prefix { address, bits }))) } else { Err(SettingError::Network) }
    }
}

impl DatabaseUrl {
    /// With the password: for connecting, never for printing.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for DatabaseUrl {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_postgres = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
        if is_postgres || text.is_empty() {
            Ok(Self(text.to_owned()))
        } else {
            Err(SettingError::DatabaseUrl)
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseUrl(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_base_urls() {
        let url: BaseUrl = "https://GPUs.example.org:8443/".parse().unwrap();
        assert!(url.is_https());
        assert_eq!(url.to_string(), "https://gpus.example.org:8443");
        for text in ["", "gpus.example.org", "ftp://a", "https://a/b", "https://a?b", "https://me:pw@a"] {
            assert_eq!(text.parse::<BaseUrl>(), Err(SettingError::BaseUrl), "{text}");
        }
    }

    #[test]
    fn it_answers_where_it_listens_by_default() {
        let settings =
            |listen: &str| Settings::new("data", listen.parse().unwrap(), None).base_url().to_string();
        assert_eq!(settings("127.0.0.1:8080"), "http://127.0.0.1:8080");
        assert_eq!(settings("0.0.0.0:80"), "http://localhost:80");
        assert_eq!(settings("[::1]:8080"), "http://[::1]:8080");
    }

    #[test]
    fn it_knows_which_addresses_are_in_a_network() {
        for (network, address, is_in) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.7", "10.0.0.7", true),
            ("10.0.0.7", "10.0.0.6", false),
            ("10.0.0.7", "::ffff:10.0.0.7", true),
            ("0.0.0.0/0", "192.0.2.1", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("fd00::/8", "fd12::1", true),
            ("::1", "::1", true),
        ] {
            let network: Network = network.parse().unwrap();
            assert_eq!(network.contains(address.parse().unwrap()), is_in, "{network:?} {address}");
        }
        for text in ["localhost", "/8", "10.0.0.0/33", "10.0.0.0/", "fd00::/129", "10.0.0.0/-1"] {
            assert_eq!(text.parse::<Network>(), Err(SettingError::Network), "{text}");
        }
    }

    #[test]
    fn empty_trusted_proxies_are_none() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            settings: Settings,
        }
        for (text, is_one) in [("", false), (" , ,", false), ("10.0.0.7,,10.1.0.0/16,", true)] {
            let Line { settings } = clap::Parser::parse_from(["gpuledger", "--trusted-proxy", text]);
            let trusted = |address: &str| {
                let address = address.parse().unwrap();
                settings.trusted_proxies.iter().any(|network| network.contains(address))
            };
            assert_eq!((trusted("10.0.0.7"), trusted("10.1.2.3")), (is_one, is_one), "{text:?}");
            assert!(!trusted("0.0.0.0") && !trusted("::") && !trusted("192.0.2.7"), "{text:?}");
        }
    }

    #[test]
    fn an_empty_database_url_is_none() {
        let mut settings = Settings::new("data", "127.0.0.1:1".parse().unwrap(), None);
        for (text, is_one) in [("", false), ("postgres://host/db", true)] {
            settings.database_url = Some(text.parse().unwrap());
            assert_eq!(settings.database_url().is_some(), is_one, "{text}");
        }
        assert!("mysql://host/db".parse::<DatabaseUrl>().is_err());
    }

    #[test]
    fn it_hides_the_password() {
        let mut settings = Settings::new("data", "127.0.0.1:1".parse().unwrap(), None);
        settings.database_url = Some("postgres://me:hunter2@host/db".parse().unwrap());
        assert!(!format!("{settings:?}").contains("hunter2"));
    }
}
