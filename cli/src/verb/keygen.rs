//! `thalweg keygen`: a new key file.

use std::io::{self, Write};
use std::path::PathBuf;

use thalweg_core::session::secure::Key;
use thalweg_net::{entropy, key_file};

use crate::failure::Failure;

/// Write a new key file, and print its fingerprint or public key.
///
/// Copy a shared key to the other machine over a trusted path, and compare the fingerprints. With --static each peer
/// has its own key, and accepts the other one if its key file has the `peer` line that keygen printed there.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg keygen k && scp -p k HOST:
  ssh server thalweg keygen --static server.key       # prints `peer 8520f0...`
  thalweg keygen --static --peer 8520f0... client.key # prints `peer de9edb...`
  ssh server 'echo peer de9edb... >> server.key'
  thalweg keygen --show k")]
pub(crate) struct Args {
    /// Key file to write, which must not exist yet; with --show, to read
    file: PathBuf,
    /// Make a static key of this machine's own instead of a shared one
    #[arg(long = "static")]
    own: bool,
    /// Accept the peer with this public key, 64 hexadecimal digits; may be repeated
    #[arg(long, value_name = "KEY", requires = "own", value_parser = public)]
    peer: Vec<[u8; 32]>,
    /// Print the fingerprint or public key of an existing file; write nothing
    #[arg(long, conflicts_with_all = ["own", "peer"])]
    show: bool,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    key_file::guard_memory().map_err(failed)?;
    let key = if args.show {
        key_file::read(&args.file).map_err(failed)?
    } else {
        let mut entropy = entropy::keys().map_err(|error| failed(format!("cannot read random bytes: {error}")))?;
        let key = if args.own { Key::own(&mut entropy, args.peer) } else { Key::shared(&mut entropy) };
        key_file::create(&args.file, &key).map_err(failed)?;
        key
    };
    match writeln!(io::stdout(), "{}", key.public()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(failed(format!("cannot write standard output: {error}")))
        }
        _ => Ok(()),
    }
}

fn failed(reason: impl std::fmt::Display) -> Failure {
    Failure::Failed(format!("keygen: {reason}"))
}

fn public(text: &str) -> Result<[u8; 32], String> {
    Key::public_from(text).map_err(|_| "not a public key of 64 hexadecimal digits".to_owned())
}
