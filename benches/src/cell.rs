//! A cell of the grid: the conditions that contestants share, and the name that stands for them.

use std::fmt;
use std::path::Path as FilePath;
use std::str::FromStr;
use std::time::Duration;

use crate::contestant::Contestant;

/// SRT's passphrase in cells with a key; a stream under AES-128 is as long as one in the clear.
const PASSPHRASE: &str = "&passphrase=thalweg-benches&pbkeylen=16";

/// The element that loses packets from sender to receiver.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Loss {
    /// No loss.
    None,
    /// Independent losses of this share of the packets.
    Random(f64),
    /// A Gilbert-Elliott channel: the probabilities of good to bad and of bad to good, and the share lost while bad.
    Bursts(f64, f64, f64),
}

/// The losses of the grid, with their names.
pub const LOSSES: [(&str, Loss); 5] = [
    ("none", Loss::None),
    ("iid1", Loss::Random(0.01)),
    ("iid5", Loss::Random(0.05)),
    ("bursts", Loss::Bursts(0.005, 0.3, 0.7)),
    ("heavy", Loss::Bursts(0.02, 0.3, 0.7)),
];

/// A path without a bottleneck.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Path {
    /// The round-trip time.
    pub rtt: Duration,
    /// Losses in the direction to the receiver.
    pub loss: Loss,
}

impl Path {
    /// The scenario text for `thalweg emulate`.
    pub fn scenario(&self) -> String {
        let one_way = self.rtt.as_micros() / 2;
        let loss = match self.loss {
            Loss::None => String::new(),
            Loss::Random(rate) => format!("{{ kind = \"loss\", rate = {rate:?} }},"),
            Loss::Bursts(p, r, bad) => {
                format!("{{ kind = \"gilbert_elliott\", p = {p:?}, r = {r:?}, loss_bad = {bad:?} }},")
            }
        };
        let wire = format!("{{ kind = \"wire\", delay = \"{one_way}us\" }}");
        format!("seed = 1\nforward.element = [{loss} {wire}]\nreverse.element = [{wire}]\n")
    }
}

/// The conditions that all contestants share. Its name is as in `rtt100-d40-bursts-10` or `rtt20-d16-none-2-key`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cell {
    /// The path between sender and receiver.
    pub path: Path,
    /// Megabits of media per second.
    pub megabits: u32,
    /// Time on top of the one-way delay: SRT's `latency`.
    pub budget: Duration,
    /// True if everything is encrypted.
    pub has_key: bool,
}

impl Cell {
    /// Bits of media per second.
    pub fn rate(&self) -> f64 {
        f64::from(self.megabits) * 1e6
    }

    /// `thalweg send` with this scheme of repair, and with its defaults apart from the latency from input to output.
    pub fn thalweg(&self, binary: &FilePath, repair: &str, latency: Duration, key: &FilePath) -> Contestant {
        let latency = format!("{}ms", latency.as_millis());
        let contestant = Contestant::thalweg("thalweg", binary, &format!("--repair {repair}"), &latency);
        if self.has_key { contestant.encrypted(key) } else { contestant }
    }

    /// SRT in its usual setting: lost packets are retransmitted.
    pub fn srt_resends(&self) -> Contestant {
        self.srt("SRT, resends", "")
    }

    /// SRT with its packet filter, in addition to its default retransmissions.
    pub fn srt_fec(&self) -> Contestant {
        self.srt("SRT, FEC 10 x 3", "&packetfilter=fec,cols:10,rows:3")
    }

    fn srt(&self, name: &str, query: &str) -> Contestant {
        let passphrase = if self.has_key { PASSPHRASE } else { "" };
        Contestant::srt(name, &format!("&latency={}{query}{passphrase}", self.budget.as_millis()))
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loss = LOSSES.iter().find(|(_, loss)| *loss == self.path.loss).map_or("other", |(name, _)| name);
        let (rtt, budget) = (self.path.rtt.as_millis(), self.budget.as_millis());
        let key = if self.has_key { "-key" } else { "" };
        write!(f, "rtt{rtt}-d{budget}-{loss}-{}{key}", self.megabits)
    }
}

impl FromStr for Cell {
    type Err = String;

    fn from_str(name: &str) -> Result<Cell, String> {
        let parse = || {
            let (open, has_key) = name.strip_suffix("-key").map_or((name, false), |open| (open, true));
            let mut parts = open.splitn(4, '-');
            let rtt = Duration::from_millis(parts.next()?.strip_prefix("rtt")?.parse().ok()?);
            let budget = Duration::from_millis(parts.next()?.strip_prefix('d')?.parse().ok()?);
            let wanted = parts.next()?;
            let (_, loss) = *LOSSES.iter().find(|(name, _)| *name == wanted)?;
            Some(Cell { path: Path { rtt, loss }, megabits: parts.next()?.parse().ok()?, budget, has_key })
        };
        let names = LOSSES.map(|(name, _)| name).join(", ");
        parse().ok_or_else(|| format!("{name}: no cell; write one as rtt100-d40-LOSS-10[-key], with a LOSS of {names}"))
    }
}

#[cfg(test)]
mod tests {
    use thalweg_lab::scenario::Scenario;

    use super::*;
    use crate::scrap::Scrap;

    fn cell(name: &str) -> Cell {
        name.parse().expect("a cell")
    }

    #[test]
    fn every_path_is_one_that_the_emulator_reads_and_the_bursts_are_those_of_the_scenario_file() {
        let open = |file: &FilePath| Scenario::open(file, Some(7)).expect("a scenario");
        for (name, _) in LOSSES {
            let own = Scrap::write(&cell(&format!("rtt100-d40-{name}-10")).path.scenario()).expect("a file");
            let gilbert = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/gilbert.toml");
            assert_eq!(open(own.path()) == open(&gilbert), name == "bursts");
        }
    }

    #[test]
    fn a_name_and_its_cell_stand_for_each_other() {
        for name in ["rtt100-d40-bursts-10", "rtt20-d16-none-2-key"] {
            assert_eq!(cell(name).to_string(), name);
        }
        for wrong in ["", "rtt100", "rtt100-d40-bursts", "rtt100-d40-burst-10", "rtt100-d40-bursts-10-kex", "bursts"] {
            assert!(wrong.parse::<Cell>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn both_have_a_key_or_none_has() {
        let thalweg =
            |cell: Cell| cell.thalweg("thalweg".as_ref(), "auto", Duration::from_millis(95), "key".as_ref()).lines();
        let (open, secret) = (cell("rtt100-d40-bursts-10"), cell("rtt100-d40-bursts-10-key"));
        assert!(thalweg(open).contains("--repair auto --latency 95ms") && !thalweg(open).contains("key"));
        assert_eq!(thalweg(secret).matches("--key-file key").count(), 2, "sender and receiver");
        assert!(open.srt_resends().lines().contains("mode=caller&latency=40'"));
        assert!(secret.srt_fec().lines().contains("&latency=40&packetfilter=fec,cols:10,rows:3&passphrase="));
    }
}
