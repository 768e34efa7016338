//! A block and its repair, lost in part.

use super::super::window::Origin;
use super::*;
use crate::code::reed_solomon::Encoder;
use crate::time::Span;
use crate::wire::fecframe::Adui;
use crate::wire::rtp;

/// Sequence number of the first source packet.
const FIRST: u64 = 1000;
/// Symbols of the longest packet.
const SYMBOL: usize = Adui::OVERHEAD + rtp::HEADER_LEN + 12;

/// A block of packets of three lengths with its repair, and what a receiver has of it.
struct Story {
    packets: Vec<Vec<u8>>,
    aduis: Vec<Vec<u8>>,
    repair: Vec<Vec<u8>>,
    window: Window,
    decoder: Decoder,
}

impl Story {
    fn new(k: usize, repairs: usize) -> Story {
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
        Story { packets, aduis, repair, window: Window::new(FIRST), decoder: Decoder::default() }
    }

    fn id(&self, esi: usize) -> PayloadId {
        PayloadId { sbn: 7, esi: esi as u8, k: self.packets.len() as u8 }
    }

    /// Source packet `at` comes, with its ID or without.
    fn source(&mut self, at: usize, with_id: bool) {
        let sequence = FIRST + at as u64;
        self.window.insert(Time::ZERO, sequence, &self.packets[at], Time::ZERO, Origin::Path);
        let id = with_id.then(|| self.id(at));
        self.decoder.on_source(Time::ZERO, sequence, id, &self.window);
    }

    /// Repair packet `nth` comes, with the block's bounds or without.
    fn repair(&mut self, nth: usize, bounds: Option<BlockBounds>) {
        let (id, bounds) = (self.id(self.packets.len() + nth), bounds.map(|bounds| (bounds, FIRST)));
        self.decoder.on_repair(Time::ZERO, id, &self.repair[nth], bounds, &self.window);
    }

    /// What has been recovered since, by content.
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
fn the_kth_symbol_recovers_all_others_whatever_it_is() {
    for last_is_source in [false, true] {
        let mut story = Story::new(5, 3);
        story.source(0, true);
        story.source(4, true);
        story.repair(2, None);
        story.repair(0, None);
        assert_eq!(story.recovered(), [[0; 0]; 0], "four of five");
        let lost: &[usize] = if last_is_source { &[1, 3] } else { &[1, 2, 3] };
        if last_is_source {
            story.source(2, true);
        } else {
            story.repair(1, None);
        }
        assert_eq!(story.recovered(), story.expected(lost));
        story.source(1, true);
        story.repair(1, None);
        assert_eq!(story.recovered(), [[0; 0]; 0], "a block is recovered once");
    }
}

#[test]
fn repair_packets_alone_tell_where_plain_packets_belong() {
    let mut story = Story::new(6, 2);
    let bounds = BlockBounds { base: FIRST as u16, stride: 1 };
    for at in [0, 1, 3] {
        story.source(at, false);
    }
    story.repair(1, Some(bounds));
    assert_eq!(story.recovered(), [[0; 0]; 0]);
    story.source(5, false);
    story.repair(0, Some(bounds));
    assert_eq!(story.recovered(), story.expected(&[2, 4]));
}

#[test]
fn copies_and_symbols_of_other_blocks_count_for_nothing() {
    let mut story = Story::new(3, 2);
    story.source(0, true);
    story.source(0, true);
    story.repair(0, None);
    story.repair(0, None);
    let (mut other_size, other_length) = (story.id(4), story.id(4));
    other_size.k = 4;
    let (symbol, short) = (story.repair[1].clone(), story.repair[1][..SYMBOL - 1].to_vec());
    story.decoder.on_repair(Time::ZERO, other_size, &symbol, None, &story.window);
    story.decoder.on_repair(Time::ZERO, other_length, &short, None, &story.window);
    assert_eq!(story.recovered(), [[0; 0]; 0], "two symbols of three");
    story.repair(1, None);
    assert_eq!(story.recovered(), story.expected(&[1, 2]));
}

#[test]
fn a_packet_longer_than_the_symbols_makes_its_block_useless_and_no_more() {
    let mut story = Story::new(3, 2);
    story.packets[0].extend([0; 40]);
    for at in [0, 1] {
        story.source(at, true);
    }
    story.repair(0, None);
    assert_eq!(story.recovered(), [[0; 0]; 0]);
}

#[test]
fn old_blocks_make_room_and_are_forgotten() {
    let mut story = Story::new(3, 1);
    let symbol = story.repair[0].clone();
    for sbn in 0..MOST as u32 + 50 {
        let now = Time::ZERO + Span::from_millis(sbn.into());
        let id = PayloadId { sbn, ..story.id(3) };
        story.decoder.on_repair(now, id, &symbol, None, &story.window);
    }
    assert_eq!((story.decoder.blocks.len(), story.decoder.blocks[0].sbn), (MOST, 50));
    story.decoder.forget(Time::ZERO + Span::from_millis(300));
    assert_eq!(story.decoder.blocks.front().map(|block| block.sbn), Some(300));
}
