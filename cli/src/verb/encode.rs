//! `thalweg encode`: an encoder for `send --input exec:`.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use thalweg_encode::Error;
use thalweg_net::signal::Stop;
use thalweg_net::terminal::escaped;

use crate::failure::Failure;

/// Run a GStreamer pipeline whose encoder follows the rate that `send` asks for.
///
/// The file has a pipeline as for gst-launch-1.0. The encoder of the video has the name venc_bps or venc_kbps, after the
/// unit of its property `bitrate`; the pipeline ends in `mpegtsmux ! appsink name=appsink`. MPEG-TS goes to standard
/// output. Lines `rate BITS_PER_SECOND` on standard input are rates of this MPEG-TS; sound, tables and headers are taken
/// off for the encoder. Once standard input has ended, the last rate stays. It runs until the source ends: with a live
/// source, as a camera, until Ctrl-C.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  thalweg send --to receiver.example:6000 --rate tfrc \\
    --input 'exec:thalweg encode tv.pipeline'
  echo rate 2000000 | thalweg encode tv.pipeline > two-megabits.ts

A pipeline, in tv.pipeline:
  v4l2src ! videoconvert !
  x264enc name=venc_kbps tune=zerolatency key-int-max=60 ! h264parse !
  mpegtsmux ! appsink name=appsink")]
pub(crate) struct Args {
    /// File with the pipeline
    #[arg(value_name = "PIPELINE")]
    file: PathBuf,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    if io::stdout().is_terminal() {
        let why = "encode: standard output is a terminal, which does not show MPEG-TS; start it with \
                   thalweg send --input 'exec:thalweg encode PIPELINE', or redirect it";
        return Err(Failure::Usage(why.to_owned()));
    }
    let stop = Stop::on_signal().map_err(thalweg_net::Error::io("handling signals"))?;
    let name = args.file.display();
    let report = |line: &str| eprintln!("{}", escaped(&format!("encode: {name}: {line}")));
    match thalweg_encode::run(&args.file, &stop, report) {
        Ok(()) => Ok(()),
        Err(Error::Unread) => Err(Failure::Unread),
        Err(error @ Error::NotBuilt) => Err(Failure::Usage(format!("encode: {error}"))),
        Err(error) => Err(Failure::Failed(format!("encode: {error}"))),
    }
}
