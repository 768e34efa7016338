//! The conditions that the paper varies: the path, the competing TCP, and the protection of the streams.

use thalweg_core::law::redundancy::geneva::State;

use crate::figure::Subject;
use crate::page::Tone;

/// A path and the traffic that competes on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Condition {
    /// Fig. 2: one stream of 30 Mb/s beside short-lived TCP on a link of 100 Mb/s.
    OneStream {
        /// RTTmin, ms.
        rtt_ms: u32,
    },
    /// Figs. 8, 9, 10: ten streams of 30 Mb/s beside long-lived TCP on a link of 1 Gb/s.
    LongTcp {
        /// RTTmin, ms.
        rtt_ms: u32,
        /// The number of TCP flows.
        n_tcp: u32,
        /// The choices that the paper leaves open.
        reading: Reading,
    },
    /// Table 1, Fig. 11: ten streams of 30 Mb/s beside short-lived TCP with a load of 500 Mb/s on a link of 1 Gb/s.
    ShortTcp {
        /// RTTmin, ms.
        rtt_ms: u32,
        /// The arrivals of transfers.
        arrivals: Arrivals,
    },
    /// Table 2, Fig. 12: streams of 30, 60 and 90 Mb/s beside 200 long-lived TCP flows at an RTTmin of 10 ms.
    MixedRates,
}

/// The choices that the paper leaves open, besides the state of the window, that decide whether windows stay small.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Reading {
    /// The acknowledgement policy of TCP.
    pub acks: Acks,
    /// The packets by which a stream's round-trip time is measured.
    pub srtt: RoundTrip,
}

/// The phases in which packets of equal streams arrive at the link; the paper does not state their start times and
/// delays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Phases {
    /// Starts within 2 s, access delays within 1 ms: every stream meets the queue at different times.
    #[default]
    Apart,
    /// Equal start times and delays: as long as two streams have the same spacing, their packets arrive back to back,
    /// and if the queue is full it is always the same stream that loses.
    Together,
}

/// The choices about the path and TCP that the paper leaves open, for a whole evaluation: one reading of the paper,
/// except for the state of the window.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Setting {
    /// The phases in which packets of equal streams arrive at the link.
    pub phases: Phases,
    /// Queues of 50 packets, ns-2's default limit, instead of min(BDP, 2048).
    pub short_queue: bool,
    /// An acknowledgement for each segment, as ns-2's sinks send by default, instead of one for every two.
    pub plain_acks: bool,
    /// A minimum retransmission timeout of 1 s, ns-2's default before October 2004, instead of 0.2 s.
    pub long_timeout: bool,
}

impl Setting {
    /// The setting that `Reading::CHOSEN` belongs to.
    pub const CHOSEN: Setting =
        Setting { phases: Phases::Apart, short_queue: false, plain_acks: false, long_timeout: false };
    /// Streams in phase.
    pub const TOGETHER: Setting = Setting { phases: Phases::Together, ..Setting::CHOSEN };
    /// ns-2's default queue and acknowledgements.
    pub const SHORT_QUEUE: Setting = Setting { short_queue: true, plain_acks: true, ..Setting::CHOSEN };
    /// ns-2's former timeout.
    pub const LONG_TIMEOUT: Setting = Setting { long_timeout: true, ..Setting::CHOSEN };

    /// The settings that follow from ns-2's defaults.
    pub const OF_NS2: [Setting; 5] = [
        Setting::SHORT_QUEUE,
        Setting::LONG_TIMEOUT,
        Setting { plain_acks: true, ..Setting::LONG_TIMEOUT },
        Setting { long_timeout: true, ..Setting::SHORT_QUEUE },
        Setting { phases: Phases::Together, ..Setting::LONG_TIMEOUT },
    ];

    /// The packets of the queue on a link of 1 Gb/s.
    pub fn queue_packets(self, rtt_ms: u32) -> f64 {
        if self.short_queue { 50.0 } else { (1000.0 * f64::from(rtt_ms) / 12.0).min(2048.0) }
    }
}

