//! A server on loopback, and clients for it.
#![allow(dead_code, reason = "every test file uses a part of it")]

pub(crate) mod http3;
pub(crate) mod trusting;

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use rustls::{ClientConnection, StreamOwned};
use thalweg_core::probe::Probe;
use thalweg_core::units::Rate;
use thalweg_serve::law::Choice;
use thalweg_serve::{Config, Identity, Law, Limits, Server};

/// Longer than anything takes here.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// A server with a folder of its own.
pub(crate) struct Stage {
    pub(crate) folder: PathBuf,
    pub(crate) server: Server,
}

impl Stage {
    pub(crate) fn new(name: &str, choice: Choice, limits: Limits) -> Stage {
        Stage::of(name, choice, limits, None)
    }

    /// The same, under TLS.
    pub(crate) fn secure(name: &str, choice: Choice, limits: Limits) -> Stage {
        Stage::of(name, choice, limits, Some(Identity::own("127.0.0.1").expect("a certificate")))
    }

    fn of(name: &str, choice: Choice, limits: Limits, identity: Option<Identity>) -> Stage {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("http-{name}"));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("video.webm"), video(3_000_000)).expect("a file");
        let (law, _) = Law::choose(Some(choice), &"no_such_law".parse().expect("a name"));
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        // 8 Mb/s: ten seconds of it are 10 MB.
        let config = Config {
            folder: folder.clone(),
            listen: Some(listen),
            rtsp: None,
            keep: None,
            law,
            identity,
            user: None,
            rate: Rate::from_mbps(8),
            downloads: true,
            limits,
        };
        Stage { folder, server: Server::start(config).expect("a server") }
    }

    pub(crate) fn local(&self) -> SocketAddr {
        self.server.local().expect("HTTP")
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.local()).expect("it listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        stream
    }

    /// A connection from 127.0.0.`last`, another address of this machine.
    pub(crate) fn connect_from(&self, last: u8) -> TcpStream {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        bind(&socket, &SocketAddr::from(([127, 0, 0, last], 0))).expect("an address of ours");
        connect(&socket, &self.local()).expect("it listens");
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        stream
    }

    pub(crate) fn ask(&self, fields: &str) -> TcpStream {
        let mut stream = self.connect();
        write!(stream, "{fields}\r\nHost: a\r\nConnection: close\r\n\r\n").expect("a request");
        stream
    }

    /// A connection whose handshake takes place with its first data.
    pub(crate) fn connect_tls(&self) -> StreamOwned<ClientConnection, TcpStream> {
        let client = trusting::client(b"http/1.1");
        let session = ClientConnection::new(client.into(), "localhost".try_into().expect("a name")).expect("a client");
        StreamOwned::new(session, self.connect())
    }

    /// Head and content of a complete answer.
    pub(crate) fn get(&self, fields: &str) -> (String, Vec<u8>) {
        let mut bytes = Vec::new();
        self.ask(fields).read_to_end(&mut bytes).expect("an answer");
        parts(bytes)
    }

    pub(crate) fn value(&self, name: &str) -> f64 {
        let mut found = f64::NAN;
        self.server.ledger().probe(&mut |known, value| found = if known == name { value } else { found });
        found
    }

    pub(crate) fn wait_until(&self, what: &str, is_so: impl Fn(&Stage) -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        while !is_so(self) {
            assert!(Instant::now() < deadline, "no {what} in time");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

pub(crate) fn parts(bytes: Vec<u8>) -> (String, Vec<u8>) {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
    (String::from_utf8(bytes[..end].to_vec()).expect("text"), bytes[end..].to_vec())
}

/// Bytes that differ from position to position.
pub(crate) fn video(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at ^ (at >> 8) ^ (at >> 16)) as u8).collect()
}
