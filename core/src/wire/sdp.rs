//! Session descriptions (RFC 8866): the parameters of a live stream for other implementations. Those of stored videos are
//! in [`stored`].
//!
//! | line | from |
//! |---|---|
//! | `m=` | RTP/AVPF (RFC 4585), or RTP/AVP for receivers that send no feedback |
//! | `b=RS`, `b=RR` | RFC 3556 |
//! | `a=rtcp-mux`, `a=rtcp-rsize` | RFC 5761, RFC 5506 |
//! | `a=rtcp-fb:* ack ccfb` | RFC 8888 §6 |
//! | `a=fec-source-flow`, `a=fec-repair-flow`, `a=repair-window` | RFC 6364 §4.4 to §4.6 |
//! | `a=ssrc`, `a=ssrc-group:FEC-FR` | RFC 5576, RFC 5956 §4.3 |
//! | `a=group:FEC-FR`, `a=mid` | RFC 5956 §4.2, for repair on a port of its own |
//! | `a=extmap` | RFC 8285 §5 |

pub mod stored;

use core::fmt;
use core::net::{IpAddr, SocketAddr};

use super::fecframe::{self, BlockBounds, PayloadId, SchemeInfo};
use super::rtp;
use crate::time::Span;
use crate::units::Rate;

/// A session, described by its `Display`.
#[derive(Clone, PartialEq, Debug)]
pub struct Description {
    /// The name for humans; control characters are left out.
    pub name: String,
    /// The number that distinguishes this session from the origin's others.
    pub session: u64,
    /// The sender's address.
    pub origin: IpAddr,
    /// The address at which the media is received.
    pub to: SocketAddr,
    /// The TTL, required if `to` is an IPv4 multicast group (RFC 8866 §5.7).
    pub ttl: u8,
    /// The content of the media packets.
    pub payload: Payload,
    /// The SSRC of the media; `None` leaves it open.
    pub ssrc: Option<u32>,
    /// The sender's canonical name; characters other than printable ASCII are left out.
    pub cname: String,
    /// The bandwidth of feedback; `None` if there is no feedback.
    pub feedback: Option<FeedbackBandwidth>,
    /// The repair stream, if there is one.
    pub repair: Option<Repair>,
}

/// The content of the media packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload {
    /// MPEG transport stream, payload type 33 (RFC 2250).
    Mp2t,
    /// Datagrams of any kind, under a dynamic payload type.
    Opaque {
        /// The payload type, 96 to 127.
        payload_type: u8,
    },
}

/// The share of the path for RTCP, lower headers included (RFC 3556).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FeedbackBandwidth {
    /// For the sender's reports.
    pub senders: Rate,
    /// For the receiver's reports.
    pub receivers: Rate,
}

/// Repair by the Simple Reed-Solomon scheme (RFC 6865).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Repair {
    /// The transport of repair packets.
    pub carrier: Carrier,
    /// The way in which a receiver finds the block of a source packet.
    pub source_id: SourceId,
    /// The length of the longest symbol.
    pub symbol_len: u16,
    /// The longest time that a block with its repair takes.
    pub window: Span,
}

/// The transport of repair packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carrier {
    /// As an RTP stream beside the media.
    Rtp {
        /// The payload type, 96 to 127.
        payload_type: u8,
        /// The SSRC of the repair stream.
        ssrc: u32,
    },
    /// Without RTP, to an address of their own.
    Bare {
        /// The address.
        to: SocketAddr,
    },
}

/// The way in which a receiver finds the block of a source packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceId {
    /// By the Explicit Source FEC Payload ID in the packet.
    Explicit,
    /// By the extension element of this id in the repair packets.
    Bounds {
        /// The id, 1 to 14.
        element: u8,
    },
}

/// The encoding name of a repair stream in `a=rtpmap`; no name is registered for RFC 6865 over RTP.
const REPAIR_ENCODING: &str = "vnd.thalweg.rsfec";
/// The encoding name of opaque datagrams in `a=rtpmap`.
const OPAQUE_ENCODING: &str = "vnd.thalweg.datagrams";
/// The default TTL of multicast (RFC 1112 §6.1).
pub const DEFAULT_TTL: u8 = 1;

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name: String = self.name.chars().filter(|c| !c.is_control()).collect();
        let name = if name.is_empty() { "-" } else { &name };
        write!(f, "v=0\r\no=- {} 1 {}\r\ns={name}\r\n", self.session, address(self.origin))?;
        // Here and not below m=: there ffmpeg 5 loses the address of an MP2T stream.
        write!(f, "c={}\r\nt=0 0\r\n", connection(self.to.ip(), self.ttl))?;
        if let Some(Repair { carrier: Carrier::Bare { .. }, .. }) = self.repair {
            f.write_str("a=group:FEC-FR S1 R1\r\n")?;
        }
        self.write_media(f)?;
        self.repair.map_or(Ok(()), |repair| self.write_repair(repair, f))
    }
}

