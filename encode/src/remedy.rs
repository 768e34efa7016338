//! Messages of GStreamer in one line each, with what to do about them.

use gstreamer::glib;
use gstreamer::{CoreError, ParseContext, ParseError, ResourceError};

/// Elements that pipelines of encoders often have, by their Debian package.
const PACKAGES: [(&str, &[&str]); 5] = [
    (
        "gstreamer1.0-plugins-base",
        &[
            "videotestsrc",
            "audiotestsrc",
            "videoconvert",
            "videoscale",
            "audioconvert",
            "audioresample",
            "appsink",
            "decodebin",
        ],
    ),
    ("gstreamer1.0-plugins-good", &["v4l2src", "pulsesrc", "rtspsrc", "aacparse", "vp8enc", "qtdemux", "deinterlace"]),
    (
        "gstreamer1.0-plugins-bad",
        &[
            "mpegtsmux",
            "h264parse",
            "h265parse",
            "openh264enc",
            "voaacenc",
            "fdkaacenc",
            "nvh264enc",
            "x265enc",
            "tsdemux",
        ],
    ),
    ("gstreamer1.0-plugins-ugly", &["x264enc"]),
    ("gstreamer1.0-libav", &["avenc_aac", "avenc_mpeg2video", "avdec_h264", "avdec_aac"]),
];

/// The reason that a text is no pipeline.
pub(crate) fn of_parsing(error: &glib::Error, context: &ParseContext) -> String {
    let text = one_line(error.message());
    match error.kind::<ParseError>() {
        Some(ParseError::NoSuchElement) => of_missing(&context.missing_elements()),
        Some(ParseError::Empty) => "the file has no pipeline; thalweg encode --help shows one".to_owned(),
        Some(ParseError::NoSuchProperty) => format!("{text}; gst-inspect-1.0 ELEMENT lists its properties"),
        Some(ParseError::CouldNotSetProperty) => format!("{text}; gst-inspect-1.0 ELEMENT lists its values"),
        Some(ParseError::Link) => format!("{text}; gst-inspect-1.0 of each lists the formats that it takes"),
        _ => format!("{text}; write it as for gst-launch-1.0"),
    }
}

/// The reason that elements are missing, with the packages that have them.
fn of_missing(elements: &[impl AsRef<str>]) -> String {
    let names = elements.iter().map(AsRef::as_ref);
    let mut packages: Vec<&str> = Vec::new();
    for name in names.clone() {
        match PACKAGES.iter().find(|(_, elements)| elements.contains(&name)) {
            Some((package, _)) if packages.contains(package) => {}
            Some((package, _)) => packages.push(package),
            None => {
                return format!(
                    "no element {name}; gst-inspect-1.0 lists those that there are, and on Debian others are in \
                     gstreamer1.0-plugins-base, -good, -bad, -ugly and gstreamer1.0-libav"
                );
            }
        }
    }
    format!("no element {}; on Debian: apt-get install {}", names.collect::<Vec<_>>().join(", "), packages.join(" "))
}

/// The reason that an element has failed.
pub(crate) fn of_failure(element: &str, error: &glib::Error, details: Option<&str>) -> String {
    let text = of_warning(element, error, details);
    match error.kind::<CoreError>() {
        Some(CoreError::MissingPlugin) => {
            format!("{text}; on Debian: apt-get install gstreamer1.0-plugins-bad gstreamer1.0-libav")
        }
        _ if error.is::<ResourceError>() => {
            format!("{text}; check the file, device or address that {element} has there")
        }
        _ if text.contains("not-negotiated") => format!("{text}; check the formats before and after {element}"),
        _ => text,
    }
}

/// A warning or an error of an element. GStreamer's text is general; the details name the place in its source, and in
/// further lines the file or device and the kernel's reason.
pub(crate) fn of_warning(element: &str, error: &glib::Error, details: Option<&str>) -> String {
    let text = one_line(error.message());
    let details = details.and_then(|details| details.split_once('\n')).map(|(_, rest)| one_line(rest));
    match details.filter(|details| !details.is_empty()) {
        Some(details) => format!("{element}: {}: {}", text.trim_end_matches('.'), details.trim_end_matches('.')),
        None => format!("{element}: {}", text.trim_end_matches('.')),
    }
}

/// A message of GStreamer in one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_elements_are_named_with_their_packages() {
        let text = of_missing(&["x264enc", "mpegtsmux", "h264parse"]);
        let packages = "gstreamer1.0-plugins-ugly gstreamer1.0-plugins-bad";
        assert_eq!(text, format!("no element x264enc, mpegtsmux, h264parse; on Debian: apt-get install {packages}"));
        assert!(of_missing(&["x264enc", "x264encc"]).starts_with("no element x264encc; gst-inspect-1.0 lists"));
    }
}
