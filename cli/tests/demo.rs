//! The measured part of ./demo, short: every number it promises is there and plausible, and the report is.

mod common;

use std::path::{Path, PathBuf};

use common::run;

/// Bursts of two all the time, where the demo's own link has a few bad spells in 20 s: 0.0175 / 0.5175 x 0.8 = 2.7 %.
const LINK: &str = r#"
seed = 1
forward.element = [
    { kind = "gilbert_elliott", p = 0.0175, r = 0.5, loss_bad = 0.8 },
    { kind = "wire", delay = "20ms" },
]
reverse.element = [{ kind = "wire", delay = "20ms" }]
"#;

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
        // Before the table each run has shown how it goes, in a line that begins like its row.
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

    /// Datagrams that never came: the number in brackets.
    fn lost(&self) -> u64 {
        let text = self.text("lost after repair");
        let inside = text.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).expect("a count");
        inside.parse().expect("a number")
    }
}

/// Runs the demo over [`LINK`], and gives what it printed and where it wrote.
fn demo(seconds: &str, schemes: &str) -> (String, PathBuf) {
    let here = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (scenario, out) = (here.join("demo-link.toml"), here.join("demo"));
    std::fs::write(&scenario, LINK).expect("a scenario");
    let clip = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/clip.ts");
    let [clip, scenario, directory] = [&clip, &scenario, &out].map(|path| path.display().to_string());
    let args = ["demo", "--seconds", seconds, "--scheme", schemes, "--input", &clip];
    let (code, stdout, stderr) = run(&[&args[..], &["--scenario", &scenario, "--out", &directory]].concat());
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    (stdout, out)
}

#[test]
fn a_short_demo_compares_three_schemes_and_writes_a_page_that_needs_nothing_else() {
    let (stdout, out) = demo("4", "none,static:8,geneva");
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

    let report = std::fs::read_to_string(out.join("demo.html")).expect("the report was written");
    for drawn in ["Repair window", "W, the whole window", "Loss, second by second", "Rate on the wire", "Latency"] {
        assert!(report.contains(drawn), "{drawn}");
    }
    for name in ["no repair", "static 8", "GENEVA"] {
        assert!(report.contains(&format!("{name}</th>")), "{name}");
    }
    for load in ["http:", "https:", "src=", "href=", "@import", "url(", "fetch("] {
        assert!(!report.contains(load), "the page loads something: {load}");
    }
}

#[test]
fn the_demo_needs_no_checkout() {
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
fn a_film_that_cannot_be_played_is_named_at_once() {
    let (code, stdout, stderr) = run(&["demo", "--input", "no/such.ts"]);
    assert_eq!((code, stdout.as_str(), stderr.lines().count()), (1, "", 1), "{stderr}");
    assert!(stderr.contains("no/such.ts: no such file or directory\n"), "{stderr}");
    let (code, stdout, stderr) = run(&["demo", "--scheme", "geneva,foo"]);
    assert_eq!((code, stdout.as_str(), stderr.lines().count()), (2, "", 1), "{stderr}");
    assert!(stderr.contains("none, static:N or geneva"), "{stderr}");
}
