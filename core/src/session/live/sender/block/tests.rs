use super::*;
use crate::code::reed_solomon;

/// A block of `sources` packets that begins at sequence number 1000. The longest packets have odd numbers.
fn block(sources: usize, repairs: usize) -> Block {
    let mut block = Block::default();
    block.reopen(Time::ZERO, 1000);
    for at in 0..sources {
        let header = rtp::Header { sequence: 1000 + at as u16, ..rtp::Header::default() };
        block.push(Time::ZERO, header, &vec![at as u8; 10 + at % 14]);
    }
    assert_eq!(block.close(repairs, 0xff_fffe, &mut Encoders::default()), repairs);
    block
}

type Sources = Vec<(PayloadId, Vec<u8>)>;
type Repairs = Vec<(PayloadId, Vec<u8>, BlockBounds)>;

/// All packets of the block: IDs and symbols.
fn drain(block: &mut Block) -> (Sources, Repairs) {
    let (mut sources, mut repairs) = (Vec::new(), Vec::new());
    while block.next().is_some() {
        match block.pop().expect("next said so") {
            Symbol::Source { id, packet, .. } => {
                let mut adui = vec![0; Adui::OVERHEAD + packet.len()];
                Adui { flow: 0, adu: packet }.emit(&mut adui);
                sources.push((id, adui));
            }
            Symbol::Repair { id, symbol, bounds, .. } => repairs.push((id, symbol.to_vec(), bounds)),
        }
    }
    (sources, repairs)
}

#[test]
fn each_part_decodes_alone_and_its_bounds_name_its_packets() {
    for (all, repair) in [(1, 1), (25, 8), (255, 0), (380, 60), (951, 8)] {
        let mut block = block(all, repair);
        let (sources, repairs) = drain(&mut block);
        assert_eq!((sources.len(), repairs.len()), (all, repair));
        for (at, (id, _)) in sources.iter().enumerate() {
            let part = repairs.iter().find(|(repair, ..)| repair.sbn == id.sbn);
            let Some((_, _, bounds)) = part else { continue };
            assert_eq!(bounds.sequence(id.esi), 1000 + at as u16);
        }
        let parts: std::collections::BTreeSet<u32> = repairs.iter().map(|(id, ..)| id.sbn).collect();
        for sbn in parts {
            let own: Vec<_> = sources.iter().filter(|(id, _)| id.sbn == sbn).collect();
            let symbols: Vec<_> = repairs.iter().filter(|(id, ..)| id.sbn == sbn).collect();
            // RFC 6865 §4.3: E is the length of the longest ADUI of the source block.
            let longest = own.iter().map(|(_, adui)| adui.len()).max();
            assert!(symbols.iter().all(|(_, symbol, _)| Some(symbol.len()) == longest), "{all}, {repair}, {sbn}");
            let lost = symbols.len().min(own.len());
            let mut received: Vec<(u8, &[u8])> = own[lost..].iter().map(|(id, adui)| (id.esi, &adui[..])).collect();
            received.extend(symbols.iter().map(|(id, symbol, _)| (id.esi, &symbol[..])));
            let missing: Vec<u8> = (0..lost as u8).collect();
            let mut recovered = vec![vec![0; symbols[0].1.len()]; lost];
            let mut targets: Vec<&mut [u8]> = recovered.iter_mut().map(|symbol| &mut symbol[..]).collect();
            reed_solomon::decode(own.len(), &received, &missing, &mut targets).expect("k of n symbols");
            for (symbol, (_, adui)) in recovered.iter().zip(&own) {
                assert_eq!(Adui::parse(symbol), Adui::parse(adui));
            }
        }
    }
}

#[test]
fn packets_leave_evenly_over_the_time_they_are_given() {
    let mut block = block(25, 8);
    block.schedule(Time::ZERO, Span::from_millis(10));
    let mut due = Vec::new();
    while let Some(at) = block.next() {
        due.push(at);
        block.pop();
    }
    // IPG = SYN / (F + k), GENEVA §3.2.2.
    let expected = |at: u64| Time::ZERO + Span::from_millis(10).mul_div(at, 33);
    assert_eq!(due, (0..33).map(expected).collect::<Vec<_>>());
}

#[test]
fn every_part_has_a_source_packet() {
    let mut block = Block::default();
    block.reopen(Time::ZERO, 0);
    block.push(Time::ZERO, rtp::Header::default(), b"alone");
    assert_eq!(block.close(400, 0, &mut Encoders::default()), 127);
}
