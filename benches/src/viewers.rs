//! Many viewers of one video over RTSP, in one thread: under R3CP+ with receivers of the core, or plain.

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use thalweg_core::law::predict;
use thalweg_core::law::rate::r3cp::Parameters;
use thalweg_core::rng::Rng;
use thalweg_core::session::Session;
use thalweg_core::session::stored::control::Control;
use thalweg_core::session::stored::receiver::{Bounds, Config, PROBES, Receiver};
use thalweg_core::session::stored::{First, Track};
use thalweg_core::time::Time;
use thalweg_core::units::Seconds;
use thalweg_rtsp::message::Method;
use thalweg_rtsp::r3cp::{HEADER, Play, Setup};
use thalweg_rtsp::transport::Transport;

use crate::rtsp::{Client, Server};

/// The time between the starts of two viewers.
const APART: Duration = Duration::from_millis(10);
/// The longest wait for a datagram.
const LOOK: Duration = Duration::from_millis(5);

/// A viewer under R3CP+. Its session ends when it is dropped.
#[derive(Debug)]
struct Viewer {
    _client: Client,
    socket: UdpSocket,
    receiver: Receiver,
}

/// The results of viewers under R3CP+.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    /// The rate that the slowest viewer received, headers of RTP included, in bits per second.
    pub slowest: f64,
    /// The share of pictures that the worst viewer had in time.
    pub in_time: f64,
    /// The number of processors that the server used.
    pub cpu: f64,
    /// The growth of the server's memory for each viewer but the first, in bytes.
    pub memory: f64,
}

/// The results of plain viewers.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// Packets of all viewers.
    pub packets: u64,
    /// CPU time of the server.
    pub cpu: Duration,
}

impl Viewer {
    fn start(server: &Server, start: Instant, nth: usize) -> Result<Viewer, String> {
        let (mut client, presentation) = Client::open(server.address)?;
        let socket = UdpSocket::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        socket.set_nonblocking(true).map_err(|error| error.to_string())?;
        let port = socket.local_addr().map_err(|error| error.to_string())?.port();
        let offer = Transport { client_port: Some((port, port)), is_muxed: true, ..Transport::default() }.to_string();
        let (mut tracks, mut sender) = (Vec::new(), server.address);
        for track in &presentation.tracks {
            let fields = [("Transport", &*offer), (HEADER, &*Setup.to_string())];
            let response = client.ask(Method::Setup, track.control.as_deref(), &fields)?;
            let chosen = response.fields.get("Transport").and_then(|chosen| Transport::parse(chosen).ok());
            let (rtp, _) = chosen.and_then(|chosen| chosen.server_port).ok_or("SETUP: no port")?;
            sender.set_port(rtp);
            let rtx = track.attributes.iter().find(|attribute| attribute.name == "r3cp-rtx");
            let rtx_payload_type = rtx.and_then(|rtx| rtx.value.as_ref()?.parse().ok()).ok_or("no r3cp-rtx")?;
            let (payload_type, clock_rate) = (track.payload_type, track.encoding.clock_rate());
            tracks.push(Track { payload_type, rtx_payload_type, clock_rate });
        }
        let response = client.ask(Method::Play, None, &[])?;
        let play = response.fields.get(HEADER).and_then(|play| Play::parse(play).ok()).ok_or("PLAY: no R3CP")?;
        let config = Config {
            key: play.key,
            sender,
            tracks,
            first: First::new(play.first, play.decode, play.display),
            mu: play.mu,
            control: Control::R3cpPlus,
            parameters: Parameters { store: Seconds(2.0), gate: Seconds(0.03), ..Parameters::of_video(play.mu) },
            predictor: predict::Choice::default(),
            bounds: Bounds::default(),
            probes: PROBES,
            start: 1.0,
        };
        let receiver = Receiver::new(config, now(start), &Rng::new(nth as u64)).map_err(|error| error.to_string())?;
        Ok(Viewer { _client: client, socket, receiver })
    }

    /// Takes the datagrams that have arrived, and does what is due.
    fn turn(&mut self, now: Time, has_arrived: bool, buf: &mut [u8]) {
        while has_arrived && let Ok((len, from)) = self.socket.recv_from(buf) {
            // Nothing but the server's datagrams arrives; a malformed one would be missing.
            let _ = self.receiver.handle_datagram(now, from, &buf[..len]);
        }
        if self.receiver.poll_timeout().is_some_and(|at| at <= now) {
            self.receiver.handle_timeout(now);
        }
        while let Some(transmit) = self.receiver.poll_transmit(now, buf) {
            let _ = self.socket.send_to(&buf[..transmit.len], transmit.to);
        }
        while self.receiver.poll_event().is_some() {}
        while self.receiver.poll_frame(now).is_some() {}
    }
}

fn now(start: Instant) -> Time {
    Time::from_nanos(start.elapsed().as_nanos() as u64)
}