impl Description {
    fn write_media(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, payload_type, encoding) = match self.payload {
            Payload::Mp2t => ("video", rtp::MP2T, "MP2T"),
            Payload::Opaque { payload_type } => ("application", payload_type, OPAQUE_ENCODING),
        };
        let profile = if self.feedback.is_some() { "RTP/AVPF" } else { "RTP/AVP" };
        write!(f, "m={kind} {} {profile} {payload_type}", self.to.port())?;
        if let Some(Repair { carrier: Carrier::Rtp { payload_type, .. }, .. }) = self.repair {
            write!(f, " {payload_type}")?;
        }
        f.write_str("\r\n")?;
        if let Some(FeedbackBandwidth { senders, receivers }) = self.feedback {
            write!(f, "b=RS:{}\r\nb=RR:{}\r\n", senders.as_bps(), receivers.as_bps())?;
        }
        write!(f, "a=rtpmap:{payload_type} {encoding}/{}\r\n", rtp::CLOCK_RATE)?;
        if self.feedback.is_some() {
            f.write_str("a=rtcp-mux\r\na=rtcp-rsize\r\na=rtcp-fb:* ack ccfb\r\n")?;
        }
        self.ssrc.map_or(Ok(()), |ssrc| self.write_source(ssrc, f))
    }

    fn write_repair(&self, repair: Repair, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a=fec-source-flow: id=0")?;
        match repair.source_id {
            SourceId::Explicit => write!(f, "; tag-len={}\r\n", PayloadId::LEN)?,
            SourceId::Bounds { element } => write!(f, "\r\na=extmap:{element} {}\r\n", BlockBounds::URI)?,
        }
        match repair.carrier {
            Carrier::Rtp { payload_type, ssrc } => {
                write!(f, "a=rtpmap:{payload_type} {REPAIR_ENCODING}/{}\r\n", rtp::CLOCK_RATE)?;
                self.write_source(ssrc, f)?;
                if let Some(source) = self.ssrc {
                    write!(f, "a=ssrc-group:FEC-FR {source} {ssrc}\r\n")?;
                }
            }
            Carrier::Bare { to } => {
                write!(f, "a=mid:S1\r\nm=application {} UDP/FEC *\r\n", to.port())?;
                write!(f, "c={}\r\na=mid:R1\r\n", connection(to.ip(), self.ttl))?;
            }
        }
        let info = SchemeInfo { symbol_len: repair.symbol_len, strict: false };
        write!(f, "a=fec-repair-flow: encoding-id={}; fssi={info}\r\n", fecframe::ENCODING_ID)?;
        write!(f, "a=repair-window:{}us\r\n", repair.window.as_micros().clamp(1, u32::MAX.into()))
    }

    fn write_source(&self, ssrc: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cname: String = self.cname.chars().filter(char::is_ascii_graphic).collect();
        write!(f, "a=ssrc:{ssrc} cname:{cname}\r\n")
    }
}

fn address(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => format!("IN IP4 {ip}"),
        IpAddr::V6(ip) => format!("IN IP6 {ip}"),
    }
}

