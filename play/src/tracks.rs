//! The tracks of a description that are played: the first of pictures, and the first of sound.

use thalweg_core::session::stored;
use thalweg_core::time::Span;
use thalweg_core::wire::payload::h264::{ACCESS_UNIT_DELIMITER, Framing, NalUnits};
use thalweg_core::wire::payload::{Format, start_code};
use thalweg_core::wire::sdp::stored::{Attribute, Encoding, Presentation, Track as Described};
use thalweg_mpegts::aac;
use thalweg_mpegts::mux::Stream;

/// Types of NAL units (H.264 Table 7-1).
const IDR: u8 = 5;
const SEQUENCE_PARAMETERS: u8 = 7;
/// The start code of a sequence header (ISO/IEC 11172-2 §2.4.2.3).
const SEQUENCE_HEADER: u8 = 0xb3;
const START_CODE: [u8; 4] = [0, 0, 0, 1];

/// A track that is played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Track {
    /// Its number in the description.
    pub(crate) number: usize,
    pub(crate) format: Format,
    pub(crate) stream: Stream,
    pub(crate) clock_rate: u32,
    pub(crate) payload_type: u8,
    /// The payload type of retransmissions under R3CP+.
    rtx_payload_type: Option<u8>,
    /// Parameter sets of H.264.
    parameter_sets: Vec<Vec<u8>>,
}

/// The tracks that are played, in the order of the description.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tracks {
    pub(crate) tracks: Vec<Track>,
    /// True if the server offers R3CP+ for all of them.
    pub(crate) is_r3cp: bool,
    /// The end of the video, where it is known.
    pub(crate) duration: Option<Span>,
}

/// An access unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unit {
    /// The index of its track.
    pub(crate) track: usize,
    pub(crate) data: Vec<u8>,
    pub(crate) pts: Span,
    pub(crate) dts: Span,
    pub(crate) is_random_access: bool,
}

impl Tracks {
    /// The tracks to play of a description; none if it has none that can be played.
    pub(crate) fn choose(presentation: &Presentation) -> Option<Tracks> {
        let mut tracks: Vec<Track> = Vec::new();
        for (number, described) in presentation.tracks.iter().enumerate() {
            let track = Track::of(number, described);
            tracks.extend(track.filter(|track| tracks.iter().all(|other| other.is_video() != track.is_video())));
        }
        let is_offered = value(&presentation.attributes, "r3cp") == Some("1");
        let is_r3cp = is_offered && tracks.iter().all(|track| track.rtx_payload_type.is_some());
        (!tracks.is_empty()).then_some(Tracks { tracks, is_r3cp, duration: presentation.duration })
    }

    /// The streams of the muxer.
    pub(crate) fn streams(&self) -> Vec<Stream> {
        self.tracks.iter().map(|track| track.stream).collect()
    }

    /// The tracks of a receiver of R3CP+.
    pub(crate) fn of_session(&self) -> Vec<stored::Track> {
        let track = |track: &Track| {
            let &Track { payload_type, rtx_payload_type, clock_rate, .. } = track;
            rtx_payload_type.map(|rtx_payload_type| stored::Track { payload_type, rtx_payload_type, clock_rate })
        };
        self.tracks.iter().filter_map(track).collect()
    }

    /// The encodings for people, as in `H.264 and AAC`.
    pub(crate) fn names(&self) -> String {
        self.tracks.iter().map(Track::name).collect::<Vec<_>>().join(" and ")
    }
}

impl Track {
    fn of(number: usize, described: &Described) -> Option<Track> {
        let encoding = &described.encoding;
        let mut parameter_sets = Vec::new();
        let stream = match encoding {
            Encoding::H264 { parameter_sets: sets } => {
                parameter_sets.clone_from(sets);
                Stream::H264
            }
            Encoding::Aac { config, .. } => Stream::Aac(aac::Config::parse(config).and_then(|it| it.adts()).ok()?),
            Encoding::MpegVideo => Stream::MpegVideo,
            Encoding::MpegAudio => Stream::MpegAudio,
            Encoding::Other { .. } => return None,
        };
        let rtx_payload_type = value(&described.attributes, "r3cp-rtx").and_then(|value| value.parse().ok());
        Some(Track {
            number,
            format: encoding.format()?,
            stream,
            clock_rate: encoding.clock_rate().max(1),
            payload_type: described.payload_type,
            rtx_payload_type: rtx_payload_type.filter(|rtx| *rtx < 128),
            parameter_sets,
        })
    }

    pub(crate) fn is_video(&self) -> bool {
        matches!(self.format, Format::H264 | Format::MpegVideo)
    }