/// The acknowledgement policy of TCP.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Acks {
    /// An acknowledgement for every second segment (RFC 1122 §4.2.3.2).
    Delayed,
    /// An acknowledgement for each segment.
    Plain,
}

/// The packets by which a stream's round-trip time is measured: "keeping pairs of the sequence number and its
/// transmitted time, a sender calculates" SRTT (§3.2.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RoundTrip {
    /// The mean of all packets that a report covers: includes half a SYN of waiting on average.
    Mean,
    /// The newest packet that a report covers: includes no waiting.
    Newest,
}

impl Reading {
    /// The reading under which the results come closest to the paper's; [`super::lockin`] shows the others.
    pub const CHOSEN: Reading = Reading { acks: Acks::Delayed, srtt: RoundTrip::Mean };

    /// The other readings.
    pub const OTHERS: [Reading; 3] = [
        Reading { acks: Acks::Delayed, srtt: RoundTrip::Newest },
        Reading { acks: Acks::Plain, srtt: RoundTrip::Mean },
        Reading { acks: Acks::Plain, srtt: RoundTrip::Newest },
    ];
}

impl core::fmt::Display for Reading {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self.acks {
            Acks::Delayed => "delayed ACKs, ",
            Acks::Plain => "plain ACKs, ",
        })?;
        f.write_str(match self.srtt {
            RoundTrip::Mean => "SRTT of the mean packet",
            RoundTrip::Newest => "SRTT of the newest packet",
        })
    }
}

/// `r_tcp`: the arrival rate of short-lived transfers (§4.2.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Arrivals {
    /// 12.5 per second, of 3333.3 packets on average.
    Rare,
    /// 25 per second, of 1666.7 packets on average.
    Frequent,
}

impl Arrivals {
    /// Transfers per second.
    pub const fn per_second(self) -> f64 {
        match self {
            Arrivals::Rare => 12.5,
            Arrivals::Frequent => 25.0,
        }
    }
}

/// The protection of the streams (§2.2, §4.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scheme {
    /// GENEVA with a window that is a whole number after every report.
    GenevaInteger,
    /// GENEVA with a window that keeps its fraction.
    GenevaReal,
    /// Small Static-FEC: Fwnd_min, 8 repair packets per block.
    Static8,
    /// Large Static-FEC: 1.5 Fwnd_min, 12 repair packets per block.
    Static12,
    /// A stand-in for DP-FEC, which the paper only outlines: no result says anything about DP-FEC itself.
    DpFec,
    /// TFRC, at most the media rate.
    Tfrc,
    /// Plain UDP.
    Udp,
}

impl Scheme {
    /// The schemes that compete in §4, with both readings of GENEVA's window.
    pub const COMPARED: [Scheme; 5] =
        [Scheme::GenevaInteger, Scheme::GenevaReal, Scheme::Static8, Scheme::Static12, Scheme::DpFec];

    /// The schemes that run under every setting: those of §4 (GENEVA with the integer state only), and TFRC, the
    /// reference of TPindex.
    pub(super) const IN_EVERY_PHASE: [Scheme; 5] =
        [Scheme::GenevaInteger, Scheme::Static8, Scheme::Static12, Scheme::DpFec, Scheme::Tfrc];

    /// GENEVA with this state of its window.
    pub const fn geneva(state: State) -> Scheme {
        match state {
            State::Integer => Scheme::GenevaInteger,
            State::Real => Scheme::GenevaReal,
        }
    }

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Scheme::GenevaInteger => "GENEVA, integer state",
            Scheme::GenevaReal => "GENEVA, real state",
            Scheme::Static8 => "small static FEC (8)",
            Scheme::Static12 => "large static FEC (12)",
            Scheme::DpFec => "DP-FEC stand-in",
            Scheme::Tfrc => "TFRC",
            Scheme::Udp => "UDP",
        }
    }

    /// The values of the scenarios' parameters `scheme` and `state`.
    pub(super) const fn settings(self) -> (&'static str, &'static str) {
        match self {
            Scheme::GenevaInteger => ("geneva", "integer"),
            Scheme::GenevaReal => ("geneva", "real"),
            Scheme::Static8 => ("static8", "auto"),
            Scheme::Static12 => ("static12", "auto"),
            Scheme::DpFec => ("dp-fec", "auto"),
            Scheme::Tfrc => ("tfrc", "auto"),
            Scheme::Udp => ("udp", "auto"),
        }
    }
}

