//! Selective transmission: the frames that are skipped where a video is due faster than it may be sent, and the order of
//! the others. Y. S. Sun, F.-M. Tsou, M. C. Chen, "Predictive flow control for TCP-friendly end-to-end real-time video on
//! the Internet" (R3CP+) §3.
//!
//! | paper | here |
//! |---|---|
//! | zeta_n, the amount to skip, Eq. (10) | `zeta`, in packets, or in bytes |
//! | frames of less significance | B before P before I |
//! | random selection without bursts | evenly spaced frames of a kind, from a random one on |
//!
//! A P is skipped only if every B is, and an I only if every P is. No two frames of a kind that follow each other are
//! skipped while that can be avoided.

use crate::rng::Rng;
use crate::video::Kind;

/// A frame that is due in a period.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Its coding.
    pub kind: Kind,
    /// Its size in packets, or in another unit of `zeta`.
    pub amount: u32,
}

/// The frames of a period, as positions in the list of those that are due.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Selection {
    /// The frames that are not sent, in the order of the list.
    pub skipped: Vec<usize>,
    /// The frames that are sent, in the order of sending: I, then P, then B.
    pub sent: Vec<usize>,
}

impl Selection {
    /// The frames of `due` to skip, of an amount of at least `zeta` together, and the order of the others. Nothing is skipped
    /// unless `zeta` is above 0.
    pub fn of(due: &[Frame], zeta: f64, rng: &mut Rng) -> Selection {
        let mut is_skipped = vec![false; due.len()];
        let mut left = zeta;
        for kind in Kind::ALL {
            let candidates: Vec<usize> = (0..due.len()).filter(|&n| due[n].kind == kind).collect();
            let amounts: Vec<u32> = candidates.iter().map(|&n| due[n].amount).collect();
            for nth in skipped_of(&amounts, left, rng) {
                is_skipped[candidates[nth]] = true;
                left -= f64::from(amounts[nth]);
            }
        }
        let (skipped, mut sent): (Vec<usize>, Vec<usize>) = (0..due.len()).partition(|&n| is_skipped[n]);
        // Reading(R3CP+ §3): the order of the frames of a kind stays that of the list.
        sent.sort_by_key(|&n| core::cmp::Reverse(due[n].kind));
        Selection { skipped, sent }
    }
}

/// The frames of one kind to skip: the fewest that are evenly spaced and have `zeta` together, or all.
// Reading(R3CP+ §3.2): whole frames, since a part of a frame is useless, and evenly spaced from a random one on, which is
// random and no burst.
fn skipped_of(amounts: &[u32], zeta: f64, rng: &mut Rng) -> Vec<usize> {
    let frames = amounts.len();
    if frames == 0 || zeta.is_nan() || zeta <= 0.0 {
        return Vec::new();
    }
    let first = rng.below(frames as u64) as usize;
    for count in fewest(amounts, zeta)..frames {
        let choices = (0..frames).map(|start| spaced(frames, count, (first + start) % frames));
        // Around the end of the list a choice may have neighbours that another start avoids: of five frames 0, 2, 4.
        let least = choices.clone().map(|choice| neighbours(&choice)).min().unwrap_or(0);
        let enough = |choice: &Vec<usize>| choice.iter().map(|&n| f64::from(amounts[n])).sum::<f64>() >= zeta;
        if let Some(choice) = choices.into_iter().find(|choice| neighbours(choice) == least && enough(choice)) {
            return choice;
        }
    }
    (0..frames).collect()
}

/// The number of frames below which no choice has `zeta`: that of the largest frames.
fn fewest(amounts: &[u32], zeta: f64) -> usize {
    let mut largest = amounts.to_vec();
    largest.sort_unstable_by(|a, b| b.cmp(a));
    let mut sum = 0.0;
    let below = largest.iter().take_while(|&&amount| {
        sum += f64::from(amount);
        sum < zeta
    });
    below.count() + 1
}

/// `count` of `frames` at distances that differ by one at most, in ascending order; `start` is one of them.
fn spaced(frames: usize, count: usize, start: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = (0..count).map(|nth| (start + nth * frames / count) % frames).collect();
    chosen.sort_unstable();
    chosen
}

