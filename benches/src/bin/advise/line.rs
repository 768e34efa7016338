//! One path: its advice, the verification, and what the other candidates would have lost.

use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use thalweg_bench::attempt::TRIES;
use thalweg_bench::cable::{Cable, Ends};
use thalweg_bench::carrier::{Carrier, Transport};
use thalweg_bench::flow::Flow;
use thalweg_bench::program::{Program, command_line};
use thalweg_bench::report::Settings;
use thalweg_bench::scrap::Scrap;
use thalweg_bench::stalls::Stalls;
use thalweg_bench::udp::free;

use super::path::Path;

/// The number of losses at either side from which rates are compared.
const FEW: f64 = 20.0;
/// The widest differences of the overhead, and of p99 in seconds.
const OVERHEAD: f64 = 0.03;
const P99: f64 = 0.008;

/// The stall from which a run is invalid. Ours: less than the least time for repair of all paths, which is 30 ms; a packet that
/// waits for longer is lost, whatever was predicted.
const STALL: Duration = Duration::from_millis(20);

/// The advice for a path, and what was then measured.
#[derive(Clone, Debug)]
pub(crate) struct Advised {
    path: Path,
    advice: Value,
    verified: Value,
    /// The loss of the recommended candidate over the least of those of no more bytes and latency, in the lab; none where
    /// there are too few losses.
    beside_best: Option<f64>,
    /// The longest stall of the machine.
    stall: Duration,
}

/// Measures and verifies, and repeats an invalid run; the last one counts, with its stall, if all are.
pub(crate) fn advise(settings: &Settings, path: &Path, seconds: u64) -> Result<Advised, String> {
    let mut tries = 0;
    let (lines, stall) = loop {
        let stalls = Stalls::watch();
        let lines = verified(settings, path, seconds)?;
        let stall = stalls.longest();
        tries += 1;
        if stall < STALL || tries == TRIES {
            break (lines, stall);
        }
        eprintln!("advise: {}: invalid, this machine stalled for {} ms", path.name, stall.as_millis());
    };
    let (advice, verified) = (event(&lines, "advice")?.clone(), event(&lines, "verified")?.clone());
    let beside_best = if path.has_rival { None } else { beside_best(settings, path, &advice, seconds)? };
    Ok(Advised { path: *path, advice, verified, beside_best, stall })
}

/// Measures and verifies over an emulated path, beside its rival if it has one.
fn verified(settings: &Settings, path: &Path, seconds: u64) -> Result<Vec<Value>, String> {
    let (file, key) = (Scrap::write(&path.text(1)?)?, Scrap::key(&settings.binary)?);
    if path.has_rival {
        let mut cable = Cable::of(&settings.binary, file)?;
        let mut kernel = Carrier::start(&Transport::Kernel("cubic"), &cable.ends)?;
        let flow = Flow::start(kernel.connect()?);
        // Until its slow start is over.
        thread::sleep(Duration::from_secs(3));
        let lines = connect(settings, path, &key, (&cable.ends, None), seconds)?;
        drop((flow, kernel));
        cable.check()?;
        Ok(lines)
    } else {
        connect(settings, path, &key, (&Ends::loopback(), Some(&file)), seconds)
    }
}

/// Runs `advise` from the near end to the far end, through the emulator of `file` if there is one. Returns the lines of its
/// standard output.
fn connect(
    settings: &Settings,
    path: &Path,
    key: &Scrap,
    (ends, file): (&Ends, Option<&Scrap>),
    seconds: u64,
) -> Result<Vec<Value>, String> {
    let port = || ends.far.within(|| free(ends.address).map_err(|error| format!("no free port: {error}")));
    let (listen, through) = (port()?.to_string(), port()?.to_string());
    let mut serve = Command::new(&settings.binary);
    serve.args(["advise", "serve", "--quiet", "--listen", &listen, "--key-file"]).arg(key.path());
    let mut programs = vec![ends.far.within(|| Program::start(serve))?];
    if let Some(file) = file {
        let mut emulate = Command::new(&settings.binary);
        emulate.arg("emulate").arg(file.path()).args(["--quiet", "--listen", &through, "--to", &listen]);
        programs.push(Program::start(emulate)?);
    }
    thread::sleep(Duration::from_millis(300));
    let mut command = Command::new(&settings.binary);
    let to = if file.is_some() { &through } else { &listen };
    command.args(["advise", "connect", to, "--json", "--verify", "--time", &format!("{seconds}s")]);
    command.args(["--media", path.media, "--key-file"]).arg(key.path()).args(path.options.split_whitespace());
    let lines = ends.near.within(|| lines(command))?;
    programs.iter_mut().try_for_each(Program::check)?;
    Ok(lines)
}

