//! The index of frames of stored videos: of one large MP4, beside ffprobe, and of a folder of 1000 videos at the second
//! start.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Instant;

use thalweg_bench::job::Job;
use thalweg_bench::report::{Bound, Settings, Target, Unit, main as report, section, table, verdicts};
use thalweg_bench::scrap::Scrap;
use thalweg_bench::statistics::median;
use thalweg_serve::catalog::frames::{Index, Indexes, Keep};
use thalweg_serve::{Catalog, Root};

/// Videos in the folder of the second start.
const VIDEOS: usize = 1000;
/// Seconds of the video that is encoded, and that is repeated.
const ENCODED: u64 = 20;

fn main() -> ExitCode {
    report("frames", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    let folder = Scrap::empty_folder()?;
    let short = folder.path().join("short.mp4");
    let encode = format!(
        "-f lavfi -i testsrc2=size=1280x720:rate=25:duration={ENCODED} -f lavfi -i sine=sample_rate=48000:duration={ENCODED} \
         -c:v libx264 -preset veryfast -b:v 1200k -g 50 -c:a aac -b:a 128k"
    );
    ffmpeg(&encode, &short)?;
    let bytes = fs::metadata(&short).map_err(|error| error.to_string())?.len();
    let wanted = settings.pick(1 << 30, 1 << 28);
    let long = folder.path().join("long.mp4");
    repeat(&short, wanted / bytes, &long)?;
    let rounds = settings.pick(7, 3);
    let turns = (0..rounds).map(|_| turn(&long)).collect::<Result<Vec<_>, _>>()?;
    let frames = index(&long)?;
    let frames = frames.video.frames.len() + frames.audio.map_or(0, |audio| audio.frames.len());

    let minute = folder.path().join("minute.mp4");
    repeat(&short, 3, &minute)?;
    let (first, second) = starts(folder.path(), &minute, rounds)?;

    let text = format!(
        "An MP4 of {} MiB with H.264 of 1.2 Mb/s and AAC, {frames} frames, in memory. Both take turns; medians.\n\nThen a folder of {VIDEOS} videos of a minute each, which are links to \
         one file: the scan of the folder and the index of each video, without kept indexes and with them.",
        wanted >> 20
    );
    section("Index of frames", &text, &["ffprobe -v error -show_packets -of csv -o /dev/null long.mp4".to_owned()]);
    let [ours, theirs] = [0, 1].map(|place| median(turns.iter().map(|turn| turn[place])));
    let row = |name: &str, seconds| [name.to_owned(), Unit::Milliseconds.write(seconds)];
    table(
        ["", "time"],
        &[
            row("thalweg", ours),
            row("ffprobe", theirs),
            row("1000 videos, first start", first),
            row("1000 videos, second start", second),
        ],
    );
    let target = |what: &str, bound, unit| Target { what: what.to_owned(), bound, unit };
    let ratio = median(turns.iter().map(|[ours, theirs]| ours / theirs));
    verdicts(&[
        (target("index of a 1 GiB MP4 / ffprobe's packets", Bound::AtMost(0.5), Unit::Ratio), ratio),
        (target("second start with 1000 videos", Bound::AtMost(1.0), Unit::Seconds), second),
    ]);
    Ok(())
}

/// The seconds of our index and of ffprobe.
fn turn(video: &Path) -> Result<[f64; 2], String> {
    let start = Instant::now();
    index(video)?;
    let ours = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let mut ffprobe = Command::new("ffprobe");
    ffprobe.args("-v error -show_packets -of csv -o /dev/null".split(' ')).arg(video);
    Job::run(ffprobe)?;
    Ok([ours, start.elapsed().as_secs_f64()])
}

fn index(video: &Path) -> Result<Index, String> {
    let mut file = File::open(video).map_err(|error| error.to_string())?;
    Index::read(&mut file).map_err(|error| error.to_string())
}

/// The seconds of the first start, and the median of those of later ones.
fn starts(folder: &Path, video: &Path, rounds: usize) -> Result<(f64, f64), String> {
    let videos = folder.join("videos");
    fs::create_dir(&videos).map_err(|error| error.to_string())?;
    for nth in 0..VIDEOS {
        fs::hard_link(video, videos.join(format!("{nth}.mp4"))).map_err(|error| error.to_string())?;
    }
    let start = || -> Result<f64, String> {
        let start = Instant::now();
        let root = Root::open(&videos).map_err(|error| error.to_string())?;
        let catalog = Catalog::scan(&root).map_err(|error| error.to_string())?;
        let indexes = Indexes::new(Arc::new(root), Some(Keep::Beside));
        for video in &catalog.videos {
            let found = indexes.video(&video.name).map_err(|error| error.to_string())?;
            found.note.map_or(Ok(()), Err)?;
        }
        if catalog.videos.len() == VIDEOS {
            Ok(start.elapsed().as_secs_f64())
        } else {
            Err("videos are missing".into())
        }
    };
    let first = start()?;
    let later = (0..rounds).map(|_| start()).collect::<Result<Vec<_>, _>>()?;
    Ok((first, median(later)))
}

fn ffmpeg(how: &str, output: &Path) -> Result<(), String> {
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "error"]).args(how.split_whitespace()).arg(output);
    Job::run(ffmpeg).map(drop)
}

/// Joins copies of a video.
fn repeat(video: &Path, times: u64, output: &Path) -> Result<(), String> {
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "error", "-stream_loop", &(times.max(1) - 1).to_string(), "-i"]).arg(video);
    ffmpeg.args(["-c", "copy"]).arg(output);
    Job::run(ffmpeg).map(drop)
}
