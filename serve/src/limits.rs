//! Limits on the resources of clients.

use std::time::Duration;

/// Limits on the resources of clients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Concurrent connections; as many more, up to 1024, wait in line.
    pub connections: usize,
    /// Time limit for a handshake or a request, and for silence between two.
    pub request: Duration,
    /// Time for which a client may read nothing although data waits for it.
    pub stall: Duration,
    /// Time without a request and without a receiver report after which a session of RTSP ends, in whole seconds.
    pub session: Duration,
    /// Interval between scans of the folder.
    pub recheck: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 2000,
            request: Duration::from_secs(30),
            // A paused player reads nothing, either; it requests the rest again.
            stall: Duration::from_secs(60),
            // That of RFC 2326 §12.37.
            session: Duration::from_secs(60),
            recheck: Duration::from_secs(10),
        }
    }
}
