//! The connections that there are: how many each address has, and which of them waits for a request longest. That one ends
//! where another comes and there is no place.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use http_body::Frame;
use tokio::sync::Notify;

#[derive(Clone, Default)]
pub(super) struct Open(Arc<Mutex<All>>);

#[derive(Default)]
struct All {
    connections: HashMap<u64, Connection>,
    /// How many each address has.
    of_peers: HashMap<IpAddr, usize>,
    /// Goes up with everything that happens.
    clock: u64,
}

struct Connection {
    peer: IpAddr,
    /// Since when it waits for a request, or for the body of one; `None` while one is answered.
    waits_since: Option<u64>,
    ends: Arc<Notify>,
}

/// One of them, until it is dropped.
pub(super) struct Place {
    open: Open,
    number: u64,
    ends: Arc<Notify>,
}

impl Open {
    /// A place for a connection: one that is free, or that of one that waits for a request. Half of all is the most that one
    /// address has: beyond that it is one of its own, else one of the address that has the most of those that wait. `None`
    /// where no connection waits that could end.
    pub(super) fn enter(&self, peer: IpAddr, most: usize) -> Option<Place> {
        let mut all = self.lock();
        let peer = of_network(peer);
        if all.count(peer) >= most.div_ceil(2) {
            all.end_longest_of(peer)?;
        } else if all.connections.len() >= most {
            let largest = all.largest_that_waits()?;
            all.end_longest_of(largest)?;
        }
        let number = all.tick();
        let ends = Arc::new(Notify::new());
        let connection = Connection { peer, waits_since: Some(number), ends: Arc::clone(&ends) };
        all.connections.insert(number, connection);
        *all.of_peers.entry(peer).or_default() += 1;
        Some(Place { open: self.clone(), number, ends })
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn count(&self, peer: IpAddr) -> usize {
        self.of_peers.get(&peer).copied().unwrap_or_default()
    }

    /// Of the addresses that have a connection which waits for a request, the one with the most connections.
    fn largest_that_waits(&self) -> Option<IpAddr> {
        let waiting = self.connections.values().filter(|it| it.waits_since.is_some());
        waiting.map(|it| it.peer).max_by_key(|peer| self.count(*peer))
    }

    fn end_longest_of(&mut self, peer: IpAddr) -> Option<()> {
        let waiting = self.connections.iter().filter(|(_, it)| it.peer == peer);
        let (_, number) = waiting.filter_map(|(number, it)| Some((it.waits_since?, *number))).min()?;
        self.remove(number)?.ends.notify_one();
        Some(())
    }

    fn remove(&mut self, number: u64) -> Option<Connection> {
        let removed = self.connections.remove(&number)?;
        if let Some(count) = self.of_peers.get_mut(&removed.peer) {
            *count -= 1;
            if *count == 0 {
                self.of_peers.remove(&removed.peer);
            }
        }
        Some(removed)
    }
}

/// Whoever has an address of IPv6 has 2⁶⁴ of them: they are one here.
fn of_network(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V6(it) if it.to_ipv4_mapped().is_none() => {
            IpAddr::V6(Ipv6Addr::from_bits(it.to_bits() & !u128::from(u64::MAX)))
        }
        other => other,
    }
}

impl Place {
    /// Done when the place is another's.
    pub(super) fn lost(&self) -> impl Future<Output = ()> + use<> {
        let ends = Arc::clone(&self.ends);
        async move { ends.notified().await }
    }

    /// A request, until its answer is handed to the system.
    pub(super) fn request(&self) -> Arc<Request> {
        let began = self.open.lock().tick();
        let request = Request { open: self.open.clone(), number: self.number, began };
        request.wait_since(None);
        Arc::new(request)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.open.lock().remove(self.number);
    }
}

/// A request that is answered; its connection waits for the next when the last of these is dropped.
pub(super) struct Request {
    open: Open,
    number: u64,
    began: u64,
}

impl Request {
    /// Its body has to arrive: since the request began, for whoever sends little by little begins to wait again and again.
    pub(super) fn awaits_body(&self) {
        self.wait_since(Some(self.began));
    }

    /// Its body is there, or what came of it is looked at.
    pub(super) fn is_answered(&self) {
        self.wait_since(None);
    }

    fn wait_since(&self, since: Option<u64>) {
        if let Some(connection) = self.open.lock().connections.get_mut(&self.number) {
            connection.waits_since = since;
        }
    }

    /// The body of its answer.
    pub(super) fn answer(self: Arc<Self>, body: Body) -> Body {
        Body::new(Answer { body, _request: self })
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let now = self.open.lock().tick();
        self.wait_since(Some(now));
    }
}

struct Answer {
    body: Body,
    _request: Arc<Request>,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn whoever_waits_longest_makes_place_for_another() {
        let peer = |n| IpAddr::from([127, 0, 0, n]);
        let is_lost = |place: &Place| place.lost().now_or_never().is_some();
        let open = Open::default();
        let first = open.enter(peer(1), 4).unwrap();
        let second = open.enter(peer(1), 4).unwrap();
        let answered = first.request();
        // One address has half, and of these the first is answered.
        let third = open.enter(peer(1), 4).unwrap();
        assert!(!is_lost(&first) && is_lost(&second) && !is_lost(&third));
        drop(second);
        let also_answered = third.request();
        assert!(open.enter(peer(1), 4).is_none(), "all of its are answered");
        let others = [open.enter(peer(2), 4).unwrap(), open.enter(peer(3), 4).unwrap()];
        let other_requests = others.each_ref().map(Place::request);
        assert!(open.enter(peer(4), 4).is_none(), "all are answered");
        // Of those that wait, one ends, though others have more connections.
        let [waits, _still_answered] = other_requests;
        drop(waits);
        let fourth = open.enter(peer(4), 4).unwrap();
        assert!(is_lost(&others[0]) && !is_lost(&others[1]) && !is_lost(&first) && !is_lost(&third));
        // From now on the first two wait, one after the other, and have the most.
        drop(also_answered);
        drop(answered);
        let fifth = open.enter(peer(5), 4).unwrap();
        assert!(!is_lost(&first) && is_lost(&third) && !is_lost(&others[1]) && !is_lost(&fourth));
        drop((first, third, others, fourth, fifth));
        let all = open.lock();
        assert!(all.connections.is_empty() && all.of_peers.is_empty());
    }

    #[test]
    fn addresses_of_one_network_are_one() {
        let open = Open::default();
        let enter = |address: &str, most| open.enter(address.parse().unwrap(), most);
        let places = [enter("2001:db8::1", 4).unwrap(), enter("2001:db8::2", 4).unwrap()];
        let requests = places.each_ref().map(Place::request);
        assert!(enter("2001:db8::3", 4).is_none(), "the network has half of all");
        assert!(enter("2001:db8:0:1::3", 4).is_some() && enter("::ffff:192.0.2.1", 4).is_some());
        drop(requests);
    }
}
