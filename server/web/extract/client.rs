//! Where a request comes from, behind proxies too.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use crate::accounts::session::Browser;
use crate::config::{Network, Settings};
use crate::web::App;

/// What sends a request: for limits, for the record, and for people to know their sessions by.
#[derive(Clone, Debug)]
pub struct Client {
    pub address: String,
    /// What the browser calls itself.
    user_agent: Option<String>,
}

impl Client {
    pub(super) fn of(parts: &Parts, settings: &Settings) -> Self {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let address = peer.map_or_else(
            || "unknown".to_owned(),
            |ConnectInfo(peer)| {
                sender(peer.ip().to_canonical(), &parts.headers, &settings.trusted_proxies).to_string()
            },
        );
        let user_agent = parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        Self { address, user_agent: user_agent.map(str::to_owned) }
    }

    pub fn browser(&self) -> Browser<'_> {
        Browser { user_agent: self.user_agent.as_deref(), address: Some(&self.address) }
    }
}

impl FromRequestParts<App> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        Ok(Self::of(parts, &app.settings))
    }
}

/// Each proxy appends whom it heard from. From the right, the first that is no proxy of ours is the sender;
/// what stands before it anyone could have written.
fn sender(peer: IpAddr, headers: &HeaderMap, proxies: &[Network]) -> IpAddr {
    let is_proxy = |address: IpAddr| proxies.iter().any(|network| network.contains(address));
    let values = headers.get_all("x-forwarded-for").iter().rev();
    let heard = values.flat_map(|value| value.to_str().unwrap_or("unreadable").rsplit(','));
    let mut sender = peer;
    for text in heard {
        if !is_proxy(sender) {
            break;
        }
        let Some(address) = read_address(text) else { break };
        sender = address;
    }
    sender
}

/// `192.0.2.7`, `192.0.2.7:4711`, `2001:db8::1`, `[2001:db8::1]:4711`.
fn read_address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse().ok().or_else(|| text.parse().ok().map(|with_port: SocketAddr| with_port.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_believes_proxies_of_ours_and_nobody_else() {
        let proxies: Vec<Network> = ["10.0.0.0/8", "::1"].iter().map(|text| text.parse().unwrap()).collect();
        for (peer, forwarded, expected) in [
            ("192.0.2.7", &[][..], "192.0.2.7"),
            ("192.0.2.7", &["198.51.100.1"], "192.0.2.7"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.1"], "198.51.100.1"),
            ("::1", &["198.51.100.1:4711"], "198.51.100.1"),
            ("10.0.0.1", &["[2001:db8::1]:4711"], "2001:db8::1"),
            ("10.0.0.1", &["6.6.6.6, 198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", &["6.6.6.6, 198.51.100.1, 10.0.0.2"], "198.51.100.1"),
            ("10.0.0.1", &["6.6.6.6", "198.51.100.1", "10.0.0.2"], "198.51.100.1"),
            ("10.0.0.1", &["198.51.100.1, nonsense"], "10.0.0.1"),
            ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        ] {
            let mut headers = HeaderMap::new();
            for value in forwarded {
                headers.append("x-forwarded-for", value.parse().unwrap());
            }
            let found = sender(peer.parse().unwrap(), &headers, &proxies);
            assert_eq!(found.to_string(), expected, "{peer} {forwarded:?}");
        }
        let mut headers = HeaderMap::new();
        headers.append("x-forwarded-for", "198.51.100.1".parse().unwrap());
        assert_eq!(sender("10.0.0.1".parse().unwrap(), &headers, &[]).to_string(), "10.0.0.1");
    }
}
