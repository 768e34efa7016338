//! What the paper varies: the path, the competing TCP, and how the streams are protected.

use thalweg_core::law::redundancy::geneva::State;

use crate::paper::figure::Subject;

/// A path and what competes on it.
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
        /// TCP flows.
        n_tcp: u32,
        /// What the paper leaves open.
        reading: Reading,
    },
    /// Table 1, Fig. 11: ten streams of 30 Mb/s beside short-lived TCP with a load of 500 Mb/s on a link of 1 Gb/s.
    ShortTcp {
        /// RTTmin, ms.
        rtt_ms: u32,
        /// How often a transfer comes.
        arrivals: Arrivals,
    },
    /// Table 2, Fig. 12: streams of 30, 60 and 90 Mb/s beside 200 long-lived TCP flows at an RTTmin of 10 ms.
    MixedRates,
}

/// What the paper leaves open, besides the state of the window, and what decides whether windows stay small.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Reading {
    /// How TCP acknowledges.
    pub acks: Acks,
    /// Which packet a stream's round trip is measured by.
    pub srtt: RoundTrip,
}

/// How packets of equal streams come to the link: of their starts and delays the paper says nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Phases {
    /// Starts within 2 s, access delays within 1 ms: every stream meets the queue at its own moments.
    #[default]
    Apart,
    /// All at once, over equal delays: as long as two streams have the same spacing, their packets come back to back, and
    /// where the queue is full it is the same stream that loses.
    Together,
}

/// Choices that the paper leaves open about the path and TCP, for a whole evaluation: the state of the window aside,
/// one reading of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Setting {
    /// Phases in which packets of equal streams come to the link.
    pub phases: Phases,
    /// Queues of 50 packets, ns-2's default limit, instead of min(BDP, 2048).
    pub short_queue: bool,
    /// An acknowledgement for each segment, as ns-2's sinks send them by default, instead of one for two.
    pub plain_acks: bool,
    /// A least retransmission timeout of 1 s, ns-2's default before October 2004, instead of 0.2 s.
    pub long_timeout: bool,
}

impl Setting {
    /// The one that `Reading::CHOSEN` belongs to.
    pub const CHOSEN: Setting =
        Setting { phases: Phases::Apart, short_queue: false, plain_acks: false, long_timeout: false };
    /// Streams in phase.
    pub const TOGETHER: Setting = Setting { phases: Phases::Together, ..Setting::CHOSEN };
    /// ns-2's default queue and acknowledgements.
    pub const SHORT_QUEUE: Setting = Setting { short_queue: true, plain_acks: true, ..Setting::CHOSEN };
    /// ns-2's former timeout.
    pub const LONG_TIMEOUT: Setting = Setting { long_timeout: true, ..Setting::CHOSEN };

    /// Those that ns-2's defaults speak for.
    pub const OF_NS2: [Setting; 5] = [
        Setting::SHORT_QUEUE,
        Setting::LONG_TIMEOUT,
        Setting { plain_acks: true, ..Setting::LONG_TIMEOUT },
        Setting { long_timeout: true, ..Setting::SHORT_QUEUE },
        Setting { phases: Phases::Together, ..Setting::LONG_TIMEOUT },
    ];

    /// Packets of the queue on a link of 1 Gb/s.
    pub fn queue_packets(self, rtt_ms: u32) -> f64 {
        if self.short_queue { 50.0 } else { (1000.0 * f64::from(rtt_ms) / 12.0).min(2048.0) }
    }
}

/// How TCP acknowledges.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Acks {
    /// Every second segment (RFC 1122 §4.2.3.2).
    Delayed,
    /// Each segment.
    Plain,
}

/// Which packet a stream's round trip is measured by: "keeping pairs of the sequence number and its transmitted time, a
/// sender calculates" SRTT (§3.2.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RoundTrip {
    /// All that a report covers, on average: half a SYN of waiting counts.
    Mean,
    /// The newest that a report covers: no waiting counts.
    Newest,
}

impl Reading {
    /// The reading under which the paper's results come out best; [`super::lockin`] shows the others.
    pub const CHOSEN: Reading = Reading { acks: Acks::Delayed, srtt: RoundTrip::Mean };

    /// The others.
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

/// `r_tcp`: how often a short-lived transfer comes (§4.2.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Arrivals {
    /// 12.5 a second, of 3333.3 packets on average.
    Rare,
    /// 25 a second, of 1666.7 packets on average.
    Frequent,
}

impl Arrivals {
    /// Transfers a second.
    pub const fn per_second(self) -> f64 {
        match self {
            Arrivals::Rare => 12.5,
            Arrivals::Frequent => 25.0,
        }
    }
}

/// How the streams are protected (§2.2, §4.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Scheme {
    /// GENEVA whose window is whole after every report.
    GenevaInteger,
    /// GENEVA whose window keeps its fraction.
    GenevaReal,
    /// Small Static-FEC: Fwnd_min, 8 repair packets a block.
    Static8,
    /// Large Static-FEC: 1.5 Fwnd_min, 12 repair packets a block.
    Static12,
    /// A stand-in, of which no result says anything about DP-FEC itself: the paper only outlines it.
    DpFec,
    /// TFRC, at most the media rate.
    Tfrc,
    /// Plain UDP.
    Udp,
}

impl Scheme {
    /// What competes in §4, both readings of GENEVA's window among it.
    pub const COMPARED: [Scheme; 5] =
        [Scheme::GenevaInteger, Scheme::GenevaReal, Scheme::Static8, Scheme::Static12, Scheme::DpFec];

    /// What competes in §4, and TFRC, which TPindex compares with.
    pub(super) const IN_EVERY_PHASE: [Scheme; 5] =
        [Scheme::GenevaInteger, Scheme::Static8, Scheme::Static12, Scheme::DpFec, Scheme::Tfrc];

    /// GENEVA with this state of its window.
    pub const fn geneva(state: State) -> Scheme {
        match state {
            State::Integer => Scheme::GenevaInteger,
            State::Real => Scheme::GenevaReal,
        }
    }

    /// What reports call it.
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
}

impl Condition {
    /// Long-lived TCP under the chosen reading.
    pub const fn long(rtt_ms: u32, n_tcp: u32) -> Condition {
        Condition::LongTcp { rtt_ms, n_tcp, reading: Reading::CHOSEN }
    }

    /// What the paper leaves open.
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

    /// Long-lived TCP flows; none where they come and go.
    pub const fn n_tcp(self) -> Option<u32> {
        match self {
            Condition::LongTcp { n_tcp, .. } => Some(n_tcp),
            Condition::MixedRates => Some(200),
            Condition::OneStream { .. } | Condition::ShortTcp { .. } => None,
        }
    }

    /// Whether one of Figs. 10, 11 and 12 traces it.
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

    /// The scenario: its name, and its text.
    pub(super) const fn scenario(self) -> (&'static str, &'static str) {
        macro_rules! scenario {
            ($file:literal) => {
                (concat!("papers/", $file), include_str!(concat!("../../../../scenarios/papers/", $file)))
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
