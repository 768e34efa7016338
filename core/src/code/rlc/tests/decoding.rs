//! Sequences of packets that a receiver meets.

use super::*;

/// A decoder that has received the originals `arrived`.
fn decoder_with(config: Config, originals: &[Vec<u8>], arrived: impl Iterator<Item = u64>) -> Decoder {
    let mut decoder = Decoder::new(config).unwrap();
    for number in arrived {
        assert_eq!(decoder.handle_original(number, &originals[number as usize]), Ok(Arrival::Innovative));
    }
    decoder
}

#[test]
fn originals_in_order_pass_through() {
    let (_, originals) = encoder(CONFIG, 60, 1);
    let mut decoder = Decoder::new(CONFIG).unwrap();
    for (number, original) in (0..).zip(&originals) {
        assert_eq!(decoder.handle_original(number, original), Ok(Arrival::Innovative));
        assert_eq!(decoder.poll_original(), Some((number, &original[..])));
        assert_eq!(decoder.poll_original(), None);
        assert_eq!(decoder.handle_original(number, original), Ok(Arrival::Redundant));
    }
    assert_eq!(decoder.edge(), 60);
}

#[test]
fn one_repair_symbol_fills_one_gap_and_releases_later_originals() {
    let (encoder, originals) = encoder(CONFIG, 40, 2);
    for lost in [0, 17, 39] {
        let mut decoder = decoder_with(CONFIG, &originals, (0..40).filter(|&number| number != lost));
        assert_eq!(drain(&mut decoder).len() as u64, lost);
        let id = id(0, 39, lost as u16);
        assert_eq!(decoder.handle_repair(&id, &repair(&encoder, &id)), Ok(Arrival::Innovative));
        let rest: Vec<Vec<u8>> = drain(&mut decoder).into_iter().map(|(_, original)| original).collect();
        assert_eq!(rest, originals[lost as usize..]);
    }
}

/// The last symbol, which ends at 4, decodes 1 to 3 as well: it closes the deficit of all of them.
#[test]
fn repair_symbols_over_overlapping_ranges_combine() {
    let (encoder, originals) = encoder(CONFIG, 6, 3);
    let mut decoder = decoder_with(CONFIG, &originals, [0, 5].into_iter());
    let steps = [(1, 2, 1, 1), (1, 4, 1, 2), (0, 3, 1, 1), (0, 4, 6, 0)];
    for (key, (first, last, edge, deficit)) in (10..).zip(steps) {
        let id = id(first, last, key);
        assert_eq!(decoder.handle_repair(&id, &repair(&encoder, &id)), Ok(Arrival::Innovative), "{id:?}");
        assert_eq!((decoder.edge(), decoder.deficit()), (edge, deficit), "{id:?}");
    }
    assert_eq!(drain(&mut decoder).into_iter().map(|(_, original)| original).collect::<Vec<_>>(), originals);
}

#[test]
fn late_original_is_innovative_only_if_it_raises_the_rank() {
    let (encoder, originals) = encoder(CONFIG, 3, 4);
    let mut decoder = decoder_with(CONFIG, &originals, [2].into_iter());
    let over_all = id(0, 2, 1);
    assert_eq!(decoder.handle_repair(&over_all, &repair(&encoder, &over_all)), Ok(Arrival::Innovative));
    assert_eq!(decoder.handle_repair(&over_all, &repair(&encoder, &over_all)), Ok(Arrival::Redundant));
    assert_eq!((decoder.knows(0), decoder.knows(1), decoder.knows(2)), (false, false, true));
    assert_eq!(decoder.handle_original(1, &originals[1]), Ok(Arrival::Innovative));
    assert_eq!(decoder.edge(), 3);
    assert_eq!(decoder.handle_original(0, &originals[0]), Ok(Arrival::Redundant));
}

/// The sender's first original lies behind the receiver's edge until the acknowledgements arrive.
#[test]
fn repair_starting_before_the_edge_is_innovative() {
    let config = Config { window: 8, buffer: 8, longest: 100 };
    let (encoder, originals) = encoder(CONFIG, 60, 5);
    for edge in [7, 8, 20, 52] {
        let mut decoder = Decoder::new(config).unwrap();
        for number in (0..60).filter(|&number| number != edge) {
            if number > edge + 7 {
                break;
            }
            let _ = decoder.handle_original(number, &originals[number as usize]).unwrap();
            drain(&mut decoder);
        }
        let id = id(edge - 7, edge, 3);
        assert_eq!(decoder.handle_repair(&id, &repair(&encoder, &id)), Ok(Arrival::Innovative));
        assert!(decoder.knows(edge));
        assert_eq!(decoder.poll_original(), Some((edge, &originals[edge as usize][..])));
    }
}

