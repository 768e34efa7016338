//! A law written again has the results of the built-in one, to the bit.

use thalweg_core::law::window::{self, Acked};
use thalweg_core::time::Time;
use thalweg_lab::experiment::{Experiment, Kind, Outcome, Run};
use thalweg_lab::own::{Context, Window, WindowLaw};
use thalweg_lab::scenario::Laws;
use thalweg_lab::tcp::Recovery;

use super::{Repaired, dumbbell, repairs, windows};

/// RFC 5681 with segments as the unit, byte counting with L = 1 in slow start (RFC 3465).
struct Reno {
    cwnd: f64,
    ssthresh: f64,
    /// Segments that an acknowledgement adds in slow start, at most: L of RFC 3465.
    limit: f64,
}

impl WindowLaw for Reno {
    fn on_ack(&mut self, acked: &Acked) -> Result<(), String> {
        if acked.window_limited {
            let newly = f64::from(acked.newly);
            // Eq. (2) and (3).
            let more = if self.cwnd < self.ssthresh { newly.min(self.limit) } else { (newly / self.cwnd).min(1.0) };
            self.cwnd += more;
        }
        Ok(())
    }

    fn on_loss(&mut self, _now: Time, flight: u32) -> Result<(), String> {
        // Eq. (4), and the window that recovery ends with.
        self.ssthresh = (f64::from(flight) / 2.0).max(2.0);
        self.cwnd = self.ssthresh;
        Ok(())
    }

    fn on_recovered(&mut self, _now: Time) -> Result<(), String> {
        Ok(())
    }

    fn on_timeout(&mut self, _now: Time, flight: u32, again: bool) -> Result<(), String> {
        if !again {
            self.ssthresh = (f64::from(flight) / 2.0).max(2.0);
        }
        self.cwnd = 1.0;
        Ok(())
    }

    fn cwnd(&self) -> Result<f64, String> {
        Ok(self.cwnd)
    }

    fn ssthresh(&self) -> Result<f64, String> {
        Ok(self.ssthresh)
    }
}

fn reno(limit: f64) -> Laws {
    let start = move |flow: &Context<window::Config>| -> Result<Box<dyn WindowLaw>, String> {
        let start = flow.config.start;
        Ok(Box::new(Reno { cwnd: start.iw.into(), ssthresh: start.ssthresh, limit }))
    };
    windows(vec![Window::new("reno", start)])
}

fn outcome(experiment: &Experiment, seed: u64) -> Outcome {
    Run::new(experiment, seed).expect("possible").finish().expect("no fault")
}

#[test]
fn newreno_written_again_is_newreno() {
    let mut timeouts = 0.0;
    for seed in 1..=4 {
        for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::SackPrr] {
            let of = |laws: &Laws, law| {
                let mut experiment = dumbbell(laws, &[("tcp", law), ("n_tcp", "20")], seed);
                let Kind::Tcp(tcp) = &mut experiment.groups[0].kind else { panic!("TCP is the first group") };
                tcp.recovery = recovery;
                outcome(&experiment, seed)
            };
            let built_in = of(&Laws::default(), "newreno");
            assert!(built_in.value("tcp_loss") > 0.0, "seed {seed}: slow start overflows the queue");
            timeouts += built_in.value("tcp_timeouts");
            assert_eq!(of(&reno(1.0), "reno"), built_in, "seed {seed}, {recovery:?}");
            // The comparison finds a law that grows otherwise.
            assert_ne!(of(&reno(2.0), "reno"), built_in, "seed {seed}, {recovery:?}");
        }
    }
    assert!(timeouts > 0.0, "no run has a timeout");
}

#[test]
fn fixed_repair_written_again_is_static() {
    for seed in 1..=4 {
        let of = |laws: &Laws, scheme| outcome(&dumbbell(laws, &[("scheme", scheme)], seed), seed);
        let built_in = of(&Laws::default(), "static8");
        // A fraction of a packet is dropped, except one that a sum of rounded numbers lacks.
        for repair in [|_| Ok(8.0), |_| Ok(8.7), |_| Ok(8.0 - 1e-12)] {
            assert_eq!(of(&repairs(vec![Repaired::law(repair)]), "mine"), built_in, "seed {seed}");
        }
        assert_ne!(of(&repairs(vec![Repaired::law(|_| Ok(9.0))]), "mine"), built_in, "seed {seed}");
    }
}

#[test]
fn a_run_does_not_depend_on_how_it_is_cut() {
    let experiment = dumbbell(&reno(1.0), &[("tcp", "reno")], 1);
    let mut cut = Run::new(&experiment, 1).expect("possible");
    (1..=800).for_each(|piece| cut.until(Time::from_nanos(10_007_001 * piece)));
    assert_eq!(cut.finish().expect("no fault"), outcome(&experiment, 1));
}
