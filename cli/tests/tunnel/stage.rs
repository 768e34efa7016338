//! A tunnel between two processes, and the programs at its ends.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

pub(crate) use crate::common::key;
use crate::common::{Running, TIMEOUT};

/// Loss, reordering, duplication and corruption, both ways.
pub(crate) const HARSH: &str = r#"
seed = 1
forward.element = [
    { kind = "loss", rate = 0.2 },
    { kind = "duplicate", share = 0.02 },
    { kind = "corrupt", share = 0.001, bytes = 2 },
    { kind = "wire", delay = "5ms" },
    { kind = "reorder", share = 0.05, by = "3ms" },
]
reverse.element = [
    { kind = "loss", rate = 0.2 },
    { kind = "duplicate", share = 0.02 },
    { kind = "corrupt", share = 0.001, bytes = 2 },
    { kind = "wire", delay = "5ms" },
    { kind = "reorder", share = 0.05, by = "3ms" },
]
"#;

/// True if the long tests run; otherwise a line is printed.
pub(crate) fn is_long() -> bool {
    let is_long = std::env::var_os("THALWEG_TEST_ALL").is_some();
    if !is_long {
        println!("skipped: it takes long, THALWEG_TEST_ALL=1 runs it");
    }
    is_long
}

/// A file of this test alone.
pub(crate) fn file(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tunnel-{}-{name}", std::process::id()));
    let _ = fs::remove_file(&path);
    path
}

/// The address of `server`, behind a path if one is given.
pub(crate) fn behind(name: &str, path: Option<&str>, server: String) -> (Option<Running>, String) {
    let Some(path) = path else { return (None, server) };
    let toml = file(&format!("{name}.toml"));
    fs::write(&toml, path).expect("a temporary file");
    let args = ["emulate", toml.to_str().expect("a name"), "--listen", "127.0.0.1:0", "--to", &server];
    let path = Running::start(&args);
    let at = path.address("listening", "address");
    (Some(path), at)
}

/// A running tunnel.
pub(crate) struct Tunnel {
    pub(crate) serve: Running,
    pub(crate) connect: Running,
    local: String,
    _path: Option<Running>,
}

impl Tunnel {
    /// A tunnel from a free port to `target`.
    pub(crate) fn start(name: &str, target: &str) -> Tunnel {
        Tunnel::with(name, target, None, &[])
    }

    /// The same over a path, with more arguments for both endpoints.
    pub(crate) fn with(name: &str, target: &str, path: Option<&str>, more: &[&str]) -> Tunnel {
        let key = key(name);
        let any = if target.starts_with('[') { "[::1]:0" } else { "127.0.0.1:0" };
        let serve = ["tunnel", "serve", "--listen", any, "--to", target, "--key-file", &key];
        let serve = Running::start(&[&serve, more].concat());
        let server = serve.address("listening", "address");
        let (path, server) = behind(name, path, server);
        let (connect, local) = connect(&server, &key, more);
        Tunnel { serve, connect, local, _path: path }
    }

    /// The address that programs connect to.
    pub(crate) fn local(&self) -> &str {
        &self.local
    }

    /// A connection through it.
    pub(crate) fn open(&self) -> TcpStream {
        open(&self.local)
    }
}

/// A connection to a program, or to a tunnel.
pub(crate) fn open(local: &str) -> TcpStream {
    let stream = TcpStream::connect(local).expect("somebody listens");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    stream.set_write_timeout(Some(TIMEOUT)).expect("a timeout");
    stream
}

/// The connecting endpoint, and the address at which it listens.
pub(crate) fn connect(server: &str, key: &str, more: &[&str]) -> (Running, String) {
    let any = if server.starts_with('[') { "[::1]:0" } else { "127.0.0.1:0" };
    let connect = ["tunnel", "connect", server, "--local", any, "--key-file", key];
    let connect = Running::start(&[&connect, more].concat());
    let local = connect.address("connecting", "address");
    (connect, local)
}

/// A program that listens, and does `what` with each connection.
pub(crate) fn program(address: &str, what: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> String {
    let listener = TcpListener::bind(address).expect("a free port");
    // std's backlog of 128 is less than the connections that arrive at once.
    rustix::net::listen(&listener, 4096).expect("a longer backlog");
    let at = listener.local_addr().expect("bound").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let what = what.clone();
            std::thread::spawn(move || what(stream));
        }
    });
    at
}

/// Echoes all data, until the end.
pub(crate) fn echo(mut stream: TcpStream) {
    let mut bytes = [0; 1 << 14];
    while let Ok(len) = stream.read(&mut bytes) {
        if len == 0 || stream.write_all(&bytes[..len]).is_err() {
            break;
        }
    }
}

/// Reads all data to the end, and then sends it back.
pub(crate) fn echo_at_end(mut stream: TcpStream) {
    let mut all = Vec::new();
    let _: io::Result<()> = stream.read_to_end(&mut all).and_then(|_| stream.write_all(&all));
}

/// Closes with a reset (socket(7), SO_LINGER).
pub(crate) fn close_with_reset(stream: TcpStream) {
    set_socket_linger(&stream, Some(Duration::ZERO)).expect("a socket");
}

/// The resident memory of a process (proc_pid_status(5), `VmRSS`), kB.
pub(crate) fn resident(end: &Running) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", end.child.id())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("the kernel tells");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}
