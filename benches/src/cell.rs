//! A cell of a comparison: contestants with the same time budget for repair, on the same path with the same seeds.

use std::path::Path as FilePath;
use std::time::Duration;

use crate::contestant::Contestant;
use crate::passage;
use crate::report::Unit;
use crate::scrap::Scrap;
use crate::statistics::{median, quantile};
use crate::stream::{Connection, Outcome, Plan, run};

/// The number of attempts at a run that is invalid because the machine was too busy.
const TRIES: usize = 3;

/// The element that loses packets from sender to receiver.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Loss {
    /// No loss.
    None,
    /// Independent losses of this share of the packets.
    Random(f64),
    /// A Gilbert-Elliott channel: the probabilities of good to bad and of bad to good, and the share lost while bad.
    Bursts(f64, f64, f64),
}

/// A path without a bottleneck.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Path {
    /// The round-trip time.
    pub rtt: Duration,
    /// Losses in the direction to the receiver.
    pub loss: Loss,
}

impl Path {
    /// The scenario text for `thalweg emulate`.
    pub fn scenario(&self) -> String {
        let one_way = self.rtt.as_micros() / 2;
        let loss = match self.loss {
            Loss::None => String::new(),
            Loss::Random(rate) => format!("{{ kind = \"loss\", rate = {rate:?} }},"),
            Loss::Bursts(p, r, bad) => {
                format!("{{ kind = \"gilbert_elliott\", p = {p:?}, r = {r:?}, loss_bad = {bad:?} }},")
            }
        };
        let wire = format!("{{ kind = \"wire\", delay = \"{one_way}us\" }}");
        format!("seed = 1\nforward.element = [{loss} {wire}]\nreverse.element = [{wire}]\n")
    }

    /// The name in tables.
    pub fn named(&self) -> String {
        let loss = match self.loss {
            Loss::None => "no loss".into(),
            Loss::Random(rate) => format!("{:.0} % i.i.d.", rate * 100.0),
            Loss::Bursts(p, r, bad) => format!("bursts ({p}, {r}, {bad})"),
        };
        format!("RTT {} ms, {loss}", self.rtt.as_millis())
    }
}

/// The conditions that all contestants share.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cell {
    /// The path between sender and receiver.
    pub path: Path,
    /// Bits of media per second.
    pub rate: f64,
    /// Time on top of the one-way delay: SRT's `latency`.
    pub budget: Duration,
}

impl Cell {
    /// `thalweg send` with its defaults. Its latency is from input to output: the budget plus half the round-trip time.
    pub fn thalweg(&self, binary: &FilePath) -> Contestant {
        let latency = format!("{}ms", (self.budget + self.path.rtt / 2).as_millis());
        Contestant::thalweg("thalweg send", binary, "", &latency)
    }

    /// SRT in its usual setting: lost packets are retransmitted.
    pub fn srt_resends(&self) -> Contestant {
        Contestant::srt("SRT, resends", &format!("&latency={}", self.budget.as_millis()))
    }

    /// SRT with its packet filter, in addition to its default retransmissions.
    pub fn srt_fec(&self) -> Contestant {
        let query = format!("&latency={}&packetfilter=fec,cols:10,rows:3", self.budget.as_millis());
        Contestant::srt("SRT, FEC 10 x 3", &query)
    }

    /// The columns of the conditions in tables.
    pub fn named(&self) -> [String; 3] {
        [self.path.named(), Unit::Megabits.write(self.rate), format!("{} ms", self.budget.as_millis())]
    }

    /// Measures all contestants in turn with each seed from 1 to `seeds`. If the run of one contestant with a seed is
    /// invalid because the machine was too busy, that seed counts for no contestant.
    pub fn measure(
        &self,
        contestants: &[Contestant],
        binary: &FilePath,
        seeds: u64,
        measured: Duration,
    ) -> Result<Vec<Score>, String> {
        let scenario = Scrap::write(&self.path.scenario())?;
        let mut scores = vec![Score::default(); contestants.len()];
        for seed in 1..=seeds {
            let path = Connection::Emulated { binary: binary.into(), scenario: scenario.path().into(), seed };
            let plan = Plan { rate: self.rate, warm_up: Duration::from_secs(2), measured, path };
            let turns: Vec<Turn> = contestants.iter().map(|contestant| Turn::take(contestant, &plan)).collect();
            for (turn, contestant) in turns.iter().zip(contestants) {
                eprintln!("{}: {}, seed {seed}: {}", self.named().join(", "), contestant.name, turn.named());
            }
            let is_valid = !turns.iter().any(|turn| matches!(turn, Turn::Invalid(_)));
            for (turn, score) in turns.into_iter().zip(&mut scores) {
                match turn {
                    Turn::Measured(outcome) if is_valid => score.outcomes.push(*outcome),
                    Turn::Ended(_) if is_valid => score.ended += 1,
                    _ => score.invalid += 1,
                }
            }
        }
        Ok(scores)
    }
}

