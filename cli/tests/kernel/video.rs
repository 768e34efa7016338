//! TCP Stream in the kernel: its throughput, the users that may choose it, the ways to set its rate, and its removal.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt;
use serde_json::Value;
use thalweg_core::units::Rate;
use thalweg_kernel::Rates;
use thalweg_net::error::Error;
use thalweg_testbed::{FAR, NEAR};

use crate::bulk::Bulk;
use crate::cable::{Cable, Yard};
use crate::common::wait_until;
use crate::control::Control;
use crate::dumbbell::Dumbbell;
use crate::goodput::PAYLOAD;

pub(crate) const VIDEO: Dumbbell = Dumbbell { mbit: 100, rtt_ms: 30, queue: 250, loss: 0.0 };

/// A server behind `port` of the near end, and a client at the far end that reads from it.
pub(crate) struct Video {
    pub(crate) server: TcpStream,
    read: Arc<AtomicU64>,
}

impl Video {
    /// A server that always has more to send. `prepare` is called with the listener before the client connects.
    pub(crate) fn start(cable: &Cable, control: &'static str, port: u16, prepare: impl FnOnce(&TcpListener)) -> Video {
        let video = Video::quiet(cable, control, port, prepare);
        video.flood();
        video
    }

    /// A server that has nothing to send yet.
    pub(crate) fn quiet(cable: &Cable, control: &'static str, port: u16, prepare: impl FnOnce(&TcpListener)) -> Video {
        let listener =
            cable.hosts.near.within(|| TcpListener::bind((NEAR, port)).map_err(Error::io("server"))).expect("free");
        sockopt::set_tcp_congestion(&listener, control).expect("it is loaded");
        prepare(&listener);
        let client = cable.hosts.far.within(|| TcpStream::connect((NEAR, port)).map_err(Error::io("client")));
        let (server, _) = listener.accept().expect("a client");
        let mut client = client.expect("connected");
        let read = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&read);
        // The thread ends when the server's socket is shut down.
        thread::spawn(move || {
            let mut piece = vec![0; 1 << 16];
            while let Ok(length @ 1..) = client.read(&mut piece) {
                count.fetch_add(length as u64, Ordering::Relaxed);
            }
        });
        Video { server, read }
    }

    /// Makes the server send without end from now on.
    pub(crate) fn flood(&self) {
        let mut writing = self.server.try_clone().expect("a second handle");
        thread::spawn(move || while writing.write_all(&[0; 1 << 16]).is_ok() {});
    }

    /// Bytes that the client has read.
    pub(crate) fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Waits until the client has read so many bytes more.
    pub(crate) fn plays_on(&self, bytes: u64) {
        let from = self.read();
        wait_until("data", || self.read() >= from + bytes);
    }

    /// The entry of the connection in `status`, once `is_so` accepts it.
    pub(crate) fn shown(&self, control: &Control, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let local = self.server.local_addr().expect("connected").to_string();
        let find = || control.connections().into_iter().find(|shown| shown["local"] == local.as_str());
        wait_until(what, || find().is_some_and(|shown| is_so(&shown)));
        find().expect("it is still there")
    }
}

impl Drop for Video {
    fn drop(&mut self) {
        let _ = self.server.shutdown(std::net::Shutdown::Both);
    }
}

/// True if the ceiling is ceil(Rate RTT / MSS) at the newest round trip, and lwnd is not above it.
fn is_capped(shown: &Value) -> bool {
    let number = |name: &str| shown[name].as_f64().expect("a number");
    let segments = number("rate_bps") * number("rtt_seconds") / (8.0 * number("mss_bytes"));
    number("cap") == segments.ceil() && number("lwnd") <= number("cap")
}

