//! Comparisons of Thalweg and its rivals, in one run on one machine: contestants take turns, so that a noisy machine
//! disturbs all alike, and medians are shown.
//!
//! Streams ([`stream`]) are measured from outside: a [`source`] and a [`sink`] on loopback, real processes
//! ([`program`]) between them, and a passive relay ([`tap`]) if packets on the wire are measured. A [`cell`] is the set
//! of conditions that several contestants share; they take their [`turns`] in it, and [`bars`] say whether their
//! results, the [`column`](mod@column)s, hold. A process that runs to completion is a [`job`], such as a run of a
//! [`simulator`].
//!
//! Lossless transports ([`carrier`]) carry the bytes of programs between two [`place`]s with an emulated path
//! between them ([`cable`]), or on loopback.
//!
//! Decisions of a law in a stream through losses are timed without sockets ([`mod@deadline`]).
//!
//! Video servers over HTTP ([`site`]) are measured from one client ([`http`]) or many ([`players`]), those over [`rtsp`] from
//! many [`viewers`].

pub mod attempt;
pub mod bars;
pub mod bursts;
pub mod cable;
pub mod carrier;
pub mod cell;
pub mod certificate;
pub mod column;
pub mod connection;
pub mod contestant;
pub mod deadline;
pub mod flow;
pub mod forwarder;
pub mod gaps;
pub mod http;
pub mod isal;
pub mod job;
pub mod passage;
pub mod place;
pub mod players;
pub mod program;
pub mod quic;
pub mod race;
pub mod report;
pub mod rtsp;
pub mod scrap;
pub mod simulator;
pub mod sink;
pub mod site;
pub mod source;
pub mod stalls;
pub mod statistics;
pub mod stream;
pub mod tap;
pub mod turns;
pub mod udp;
pub mod viewers;

/// Pseudorandom bytes (SplitMix64's step).
pub fn noise(seed: &mut u64, len: usize) -> Vec<u8> {
    let mut byte = || {
        *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        ((*seed ^ *seed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 56) as u8
    };
    (0..len).map(|_| byte()).collect()
}