#[test]
fn originals_below_the_senders_window_are_forgotten() {
    let (encoder, originals) = encoder(CONFIG, 10, 6);
    let mut decoder = decoder_with(CONFIG, &originals, (0..5).chain([6]));
    decoder.forget(4);
    assert_eq!(decoder.kept(), 6, "not before it is handed out");
    drain(&mut decoder);
    decoder.forget(3);
    assert_eq!(decoder.kept(), 2, "4 and 6");
    let reordered = id(3, 7, 1);
    assert_eq!(decoder.handle_repair(&reordered, &repair(&encoder, &reordered)), Err(Error::Missing));
    let good = id(4, 6, 2);
    assert_eq!(decoder.handle_repair(&good, &repair(&encoder, &good)), Ok(Arrival::Innovative));
    assert_eq!(drain(&mut decoder), [(5, originals[5].clone()), (6, originals[6].clone())]);
    decoder.forget(u64::MAX);
    assert_eq!(decoder.kept(), 0);
    let old = id(0, 6, 3);
    assert_eq!(decoder.handle_repair(&old, &repair(&encoder, &old)), Ok(Arrival::Redundant));
    assert_eq!(decoder.handle_original(7, &originals[7]), Ok(Arrival::Innovative));
    assert_eq!(drain(&mut decoder), [(7, originals[7].clone())]);
}

#[test]
fn decoder_keeps_at_most_a_buffer_of_unread_originals() {
    let config = Config { window: 10, buffer: 10, longest: 100 };
    let (encoder, originals) = encoder(CONFIG, 30, 7);
    let mut decoder = decoder_with(config, &originals, 0..10);
    assert_eq!(decoder.handle_original(10, &originals[10]), Err(Error::Beyond));
    let over_two = id(9, 10, 1);
    assert_eq!(decoder.handle_repair(&over_two, &repair(&encoder, &over_two)), Err(Error::Beyond));
    assert_eq!(decoder.poll_original(), Some((0, &originals[0][..])));
    assert_eq!(decoder.handle_repair(&over_two, &repair(&encoder, &over_two)), Ok(Arrival::Innovative));
    assert_eq!(decoder.handle_original(u64::MAX, b""), Err(Error::Beyond));
    assert_eq!(drain(&mut decoder).len(), 10);
}

/// More originals can be in flight than one repair symbol may cover: it then covers the first of them.
#[test]
fn buffer_may_be_larger_than_the_coding_window() {
    let config = Config { window: 8, buffer: 40, longest: 100 };
    let (encoder, originals) = encoder(config, 40, 11);
    let mut decoder = decoder_with(config, &originals, (0..40).filter(|number| ![5, 9, 30].contains(number)));
    let beyond = id(6, 13, 1);
    assert_eq!(decoder.handle_repair(&beyond, &repair(&encoder, &beyond)), Err(Error::Beyond));
    for (first, last, edge) in [(5, 12, 5), (2, 9, 30), (28, 35, 40)] {
        let id = id(first, last, 2);
        assert_eq!(decoder.handle_repair(&id, &repair(&encoder, &id)), Ok(Arrival::Innovative));
        assert_eq!(decoder.edge(), edge);
    }
    assert_eq!(drain(&mut decoder).len(), 40);
    assert_eq!(decoder.kept(), 7);
}

#[test]
fn invalid_packets_are_refused_and_change_nothing() {
    let (_, originals) = encoder(CONFIG, 10, 8);
    let mut decoder = decoder_with(CONFIG, &originals, [0, 1, 2, 4].into_iter());
    drain(&mut decoder);
    let before = decoder.clone();
    let mut refused = |id: RepairId, symbol: &[u8]| decoder.handle_repair(&id, symbol).unwrap_err();
    assert_eq!(refused(id(4, 3, 1), &[0; 102]), Error::Range);
    assert_eq!(refused(id(0, 64, 1), &[0; 102]), Error::Range);
    assert_eq!(refused(id(0, u64::MAX, 1), &[0; 102]), Error::Range);
    assert_eq!(refused(id(60, 67, 1), &[0; 102]), Error::Beyond);
    assert_eq!(refused(id(3, 5, 1), &[0; 103]), Error::Length);
    assert_eq!(refused(id(3, 5, 1), &[0; 1]), Error::Length);
    assert_eq!(refused(id(3, 5, 1), &vec![0; LENGTH + originals[4].len() - 1]), Error::Length);
    assert_eq!(decoder.handle_original(3, &[0; 101]), Err(Error::Length));
    assert_eq!(decoder, before);
}