    fn name(&self) -> &'static str {
        match self.format {
            Format::H264 => "H.264",
            Format::AacHbr => "AAC",
            Format::MpegVideo => "MPEG video",
            Format::MpegAudio => "MPEG audio",
        }
    }

    /// True if a decoder can start with this access unit.
    pub(crate) fn is_random_access(&self, data: &[u8]) -> bool {
        match self.format {
            Format::H264 => nal_types(data).any(|(kind, _)| matches!(kind, IDR | SEQUENCE_PARAMETERS)),
            Format::MpegVideo => start_code::find(data, 0).is_some_and(|at| data.get(at + 3) == Some(&SEQUENCE_HEADER)),
            Format::AacHbr | Format::MpegAudio => true,
        }
    }

    /// Adds the parameter sets of the description to an access unit with which a decoder starts, if it has none.
    pub(crate) fn complete(&self, data: Vec<u8>) -> Vec<u8> {
        let is_complete =
            self.parameter_sets.is_empty() || nal_types(&data).any(|(kind, _)| kind == SEQUENCE_PARAMETERS);
        if is_complete {
            return data;
        }
        // A delimiter is the first NAL unit of an access unit (H.264 §7.4.1.2.3).
        let delimiter = nal_types(&data).next().filter(|(kind, _)| *kind == ACCESS_UNIT_DELIMITER);
        let (before, after) = data.split_at(delimiter.map_or(0, |(_, end)| end));
        let sets = self.parameter_sets.iter().flat_map(|set| [&START_CODE[..], set]);
        [before].into_iter().chain(sets).chain([after]).collect::<Vec<_>>().concat()
    }
}

/// The type and the end of each NAL unit.
fn nal_types(data: &[u8]) -> impl Iterator<Item = (u8, usize)> {
    NalUnits::new(data, Framing::AnnexB).filter_map(Result::ok).map(|unit| (data[unit.start] & 0x1f, unit.end))
}

fn value<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a str> {
    attributes.iter().find(|attribute| attribute.name == name).and_then(|attribute| attribute.value.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parameter sets of RFC 6184 §8.2.1's form, and the config of RFC 3640 §4.1's second example.
    const DESCRIPTION: &str = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=range:npt=0-10\r\na=r3cp:1\r\n\
        m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z0IACg==,aM4=\r\n\
        a=r3cp-rtx:98\r\nm=video 0 RTP/AVP 32\r\nm=application 0 RTP/AVP 99\r\na=rtpmap:99 x/90000\r\n\
        m=audio 0 RTP/AVP 97\r\na=rtpmap:97 mpeg4-generic/48000/2\r\na=fmtp:97 streamtype=5;profile-level-id=1;\
        mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=1190\r\na=r3cp-rtx:99\r\n";

    fn tracks(text: &str) -> Option<Tracks> {
        Tracks::choose(&Presentation::parse(text).expect("a description"))
    }

    #[test]
    fn first_track_of_each_kind_is_played() {
        let chosen = tracks(DESCRIPTION).expect("tracks");
        assert_eq!(chosen.tracks.iter().map(|track| track.number).collect::<Vec<_>>(), [0, 3]);
        assert_eq!((chosen.names().as_str(), chosen.is_r3cp), ("H.264 and AAC", true));
        assert_eq!(chosen.of_session()[1].rtx_payload_type, 99);
        assert!(!tracks(&DESCRIPTION.replace("a=r3cp-rtx:99\r\n", "")).expect("tracks").is_r3cp);
        assert!(!tracks(&DESCRIPTION.replace("a=r3cp:1", "a=r3cp:2")).expect("tracks").is_r3cp);
        assert_eq!(tracks("v=0\r\ns=-\r\nm=video 0 RTP/AVP 26\r\n"), None);
    }

    #[test]
    fn parameter_sets_are_behind_the_delimiter_of_a_picture_without_them() {
        let chosen = tracks(DESCRIPTION).expect("tracks");
        let complete = |units: &[&[u8]]| {
            let data = units.iter().flat_map(|unit| [&START_CODE[..], unit]).collect::<Vec<_>>().concat();
            let complete = chosen.tracks[0].complete(data);
            nal_types(&complete).map(|(kind, _)| kind).collect::<Vec<_>>()
        };
        assert_eq!(complete(&[&[9, 0xf0], &[0x65, 1]]), [9, 7, 8, 5]);
        assert_eq!(complete(&[&[0x65, 1]]), [7, 8, 5]);
        assert_eq!(complete(&[&[0x67, 1], &[0x65, 1]]), [7, 5]);
    }
}
