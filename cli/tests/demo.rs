//! The measured part of ./demo, short: all its numbers are present and plausible, and so is the report.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use thalweg_net::drops::dropped_datagrams;

use crate::common::bursts::Bursts;
use crate::common::{run, wait_until};

/// Bursts of two all the time, where the demo's own link has a few loss episodes in 20 s: 0.0175 / 0.5175 x 0.8 = 2.7
/// %.
const LINK: Bursts = Bursts { seed: 1, p: 0.0175, r: 0.5, loss_bad: 0.8 };

/// One row of the demo's table, by its columns.
struct Row<'a> {
    head: Vec<&'a str>,
    cells: Vec<&'a str>,
}

impl<'a> Row<'a> {
    fn of(stdout: &'a str, name: &str) -> Row<'a> {
        let cells = |line: &'a str| -> Vec<&'a str> {
            line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
        };
        // Before the table each run has printed its progress, in a line that begins like its row.
        let mut table = stdout.lines().map(cells).skip_while(|cells| cells.first() != Some(&"repair"));
        let (head, cells) = (table.next().expect("a table"), table.find(|cells| cells.first() == Some(&name)));
        let cells = cells.unwrap_or_else(|| panic!("no row of {name}: {stdout}"));
        assert_eq!(cells.len(), head.len(), "{stdout}");
        Row { head, cells }
    }

    fn text(&self, column: &str) -> &'a str {
        let at = self.head.iter().position(|head| *head == column);
        self.cells[at.unwrap_or_else(|| panic!("no {column} in {:?}", self.head))]
    }

    /// The number that a cell begins with.
    fn number(&self, column: &str) -> f64 {
        let text = self.text(column).trim_start_matches('<');
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        text[..end].parse().unwrap_or_else(|_| panic!("{column}: {text}"))
    }

    /// Datagrams that never arrived: the number in brackets.
    fn lost(&self) -> u64 {
        let text = self.text("lost after repair");
        let inside = text.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).expect("a count");
        inside.parse().expect("a number")
    }
}

/// Loss episodes of 1250 packets on average, 0.4 s, that lose half: no two seconds are alike.
const SPELLS: Bursts = Bursts { seed: 2, p: 0.0006, r: 0.0008, loss_bad: 0.5 };

/// A demo over a link, with a folder of its own.
struct Demo {
    args: Vec<String>,
    page: PathBuf,
}

impl Demo {
    fn new(name: &str, link: &Bursts, seconds: &str, schemes: &str) -> Demo {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&out).expect("a folder");
        let scenario = out.join("link.toml");
        fs::write(&scenario, link.scenario()).expect("a scenario");
        let clip = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/clip.ts");
        let [clip, scenario, directory] = [&clip, &scenario, &out].map(|path| path.display().to_string());
        let args = ["demo", "--seconds", seconds, "--scheme", schemes, "--input", &clip];
        let args = args.into_iter().chain(["--scenario", &scenario, "--out", &directory]);
        Demo { args: args.map(String::from).collect(), page: out.join("demo.html") }
    }

    /// Runs the demo; returns its output and the page. A run that a busy machine made invalid is repeated, as the demo
    /// asks.
    fn run(&self) -> (String, String) {
        for _ in 0..5 {
            let (code, stdout, stderr) = run(&self.args.iter().map(String::as_str).collect::<Vec<_>>());
            if code == 1 && stderr.ends_with("invalid: run again\n") {
                continue;
            }
            assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
            return (stdout, self.page());
        }
        panic!("this machine drops datagrams all the time");
    }

    fn page(&self) -> String {
        fs::read_to_string(&self.page).expect("the report was written")
    }
}

