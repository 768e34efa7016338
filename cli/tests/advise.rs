//! `thalweg advise`: what it predicts of a path and what the path then does, its files, and its refusals.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Running, key, run};

/// The folder of one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("advise-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A path file of a round trip in milliseconds, whose way forth has these elements.
fn path_file(folder: &Path, round_trip: u64, elements: &str) -> String {
    let wire = |way: &str| format!("[[{way}.element]]\nkind = 'wire'\ndelay = '{}us'\n", round_trip * 500);
    let text = format!("seed = 1\n[forward]\n{elements}\n{}[reverse]\n{}", wire("forward"), wire("reverse"));
    let file = folder.join("emulated.toml");
    fs::write(&file, text).expect("a file");
    file.display().to_string()
}

/// Both ends, and an emulator between them.
struct Line {
    serve: Running,
    emulate: Running,
    address: String,
    key: String,
}

impl Line {
    fn new(name: &str, path: &str, seed: &str) -> Line {
        let key = key(name);
        let serve = Running::start(&["advise", "serve", "--listen", "127.0.0.1:0", "--key-file", &key]);
        let to = serve.address("listening", "address");
        let emulate = Running::start(&["emulate", path, "--listen", "127.0.0.1:0", "--to", &to, "--seed", seed]);
        let address = emulate.address("listening", "address");
        Line { serve, emulate, address, key }
    }

    /// Measures, and returns exit code, the lines of standard output, and standard error.
    fn advise(&self, options: &[&str]) -> (i32, Vec<Value>, String) {
        let connect = ["advise", "connect", &self.address, "--key-file", &self.key, "--json"];
        let (code, out, err) = run(&[&connect[..], options].concat());
        (code, out.lines().map(|line| serde_json::from_str(line).expect(line)).collect(), err)
    }

    /// Ends the other end and the emulator.
    fn end(mut self) {
        for running in [&mut self.serve, &mut self.emulate] {
            running.interrupt();
            running.succeeds();
        }
    }
}

fn event<'a>(lines: &'a [Value], name: &str) -> &'a Value {
    lines.iter().find(|line| line["event"] == name).unwrap_or_else(|| panic!("no {name} among {lines:?}"))
}