/// Drives viewers until `end`.
fn drive(viewers: &mut [Viewer], start: Instant, end: Instant) {
    let mut buf = vec![0; 2048];
    let event = |viewer: &Viewer| libc::pollfd { fd: viewer.socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut ready: Vec<libc::pollfd> = viewers.iter().map(event).collect();
    while Instant::now() < end {
        let due = viewers.iter().filter_map(|viewer| viewer.receiver.poll_timeout()).min();
        let wait = due.map_or(LOOK, |due| Duration::from_nanos(due.since(now(start)).as_nanos()).min(LOOK));
        let wait = libc::timespec { tv_sec: 0, tv_nsec: wait.as_nanos() as libc::c_long };
        // SAFETY: the first pointer is to as many entries as the second argument says, the others to a local and to none.
        unsafe { libc::ppoll(ready.as_mut_ptr(), ready.len() as libc::nfds_t, &raw const wait, std::ptr::null()) };
        let now = now(start);
        for (viewer, ready) in viewers.iter_mut().zip(&ready) {
            let has_arrived = ready.revents != 0;
            if has_arrived || viewer.receiver.poll_timeout().is_some_and(|at| at <= now) {
                viewer.turn(now, has_arrived, &mut buf);
            }
        }
    }
}

/// Starts `count` viewers under R3CP+ one after the other, and measures for this long after a warm-up.
pub fn watch(server: &mut Server, count: usize, warm_up: Duration, measured: Duration) -> Result<Watched, String> {
    let start = Instant::now();
    let memory = |server: &Server| server.program.memory().map(|bytes| bytes as f64).ok_or("no memory of the server");
    let mut viewers = vec![Viewer::start(server, start, 0)?];
    drive(&mut viewers, start, Instant::now() + Duration::from_secs(2));
    let base = memory(server)?;
    for nth in 1..count {
        viewers.push(Viewer::start(server, start, nth)?);
        drive(&mut viewers, start, start + APART * nth as u32);
    }
    drive(&mut viewers, start, Instant::now() + warm_up);
    let bytes = |viewers: &[Viewer]| viewers.iter().map(|viewer| viewer.receiver.totals().bytes).collect::<Vec<u64>>();
    let (from, before, cpu) = (Instant::now(), bytes(&viewers), server.program.cpu());
    drive(&mut viewers, start, from + measured);
    let (elapsed, after, cpu) = (from.elapsed().as_secs_f64(), bytes(&viewers), server.program.cpu() - cpu);
    server.program.check()?;
    let rates = after.iter().zip(&before).map(|(after, before)| (after - before) as f64 * 8.0 / elapsed);
    let in_time = |viewer: &Viewer| viewer.receiver.tallies(now(start)).0.performance().unwrap_or_default();
    Ok(Watched {
        slowest: rates.fold(f64::INFINITY, f64::min),
        in_time: viewers.iter().map(in_time).fold(1.0, f64::min),
        cpu: cpu.as_secs_f64() / elapsed,
        memory: (memory(server)? - base) / (count - 1).max(1) as f64,
    })
}

/// Starts `count` plain viewers over UDP, and counts their packets for this long. They send no reports.
pub fn receive(server: &mut Server, count: usize, measured: Duration) -> Result<Received, String> {
    let failed = |error: std::io::Error| format!("a socket: {error}");
    let mut viewers = Vec::new();
    for _ in 0..count {
        let (mut client, presentation) = Client::open(server.address)?;
        let sockets = [pair_member()?, pair_member()?];
        let [rtp, rtcp] = [0, 1].map(|nth: usize| sockets[nth].local_addr().map(|address: SocketAddr| address.port()));
        let ports = Some((rtp.map_err(failed)?, rtcp.map_err(failed)?));
        let offer = Transport { client_port: ports, ..Transport::default() }.to_string();
        let track = presentation.tracks.first().ok_or("no track")?;
        client.ask(Method::Setup, track.control.as_deref(), &[("Transport", &offer)])?;
        client.ask(Method::Play, None, &[])?;
        viewers.push((client, sockets));
    }
    let mut buf = [0; 2048];
    let mut count = || viewers.iter().map(|(_, [rtp, _])| std::iter::from_fn(|| rtp.recv(&mut buf).ok()).count()).sum();
    let _: usize = count();
    let (end, cpu, mut packets) = (Instant::now() + measured, server.program.cpu(), 0);
    while Instant::now() < end {
        std::thread::sleep(LOOK);
        packets += count() as u64;
    }
    server.program.check()?;
    Ok(Received { packets, cpu: server.program.cpu() - cpu })
}

fn pair_member() -> Result<UdpSocket, String> {
    let socket = UdpSocket::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    socket.set_nonblocking(true).map_err(|error| error.to_string())?;
    Ok(socket)
}