/// The pairs of chosen frames that follow each other.
fn neighbours(chosen: &[usize]) -> usize {
    chosen.windows(2).filter(|pair| pair[1] == pair[0] + 1).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use proptest::prelude::*;

    /// Frames of a pattern, each of as many packets as its kind has in the mean of the paper's video: 6, 2 and 1.
    fn due(kinds: &str) -> Vec<Frame> {
        let frame = |letter: char| match Kind::of(letter.encode_utf8(&mut [0; 4])).expect("a kind") {
            Kind::I => Frame { kind: Kind::I, amount: 6 },
            Kind::P => Frame { kind: Kind::P, amount: 2 },
            Kind::B => Frame { kind: Kind::B, amount: 1 },
        };
        kinds.chars().map(frame).collect()
    }

    fn skipped(kinds: &str, zeta: f64) -> String {
        let due = due(kinds);
        let selection = Selection::of(&due, zeta, &mut Rng::new(1));
        selection.skipped.iter().map(|&n| kinds.as_bytes()[n] as char).collect()
    }

    #[test]
    fn fewest_frames_of_the_least_kind_are_skipped() {
        // Eight B of one packet, three P of two, an I of six.
        let period = "IPBBPBBPBBBB";
        for (zeta, kinds) in [
            (-1.0, ""),
            (0.0, ""),
            (0.1, "B"),
            (1.0, "B"),
            (1.5, "BB"),
            (8.0, "BBBBBBBB"),
            (8.5, "PBBBBBBBB"),
            (12.0, "PPBBBBBBBB"),
            (14.0, "PPPBBBBBBBB"),
            (14.1, "IPPPBBBBBBBB"),
            (1e9, "IPPPBBBBBBBB"),
            (f64::NAN, ""),
        ] {
            let mut found: Vec<char> = skipped(period, zeta).chars().collect();
            found.sort_by_key(|&letter| "IPB".find(letter));
            assert_eq!(found.iter().collect::<String>(), kinds, "{zeta}");
        }
    }

    #[test]
    fn order_of_sending_is_i_then_p_then_b() {
        let selection = Selection::of(&due("BIBPBIP"), 0.0, &mut Rng::new(1));
        assert_eq!(selection, Selection { skipped: Vec::new(), sent: vec![1, 5, 3, 6, 0, 2, 4] });
    }

    #[test]
    fn skipped_frames_differ_from_period_to_period() {
        let (due, mut rng) = (due("BBBBBBBB"), Rng::new(5));
        let mut times = [0u32; 8];
        for _ in 0..8000 {
            Selection::of(&due, 2.0, &mut rng).skipped.iter().for_each(|&n| times[n] += 1);
        }
        // Each is one of two in four of eight starts: a quarter of all periods, within five standard deviations.
        assert!(times.iter().all(|&times| times.abs_diff(2000) < 5 * 39), "{times:?}");
    }

    #[test]
    fn half_of_an_odd_number_is_every_other_one() {
        for seed in 0..20 {
            let selection = Selection::of(&due("BBBBB"), 3.0, &mut Rng::new(seed));
            assert_eq!(selection.skipped, [0, 2, 4]);
        }
    }

    /// Frames that are due in a period.
    fn any_due() -> impl Strategy<Value = Vec<Frame>> {
        let frame = (0usize..3, 1u32..20).prop_map(|(kind, amount)| Frame { kind: Kind::ALL[kind], amount });
        prop::collection::vec(frame, 0..40)
    }

    proptest! {
        #[test]
        fn skipped_and_sent_are_the_frames_due_and_kinds_go_in_order(due in any_due(), zeta in -5.0f64..300.0, seed: u64) {
            let Selection { skipped, sent } = Selection::of(&due, zeta, &mut Rng::new(seed));
            let mut all: Vec<usize> = skipped.iter().chain(&sent).copied().collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..due.len()).collect::<Vec<_>>());
            // A P is skipped only if every B is, an I only if every P is.
            let most = skipped.iter().map(|&n| due[n].kind).max();
            prop_assert!(sent.iter().all(|&n| most.is_none_or(|most| due[n].kind >= most)));
            prop_assert!(sent.windows(2).all(|pair| due[pair[0]].kind >= due[pair[1]].kind));
            let packets: u32 = skipped.iter().map(|&n| due[n].amount).sum();
            prop_assert!(f64::from(packets) >= zeta || sent.is_empty());
        }

        #[test]
        fn no_neighbours_go_while_at_most_half_of_a_kind_does(
            packets in prop::collection::vec(1u32..20, 1..40), share in 0.0f64..1.0, seed: u64,
        ) {
            let zeta = share * packets.iter().sum::<u32>() as f64;
            let due: Vec<Frame> = packets.iter().map(|&amount| Frame { kind: Kind::B, amount }).collect();
            let Selection { skipped, .. } = Selection::of(&due, zeta, &mut Rng::new(seed));
            prop_assert!(skipped.len() > due.len().div_ceil(2) || neighbours(&skipped) == 0, "{:?}", skipped);
            // Fewer than the largest frames alone would need cannot be.
            prop_assert!(skipped.is_empty() || skipped.len() >= fewest(&packets, zeta));
        }

        #[test]
        fn equal_frames_are_skipped_to_the_packet(
            count in 1usize..60, packets in 1u32..9, part in 0.0f64..1.0, seed: u64,
        ) {
            let due = vec![Frame { kind: Kind::B, amount: packets }; count];
            let zeta = part * (count as f64) * f64::from(packets);
            let Selection { skipped, .. } = Selection::of(&due, zeta, &mut Rng::new(seed));
            let enough = |frames: usize| frames as f64 * f64::from(packets) >= zeta;
            prop_assert!(enough(skipped.len()) && (skipped.is_empty() || !enough(skipped.len() - 1)));
        }
    }
}