#[test]
fn short_demo_compares_three_schemes_and_writes_a_self_contained_page() {
    let (stdout, report) = Demo::new("demo", &LINK, "4", "none,static:8,geneva").run();
    // A metric whose name has changed would be unknown.
    assert!(stdout.contains("With GENEVA") && !stdout.contains("unknown"), "{stdout}");
    let [none, fixed, geneva] = ["no repair", "static 8", "GENEVA"].map(|name| Row::of(&stdout, name));
    for row in [&none, &fixed, &geneva] {
        // Of some 11 000 to 15 000 packets, in some 200 bursts.
        assert!((1.5..4.5).contains(&row.number("lost on link")), "{stdout}");
        // The path alone takes 20 ms.
        let (p50, p99, max) = (row.number("p50 ms"), row.number("p99 ms"), row.number("max ms"));
        assert!(20.0 <= p50 && p50 <= p99 && p99 <= max, "{stdout}");
        assert!(row.number("CPU") > 0.0, "{stdout}");
    }
    // Without repair nothing brings a packet back, and headers are the price; with it, eight packets or more for 28.
    assert!(none.lost() > 150 && (1.0..6.0).contains(&none.number("overhead")), "{stdout}");
    assert!(geneva.lost() < none.lost() && fixed.lost() < none.lost(), "{stdout}");
    assert!(geneva.number("overhead") >= 20.0 && fixed.number("overhead") >= 20.0, "{stdout}");

    // Three large numbers before any sentence.
    let head = report.split_once("class=\"summary\"").expect("a summary").0;
    assert_eq!((head.matches("class=\"value\"").count(), head.contains("role=\"alert\"")), (3, false), "{head}");
    for drawn in ["Repair window", "W, the whole window", "Loss, second by second", "Rate on the wire", "Latency"] {
        assert!(report.contains(drawn), "{drawn}");
    }
    for name in ["no repair", "static 8", "GENEVA"] {
        assert!(report.contains(&format!("{name}</th>")), "{name}");
    }
    let ffmpeg = Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).status().is_ok();
    let images = report.matches("src=\"data:image/jpeg;base64,/9j/").count();
    assert_eq!(images, if ffmpeg { 3 } else { 0 }, "one frame of each scheme");
    assert!(report.len() < 500_000, "{} bytes", report.len());
    let rest = report.replace("src=\"data:", "");
    for load in ["http:", "https:", "src=", "href=", "@import", "url(", "fetch("] {
        assert!(!rest.contains(load), "the page loads something: {load}");
    }
}

/// Needs of 18 Mb/s in a cell that carries about half: as greedy as TCPs, the phone has nearly all that it needs and the television
/// a third; by need their shares are equal.
#[test]
fn three_streams_in_a_wi_fi_cell_are_shared_by_need() {
    if std::env::var_os("THALWEG_TEST_ALL").is_none() {
        println!("skipped: it takes long, THALWEG_TEST_ALL=1 runs it");
        return;
    }
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo-share");
    let args =
        ["demo".into(), "--share".into(), "--seconds".into(), "30".into(), "--out".into(), out.display().to_string()];
    let (stdout, page) = Demo { args: args.to_vec(), page: out.join("share.html") }.run();
    let summary = stdout.split_once("the spread of satisfaction").expect("a summary").1;
    let number = |text: &str| text.split_whitespace().find_map(|word| word.trim_end_matches('.').parse::<f64>().ok());
    let [tfrc, shared] =
        summary.split_once("and").map(|(tfrc, shared)| [number(tfrc), number(shared)]).expect("two spreads");
    let (tfrc, shared) = (tfrc.expect("a number"), shared.expect("a number"));
    // The bar of `share` on sockets is .15. The lab says .43 and more for TFRC; beside other tests it was .26 here.
    assert!(shared < 0.15 && tfrc > 0.2, "{stdout}");
    for text in ["Rate, TFRC", "Rate, by need", "Alpha", "share.toml"] {
        assert!(page.contains(text), "{text}");
    }
}

/// Without repair all losses of the link remain: second by second both curves are equal.
#[test]
fn losses_on_the_link_and_after_repair_share_one_clock() {
    let (_, report) = Demo::new("demo-clock", &SPELLS, "6", "none").run();
    let [link, after] = ["on the link", "after repair"].map(|name| curve(&report, "no repair", name));
    assert!(link.len() >= 5 && link.len() == after.len(), "{link:?} {after:?}");
    let times = |points: &[(f64, f64)]| points.iter().map(|point| point.0).collect::<Vec<_>>();
    assert_eq!(times(&link), times(&after));
    // Shifted by a second, they are far apart.
    let apart = |link: &[(f64, f64)], after: &[(f64, f64)]| {
        let pairs = link.iter().zip(after);
        pairs.clone().map(|(link, after)| (link.1 - after.1).abs()).sum::<f64>() / pairs.len() as f64
    };
    let lagging = apart(&link[1..], &after).min(apart(&link, &after[1..]));
    assert!(lagging > 5.0 && apart(&link, &after) < lagging / 3.0, "{link:?} {after:?}");
}

