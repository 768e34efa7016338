//! Media as a length gives the same results as real bytes.

use std::collections::{BTreeMap, BTreeSet};

use thalweg_core::code::reed_solomon::{Encoder, decode};
use thalweg_core::law::redundancy::geneva::Geneva;
use thalweg_core::law::redundancy::geneva::{Parameters, State};
use thalweg_core::rng::Rng;
use thalweg_core::time::Time;
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::node::drop_tail::DropTail;
use thalweg_lab::node::loss::{Gilbert, Loss};
use thalweg_lab::node::queue::Limit;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::packet::{Body, HEADERS, Packet};
use thalweg_lab::path::Path;
use thalweg_lab::stream::Symbol;
use thalweg_lab::stream::scheme::Scheme;
use thalweg_lab::stream::sender::Config;

use crate::stream::pair::{Pair, Wrap, ms};

/// A symbol's header: sequence number, block, index, k, n.
const HEADER: usize = 8 + 8 + 2 + 2 + 2;
const SYMBOL: usize = 1500 - HEADERS.0 as usize - HEADER;

/// Packets with real bytes: random source symbols, repair symbols of the Reed-Solomon code, and a receiver that decodes
/// them.
struct Real {
    noise: Rng,
    /// Every symbol of each block as it was sent; the decoder uses the source symbols only to check its result.
    sent: BTreeMap<u64, Vec<Vec<u8>>>,
    came: BTreeMap<u64, (u16, BTreeMap<u8, Vec<u8>>)>,
    /// Numbers of the source packets of complete blocks that arrived or were decoded.
    recovered: BTreeSet<u64>,
    repaired: usize,
}

impl Real {
    fn new() -> Real {
        let (sent, came) = (BTreeMap::new(), BTreeMap::new());
        Real { noise: Rng::new(77), sent, came, recovered: BTreeSet::new(), repaired: 0 }
    }

    fn encode(&mut self, symbol: &Symbol) -> Vec<Vec<u8>> {
        let mut noise = || (0..SYMBOL).map(|_| self.noise.u32() as u8).collect::<Vec<u8>>();
        let source: Vec<Vec<u8>> = (0..symbol.k).map(|_| noise()).collect();
        let mut repair = vec![vec![0; SYMBOL]; usize::from(symbol.n - symbol.k)];
        let sources: Vec<&[u8]> = source.iter().map(Vec::as_slice).collect();
        let mut repairs: Vec<&mut [u8]> = repair.iter_mut().map(Vec::as_mut_slice).collect();
        Encoder::new(source.len()).expect("a block").encode(&sources, 0, &mut repairs).expect("equal lengths");
        source.into_iter().chain(repair).collect()
    }

    /// Completes every block before `newest`.
    fn finish(&mut self, newest: u64) {
        let later = self.came.split_off(&newest);
        for (block, (k, symbols)) in core::mem::replace(&mut self.came, later) {
            let missing: Vec<u8> = (0..k as u8).filter(|esi| !symbols.contains_key(esi)).collect();
            let received: Vec<(u8, &[u8])> = symbols.iter().map(|(esi, bytes)| (*esi, bytes.as_slice())).collect();
            let mut decoded = vec![vec![0; SYMBOL]; missing.len()];
            let mut results: Vec<&mut [u8]> = decoded.iter_mut().map(Vec::as_mut_slice).collect();
            let success = decode(usize::from(k), &received, &missing, &mut results).is_ok();
            let originals = &self.sent[&block];
            for (esi, bytes) in missing.iter().zip(&decoded).filter(|_| success) {
                assert_eq!(bytes, &originals[usize::from(*esi)]);
                self.recovered.insert(block + u64::from(*esi));
                self.repaired += 1;
            }
            self.recovered.extend(symbols.keys().filter(|esi| u16::from(**esi) < k).map(|esi| block + u64::from(*esi)));
        }
    }
}

