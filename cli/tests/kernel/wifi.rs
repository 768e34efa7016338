//! The goodput of the kernel's TCP through an emulated Wi-Fi cell, and that of the lab's TCP through the same cell.

use std::time::Duration;

use thalweg_lab::experiment::Run;
use thalweg_lab::scenario::Blueprint;
use thalweg_testbed::FAR;

use crate::bulk::Bulk;
use crate::cable::Yard;

/// The number of the kernel's runs, whose mean counts, and that of the lab's, which cost little.
const RUNS: u64 = 3;
const SEEDS: u64 = 10;
/// The greatest difference of the kernel's goodput from the lab's, relative to the lab's.
const WITHIN: f64 = 0.15;

/// The cell, behind a wire of 5 ms in both directions, for the emulator.
fn path(slot: &str, seed: u64) -> String {
    format!(
        r#"seed = {seed}
forward.element = [{{ kind = "wire", delay = "5ms" }}]
reverse.element = [{{ kind = "wire", delay = "5ms" }}]
[wifi]
slot = "{slot}"
queue = 50
station = [{{ name = "far", rate = "54mbit", address = "{FAR}" }}]
"#
    )
}

/// The goodput of the lab's TCP, in bits a second of all flows.
fn lab(slot: &str, bulk: Bulk, seed: u64) -> f64 {
    let Bulk { flows, control, warm_up, measured } = bulk;
    let text = format!(
        r#"[run]
duration = "{}s"
warmup = "{}s"
[[hop]]
kind = "wifi"
slot = "{slot}"
queue = 50
station = [{{ name = "far", rate = "54mbit" }}]
[access]
rate = "100gbit"
near = "5ms"
far = "0s"
[[flow]]
kind = "tcp"
tcp = "{control}"
like = "linux"
count = {flows}
start = ["0s", "20ms"]
station = "far"
"#,
        (warm_up + measured).as_secs(),
        warm_up.as_secs(),
    );
    let blueprint = Blueprint::parse("cell", &text, &[], &mut |_| Err("no files".to_owned()));
    let experiment =
        blueprint.and_then(|blueprint| blueprint.experiment(seed)).unwrap_or_else(|error| panic!("{error}"));
    let outcome = Run::new(&experiment, seed).expect("a possible run").finish().expect("conservation");
    outcome.value("tcp_goodput_mbps") * 1e6
}

/// Segments and acknowledgements share the medium: of about 30 Mb/s that segments alone would have, 20 and less are left.
#[test]
fn through_a_cell_the_labs_tcp_gets_what_the_kernels_gets() {
    let Some(yard) = Yard::enter() else { return };
    let bulk =
        |flows| Bulk { flows, control: "cubic", warm_up: Duration::from_secs(3), measured: Duration::from_secs(7) };
    for (slot, bulk) in [("20us", bulk(1)), ("9us", bulk(3))] {
        let expected = (0..SEEDS).map(|seed| lab(slot, bulk, seed)).sum::<f64>() / SEEDS as f64;
        let kernel = (0..RUNS).map(|seed| {
            let cable = yard.lay(&path(slot, seed));
            let goodput: f64 = bulk.run(&cable).iter().sum();
            let end = cable.end();
            assert!(
                end["stations"]["far"]["up"]["sent_packets_total"].as_u64() > Some(0),
                "no acknowledgements: {end}"
            );
            goodput
        });
        let kernel = kernel.sum::<f64>() / RUNS as f64;
        println!(
            "{} cubic, slots of {slot}: kernel {:.2} Mb/s, lab {:.2} Mb/s",
            bulk.flows,
            kernel / 1e6,
            expected / 1e6
        );
        assert!((kernel / expected - 1.0).abs() < WITHIN, "{slot}: kernel {kernel}, lab {expected}");
    }
}
