//! A browser that is installed already, driven by `cli/tests/browser/play.mjs`, and what its video element went through.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use thalweg_core::units::Rate;
use thalweg_net::error::Error;
use thalweg_net::testbed::Namespace;

const BROWSER: &str = "/usr/bin/chromium";
/// Where the script is, and npm puts what it needs.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser");
/// Less ahead than this, in seconds, and it is the path that a video element waits for, not the machine.
const EMPTY: f64 = 0.5;

/// A film of 40 s at a constant rate, in a folder of its own.
pub(crate) struct Film {
    pub(crate) folder: PathBuf,
    pub(crate) rate: Rate,
}

impl Film {
    pub(crate) const NAME: &'static str = "film.mp4";

    /// None, and a line that says why, without ffmpeg.
    pub(crate) fn make(folder: &str) -> Option<Film> {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
        fs::create_dir_all(&folder).expect("a folder");
        let film = folder.join(Film::NAME);
        let words = "-v error -y -f lavfi -i testsrc2=size=640x360:rate=25 -f lavfi -i sine=frequency=330 -t 40 \
            -c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 50 -b:v 3.4M -minrate 3.4M -maxrate 3.4M -bufsize 1.7M \
            -x264-params nal-hrd=cbr -c:a aac -b:a 128k -movflags +faststart";
        ffmpeg(words, &film)?;
        let bits = fs::metadata(&film).expect("it was written").len() * 8;
        Some(Film { folder, rate: Rate::from_bps(bits / 40) })
    }

    /// A folder beside it with the first of it cut into pieces; the file that tells of them, as a page has it.
    pub(crate) fn in_pieces(&self, format: &str, index: &str) -> String {
        let folder = self.folder.join(format);
        fs::create_dir_all(&folder).expect("a folder");
        let film = self.folder.join(Film::NAME);
        let words = format!("-v error -y -i {} -t 12 -c copy -f {format}", film.to_str().expect("UTF-8"));
        ffmpeg(&words, &folder.join(index)).expect("it has made the film");
        format!("{format}/{index}")
    }
}

/// None, and a line that says so, where it is not installed.
fn ffmpeg(words: &str, output: &Path) -> Option<()> {
    let Ok(run) = Command::new("ffmpeg").args(words.split_whitespace()).arg(output).stdin(Stdio::null()).output()
    else {
        println!("skipped: no ffmpeg");
        return None;
    };
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(())
}

/// What is to be played.
pub(crate) struct Viewer<'a> {
    /// What its picture is called.
    pub(crate) name: &'a str,
    pub(crate) page: &'a str,
    /// The link to it; without one the page plays by itself.
    pub(crate) link: Option<&'a str>,
    /// How much of it, in seconds.
    pub(crate) seconds: f64,
    pub(crate) flags: &'a [&'a str],
}

impl Viewer<'_> {
    /// Whether there can be one; a line that says why not.
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

    /// Plays it at a computer.
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

/// What a video element went through.
pub(crate) struct Seen(Value);

impl Seen {
    /// Where it is at the end, in seconds of the film.
    pub(crate) fn position(&self) -> f64 {
        number(&self.0["position"])
    }

    /// Whether the middle of the window shows it.
    pub(crate) fn is_in_view(&self) -> bool {
        self.0["inView"] == true
    }

    /// How often it ran dry after it had begun.
    pub(crate) fn stalls(&self) -> usize {
        let events = list(&self.0["events"]);
        let begun = events.iter().skip_while(|event| event["name"] != "playing");
        begun.filter(|event| event["name"] == "waiting" && number(&event["ahead"]) < EMPTY).count()
    }

    /// How much of the film was there that had not been played, at its most, in seconds.
    pub(crate) fn most_ahead(&self) -> f64 {
        list(&self.0["samples"]).iter().map(|sample| number(&sample["ahead"])).fold(0.0, f64::max)
    }

    /// How the answers came whose address ends so.
    pub(crate) fn protocols(&self, end: &str) -> Vec<&str> {
        let answers = list(&self.0["responses"]).iter();
        let of_it = answers.filter(|answer| answer["url"].as_str().is_some_and(|url| url.ends_with(end)));
        of_it.map(|answer| answer["protocol"].as_str().expect("text")).collect()
    }

    /// What the page was not allowed, and what it complained of.
    pub(crate) fn complaints(&self) -> Vec<&Value> {
        list(&self.0["refused"]).iter().chain(list(&self.0["told"])).collect()
    }
}

/// Whether there is a node that playwright runs in.
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
