//! One run: three streams through the cell, shared in one way.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use thalweg_core::time::{Span, Time};
use thalweg_net::clock::Clock;
use thalweg_net::error::plain;
use thalweg_net::signal::Stop;

use super::super::processes::{Processes, free_ports};
use super::super::series::Series;
use super::source::{self, Rates};
use super::{SETTLING, STREAMS, Way};

/// The index of `share` and of `emulate`, after one `recv` per stream.
const EMULATE: usize = STREAMS.len();
const SHARE: usize = STREAMS.len() + 1;
/// The latency from input to output.
const LATENCY: &str = "200ms";
/// The time after the end in which all processes print their last row.
const DRAIN: Span = Span::from_millis(1_500);

/// The results of a run.
pub(super) struct Run {
    pub(super) way: Way,
    pub(super) streams: Vec<Stream>,
    /// The reason that the results are not those of the cell, if this machine was too busy.
    pub(super) fault: Option<String>,
}

/// The results of a stream.
pub(super) struct Stream {
    pub(super) name: &'static str,
    /// In Mb/s.
    pub(super) need: f64,
    /// The media that arrived in each second: seconds since the start, and Mb/s.
    pub(super) arrived: Vec<(f64, f64)>,
    /// α, once a second.
    pub(super) alpha: Vec<(f64, f64)>,
}

impl Stream {
    fn of(nth: usize, share: &Series, recv: &Series, from: Time, to: Time) -> Stream {
        let (name, need) = STREAMS[nth];
        let points = recv.points("media_rate_bps", from, to);
        let arrived = points.into_iter().map(|(second, bps)| (second, bps * 1e-6)).collect();
        Stream { name, need: need as f64, arrived, alpha: share.of_stream(name).points("alpha", from, to) }
    }

    /// The mean after the streams have settled.
    fn mean(points: &[(f64, f64)]) -> f64 {
        let settled = points.iter().filter(|point| point.0 > SETTLING.as_secs_f64() && point.1.is_finite());
        let (sum, count) = settled.fold((0.0, 0u32), |(sum, count), point| (sum + point.1, count + 1));
        sum / f64::from(count)
    }

    /// The mean rate of the media that arrived, in Mb/s.
    pub(super) fn rate(&self) -> f64 {
        Stream::mean(&self.arrived)
    }

    /// The mean α.
    pub(super) fn greediness(&self) -> f64 {
        Stream::mean(&self.alpha)
    }

    /// The rate as a share of the need.
    pub(super) fn satisfaction(&self) -> f64 {
        self.rate() / self.need
    }
}

impl Run {
    /// Performs the run. `watch` is called several times a second.
    pub(super) fn perform(
        way: Way,
        length: Span,
        out: &Path,
        stop: &Stop,
        mut watch: impl FnMut(Span, &[String]),
    ) -> Result<Run, String> {
        let clock = Clock::start();
        let mut processes = start(way, out, clock)?;
        processes.wait_for(SHARE, "connected", STREAMS.len(), clock, stop)?;
        let inputs = inputs(processes.series(SHARE))?;
        let rates: Rates = std::array::from_fn(|_| AtomicU64::new(source::START));
        let (from, over) = (clock.now(), Stop::default());
        let watched = std::thread::scope(|threads| {
            let played = threads.spawn(|| source::play(&inputs, &rates, clock, &over));
            let watched = monitor(&mut processes, (clock, from, length), stop, &rates, &mut watch);
            over.ask();
            played.join().map_err(|_| "the source failed")??;
            watched
        });
        watched?;
        let to = from + length;
        let streams = 0..STREAMS.len();
        let stream = |nth| Stream::of(nth, processes.series(SHARE), processes.series(nth), from, to);
        Ok(Run { way, streams: streams.map(stream).collect(), fault: fault(&processes) })
    }

    /// The largest satisfaction less the smallest.
    pub(super) fn spread(&self) -> f64 {
        let all = || self.streams.iter().map(Stream::satisfaction);
        all().fold(f64::NEG_INFINITY, f64::max) - all().fold(f64::INFINITY, f64::min)
    }
}