/// Authenticated packets never do this; the decoder must survive others.
#[test]
fn inconsistent_repair_symbol_is_detected() {
    let (encoder, originals) = encoder(CONFIG, 10, 9);
    let mut decoder = decoder_with(CONFIG, &originals, [0, 1, 3].into_iter());
    let id = id(0, 3, 1);
    let mut symbol = repair(&encoder, &id);
    symbol[0] ^= 0xff;
    assert_eq!(decoder.handle_repair(&id, &symbol), Err(Error::Inconsistent));
    assert_eq!(decoder.edge(), 2);
    assert_eq!(decoder.handle_original(2, &originals[2]), Ok(Arrival::Innovative));
    assert_eq!(drain(&mut decoder).len(), 4);
}

/// The largest window: every tenth original is lost, and as many repair symbols arrive, then two for the rare redundant
/// one.
#[test]
fn window_of_4095_decodes_with_one_loss_in_ten() {
    let config = Config { window: MAX_WINDOW, buffer: MAX_WINDOW, longest: 40 };
    let (encoder, originals) = encoder(config, MAX_WINDOW, 10);
    let is_lost = |number: &u64| number % 10 == 3;
    let last = MAX_WINDOW as u64 - 1;
    let losses = (0..=last).filter(is_lost).count();
    let mut decoder = decoder_with(config, &originals, (0..=last).filter(|number| !is_lost(number)));
    let mut innovative = 0;
    for key in 0..losses as u16 + 2 {
        let id = RepairId { density: Density::new(3).unwrap(), ..id(0, last, key) };
        if decoder.handle_repair(&id, &repair(&encoder, &id)) == Ok(Arrival::Innovative) {
            innovative += 1;
        }
    }
    assert_eq!((innovative, decoder.deficit()), (losses, 0));
    assert_eq!(drain(&mut decoder).into_iter().map(|(_, original)| original).collect::<Vec<_>>(), originals);
    assert!(decoder.kept() < MAX_WINDOW);
}

/// Of two equations over three unknowns, one is left for the two that are still of interest.
#[test]
fn originals_given_up_take_one_equation_with_them() {
    let (encoder, originals) = encoder(CONFIG, 6, 9);
    let mut decoder = decoder_with(CONFIG, &originals, [0, 2, 5].into_iter());
    for key in [1, 2] {
        let id = id(0, 5, key);
        assert_eq!(decoder.handle_repair(&id, &repair(&encoder, &id)), Ok(Arrival::Innovative));
    }
    assert_eq!(drain(&mut decoder).len(), 1);
    decoder.skip(2);
    assert_eq!((decoder.edge(), decoder.deficit()), (3, 1));
    assert_eq!(decoder.handle_repair(&id(1, 5, 3), &repair(&encoder, &id(1, 5, 3))), Err(Error::Missing));
    let last = id(2, 5, 4);
    assert_eq!(decoder.handle_repair(&last, &repair(&encoder, &last)), Ok(Arrival::Innovative));
    let delivered: Vec<_> = (2..6).map(|number| (number, originals[number as usize].clone())).collect();
    assert_eq!(drain(&mut decoder), delivered);
}

#[test]
fn originals_can_be_given_up_before_anything_of_them_has_arrived() {
    let (encoder, originals) = encoder(CONFIG, 12, 9);
    let mut decoder = Decoder::new(CONFIG).unwrap();
    decoder.skip(10);
    assert_eq!(decoder.handle_original(3, &originals[3]), Ok(Arrival::Redundant));
    assert_eq!(decoder.handle_original(10, &originals[10]), Ok(Arrival::Innovative));
    let last = id(10, 11, 1);
    assert_eq!(decoder.handle_repair(&last, &repair(&encoder, &last)), Ok(Arrival::Innovative));
    assert_eq!(drain(&mut decoder), [(10, originals[10].clone()), (11, originals[11].clone())]);
}
