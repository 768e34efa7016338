//! Videos over RTSP: 500 viewers under R3CP+, and CPU per packet of plain viewers beside GStreamer's server.

use std::process::ExitCode;
use std::time::Duration;

use thalweg_bench::program::allow_files;
use thalweg_bench::report::{Bound, Settings, Target, Unit, grid, main as report, section, verdicts};
use thalweg_bench::rtsp::{Tool, video};
use thalweg_bench::scrap::Scrap;
use thalweg_bench::statistics::median;
use thalweg_bench::viewers::{Received, Watched, receive, watch};

/// Viewers under R3CP+, and the rate of their video in bits per second.
const VIEWERS: usize = 500;
const RATE: u32 = 378_000;
/// Plain viewers, and the rate of their video.
const PLAIN: usize = 20;
const PLAIN_RATE: u32 = 1_200_000;
/// The time before the measured interval.
const WARM_UP: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    report("viewers", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    // Two sockets for each viewer, besides those of this process.
    allow_files(3 * VIEWERS as u64)?;
    let measured = settings.pick(Duration::from_secs(30), Duration::from_secs(10));
    let tool = Tool::Thalweg(settings.binary.clone());
    let folder = Scrap::empty_folder()?;
    video(folder.path(), RATE, 70)?;
    let watched = watch(&mut tool.start(folder.path())?, VIEWERS, WARM_UP, measured)?;
    eprintln!("viewers: {watched:?}");

    let folder = Scrap::empty_folder()?;
    video(folder.path(), PLAIN_RATE, 30)?;
    let tools = [tool, Tool::Gstreamer];
    let mut turns = Vec::new();
    for _ in 0..settings.pick(5, 3) {
        let [ours, theirs] = &tools;
        let plain = |tool: &Tool| receive(&mut tool.start(folder.path())?, PLAIN, Duration::from_secs(10));
        let turn = [plain(ours)?, plain(theirs)?];
        eprintln!("viewers: {turn:?}");
        turns.push(turn);
    }
    print(&tools, measured, &watched, &turns);
    Ok(())
}

fn print(tools: &[Tool; 2], measured: Duration, watched: &Watched, turns: &[[Received; 2]]) {
    let text = format!(
        "{VIEWERS} viewers of a video of H.264 of {} kb/s under R3CP+, on loopback, begin one each 10 ms; over {} s \
         after 10 s. A picture is in time if it, and those that it refers to, arrive before its display. The memory of \
         a viewer is the growth of the server's resident memory from the first viewer to the last.\n\n\
         Then {PLAIN} plain viewers over UDP of a video of {} kb/s for 10 s, beside GStreamer's RTSP server, in turns. \
         CPU is user and system time of the server's process, the kernel's work for this process included; medians, \
         ratios of the turns of one round.",
        RATE / 1000,
        measured.as_secs(),
        PLAIN_RATE / 1000
    );
    section("Videos over RTSP", &text, &tools.each_ref().map(Tool::lines));
    let Watched { slowest, in_time, cpu, memory } = *watched;
    let row = [
        Unit::Kilobits.write(slowest),
        Unit::Percent.write(in_time),
        format!("{cpu:.3}"),
        Unit::Kibibytes.write(memory),
    ];
    let [slowest, share, processors, bytes] = row;
    let head =
        [&format!("{VIEWERS} viewers"), "the slowest", "pictures in time, the worst", "processors", "memory a viewer"];
    println!("{}", grid(head, &[["thalweg, R3CP+".to_owned(), slowest, share, processors, bytes]]));
    let cost = |received: &Received| received.cpu.as_secs_f64() * 1e6 / received.packets.max(1) as f64;
    let rows = [("thalweg", 0), ("GStreamer", 1)].map(|(name, nth): (&str, usize)| {
        let packets = median(turns.iter().map(|turn| turn[nth].packets as f64));
        let cost = median(turns.iter().map(|turn| cost(&turn[nth])));
        [name.to_owned(), format!("{packets:.0}"), format!("{cost:.1}")]
    });
    println!("{}", grid([&format!("{PLAIN} plain viewers"), "packets", "CPU us / packet"], &rows));
    let ratio = median(turns.iter().map(|[ours, theirs]| cost(ours) / cost(theirs)));
    let target = |what: &str, bound, unit| Target { what: format!("{VIEWERS} viewers, R3CP+: {what}"), bound, unit };
    let what = "CPU a packet of thalweg / GStreamer's, plain RTP".to_owned();
    verdicts(&[
        (target("pictures in time, the worst", Bound::AtLeast(0.99), Unit::Percent), in_time),
        (target("processors", Bound::AtMost(1.0), Unit::Ratio), cpu),
        (target("memory a viewer", Bound::AtMost(65_536.0), Unit::Kibibytes), memory),
        (Target { what, bound: Bound::AtMost(1.0 / 3.0), unit: Unit::Ratio }, ratio),
    ]);
}
