//! Thalweg's protocol: laws, codes, wire formats and sessions.
//!
//! This crate owns no socket, no clock, no thread and no global source of randomness. Time is a parameter, randomness a
//! forked [`rng::Rng`], and the same object runs in the lab and on the socket.
//!
//! # Five verbs
//!
//! A session is a value with the five methods of [`session::Session`]:
//!
//! | verb | meaning |
//! |---|---|
//! | `handle_datagram(now, from, bytes)` | takes a datagram that has arrived |
//! | `handle_timeout(now)` | takes note that the time of `poll_timeout` has come |
//! | `poll_transmit(now, buf)` | writes the next datagram to send |
//! | `poll_timeout()` | the time of the next `handle_timeout` |
//! | `poll_event()` | the next event for the application |
//!
//! After each `handle_*` the caller drains the `poll_*`. `examples/live.rs` of `thalweg-net` is such a caller, 25 lines
//! for two sessions. A session adds what its applications need: a live sender takes media, a tunnel has connections.
//!
//! # Three questions
//!
//! A sender answers three questions. Each is a trait in [`law`], and each published answer is a file that reads like its
//! paper:
//!
//! | question | trait | answers |
//! |---|---|---|
//! | How fast may I send? | [`law::rate::Allowance`], [`law::window::CongestionWindow`] | a fixed rate, [TFRC](law::rate::tfrc), [GCA](law::rate::gca), [NADA](law::rate::nada); [CUBIC](law::window::cubic), [Copa](law::window::copa), [TCP Stream](law::window::tcp_stream) and others |
//! | How much do I protect? | [`law::redundancy::Redundancy`] | none, static, [GENEVA](law::redundancy::geneva) |
//! | What goes into the next packet? | [`law::schedule::Schedule`] | [ARQ](law::schedule::arq), [cost-based](law::schedule::cost_based), [Thalweg's own](law::schedule::adaptive) |
//!
//! # Where to begin
//!
//! - For a law alone: [`law::rate::tfrc`], with `examples/tfrc.rs`, or [`law::redundancy::geneva`], a law of 200 lines.
//! - For live media (feature `media`): [`session::live`](session), then its `sender` and `receiver`.
//! - For a lossless stream: [`session::stream`]; with connections and encryption (feature `secure`) `session::tunnel`.
//! - For the erasure codes: [`code::reed_solomon`] for blocks, [`code::rlc`] for a sliding window.
//! - For a format: its file in [`wire`], which begins with the table of its fields.
//!
//! `docs/design.md` of the repository has all modules, and a law added step by step.
//!
//! # Compatibility
//!
//! Errors and events may gain variants and are non-exhaustive. Configurations may gain fields: begin with `default()` or
//! `new(...)` and name the fields that differ, as in `Config { latency, ..Config::default() }`.
#![forbid(unsafe_code)]

pub mod code;
pub mod law;
pub mod loss_timer;
pub mod metric;
pub mod probe;
mod quantity;
pub mod rng;
pub mod rtt;
pub mod session;
pub mod time;
pub mod units;
pub mod video;
mod windowed_min;
pub mod wire;

/// The example of README.md, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