/// One run of one contestant.
#[derive(Clone, Debug)]
pub enum Turn {
    /// Results of the run.
    Measured(Box<Outcome>),
    /// The run failed, with the reason: for example, the contestant ended by itself or delivered nothing.
    Ended(String),
    /// The numbers are not those of the path, with the reason.
    Invalid(String),
}

impl Turn {
    /// Runs `contestant`, and repeats an invalid run up to `TRIES` times in all.
    pub fn take(contestant: &Contestant, plan: &Plan) -> Turn {
        let mut last = String::new();
        for _ in 0..TRIES {
            match run(contestant, plan) {
                Err(why) => return Turn::Ended(why),
                Ok(outcome) => match fault(&outcome, plan) {
                    None => return Turn::Measured(Box::new(outcome)),
                    Some(why) => last = why,
                },
            }
        }
        Turn::Invalid(last)
    }

    fn named(&self) -> String {
        match self {
            Turn::Measured(outcome) => format!("{} of {} lost", outcome.lost, outcome.sent),
            Turn::Ended(why) => format!("ended, {why}"),
            Turn::Invalid(why) => format!("invalid, {why}"),
        }
    }
}

/// The reason that a run says nothing about the path, if any.
fn fault(outcome: &Outcome, plan: &Plan) -> Option<String> {
    let (Connection::Emulated { scenario, seed, .. }, Some(passage)) = (&plan.path, outcome.passage) else {
        return None;
    };
    if outcome.dropped > 0 {
        return Some(format!("this machine dropped {} datagrams in front of its sockets", outcome.dropped));
    }
    if passage.refused > 0 {
        return Some(format!("the emulator refused {} packets", passage.refused));
    }
    match passage::losses(scenario, *seed, passage.received) {
        Ok(lost) if lost == passage.lost => None,
        Ok(lost) => Some(format!("{} of {} packets were lost on the path, not {lost}", passage.lost, passage.received)),
        Err(why) => Some(why),
    }
}

/// Results of a contestant in a cell, over all seeds.
#[derive(Clone, Default, Debug)]
pub struct Score {
    outcomes: Vec<Outcome>,
    ended: usize,
    invalid: usize,
}

impl Score {
    fn sum(&self, value: impl Fn(&Outcome) -> usize) -> usize {
        self.outcomes.iter().map(value).sum()
    }

    /// The number of datagrams that were never delivered.
    pub fn lost(&self) -> usize {
        self.sum(|outcome| outcome.lost)
    }

    /// The share of the datagrams that were never delivered.
    pub fn loss(&self) -> f64 {
        self.lost() as f64 / self.sum(|outcome| outcome.sent) as f64
    }

    /// The number of runs of consecutive datagrams that were never delivered.
    pub fn bursts(&self) -> usize {
        self.sum(|outcome| outcome.bursts)
    }

    /// The median over the runs of bytes on the wire divided by bytes of media, minus 1.
    pub fn overhead(&self) -> f64 {
        median(self.outcomes.iter().map(Outcome::overhead))
    }

    /// The median over the runs of quantile `q` of the delay.
    pub fn delay(&self, q: f64) -> f64 {
        median(self.outcomes.iter().map(|outcome| quantile(outcome.latencies.iter().copied(), q)))
    }

    /// True if it lost less than `other` by more than chance. Bursts are rare events, so their counts must differ by
    /// more than two standard deviations of the difference.
    pub fn is_ahead_of(&self, other: &Score) -> bool {
        let (own, others) = (self.bursts() as f64, other.bursts() as f64);
        self.outcomes.len() == other.outcomes.len()
            && self.loss() < other.loss()
            && others - own > 2.0 * (own + others).sqrt()
    }

