//! Servers of a folder of films over HTTP/1.1.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::certificate::Secret;
use crate::program::{Program, line};
use crate::scrap::Scrap;

/// The film. It does not tell how fast it is played.
pub const FILM: &str = "film.webm";

/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(10);

/// Who serves.
#[derive(Clone, Debug)]
pub enum Tool {
    /// `thalweg serve` with these options, which blanks separate.
    Thalweg {
        /// The binary.
        binary: PathBuf,
        /// More than where and what.
        options: String,
    },
    /// nginx as one process, with sendfile.
    Nginx,
}

/// A server that listens; it ends with this value.
#[derive(Debug)]
pub struct Site {
    /// Its only process.
    pub program: Program,
    /// Where it listens.
    pub address: SocketAddr,
    _config: Option<Scrap>,
}

impl Tool {
    /// Serves `folder`, under TLS if there is a certificate.
    pub fn start(&self, folder: &Path, secret: Option<&Secret>) -> Result<Site, String> {
        let address = free()?;
        let files = secret.map(|secret| secret.files.each_ref().map(Scrap::path));
        let config = match self {
            Tool::Nginx => Some(Scrap::write(&nginx(address, folder, files))?),
            Tool::Thalweg { .. } => None,
        };
        let config_path = config.as_ref().map(Scrap::path);
        let mut program = Program::start(self.command(folder, address, files, config_path))?;
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            program.check()?;
            if start.elapsed() > PATIENCE {
                return Err(format!("nobody listens at {address}"));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(Site { program, address, _config: config })
    }

    /// The command, as a reader would type it; of nginx its configuration, too.
    pub fn lines(&self, tls: bool) -> String {
        let (folder, address) = (Path::new("/srv/films"), SocketAddr::from(([127, 0, 0, 1], 8080)));
        let files = tls.then_some(["/srv/cert.pem", "/srv/key.pem"].map(Path::new));
        let command = line(&self.command(folder, address, files, Some(Path::new("nginx.conf"))));
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

/// The whole of it: one process, and no logs. nginx itself removes the file that has its number.
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

fn free() -> Result<SocketAddr, String> {
    let failed = |error| format!("no free port: {error}");
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr()).map_err(failed)
}