/// Tries all candidates in the lab over the emulated path, with another seed.
fn beside_best(settings: &Settings, path: &Path, advice: &Value, seconds: u64) -> Result<Option<f64>, String> {
    let file = Scrap::write(&path.text(2)?)?;
    let mut lab = Command::new(&settings.binary);
    lab.args(["advise", "lab"]).arg(file.path()).args(["--json", "--media", path.media]);
    lab.args(["--time", &format!("{seconds}s")]).args(path.options.split_whitespace());
    let lines = lines(lab)?;
    let candidates: Vec<&Value> = lines.iter().filter(|line| line["event"] == "candidate").collect();
    let value = |of: &Value| of.as_f64().unwrap_or(f64::NAN);
    // Its latencies follow from the round trip, which was measured to about a millisecond.
    let is_alike = |one: &&&Value| {
        one["repair"] == advice["repair"] && one["block_seconds"].is_null() == advice["block_seconds"].is_null()
    };
    let distance = |one: &Value| (value(&one["latency_seconds"]) - value(&advice["latency_seconds"])).abs();
    let alike = candidates.iter().filter(is_alike);
    let chosen = alike.min_by(|one, other| distance(one).total_cmp(&distance(other)));
    let chosen = chosen.ok_or("the lab has not tried what `advise` recommends")?;
    let lost = |one: &Value| value(&one["lost"]);
    let is_no_more = |one: &Value| {
        let bytes = |one: &Value| value(&one["overhead"]["value"]);
        bytes(one) <= bytes(chosen) && value(&one["latency_seconds"]) <= value(&chosen["latency_seconds"])
    };
    let best = candidates.iter().filter(|one| is_no_more(one)).map(|one| lost(one)).fold(f64::INFINITY, f64::min);
    Ok((lost(chosen) >= FEW).then(|| lost(chosen) / best.max(1.0)))
}

/// Runs `command`, whose figures on standard error matter only if it fails, and returns the lines of its standard output.
fn lines(mut command: Command) -> Result<Vec<Value>, String> {
    let output = command.output().map_err(|error| format!("cannot start `{}`: {error}", command_line(&command)))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(why.lines().next_back().unwrap_or("it failed without a reason").to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))).collect()
}

fn event<'a>(lines: &'a [Value], name: &str) -> Result<&'a Value, String> {
    lines.iter().find(|line| line["event"] == name).ok_or_else(|| format!("`advise` has printed no '{name}'"))
}

impl Advised {
    /// Seconds from the last packet to the table.
    pub(crate) fn wait(&self) -> f64 {
        self.advice["trials_seconds"].as_f64().unwrap_or(f64::NAN)
    }

    /// True if what was measured is what was predicted.
    pub(crate) fn comes_true(&self) -> bool {
        let differs = |name: &str| self.number(name, "measured") - self.value(name);
        self.is_loss_true() && differs("overhead").abs() <= OVERHEAD && differs("p99_seconds").abs() <= P99
    }

    fn is_loss_true(&self) -> bool {
        let (lost, packets) = (self.lost(), self.verified["packets"].as_f64().unwrap_or(f64::NAN));
        let predicted = &self.verified["loss"]["predicted"];
        // Two standard deviations of the square root of a number of losses by chance are 1.
        let [low, high] = [-1.0, 1.0].map(|step| (lost.sqrt() + step).max(0.0).powi(2) / packets);
        match (predicted["fewer_than"].as_f64(), lost >= FEW) {
            (Some(bound), _) => low <= bound,
            (None, true) => {
                let factor = lost / packets / self.value("loss");
                let interval = ["low", "high"].map(|name| predicted[name].as_f64().unwrap_or(f64::NAN));
                (0.5..=2.0).contains(&factor) || (interval[0]..=interval[1]).contains(&(lost / packets))
            }
            (None, false) => predicted["low"].as_f64().is_some_and(|least| high >= least),
        }
    }

    /// True if it loses over twice as much as the best candidate.
    pub(crate) fn is_worse(&self) -> bool {
        self.beside_best.is_some_and(|ratio| ratio > 2.0)
    }

    fn lost(&self) -> f64 {
        self.verified["lost"].as_f64().unwrap_or(f64::NAN)
    }

    fn number(&self, name: &str, side: &str) -> f64 {
        self.verified[name][side].as_f64().unwrap_or(f64::NAN)
    }

    /// A predicted value.
    fn value(&self, name: &str) -> f64 {
        self.verified[name]["predicted"]["value"].as_f64().unwrap_or(f64::NAN)
    }

    /// The cells of a row.
    pub(crate) fn row(&self) -> [String; 9] {
        let predicted = &self.verified["loss"]["predicted"];
        let share = |of: &Value| of.as_f64().map_or_else(|| "-".into(), |share| format!("{share:.1e}"));
        let loss = match predicted.get("fewer_than") {
            Some(bound) => format!("fewer than {}", share(bound)),
            None => format!(
                "{} ({} to {})",
                share(&predicted["value"]),
                share(&predicted["low"]),
                share(&predicted["high"])
            ),
        };
        let both = |name: &str, scale: f64| {
            format!("{:.1} / {:.1}", self.value(name) * scale, self.number(name, "measured") * scale)
        };
        let latency = self.advice["latency_seconds"].as_f64().unwrap_or(f64::NAN) * 1e3;
        let mark = if self.comes_true() { "" } else { " (fails)" };
        let stall = self.stall.as_millis();
        let stalled = if self.stall < STALL { String::new() } else { format!(" (a stall of {stall} ms)") };
        [
            format!("{}{mark}{stalled}", self.path.name),
            self.path.media.into(),
            if self.path.options.is_empty() { "-".into() } else { format!("`{}`", self.path.options) },
            format!("{}, {latency:.0} ms", self.advice["repair"].as_str().unwrap_or("-")),
            loss,
            format!("{} ({})", share(&self.verified["loss"]["measured"]), self.lost()),
            both("overhead", 100.0),
            both("p99_seconds", 1e3),
            self.beside_best.map_or_else(|| "few".into(), |ratio| format!("{ratio:.2}")),
        ]
    }
}
