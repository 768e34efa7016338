//! The programs that carry a stream: `thalweg`, or `srt-live-transmit` of Debian's srt-tools.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::command_line;

/// A sender and a receiver with their settings.
#[derive(Clone, Debug)]
pub struct Contestant {
    /// The name in tables.
    pub name: String,
    tool: Tool,
}

#[derive(Clone, Debug)]
enum Tool {
    Thalweg { binary: PathBuf, options: String, latency: String, key: Option<PathBuf> },
    Srt { query: String },
}

impl Contestant {
    /// `thalweg send` with `options`, and `thalweg recv`; both with `latency`.
    pub fn thalweg(name: &str, binary: &Path, options: &str, latency: &str) -> Contestant {
        let (options, latency) = (options.into(), latency.into());
        Contestant { name: name.into(), tool: Tool::Thalweg { binary: binary.into(), options, latency, key: None } }
    }

    /// The same, encrypted with a key file.
    pub fn encrypted(mut self, file: &Path) -> Contestant {
        if let Tool::Thalweg { key, .. } = &mut self.tool {
            *key = Some(file.into());
        }
        self
    }

    /// `srt-live-transmit` with `query` appended to the addresses of both sides.
    pub fn srt(name: &str, query: &str) -> Contestant {
        Contestant { name: name.into(), tool: Tool::Srt { query: query.into() } }
    }

    /// The command of the receiver, which listens at `listen` and passes media to `output`.
    pub fn receiver(&self, listen: SocketAddr, output: SocketAddr) -> Command {
        match &self.tool {
            Tool::Thalweg { binary, latency, key, .. } => {
                let mut command = Command::new(binary);
                command.args(["recv", "--listen", &listen.to_string(), "--output", &format!("udp://{output}")]);
                command.args(["--latency", latency]).args(key_file(key));
                command
            }
            Tool::Srt { query } => {
                srt(&format!("srt://{listen}?mode=listener{query}"), &format!("udp://{output}?sndbuf=4194304"))
            }
        }
    }

    /// The command of the sender, which takes media at `input` and sends it to `to`.
    pub fn sender(&self, input: SocketAddr, to: SocketAddr) -> Command {
        match &self.tool {
            Tool::Thalweg { binary, options, latency, key } => {
                let mut command = Command::new(binary);
                command.args(["send", "--input", &format!("udp://{input}"), "--to", &to.to_string()]);
                command.args(options.split_whitespace()).args(["--latency", latency]).args(key_file(key));
                command
            }
            Tool::Srt { query } => {
                srt(&format!("udp://{input}?rcvbuf=4194304"), &format!("srt://{to}?mode=caller{query}"))
            }
        }
    }

    /// Both commands, as a user would type them.
    pub fn lines(&self) -> String {
        let port = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let receiver = command_line(&self.receiver(port(6000), port(7000)));
        format!("{}\n{receiver}", command_line(&self.sender(port(5000), port(6000))))
    }
}

fn key_file(key: &Option<PathBuf>) -> impl Iterator<Item = &OsStr> {
    key.iter().flat_map(|file| [OsStr::new("--key-file"), file.as_os_str()])
}

fn srt(from: &str, to: &str) -> Command {
    let mut command = Command::new("srt-live-transmit");
    command.args(["-q", "-chunk:1316", from, to]);
    command
}