/// The points of one line of a plot of the page.
fn curve(report: &str, plot: &str, line: &str) -> Vec<(f64, f64)> {
    let data = report.split("<script type=\"application/json\">").skip(1);
    let mut plots = data.map(|rest| serde_json::from_str::<Value>(rest.split("</script>").next().expect("an end")));
    let plot = plots.find_map(|data| data.ok().filter(|data| data["title"] == plot)).expect("the plot");
    let line = plot["lines"].as_array().expect("lines").iter().find(|data| data["name"] == line).expect("the line");
    serde_json::from_value(line["points"].clone()).expect("points")
}

/// A stopped relay loses datagrams for which its socket has no space, and the link has not lost them.
#[test]
fn datagrams_dropped_by_this_machine_make_the_demo_invalid() {
    let demo = Demo::new("demo-busy", &LINK, "6", "none");
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(&demo.args).stdout(Stdio::piped()).stderr(Stdio::piped());
    let _ = fs::remove_file(demo.page.with_file_name("none.ts"));
    let child = command.spawn().expect("the binary runs");
    let played = || fs::metadata(demo.page.with_file_name("none.ts")).map_or(0, |file| file.len());
    wait_until("video", || played() > 1_000_000);
    let relay = relay_of(&child);
    kill_process(relay, Signal::STOP).expect("it runs");
    wait_until("drop", || dropped_datagrams(relay.as_raw_pid().unsigned_abs()).is_ok_and(|drops| drops > 0));
    kill_process(relay, Signal::CONT).expect("it still runs");
    let output = child.wait_with_output().expect("it ends");
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    assert_eq!((output.status.code(), stderr.as_str()), (Some(1), "thalweg: demo: invalid: run again\n"), "{stdout}");
    let results = stdout.split_once("\n\n").expect("a paragraph of its own").1;
    let first = results.lines().find(|line| !line.starts_with("no repair ") && !line.is_empty()).expect("results");
    assert!(first.starts_with("invalid: run again; ") && first.contains("no repair: "), "{stdout}");
    let report = demo.page();
    let alert = report.find("role=\"alert\">invalid: run again").expect("the page says so, too");
    assert!(alert < report.find("class=\"value\"").expect("numbers"));
}

/// The demo's process that emulates the link.
fn relay_of(demo: &Child) -> Pid {
    let ids = fs::read_dir("/proc").expect("Linux").filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_relay = |id: &i32| {
        let read = |file: &str| fs::read_to_string(format!("/proc/{id}/{file}")).unwrap_or_default();
        let stat = read("stat");
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1));
        parent == Some(&demo.id().to_string()) && read("cmdline").split('\0').nth(1) == Some("emulate")
    };
    ids.filter(is_relay).find_map(Pid::from_raw).expect("a relay")
}

#[test]
fn demo_runs_without_a_checkout() {
    let elsewhere = Path::new(env!("CARGO_TARGET_TMPDIR")).join("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("a temporary directory");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(["demo", "--seconds", "2", "--scheme", "none"])
        .current_dir(&elsewhere)
        .output()
        .expect("the binary runs");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("  clip, ") && stdout.contains("  demo, "), "{output:?}");
    assert!(elsewhere.join("out/demo.html").exists(), "{output:?}");
    std::fs::remove_dir_all(&elsewhere).expect("it was there");
}

#[test]
fn unplayable_videos_and_unknown_schemes_are_refused_in_one_line() {
    let (code, stdout, stderr) = run(&["demo", "--input", "no/such.ts"]);
    assert_eq!((code, stdout.as_str(), stderr.lines().count()), (1, "", 1), "{stderr}");
    assert!(stderr.contains("no/such.ts: no such file or directory\n"), "{stderr}");
    let (code, stdout, stderr) = run(&["demo", "--scheme", "geneva,foo"]);
    assert_eq!((code, stdout.as_str(), stderr.lines().count()), (2, "", 1), "{stderr}");
    assert!(stderr.contains("'foo' is not auto, none, static:N, geneva") && stderr.contains("--scheme"), "{stderr}");
}
