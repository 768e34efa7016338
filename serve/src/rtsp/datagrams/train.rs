//! Datagrams that leave in one call.

use thalweg_core::session::MAX_DATAGRAM;

use crate::rtsp::playback::Route;

/// The most datagrams of a train.
const LONGEST: usize = 8;

/// Datagrams of one route that leave in one call, as the kernel splits them (UDP GSO): all have the length of the first, but
/// for the last, which may be shorter.
#[derive(Debug)]
pub(crate) struct Train {
    buf: [u8; LONGEST * MAX_DATAGRAM],
    route: Option<Route>,
    /// The length of the first datagram.
    segment: usize,
    filled: usize,
}

impl Train {
    pub(crate) fn new() -> Train {
        Train { buf: [0; LONGEST * MAX_DATAGRAM], route: None, segment: 0, filled: 0 }
    }

    /// The space for the next packet, which has that of a datagram.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        &mut self.buf[self.filled..]
    }

    /// Adds the packet of this length that was written into [`Train::space`]. If it cannot join the others, they are passed
    /// to `send` first; so are all of them once no other can join. A packet without bytes is none.
    pub(crate) fn push(&mut self, route: Route, len: usize, mut send: impl FnMut(Route, usize, &[u8])) {
        if len == 0 {
            return;
        }
        if self.route.is_some_and(|other| other != route) || self.filled > 0 && len > self.segment {
            let start = self.filled;
            self.flush(&mut send);
            self.buf.copy_within(start..start + len, 0);
        }
        if self.filled == 0 {
            (self.route, self.segment) = (Some(route), len);
        }
        self.filled += len;
        if len < self.segment || self.filled + MAX_DATAGRAM > self.buf.len() {
            self.flush(send);
        }
    }

    /// Passes the datagrams to `send`, with their route and the length of all but the last.
    pub(crate) fn flush(&mut self, mut send: impl FnMut(Route, usize, &[u8])) {
        if let Some(route) = self.route.take() {
            send(route, self.segment, &self.buf[..self.filled]);
        }
        self.filled = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    /// The lengths of datagrams, by calls, if packets of these lengths go to these ports.
    fn calls(packets: &[(u16, usize)]) -> Vec<(u16, Vec<usize>)> {
        let (mut train, mut calls, mut sent) = (Train::new(), Vec::new(), Vec::new());
        let mut send = |route: Route, segment: usize, bytes: &[u8]| {
            let Route::Rtp(to) = route else { unreachable!("the only route") };
            calls.push((to.port(), bytes.chunks(segment).map(<[u8]>::len).collect()));
            sent.extend_from_slice(bytes);
        };
        let mut written = Vec::new();
        for (nth, (port, len)) in (0..).zip(packets) {
            train.space()[..*len].fill(nth);
            written.extend(vec![nth; *len]);
            train.push(Route::Rtp(SocketAddr::from(([192, 0, 2, 1], *port))), *len, &mut send);
        }
        train.flush(&mut send);
        assert_eq!(sent, written);
        calls
    }

    #[test]
    fn packets_of_a_frame_leave_together() {
        assert_eq!(calls(&[(6, 1200), (6, 1200), (6, 1200), (6, 700)]), [(6, vec![1200, 1200, 1200, 700])]);
        assert_eq!(calls(&[]), []);
        assert_eq!(calls(&[(6, 0), (6, 12)]), [(6, vec![12])]);
    }

    #[test]
    fn longer_packet_or_another_route_begins_a_train() {
        assert_eq!(calls(&[(6, 700), (6, 1200), (6, 1200)]), [(6, vec![700]), (6, vec![1200, 1200])]);
        assert_eq!(calls(&[(6, 1200), (6, 700), (6, 700)]), [(6, vec![1200, 700]), (6, vec![700])]);
        assert_eq!(calls(&[(6, 100), (8, 100), (8, 100)]), [(6, vec![100]), (8, vec![100, 100])]);
    }

    #[test]
    fn train_is_bounded() {
        let calls = calls(&[(6, MAX_DATAGRAM); 20]);
        assert_eq!(calls.iter().map(|(_, lengths)| lengths.len()).collect::<Vec<_>>(), [8, 8, 4]);
    }
}
