//! Servers of a folder of videos over HTTP/1.1.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::certificate::Secret;
use crate::program::{Program, command_line};
use crate::scrap::Scrap;

/// The video's file name. The file does not say at what rate it is played.
pub const VIDEO: &str = "video.webm";

/// The longest time that a server may take to start listening.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A server program.
#[derive(Clone, Debug)]
pub enum Tool {
    /// `thalweg serve` with these options, separated by spaces.
    Thalweg {
        /// The binary.
        binary: PathBuf,
        /// The options besides folder, address, certificate and key.
        options: String,
    },
    /// nginx as a single process, with sendfile.
    Nginx,
}

/// A listening server. Dropping it ends the server.
#[derive(Debug)]
pub struct Site {
    /// Its only process.
    pub program: Program,
    /// The address that it listens on.
    pub address: SocketAddr,
    _config: Option<Scrap>,
}

impl Tool {
    /// Starts a server of `folder`, with TLS if there is a certificate.
    pub fn start(&self, folder: &Path, secret: Option<&Secret>) -> Result<Site, String> {
        let address = free()?;
        let files = secret.map(|secret| secret.files.each_ref().map(Scrap::path));
        let config = match self {
            Tool::Nginx => Some(Scrap::write(&nginx(address, folder, files))?),
            Tool::Thalweg { .. } => None,
        };
        let config_path = config.as_ref().map(Scrap::path);
        let mut program = Program::start(self.command(folder, address, files, config_path))?;
        await_listener(&mut program, address)?;
        Ok(Site { program, address, _config: config })
    }

    /// The command as a user would type it; for nginx, also its configuration.
    pub fn lines(&self, tls: bool) -> String {
        let (folder, address) = (Path::new("/srv/videos"), SocketAddr::from(([127, 0, 0, 1], 8080)));
        let files = tls.then_some(["/srv/cert.pem", "/srv/key.pem"].map(Path::new));
        let command = command_line(&self.command(folder, address, files, Some(Path::new("nginx.conf"))));
        match self {
            Tool::Thalweg { .. } => command,
            Tool::Nginx => format!("{command}   # which has:\n{}", nginx(address, folder, files).trim_end()),
        }
    }

    fn command(&self, folder: &Path, address: SocketAddr, files: Option<[&Path; 2]>, config: Option<&Path>) -> Command {
        match self {
            Tool::Thalweg { binary, options } => {
                let mut command = Command::new(binary);
                command.arg("serve").arg(folder).args(["--listen", &address.to_string()]);
                if let Some([own, key]) = files {
                    command.arg("--cert").arg(own).arg("--key").arg(key);
                }
                command.args(options.split_whitespace());
                command
            }
            Tool::Nginx => {
                let mut command = Command::new("nginx");
                command.arg("-c").args(config);
                command
            }
        }
    }
}

/// The complete configuration: one process, no logs. nginx itself removes its PID file.
fn nginx(address: SocketAddr, folder: &Path, files: Option<[&Path; 2]>) -> String {
    let folder = folder.display();
    let server = match files.map(|files| files.map(Path::display)) {
        Some([own, key]) => {
            format!("listen {address} ssl; ssl_certificate {own}; ssl_certificate_key {key}; ssl_protocols TLSv1.3;")
        }
        None => format!("listen {address};"),
    };
    format!(
        "daemon off; master_process off; worker_processes 1; pid {folder}/.nginx.pid; error_log stderr;\n\
         events {{ worker_connections 2048; }}\n\
         http {{ access_log off; sendfile on; server {{ {server} root {folder}; }} }}\n"
    )
}

/// Waits until a program listens.
pub(crate) fn await_listener(program: &mut Program, address: SocketAddr) -> Result<(), String> {
    let start = Instant::now();
    while TcpStream::connect(address).is_err() {
        program.check()?;
        if start.elapsed() > TIMEOUT {
            return Err(format!("nobody listens at {address}"));
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// A free port on loopback.
pub(crate) fn free() -> Result<SocketAddr, String> {
    let failed = |error| format!("no free port: {error}");
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr()).map_err(failed)
}