impl Subject for Scheme {
    fn name(self) -> &'static str {
        Scheme::name(self)
    }

    fn tone(self) -> Tone {
        Tone(match self {
            Scheme::GenevaInteger => 2,
            Scheme::GenevaReal => 3,
            Scheme::Static8 | Scheme::Udp => 1,
            Scheme::Static12 => 0,
            Scheme::DpFec => 5,
            Scheme::Tfrc => 4,
        })
    }
}

impl Condition {
    /// Long-lived TCP under the chosen reading.
    pub const fn long(rtt_ms: u32, n_tcp: u32) -> Condition {
        Condition::LongTcp { rtt_ms, n_tcp, reading: Reading::CHOSEN }
    }

    /// The choices that the paper leaves open.
    pub const fn reading(self) -> Reading {
        match self {
            Condition::LongTcp { reading, .. } => reading,
            Condition::OneStream { .. } | Condition::ShortTcp { .. } | Condition::MixedRates => Reading::CHOSEN,
        }
    }

    /// RTTmin, ms.
    pub const fn rtt_ms(self) -> u32 {
        match self {
            Condition::OneStream { rtt_ms }
            | Condition::LongTcp { rtt_ms, .. }
            | Condition::ShortTcp { rtt_ms, .. } => rtt_ms,
            Condition::MixedRates => 10,
        }
    }

    /// The number of long-lived TCP flows; none if flows arrive and end.
    pub const fn n_tcp(self) -> Option<u32> {
        match self {
            Condition::LongTcp { n_tcp, .. } => Some(n_tcp),
            Condition::MixedRates => Some(200),
            Condition::OneStream { .. } | Condition::ShortTcp { .. } => None,
        }
    }

    /// True if one of Figs. 10, 11 and 12 traces this condition.
    pub fn is_traced(self) -> bool {
        match self {
            Condition::LongTcp { rtt_ms, n_tcp, reading } => {
                [(10, 200), (100, 700)].contains(&(rtt_ms, n_tcp)) && reading == Reading::CHOSEN
            }
            Condition::ShortTcp { rtt_ms, arrivals } => rtt_ms == 10 && arrivals == Arrivals::Frequent,
            Condition::MixedRates => true,
            Condition::OneStream { .. } => false,
        }
    }

    /// The scenario's name and text.
    pub(super) const fn scenario(self) -> (&'static str, &'static str) {
        macro_rules! scenario {
            ($file:literal) => {
                (concat!("papers/", $file), include_str!(concat!("../../../scenarios/papers/", $file)))
            };
        }
        match self {
            Condition::OneStream { .. } => scenario!("geneva-s0.toml"),
            Condition::LongTcp { .. } => scenario!("geneva-s1.toml"),
            Condition::ShortTcp { .. } => scenario!("geneva-s2.toml"),
            Condition::MixedRates => scenario!("geneva-s3.toml"),
        }
    }
}

impl core::fmt::Display for Condition {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Condition::OneStream { rtt_ms } => write!(f, "one stream, {rtt_ms} ms"),
            Condition::LongTcp { rtt_ms, n_tcp, reading: Reading::CHOSEN } => write!(f, "{n_tcp} TCP, {rtt_ms} ms"),
            Condition::LongTcp { rtt_ms, n_tcp, reading } => write!(f, "{n_tcp} TCP, {rtt_ms} ms, {reading}"),
            Condition::ShortTcp { rtt_ms, arrivals } => write!(f, "{} transfers/s, {rtt_ms} ms", arrivals.per_second()),
            Condition::MixedRates => f.write_str("mixed rates, 200 TCP, 10 ms"),
        }
    }
}
