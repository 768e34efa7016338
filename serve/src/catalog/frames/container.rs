//! The container of a video, by its first bytes.

use std::io::{Read, Seek, SeekFrom};

use thalweg_mpegts::PACKET;
use thalweg_mpegts::align::SYNC_RUN;
use thalweg_mpegts::packet::SYNC;

use crate::mp4::boxes;
use crate::rate::FormatError;

/// Bytes in which a transport stream must begin, or WebM name its codecs.
const START: u64 = 16 << 10;
/// Bytes from one packet to the next in the transport streams of cameras and discs, which have a time before each.
const WITH_TIME: usize = 192;

/// The containers whose frames are indexed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Container {
    Mp4,
    TransportStream,
}

impl Container {
    /// Reads the first bytes of a video.
    pub(super) fn of(video: &mut (impl Read + Seek)) -> Result<Container, FormatError> {
        let mut start = Vec::new();
        video.seek(SeekFrom::Start(0)).map_err(FormatError::unreadable)?;
        video.by_ref().take(START).read_to_end(&mut start).map_err(FormatError::unreadable)?;
        if start.get(4..8).is_some_and(boxes::is_first) {
            return Ok(Container::Mp4);
        }
        if let Some(name) = foreign(&start) {
            return Err(FormatError::new(format!(
                "{name} is not supported over RTSP; convert it with `ffmpeg -i video -c:v libx264 -c:a aac video.mp4`"
            )));
        }
        if (0..start.len()).any(|from| is_stream(&start[from..], PACKET)) {
            return Ok(Container::TransportStream);
        }
        Err(FormatError::new("neither MP4 nor an MPEG transport stream"))
    }
}

/// True if packets begin here, one after the other; a short stream has fewer than a run of them.
fn is_stream(bytes: &[u8], packet: usize) -> bool {
    let mut starts = bytes.iter().step_by(packet).take(SYNC_RUN);
    bytes.len() >= packet && starts.all(|&byte| byte == SYNC)
}

/// The name of another container, with its codecs if they are easily found.
fn foreign(start: &[u8]) -> Option<String> {
    let name = match start {
        [0x1a, 0x45, 0xdf, 0xa3, ..] => return Some(matroska(start)),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'A', b'V', b'I', b' ', ..] => "AVI",
        [b'O', b'g', b'g', b'S', ..] => "Ogg",
        [b'F', b'L', b'V', 1, ..] => "FLV",
        [0x30, 0x26, 0xb2, 0x75, ..] => "WMV (ASF)",
        [0, 0, 1, 0xba, ..] => "an MPEG program stream",
        [0, 0, 1, 0xb3, ..] | [0, 0, 0, 1, ..] => "video without a container",
        _ if start.len() > 4 && is_stream(&start[4..], WITH_TIME) => "a transport stream with packets of 192 bytes",
        _ => return None,
    };
    Some(name.to_owned())
}

/// The codecs of WebM or Matroska, by their identifiers (RFC 9559 §5.1.4.1.21, RFC 9559 §27.1).
fn matroska(start: &[u8]) -> String {
    let container = if start.windows(4).any(|four| four == b"webm") { "WebM" } else { "Matroska" };
    let codec = |prefix: &[u8]| {
        let at = start.windows(2).position(|two| two == prefix)? + prefix.len();
        let end = start[at..].iter().position(|byte| !matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'/'))?;
        std::str::from_utf8(&start[at..at + end]).ok().filter(|name| name.len() >= 2).map(str::to_owned)
    };
    match (codec(b"V_"), codec(b"A_")) {
        (Some(video), Some(audio)) => format!("{video} with {audio} in {container}"),
        (Some(one), None) | (None, Some(one)) => format!("{one} in {container}"),
        (None, None) => container.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn other_containers_are_refused_by_name() {
        let of = |bytes: &[u8]| Container::of(&mut Cursor::new(bytes)).map_err(|error| error.to_string());
        assert_eq!(of(b"\0\0\0\x0cftypisom"), Ok(Container::Mp4));
        let packet = [&[SYNC][..], &[0; PACKET - 1]].concat();
        assert_eq!(of(&packet), Ok(Container::TransportStream));
        assert_eq!(of(&[&[1, 2, 3], &packet.repeat(5)[..]].concat()), Ok(Container::TransportStream));
        let webm = b"\x1a\x45\xdf\xa3\x42\x82\x84webm\x86\x85V_VP9\x86\x86A_OPUS\x63";
        for (bytes, name) in [
            (&webm[..], "VP9 with OPUS in WebM"),
            (b"\x1a\x45\xdf\xa3\x42\x82\x88matroska", "Matroska"),
            (b"RIFF\0\0\0\0AVI LIST", "AVI"),
            (b"OggS\0", "Ogg"),
            (b"\0\0\x01\xba", "an MPEG program stream"),
            (&[&[0; 4][..], &packet, &[0; 4], &packet].concat(), "a transport stream with packets of 192 bytes"),
        ] {
            let refusal = of(bytes).expect_err("not supported");
            assert!(refusal.starts_with(&format!("{name} is not supported over RTSP")), "{refusal}");
            assert!(refusal.lines().count() == 1 && refusal.ends_with("video.mp4`"), "{refusal}");
        }
        assert!(of(b"").is_err() && of(&[0x47; 100]).is_err() && of(b"%PDF-1.7").is_err());
    }
}
