//! Decoding of a block that is lost in part.

use super::super::window::Origin;
use super::*;
use crate::code::reed_solomon::Encoder;
use crate::time::Span;
use crate::wire::fecframe::Adui;
use crate::wire::rtp;

/// Sequence number of the first source packet.
const FIRST: u64 = 1000;
/// Bytes of a symbol: the ADUI of the longest packet.
const SYMBOL: usize = Adui::OVERHEAD + rtp::HEADER_LEN + 12;

/// A block of packets of three lengths with its repair, and a receiver's state of it.
struct Fixture {
    packets: Vec<Vec<u8>>,
    aduis: Vec<Vec<u8>>,
    repair: Vec<Vec<u8>>,
    window: Window,
    decoder: Decoder,
}

impl Fixture {
    fn new(k: usize, repairs: usize) -> Fixture {
        let packet = |at: usize| {
            let mut packet = vec![at as u8 + 1; rtp::HEADER_LEN + 10 + at % 3];
            rtp::Header { sequence: FIRST as u16 + at as u16, ..rtp::Header::default() }.emit(&[], &mut packet);
            packet
        };
        let packets: Vec<_> = (0..k).map(packet).collect();
        let mut aduis = vec![vec![0; SYMBOL]; k];
        for (symbol, adu) in aduis.iter_mut().zip(&packets) {
            Adui { flow: 0, adu }.emit(symbol);
        }
        let sources: Vec<&[u8]> = aduis.iter().map(|adui| &adui[..]).collect();
        let mut repair = vec![vec![0; SYMBOL]; repairs];
        let mut targets: Vec<&mut [u8]> = repair.iter_mut().map(|symbol| &mut symbol[..]).collect();
        Encoder::new(k).expect("a small block").encode(&sources, 0, &mut targets).expect("it fits");
        Fixture { packets, aduis, repair, window: Window::new(FIRST), decoder: Decoder::default() }
    }

    fn id(&self, esi: usize) -> PayloadId {
        PayloadId { sbn: 7, esi: esi as u8, k: self.packets.len() as u8 }
    }

    /// Receives source packet `at`, with its ID or without.
    fn source(&mut self, at: usize, with_id: bool) {
        let sequence = FIRST + at as u64;
        self.window.insert(Time::ZERO, sequence, &self.packets[at], Time::ZERO, Origin::Path);
        let id = with_id.then(|| self.id(at));
        self.decoder.on_source(Time::ZERO, sequence, id, &self.window);
    }

    /// Receives repair packet `nth`, with the block's bounds or without.
    fn repair(&mut self, nth: usize, bounds: Option<BlockBounds>) {
        let (id, bounds) = (self.id(self.packets.len() + nth), bounds.map(|bounds| (bounds, FIRST)));
        self.decoder.on_repair(Time::ZERO, id, &self.repair[nth], bounds, &self.window);
    }

    /// Symbols recovered since the last call, sorted by content.
    fn recovered(&mut self) -> Vec<Vec<u8>> {
        let mut all: Vec<_> = core::iter::from_fn(|| self.decoder.pop_recovered()).collect();
        all.sort();
        all
    }

    fn expected(&self, lost: &[usize]) -> Vec<Vec<u8>> {
        let mut all: Vec<_> = lost.iter().map(|&at| self.aduis[at].clone()).collect();
        all.sort();
        all
    }
}

#[test]
fn kth_symbol_recovers_the_block_whether_source_or_repair() {
    for last_is_source in [false, true] {
        let mut fixture = Fixture::new(5, 3);
        fixture.source(0, true);
        fixture.source(4, true);
        fixture.repair(2, None);
        fixture.repair(0, None);
        assert_eq!(fixture.recovered(), [[0; 0]; 0], "four of five");
        let lost: &[usize] = if last_is_source { &[1, 3] } else { &[1, 2, 3] };
        if last_is_source {
            fixture.source(2, true);
        } else {
            fixture.repair(1, None);
        }
        assert_eq!(fixture.recovered(), fixture.expected(lost));
        fixture.source(1, true);
        fixture.repair(1, None);
        assert_eq!(fixture.recovered(), [[0; 0]; 0], "a block is recovered once");
    }
}

#[test]
fn block_bounds_in_repair_packets_locate_plain_source_packets() {
    let mut fixture = Fixture::new(6, 2);
    let bounds = BlockBounds { base: FIRST as u16, stride: 1 };
    for at in [0, 1, 3] {
        fixture.source(at, false);
    }
    fixture.repair(1, Some(bounds));
    assert_eq!(fixture.recovered(), [[0; 0]; 0]);
    fixture.source(5, false);
    fixture.repair(0, Some(bounds));
    assert_eq!(fixture.recovered(), fixture.expected(&[2, 4]));
}

#[test]
fn duplicates_and_symbols_of_other_blocks_are_ignored() {
    let mut fixture = Fixture::new(3, 2);
    fixture.source(0, true);
    fixture.source(0, true);
    fixture.repair(0, None);
    fixture.repair(0, None);
    let (mut other_size, other_length) = (fixture.id(4), fixture.id(4));
    other_size.k = 4;
    let (symbol, short) = (fixture.repair[1].clone(), fixture.repair[1][..SYMBOL - 1].to_vec());
    fixture.decoder.on_repair(Time::ZERO, other_size, &symbol, None, &fixture.window);
    fixture.decoder.on_repair(Time::ZERO, other_length, &short, None, &fixture.window);
    assert_eq!(fixture.recovered(), [[0; 0]; 0], "two symbols of three");
    fixture.repair(1, None);
    assert_eq!(fixture.recovered(), fixture.expected(&[1, 2]));
}

#[test]
fn packet_longer_than_the_symbols_spoils_only_its_block() {
    let mut fixture = Fixture::new(3, 2);
    fixture.packets[0].extend([0; 40]);
    for at in [0, 1] {
        fixture.source(at, true);
    }
    fixture.repair(0, None);
    assert_eq!(fixture.recovered(), [[0; 0]; 0]);
}

#[test]
fn oldest_blocks_are_evicted_and_forgotten() {
    let mut fixture = Fixture::new(3, 1);
    let symbol = fixture.repair[0].clone();
    for sbn in 0..MOST as u32 + 50 {
        let now = Time::ZERO + Span::from_millis(sbn.into());
        let id = PayloadId { sbn, ..fixture.id(3) };
        fixture.decoder.on_repair(now, id, &symbol, None, &fixture.window);
    }
    assert_eq!((fixture.decoder.blocks.len(), fixture.decoder.blocks[0].sbn), (MOST, 50));
    fixture.decoder.forget(Time::ZERO + Span::from_millis(300));
    assert_eq!(fixture.decoder.blocks.front().map(|block| block.sbn), Some(300));
}