fn connection(ip: IpAddr, ttl: u8) -> String {
    match ip {
        IpAddr::V4(group) if group.is_multicast() => format!("{}/{ttl}", address(ip)),
        _ => address(ip),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Description {
        Description {
            name: "Thalweg".into(),
            session: 1_122_334_455,
            origin: [192, 0, 2, 1].into(),
            to: ([198, 51, 100, 7], 6000).into(),
            ttl: DEFAULT_TTL,
            payload: Payload::Mp2t,
            ssrc: None,
            cname: "tha lweg".into(),
            feedback: None,
            repair: None,
        }
    }

    fn repaired(carrier: Carrier, source_id: SourceId) -> Description {
        Description {
            ssrc: Some(17),
            feedback: Some(FeedbackBandwidth { senders: Rate::from_bps(8000), receivers: Rate::from_bps(128_000) }),
            repair: Some(Repair { carrier, source_id, symbol_len: 1331, window: Span::from_millis(90) }),
            ..plain()
        }
    }

    #[test]
    fn description_without_repair_contains_only_rtp() {
        let expected = "v=0\r\no=- 1122334455 1 IN IP4 192.0.2.1\r\ns=Thalweg\r\nc=IN IP4 198.51.100.7\r\nt=0 0\r\n\
            m=video 6000 RTP/AVP 33\r\na=rtpmap:33 MP2T/90000\r\n";
        assert_eq!(plain().to_string(), expected);
    }

    #[test]
    fn repair_over_rtp_is_a_second_source_of_the_media_line() {
        let carrier = Carrier::Rtp { payload_type: 97, ssrc: 18 };
        let expected = "v=0\r\no=- 1122334455 1 IN IP4 192.0.2.1\r\ns=Thalweg\r\nc=IN IP4 198.51.100.7\r\nt=0 0\r\n\
            m=video 6000 RTP/AVPF 33 97\r\nb=RS:8000\r\nb=RR:128000\r\n\
            a=rtpmap:33 MP2T/90000\r\na=rtcp-mux\r\na=rtcp-rsize\r\na=rtcp-fb:* ack ccfb\r\na=ssrc:17 cname:thalweg\r\n\
            a=fec-source-flow: id=0; tag-len=6\r\n\
            a=rtpmap:97 vnd.thalweg.rsfec/90000\r\na=ssrc:18 cname:thalweg\r\na=ssrc-group:FEC-FR 17 18\r\n\
            a=fec-repair-flow: encoding-id=8; fssi=E:1331,S:0,m:8\r\na=repair-window:90000us\r\n";
        assert_eq!(repaired(carrier, SourceId::Explicit).to_string(), expected);
    }

    #[test]
    fn bare_repair_has_its_own_line_as_in_the_examples_of_rfc_6364() {
        let carrier = Carrier::Bare { to: ([198, 51, 100, 7], 6002).into() };
        let text = repaired(carrier, SourceId::Bounds { element: 1 }).to_string();
        let (session, media) = text.split_once("m=video").unwrap();
        let (source, repair) = media.split_once("m=application").unwrap();
        assert!(session.ends_with("a=group:FEC-FR S1 R1\r\n"));
        assert!(source.contains("a=fec-source-flow: id=0\r\na=extmap:1 urn:x-thalweg:rtp-hdrext:block-bounds\r\n"));
        assert!(source.ends_with("a=mid:S1\r\n"));
        let expected = " 6002 UDP/FEC *\r\nc=IN IP4 198.51.100.7\r\na=mid:R1\r\n\
            a=fec-repair-flow: encoding-id=8; fssi=E:1331,S:0,m:8\r\na=repair-window:90000us\r\n";
        assert_eq!(repair, expected);
    }

    #[test]
    fn addresses_are_written_as_in_rfc_8866() {
        let to = |to: &str| Description { to: to.parse().unwrap(), ttl: 127, ..plain() }.to_string();
        assert!(to("233.252.0.1:5004").contains("c=IN IP4 233.252.0.1/127\r\n"));
        assert!(to("[ff15::1]:5004").contains("c=IN IP6 ff15::1\r\n"));
        assert!(to("[2001:db8::1]:5004").contains("c=IN IP6 2001:db8::1\r\nt=0 0\r\nm=video 5004 RTP/AVP 33\r\n"));
    }

    #[test]
    fn line_breaks_in_a_name_are_removed() {
        let sly = Description { name: "a\r\na=sly".into(), ..plain() };
        assert!(sly.to_string().contains("s=aa=sly\r\n"));
        let nameless = Description { name: String::new(), ..plain() };
        assert!(nameless.to_string().contains("s=-\r\n"));
    }

    #[test]
    fn opaque_datagrams_have_a_dynamic_payload_type() {
        let opaque = Description { payload: Payload::Opaque { payload_type: 96 }, ..plain() };
        let expected = "m=application 6000 RTP/AVP 96\r\na=rtpmap:96 vnd.thalweg.datagrams/90000\r\n";
        assert!(opaque.to_string().ends_with(expected));
    }
}
