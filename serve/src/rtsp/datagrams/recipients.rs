//! The sessions to which datagrams belong.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use tokio::sync::mpsc::Sender;

use crate::rtsp::playback::{Arrival, Claim};

/// Addresses of one session of R3CP+: a client changes its address now and then.
const MAX_ADDRESSES: usize = 4;

/// The sessions by the marks of their datagrams.
#[derive(Debug, Default)]
pub(super) struct Recipients {
    /// Plain streams by their SSRC.
    streams: HashMap<u32, (IpAddr, Sender<Arrival>)>,
    /// Sessions of R3CP+ by their key.
    sessions: HashMap<u64, Recipient>,
    /// The keys of those whose probes arrived, by the address of the last probe.
    keys: HashMap<SocketAddr, u64>,
}

/// A session of R3CP+.
#[derive(Debug)]
struct Recipient {
    arrivals: Sender<Arrival>,
    /// The addresses that its probes had, oldest first.
    addresses: VecDeque<SocketAddr>,
}

impl Recipients {
    pub(super) fn register(&mut self, claim: Claim, client: IpAddr, arrivals: Sender<Arrival>) {
        match claim {
            Claim::Stream(ssrc) => drop(self.streams.insert(ssrc, (client, arrivals))),
            Claim::Key(key) => drop(self.sessions.insert(key, Recipient { arrivals, addresses: VecDeque::new() })),
        }
    }

    pub(super) fn forget(&mut self, claim: Claim) {
        match claim {
            Claim::Stream(ssrc) => drop(self.streams.remove(&ssrc)),
            Claim::Key(key) => {
                let addresses = self.sessions.remove(&key).map_or(VecDeque::new(), |session| session.addresses);
                addresses.into_iter().for_each(|address| self.forget_address(address, key));
            }
        }
    }

    /// The session that has a stream, if the report about it is its client's.
    pub(super) fn of_report(&self, ssrc: u32, from: IpAddr) -> Option<&Sender<Arrival>> {
        self.streams.get(&ssrc).filter(|(client, _)| *client == from).map(|(_, arrivals)| arrivals)
    }

    /// The session of a datagram: that of the key, if it is a probe; otherwise that of the last probe from this address.
    pub(super) fn of_datagram(
        &mut self,
        from: SocketAddr,
        key: impl FnOnce() -> Option<u64>,
    ) -> Option<&Sender<Arrival>> {
        if let Some(key) = key() {
            self.remember(from, key);
        }
        let key = self.keys.get(&from)?;
        self.sessions.get(key).map(|session| &session.arrivals)
    }

    /// Remembers the address of a probe, if a session has its key.
    fn remember(&mut self, from: SocketAddr, key: u64) {
        let Some(session) = self.sessions.get_mut(&key) else { return };
        self.keys.insert(from, key);
        if session.addresses.contains(&from) {
            return;
        }
        session.addresses.push_back(from);
        if session.addresses.len() > MAX_ADDRESSES
            && let Some(oldest) = session.addresses.pop_front()
        {
            self.forget_address(oldest, key);
        }
    }

    /// Forgets an address of a session, unless a later probe from there was for another one.
    fn forget_address(&mut self, address: SocketAddr, key: u64) {
        if self.keys.get(&address) == Some(&key) {
            self.keys.remove(&address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc::{Receiver, channel};

    /// The recipients of two sessions with the keys 1 and 2, and what they receive.
    fn sessions() -> (Recipients, [Receiver<Arrival>; 2]) {
        let (mut recipients, client) = (Recipients::default(), IpAddr::from([192, 0, 2, 1]));
        let received = [1, 2].map(|key| {
            let (sender, receiver) = channel(16);
            recipients.register(Claim::Key(key), client, sender);
            receiver
        });
        (recipients, received)
    }

    /// The session that a datagram is passed to.
    fn passed(recipients: &mut Recipients, received: &mut [Receiver<Arrival>; 2], from: u16, key: Option<u64>) -> u64 {
        let from = SocketAddr::from(([192, 0, 2, 1], from));
        if let Some(arrivals) = recipients.of_datagram(from, || key) {
            arrivals.try_send(Arrival::Datagram { from, bytes: Vec::new() }).expect("space");
        }
        (1..).zip(received).find_map(|(key, one)| one.try_recv().is_ok().then_some(key)).unwrap_or_default()
    }

    #[test]
    fn datagrams_belong_to_the_last_probe_of_their_address() {
        let (mut recipients, mut received) = sessions();
        let mut passed = |from, key| passed(&mut recipients, &mut received, from, key);
        assert_eq!(passed(5000, None), 0, "no probe arrived");
        assert_eq!(passed(5000, Some(3)), 0, "no session has the key");
        assert_eq!(passed(5000, Some(1)), 1);
        assert_eq!([passed(5000, None), passed(5001, None)], [1, 0]);
        assert_eq!([passed(5000, Some(2)), passed(5000, None)], [2, 2], "another video at the same port");
    }

    #[test]
    fn addresses_end_with_their_session_and_are_few() {
        let (mut recipients, mut received) = sessions();
        for from in 5000..6000 {
            assert_eq!(passed(&mut recipients, &mut received, from, Some(1)), 1);
        }
        assert_eq!(recipients.keys.len(), MAX_ADDRESSES);
        assert_eq!(passed(&mut recipients, &mut received, 5999, Some(2)), 2);
        recipients.forget(Claim::Key(1));
        assert_eq!((recipients.keys.len(), recipients.sessions.len()), (1, 1));
        assert_eq!(passed(&mut recipients, &mut received, 5998, Some(1)), 0);
        recipients.forget(Claim::Key(2));
        assert!(recipients.keys.is_empty() && recipients.sessions.is_empty());
    }
}
