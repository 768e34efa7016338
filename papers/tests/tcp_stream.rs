//! TCP Stream's evaluation in miniature: a run ends with its last video, however it is split, and shows the law's
//! windows.

use thalweg_core::time::Span;
use thalweg_lab::experiment::Run;
use thalweg_papers::tcp_stream::{Carrier, Condition, Job, Opening, Plan, Record, Results};

/// Videos of ten seconds, of 4.5 MB each.
fn plan() -> Plan {
    let opening = Opening { ftp: 1.0, video: 2.0, every: 0.1, warmup: 4.0 };
    Plan { video_seconds: 10, opening, seeds: 1, n_ftp: vec![1], queues: vec![250], fig5_seeds: 1 }
}

fn job(carrier: Carrier) -> Job {
    Job { condition: Condition::Simulation { n_ftp: 1, queue: 250 }, carrier, seed: 1 }
}

/// The result of a job that is advanced by `step` at a time.
fn run(job: &Job, step: Span) -> Record {
    let mut work = plan().begin(job).expect("possible");
    while work.done() < work.length() {
        let before = work.done();
        work.advance(step);
        assert!(work.done() >= before && work.done() <= work.length());
    }
    work.finish().expect("conservation")
}

#[test]
fn a_run_ends_when_every_video_is_there_however_it_is_cut() {
    for carrier in Carrier::OURS {
        let record = run(&job(carrier), Span::from_secs(1));
        assert_eq!(record.delivered, 1.0);
        // Ten videos of 4.5 MB at 70 Mb/s take 5.1 s at least; the time limit would be 52 s.
        assert!(record.end_s > 2.0 + 45.0 * 8.0 / 100.0 && record.end_s < 20.0, "{} s", record.end_s);
        assert_eq!(run(&job(carrier), Span::from_millis(370)), record, "{carrier:?}");
    }
}

#[test]
fn clamped_videos_take_their_playing_time() {
    let record = run(&job(Carrier::Clamp), Span::from_secs(1));
    // The last of ten starts at 2.9 s. A ceiling of whole segments may be a thirtieth above the rate, and a loss halves
    // it.
    assert!((12.0..=17.0).contains(&record.end_s), "{} s", record.end_s);
    assert_eq!((record.delivered, record.stalls), (1.0, 0.0));
}

#[test]
fn the_laws_windows_are_read_and_other_laws_have_none() {
    let ours = run(&job(Carrier::Printed), Span::from_secs(1)).windows;
    // 3.6 Mb/s over a base round trip of 100 to 140 ms and the delay of a queue of 250 packets, 30 ms at most.
    assert!((30.0..=52.0).contains(&ours.cap), "{ours:?}");
    assert!(ours.lwnd > 0.0 && ours.lwnd <= ours.cap + 1.0 && ours.dwnd >= 0.0, "{ours:?}");
    assert!((0.0..=1.0).contains(&ours.share_of_dwnd()) && (0.0..=1.0).contains(&ours.delay_on));
    assert!(run(&job(Carrier::NewReno), Span::from_secs(1)).windows.lwnd.is_nan());
}

#[test]
fn series_show_the_windows_by_the_papers_names() {
    let experiment = plan().blueprint(&job(Carrier::Printed)).expect("a scenario").experiment(1).expect("possible");
    let mut run = Run::new(&experiment, 1).expect("possible");
    run.until(thalweg_core::time::Time::ZERO + Span::from_secs(4));
    let video = (0..).find(|flow| run.group_of(*flow).is_none_or(|group| run.groups()[group].name == "film"));
    let mut shown = Vec::new();
    run.probe(video.expect("ten videos"), &mut |name, _| shown.push(name));
    for name in ["lwnd", "dwnd", "cap", "diff", "tau", "delay_on", "swnd"] {
        assert_eq!(shown.iter().filter(|seen| **seen == name).count(), 1, "{name}");
    }
    for name in ["cwnd", "ssthresh"] {
        assert_eq!(shown.iter().filter(|seen| **seen == name).count(), 1, "{name} is shown once, by the sender");
    }
}

#[test]
fn what_was_not_run_has_no_value() {
    let mut results = Results::new(plan());
    let at = job(Carrier::Printed);
    assert!(results.values(at.condition, at.carrier, |record| record.loss).iter().all(|loss| loss.is_nan()));
    let record = run(&at, Span::from_secs(1));
    results.insert(at, record.clone());
    assert_eq!(results.values(at.condition, at.carrier, |record| record.loss), [record.loss]);
}

/// The rate of the second video of a pair relative to that of the first, in the last 20 s.
fn share(carrier: Carrier, second: u32, end: u32) -> f64 {
    let job = Job { condition: Condition::Pair { queue: 250, second, end }, carrier, seed: 1 };
    let series = plan().begin(&job).expect("possible").finish().expect("conservation").series.expect("of a pair");
    let (from, to) = (end as usize - 20, end as usize);
    let (first, second) = (series.video_mbps(from, to), series.background_mbps(from, to));
    // Together they fill the link.
    assert!((90.0..97.4).contains(&(first + second)), "{first} and {second}");
    second / first
}

#[test]
fn two_videos_share_as_their_bands_have_it_and_who_comes_late_gets_more() {
    // Eq. (4): each keeps between alpha and beta packets of its own in the queue, 2 and 4, above the ceiling of ten as
    // printed; with one tau for both, the rates are in proportion to these packets.
    for (carrier, band) in [(Carrier::Printed, 14.0 / 12.0), (Carrier::VegasThresholds, 4.0 / 2.0)] {
        let share = share(carrier, 1, 30);
        assert!((1.0 / band..band).contains(&share), "{carrier:?}: {share}");
    }
    // A late flow takes the twelve packets of the first for a part of its path: with d for its own delay in the queue,
    // in the time of a packet, 12 / (d + 12) + 12 / d = 1, and it gets 1.6 times as much; the bands leave 14/12 either
    // way.
    let late = share(Carrier::Printed, 20, 50);
    assert!((1.6 * 12.0 / 14.0..1.6 * 14.0 / 12.0).contains(&late), "{late}");
}
