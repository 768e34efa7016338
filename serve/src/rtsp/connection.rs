//! A connection of RTSP: its machine, driven by sockets and a clock.

mod playing;
mod send;

use std::future::pending;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use thalweg_rtsp::decoder::{Decoder, Item};
use thalweg_rtsp::message::{Request, Response};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{Receiver, Sender as Channel, channel};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::sleep_until;

use self::playing::Playing;
use super::listen::Rtsp;
use super::machine::{Machine, Opened};
use super::outgoing::Outgoing;
use super::playback::{Arrival, Claim, Playback};
use super::reading::Batch;
use super::stored::Stored;
use crate::event::Event;
use crate::law::{ConnectionRate, Transport};
use crate::ledger::Ledger;
use crate::places::Occupant;
use crate::shared::Shared;

/// Bytes read at a time.
const READ: usize = 4 << 10;
/// Reports and datagrams that may wait.
const ARRIVALS: usize = 16;
/// Time for which a client may read nothing although data waits for it.
const STALL: Duration = Duration::from_secs(30);

/// A connection while it is served.
struct Connection {
    stream: TcpStream,
    peer: IpAddr,
    shared: Arc<Shared>,
    rtsp: Arc<Rtsp>,
    occupant: Arc<Occupant>,
    decoder: Decoder,
    machine: Machine,
    outgoing: Outgoing,
    reading: Option<JoinHandle<Option<Batch>>>,
    arrivals: (Channel<Arrival>, Receiver<Arrival>),
    /// The marks of the datagrams that are passed to this connection.
    registered: Vec<Claim>,
    /// The last request, report, or write.
    heard: Instant,
    written: Instant,
    control: Arc<ConnectionRate>,
    playing: Option<Playing>,
    is_over: bool,
}

/// The next event of a connection.
enum Next {
    Readable,
    Writable,
    Read(Option<Batch>),
    Arrival(Arrival),
    Timeout,
}

/// Serves a connection to its end, regular or not.
pub(crate) async fn serve(stream: TcpStream, rtsp: Arc<Rtsp>, shared: Arc<Shared>, occupant: Arc<Occupant>) {
    let _ = stream.set_nodelay(true);
    let (Ok(peer), Ok(local)) = (stream.peer_addr(), stream.local_addr()) else { return };
    let (ports, timeout) = (rtsp.datagrams.ports(), shared.limits.session);
    let Ok(socket) = stream.as_fd().try_clone_to_owned() else { return };
    let (law, ledger) = (shared.law.clone(), shared.ledger.clone());
    let control = ConnectionRate::new(law, Transport::Tcp(socket), ledger, occupant.clone());
    let machine = Machine::new(peer.ip(), local, ports, timeout, rtsp.rng());
    let now = Instant::now();
    let mut connection = Connection {
        stream,
        peer: peer.ip(),
        shared,
        rtsp,
        occupant,
        decoder: Decoder::default(),
        machine,
        outgoing: Outgoing::default(),
        reading: None,
        arrivals: channel(ARRIVALS),
        registered: Vec::new(),
        heard: now,
        written: now,
        control: Arc::new(control),
        playing: None,
        is_over: false,
    };
    // An error of the connection ends it, and its session.
    let _ = connection.run().await;
}

impl Connection {
    async fn run(&mut self) -> io::Result<()> {
        loop {
            self.transmit();
            self.flush()?;
            if self.is_over && self.outgoing.is_empty() {
                return Ok(());
            }
            match self.next().await? {
                Next::Readable => self.read().await?,
                Next::Writable => {}
                Next::Read(batch) => {
                    if let Some(playback) = self.machine.playback() {
                        playback.supply(batch);
                    }
                }
                Next::Arrival(arrival) => self.pass(&arrival),
                Next::Timeout if self.is_expired() => {
                    if !self.outgoing.is_empty() {
                        Ledger::add(&self.shared.ledger.stalled, 1);
                    }
                    return Ok(());
                }
                Next::Timeout => {
                    let now = self.rtsp.now();
                    if let Some(playback) = self.machine.playback() {
                        playback.handle_timeout(now);
                    }
                }
            }
        }
    }

