//! The page that lists the videos and plays them, and its scripts.

use std::collections::HashMap;
use std::fmt::Write;

use hyper::body::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use thalweg_core::units::Rate;

use crate::answer::{Answer, whole};
use crate::catalog::{Catalog, Form, Video};
use crate::kind::extension;

/// Characters that a path keeps unencoded.
const IN_PATHS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// Limit on shown rates; of a video with more renditions, only the slowest and the fastest are shown.
const RATES: usize = 12;
/// The page's assets, under a name that no served file has: hidden files are not served.
const ASSETS: [(&str, &str, &[u8]); 5] = [
    (".thalweg/page.css", "text/css; charset=utf-8", include_bytes!("../assets/page.css")),
    (".thalweg/page.js", "text/javascript; charset=utf-8", include_bytes!("../assets/page.js")),
    (".thalweg/hls.min.js", "text/javascript; charset=utf-8", include_bytes!("../assets/hls.min.js")),
    (".thalweg/dash.min.js", "text/javascript; charset=utf-8", include_bytes!("../assets/dash.min.js")),
    (".thalweg/LICENSES", "text/plain; charset=utf-8", include_bytes!("../assets/LICENSES")),
];

/// The folder over RTSP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OverRtsp {
    /// The URL of the folder.
    pub(crate) base: String,
    /// The reasons for which videos were refused, by name.
    pub(crate) refusals: HashMap<String, String>,
}

/// The page; videos that do not state their rate are assumed to have `rate`. It links to RTSP if the folder is served so.
pub(crate) fn answer(catalog: &Catalog, rate: Rate, downloads: bool, rtsp: Option<&OverRtsp>) -> Answer {
    whole("text/html; charset=utf-8", Bytes::from(page(catalog, rate, downloads, rtsp))).guarded()
}

/// An asset of the page.
pub(crate) fn asset(name: &str) -> Option<Answer> {
    let (_, media_type, bytes) = ASSETS.iter().find(|(known, ..)| *known == name)?;
    Some(whole(media_type, Bytes::from_static(bytes)))
}

/// Each video is a link to its file: readable, and in some browsers playable, without a script.
fn page(catalog: &Catalog, rate: Rate, downloads: bool, rtsp: Option<&OverRtsp>) -> String {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Videos</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <link rel=\"stylesheet\" href=\"/.thalweg/page.css\">\n<h1>Videos</h1>\n\
         <video id=\"screen\" controls playsinline preload=\"auto\" hidden></video>\n<p id=\"message\" role=\"status\"></p>\n",
    );
    let streams = rtsp.filter(|_| !catalog.streams.is_empty());
    if catalog.videos.is_empty() && streams.is_none() {
        page += "<p>No videos yet: MP4, WebM, HLS and DASH are shown.</p>\n";
    }
    let faults: HashMap<_, _> = catalog.faults.iter().map(|(name, why)| (name.as_str(), why.as_str())).collect();
    page += "<ul id=\"videos\">\n";
    for video in &catalog.videos {
        page += &line(video, rate, downloads, faults.get(&*video.name).copied(), rtsp);
    }
    page += "</ul>\n";
    if !catalog.foreign.is_empty() {
        page += "<h2>For other players</h2>\n\
                 <p>Browsers do not play these files; mpv and VLC play them from these links.</p>\n<ul>\n";
        for name in &catalog.foreign {
            let (link, name) = (utf8_percent_encode(name, IN_PATHS).to_string(), escaped(name));
            let _ = writeln!(page, "<li><a href=\"/{link}\">{name}</a>{}</li>", download(&link, downloads));
        }
        page += "</ul>\n";
    }
    if let Some(rtsp) = streams {
        page += "<h2>Transport streams</h2>\n<p>Players of RTSP play these, such as ffplay and mpv.</p>\n<ul>\n";
        for name in &catalog.streams {
            let _ = writeln!(page, "<li>{}</li>", rtsp.link(name, name));
        }
        page += "</ul>\n";
    }
    page + "<script src=\"/.thalweg/page.js\"></script>\n</html>\n"
}

/// The list entry of a video, with its fault if it has one.
fn line(
    Video { name, form, rates }: &Video,
    unknown: Rate,
    downloads: bool,
    fault: Option<&str>,
    rtsp: Option<&OverRtsp>,
) -> String {
    let (form, player) = match form {
        Form::File => ("file", ""),
        Form::Hls => ("HLS", "hls"),
        Form::Dash => ("DASH", "dash"),
    };
    let rates = match &rates[..] {
        [] => format!("rate unknown, {} assumed", shown(unknown)),
        [first, .., last] if rates.len() > RATES => {
            format!("{} rates, {} to {}", rates.len(), shown(*first), shown(*last))
        }
        rates => rates.iter().map(|rate| shown(*rate)).collect::<Vec<_>>().join(", "),
    };
    let (fault, note) = match fault.map(escaped) {
        Some(why) => (format!(" data-wrong=\"{why}\""), format!("; {why}")),
        None => (String::new(), String::new()),
    };
    // Others than these have no H.264, or are several files.
    let rtsp = rtsp.filter(|_| matches!(&*extension(name), "mp4" | "m4v" | "mov"));
    let rtsp = rtsp.map_or(String::new(), |rtsp| format!(" {}", rtsp.link(name, "RTSP")));
    let (link, name) = (utf8_percent_encode(name, IN_PATHS).to_string(), escaped(name));
    // A playlist or manifest by itself is no video.
    let download = download(&link, downloads && player.is_empty());
    format!(
        "<li><a href=\"/{link}\" data-player=\"{player}\"{fault}>{name}</a> \
         <small>{form}, {rates}{note}</small>{download}{rtsp}</li>\n"
    )
}