impl Wrap for Real {
    fn wrap(&mut self, packet: Packet) -> Packet {
        let Body::Media(symbol) = packet.body else { panic!("a stream's packet") };
        if symbol.index == 0 {
            let block = self.encode(&symbol);
            self.sent.insert(symbol.block, block);
        }
        let mut payload = [symbol.sequence, symbol.block].map(u64::to_be_bytes).concat();
        payload.extend([symbol.index, symbol.k, symbol.n].map(u16::to_be_bytes).concat());
        payload.extend(&self.sent[&symbol.block][usize::from(symbol.index)]);
        Packet::datagram(packet.flow, payload)
    }

    fn unwrap(&mut self, packet: Packet) -> Packet {
        let Body::Datagram(payload) = &packet.body else { panic!("real bytes") };
        let (header, bytes) = payload.split_at(HEADER);
        let long = |at: usize| u64::from_be_bytes(header[at..at + 8].try_into().expect("eight bytes"));
        let short = |at: usize| u16::from_be_bytes(header[at..at + 2].try_into().expect("two bytes"));
        let symbol = Symbol { sequence: long(0), block: long(8), index: short(16), k: short(18), n: short(20) };
        self.finish(symbol.block);
        let (_, symbols) = self.came.entry(symbol.block).or_insert_with(|| (symbol.k, BTreeMap::new()));
        symbols.insert(symbol.index as u8, bytes.to_vec());
        Packet { flow: packet.flow, size: packet.size, body: Body::Media(symbol) }
    }
}

/// A bottleneck that is too narrow at times, and bursts of loss behind it.
fn forward(seed: u64) -> Path {
    let gilbert = Gilbert { to_bad: 0.01, to_good: 0.15, loss_bad: 0.8, loss_good: 0.002 };
    Path::default()
        .then("bottleneck", DropTail::new(Rate::from_mbps(45), Limit::Packets(30)))
        .then("loss", Loss::bursts(gilbert, Rng::new(seed)))
        .then("wire", Wire::new(ms(10)))
}

fn reverse(seed: u64) -> Path {
    Path::default().then("loss", Loss::independent(0.05, Rng::new(seed))).then("wire", Wire::new(ms(10)))
}

#[test]
fn real_bytes_through_the_real_code_give_the_same_stream_and_recover_the_same_packets() {
    for (seed, state, mbps) in [(1, State::Integer, 30), (2, State::Real, 25), (3, State::Integer, 25)] {
        let config = Config {
            rate: Rate::from_mbps(mbps),
            scheme: Scheme::blocks(
                Geneva::new(Parameters { state, ..Parameters::default() }).expect("the paper's parameters"),
            ),
            ..Config::default()
        };
        let mut lengths = Pair::new(config.clone(), forward(seed), reverse(seed));
        let mut real = Pair::wrapped(config, forward(seed), reverse(seed), Real::new());
        for tick in 1..=300 {
            let now = Time::ZERO + ms(10 * tick);
            lengths.until(now);
            real.until(now);
            // The law, its window, the packets sent and the packets lost.
            assert_eq!(lengths.sender, real.sender, "seed {seed}, {now:?}");
            assert_eq!(lengths.receiver, real.receiver, "seed {seed}, {now:?}");
            // The count by lengths is what the code has really recovered.
            let received = lengths.receiver.received();
            let decoded = real.wrap.recovered.range(..received.source).count() as u64;
            assert_eq!(received.recovered, decoded, "seed {seed}, {now:?}");
        }
        let received = lengths.receiver.received();
        assert!(real.wrap.repaired > 50, "{}", real.wrap.repaired);
        assert!(received.residual() > 0 && received.bursts > 0, "{received:?}");
        assert!(lengths.sender.sent().mean_window() > 8.0);
        assert_eq!(Bytes(1500), HEADERS + Bytes((HEADER + SYMBOL) as u64));
    }
}