#[test]
fn alone_it_takes_what_is_spare_within_twenty_seconds() {
    let Some(yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    let bulk = Bulk {
        flows: 1,
        control: control.lasting_name(),
        warm_up: Duration::from_secs(20),
        measured: Duration::from_secs(10),
    };
    let capacity = 100e6 * PAYLOAD;
    // To this law every millisecond by which a busy machine is late is a queue: other work can only slow it down. A
    // quiet machine has 93 to 96 Mb/s of 97; half of the link is 13 times the rate of the video.
    let filled = (1..=3).any(|seed| {
        let cable = yard.lay(&VIDEO.scenario(seed));
        cable.before_all_else();
        let (goodput, shown) = watched(bulk, &cable, &control);
        println!("TCP Stream alone, 100 Mb/s, RTT 30 ms: {:.2} Mb/s; {shown}", goodput / 1e6);
        cable.end();
        assert!(goodput <= 1.02 * capacity, "{goodput}");
        assert!(is_capped(&shown) && shown["delay_on"] == true, "{shown}");
        let tau = shown["tau_seconds"].as_f64().expect("known");
        assert!((0.03..0.035).contains(&tau), "{tau}");
        // The bandwidth-delay product is 250 packets: 10 for the rate of the video, the rest is spare capacity.
        goodput > 0.5 * capacity && shown["dwnd"].as_f64() > Some(100.0)
    });
    assert!(filled, "three times less than half");
}

/// The rate of a run, in bits a second, and the entry in `status` at the end of its warm-up.
fn watched(bulk: Bulk, cable: &Cable, control: &Control) -> (f64, Value) {
    thread::scope(|scope| {
        let shown = scope.spawn(|| {
            thread::sleep(bulk.warm_up);
            control.connections().remove(0)
        });
        (bulk.run(cable)[0], shown.join().expect("no panic"))
    })
}

#[test]
fn who_is_not_root_may_choose_it_and_so_may_a_machine_or_a_route() {
    let Some(yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    let cable = yard.lay(&VIDEO.scenario(1));
    let name = control.lasting_name();
    let chosen = cable.hosts.near.within(|| {
        let nobody = rustix::process::Uid::from_raw(65534);
        // The user of this thread alone, with its capabilities.
        rustix::thread::set_thread_res_uid(nobody, nobody, nobody).expect("root may");
        let failed = |errno: rustix::io::Errno| Error::new("congestion control", errno);
        let listener = TcpListener::bind((NEAR, 8080)).map_err(Error::io("server"))?;
        sockopt::set_tcp_congestion(&listener, name).map_err(failed)?;
        sockopt::tcp_congestion(&listener).map_err(failed)
    });
    assert_eq!(chosen, Ok(name.to_owned()));
    let used = || {
        let listener =
            cable.hosts.far.within(|| TcpListener::bind((FAR, 8080)).map_err(Error::io("server"))).expect("free");
        let connected = cable.hosts.near.within(|| TcpStream::connect((FAR, 8080)).map_err(Error::io("client")));
        drop(listener);
        sockopt::tcp_congestion(connected.expect("a listener")).expect("connected")
    };
    assert_ne!(used(), name);
    cable.hosts.near.ip(&format!("route add {FAR}/32 dev {} congctl {name}", cable.hosts.devices[0])).expect("ip may");
    assert_eq!(used(), name);
    // A route refers to the name, whatever is loaded under it.
    assert_eq!(control.run("unload", &[]).0, 0);
    assert_ne!(used(), name);
    assert_eq!(control.run("load", &[]).0, 0);
    assert_eq!(used(), name);
    cable.hosts.near.ip(&format!("route del {FAR}/32 dev {}", cable.hosts.devices[0])).expect("ip may");
    assert_ne!(used(), name);
    cable.hosts.near.set("ipv4/tcp_congestion_control", name).expect("it is there");
    assert_eq!(used(), name);
}

#[test]
fn connections_of_both_families_are_shown() {
    let Some(_yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    let mut held = Vec::new();
    for (bound, reached) in [("127.0.0.1:0", "127.0.0.1"), ("[::1]:0", "[::1]"), ("[::]:0", "127.0.0.1")] {
        let listener = TcpListener::bind(bound).expect("loopback");
        sockopt::set_tcp_congestion(&listener, control.name()).expect("it is loaded");
        let local = format!("{reached}:{}", listener.local_addr().expect("bound").port());
        let client = TcpStream::connect(&local).expect("a listener");
        let (mut server, peer) = listener.accept().expect("a client");
        server.write_all(b"video").expect("connected");
        let peer = std::net::SocketAddr::new(peer.ip().to_canonical(), peer.port()).to_string();
        wait_until(&local, || {
            let shown = control.connections();
            let found = shown.iter().find(|shown| shown["local"] == local.as_str() && shown["peer"] == peer.as_str());
            found.is_some_and(|shown| is_capped(shown) && shown["tau_seconds"].as_f64() > Some(0.0))
        });
        held.push((server, client));
    }
    assert_eq!(control.connections().len(), held.len());
    held.clear();
    wait_until("end of the connections", || control.connections().is_empty());
}

#[test]
fn a_rate_reaches_it_by_port_by_listener_and_by_socket() {
    let Some(yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&["--rate", "2mbit", "--port", "8080=8mbit", "--thresholds", "vegas"]) else {
        return;
    };
    let rates = Rates::open(&control.name().parse().expect("a name")).expect("root may");
    let cable = yard.lay(&VIDEO.scenario(1));
    let name = control.lasting_name();
    let has = |bps: u64| move |shown: &Value| shown["rate_bps"] == bps && !shown["cap"].is_null() && is_capped(shown);
    let plain = Video::start(&cable, name, 8081, |_| ());
    let by_port = Video::start(&cable, name, 8080, |_| ());
    let by_listener = Video::start(&cable, name, 8082, |listener| {
        rates.set(listener, Rate::from_mbps(5)).expect("a socket");
    });
    plain.shown(&control, "default rate", has(2_000_000));
    by_port.shown(&control, "rate of the port", has(8_000_000));
    by_listener.shown(&control, "rate of the listener", has(5_000_000));
    rates.set(&by_port.server, Rate::from_mbps(3)).expect("a socket");
    by_port.shown(&control, "rate of the socket", has(3_000_000));
    tell_in_c(&control, &plain.server);
    plain.shown(&control, "rate that C has set", has(4_000_000));
    let (_, text, _) = control.run("status", &[]);
    assert!(text.starts_with(&format!("{name}: rate 2mbit, port 8080 8mbit, thresholds vegas, 3 open\n")), "{text}");
}

/// The same with `kernel/include/thalweg_rates.h`: 4 Mb/s for the socket at standard input.
fn tell_in_c(control: &Control, socket: &TcpStream) {
    let source = r#"#include "thalweg_rates.h"
        int main(int argc, char **argv) {
            int rates = thalweg_rates_open(argv[1]);
            return argc != 2 || rates < 0 || thalweg_rates_set(rates, 0, 4000000); }"#;
    let socket: std::os::fd::OwnedFd = socket.try_clone().expect("a second handle").into();
    control.in_c("rates", source, socket.into());
}

#[test]
fn open_connections_outlive_its_name_and_a_cable_that_is_cut() {
    let Some(yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    let cable = yard.lay(&VIDEO.scenario(1));
    let video = Video::start(&cable, control.lasting_name(), 8080, |_| ());
    video.plays_on(1_000_000);
    let (code, out, _) = control.run("unload", &[]);
    assert_eq!((code, out), (0, format!("{} is unloaded; 1 open connection uses it until it ends\n", control.name())));
    assert!(!control.is_registered());
    let error = sockopt::set_tcp_congestion(TcpListener::bind("127.0.0.1:0").expect("a port"), control.name());
    assert_eq!(std::io::Error::from(error.expect_err("it is gone")).kind(), ErrorKind::NotFound);
    video.plays_on(1_000_000);
    // Timeouts in a row.
    cable.hosts.near.ip(&format!("link set {} down", cable.hosts.devices[0])).expect("ip may");
    thread::sleep(Duration::from_secs(2));
    cable.hosts.near.ip(&format!("link set {} up", cable.hosts.devices[0])).expect("ip may");
    video.plays_on(10_000_000);
    assert_eq!(sockopt::tcp_congestion(&video.server).expect("connected"), control.name());
    control.is_refused_as_not_loaded("unload");
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    let Some(_yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    let name = control.name();
    let again = control.run("load", &[]);
    let taken = crate::common::run(&["kernel", "load", "--name", "reno"]);
    for ((code, printed, line), begin, word) in [
        (again, format!("thalweg: kernel: {name} is already loaded"), "unload"),
        (taken, "thalweg: kernel: another congestion control".to_owned(), "reno"),
    ] {
        assert_eq!((code, printed.as_str(), line.lines().count()), (1, "", 1), "{line}");
        assert!(line.starts_with(&begin) && line.contains(word), "{line}");
    }
    let binary = env!("CARGO_BIN_EXE_thalweg");
    let user = Command::new("setpriv").args(["--reuid=65534", "--clear-groups", binary, "kernel", "status"]).output();
    let user = user.expect("util-linux");
    let line = String::from_utf8(user.stderr).expect("text");
    assert_eq!((user.status.code(), line.lines().count()), (Some(1), 1), "{line}");
    assert!(line.starts_with("thalweg: kernel: ") && line.contains("root"), "{line}");
}
