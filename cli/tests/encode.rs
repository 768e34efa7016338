//! `thalweg encode` over GStreamer: the video follows its rate, and what is wrong is said in one line.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

use rustix::process::Signal;
use thalweg_core::time::Span;
use thalweg_mpegts::PACKET;
use thalweg_mpegts::align::Framer;
use thalweg_mpegts::packet::Packet;
use thalweg_mpegts::pes::Header;

use crate::common::stream::sink;
use crate::common::{Running, run, signal};

/// A picture that moves, which no encoder finds easy.
const PICTURE: &str = "videotestsrc is-live=true pattern=zone-plate kx2=20 ky2=20 kt=1 ! \
    video/x-raw,width=640,height=360,framerate=30/1 ! queue !";
const SOUND: &str = "audiotestsrc is-live=true ! audioconvert ! voaacenc bitrate=128000 ! aacparse ! queue ! mux.";
/// Each picture has the clock, so that windows of media are exact.
const END: &str = "mpegtsmux name=mux pcr-interval=900 ! appsink name=appsink";
const X264: &str = "x264enc name=venc_kbps tune=zerolatency speed-preset=superfast key-int-max=60 ! h264parse";
const WINDOW: Span = Span::from_millis(200);

/// The file of a pipeline.
fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pipeline"));
    std::fs::write(&path, text).expect("a temporary file");
    path.to_str().expect("UTF-8").to_owned()
}

/// A running encoder, and the bytes of each window of its media.
struct Encode {
    child: Child,
    rates: Option<ChildStdin>,
    media: ChildStdout,
    errors: Option<JoinHandle<String>>,
    framer: Framer,
    first: Option<thalweg_mpegts::stamp::Pcr>,
    windows: Vec<usize>,
}

impl Encode {
    fn start(file: &str) -> Encode {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
        let command =
            command.args(["encode", file]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let (rates, media) = (child.stdin.take(), child.stdout.take().expect("piped"));
        let mut stderr = child.stderr.take().expect("piped");
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).map(|_| text).expect("UTF-8")
        });
        let (framer, windows) = (Framer::new(), Vec::new());
        Encode { child, rates, media, errors: Some(errors), framer, first: None, windows }
    }

    fn ask(&mut self, bps: u64) {
        writeln!(self.rates.as_mut().expect("open"), "rate {bps}").expect("it reads");
    }

    /// Reads until the media has at least `count` windows.
    fn read(&mut self, count: usize) {
        let mut bytes = [0; 20 * PACKET];
        while self.windows.len() <= count {
            let len = self.media.read(&mut bytes).expect("a pipe");
            assert!(len > 0, "the encoder ended: {}", self.errors.take().expect("once").join().expect("text"));
            self.framer.push(&bytes[..len]);
            while let Some(packet) = self.framer.poll() {
                if let Some(pcr) = packet.pcr() {
                    let since = pcr.since(*self.first.get_or_insert(pcr)).span();
                    self.windows.resize(1 + (since.as_nanos() / WINDOW.as_nanos()) as usize, 0);
                }
                if let Some(window) = self.windows.last_mut() {
                    *window += PACKET;
                }
            }
        }
    }

    /// The mean rate of some windows, in bits per second.
    fn mean(&self, windows: std::ops::Range<usize>) -> f64 {
        let count = windows.len() as f64;
        self.windows[windows].iter().sum::<usize>() as f64 * 8.0 / (count * WINDOW.as_secs_f64())
    }

    /// Ends it as `send` does; its exit code and its lines.
    fn end(mut self) -> (Option<i32>, String) {
        signal(&self.child, Signal::TERM);
        // A pipe that no one reads must not keep it.
        let status = self.child.wait().expect("a child");
        (status.code(), self.errors.take().expect("once").join().expect("text"))
    }
}

/// From `fast` to `slow`: the media is below the new rate within two seconds, and stays there.
fn follows(name: &str, encoder: &str, fast: u64, slow: u64) {
    let mut encode = Encode::start(&file(name, &format!("{PICTURE} {encoder} ! queue ! mux. {SOUND} {END}")));
    encode.ask(fast);
    encode.read(20);
    encode.ask(slow);
    let changed = encode.windows.len();
    encode.read(changed + 25);
    let took = (changed..).find(|nth| encode.mean(*nth..nth + 1) < slow as f64).expect("a window") + 1 - changed;
    let (before, after) = (encode.mean(10..20), encode.mean(changed + 10..changed + 25));
    println!("{name}: {took} windows until below {slow}; {before:.0} before, {after:.0} after");
    assert!(took <= 10, "{:?}", encode.windows);
    assert!((0.8 * fast as f64..1.05 * fast as f64).contains(&before), "{before}");
    assert!((0.7 * slow as f64..1.03 * slow as f64).contains(&after), "{after}");
    assert_eq!(encode.end(), (Some(0), String::new()));
}

#[test]
fn x264_is_below_a_slower_rate_within_two_seconds() {
    follows("kbps", X264, 6_000_000, 2_000_000);
}

#[test]
fn encoder_in_bits_per_second_follows() {
    follows("bps", "openh264enc name=venc_bps rate-control=bitrate ! h264parse", 4_000_000, 1_000_000);
}

#[test]
fn encoder_that_ignores_its_rate_is_reported_once_and_goes_on() {
    let encoder = "x264enc name=venc_kbps pass=quant quantizer=30 speed-preset=ultrafast tune=zerolatency ! h264parse";
    let name = file("ignores", &format!("{PICTURE} {encoder} ! {END}"));
    let mut encode = Encode::start(&name);
    encode.ask(300_000);
    encode.read(50);
    let (code, lines) = encode.end();
    assert!(lines.starts_with(&format!("encode: {name}: venc_kbps (x264enc) ignores its bitrate: ")), "{lines}");
    assert_eq!((code, lines.lines().count()), (Some(0), 1), "{lines}");
}

