//! Runs whose numbers are those of the path: others are repeated.

use crate::contestant::Contestant;
use crate::passage;
use crate::stream::{Connection, Outcome, Plan, run};

/// The number of attempts at a run that is invalid, because the machine was too busy or a port was taken.
pub const TRIES: usize = 3;

/// Runs `contestant`, and repeats an invalid run. An error is the reason why there is no valid run: each time the contestant
/// ended by itself or delivered nothing, or the machine was too busy.
pub fn attempt(contestant: &Contestant, plan: &Plan) -> Result<Outcome, String> {
    let mut last = String::new();
    for _ in 0..TRIES {
        // A program that ends by itself may have found its port taken by another run at that moment.
        let why = match run(contestant, plan) {
            Ok(outcome) => match fault(&outcome, plan) {
                None => return Ok(outcome),
                Some(why) => format!("invalid, {why}"),
            },
            Err(why) => why,
        };
        eprintln!("{}: {why}", contestant.name);
        last = why;
    }
    Err(format!("{}: {last}", contestant.name))
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::scrap::Scrap;

    #[test]
    fn packets_that_the_machine_or_the_emulator_dropped_make_a_run_invalid() {
        let text = "seed = 1\nforward.element = [{ kind = \"loss\", rate = 1.0 }]\nreverse = {}\n";
        let file = Scrap::write(text).expect("a file");
        let path = Connection::Emulated { binary: "thalweg".into(), scenario: file.path().into(), seed: 1 };
        let plan = Plan { rate: 1e6, warm_up: Duration::ZERO, measured: Duration::ZERO, path };
        let good = passage::Passage { received: 9, lost: 9, refused: 0 };
        let with = |dropped, passage| Outcome { dropped, passage: Some(passage), ..Outcome::default() };
        assert_eq!(fault(&with(0, good), &plan), None);
        assert!(fault(&with(1, good), &plan).is_some());
        assert!(fault(&with(0, passage::Passage { refused: 1, ..good }), &plan).is_some());
        assert!(fault(&with(0, passage::Passage { lost: 8, ..good }), &plan).is_some(), "another channel");
    }
}
