//! A server of RTSP on loopback, with videos that ffmpeg makes.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use thalweg_core::units::Rate;
use thalweg_serve::catalog::frames::Keep;
use thalweg_serve::law::Choice;
use thalweg_serve::{Config, Law, Limits, Server};

/// Longer than anything takes here.
const TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct Stage {
    pub(super) folder: PathBuf,
    pub(super) server: Server,
}

impl Stage {
    /// A server with the videos that `make` makes in its folder; none, and a line, if it cannot.
    pub(super) fn new(name: &str, make: impl FnOnce(&Path) -> bool) -> Option<Stage> {
        Stage::with(name, Limits::default(), make)
    }

    /// The same with other limits.
    pub(super) fn with(name: &str, limits: Limits, make: impl FnOnce(&Path) -> bool) -> Option<Stage> {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("rtsp-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        if !make(&folder) {
            println!("skipped: ffmpeg, or its encoder libx264, is not installed");
            return None;
        }
        let (law, _) = Law::choose(Some(Choice::System), &"no_such_law".parse().expect("a name"));
        let config = Config {
            folder: folder.clone(),
            listen: None,
            rtsp: Some(SocketAddr::from(([127, 0, 0, 1], 0))),
            keep: Some(Keep::Beside),
            law,
            identity: None,
            user: None,
            rate: Rate::from_mbps(8),
            downloads: true,
            limits,
        };
        Some(Stage { folder, server: Server::start(config).expect("a server") })
    }

    pub(super) fn url(&self, name: &str) -> String {
        format!("rtsp://{}/{name}", self.server.rtsp().expect("RTSP"))
    }

    pub(super) fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.server.rtsp().expect("RTSP")).expect("it listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        Client { stream, sequence: 0, session: None }
    }
}

/// A client by hand.
pub(super) struct Client {
    pub(super) stream: TcpStream,
    sequence: u32,
    session: Option<String>,
}

/// A response.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Response {
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .find_map(|line| line.split_once(": ").filter(|(other, _)| *other == name))
            .map(|(_, value)| value)
    }
}

impl Client {
    /// Sends a request with these further lines, and reads the response; interleaved packets before it are dropped.
    pub(super) fn ask(&mut self, method: &str, url: &str, lines: &str) -> Response {
        self.sequence += 1;
        let session = self.session.as_ref().map_or(String::new(), |session| format!("Session: {session}\r\n"));
        let text = format!("{method} {url} RTSP/1.0\r\nCSeq: {}\r\n{session}{lines}\r\n", self.sequence);
        self.stream.write_all(text.as_bytes()).expect("a request");
        let response = self.response();
        assert_eq!(response.field("CSeq"), Some(&*self.sequence.to_string()), "{response:?}");
        if let Some(session) = response.field("Session") {
            self.session = session.split(';').next().map(str::to_owned);
        }
        response
    }

    pub(super) fn response(&mut self) -> Response {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let byte = self.byte();
            if head.is_empty() && byte == b'$' {
                self.packet();
            } else {
                head.push(byte);
            }
        }
        let head = String::from_utf8(head).expect("a head");
        let mut response = Response { status: head[9..12].parse().expect("a status"), head, body: String::new() };
        let len = response.field("Content-Length").map_or(0, |len| len.parse().expect("a length"));
        let mut body = vec![0; len];
        self.stream.read_exact(&mut body).expect("a body");
        response.body = String::from_utf8(body).expect("text");
        response
    }

    /// The rest of an interleaved packet: its channel and bytes.
    pub(super) fn packet(&mut self) -> (u8, Vec<u8>) {
        let [channel, l0, l1] = [self.byte(), self.byte(), self.byte()];
        let mut bytes = vec![0; u16::from_be_bytes([l0, l1]).into()];
        self.stream.read_exact(&mut bytes).expect("a packet");
        (channel, bytes)
    }

    pub(super) fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.stream.read_exact(&mut byte).expect("a byte");
        byte[0]
    }
}

/// Runs a program to its end; none if it is not installed. One that does not end within a minute is ended.
pub(super) fn run(folder: &Path, line: &str) -> Option<Output> {
    let mut command = Command::new("timeout");
    command.arg("60").args(line.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    let output = command.output().ok()?;
    (output.status.code() != Some(127)).then_some(output)
}

/// A video of H.264 and AAC: pictures that move, B-frames, and a tone.
pub(super) fn mp4(folder: &Path, name: &str, seconds: u32) -> bool {
    let sources =
        format!("-f lavfi -i testsrc2=size=320x240:rate=25:d={seconds} -f lavfi -i sine=frequency=440:d={seconds}");
    let codecs = "-c:v libx264 -g 25 -bf 2 -b:v 600k -pix_fmt yuv420p -c:a aac -b:a 64k -movflags +faststart";
    let made = run(folder, &format!("ffmpeg -v error {sources} {codecs} made.mp4"));
    // The name may have spaces, which separate the words of a line.
    made.is_some_and(|output| output.status.success()) && fs::rename(folder.join("made.mp4"), folder.join(name)).is_ok()
}

/// A transport stream of MPEG-1 or MPEG-2 video and MPEG audio, or H.264 and AAC.
pub(super) fn ts(folder: &Path, name: &str, codecs: &str, seconds: u32) -> bool {
    let sources =
        format!("-f lavfi -i testsrc2=size=320x240:rate=25:d={seconds} -f lavfi -i sine=frequency=440:d={seconds}");
    let line = format!("ffmpeg -v error {sources} {codecs} -g 25 -bf 2 -b:v 900k -f mpegts {name}");
    run(folder, &line).is_some_and(|output| output.status.success())
}
