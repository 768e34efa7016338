//! A browser that is installed already, driven by `cli/tests/browser/play.mjs`, and the record of its video element.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use thalweg_core::units::Rate;
use thalweg_net::error::Error;
use thalweg_testbed::Namespace;

const BROWSER: &str = "/usr/bin/chromium";
/// The folder of the script, and of the packages that npm installs for it.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser");
/// The buffer, in seconds, below which a video element waits for the path and not for the machine.
const EMPTY: f64 = 0.5;

/// A video of 40 s at a constant rate, in a folder of its own.
pub(crate) struct Video {
    pub(crate) folder: PathBuf,
    pub(crate) rate: Rate,
}

impl Video {
    pub(crate) const NAME: &'static str = "video.mp4";

    /// Makes the video; `None`, and a line with the reason, without ffmpeg.
    pub(crate) fn make(folder: &str) -> Option<Video> {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
        fs::create_dir_all(&folder).expect("a folder");
        let video = folder.join(Video::NAME);
        let words = "-v error -y -f lavfi -i testsrc2=size=640x360:rate=25 -f lavfi -i sine=frequency=330 -t 40 \
            -c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 50 -b:v 3.4M -minrate 3.4M -maxrate 3.4M -bufsize 1.7M \
            -x264-params nal-hrd=cbr -c:a aac -b:a 128k -movflags +faststart";
        ffmpeg(words, &video)?;
        let bits = fs::metadata(&video).expect("it was written").len() * 8;
        Some(Video { folder, rate: Rate::from_bps(bits / 40) })
    }

    /// Cuts the first 12 s into pieces in a folder beside the video; returns the file that lists them, as a page has
    /// it.
    pub(crate) fn in_pieces(&self, format: &str, index: &str) -> String {
        let folder = self.folder.join(format);
        fs::create_dir_all(&folder).expect("a folder");
        let video = self.folder.join(Video::NAME);
        let words = format!("-v error -y -i {} -t 12 -c copy -f {format}", video.to_str().expect("UTF-8"));
        ffmpeg(&words, &folder.join(index)).expect("it has made the video");
        format!("{format}/{index}")
    }
}

/// Runs ffmpeg; `None`, and a line with the reason, where it is not installed.
fn ffmpeg(words: &str, output: &Path) -> Option<()> {
    let Ok(run) = Command::new("ffmpeg").args(words.split_whitespace()).arg(output).stdin(Stdio::null()).output()
    else {
        println!("skipped: no ffmpeg");
        return None;
    };
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(())
}

/// The page and the video to be played.
pub(crate) struct Viewer<'a> {
    /// The name of its screenshot.
    pub(crate) name: &'a str,
    pub(crate) page: &'a str,
    /// The link to the video; without one the page plays by itself.
    pub(crate) link: Option<&'a str>,
    /// The length to be played, in seconds.
    pub(crate) seconds: f64,
    pub(crate) flags: &'a [&'a str],
}

impl Viewer<'_> {
    /// True if a browser can be run; otherwise a line with the reason is printed.
    pub(crate) fn is_there() -> bool {
        let missing = if !Path::new(BROWSER).exists() {
            "no chromium"
        } else if !has_node() {
            "no node 20 or later"
        } else if !Path::new(SCRIPT).join("node_modules/playwright-core").exists() {
            "no playwright-core (npm ci --prefix cli/tests/browser)"
        } else {
            return true;
        };
        println!("skipped: {missing}");
        false
    }

    /// Plays the video at a computer.
    pub(crate) fn watch(&self, at: &Namespace) -> Seen {
        let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{}.png", self.name));
        let wanted = json!({
            "browser": BROWSER, "page": self.page, "link": self.link, "seconds": self.seconds, "picture": picture,
            "flags": self.flags,
        });
        let mut node = Command::new("node");
        node.arg(format!("{SCRIPT}/play.mjs")).arg(wanted.to_string()).stdin(Stdio::null());
        let output = at.within(|| node.output().map_err(Error::io("node"))).expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        println!("{}: {}", self.name, picture.display());
        fs::write(picture.with_extension("json"), &output.stdout).expect("a file");
        Seen(serde_json::from_slice(&output.stdout).expect("JSON"))
    }
}

/// The record of a video element.
pub(crate) struct Seen(Value);

impl Seen {
    /// The position at the end, in seconds of the video.
    pub(crate) fn position(&self) -> f64 {
        number(&self.0["position"])
    }

    /// True if the middle of the window shows the video.
    pub(crate) fn is_in_view(&self) -> bool {
        self.0["inView"] == true
    }

    /// The number of times that playback stalled for lack of data after it had begun.
    pub(crate) fn stalls(&self) -> usize {
        let events = list(&self.0["events"]);
        let begun = events.iter().skip_while(|event| event["name"] != "playing");
        begun.filter(|event| event["name"] == "waiting" && number(&event["ahead"]) < EMPTY).count()
    }

    /// The greatest buffer ahead of playback, in seconds.
    pub(crate) fn most_ahead(&self) -> f64 {
        list(&self.0["samples"]).iter().map(|sample| number(&sample["ahead"])).fold(0.0, f64::max)
    }

    /// The protocols of the answers whose address ends with `end`.
    pub(crate) fn protocols(&self, end: &str) -> Vec<&str> {
        let answers = list(&self.0["responses"]).iter();
        let of_it = answers.filter(|answer| answer["url"].as_str().is_some_and(|url| url.ends_with(end)));
        of_it.map(|answer| answer["protocol"].as_str().expect("text")).collect()
    }

    /// The requests that the page was refused, and its error messages.
    pub(crate) fn complaints(&self) -> Vec<&Value> {
        list(&self.0["refused"]).iter().chain(list(&self.0["messages"])).collect()
    }
}

/// True if there is a version of node that playwright runs in.
fn has_node() -> bool {
    let Ok(output) = Command::new("node").arg("--version").output() else { return false };
    let version = String::from_utf8_lossy(&output.stdout);
    version.trim_start_matches('v').split('.').next().and_then(|major| major.parse().ok()) >= Some(20)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], |list| list)
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}
