//! Places of connections, over TCP and QUIC alike. While there are enough, whoever comes has one. Where they run short, the
//! address with the most gives one up to an address that has fewer: that of its connection which has been idle for longest.

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
    /// Places of each address, never zero.
    of: HashMap<IpAddr, usize>,
    next: u64,
    /// Clients that wait for a place to become free.
    waker: Option<Waker>,
}

#[derive(Debug)]
struct Seat {
    address: IpAddr,
    occupant: Arc<Occupant>,
    /// Dropped when it is given up.
    _keeps: oneshot::Sender<()>,
}

/// State of a connection that has a place.
#[derive(Debug)]
pub(crate) struct Occupant {
    start: Instant,
    /// Answers under way.
    busy: AtomicUsize,
    /// When it came, or an answer of it went on: milliseconds after the start.
    last: AtomicU64,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    number: u64,
    occupant: Arc<Occupant>,
    kept: oneshot::Receiver<()>,
}

/// An answer under way, until it is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Occupant>);

impl Places {
    /// So many places.
    pub(crate) fn new(most: usize) -> Arc<Places> {
        Arc::new(Places { most, start: Instant::now(), taken: Mutex::default() })
    }

    /// Number of free places.
    pub(crate) fn free(&self) -> usize {
        self.most.saturating_sub(self.taken().seats.len())
    }

    /// Takes a place for a connection from `address`: a free one, or one of an address that has two more or above, which then
    /// still has no fewer. None if there is none.
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
        *taken.of.entry(address).or_default() += 1;
        taken.seats.insert(number, Seat { address, occupant: occupant.clone(), _keeps: keeps });
        Some(Place { places: self.clone(), number, occupant, kept })
    }

    /// Waits until one is free; one task alone may.
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
    /// The seat that goes to a newcomer: of the address with the most, the longest without an answer, or else the one whose
    /// answer has stood still for longest.
    fn dispensable(&self, newcomer: IpAddr) -> Option<u64> {
        let (greatest, most) = self.of.iter().max_by_key(|(_, count)| **count)?;
        let own = self.of.get(&newcomer).copied().unwrap_or_default();
        if *most < own + 2 {
            return None;
        }
        let theirs = self.seats.iter().filter(|(_, seat)| seat.address == *greatest);
        theirs.min_by_key(|(number, seat)| (seat.occupant.is_busy(), seat.occupant.last(), **number)).map(|one| *one.0)
    }

    fn remove(&mut self, number: u64) {
        let Some(seat) = self.seats.remove(&number) else { return };
        if let Some(count) = self.of.get_mut(&seat.address) {
            *count -= 1;
            if *count == 0 {
                self.of.remove(&seat.address);
            }
        }
    }
}

impl Place {
    /// Address that has it.
    pub(crate) fn occupant(&self) -> &Arc<Occupant> {
        &self.occupant
    }

    /// Waits until it is given up for another.
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
    /// An answer begins.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        let busy = Busy(self.clone());
        busy.goes_on();
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
    /// Some of it has left.
    pub(crate) fn goes_on(&self) {
        self.0.last.store(self.0.start.elapsed().as_millis() as u64, Ordering::Relaxed);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.goes_on();
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Owner of a share: an address of IPv4, and of IPv6 the network of a subscriber (RFC 6177 §2), who may have as many
/// addresses as he likes in it.
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
    fn the_address_with_the_most_gives_up_its_longest_idle_until_others_have_as_many() {
        let places = Places::new(10);
        let mut crowd: Vec<_> = (0..10).map(|_| places.take(address(1)).expect("a place")).collect();
        // An answer is under way on the first, which came before all others.
        let _busy = crowd[0].occupant().busy();
        assert!(places.take(address(1)).is_none(), "its own it does not give up to itself");
        let one = places.take(address(2)).expect("a place of another");
        let given_up: Vec<_> = (0..10).filter(|nth| is_given_up(&mut crowd[*nth])).collect();
        assert_eq!((given_up, places.free()), (vec![1], 0));
        let others: Vec<_> = (0..4).map(|_| places.take(address(2)).expect("a place of another")).collect();
        // Five and five: there is no more to be had.
        assert!(places.take(address(2)).is_none());
        assert!(places.take(address(3)).is_some());
        drop((one, others, crowd));
        assert_eq!(places.free(), 10);
        assert!(places.taken().of.is_empty());
    }

    #[test]
    fn who_has_only_answers_under_way_gives_up_the_one_that_stands_still() {
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
    fn who_waits_is_woken_by_a_place_that_becomes_free() {
        let places = Places::new(1);
        let place = places.take(address(1)).expect("a place");
        let mut cx = Context::from_waker(Waker::noop());
        assert!(places.poll_free(&mut cx).is_pending());
        drop(place);
        assert!(places.poll_free(&mut cx).is_ready());
    }

    #[test]
    fn a_subscriber_of_ipv6_has_one_share_and_an_address_of_ipv4_the_same_over_both_sockets() {
        let of = |text: &str| share(text.parse().expect("an address"));
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2::5"));
        assert_ne!(of("2001:db8:1:2::4"), of("2001:db8:1:3::4"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    }
}
