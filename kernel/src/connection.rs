//! Connections under the law, as the kernel shows them: each a line of text.

use std::net::{IpAddr, SocketAddr};

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

/// Linux's TCP_INFINITE_SSTHRESH.
const INFINITE: f64 = 2_147_483_647.0;
/// Units per segment of lwnd and ssthresh, and of Diff, as in `law.h`.
const SEGMENT: f64 = (1_u64 << 20) as f64;
const FINE: f64 = 1024.0;

/// A connection under the law, by the paper's names; windows in segments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Connection {
    /// The local address.
    pub local: SocketAddr,
    /// The peer's address.
    pub peer: SocketAddr,
    /// Rate: the playback rate of its video.
    pub rate: Rate,
    /// MSS: the bytes of the video in a segment.
    pub mss: Bytes,
    /// The loss window.
    pub lwnd: f64,
    /// The delay window.
    pub dwnd: u32,
    /// The slow-start threshold, infinite until the first loss.
    pub ssthresh: f64,
    /// The ceiling of lwnd; none before the first round trip.
    pub cap: Option<u32>,
    /// Segments in the queue, as last computed.
    pub diff: f64,
    /// The minimum round trip so far.
    pub tau: Option<Span>,
    /// The latest round trip.
    pub rtt: Option<Span>,
    /// True if lwnd has met its ceiling since the last loss.
    pub delay_on: bool,
}

impl Connection {
    /// The send-out window, in segments.
    pub fn swnd(&self) -> f64 {
        self.lwnd + f64::from(self.dwnd)
    }

    /// Parses a line: both ends as address and port, then names and numbers. None if it is no such line.
    #[cfg_attr(not(feature = "bpf"), allow(dead_code, reason = "nothing is shown without it"))]
    pub(crate) fn parse(line: &str) -> Option<Connection> {
        let mut words = line.split_whitespace();
        let mut end = || {
            let address: IpAddr = words.next()?.parse().ok()?;
            Some(SocketAddr::new(address.to_canonical(), words.next()?.parse().ok()?))
        };
        let (local, peer) = (end()?, end()?);
        let mut number = |name| if words.next()? == name { words.next()?.parse::<u64>().ok() } else { None };
        let whole = |value: u64| u32::try_from(value).ok();
        let known = |us: u64| (us > 0).then(|| Span::from_micros(us));
        let (rate, mss) = (Rate::from_bps(number("rate")?), Bytes(number("mss")?));
        let (lwnd, dwnd) = (number("lwnd")? as f64 / SEGMENT, whole(number("dwnd")?)?);
        let ssthresh = number("ssthresh")? as f64 / SEGMENT;
        let ssthresh = if ssthresh < INFINITE { ssthresh } else { f64::INFINITY };
        let cap = whole(number("cap")?).filter(|&cap| cap > 0);
        let (diff, tau) = (number("diff")? as f64 / FINE, known(number("tau")?));
        let (rtt, delay_on) = (known(number("rtt")?), number("delay_on")? == 1);
        Some(Connection { local, peer, rate, mss, lwnd, dwnd, ssthresh, cap, diff, tau, rtt, delay_on })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernel_is_read_in_segments_and_seconds() {
        let line = "10.0.0.1 443 10.0.0.2 50000 rate 3600000 mss 1448 lwnd 9961472 dwnd 7 ssthresh 5242880 cap 10 \
                    diff 1536 tau 30000 rtt 33000 delay_on 1\n";
        let found = Connection::parse(line).expect("a line");
        assert_eq!(found.local, "10.0.0.1:443".parse().expect("an address"));
        assert_eq!((found.lwnd, found.dwnd, found.swnd(), found.ssthresh), (9.5, 7, 16.5, 5.0));
        assert_eq!((found.cap, found.diff, found.delay_on), (Some(10), 1.5, true));
        assert_eq!((found.tau, found.rtt), (Some(Span::from_millis(30)), Some(Span::from_millis(33))));
    }

    #[test]
    fn addresses_of_ipv6_are_read_and_those_of_ipv4_shown_as_such() {
        let tail = "rate 1 mss 1448 lwnd 10485760 dwnd 0 ssthresh 2251799812636672 cap 0 diff 0 tau 0 rtt 0 delay_on 0";
        let six = "2001:0db8:0000:0000:0000:0000:0000:0001 80 0000:0000:0000:0000:0000:ffff:0a00:0002 1";
        let found = Connection::parse(&format!("{six} {tail}")).expect("a line");
        assert_eq!(found.local.to_string(), "[2001:db8::1]:80");
        assert_eq!(found.peer.to_string(), "10.0.0.2:1");
        assert_eq!((found.ssthresh, found.cap, found.tau), (f64::INFINITY, None, None));
        for bad in ["", "10.0.0.1 443", &format!("10.0.0.1 443 {tail}"), &six.replace("80", "x")] {
            assert_eq!(Connection::parse(bad), None, "{bad}");
        }
    }
}
