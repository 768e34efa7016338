//! The goodput of the kernel's TCP on a path of known capacity, and that of the lab's TCP on the same path.

use std::thread;
use std::time::Duration;

use crate::bulk::Bulk;
use crate::cable::Yard;
use crate::dumbbell::Dumbbell;

/// The share of payload: of 1500 bytes on the link 1460 are TCP's payload.
pub(crate) const PAYLOAD: f64 = 1460.0 / 1500.0;
/// The number of the kernel's runs, whose mean counts.
const RUNS: u64 = 5;
/// The rate that this machine emulates at a time without being late, in bits a second.
const EMULATED: f64 = 130e6;
/// The number of the lab's runs, which cost little.
const SEEDS: u64 = 20;
/// The greatest difference of the kernel's goodput from the lab's, relative to the lab's.
const WITHIN: f64 = 0.15;

fn bulk(flows: usize, control: &'static str, warm_up: u64, measured: u64) -> Bulk {
    Bulk { flows, control, warm_up: Duration::from_secs(warm_up), measured: Duration::from_secs(measured) }
}

#[test]
fn one_cubic_flow_fills_most_of_an_empty_link_and_no_more_than_it_has() {
    let Some(yard) = Yard::enter() else { return };
    let dumbbell = Dumbbell { mbit: 20, rtt_ms: 20, queue: 50, loss: 0.0 };
    let cable = yard.lay(&dumbbell.scenario(1));
    let goodput: f64 = bulk(1, "cubic", 3, 5).run(&cable).iter().sum();
    let end = cable.end();
    println!("one cubic flow, 20 Mb/s, RTT 20 ms: {:.2} Mb/s", goodput / 1e6);
    let capacity = 20e6 * PAYLOAD;
    // A hole before the measured seconds may be filled within them: it holds a queue and a window at most.
    assert!(goodput <= capacity * 1.02, "{goodput}");
    assert!(goodput > capacity * 0.8, "{goodput}");
    let lost = &end["forward"]["elements"]["drop_tail"]["lost_packets_total"];
    assert!(lost.as_u64() > Some(0), "nothing else ends slow start: {end}");
    assert_eq!(end["reverse"]["refused_packets_total"], 0);
}

#[test]
fn where_queues_alone_lose_packets_the_labs_tcp_gets_what_the_kernels_gets() {
    let clean = |mbit, rtt_ms, queue| Dumbbell { mbit, rtt_ms, queue, loss: 0.0 };
    // Queues of about the path's bandwidth-delay product; one that is short, and costs goodput.
    compare_all(&[
        (clean(20, 20, 50), bulk(1, "reno", 3, 7)),
        (clean(20, 100, 20), bulk(1, "reno", 5, 15)),
        (clean(20, 100, 160), bulk(2, "cubic", 5, 10)),
        (clean(50, 50, 200), bulk(2, "reno", 5, 10)),
        (clean(100, 20, 160), bulk(4, "cubic", 3, 5)),
        (clean(100, 100, 800), bulk(1, "cubic", 8, 7)),
    ]);
}

#[test]
fn where_one_packet_in_a_hundred_is_lost_the_labs_tcp_gets_what_the_kernels_gets() {
    compare_all(&[
        (lossy(100, 20, 160), bulk(4, "reno", 3, 10)),
        (lossy(100, 100, 800), bulk(4, "reno", 3, 15)),
        // A single flow loses too few packets in 15 s for a steady mean.
        (lossy(20, 20, 50), bulk(1, "cubic", 3, 40)),
        (lossy(50, 50, 200), bulk(2, "cubic", 3, 15)),
    ]);
}

#[cfg(feature = "kernel")]
#[test]
fn of_a_video_the_labs_tcp_stream_gets_what_the_kernels_gets_where_packets_are_lost() {
    let Some(_) = Yard::enter() else { return };
    let Some(control) = crate::control::Control::load(&[]) else { return };
    let name = control.lasting_name();
    // Random losses, which keep lwnd below its ceiling or let it reach that now and then; a queue too short for two.
    compare_all(&[
        (lossy(20, 100, 160), bulk(4, name, 5, 25)),
        (lossy(20, 20, 50), bulk(1, name, 3, 40)),
        (Dumbbell { mbit: 20, rtt_ms: 40, queue: 20, loss: 0.0 }, bulk(2, name, 5, 15)),
    ]);
}

fn lossy(mbit: u64, rtt_ms: u64, queue: u64) -> Dumbbell {
    Dumbbell { mbit, rtt_ms, queue, loss: 0.01 }
}

fn compare_all(cases: &[(Dumbbell, Bulk)]) {
    let Some(yard) = Yard::enter() else { return };
    let far: Vec<String> = cases.iter().filter_map(|(dumbbell, bulk)| compare(&yard, dumbbell, *bulk)).collect();
    assert!(far.is_empty(), "too far apart:\n{}", far.join("\n"));
}

/// Runs both and prints their rates; returns the line if the rates are too far apart.
fn compare(yard: &Yard, dumbbell: &Dumbbell, bulk: Bulk) -> Option<String> {
    let lab = (0..SEEDS).map(|seed| dumbbell.lab(bulk, seed)).sum::<f64>() / SEEDS as f64;
    let kernel = kernel(yard, dumbbell, bulk, (EMULATED / lab) as usize);
    let Dumbbell { mbit, rtt_ms, loss, .. } = dumbbell;
    let line = format!(
        "{} x {}, {mbit} Mb/s, RTT {rtt_ms} ms, {} % lost: kernel {:.2} Mb/s, lab {:.2} Mb/s, ratio {:.3}",
        bulk.flows,
        bulk.control,
        loss * 100.0,
        kernel / 1e6,
        lab / 1e6,
        kernel / lab
    );
    println!("{line}");
    ((kernel / lab - 1.0).abs() > WITHIN).then_some(line)
}

/// The mean rate of the kernel, `together` runs at a time, each on a cable of its own.
fn kernel(yard: &Yard, dumbbell: &Dumbbell, bulk: Bulk, together: usize) -> f64 {
    let run = |seed| {
        let cable = yard.lay(&dumbbell.scenario(seed));
        let goodput: f64 = bulk.run(&cable).iter().sum();
        cable.end();
        goodput
    };
    let seeds: Vec<u64> = (0..RUNS).collect();
    let waves = seeds.chunks(together.max(1)).flat_map(|wave| {
        thread::scope(|scope| {
            let runs: Vec<_> = wave.iter().map(|&seed| scope.spawn(move || run(seed))).collect();
            runs.into_iter().map(|run| run.join().expect("no panic")).collect::<Vec<f64>>()
        })
    });
    waves.sum::<f64>() / RUNS as f64
}
