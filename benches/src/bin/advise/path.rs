//! The paths.

use std::path::Path as FilePath;

/// A path, and the media that it is to carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) name: &'static str,
    pub(crate) media: &'static str,
    /// More options of `advise`, separated by spaces.
    pub(crate) options: &'static str,
    /// True if a download under the kernel's CUBIC is beside it.
    pub(crate) has_rival: bool,
    /// Milliseconds.
    round_trip: u64,
    loss: Loss,
}

#[derive(Clone, Copy, Debug)]
enum Loss {
    None,
    Random(f64),
    Bursts,
    /// A link of 20 Mb/s.
    Queue,
    /// The LENS recording of Starlink.
    Starlink,
    /// Mahimahi's recording of Verizon's LTE.
    Lte,
}

const fn path(name: &'static str, media: &'static str, options: &'static str, round_trip: u64, loss: Loss) -> Path {
    Path { name, media, options, has_rival: matches!(loss, Loss::Queue), round_trip, loss }
}

/// The time for repair is short where otherwise there would be no losses to compare, though longer than the stalls of a
/// virtual machine.
pub(crate) const PATHS: [Path; 10] = [
    path("no loss, 100 ms", "30mbit", "", 100, Loss::None),
    path("1 %, 100 ms", "30mbit", "", 100, Loss::Random(0.01)),
    path("5 %, 100 ms", "30mbit", "--latency 80ms", 100, Loss::Random(0.05)),
    path("bursts (`gilbert`), 100 ms", "30mbit", "--latency 80ms", 100, Loss::Bursts),
    path("Starlink", "30mbit", "--latency 150ms", 0, Loss::Starlink),
    path("LTE", "800kbit", "--latency 2s", 50, Loss::Lte),
    path("queue of 20 Mb/s beside CUBIC, 40 ms", "6mbit", "--latency 200ms", 40, Loss::Queue),
    path("1 %, 10 ms", "30mbit", "", 10, Loss::Random(0.01)),
    path("bursts (`gilbert`), 10 ms", "30mbit", "", 10, Loss::Bursts),
    path("5 %, 240 ms", "30mbit", "--latency 160ms", 240, Loss::Random(0.05)),
];

/// Recordings that do not come with Thalweg.
const DATA: &str = "../shared/data/net";

impl Path {
    /// The same path for other media.
    pub(crate) fn with_media(self, media: &'static str) -> Path {
        Path { media, ..self }
    }

    /// True unless its recording is missing.
    pub(crate) fn is_available(&self) -> bool {
        let is_there = match self.loss {
            Loss::Starlink | Loss::Lte => FilePath::new(DATA).is_dir(),
            _ => true,
        };
        if !is_there {
            eprintln!("advise: no {DATA}: {} is left out", self.name);
        }
        is_there
    }

    /// The least time of a measurement, of at least `seconds`, that meets every part of the path equally often, in seconds: a
    /// recording begins again after its end.
    pub(crate) fn time(&self, seconds: u64) -> u64 {
        match self.loss {
            Loss::Starlink => seconds.next_multiple_of(100),
            Loss::Lte => seconds.next_multiple_of(140),
            _ => seconds,
        }
    }

    /// The path file, with this seed.
    pub(crate) fn text(&self, seed: u64) -> Result<String, String> {
        let data = || std::fs::canonicalize(DATA).map_err(|error| format!("{DATA}: {error}"));
        let (forward, reverse) = match self.loss {
            Loss::None => (String::new(), String::new()),
            Loss::Random(rate) => (element("forward", &format!("kind = \"loss\"\nrate = {rate}")), String::new()),
            Loss::Bursts => {
                let bursts = "kind = \"gilbert_elliott\"\np = 0.005\nr = 0.3\nloss_bad = 0.7";
                (element("forward", bursts), String::new())
            }
            Loss::Queue => {
                let link = "kind = \"drop_tail\"\nrate = \"20mbit\"\nqueue = 67";
                (element("forward", link), element("reverse", link))
            }
            Loss::Starlink => {
                let file = data()?.join("starlink_irtt_10ms.csv");
                let recorded = |way: &str, name: &str| {
                    element(
                        way,
                        &format!(
                            "kind = \"recorded\"\nfile = {file:?}\nindex = \"time\"\nsent = \"send_ms\"\n\
                             delay = \"{name}_delay_ms\"\nlost = \"{name}_lost\"\nkeep_order = true"
                        ),
                    )
                };
                (recorded("forward", "up"), recorded("reverse", "down"))
            }
            Loss::Lte => {
                let traced = |way: &str, end: &str| -> Result<String, String> {
                    let trace = data()?.join(format!("Verizon-LTE-short.{end}"));
                    Ok(element(way, &format!("kind = \"trace_link\"\ntrace = {trace:?}\nqueue = 250")))
                };
                (traced("forward", "up")?, traced("reverse", "down")?)
            }
        };
        let wire = |way| element(way, &format!("kind = \"wire\"\ndelay = \"{}us\"", self.round_trip * 500));
        let (forth, back) = (wire("forward"), wire("reverse"));
        Ok(format!("seed = {seed}\n[forward]\n{forward}{forth}[reverse]\n{reverse}{back}"))
    }
}

fn element(way: &str, keys: &str) -> String {
    format!("[[{way}.element]]\n{keys}\n")
}
