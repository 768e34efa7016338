//! The description of a stream for other implementations.

use core::net::IpAddr;

use super::{Sender, SourceId};
use crate::session::MAX_DATAGRAM;
use crate::session::live::{MAX_PAYLOAD, Media, OPAQUE, REPORT_INTERVAL};
use crate::session::rtp::cname;
use crate::units::{Bytes, Rate};
use crate::wire::fecframe::Adui;
use crate::wire::rtp;
use crate::wire::sdp::{self, Carrier, Description, FeedbackBandwidth, Payload};

impl Sender {
    /// Describes the session, sent from `origin`. A plain session is described as RTP and nothing else, for receivers
    /// that know no more.
    pub fn description(&self, origin: IpAddr) -> Description {
        let plain = self.config.source_id == SourceId::Plain;
        let payload = match self.config.media {
            Media::Mp2t => Payload::Mp2t,
            Media::Opaque => Payload::Opaque { payload_type: OPAQUE },
        };
        // No report is longer than a datagram.
        let report_every = |interval| Rate::of(Bytes(MAX_DATAGRAM as u64), interval);
        let feedback = FeedbackBandwidth {
            senders: report_every(REPORT_INTERVAL),
            receivers: report_every(self.protection.interval()),
        };
        Description {
            name: "Thalweg".to_owned(),
            session: self.streams.source.ssrc.into(),
            origin,
            to: self.config.to,
            ttl: sdp::DEFAULT_TTL,
            payload,
            ssrc: Some(self.streams.source.ssrc).filter(|_| !plain),
            cname: cname(self.streams.source.ssrc),
            feedback: Some(feedback).filter(|_| !plain),
            repair: Some(self.describe_repair()).filter(|_| !plain && !self.protection.is_none()),
        }
    }

    fn describe_repair(&self) -> sdp::Repair {
        let beside = Carrier::Rtp { payload_type: self.streams.repair.payload_type, ssrc: self.streams.repair.ssrc };
        sdp::Repair {
            carrier: self.config.fec_to.map_or(beside, |to| Carrier::Bare { to }),
            source_id: sdp::SourceId::Explicit,
            symbol_len: (Adui::OVERHEAD + rtp::HEADER_LEN + MAX_PAYLOAD) as u16,
            window: self.latency(),
        }
    }
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use super::super::{Breaker, Config};
    use super::*;
    use crate::law::redundancy::fixed::Fixed;
    use crate::rng::Rng;
    use crate::time::{Span, Time};

    fn describe(source_id: SourceId) -> String {
        let config = Config {
            to: ([192, 0, 2, 7], 6000).into(),
            listens: false,
            fec_to: None,
            media: Media::Mp2t,
            repair: Fixed::new(5).into(),
            latency: Span::from_millis(90).into(),
            max_rate: None,
            rate: None,
            block: None,
            source_id,
            breaker: Breaker::RepairFirst,
            answer_timeout: None,
        };
        Sender::new(config, Time::ZERO, &Rng::new(1)).description(Ipv4Addr::LOCALHOST.into()).to_string()
    }

    #[test]
    fn repaired_stream_announces_its_scheme_and_rtcp_bandwidth() {
        let text = describe(SourceId::Explicit);
        assert!(text.contains("m=video 6000 RTP/AVPF 33 97\r\n"), "{text}");
        // 1500 bytes in 10 ms.
        assert!(text.contains("b=RR:1200000\r\n"), "{text}");
        assert!(text.contains("a=fec-repair-flow: encoding-id=8; fssi=E:1415,S:0,m:8\r\n"), "{text}");
    }

    #[test]
    fn a_plain_stream_is_plain_rtp() {
        let text = describe(SourceId::Plain);
        assert!(text.ends_with("m=video 6000 RTP/AVP 33\r\na=rtpmap:33 MP2T/90000\r\n"), "{text}");
    }
}
