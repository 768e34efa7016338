//! The lab beside the sockets: one path and one stream, as a scenario of `lab run` and by three processes.
//!
//! Elements, rate, packets and latency are written down once. Both sides draw the path's losses from seeds, each its own; so
//! the means over the seeds are compared, and their 95 % intervals must meet: nothing else lets a difference pass.
//!
//! The window is near its least on this path. With shorter round trips it would be far above, and then hang on the machine:
//! the brake takes repair down where loss and a longer round trip come together, and 1 ms of jitter each way halves the
//! mean window of a path of 13 ms, in the lab as well.

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use serde_json::Value;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::experiment::{End, Place, Recorder, Run};
use thalweg_lab::scenario::Blueprint;
use thalweg_lab::statistics::Estimate;

use crate::common::Running;
use crate::stage::Stage;

/// 0.003 / 0.153 of the packets meet the bad state, which loses 80 % of them, for 1 / 0.15 packets.
const LOSS: &str = r#"{ kind = "gilbert_elliott", p = 0.003, r = 0.15, loss_bad = 0.8 }"#;
/// Half a round trip of 40 ms.
const WIRE: &str = r#"{ kind = "wire", delay = "20ms" }"#;

const SEEDS: u64 = 16;
/// At once; more would take each other's machine away.
const AT_ONCE: usize = 4;
const SECONDS: u64 = 15;
/// Of source packets on the wire.
const RATE: Rate = Rate::from_mbps(10);
const PAYLOAD: usize = 1_316;
/// A source packet on the wire: IP and UDP, RTP and the payload ID of its block go with the payload.
const PACKET: Bytes = Bytes(PAYLOAD as u64 + 28 + 12 + 6);
/// Longer than repair needs, so that a busy machine makes no packet late.
const LATENCY: &str = "500ms";
/// The lab's stream begins then; hellos take as long.
const START: Span = Span::from_millis(200);

/// The path of `thalweg emulate`.
fn path() -> String {
    format!("seed = 1\nforward.element = [{LOSS}, {WIRE}]\nreverse.element = [{WIRE}]\n")
}

/// The same path and the stream, as a scenario of `thalweg lab run`.
fn scenario() -> String {
    format!(
        r#"
        run = {{ duration = "{duration}", warmup = "0s" }}
        access = {{ rate = "1000gbit", near = "0s", far = "0s" }}
        [[hop]]
        forward = [{LOSS}, {WIRE}]
        backward = [{WIRE}]
        [[flow]]
        kind = "stream"
        scheme = "live"
        rate = "{RATE}"
        packet = {PACKET}
        latency = "{LATENCY}"
        start = "{START}"
        "#,
        duration = START + Span::from_secs(SECONDS),
        PACKET = PACKET.0,
    )
}

/// What a sender shows each second.
const WINDOW: &str = "repair_window_packets";

/// What is compared of a run.
#[derive(Debug)]
struct Figures {
    loss_before: f64,
    loss_after: f64,
    /// Mean of the window over the seconds with media.
    window: f64,
}

impl Figures {
    /// Of what a receiver has counted in the end, and what a sender has shown each second.
    fn of(count: impl Fn(&str) -> f64, windows: &[f64]) -> Figures {
        let (media, residual) = (count("media_packets_total"), count("residual_lost_packets_total"));
        let share = |lost: f64| lost / (media + residual);
        // The first second is the law's beginning, and behind the last there is no media.
        let windows = &windows[1..SECONDS as usize - 1];
        let window = windows.iter().sum::<f64>() / windows.len() as f64;
        Figures { loss_before: share(count("lost_packets_total")), loss_after: share(residual), window }
    }
}

/// Three processes under way.
struct Processes {
    recv: Running,
    _path: Running,
    send: Running,
    input: String,
}

impl Processes {
    fn start(path: &str, seed: u64) -> Processes {
        let seed = seed.to_string();
        let listen = ["--listen", "127.0.0.1:0"];
        let recv = [&["recv", "--once", "--latency", LATENCY, "--output", "udp://127.0.0.1:9"], &listen[..]].concat();
        let recv = Running::start(&recv);
        let to = recv.address("listening", "address");
        let path = Running::start(&[&["emulate", path, "--seed", &seed, "--to", &to], &listen[..]].concat());
        let to = path.address("listening", "address");
        let send = Running::start(&["send", "--input", "udp://127.0.0.1:0", "--to", &to, "--latency", LATENCY]);
        let input = send.address("sending", "input_address");
        send.event("connected");
        Processes { recv, _path: path, send, input }
    }

