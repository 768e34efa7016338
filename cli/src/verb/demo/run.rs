//! One run: the video over the link with one repair.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::net::sockopt::set_socket_recv_buffer_size;
use thalweg_core::time::{Span, Time};
use thalweg_net::clock::Clock;
use thalweg_net::error::plain;
use thalweg_net::signal::Stop;

use super::chain::Chain;
use super::ledger::{Delivery, Mark, match_arrivals};
use super::link::Link;
use super::picture;
use super::series::Series;
use super::video::Video;

/// The settings that all runs share.
pub(super) struct Setup {
    pub(super) video: Video,
    pub(super) scenario: PathBuf,
    pub(super) length: Span,
    pub(super) stop: Stop,
}

/// The results of a run.
pub(super) struct Run {
    /// The value of `--repair`.
    pub(super) repair: String,
    pub(super) delivery: Delivery,
    pub(super) send: Series,
    pub(super) link: Link,
    /// The start of the video.
    pub(super) from: Time,
    pub(super) to: Time,
    /// Processor time of sender and receiver over the length of the video: 1 is one core.
    pub(super) cpu: Option<f64>,
    /// Datagrams that the kernel dropped at this machine's own sockets.
    pub(super) dropped_by_kernel: u64,
}

/// The time after the video in which datagrams in flight arrive, and both endpoints print their last row.
const DRAIN: Span = Span::from_millis(1_500);

impl Run {
    /// Performs the run, and writes the start of the received video to `capture`. `watch` is called several times a
    /// second.
    pub(super) fn perform(
        setup: &Setup,
        repair: &str,
        capture: &Path,
        mut watch: impl FnMut(Span, &Chain),
    ) -> Result<Run, String> {
        let sink = socket()?;
        let output = sink.local_addr().map_err(|error| error.to_string())?;
        let capture =
            File::create(capture).map_err(|error| format!("cannot write {}: {}", capture.display(), plain(&error)))?;
        let playback = setup.video.playback()?;
        let clock = Clock::start();
        let mut processes = Chain::start(repair, &setup.scenario, output, clock)?;
        processes.connect(clock, &setup.stop)?;
        let source = socket()?;
        source
            .connect(processes.input)
            .map_err(|error| format!("cannot reach {}: {}", processes.input, plain(&error)))?;

        let from = clock.now();
        let over = Stop::default();
        std::thread::scope(|threads| {
            let sent = threads.spawn(|| playback.play(&source, setup.length, clock, &over));
            let arrived = threads.spawn(|| collect(&sink, capture, clock, &over));
            let watched = monitor(&mut processes, clock, from, setup, &mut watch);
            over.ask();
            let sent = sent.join().map_err(|_| "the source failed")??;
            let arrived = arrived.join().map_err(|_| "the sink failed")??;
            let cpu = watched?;
            Ok(Run {
                repair: repair.into(),
                delivery: match_arrivals(&sent, &arrived),
                send: processes.send().clone(),
                link: Link::of(processes.emulate()),
                from,
                to: from + setup.length,
                cpu,
                dropped_by_kernel: processes.dropped_by_kernel(),
            })
        })
    }

    /// The reason that the results are not those of the link, if this machine was too busy to carry every datagram.
    pub(super) fn fault(&self) -> Option<String> {
        let faults = [
            (self.dropped_by_kernel, "dropped by the kernel at full sockets"),
            (self.link.refused, "refused by the full emulator"),
        ];
        let faults: Vec<String> = faults
            .iter()
            .filter(|fault| fault.0 > 0)
            .map(|(count, what)| format!("{count} datagrams {what}"))
            .collect();
        (!faults.is_empty()).then(|| faults.join(", "))
    }

    /// All bytes on the wire over media bytes, minus one.
    pub(super) fn overhead(&self) -> Option<f64> {
        let (wire, media) = (self.send.last("wire_bytes_total")?, self.send.last("media_bytes_total")?);
        (media > 0.0).then(|| wire / media - 1.0)
    }

    /// Times that four or more packets in a row were lost.
    pub(super) fn bursty_events(&self) -> Option<f64> {
        self.send.last("bursty_events_total")
    }
}

/// Listens to the processes until the video has been played and has arrived; returns the share of a core that they
/// took.
fn monitor(
    processes: &mut Chain,
    clock: Clock,
    from: Time,
    setup: &Setup,
    watch: &mut impl FnMut(Span, &Chain),
) -> Result<Option<f64>, String> {
    let before = processes.cpu();
    let (mut after, mut ended) = (None, false);
    loop {
        let listened = processes.listen(Duration::from_millis(100));
        // A terminal's Ctrl-C reaches the processes as well: their exit is no fault then.
        if setup.stop.asked() {
            return Err("stopped".into());
        }
        listened?;
        let played = clock.now().since(from);
        if !ended {
            watch(played.min(setup.length), processes);
            ended = played >= setup.length;
            after = processes.cpu();
        }
        if played >= setup.length + DRAIN {
            let used = before.zip(after).map(|(before, after)| after.saturating_sub(before));
            return Ok(used.map(|used| used.as_secs_f64() / setup.length.as_secs_f64()));
        }
    }
}

/// Records the datagrams that arrive, until `over` is asked for.
fn collect(sink: &UdpSocket, capture: File, clock: Clock, over: &Stop) -> Result<Vec<Mark>, String> {
    let mut capture = BufWriter::new(capture);
    let keep_until = clock.now() + picture::LENGTH + DRAIN;
    let mut marks = Vec::new();
    let mut buffer = [0; 2048];
    while !over.asked() {
        // A timeout of the socket: check `over` again.
        let Ok(len) = sink.recv(&mut buffer) else { continue };
        let mark = Mark::of(&buffer[..len], clock.now());
        marks.push(mark);
        if mark.at < keep_until {
            capture
                .write_all(&buffer[..len])
                .map_err(|error| format!("cannot write the received video: {}", plain(&error)))?;
        }
    }
    capture.flush().map_err(|error| format!("cannot write the received video: {}", plain(&error)))?;
    Ok(marks)
}

fn socket() -> Result<UdpSocket, String> {
    let open = || {
        let socket = UdpSocket::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        socket.set_read_timeout(Some(Duration::from_millis(50)))?;
        set_socket_recv_buffer_size(&socket, thalweg_net::udp::BUFFER_SIZE)?;
        Ok(socket)
    };
    open().map_err(|error: std::io::Error| format!("cannot open a UDP socket on 127.0.0.1: {}", plain(&error)))
}