#[test]
fn sound_above_the_rate_is_reported_once() {
    let name = file("crowded", &format!("{PICTURE} {X264} ! queue ! mux. {SOUND} {END}"));
    let mut encode = Encode::start(&name);
    encode.ask(60_000);
    encode.read(15);
    let (code, lines) = encode.end();
    assert!(
        lines.contains(": sound, tables and padding take ") && lines.contains(" of the 60 kb/s asked for; "),
        "{lines}"
    );
    assert_eq!((code, lines.lines().count()), (Some(0), 1), "{lines}");
}

#[test]
fn wrong_pipelines_fail_in_one_line_that_names_the_file_and_the_part() {
    let end = "mpegtsmux ! appsink name=appsink";
    for (name, text, expected) in [
        ("syntax", "videotestsrc ! ! fakesink".to_owned(), "syntax error"),
        ("binary", format!("videotestsrc ! \0 {end}"), "has a byte of zero"),
        (
            "missing",
            format!("videotestsrc ! x265encoder name=venc_kbps ! {end}"),
            "no element x265encoder; gst-inspect-1.0 lists",
        ),
        ("empty", String::new(), "the file has no pipeline; thalweg encode --help shows one"),
        (
            "property",
            format!("videotestsrc ! x264enc name=venc_kbps bitrte=5 ! {end}"),
            "; gst-inspect-1.0 ELEMENT lists",
        ),
        ("unnamed", format!("videotestsrc ! x264enc ! {end}"), "no encoder has the name venc_bps or venc_kbps"),
        (
            "both",
            format!("videotestsrc ! x264enc name=venc_kbps ! identity name=venc_bps ! {end}"),
            "both venc_bps and",
        ),
        (
            "refuses",
            format!("videotestsrc ! identity name=venc_bps ! x264enc ! {end}"),
            "venc_bps (identity) has no number bitrate",
        ),
        (
            "sink",
            "videotestsrc ! x264enc name=venc_kbps ! mpegtsmux ! fakesink".to_owned(),
            "ends nowhere; let it end in",
        ),
        (
            "source",
            format!("filesrc location=/no/such ! decodebin ! x264enc name=venc_kbps ! {end}"),
            "filesrc0: Resource not found: No such file \"/no/such\"; check the file, device or address that filesrc0 has there",
        ),
    ] {
        let name = file(name, &text);
        let (code, stdout, stderr) = run(&["encode", &name]);
        assert!(stderr.starts_with(&format!("thalweg: encode: {name}: ")) && stderr.contains(expected), "{stderr}");
        assert_eq!((code, stdout.as_str(), stderr.lines().count()), (1, "", 1), "{stderr}");
    }
    let (code, _, stderr) = run(&["encode", "/no/such.pipeline"]);
    assert_eq!((code, &*stderr), (1, "thalweg: encode: /no/such.pipeline: no such file or directory\n"));
}

#[test]
fn source_that_ends_and_reader_that_leaves_are_no_failures() {
    let name =
        file("ends", &format!("videotestsrc num-buffers=60 ! {X264} ! mpegtsmux ! appsink name=appsink sync=false"));
    let run_to = |stdout: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
        command.args(["encode", &name]).stdin(Stdio::null()).stdout(stdout).output().expect("the binary runs")
    };
    let whole = run_to(Stdio::piped());
    assert!(whole.status.success() && whole.stderr.is_empty(), "{whole:?}");
    assert!(thalweg_mpegts::is_whole_packets(&whole.stdout));
    let pictures =
        whole.stdout.chunks(PACKET).filter_map(|bytes| Header::parse(&Packet::parse(bytes).expect("a packet")));
    assert_eq!(pictures.count(), 60);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let unread = run_to(writer.into());
    assert!(unread.status.success() && unread.stderr.is_empty(), "{unread:?}");
}

#[test]
fn other_lines_on_standard_input_are_reported_once() {
    let name =
        file("lines", &format!("videotestsrc num-buffers=60 is-live=true ! {X264} ! mpegtsmux ! appsink name=appsink"));
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    // The last line has no end.
    writer.write_all(b"faster\nrate x\nrate 500000").expect("it fits");
    drop(writer);
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    let output = command.args(["encode", &name]).stdin(reader).output().expect("the binary runs");
    let lines = String::from_utf8(output.stderr).expect("UTF-8");
    let expected =
        format!("encode: {name}: standard input: 'faster' is not `rate BITS_PER_SECOND`; such lines are skipped\n");
    assert_eq!((output.status.code(), lines), (Some(0), expected));
}

#[test]
fn pictures_of_an_encoder_reach_the_receiver_of_send() {
    let name = file("send", &format!("{PICTURE} {X264} ! queue ! mux. {SOUND} {END}"));
    let (sink, output) = sink("127.0.0.1:0");
    let recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--output", &output]);
    let to = recv.address("listening", "address");
    let command = format!("exec:{} encode {name}", env!("CARGO_BIN_EXE_thalweg"));
    let mut send = Running::start(&["send", "--rate", "tfrc", "--to", &to, "--input", &command]);
    let (mut framer, mut pictures, mut datagram) = (Framer::new(), 0, [0; 2048]);
    while pictures < 60 {
        let len = sink.recv(&mut datagram).expect("media arrives");
        framer.push(&datagram[..len]);
        while let Some(packet) = framer.poll() {
            pictures += usize::from(Header::parse(&packet).is_some_and(|header| header.is_video()));
        }
    }
    send.interrupt();
    send.succeeds();
    assert!(!send.rest().iter().any(|line| line.contains("warning")), "the encoder ran without a fault");
}