    /// Loss after repair, overhead, median and 99th percentile of the delay.
    pub fn cells(&self) -> [String; 4] {
        if self.outcomes.is_empty() {
            let why = if self.invalid > 0 { "invalid: this machine was too busy" } else { "ended by itself" };
            return [why.into(), "-".into(), "-".into(), "-".into()];
        }
        let mut loss = match (self.lost(), self.bursts()) {
            (0, _) => format!("0 of {}", self.sum(|outcome| outcome.sent)),
            (lost, 1) => format!("{:.1e} ({lost} in a burst)", self.loss()),
            (lost, bursts) => format!("{:.1e} ({lost} in {bursts} bursts)", self.loss()),
        };
        for (runs, what) in [(self.ended, "ended by itself"), (self.invalid, "invalid")] {
            if runs > 0 {
                loss += &format!("; {runs} {what}");
            }
        }
        let [p50, p99] = [0.5, 0.99].map(|q| Unit::Milliseconds.write(self.delay(q)));
        [loss, Unit::Percent.write(self.overhead()), p50, p99]
    }
}

#[cfg(test)]
mod tests {
    use thalweg_lab::scenario::Scenario;

    use super::*;

    const BURSTS: Loss = Loss::Bursts(0.005, 0.3, 0.7);

    fn cell(loss: Loss) -> Cell {
        let path = Path { rtt: Duration::from_millis(100), loss };
        Cell { path, rate: 10e6, budget: Duration::from_millis(70) }
    }

    fn outcome(lost: usize, bursts: usize) -> Outcome {
        Outcome {
            rate: 1.0,
            sent: 10_000,
            lost,
            bursts,
            latencies: vec![0.1],
            cpu: 0.0,
            memory: [0; 2],
            dropped: 0,
            passage: None,
            wire: Vec::new(),
        }
    }

    #[test]
    fn every_path_is_one_that_the_emulator_reads_and_the_bursts_are_those_of_the_scenario_file() {
        for loss in [Loss::None, Loss::Random(0.05), BURSTS] {
            let file = Scrap::write(&cell(loss).path.scenario()).expect("a file");
            Scenario::open(file.path(), Some(1)).expect("a scenario");
        }
        let gilbert = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/gilbert.toml");
        let own = Scrap::write(&cell(BURSTS).path.scenario()).expect("a file");
        let open = |file: &FilePath| Scenario::open(file, Some(7)).expect("a scenario");
        assert_eq!(open(own.path()), open(&gilbert));
    }

    #[test]
    fn both_have_the_same_time_on_top_of_the_one_way_delay() {
        let cell = cell(BURSTS);
        assert!(cell.thalweg("thalweg".as_ref()).lines().contains("--latency 120ms"));
        assert!(cell.srt_resends().lines().contains("&latency=70'") && !cell.srt_resends().lines().contains("filter"));
    }

    #[test]
    fn packets_that_the_machine_or_the_emulator_dropped_make_a_run_invalid() {
        let file = Scrap::write(&cell(Loss::Random(1.0)).path.scenario()).expect("a file");
        let path = Connection::Emulated { binary: "thalweg".into(), scenario: file.path().into(), seed: 1 };
        let plan = Plan { rate: 1e6, warm_up: Duration::ZERO, measured: Duration::ZERO, path };
        let good = passage::Passage { received: 9, lost: 9, refused: 0 };
        let with = |dropped, passage| Outcome { dropped, passage: Some(passage), ..outcome(0, 0) };
        assert_eq!(fault(&with(0, good), &plan), None);
        assert!(fault(&with(1, good), &plan).is_some());
        assert!(fault(&with(0, passage::Passage { refused: 1, ..good }), &plan).is_some());
        assert!(fault(&with(0, passage::Passage { lost: 8, ..good }), &plan).is_some(), "another channel");
    }

    #[test]
    fn a_handful_of_bursts_puts_nobody_ahead() {
        let score = |lost, bursts| Score { outcomes: vec![outcome(lost, bursts)], ..Score::default() };
        // The difference of two Poisson counts of 20 and 45 has a standard deviation of 8.
        assert!(score(40, 20).is_ahead_of(&score(90, 45)));
        assert!(!score(90, 45).is_ahead_of(&score(40, 20)));
        assert!(!score(0, 0).is_ahead_of(&score(30, 3)) && score(0, 0).is_ahead_of(&score(50, 5)));
        assert!(!score(0, 0).is_ahead_of(&Score::default()), "an invalid cell compares nobody");
    }
}