#[test]
fn a_path_is_measured_written_and_found_again_by_emulate_and_lab() {
    let folder = folder("written");
    let path = path_file(&folder, 40, "[[forward.element]]\nkind = 'loss'\nrate = 0.1\n");
    let line = Line::new("advise-written", &path, "7");
    let file = folder.join("line.toml").display().to_string();
    let (code, lines, err) = line.advise(&["--media", "4mbit", "--time", "5s", "--path", &file]);
    assert_eq!(code, 0, "{err}");
    let (measured, advice) = (event(&lines, "measured"), event(&lines, "advice"));
    let (packets, lost) = (measured["packets"].as_f64().expect("packets"), measured["lost"].as_f64().expect("lost"));
    // 4 Mb/s in packets of 1316 bytes for 5 s are 1900 packets; repair comes on top, within half of them.
    assert!((1900.0..=2850.0).contains(&packets), "{measured}");
    // Four standard deviations.
    assert!((lost / packets - 0.1).abs() < 0.03, "{measured}");
    let round_trip = measured["round_trip_seconds"].as_f64().expect("a time");
    assert!((0.039..0.046).contains(&round_trip), "{measured}");
    let candidates: Vec<&Value> = lines.iter().filter(|line| line["event"] == "candidate").collect();
    assert!(candidates.iter().any(|one| one["repair"] == advice["repair"]), "{advice}");
    let none = candidates.iter().find(|one| one["repair"] == "none").expect("media alone");
    assert!((none["loss"]["value"].as_f64().expect("a rate") - 0.1).abs() < 0.03, "{none}");
    assert!(advice["commands"][1].as_str().is_some_and(|send| send.starts_with("thalweg send --to 127.0.0.1:")));
    line.end();

    let scenario = folder.join("lab.toml");
    let flow =
        "[[flow]]\nkind = 'cbr'\nrate = '4mbit'\npacket = 1400\naccess = { rate = '1gbit', near = '0s', far = '0s' }";
    fs::write(&scenario, format!("[run]\nduration = '5s'\n[[hop]]\npath = 'line.toml'\n{flow}\n")).expect("a file");
    let (code, out, err) = run(&["lab", "run", &scenario.display().to_string(), "--seeds", "1", "--json"]);
    assert_eq!(code, 0, "{err}");
    let simulated: Value = serde_json::from_str(out.lines().next().expect("a run")).expect("JSON");
    let loss = simulated["link_loss"].as_f64().expect("a share");
    assert!((loss - lost / packets).abs() < 0.02, "{loss} instead of {}", lost / packets);
    let (code, out, err) = run(&["advise", "lab", &file, "--media", "4mbit", "--time", "5s", "--json"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let again: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    // A smallest delay in each direction, in samples of 20 s.
    let found = event(&again, "path")["round_trip_seconds"].as_f64().expect("a time");
    assert!((found - round_trip).abs() < 0.003, "{found} instead of {round_trip}");
    assert_eq!(again.iter().filter(|line| line["event"] == "candidate").count(), candidates.len());
    assert_eq!(event(&again, "advice")["repair"], advice["repair"]);
    let emulate = Running::start(&["emulate", &file, "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9"]);
    emulate.event("listening");
}

#[test]
fn strangers_and_poor_paths_get_one_line() {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // A stranger gets a cookie and nothing else (docs/security.md).
            let path = path_file(&folder("stranger"), 10, "");
            let line = Line::new("advise-stranger", &path, "1");
            let other = Line { key: key("advise-other"), ..line };
            let (code, lines, err) = other.advise(&["--media", "1mbit", "--time", "5s"]);
            let last = err.lines().last().expect("a line").to_owned();
            assert_eq!((code, lines.len()), (1, 0), "{err}");
            assert!(
                last.starts_with("thalweg: advise: 127.0.0.1:") && last.contains("do both key files match"),
                "{last}"
            );
            other.end();
        });
        scope.spawn(|| {
            let folder = folder("poor");
            let path = path_file(&folder, 10, "[[forward.element]]\nkind = 'loss'\nrate = 0.6\n");
            let line = Line::new("advise-poor", &path, "1");
            let written = folder.join("line.toml").display().to_string();
            let (code, _, err) = line.advise(&["--media", "1mbit", "--time", "5s", "--path", &written]);
            let last = err.lines().last().expect("a line").to_owned();
            assert_eq!((code, Path::new(&written).exists()), (1, false), "{err}");
            let whys = ["% of the packets were lost, too many for any advice", "the circuit breaker opened"];
            assert!(whys.iter().any(|why| last.contains(why)), "{last}");
            line.end();
        });
        scope.spawn(|| {
            let silent = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
            let (address, key) = (silent.local_addr().expect("bound").to_string(), key("advise-silent"));
            let (code, _, err) =
                run(&["advise", "connect", &address, "--key-file", &key, "--media", "1mbit", "--quiet"]);
            assert_eq!((code, err.lines().count()), (1, 1), "{err}");
            assert!(err.starts_with(&format!("thalweg: advise: no answer from {address}: is ")), "{err}");
        });
    });
}

#[test]
fn wrong_options_are_named() {
    let key = key("advise-wrong");
    let connect = ["advise", "connect", "127.0.0.1:9", "--key-file", &key];
    let folder = folder("wrong").join("none/line.toml").display().to_string();
    for (options, code, why) in [
        (
            &["--media", "8mbit", "--max-rate", "8mbit"][..],
            1,
            "advise: --media 8mbit needs 8.455927mbit with its headers",
        ),
        (&["--media", "0mbit"], 2, "advise: --media: must be above zero"),
        (&["--media", "8mbit", "--time", "1s"], 2, "must be between 5s and 10min"),
        (&["--media", "8mbit", "--loss", "2"], 2, "must be between 0 and 1, as in 1e-4"),
        (&["--media", "8mbit", "--path", "line.csv"], 2, "must end with .toml"),
        (&["--media", "8mbit", "--path", &folder], 1, "advise: cannot write "),
        (&[], 2, "--media <RATE>"),
    ] {
        let (seen, out, err) = run(&[&connect[..], options].concat());
        assert_eq!((seen, out.as_str(), err.lines().count()), (code, "", 1), "{options:?}: {err}");
        assert!(err.contains(why), "{options:?}: {err}");
    }
    for arguments in [
        &["connect", "127.0.0.1:9", "--key-file", "/none", "--media", "8mbit"][..],
        &["lab", "/none.toml", "--media", "8mbit"],
        &["lab", "share", "--media", "8mbit"],
    ] {
        let (code, _, err) = run(&[&["advise"], arguments].concat());
        assert_eq!((code, err.lines().count()), (1, 1), "{err}");
    }
}