    /// Waits for what comes next. Frames are read ahead: those in memory at once, without the cost of another thread, and
    /// others meanwhile.
    async fn next(&mut self) -> io::Result<Next> {
        if self.reading.is_none()
            && let Some(wanted) = self.machine.playback().and_then(Playback::wanted)
        {
            match wanted.read_resident() {
                Ok(batch) => return Ok(Next::Read(batch)),
                Err(wanted) => self.reading = Some(spawn_blocking(|| wanted.read())),
            }
        }
        let deadline = self.deadline();
        let (may_read, has_more) = (!self.is_over, !self.outgoing.is_empty());
        let reading = async {
            match &mut self.reading {
                Some(reading) => reading.await.unwrap_or_default(),
                None => pending().await,
            }
        };
        let next = tokio::select! {
            ready = self.stream.readable(), if may_read => ready.map(|()| Next::Readable)?,
            ready = self.stream.writable(), if has_more => ready.map(|()| Next::Writable)?,
            batch = reading => Next::Read(batch),
            Some(arrival) = self.arrivals.1.recv() => Next::Arrival(arrival),
            () = sleep_until(deadline.into()) => Next::Timeout,
        };
        if matches!(next, Next::Read(_)) {
            self.reading = None;
        }
        Ok(next)
    }

    /// The time of the next packet, or of the end of an idle connection.
    fn deadline(&mut self) -> Instant {
        let packet = self.machine.playback().and_then(|playback| playback.poll_timeout());
        let packet = packet.map(|at| self.rtsp.instant(at));
        let idle = self.expiry();
        packet.map_or(idle, |packet| packet.min(idle))
    }

    fn expiry(&mut self) -> Instant {
        let limit = match self.machine.playback() {
            Some(_) => self.shared.limits.session,
            None => self.shared.limits.request,
        };
        let silent = self.heard + limit;
        if self.outgoing.is_empty() { silent } else { silent.min(self.written + STALL) }
    }

    fn is_expired(&mut self) -> bool {
        Instant::now() >= self.expiry()
    }

    /// Reads what has arrived, and answers each request.
    async fn read(&mut self) -> io::Result<()> {
        self.receive()?;
        while !self.is_over
            && let Some(item) = self.decoder.poll()
        {
            match item {
                Item::Request(request) => self.answer(&request).await,
                Item::Packet { bytes, .. } => self.pass(&Arrival::Interleaved(bytes)),
                // Nothing was asked.
                Item::Response(_) => {}
                Item::Fault(status, why) => {
                    Ledger::add(&self.shared.ledger.bad, 1);
                    self.outgoing.respond(Response::refusal(status.0, why).with("Connection", "close").to_bytes());
                    self.is_over = true;
                }
            }
        }
        Ok(())
    }

    /// Reads once. The task keeps no buffer for it while it waits.
    fn receive(&mut self) -> io::Result<()> {
        let mut buf = [0; READ];
        match self.stream.try_read(&mut buf) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(len) => {
                self.decoder.push(&buf[..len]);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Passes an arrival to the session, which it keeps alive.
    fn pass(&mut self, arrival: &Arrival) {
        let now = self.rtsp.now();
        if self.machine.playback().is_some_and(|playback| playback.handle(now, arrival)) {
            self.heard = Instant::now();
        }
    }

    async fn answer(&mut self, request: &Request) {
        self.heard = Instant::now();
        let opened = match self.machine.needs(request) {
            Some(name) => Some(self.open(name).await),
            None => None,
        };
        let was_playing = self.is_playing();
        let response = self.machine.handle(self.rtsp.now(), request, opened);
        Ledger::add(&self.shared.ledger.requests, 1);
        if response.status.0 >= 400 {
            Ledger::add(&self.shared.ledger.refused, 1);
        }
        if was_playing {
            // What waits belongs to the position before.
            self.outgoing.clear_media();
        }
        self.is_over |= self.machine.is_over();
        self.outgoing.respond(response.to_bytes());
        self.register();
        self.note_playing();
    }

    async fn open(&self, name: String) -> Opened {
        let (rtsp, shared) = (self.rtsp.clone(), self.shared.clone());
        let opened = spawn_blocking(move || {
            let (opened, note) = Stored::open(&shared.site, &rtsp.indexes, &name);
            if let Some(note) = note {
                shared.report(Event::Note(note));
            }
            opened.map(Arc::new)
        });
        opened.await.unwrap_or_else(|_| Err(Response::new(500)))
    }

    /// Has the datagrams of the session passed to this connection.
    fn register(&mut self) {
        let claims = self.machine.playback().map_or(Vec::new(), |playback| playback.claims());
        if claims != self.registered {
            self.registered.iter().for_each(|claim| self.rtsp.datagrams.forget(*claim));
            for claim in &claims {
                self.rtsp.datagrams.register(*claim, self.peer, self.arrivals.0.clone());
            }
            self.registered = claims;
        }
    }

    fn is_playing(&mut self) -> bool {
        self.machine.playback().is_some_and(|playback| playback.is_playing())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.registered.iter().for_each(|claim| self.rtsp.datagrams.forget(*claim));
    }
}
