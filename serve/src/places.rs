//! Places of connections, over TCP and QUIC alike. While there are enough, every client gets one. If they run short,
//! the address with the most gives one up to an address that has fewer: that of its connection that was idle for
//! longest.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use tokio::sync::oneshot;

/// The places of a server.
#[derive(Debug)]
pub(crate) struct Places {
    most: usize,
    start: Instant,
    taken: Mutex<Taken>,
}

#[derive(Default, Debug)]
struct Taken {
    seats: HashMap<u64, Seat>,
    /// Number of places of each address, never zero.
    counts: HashMap<IpAddr, usize>,
    next: u64,
    /// The task that waits for a place to become free.
    waker: Option<Waker>,
}

#[derive(Debug)]
struct Seat {
    address: IpAddr,
    occupant: Arc<Occupant>,
    /// Dropped when the place is given up.
    _keeps: oneshot::Sender<()>,
}

/// The state of a connection that has a place.
#[derive(Debug)]
pub(crate) struct Occupant {
    start: Instant,
    /// Number of answers in progress.
    busy: AtomicUsize,
    /// Time of its arrival, or of the last progress of an answer: milliseconds after the start.
    last: AtomicU64,
}

/// A place, held until this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    number: u64,
    occupant: Arc<Occupant>,
    kept: oneshot::Receiver<()>,
}

/// An answer in progress, until this is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Occupant>);

impl Places {
    /// Creates `most` places.
    pub(crate) fn new(most: usize) -> Arc<Places> {
        Arc::new(Places { most, start: Instant::now(), taken: Mutex::default() })
    }

    /// The number of free places.
    pub(crate) fn free(&self) -> usize {
        self.most.saturating_sub(self.taken().seats.len())
    }

    /// Takes a place for a connection from `address`: a free one, or one of an address that has at least two more, and
    /// so still has no fewer. None if there is no such place.
    pub(crate) fn take(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let address = share(address);
        let mut taken = self.taken();
        if taken.seats.len() >= self.most {
            let number = taken.dispensable(address)?;
            taken.remove(number);
        }
        let (keeps, kept) = oneshot::channel();
        let number = taken.next;
        taken.next += 1;
        let last = AtomicU64::new(self.start.elapsed().as_millis() as u64);
        let occupant = Arc::new(Occupant { start: self.start, busy: AtomicUsize::new(0), last });
        *taken.counts.entry(address).or_default() += 1;
        taken.seats.insert(number, Seat { address, occupant: occupant.clone(), _keeps: keeps });
        Some(Place { places: self.clone(), number, occupant, kept })
    }

    /// Waits until a place is free; only one task may wait.
    pub(crate) fn poll_free(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut taken = self.taken();
        if taken.seats.len() < self.most {
            return Poll::Ready(());
        }
        taken.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// The seat that goes to a newcomer: of the address with the most, the one that was idle for longest or, if all are
    /// busy, the one whose answer has made no progress for longest.
    fn dispensable(&self, newcomer: IpAddr) -> Option<u64> {
        let (greatest, most) = self.counts.iter().max_by_key(|(_, count)| **count)?;
        let own = self.counts.get(&newcomer).copied().unwrap_or_default();
        if *most < own + 2 {
            return None;
        }
        let theirs = self.seats.iter().filter(|(_, seat)| seat.address == *greatest);
        theirs.min_by_key(|(number, seat)| (seat.occupant.is_busy(), seat.occupant.last(), **number)).map(|one| *one.0)
    }

    fn remove(&mut self, number: u64) {
        let Some(seat) = self.seats.remove(&number) else { return };
        if let Some(count) = self.counts.get_mut(&seat.address) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&seat.address);
            }
        }
    }
}

impl Place {
    /// The state of its connection.
    pub(crate) fn occupant(&self) -> &Arc<Occupant> {
        &self.occupant
    }

    /// Waits until the place is given up to another client.
    pub(crate) fn poll_given_up(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.kept).poll(cx).map(drop)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.remove(self.number);
        if let Some(waker) = taken.waker.take() {
            waker.wake();
        }
    }
}

impl Occupant {
    /// Begins an answer.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        let busy = Busy(self.clone());
        busy.mark_progress();
        busy
    }

    fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed) > 0
    }

    fn last(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }
}

impl Busy {
    /// Notes that a part of the answer was sent.
    pub(crate) fn mark_progress(&self) {
        self.0.last.store(self.0.start.elapsed().as_millis() as u64, Ordering::Relaxed);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.mark_progress();
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The unit by which places are shared: an IPv4 address or, of IPv6, the network of a subscriber (RFC 6177 §2), who may
/// use any number of addresses in it.
pub(crate) fn share(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn is_given_up(place: &mut Place) -> bool {
        place.poll_given_up(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn address_with_most_places_gives_up_its_longest_idle_connection() {
        let places = Places::new(10);
        let mut crowd: Vec<_> = (0..10).map(|_| places.take(address(1)).expect("a place")).collect();
        // An answer is in progress on the first, which arrived before all others.
        let _busy = crowd[0].occupant().busy();
        assert!(places.take(address(1)).is_none(), "its own it does not give up to itself");
        let one = places.take(address(2)).expect("a place of another");
        let given_up: Vec<_> = (0..10).filter(|nth| is_given_up(&mut crowd[*nth])).collect();
        assert_eq!((given_up, places.free()), (vec![1], 0));
        let others: Vec<_> = (0..4).map(|_| places.take(address(2)).expect("a place of another")).collect();
        // Five and five: no more can be taken.
        assert!(places.take(address(2)).is_none());
        assert!(places.take(address(3)).is_some());
        drop((one, others, crowd));
        assert_eq!(places.free(), 10);
        assert!(places.taken().counts.is_empty());
    }

    #[test]
    fn address_with_only_busy_connections_gives_up_a_stalled_one() {
        let places = Places::new(3);
        let mut crowd: Vec<_> = (0..3).map(|_| places.take(address(1)).expect("a place")).collect();
        let busy: Vec<_> = crowd.iter().map(|place| place.occupant().busy()).collect();
        for (busy, last) in busy.iter().zip([7, 5, 6]) {
            busy.0.last.store(last, Ordering::Relaxed);
        }
        let _viewer = places.take(address(2)).expect("a place");
        assert_eq!([0, 1, 2].map(|nth| is_given_up(&mut crowd[nth])), [false, true, false]);
    }

    #[test]
    fn waiting_task_is_ready_once_a_place_is_free() {
        let places = Places::new(1);
        let place = places.take(address(1)).expect("a place");
        let mut cx = Context::from_waker(Waker::noop());
        assert!(places.poll_free(&mut cx).is_pending());
        drop(place);
        assert!(places.poll_free(&mut cx).is_ready());
    }

    #[test]
    fn ipv6_shares_are_networks_and_mapped_ipv4_is_ipv4() {
        let of = |text: &str| share(text.parse().expect("an address"));
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2::5"));
        assert_ne!(of("2001:db8:1:2::4"), of("2001:db8:1:3::4"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    }
}
