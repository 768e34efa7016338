//! The programs that carry TCP connections over UDP: `thalweg tunnel`, or kcptun of Debian's package of that name.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::command_line;

/// A server and a client with their settings.
#[derive(Clone, Debug)]
pub struct Forwarder {
    tool: Tool,
    /// The options of both sides.
    options: String,
}

#[derive(Clone, Debug)]
enum Tool {
    Kcptun,
    Thalweg { binary: PathBuf, key: PathBuf },
}

impl Forwarder {
    /// `kcptun-server` and `kcptun-client`, both with `options`.
    pub fn kcptun(options: &str) -> Forwarder {
        Forwarder { tool: Tool::Kcptun, options: options.into() }
    }

    /// `thalweg tunnel` with `options` on both sides, and the key in file `key`.
    pub fn thalweg(binary: &Path, key: &Path, options: &str) -> Forwarder {
        Forwarder { tool: Tool::Thalweg { binary: binary.into(), key: key.into() }, options: options.into() }
    }

    /// The command of the server, which listens at `listen` and opens a connection to `to` for each incoming one.
    pub fn server(&self, listen: SocketAddr, to: SocketAddr) -> Command {
        let (listen, to) = (listen.to_string(), to.to_string());
        match &self.tool {
            Tool::Kcptun => self.command("kcptun-server".as_ref(), &["-l", &listen, "-t", &to]),
            Tool::Thalweg { binary, key } => {
                let mut command = self.command(binary, &["tunnel", "serve", "--listen", &listen, "--to", &to]);
                command.arg("--key-file").arg(key);
                command
            }
        }
    }

    /// The command of the client, which accepts connections at `local` and carries them to the server at `to`.
    pub fn client(&self, local: SocketAddr, to: SocketAddr) -> Command {
        let (local, to) = (local.to_string(), to.to_string());
        match &self.tool {
            Tool::Kcptun => self.command("kcptun-client".as_ref(), &["-l", &local, "-r", &to]),
            Tool::Thalweg { binary, key } => {
                let mut command = self.command(binary, &["tunnel", "connect", &to, "--local", &local]);
                command.arg("--key-file").arg(key);
                command
            }
        }
    }

    fn command(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).args(self.options.split_whitespace());
        command
    }

    /// Both commands, as a user would type them.
    pub fn lines(&self) -> String {
        let port = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let mut lines = self.clone();
        if let Tool::Thalweg { key, .. } = &mut lines.tool {
            *key = "key".into();
        }
        format!(
            "{}\n{}",
            command_line(&lines.server(port(7000), port(8000))),
            command_line(&lines.client(port(6000), port(7000)))
        )
    }
}