impl OverRtsp {
    /// The link to a video, with the reason if it was refused when it was last asked for. The link remains, since the file may
    /// have changed.
    fn link(&self, name: &str, text: &str) -> String {
        let (base, path) = (escaped(&self.base), utf8_percent_encode(name, IN_PATHS));
        let why = self.refusals.get(name).map(|why| format!(" <small>refused: {}</small>", escaped(why)));
        format!("<a href=\"{base}/{path}\">{}</a>{}", escaped(text), why.unwrap_or_default())
    }
}

/// The link by which a file is saved, not played.
fn download(link: &str, is_wanted: bool) -> String {
    match is_wanted {
        true => format!(" <a href=\"/{link}?download\" download>download</a>"),
        false => String::new(),
    }
}

/// Formats a rate with its unit, and with one decimal below 10.
fn shown(rate: Rate) -> String {
    let mbps = rate.as_mbps_f64();
    let (value, unit) = if mbps >= 0.1 { (mbps, "Mb/s") } else { (mbps * 1e3, "kb/s") };
    let digits = usize::from(value < 10.0);
    format!("{value:.digits$} {unit}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_in_html() {
        let video = |name: &str, form, rates| Video { name: name.to_owned(), form, rates };
        let videos = vec![
            video("a/<b> \"c\" & d?.mp4", Form::File, vec![]),
            video("x.m3u8", Form::Hls, vec![Rate::from_bps(45_000), Rate::from_bps(3_600_000), Rate::from_mbps(25)]),
        ];
        let mut catalog = Catalog::default();
        catalog.faults = vec![(videos[0].name.clone(), "it says \"<moov>\"".to_owned())];
        catalog.videos = videos;
        catalog.foreign = vec!["d & e.mkv".to_owned()];
        let plain = page(&catalog, Rate::from_bps(3_600_000), false, None);
        assert!(!plain.contains("download") && !plain.contains("rtsp:"), "{plain}");
        catalog.streams = vec!["e & f.ts".to_owned()];
        let refusals = [("e & f.ts".to_owned(), "no <program>".to_owned())].into();
        let rtsp = OverRtsp { base: "rtsp://[::1]:8554".to_owned(), refusals };
        let with_rtsp = page(&catalog, Rate::from_bps(3_600_000), false, Some(&rtsp));
        for expected in [
            "</small> <a href=\"rtsp://[::1]:8554/a/%3Cb%3E%20%22c%22%20%26%20d%3F.mp4\">RTSP</a></li>",
            "HLS, 45 kb/s, 3.6 Mb/s, 25 Mb/s</small></li>",
            "<li><a href=\"rtsp://[::1]:8554/e%20%26%20f.ts\">e &amp; f.ts</a> <small>refused: no &lt;program&gt;</small></li>",
        ] {
            assert!(with_rtsp.contains(expected), "{expected}: {with_rtsp}");
        }
        let page = page(&catalog, Rate::from_bps(3_600_000), true, None);
        let why = "it says &quot;&lt;moov&gt;&quot;";
        for expected in [
            &*format!("href=\"/a/%3Cb%3E%20%22c%22%20%26%20d%3F.mp4\" data-player=\"\" data-wrong=\"{why}\">"),
            ">a/&lt;b&gt; &quot;c&quot; &amp; d?.mp4</a> <small>file, rate unknown, 3.6 Mb/s assumed; ",
            "data-player=\"hls\">x.m3u8</a> <small>HLS, 45 kb/s, 3.6 Mb/s, 25 Mb/s</small>",
            "<li><a href=\"/d%20%26%20e.mkv\">d &amp; e.mkv</a> <a href=\"/d%20%26%20e.mkv?download\" download>",
            "</small> <a href=\"/a/%3Cb%3E%20%22c%22%20%26%20d%3F.mp4?download\" download>download</a></li>",
            "25 Mb/s</small></li>",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }

    #[test]
    fn transport_streams_are_videos_where_rtsp_serves_them() {
        let mut catalog = Catalog::default();
        catalog.streams = vec!["a.ts".to_owned()];
        let rtsp = OverRtsp { base: "rtsp://a:8554".to_owned(), refusals: HashMap::new() };
        let has_videos = |rtsp| !page(&catalog, Rate::from_mbps(1), true, rtsp).contains("No videos yet");
        assert_eq!((has_videos(None), has_videos(Some(&rtsp))), (false, true));
    }

    #[test]
    fn assets_that_the_page_names_exist() {
        let script = include_str!("../assets/page.js");
        for text in [&page(&Catalog::default(), Rate::from_mbps(1), true, None), script] {
            for name in text.split("\"/").skip(1).filter_map(|rest| rest.split('"').next()) {
                assert!(asset(name).is_some(), "{name}");
            }
        }
    }
}
