//! The lab beside the sockets for tunnels: bursts over one lossy path, as a scenario of `lab run` and by three processes.
//!
//! Path, rate and bursts are defined once. Both sides draw the path's losses from seeds, each its own; so the means over
//! the seeds are compared, and their 95 % intervals must overlap: there is no other tolerance.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use thalweg_lab::experiment::{Experiment, Outcome, Run};

use crate::common::{Running, TIMEOUT, run};
use crate::peers::shared_path::{SharedPath, agree};
use crate::peers::stage::Stage;

/// The loss rate of the second row of FEC-ARQ's tables.
const LOSS: &str = r#"{ kind = "loss", rate = 0.15 }"#;
/// The same losses, and half a round trip of 40 ms each way.
const PATH: SharedPath = SharedPath { loss: LOSS, wire: r#"{ kind = "wire", delay = "20ms" }"# };
/// Well below what loopback carries, so that the law alone sets the pace.
const RATE: &str = "fixed:5mbit";
/// A burst of FEC-ARQ's paper: ten packets of 1000 bytes.
const BURST: usize = 10;
const WRITE: usize = 1_000;
/// Its interval at 300 kb/s.
const EVERY: Duration = Duration::from_millis(267);

const SEEDS: u64 = 16;
/// The tunnels at a time; more would compete for the processors.
const AT_ONCE: u64 = 4;
const SECONDS: u64 = 15;
/// Delays count from here on, when the handshake is over and the path is measured.
const WARM_UP: Duration = Duration::from_secs(2);

/// The tunnel, as an experiment of the lab over the same path.
fn experiment(warmup: Duration, seed: u64) -> Experiment {
    let run = format!(r#"duration = "{SECONDS}s", warmup = "{}ms""#, warmup.as_millis());
    let flow = format!(
        r#"
        kind = "tunnel"
        rate = "{RATE}"
        traffic = {{ kind = "bursts", burst = "{}B", every = "{}ms", write = {WRITE} }}
        "#,
        BURST * WRITE,
        EVERY.as_millis(),
    );
    PATH.simulated(&run, &flow, seed)
}

/// The figures of a run that are compared.
#[derive(Debug)]
struct Figures {
    /// The 95th percentile of the delay from a write to its delivery in order, ms.
    p95: f64,
    /// Packets that arrived and were not innovative, for each one that was.
    overhead: f64,
}

fn simulated(seed: u64) -> Figures {
    let outcome = |warmup| -> Outcome {
        Run::new(&experiment(warmup, seed), seed).expect("possible").finish().expect("in = out + dropped + queued")
    };
    Figures {
        p95: outcome(WARM_UP).value("tunnel_delay_p95_ms"),
        overhead: outcome(Duration::ZERO).value("tunnel_overhead"),
    }
}

/// Three running processes, and a program at each end of the tunnel.
struct Processes {
    serve: Running,
    connect: Running,
    _path: Running,
    stream: TcpStream,
    /// The delays of all writes after the warm-up, in ms.
    reader: JoinHandle<Vec<f64>>,
}

impl Processes {
    fn start(path: &str, key: &str, seed: u64, began: Instant) -> Processes {
        let program = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let target = program.local_addr().expect("bound").to_string();
        let listen = ["--listen", "127.0.0.1:0"];
        let serve = [&["tunnel", "serve", "--to", &target, "--key-file", key, "--rate", RATE], &listen[..]].concat();
        let serve = Running::start(&serve);
        let to = serve.address("listening", "address");
        let seed = seed.to_string();
        let path = Running::start(&[&["emulate", path, "--seed", &seed, "--to", &to], &listen[..]].concat());
        let to = path.address("listening", "address");
        let local = ["--local", "127.0.0.1:0", "--key-file", key, "--rate", RATE];
        let connect = Running::start(&[&["tunnel", "connect", &to], &local[..]].concat());
        let stream = TcpStream::connect(connect.address("connecting", "address")).expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        let reader = std::thread::spawn(move || {
            let (mut stream, _) = program.accept().expect("the tunnel connects");
            stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
            delays(&mut stream, began)
        });
        Processes { serve, connect, _path: path, stream, reader }
    }

    fn end(self) -> Figures {
        let Processes { serve, mut connect, stream, reader, .. } = self;
        drop(stream);
        let mut delays = reader.join().expect("all writes were read");
        delays.sort_by(f64::total_cmp);
        // A line each second has the counts.
        let last = counts(&serve, delays.len() as u64);
        connect.interrupt();
        connect.succeeds();
        let count = |name: &str| last[name].as_f64().unwrap_or_else(|| panic!("{name}: {last}"));
        let useless = count("redundant_packets_total") + count("duplicate_packets_total");
        // The smallest value that 95 % do not exceed.
        let place = (delays.len() * 95).div_ceil(100) - 1;
        Figures { p95: delays[place], overhead: useless / count("innovative_packets_total") }
    }
}

/// The first counts of a server after it has received at least as many packets as there were writes, and no more.
fn counts(serve: &Running, writes: u64) -> Value {
    let mut before = 0;
    serve.wait_for("its last counts", |line| {
        let now = line["innovative_packets_total"].as_u64().unwrap_or(0);
        let is_last = now > 0 && now == before && now >= writes;
        before = now;
        is_last
    })
}

/// Reads writes to the end, and returns the delays of those after the warm-up.
fn delays(stream: &mut TcpStream, began: Instant) -> Vec<f64> {
    let (mut delays, mut write) = (Vec::new(), [0; WRITE]);
    while stream.read_exact(&mut write).is_ok() {
        let at = Duration::from_nanos(u64::from_be_bytes(write[..8].try_into().expect("eight bytes")));
        if at >= WARM_UP {
            delays.push((began.elapsed() - at).as_secs_f64() * 1e3);
        }
    }
    delays
}

fn real(path: &str, key: &str) -> Vec<Figures> {
    let of_some = |first: u64| {
        // Times count from the first burst.
        let began = Instant::now() + Duration::from_secs(2);
        let start = |seed| Processes::start(path, key, seed, began);
        let mut tunnels: Vec<Processes> = (first..first + AT_ONCE).map(start).collect();
        for nth in 0..SECONDS * 1_000 / EVERY.as_millis() as u64 {
            std::thread::sleep((began + EVERY * nth as u32).saturating_duration_since(Instant::now()));
            for tunnel in &mut tunnels {
                let mut burst = [0; BURST * WRITE];
                let at = began.elapsed().as_nanos() as u64;
                burst.chunks_exact_mut(WRITE).for_each(|write| write[..8].copy_from_slice(&at.to_be_bytes()));
                tunnel.stream.write_all(&burst).expect("the tunnel takes it");
            }
        }
        tunnels.into_iter().map(Processes::end).collect::<Vec<_>>()
    };
    (1..=SEEDS).step_by(AT_ONCE as usize).flat_map(of_some).collect()
}

#[test]
fn lab_and_real_tunnels_agree_on_delay_and_overhead() {
    let Some(stage) = Stage::enter(&[]) else { return };
    let (path, key) = (stage.write("path.toml", &PATH.emulated()), stage.path("key"));
    assert_eq!(run(&["keygen", &key]).0, 0);
    let lab: Vec<Figures> = (1..=SEEDS).map(simulated).collect();
    let real = real(&path, &key);
    println!("lab {lab:#.4?}\nreal {real:#.4?}");
    for figures in lab.iter().chain(&real) {
        // A burst takes 20 ms of wire and ten packet times of 2 ms; a lost packet without repair a round trip more.
        assert!((40.0..200.0).contains(&figures.p95) && figures.overhead > 0.0, "{figures:?}");
    }
    agree(&lab, &real, "95th percentile of the delay, ms", |figures| figures.p95);
    agree(&lab, &real, "overhead", |figures| figures.overhead);
}
