//! `thalweg keygen`: a new key file.

use std::io::{self, Write};
use std::path::PathBuf;

use thalweg_core::session::secure::Key;
use thalweg_net::{entropy, key_file};

use crate::Failure;

/// Write a new key file, and print what of it may be shown.
///
/// A shared key is copied to the other side, over a path you trust; both compare the fingerprint. With --static each
/// side has a key of its own, and lets the other in by the line that its keygen prints.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg keygen k && scp -p k HOST:
  ssh server thalweg keygen --static server.key       # prints `peer 8520f0...`
  thalweg keygen --static --peer 8520f0... client.key # prints `peer de9edb...`
  ssh server 'echo peer de9edb... >> server.key'
  thalweg keygen --show k")]
pub(crate) struct Args {
    /// The file; it must not be there yet
    file: PathBuf,
    /// A key of this side's own instead of one for both
    #[arg(long = "static")]
    own: bool,
    /// Let this public key in, 64 hexadecimal digits; may be repeated
    #[arg(long, value_name = "KEY", requires = "own", value_parser = public)]
    peer: Vec<[u8; 32]>,
    /// Write nothing, and print what of an existing file may be shown
    #[arg(long, conflicts_with_all = ["own", "peer"])]
    show: bool,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    key_file::guard_memory().map_err(failed)?;
    let key = if args.show {
        key_file::read(&args.file).map_err(failed)?
    } else {
        let mut entropy = entropy::keys().map_err(|error| failed(format!("no randomness: {error}")))?;
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
