//! RFC 6675 §4 to the letter, recomputed segment by segment at each step, beside the counts that are kept.

use super::*;
use crate::tcp::ack::Block;
use proptest::prelude::*;
use thalweg_core::time::Span;

/// The RFC's own variables and functions.
#[derive(Clone, Debug, Default)]
struct Letter {
    /// HighACK + 1.
    una: u64,
    /// HighData + 1.
    nxt: u64,
    /// HighRxt + 1.
    rxt: u64,
    sacked: Vec<u64>,
}

impl Letter {
    fn update(&mut self, ack: &Ack) {
        self.una = self.una.max(ack.next);
        self.rxt = self.rxt.max(self.una);
        for run in ack.runs() {
            for number in run.from..run.to {
                if !self.sacked.contains(&number) {
                    self.sacked.push(number);
                }
            }
        }
        self.sacked.retain(|number| *number >= self.una);
    }

    /// "more than (DupThresh - 1) * SMSS bytes with sequence numbers greater than SeqNum have been SACKed"
    fn is_lost(&self, number: u64) -> bool {
        self.sacked.iter().filter(|sacked| **sacked > number).count() > 2
    }

    fn holes(&self) -> impl DoubleEndedIterator<Item = u64> + Clone {
        (self.una..self.nxt).filter(|number| !self.sacked.contains(number))
    }

    fn pipe(&self) -> u32 {
        self.holes().map(|number| u32::from(!self.is_lost(number)) + u32::from(number < self.rxt)).sum()
    }

    /// Rules (1) and (3): (1.a), (1.b), and (1.c) for the first.
    fn rules(&self) -> (Option<u64>, Option<u64>) {
        let highest = self.sacked.iter().copied().max().unwrap_or(0);
        let mut candidates = self.holes().filter(|number| *number >= self.rxt && *number < highest);
        let hole = candidates.clone().next();
        (candidates.find(|number| self.is_lost(*number)), hole)
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// So many new segments are sent.
    Send(u8),
    /// The receiver gets the n-th outstanding segment (if there are so many) and acknowledges.
    Arrive(u8),
    /// The same, but the acknowledgement is lost.
    ArriveUnheard(u8),
    /// A retransmission by rule (1), or else by rule (3).
    Repair,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (1u8..8).prop_map(Step::Send),
        (0u8..24).prop_map(Step::Arrive),
        (0u8..24).prop_map(Step::Arrive),
        (0u8..24).prop_map(Step::ArriveUnheard),
        Just(Step::Repair),
    ]
}

/// The segments that have arrived, as an acknowledgement with the block of `latest` first.
fn answer(arrived: &[bool], latest: u64) -> Ack {
    let next = arrived.iter().position(|came| !came).unwrap_or(arrived.len()) as u64;
    let mut ack = Ack { next, ..Ack::default() };
    let mut runs: Vec<Run> = Vec::new();
    for number in next..arrived.len() as u64 {
        match runs.last_mut() {
            _ if !arrived[number as usize] => {}
            Some(run) if run.to == number => run.to += 1,
            _ => runs.push(Run { from: number, to: number + 1 }),
        }
    }
    runs.sort_by_key(|run| !run.contains(latest));
    for (block, run) in ack.blocks.iter_mut().zip(runs) {
        *block = Ack::block(next, run);
    }
    ack
}

proptest! {
    #[test]
    fn counts_that_are_kept_are_what_the_rfc_counts_anew(steps in prop::collection::vec(step(), 1..120)) {
        let mut board = Scoreboard::new();
        let mut letter = Letter::default();
        let mut arrived: Vec<bool> = Vec::new();
        for step in steps {
            match step {
                Step::Send(count) => for _ in 0..count {
                    prop_assert_eq!(board.send(Time::ZERO), letter.nxt);
                    letter.nxt += 1;
                    arrived.push(false);
                },
                Step::Arrive(place) | Step::ArriveUnheard(place) => {
                    let number = board.una() + u64::from(place);
                    if number >= letter.nxt {
                        continue;
                    }
                    arrived[number as usize] = true;
                    if let Step::Arrive(_) = step {
                        let ack = answer(&arrived, number);
                        board.update(&ack);
                        letter.update(&ack);
                    }
                }
                Step::Repair => {
                    let (lost, hole) = letter.rules();
                    prop_assert_eq!(board.first_lost(u64::MAX), lost);
                    if let Some(number) = lost.or(hole) {
                        prop_assert_eq!(board.first_lost(u64::MAX).or_else(|| board.first_hole()), Some(number));
                        board.raise_rxt(board.clone().resend(number));
                        letter.rxt = number + 1;
                    }
                }
            }
            prop_assert_eq!(board.una(), letter.una);
            prop_assert_eq!(board.pipe(), letter.pipe());
            prop_assert_eq!(board.is_first_lost(), letter.una < letter.nxt && letter.is_lost(letter.una));
            prop_assert_eq!(board.last_unsacked(), letter.holes().next_back());
        }
    }
}

fn board(segments: u64) -> Scoreboard {
    let mut board = Scoreboard::new();
    for millis in 0..segments {
        board.send(Time::ZERO + Span::from_millis(millis));
    }
    board
}

fn sack(board: &mut Scoreboard, next: u64, from: u32, to: u32) -> AckSummary {
    let mut ack = Ack { next, ..Ack::default() };
    ack.blocks[0] = Block { from, to };
    board.update(&ack)
}

#[test]
fn a_segment_is_lost_once_three_behind_it_have_arrived() {
    let mut board = board(10);
    sack(&mut board, 0, 1, 3);
    assert!(!board.is_first_lost());
    assert_eq!(board.pipe(), 8);
    let summary = sack(&mut board, 0, 1, 4);
    assert!(board.is_first_lost());
    assert_eq!((summary.lost, board.pipe()), (1, 6));
}

#[test]
fn what_was_sent_twice_gives_no_sample_nor_what_waited_behind_it() {
    let mut board = board(6);
    let sent = |millis| Some(Time::ZERO + Span::from_millis(millis));
    assert_eq!(board.update(&Ack { next: 2, ..Ack::default() }).sent, sent(1), "the newest");
    assert_eq!(sack(&mut board, 2, 2, 3).sent, sent(4), "by SACK");
    board.resend(2);
    let summary = board.update(&Ack { next: 5, ..Ack::default() });
    assert_eq!((summary.sent, summary.advanced, summary.delivered), (None, 3, 2));
    assert_eq!(board.update(&Ack { next: 6, ..Ack::default() }).sent, sent(5));
}

#[test]
fn after_a_timeout_all_that_is_not_sacked_is_sent_again_in_order() {
    let mut board = board(6);
    sack(&mut board, 0, 2, 4);
    board.lose_all();
    assert_eq!(board.pipe(), 0);
    for expected in [0, 1, 4, 5] {
        let number = board.first_lost(6).expect("one is left");
        assert_eq!(number, expected);
        board.raise_rxt(number);
    }
    assert_eq!((board.first_lost(6), board.pipe()), (None, 4));
}