/// Writes the configuration, and starts all processes.
fn start(way: Way, out: &Path, clock: Clock) -> Result<Processes, String> {
    let (access, stations): ([SocketAddr; 3], [SocketAddr; 3]) = (free_ports()?, free_ports()?);
    let file = out.join(way.file_name());
    std::fs::write(&file, configuration(way, &access))
        .map_err(|error| format!("cannot write {}: {}", file.display(), plain(&error)))?;
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let recv = |listen: &SocketAddr| {
        // Nobody takes the media: its rate is what counts.
        words(&["recv", "--listen", &listen.to_string(), "--output", "udp://127.0.0.1:9", "--latency", LATENCY])
    };
    let mut emulate = words(&["emulate", "share"]);
    for (listen, to) in access.iter().zip(&stations) {
        emulate.extend(words(&["--listen", &listen.to_string(), "--to", &to.to_string()]));
    }
    let mut commands: Vec<Vec<String>> = stations.iter().map(recv).collect();
    commands.extend([emulate, words(&["share", &file.display().to_string()])]);
    Processes::start(&commands, clock)
}

/// The configuration of `share`.
fn configuration(way: Way, access: &[SocketAddr]) -> String {
    let mut text =
        format!("# Written by ./demo --share.\nlatency = \"{LATENCY}\"\nrepair = \"none\"\nretry = \"never\"\n");
    for ((name, need), to) in STREAMS.iter().zip(access) {
        let group = if way == Way::Tfrc { name } else { "all" };
        text += &format!(
            "\n[[stream]]\nname = \"{name}\"\ninput = \"udp://127.0.0.1:0\"\nto = \"{to}\"\nneed = \"{need}mbit\"\n\
             group = \"{group}\"\n"
        );
    }
    text
}

/// The inputs of the streams, in their order.
fn inputs(share: &Series) -> Result<Vec<SocketAddr>, String> {
    let address = |event: &serde_json::Value| event["input_address"].as_str()?.parse().ok();
    let inputs: Vec<SocketAddr> = share.events("begun").filter_map(address).collect();
    if inputs.len() == STREAMS.len() { Ok(inputs) } else { Err("share did not begin all streams".to_owned()) }
}

/// Listens to the processes until the end, and passes the wanted rates to the source.
fn monitor(
    processes: &mut Processes,
    (clock, from, length): (Clock, Time, Span),
    stop: &Stop,
    rates: &Rates,
    watch: &mut impl FnMut(Span, &[String]),
) -> Result<(), String> {
    loop {
        let listened = processes.listen(Duration::from_millis(100));
        // A terminal's Ctrl-C reaches the processes as well: their exit is no fault then.
        if stop.asked() {
            return Err("stopped".into());
        }
        listened?;
        let mut parts = Vec::new();
        for (nth, ((name, need), rate)) in STREAMS.iter().zip(rates).enumerate() {
            let wanted = processes.series(SHARE).of_stream(name).last("wanted_rate_bps");
            let need = *need as f64 * 1e6;
            rate.store(wanted.unwrap_or(source::START as f64).min(need) as u64, Ordering::Relaxed);
            let arrived = processes.series(nth).last("media_rate_bps");
            parts.extend(arrived.map(|bps| format!("{name} {:.0}%", 100.0 * bps / need)));
        }
        let played = clock.now().since(from);
        watch(played.min(length), &parts);
        if played >= length + DRAIN {
            return Ok(());
        }
    }
}

fn fault(processes: &Processes) -> Option<String> {
    let refused = processes.series(EMULATE).last("refused_datagrams_total").unwrap_or(0.0);
    let faults = [
        (processes.dropped_by_kernel() as f64, "dropped by the kernel at full sockets"),
        (refused, "refused by the full emulator"),
    ];
    let faults: Vec<String> =
        faults.iter().filter(|fault| fault.0 > 0.0).map(|(count, what)| format!("{count} datagrams {what}")).collect();
    (!faults.is_empty()).then(|| faults.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(need: f64, rates: [f64; 2]) -> Stream {
        let before = (1.0, 100.0);
        let settled = rates.into_iter().zip(13..).map(|(rate, second)| (f64::from(second), rate));
        Stream { name: "", need, arrived: [before].into_iter().chain(settled).collect(), alpha: vec![] }
    }

    #[test]
    fn satisfaction_is_that_of_settled_streams() {
        let streams = vec![stream(9.0, [4.0, 5.0]), stream(3.0, [2.0, 1.0]), stream(4.0, [f64::NAN, 1.0])];
        let run = Run { way: Way::Shared, streams, fault: None };
        let all: Vec<f64> = run.streams.iter().map(Stream::satisfaction).collect();
        assert_eq!((all, run.spread()), (vec![0.5, 0.5, 0.25], 0.25));
    }

    #[test]
    fn streams_of_tfrc_are_in_groups_of_their_own() {
        let access = [1, 2, 3].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let groups = |way| configuration(way, &access).matches("group = \"all\"").count();
        assert_eq!((groups(Way::Tfrc), groups(Way::Shared)), (0, 3));
    }
}
