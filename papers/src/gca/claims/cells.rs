//! Claims about Tables II and III.

use super::{Evaluator, Part, Record, Wanted, difference};

/// The paired change that counts as a rise, or as a fall.
const RISE: Wanted = Wanted::Above(0.0);
const FALL: Wanted = Wanted::Below(0.0);

fn psnr_spread(record: &Record) -> f64 {
    let estimates = record.psnr_estimates();
    estimates.iter().copied().fold(0.0, f64::max) - estimates.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The difference of the satisfaction of two clients under TFRC.
fn more_satisfied(evaluator: &Evaluator<'_>, more: usize, less: usize) -> Part {
    let of = |client: usize| evaluator.tfrc(|record| record.clients[client].satisfaction);
    let what = format!("satisfaction under TFRC, client {} - client {}", more + 1, less + 1);
    Part::new(what, difference(&of(more), &of(less)), RISE)
}

pub(super) fn first_two_are_equal(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let ratio = evaluator.tfrc(|record| record.clients[0].mbps / record.clients[1].mbps);
    let third = evaluator.tfrc(|record| record.clients[2].satisfaction);
    vec![
        Part::new("client 1 / client 2 under TFRC", ratio, Wanted::Within(0.9, 1.1)),
        Part::new("client 3 under TFRC, of its 3 Mb/s", third, Wanted::Above(0.9)),
    ]
}

pub(super) fn satisfaction_is_unequal(evaluator: &Evaluator<'_>) -> Vec<Part> {
    vec![more_satisfied(evaluator, 1, 0), more_satisfied(evaluator, 2, 1)]
}

pub(super) fn background_gets_less(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let part = |client: usize| {
        let ratio = evaluator.tfrc(|record| record.background_mbps / record.clients[client].mbps);
        Part::new(format!("background / client {} under TFRC", client + 1), ratio, Wanted::Within(0.33, 1.0))
    };
    vec![part(0), part(1)]
}

pub(super) fn rates_follow_needs(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let part = |client: usize, wanted: Wanted| {
        Part::new(format!("client {} / client 3", client + 1), evaluator.gca(|record| record.ratio(client)), wanted)
    };
    vec![part(0, Wanted::Within(2.4, 3.6)), part(1, Wanted::Within(1.7, 2.4))]
}

pub(super) fn satisfaction_is_even(evaluator: &Evaluator<'_>) -> Vec<Part> {
    vec![
        Part::new("spread of satisfaction", evaluator.gca(Record::unevenness), Wanted::Below(0.15)),
        evaluator.change("spread of satisfaction", Record::unevenness, FALL),
    ]
}

pub(super) fn changes_have_their_directions(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let client = |client: usize, wanted: Wanted| {
        evaluator.change(&format!("client {}, Mb/s", client + 1), |record| record.clients[client].mbps, wanted)
    };
    vec![
        client(0, RISE),
        client(1, RISE),
        client(2, FALL),
        evaluator.change("background, Mb/s", |record| record.background_mbps, FALL),
    ]
}

pub(super) fn delay_and_jitter_are_alike(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let delay = |record: &Record| {
        let mean = record.clients.iter().map(|client| client.delay_ms).sum::<f64>() / 3.0;
        record.spread(|client| client.delay_ms) / mean
    };
    let jitter = |record: &Record| record.spread(|client| client.jitter_ms);
    vec![
        Part::new("spread of delay, of its mean, TFRC", evaluator.tfrc(delay), Wanted::Below(0.1)),
        Part::new("spread of delay, of its mean, GCA", evaluator.gca(delay), Wanted::Below(0.1)),
        Part::new("spread of jitter, ms, TFRC", evaluator.tfrc(jitter), Wanted::Below(0.2)),
        Part::new("spread of jitter, ms, GCA", evaluator.gca(jitter), Wanted::Below(0.2)),
    ]
}

pub(super) fn psnr_is_even(evaluator: &Evaluator<'_>) -> Vec<Part> {
    vec![evaluator.change("spread of the PSNR estimate, dB", psnr_spread, FALL)]
}

pub(super) fn background_is_not_starved(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let share = evaluator.gca(Record::background_share);
    vec![Part::new("background, of all that the cell carries", share, Wanted::Above(0.05))]
}
