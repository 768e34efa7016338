//! The lab beside the sockets: the same path and the same seeds, over virtual time and by three processes.
//!
//! Both sides draw the path's losses from the seed, packet by packet; what differs is which packet is the n-th, since real
//! clocks decide when hellos and reports leave. So the means over the seeds are compared, and their 95 % intervals must meet:
//! nothing else lets a difference pass.

use std::net::UdpSocket;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use thalweg_core::law::redundancy::geneva::{Geneva, Parameters};
use thalweg_core::probe::Probe;
use thalweg_core::rng::Rng;
use thalweg_core::session::live::sender::{Breaker, Repair, SourceId};
use thalweg_core::session::live::{Media, Playout, receiver, sender};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::check;
use thalweg_lab::node::Node;
use thalweg_lab::scenario::Scenario;
use thalweg_lab::statistics::Estimate;
use thalweg_lab::stream::live::{Config, Receiver, Sender};

use crate::common::Running;
use crate::stage::Stage;

/// A round trip of 40 ms; 0.003 / 0.153 of the packets meet the bad state, which loses 80 % of them, for 1 / 0.15 packets.
const PATH: &str = r#"
seed = 1
forward.element = [
    { kind = "gilbert_elliott", p = 0.003, r = 0.15, loss_bad = 0.8 },
    { kind = "wire", delay = "20ms" },
]
reverse.element = [{ kind = "wire", delay = "20ms" }]
"#;

const SEEDS: u64 = 16;
/// At once; more would take each other's machine away.
const AT_ONCE: usize = 4;
const SECONDS: u64 = 15;
const RATE: Rate = Rate::from_mbps(10);
const PAYLOAD: usize = 1_316;
/// Longer than repair needs, so that a busy machine makes no packet late.
const LATENCY: Span = Span::from_millis(500);

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
        let (latency, seed) = (format!("{}ms", LATENCY.as_micros() / 1_000), seed.to_string());
        let listen = ["--listen", "127.0.0.1:0"];
        let recv = [&["recv", "--once", "--latency", &latency, "--output", "udp://127.0.0.1:9"], &listen[..]].concat();
        let recv = Running::start(&recv);
        let to = recv.address("listening", "address");
        let path = Running::start(&[&["emulate", path, "--seed", &seed, "--to", &to], &listen[..]].concat());
        let to = path.address("listening", "address");
        let send = Running::start(&["send", "--input", "udp://127.0.0.1:0", "--to", &to, "--latency", &latency]);
        let input = send.address("sending", "input_address");
        send.event("connected");
        Processes { recv, _path: path, send, input }
    }

    /// After the sender was asked to stop.
    fn end(mut self) -> Figures {
        let mut windows = Vec::new();
        self.send.wait_for("the end", |line| {
            windows.extend(shown(line, "repair_window_packets"));
            line["event"] == "ended"
        });
        self.recv.event("ended");
        let last = self.recv.wait_for("its last figures", |line| line["event"].is_null());
        // The path may lose every goodbye; silence then ends the receiver.
        self.send.succeeds();
        let count = |name: &str| shown(&last, name).unwrap_or_else(|| panic!("{name}: {last}"));
        Figures::of(count, &seconds_of_media(&windows))
    }
}

fn shown(line: &Value, name: &str) -> Option<f64> {
    line[name].as_f64()
}

/// The first second is the law's beginning, and behind the last there is no media.
fn seconds_of_media(windows: &[f64]) -> Vec<f64> {
    windows.iter().skip(1).take(SECONDS as usize - 2).copied().collect()
}

/// Feeds every input with datagrams at the media's rate.
fn feed(inputs: &[&str]) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let began = Instant::now();
    for number in 0..RATE.bytes_in(Span::from_secs(SECONDS)).0 / PAYLOAD as u64 {
        let due = Duration::from_nanos(RATE.time_for(Bytes(PAYLOAD as u64) * number).as_nanos());
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

/// The same sessions as `send` and `recv` make them, over virtual time.
fn simulated(path: &Path, seed: u64) -> Figures {
    let Scenario { mut forward, mut reverse, .. } = Scenario::open(path, Some(seed)).expect("the path");
    let (from, to) = (([127, 0, 0, 1], 5_000).into(), ([127, 0, 0, 1], 6_000).into());
    let session = sender::Config {
        to,
        fec_to: None,
        media: Media::Opaque,
        repair: Repair::Geneva(Geneva::new(Parameters::default()).expect("the paper's parameters")),
        latency: LATENCY,
        max_rate: None,
        block: None,
        source_id: SourceId::Explicit,
        breaker: Breaker::RepairFirst,
    };
    let start = Time::ZERO + Span::from_millis(200);
    let stop = Some(start + Span::from_secs(SECONDS));
    let config = Config { flow: 0, session, start, stop, rate: RATE, payload: Bytes(PAYLOAD as u64) };
    let rng = Rng::new(seed).fork("sessions");
    let mut sender = Sender::new(config, &rng.fork("sender"));
    let hearing = receiver::Config { latency: LATENCY, playout: Playout::Asap };
    let mut receiver = Receiver::new(0, hearing, from, &rng.fork("receiver"));
    let (mut now, mut look, mut windows) = (Time::ZERO, start + Span::from_secs(1), Vec::new());
    while now < start + Span::from_secs(SECONDS + 2) {
        if now >= look {
            windows.push(value(&sender, "repair_window_packets"));
            look += Span::from_secs(1);
        }
        loop {
            if let Some(packet) = sender.poll(now) {
                forward.accept(now, packet);
            } else if let Some(packet) = forward.poll(now) {
                receiver.accept(now, packet);
            } else if let Some(packet) = receiver.poll(now) {
                reverse.accept(now, packet);
            } else if let Some(packet) = reverse.poll(now) {
                sender.accept(now, packet);
            } else {
                break;
            }
        }
        let waits = [sender.next(), receiver.next(), forward.next(), reverse.next()];
        let next = waits.into_iter().flatten().min().expect("a second's tick at least");
        assert!(next > now, "no progress at {now:?}");
        now = next;
    }
    check::conservation(&forward).expect("in = out + dropped + queued");
    Figures::of(|name| value(&receiver, name), &seconds_of_media(&windows))
}

fn value(session: &impl Probe, name: &str) -> f64 {
    let mut found = f64::NAN;
    session.probe(&mut |metric, value| {
        if metric == name {
            found = value;
        }
    });
    found
}

#[test]
fn the_lab_and_three_processes_agree_on_loss_and_repair() {
    let Some(stage) = Stage::enter(&[]) else { return };
    let path = stage.write("path.toml", PATH);
    let lab: Vec<Figures> = (1..=SEEDS).map(|seed| simulated(Path::new(&path), seed)).collect();
    let real = real(&path);
    println!("lab {lab:#.4?}\nreal {real:#.4?}");
    for figures in lab.iter().chain(&real) {
        // 0.0196 of the packets times 0.8 before repair, +- 0.0035: a run has 14 000 packets, and 42 spells of loss.
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