    /// After the sender was asked to stop.
    fn end(mut self) -> Figures {
        let mut windows = Vec::new();
        self.send.wait_for("the end", |line| {
            windows.extend(shown(line, WINDOW));
            line["event"] == "ended"
        });
        self.recv.event("ended");
        let last = self.recv.wait_for("its last figures", |line| line["event"].is_null());
        // The path may lose every goodbye; silence then ends the receiver.
        self.send.succeeds();
        let count = |name: &str| shown(&last, name).unwrap_or_else(|| panic!("{name}: {last}"));
        Figures::of(count, &windows)
    }
}

fn shown(line: &Value, name: &str) -> Option<f64> {
    line[name].as_f64()
}

/// Feeds every input with datagrams, as many as make the rate on the wire.
fn feed(inputs: &[&str]) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let began = Instant::now();
    for number in 0..RATE.bytes_in(Span::from_secs(SECONDS)).0 / PACKET.0 {
        let due = Duration::from_nanos(RATE.time_for(PACKET * number).as_nanos());
        std::thread::sleep(due.saturating_sub(began.elapsed()));
        let mut datagram = [0; PAYLOAD];
        datagram[..8].copy_from_slice(&number.to_be_bytes());
        for input in inputs {
            socket.send_to(&datagram, input).expect("loopback takes it");
        }
    }
}

fn real(path: &str) -> Vec<Figures> {
    let seeds: Vec<u64> = (1..=SEEDS).collect();
    let of_some = |seeds: &[u64]| {
        let streams: Vec<Processes> = seeds.iter().map(|seed| Processes::start(path, *seed)).collect();
        feed(&streams.iter().map(|stream| stream.input.as_str()).collect::<Vec<_>>());
        // What is still in sockets is taken within a turn or two of the sender.
        std::thread::sleep(Duration::from_millis(500));
        streams.iter().for_each(|stream| stream.send.interrupt());
        streams.into_iter().map(Processes::end).collect::<Vec<_>>()
    };
    seeds.chunks(AT_ONCE).flat_map(of_some).collect()
}

/// A run of the lab, looked at every second.
fn simulated(scenario: &str, seed: u64) -> Figures {
    let blueprint = Blueprint::parse("scenario", scenario, &[], &mut |file| Err(format!("no {file}")));
    let experiment = blueprint.and_then(|blueprint| blueprint.experiment(seed)).expect("the scenario");
    let mut run = Run::new(&experiment, seed).expect("possible");
    let mut recorder = Recorder::new(&run);
    let (mut windows, mut counts) = (Vec::new(), BTreeMap::new());
    for second in 1..=SECONDS {
        run.until(Time::ZERO + START + Span::from_secs(second));
        recorder.look(&run, &mut |place, name, value| match (place, name) {
            (Place::Flow(_, End::Sender), WINDOW) => windows.push(value),
            (Place::Flow(_, End::Receiver), name) => {
                counts.insert(name, value);
            }
            _ => {}
        });
    }
    run.finish().expect("in = out + dropped + queued");
    Figures::of(|name| counts[name], &windows)
}

#[test]
fn the_lab_and_three_processes_agree_on_loss_and_repair() {
    let Some(stage) = Stage::enter(&[]) else { return };
    let path = stage.write("path.toml", &path());
    let lab: Vec<Figures> = (1..=SEEDS).map(|seed| simulated(&scenario(), seed)).collect();
    let real = real(&path);
    println!("lab {lab:#.4?}\nreal {real:#.4?}");
    for figures in lab.iter().chain(&real) {
        // 0.0196 of the packets times 0.8 before repair, +- 0.0035: a run has 13 800 packets, and 41 spells of loss.
        assert!((0.003..0.04).contains(&figures.loss_before), "{figures:?}");
        assert!(figures.loss_after < figures.loss_before && figures.window > 0.0, "{figures:?}");
    }
    let agree = |what: &str, of: fn(&Figures) -> f64| {
        let [lab, real] = [&lab, &real].map(|all| Estimate::of(all.iter().map(of)));
        let told = |it: &Estimate| format!("{:.5} +- {:.5}", it.mean, it.half_width);
        println!("{what}: lab {}, real {}", told(&lab), told(&real));
        let meet = (lab.mean - real.mean).abs() <= lab.half_width + real.half_width;
        assert!(meet, "{what}: lab {lab:?}, real {real:?}");
    };
    agree("loss after repair", |figures| figures.loss_after);
    agree("mean repair window", |figures| figures.window);
}
