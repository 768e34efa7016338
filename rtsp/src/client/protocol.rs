//! The protocol of a peer, by the first bytes that it sends: a user may have named the port of another server.

/// The protocols by the bytes with which a peer begins.
const BEGINNINGS: [(&[u8], Protocol); 6] = [
    (b"RTSP/", Protocol::Rtsp),
    (b"HTTP/", Protocol::Http),
    // RFC 4253 §4.2.
    (b"SSH-", Protocol::Ssh),
    // RFC 5321 §4.2, and RFC 959 §5.4.
    (b"220 ", Protocol::MailOrFtp),
    (b"220-", Protocol::MailOrFtp),
    // An alert of TLS (RFC 8446 §5.1), whose answer to a request in the clear it is.
    (&[21, 3], Protocol::Tls),
];

/// A protocol that a peer speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Protocol {
    Rtsp,
    Http,
    Ssh,
    MailOrFtp,
    Tls,
    Unknown,
}

impl Protocol {
    /// Its name, if it is known.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Protocol::Rtsp => Some("RTSP"),
            Protocol::Http => Some("HTTP"),
            Protocol::Ssh => Some("SSH"),
            Protocol::MailOrFtp => Some("SMTP or FTP"),
            Protocol::Tls => Some("TLS"),
            Protocol::Unknown => None,
        }
    }
}

/// The protocol of a peer whose first bytes these are; none while too few have arrived. A server of RTSP begins with a response.
pub(super) fn of(bytes: &[u8]) -> Option<Protocol> {
    if let Some((_, protocol)) = BEGINNINGS.iter().find(|(beginning, _)| bytes.starts_with(beginning)) {
        return Some(*protocol);
    }
    let may_follow = BEGINNINGS.iter().any(|(beginning, _)| beginning.starts_with(bytes));
    (!may_follow).then_some(Protocol::Unknown)
}
