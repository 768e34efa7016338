//! The memory of an end, over all its links.
//!
//! Memory that a peer makes this end keep is charged to the peer, which may hold as much as is free: A. Choudhury, E.
//! Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", IEEE/ACM Transactions on Networking
//! 6(2), 1998, with alpha = 1. So one peer has at most half of all memory, each of n peers that want more has a part in
//! n + 1, and as much is left for the next.

use std::collections::BTreeMap;

use crate::session::secure::PublicKey;

/// The owner of memory: a peer with a key of its own, with all of its links, or else each link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Peer {
    Key(PublicKey),
    Link(u64),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Budget {
    most: u64,
    held: u64,
    peers: BTreeMap<Peer, u64>,
}

/// Further bytes that a peer may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in super::super) struct Spare {
    /// Bytes until the peer has its share.
    pub(in super::super) whole: u64,
    /// Bytes until the peer has half of its share.
    pub(in super::super) half: u64,
}

impl Budget {
    pub(super) fn new(most: u64) -> Budget {
        Budget { most, held: 0, peers: BTreeMap::new() }
    }

    /// Accounts for `peer`, which holds `after` bytes and held `before`.
    pub(super) fn charge(&mut self, peer: Peer, before: u64, after: u64) {
        let held = self.peers.entry(peer).or_default();
        *held = *held - before + after;
        self.held = self.held - before + after;
        if *held == 0 {
            self.peers.remove(&peer);
        }
    }

    /// The further bytes that `peer` may hold: half of the difference between what is free and what it holds, since
    /// what it takes is no longer free.
    pub(super) fn spare(&self, peer: Peer) -> Spare {
        let (free, held) = (self.most.saturating_sub(self.held), self.held_by(peer));
        let whole = free.saturating_sub(held) / 2;
        Spare { whole, half: ((held + whole) / 2).saturating_sub(held) }
    }

    /// The peer that holds most, if all together hold more than the limit.
    pub(super) fn excess(&self) -> Option<Peer> {
        let most = self.peers.iter().max_by_key(|(_, held)| **held);
        most.filter(|_| self.held > self.most).map(|(peer, _)| *peer)
    }

    fn held_by(&self, peer: Peer) -> u64 {
        self.peers.get(&peer).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u64 = 120;

    /// Takes as much as `peer` may have.
    fn take_all(budget: &mut Budget, peer: Peer) {
        let held = budget.held_by(peer);
        budget.charge(peer, held, held + budget.spare(peer).whole);
    }

    #[test]
    fn one_peer_has_half_and_two_peers_have_a_third_each() {
        let [one, two] = [Peer::Link(1), Peer::Key(PublicKey([2; 32]))];
        let mut budget = Budget::new(MOST);
        assert_eq!(budget.spare(one), Spare { whole: MOST / 2, half: MOST / 4 });
        take_all(&mut budget, one);
        assert_eq!((budget.spare(one), budget.held_by(one)), (Spare::default(), MOST / 2));
        // The rest is shared equally from now on, and the first gives back as it can.
        take_all(&mut budget, two);
        assert_eq!((budget.held_by(two), budget.spare(one).whole), (MOST / 4, 0));
        budget.charge(one, MOST / 2, MOST / 3);
        take_all(&mut budget, two);
        assert_eq!((budget.held_by(two), budget.spare(one).whole), (MOST / 3, 0));
        budget.charge(one, MOST / 3, 0);
        budget.charge(two, MOST / 3, 0);
        assert_eq!(budget, Budget::new(MOST));
    }

    #[test]
    fn largest_holder_is_named_only_when_memory_is_exceeded() {
        let mut budget = Budget::new(MOST);
        budget.charge(Peer::Link(1), 0, 50);
        budget.charge(Peer::Link(2), 0, 70);
        assert_eq!((budget.excess(), budget.spare(Peer::Link(3))), (None, Spare::default()));
        budget.charge(Peer::Link(1), 50, 51);
        assert_eq!(budget.excess(), Some(Peer::Link(2)));
    }
}
