//! The two stored videos, joined to the length of a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use thalweg_net::error::plain;

/// A video.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Clip {
    /// MPEG-1 of 378 kb/s, as the paper's: IBBPBBPBBPBB at 24 frames per second. Its densest ten seconds have twice its mean.
    Mpeg1,
    /// H.264 of 1.5 Mb/s with AAC.
    H264,
}

impl Clip {
    pub(super) const ALL: [Clip; 2] = [Clip::Mpeg1, Clip::H264];

    /// The file in the folder of videos, the joined one, and its length in seconds.
    fn files(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Clip::Mpeg1 => ("sintel_trailer_mpeg1_ibbp12_480x272_52s.ts", "mpeg1.ts", "230"),
            Clip::H264 => ("sintel_trailer_720p24_13s_copy.ts", "h264.ts", "75"),
        }
    }

    /// The name under which it is served.
    pub(super) fn name(self) -> &'static str {
        self.files().1
    }

    /// The mean bit rate of the transport stream.
    pub(super) fn kbps(self) -> u64 {
        match self {
            Clip::Mpeg1 => 419,
            Clip::H264 => 1_697,
        }
    }
}

/// A folder with the videos, which is removed on drop.
#[derive(Debug)]
pub(super) struct Videos {
    pub(super) folder: PathBuf,
}

impl Videos {
    /// Joins these videos of `from`.
    ///
    /// # Errors
    /// A video or the program `ffmpeg` is missing.
    pub(super) fn make(from: &Path, clips: &[Clip]) -> Result<Videos, String> {
        let folder = std::env::temp_dir().join(format!("thalweg-r3cp-{}", process::id()));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {}", folder.display(), plain(&error)))?;
        let videos = Videos { folder };
        for clip in clips {
            let (source, name, seconds) = clip.files();
            let source = from.join(source);
            if !source.is_file() {
                return Err(format!("no video {}; name its folder with --videos", source.display()));
            }
            let mut ffmpeg = Command::new("ffmpeg");
            ffmpeg.args(["-v", "error", "-y", "-stream_loop", "-1", "-i"]).arg(&source);
            ffmpeg.args(["-t", seconds, "-c", "copy"]).arg(videos.folder.join(name));
            let output = ffmpeg.output().map_err(|error| format!("ffmpeg: {}", plain(&error)))?;
            if !output.status.success() {
                return Err(format!("ffmpeg: {}", String::from_utf8_lossy(&output.stderr).trim()));
            }
        }
        Ok(videos)
    }

    /// The path of a video.
    pub(super) fn path(&self, clip: Clip) -> PathBuf {
        self.folder.join(clip.name())
    }
}

impl Drop for Videos {
    fn drop(&mut self) {
        // A folder that is left over is in the folder of temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The peak signal-to-noise ratio of the pictures of `output` against those of `video`, in dB, as ffmpeg computes it. Where a
/// picture is missing, the one before it is displayed.
pub(super) fn psnr(output: &Path, video: &Path) -> Option<f64> {
    let filter = "[0:v]setpts=PTS-STARTPTS,fps=24[a];[1:v]setpts=PTS-STARTPTS,fps=24[b];[a][b]psnr=shortest=1";
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-nostdin", "-i"]).arg(output).arg("-i").arg(video).args(["-lavfi", filter, "-f", "null", "-"]);
    let printed = ffmpeg.output().ok()?.stderr;
    let printed = String::from_utf8_lossy(&printed);
    let (_, average) = printed.rsplit_once("average:")?;
    average.split_whitespace().next()?.parse().ok()
}
