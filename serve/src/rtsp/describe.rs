//! The session description of a video.

use std::net::IpAddr;

use thalweg_core::wire::sdp::stored::{Attribute, Encoding, Presentation, Track as Described};
use thalweg_core::wire::stored::{GROUP, PLACE};
use thalweg_rtsp::r3cp::VERSION;

use super::stored::Stored;
use crate::catalog::frames::{Codec, Track};

/// The first of the dynamic payload types (RFC 3551 §3).
const DYNAMIC: u8 = 96;

/// The description of a video that a server at `origin` has.
pub(crate) fn describe(stored: &Stored, origin: IpAddr, session: u64) -> Presentation {
    let tracks = (0..).zip(stored.tracks()).map(|(nth, track)| {
        let encoding = encoding(track);
        Described {
            payload_type: payload_type(nth, track),
            encoding,
            control: Some(control(nth)),
            bandwidth: Some(track.rate()),
            attributes: attributes(nth),
        }
    });
    Presentation {
        name: stored.title().to_owned(),
        session,
        origin,
        duration: Some(stored.length),
        control: Some("*".to_owned()),
        attributes: vec![Attribute::new("r3cp", VERSION)],
        tracks: tracks.collect(),
    }
}

/// The last part of the URL of a track.
pub(crate) fn control(track: usize) -> String {
    format!("track{}", track + 1)
}

/// The number of the track that a URL's last part names.
pub(crate) fn track_of(control: &str) -> Option<usize> {
    control.strip_prefix("track")?.parse::<usize>().ok()?.checked_sub(1)
}

/// The payload type of a track.
pub(crate) fn payload_type(nth: usize, track: &Track) -> u8 {
    encoding(track).static_payload_type().unwrap_or(DYNAMIC + nth.min(1) as u8)
}

/// The payload type of a track's retransmissions under R3CP+.
pub(crate) fn rtx_payload_type(nth: usize) -> u8 {
    DYNAMIC + 2 + nth.min(1) as u8
}

/// The parameters of R3CP+, which plain players ignore.
fn attributes(nth: usize) -> Vec<Attribute> {
    // No m= line lists the retransmissions: a plain player would wait for them (RFC 4588 §8.1).
    let elements = [(GROUP, "group"), (PLACE, "place")];
    let extmap = |(id, name)| Attribute::new("extmap", format_args!("{id} urn:thalweg:r3cp:{name}"));
    let rtx = Attribute::new("r3cp-rtx", rtx_payload_type(nth));
    [rtx].into_iter().chain(elements.map(extmap)).collect()
}

fn encoding(track: &Track) -> Encoding {
    match &track.codec {
        Codec::H264 { sps, pps } => Encoding::H264 { parameter_sets: sps.iter().chain(pps).cloned().collect() },
        Codec::Aac { config, channels } => {
            // Where the config defines the channels, their number here does not matter (RFC 3640 §4.1).
            Encoding::Aac { config: config.clone(), sampling_rate: track.clock, channels: (*channels).max(1) }
        }
        Codec::MpegVideo => Encoding::MpegVideo,
        Codec::MpegAudio => Encoding::MpegAudio,
    }
}
