//! Rules in which `like = "ns3"` departs from the RFCs, one story per rule; numbers follow from ns-3.37's source, which
//! `docs/controls.md` names by function.

use thalweg_core::law::window::linux_reno::LinuxReno;
use thalweg_core::law::window::{CongestionWindow, Start};
use thalweg_lab::tcp::{Dialect, Recovery, SenderConfig};

use crate::tcp::pair::{Pair, at, avoiding_at, config, probed};

const BOTH: [Dialect; 2] = [Dialect::Rfc, Dialect::Ns3];

fn speaking(dialect: Dialect) -> SenderConfig {
    SenderConfig { dialect, ..config(Recovery::Sack) }
}

fn linux_reno(window: u32) -> LinuxReno {
    LinuxReno::new(Start { iw: window, ssthresh: f64::from(window) }).keeping_count()
}

/// `ProcessAck()` passes `m_isFirstPartialAck` to `NewAck()` as `resetRTO`.
#[test]
fn the_timer_runs_from_the_first_partial_acknowledgement() {
    for (dialect, expires) in [(Dialect::Rfc, 260), (Dialect::Ns3, 240)] {
        let mut pair = Pair::new(avoiding_at(20), speaking(dialect));
        // 0 is acknowledged at 40 ms and 18 at 60 ms, by their retransmissions; the retransmission of 19 is lost.
        pair.doomed = vec![0, 18, 19, 19];
        pair.run_until(at(300));
        assert_eq!(pair.repairs()[..4], [(20, 0), (40, 18), (40, 19), (expires, 19)], "{dialect:?}");
    }
}

/// `SendDataPacket()` schedules the timer only if it has expired.
#[test]
fn the_fast_retransmit_leaves_the_timer_alone() {
    for (dialect, expires) in [(Dialect::Rfc, 220), (Dialect::Ns3, 1000)] {
        let mut pair = Pair::new(avoiding_at(10), speaking(dialect));
        pair.doomed = vec![0, 0];
        pair.run_until(at(1_010));
        // The timer was started by the first segment, with the timeout of one second that RFC 6298 §2.1 begins with.
        assert_eq!(pair.repairs()[..2], [(20, 0), (expires, 0)], "{dialect:?}");
    }
}

/// `NewAck()` recomputes the timeout whenever it restarts the timer.
#[test]
fn new_data_acknowledged_ends_a_back_off_without_a_sample() {
    for (dialect, rto) in [(Dialect::Rfc, 0.4), (Dialect::Ns3, 0.2)] {
        let mut pair = Pair::new(avoiding_at(1), SenderConfig { segments: Some(3), ..speaking(dialect) });
        pair.doomed = vec![1, 2];
        pair.run_until(at(250));
        // 1 is acknowledged at 240 ms, and Karn's rule allows no sample.
        assert_eq!(pair.repairs(), [(220, 1), (240, 2)], "{dialect:?}");
        assert_eq!(probed(&pair.sender, "rto"), rto, "{dialect:?}");
    }
}

/// `ReTxTimeout()` asks for a threshold in CA_RECOVERY, and in CA_LOSS, since `SetSentListLost()` has cleared the state
/// that `IsHeadRetransmitted()` reads.
#[test]
fn a_timeout_in_recovery_and_a_second_one_halve_again() {
    // The times at which the timer expires, ms, and the thresholds after that.
    for (dialect, first, once, second, twice) in
        [(Dialect::Rfc, 220, 32.0, 620, 32.0), (Dialect::Ns3, 1_000, 16.0, 1_400, 2.0)]
    {
        let mut pair = Pair::new(linux_reno(64), speaking(dialect));
        pair.doomed = vec![0, 0, 0];
        pair.run_until(at(30));
        assert_eq!(pair.sender.law().ssthresh(), 32.0, "{dialect:?}");
        pair.run_until(at(first + 5));
        assert_eq!((pair.sender.law().cwnd(), pair.sender.law().ssthresh()), (1.0, once), "{dialect:?}");
        pair.run_until(at(second + 5));
        assert_eq!((pair.sender.counters().timeouts, pair.sender.law().ssthresh()), (2, twice), "{dialect:?}");
    }
}

/// `ProcessAck()`, at the end of CA_RECOVERY: `segsAcked` is all that HighACK moved over, and `IncreaseWindow()` is
/// called.
#[test]
fn the_acknowledgement_that_ends_recovery_grows_the_window() {
    for dialect in BOTH {
        // 0 to 11 are sent when 0 is found lost, and one acknowledgement covers them all at 40 ms; then those of two
        // arrive.
        let mut pair = Pair::new(linux_reno(10), speaking(dialect));
        pair.doomed = vec![0];
        pair.run_until(at(39));
        assert_eq!(pair.sender.law().cwnd(), 5.0, "{dialect:?}");
        pair.run_until(at(41));
        // Twelve segments are two windows of five and two segments.
        let grown = if dialect == Dialect::Ns3 { 7.0 } else { 5.0 };
        assert_eq!(pair.sender.law().cwnd(), grown, "{dialect:?}");
    }
    // TcpNewReno::CongestionAvoidance() adds 1/cwnd for the acknowledgement, however many segments it covers. Of the
    // twelve, three were SACKed and one was lost when recovery began: half of eight are left, and one more segment
    // leaves in recovery.
    let mut pair = Pair::new(avoiding_at(10).counting_acks(), speaking(Dialect::Ns3));
    pair.doomed = vec![0];
    pair.run_until(at(41));
    assert!((pair.sender.law().cwnd() - (4.25 + 1.0 / 4.25)).abs() < 1e-12, "{}", pair.sender.law().cwnd());
}
