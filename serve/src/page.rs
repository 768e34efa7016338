//! The page that lists the films and plays them, and the scripts that come with it.

use std::fmt::Write;

use hyper::body::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use thalweg_core::units::Rate;

use crate::answer::{Answer, whole};
use crate::catalog::{Catalog, Film, Form};

/// What a path keeps as it is.
const IN_PATHS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// Below a name that no file of the folder has: hidden ones are not served.
const ASSETS: [(&str, &str, &[u8]); 5] = [
    (".thalweg/page.css", "text/css; charset=utf-8", include_bytes!("../assets/page.css")),
    (".thalweg/page.js", "text/javascript; charset=utf-8", include_bytes!("../assets/page.js")),
    (".thalweg/hls.min.js", "text/javascript; charset=utf-8", include_bytes!("../assets/hls.min.js")),
    (".thalweg/dash.min.js", "text/javascript; charset=utf-8", include_bytes!("../assets/dash.min.js")),
    (".thalweg/LICENSES", "text/plain; charset=utf-8", include_bytes!("../assets/LICENSES")),
];

/// The page.
pub(crate) fn answer(catalog: &Catalog) -> Answer {
    whole("text/html; charset=utf-8", Bytes::from(page(&catalog.films))).guarded()
}

/// What the page needs beside itself.
pub(crate) fn asset(name: &str) -> Option<Answer> {
    let (_, media_type, bytes) = ASSETS.iter().find(|(known, ..)| *known == name)?;
    Some(whole(media_type, Bytes::from_static(bytes)))
}

/// Each film is a link to itself: readable, and for some browsers playable, without a script.
fn page(films: &[Film]) -> String {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Films</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <link rel=\"stylesheet\" href=\"/.thalweg/page.css\">\n<h1>Films</h1>\n\
         <video id=\"screen\" controls playsinline preload=\"auto\" hidden></video>\n<p id=\"told\" role=\"status\"></p>\n",
    );
    if films.is_empty() {
        page += "<p>There is none here yet: MP4, HLS and DASH are shown.</p>\n";
    }
    page += "<ul>\n";
    for Film { name, form, rates } in films {
        let (form, player) = match form {
            Form::File => ("file", ""),
            Form::Hls => ("HLS", "hls"),
            Form::Dash => ("DASH", "dash"),
        };
        let link = utf8_percent_encode(name, IN_PATHS);
        let rates = match &rates[..] {
            [] => "rate unknown".to_owned(),
            rates => format!("{} Mb/s", rates.iter().map(|rate| mbps(*rate)).collect::<Vec<_>>().join(", ")),
        };
        let name = escaped(name);
        let _ = writeln!(
            page,
            "<li><a href=\"/{link}\" data-player=\"{player}\">{name}</a> <small>{form}, {rates}</small></li>"
        );
    }
    page + "</ul>\n<script src=\"/.thalweg/page.js\"></script>\n</html>\n"
}

/// Two digits that say something.
fn mbps(rate: Rate) -> String {
    let rate = rate.as_mbps_f64();
    let digits = if rate >= 10.0 {
        0
    } else if rate >= 0.1 {
        1
    } else {
        3
    };
    format!("{rate:.digits$}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_shown_as_it_is_and_never_as_html() {
        let film = |name: &str, form, rates| Film { name: name.to_owned(), form, rates };
        let films = [
            film("a/<b> \"c\" & d?.mp4", Form::File, vec![]),
            film("x.m3u8", Form::Hls, vec![Rate::from_bps(45_000), Rate::from_bps(3_600_000), Rate::from_mbps(25)]),
        ];
        let page = page(&films);
        assert!(page.contains("href=\"/a/%3Cb%3E%20%22c%22%20%26%20d%3F.mp4\" data-player=\"\">"), "{page}");
        assert!(
            page.contains(">a/&lt;b&gt; &quot;c&quot; &amp; d?.mp4</a> <small>file, rate unknown</small>"),
            "{page}"
        );
        assert!(page.contains("data-player=\"hls\">x.m3u8</a> <small>HLS, 0.045, 3.6, 25 Mb/s</small>"), "{page}");
    }

    #[test]
    fn everything_that_the_page_names_is_there() {
        let script = include_str!("../assets/page.js");
        for text in [&page(&[]), script] {
            for name in text.split("\"/").skip(1).filter_map(|rest| rest.split('"').next()) {
                assert!(asset(name).is_some(), "{name}");
            }
        }
    }
}
