//! The lab beside the sockets: one path and one stream, as a scenario of `lab run` and by three processes.
//!
//! Elements, rate, packets and latency are defined once. Both sides draw the path's losses from seeds, each its own; so
//! the means over the seeds are compared, and their 95 % intervals must overlap: there is no other tolerance.
//!
//! The window is near its minimum on this path. With shorter round trips it would be far above, and would depend on the
//! machine: the brake reduces repair where loss and a longer round trip coincide, and 1 ms of jitter each way halves
//! the mean window of a path of 13 ms, in the lab as well.

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use serde_json::Value;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::experiment::{End, Experiment, Place, Recorder, Run};

use crate::common::Running;
use crate::peers::shared_path::{SharedPath, agree};
use crate::peers::stage::Stage;

/// 0.003 / 0.153 of the packets meet the bad state, which lasts 1 / 0.15 packets and loses 80 % of them.
const LOSS: &str = r#"{ kind = "gilbert_elliott", p = 0.003, r = 0.15, loss_bad = 0.8 }"#;
/// The same losses, and half a round trip of 40 ms each way.
const PATH: SharedPath = SharedPath { loss: LOSS, wire: r#"{ kind = "wire", delay = "20ms" }"# };

const SEEDS: u64 = 16;
/// The streams at a time; more would compete for the processors.
const AT_ONCE: usize = 4;
const SECONDS: u64 = 15;
/// The schemes of repair, each by its name in the lab and its option of `send`.
const SCHEMES: [(&str, &str); 2] = [("live", "geneva"), ("live-auto", "auto")];
/// The rate of source packets on the wire.
const RATE: Rate = Rate::from_mbps(10);
const PAYLOAD: usize = 1_316;
/// The size of a source packet on the wire: the headers of IP, UDP and RTP, the payload, and the payload ID of its
/// block.
const PACKET: Bytes = Bytes(PAYLOAD as u64 + 28 + 12 + 6);
/// Latency above the need of repair, so that a busy machine makes no packet late.
const LATENCY: &str = "500ms";
/// The start of the lab's stream; hellos take as long.
const START: Span = Span::from_millis(200);

/// The stream, as an experiment of the lab over the same path.
fn experiment(scheme: &str, seed: u64) -> Experiment {
    let run = format!(r#"duration = "{}", warmup = "0s""#, START + Span::from_secs(SECONDS));
    let flow = format!(
        r#"
        kind = "stream"
        scheme = "{scheme}"
        rate = "{RATE}"
        packet = {}
        latency = "{LATENCY}"
        start = "{START}"
        "#,
        PACKET.0,
    );
    PATH.simulated(&run, &flow, seed)
}

/// A metric that a sender shows each second.
const WINDOW: &str = "repair_window_packets";

/// The figures of a run that are compared.
#[derive(Debug)]
struct Figures {
    loss_before: f64,
    loss_after: f64,
    /// Mean of the window over the seconds with media.
    window: f64,
}

impl Figures {
    /// Computes the figures from the final counts of a receiver and the windows that a sender has shown each second.
    fn of(count: impl Fn(&str) -> f64, windows: &[f64]) -> Figures {
        let (media, residual) = (count("media_packets_total"), count("residual_lost_packets_total"));
        let share = |lost: f64| lost / (media + residual);
        // The law starts in the first second, and media ends with the last.
        let windows = &windows[1..SECONDS as usize - 1];
        let window = windows.iter().sum::<f64>() / windows.len() as f64;
        Figures { loss_before: share(count("lost_packets_total")), loss_after: share(residual), window }
    }
}

/// Three running processes.
struct Processes {
    recv: Running,
    _path: Running,
    send: Running,
    input: String,
}

impl Processes {
    fn start(path: &str, repair: &str, seed: u64) -> Processes {
        let seed = seed.to_string();
        let listen = ["--listen", "127.0.0.1:0"];
        let recv = [&["recv", "--once", "--latency", LATENCY, "--output", "udp://127.0.0.1:9"], &listen[..]].concat();
        let recv = Running::start(&recv);
        let to = recv.address("listening", "address");
        let path = Running::start(&[&["emulate", path, "--seed", &seed, "--to", &to], &listen[..]].concat());
        let to = path.address("listening", "address");
        let send = ["send", "--input", "udp://127.0.0.1:0", "--to", &to, "--latency", LATENCY, "--repair", repair];
        let send = Running::start(&send);
        let input = send.address("sending", "input_address");
        send.event("connected");
        Processes { recv, _path: path, send, input }
    }

    /// Waits for the end, once the sender was asked to stop.
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

/// Feeds every input with datagrams, at [`RATE`] on the wire.
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

fn real(path: &str, repair: &str) -> Vec<Figures> {
    let seeds: Vec<u64> = (1..=SEEDS).collect();
    let of_some = |seeds: &[u64]| {
        let streams: Vec<Processes> = seeds.iter().map(|seed| Processes::start(path, repair, *seed)).collect();
        feed(&streams.iter().map(|stream| stream.input.as_str()).collect::<Vec<_>>());
        // The sender takes data that is still in sockets within one or two turns of its event loop.
        std::thread::sleep(Duration::from_millis(500));
        streams.iter().for_each(|stream| stream.send.interrupt());
        streams.into_iter().map(Processes::end).collect::<Vec<_>>()
    };
    seeds.chunks(AT_ONCE).flat_map(of_some).collect()
}

/// A run of the lab, observed every second.
fn simulated(scheme: &str, seed: u64) -> Figures {
    let mut run = Run::new(&experiment(scheme, seed), seed).expect("possible");
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
fn lab_and_real_processes_agree_on_loss_and_repair() {
    let Some(stage) = Stage::enter(&[]) else { return };
    let path = stage.write("path.toml", &PATH.emulated());
    for (scheme, repair) in SCHEMES {
        let lab: Vec<Figures> = (1..=SEEDS).map(|seed| simulated(scheme, seed)).collect();
        let real = real(&path, repair);
        println!("{repair}: lab {lab:#.4?}\nreal {real:#.4?}");
        for figures in lab.iter().chain(&real) {
            // 0.0196 of the packets times 0.8 before repair, +- 0.0035: a run has 13 800 packets, and 41 loss episodes.
            assert!((0.003..0.04).contains(&figures.loss_before), "{figures:?}");
            assert!(figures.loss_after < figures.loss_before && figures.window > 0.0, "{figures:?}");
        }
        agree(&lab, &real, &format!("{repair}: loss after repair"), |figures| figures.loss_after);
        agree(&lab, &real, &format!("{repair}: mean repair window"), |figures| figures.window);
    }
}
