//! One run: the film over the link with one repair.

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

use super::cast::Cast;
use super::film::Film;
use super::ledger::{Delivery, Mark, settle};
use super::link::Link;
use super::picture;
use super::series::Series;

/// What all runs have in common.
pub(super) struct Stage {
    pub(super) film: Film,
    pub(super) scenario: PathBuf,
    pub(super) length: Span,
    pub(super) stop: Stop,
}

/// What a run has shown.
pub(super) struct Take {
    /// As `--repair` takes it.
    pub(super) repair: String,
    pub(super) delivery: Delivery,
    pub(super) send: Series,
    pub(super) link: Link,
    /// When the film was played.
    pub(super) from: Time,
    pub(super) to: Time,
    /// Processor time of sender and receiver over the length of the film: 1 is one core.
    pub(super) cpu: Option<f64>,
    /// Datagrams that this machine dropped in front of its own sockets.
    pub(super) dropped_by_kernel: u64,
}

/// After the film: what is under way arrives, and both sides print their last row.
const DRAIN: Span = Span::from_millis(1_500);

impl Take {
    /// Runs it, and writes the start of what arrives to `capture`. `watch` is called some times a second.
    pub(super) fn shoot(
        stage: &Stage,
        repair: &str,
        capture: &Path,
        mut watch: impl FnMut(Span, &Cast),
    ) -> Result<Take, String> {
        let sink = socket()?;
        let output = sink.local_addr().map_err(|error| error.to_string())?;
        let capture =
            File::create(capture).map_err(|error| format!("cannot write {}: {}", capture.display(), plain(&error)))?;
        let reel = stage.film.reel()?;
        let clock = Clock::start();
        let mut cast = Cast::enter(repair, &stage.scenario, output, clock)?;
        cast.connect(clock, &stage.stop)?;
        let source = socket()?;
        source.connect(cast.input).map_err(|error| format!("cannot reach {}: {}", cast.input, plain(&error)))?;

        let from = clock.now();
        let over = Stop::default();
        std::thread::scope(|threads| {
            let sent = threads.spawn(|| reel.play(&source, stage.length, clock, &over));
            let arrived = threads.spawn(|| collect(&sink, capture, clock, &over));
            let watched = attend(&mut cast, clock, from, stage, &mut watch);
            over.ask();
            let sent = sent.join().map_err(|_| "the source failed")??;
            let arrived = arrived.join().map_err(|_| "the sink failed")??;
            let cpu = watched?;
            Ok(Take {
                repair: repair.into(),
                delivery: settle(&sent, &arrived),
                send: cast.send().clone(),
                link: Link::of(cast.emulate()),
                from,
                to: from + stage.length,
                cpu,
                dropped_by_kernel: cast.dropped_by_kernel(),
            })
        })
    }

    /// Why its numbers are not those of the link, if they are not: this machine was too busy to carry every datagram.
    pub(super) fn fault(&self) -> Option<String> {
        let faults = [
            (self.dropped_by_kernel, "dropped in front of its own sockets"),
            (self.link.refused, "refused by the relay, which was full"),
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

/// Listens to the processes until the film has been played and has arrived; the share of a core that it took.
fn attend(
    cast: &mut Cast,
    clock: Clock,
    from: Time,
    stage: &Stage,
    watch: &mut impl FnMut(Span, &Cast),
) -> Result<Option<f64>, String> {
    let before = cast.cpu();
    let (mut after, mut ended) = (None, false);
    loop {
        let heard = cast.listen(Duration::from_millis(100));
        // A terminal's Ctrl-C reaches the processes as well: that they leave is no fault then.
        if stage.stop.asked() {
            return Err("stopped".into());
        }
        heard?;
        let played = clock.now().since(from);
        if !ended {
            watch(played.min(stage.length), cast);
            ended = played >= stage.length;
            after = cast.cpu();
        }
        if played >= stage.length + DRAIN {
            let used = before.zip(after).map(|(before, after)| after.saturating_sub(before));
            return Ok(used.map(|used| used.as_secs_f64() / stage.length.as_secs_f64()));
        }
    }
}

/// Notes what arrives until it is over.
fn collect(sink: &UdpSocket, capture: File, clock: Clock, over: &Stop) -> Result<Vec<Mark>, String> {
    let mut capture = BufWriter::new(capture);
    let keep_until = clock.now() + picture::LENGTH + DRAIN;
    let mut marks = Vec::new();
    let mut buffer = [0; 2048];
    while !over.asked() {
        // Nothing for a while: have another look whether it is over.
        let Ok(len) = sink.recv(&mut buffer) else { continue };
        let mark = Mark::of(&buffer[..len], clock.now());
        marks.push(mark);
        if mark.at < keep_until {
            capture
                .write_all(&buffer[..len])
                .map_err(|error| format!("cannot write what arrived: {}", plain(&error)))?;
        }
    }
    capture.flush().map_err(|error| format!("cannot write what arrived: {}", plain(&error)))?;
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
