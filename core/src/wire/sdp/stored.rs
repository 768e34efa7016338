//! Descriptions of stored videos, as an RTSP server gives them (RFC 2326 appendix C): written by a server, parsed by a
//! player.
//!
//! | line | from |
//! |---|---|
//! | `a=control`, `a=range:npt=` | RFC 2326 §C.1 |
//! | `a=rtpmap`, `a=fmtp` of `H264`: `packetization-mode`, `profile-level-id`, `sprop-parameter-sets` | RFC 6184 §8.2.1 |
//! | of `mpeg4-generic`: `mode=AAC-hbr`, `config`, `sizelength`, `indexlength`, `indexdeltalength` | RFC 3640 §4.4.1 |
//! | of `MPV` and `MPA`, or payload types 32 and 14 | RFC 3555 §4.2, RFC 3551 §6 |
//! | `b=AS` | RFC 8866 §5.8 |

mod attribute;
mod base64;
mod parse;
#[cfg(test)]
mod tests;
mod track;

use core::fmt;
use core::net::IpAddr;

pub use self::parse::Malformed;
use super::address;
use crate::time::Span;
use crate::units::Rate;
use crate::wire::payload::{Format, mpeg_audio, mpeg_video};
use crate::wire::rtp;

/// A stored video, described by its `Display`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Presentation {
    /// The name for humans; control characters are left out.
    pub name: String,
    /// The number that distinguishes this session from the origin's others.
    pub session: u64,
    /// The server's address.
    pub origin: IpAddr,
    /// The duration, if it is known.
    pub duration: Option<Span>,
    /// The URL of the whole for requests, relative to that of the description; `*` is that URL itself.
    pub control: Option<String>,
    /// Other attributes.
    pub attributes: Vec<Attribute>,
    /// The tracks.
    pub tracks: Vec<Track>,
}

/// A track of a stored video.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Track {
    /// The payload type, 0 to 127.
    pub payload_type: u8,
    /// The encoding of the track.
    pub encoding: Encoding,
    /// The URL of the track for requests, relative to that of the description.
    pub control: Option<String>,
    /// The bandwidth with the headers of RTP, UDP and IP; written and parsed in kb/s.
    pub bandwidth: Option<Rate>,
    /// Other attributes.
    pub attributes: Vec<Attribute>,
}

/// The encoding of a track.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// H.264 in packetization-mode 1.
    H264 {
        /// The parameter sets, as NAL units; none if they are only in the stream.
        parameter_sets: Vec<Vec<u8>>,
    },
    /// AAC in the mode AAC-hbr.
    Aac {
        /// The `AudioSpecificConfig` (ISO/IEC 14496-3 §1.6.2.1).
        config: Vec<u8>,
        /// Samples per second, which are the ticks of its timestamps.
        sampling_rate: u32,
        /// The number of channels.
        channels: u8,
    },
    /// MPEG-1 or MPEG-2 video.
    MpegVideo,
    /// MPEG audio.
    MpegAudio,
    /// Any other; parsed, not written by a server.
    Other {
        /// The type of media: `video`, `audio` or another.
        media: String,
        /// The name of the encoding.
        name: String,
        /// Ticks per second of its timestamps.
        clock_rate: u32,
    },
}

/// An attribute of a description: `a=name`, or `a=name:value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute {
    /// The name.
    pub name: String,
    /// The value, if there is one.
    pub value: Option<String>,
}

impl Encoding {
    /// The payload format; none for other encodings.
    pub fn format(&self) -> Option<Format> {
        match self {
            Encoding::H264 { .. } => Some(Format::H264),
            Encoding::Aac { .. } => Some(Format::AacHbr),
            Encoding::MpegVideo => Some(Format::MpegVideo),
            Encoding::MpegAudio => Some(Format::MpegAudio),
            Encoding::Other { .. } => None,
        }
    }

    /// Ticks per second of the RTP timestamps.
    pub fn clock_rate(&self) -> u32 {
        match self {
            Encoding::Aac { sampling_rate, .. } => *sampling_rate,
            Encoding::Other { clock_rate, .. } => *clock_rate,
            Encoding::H264 { .. } | Encoding::MpegVideo | Encoding::MpegAudio => rtp::CLOCK_RATE,
        }
    }

    /// The payload type that RFC 3551 §6 assigns, if it assigns one.
    pub fn static_payload_type(&self) -> Option<u8> {
        match self {
            Encoding::MpegVideo => Some(mpeg_video::PAYLOAD_TYPE),
            Encoding::MpegAudio => Some(mpeg_audio::PAYLOAD_TYPE),
            _ => None,
        }
    }

    fn media(&self) -> &str {
        match self {
            Encoding::H264 { .. } | Encoding::MpegVideo => "video",
            Encoding::Aac { .. } | Encoding::MpegAudio => "audio",
            Encoding::Other { media, .. } => media,
        }
    }
}

impl Attribute {
    /// An attribute with a value.
    pub fn new(name: &str, value: impl fmt::Display) -> Attribute {
        Attribute { name: name.to_owned(), value: Some(value.to_string()) }
    }
}

impl fmt::Display for Presentation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = printable(&self.name);
        let name = if name.is_empty() { "-" } else { &name };
        let any = if self.origin.is_ipv4() { "IN IP4 0.0.0.0" } else { "IN IP6 ::" };
        write!(f, "v=0\r\no=- {} 1 {}\r\ns={name}\r\n", self.session, address(self.origin))?;
        write!(f, "c={any}\r\nt=0 0\r\n")?;
        write_control(self.control.as_deref(), f)?;
        if let Some(duration) = self.duration {
            write!(f, "a=range:npt=0-{:.3}\r\n", duration.as_secs_f64())?;
        }
        self.attributes.iter().try_for_each(|attribute| attribute.fmt(f))?;
        self.tracks.iter().try_for_each(|track| track.fmt(f))
    }
}

impl fmt::Display for Track {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let payload_type = self.payload_type;
        // The ports are agreed on by SETUP (RFC 2326 §C.1.2).
        write!(f, "m={} 0 RTP/AVP {payload_type}\r\n", self.encoding.media())?;
        if let Some(bandwidth) = self.bandwidth {
            write!(f, "b=AS:{}\r\n", bandwidth.as_bps().div_ceil(1000))?;
        }
        write!(f, "a=rtpmap:{payload_type} ")?;
        let clock_rate = self.encoding.clock_rate();
        match &self.encoding {
            Encoding::H264 { parameter_sets } => {
                write!(f, "H264/{clock_rate}\r\na=fmtp:{payload_type} packetization-mode=1")?;
                write_parameter_sets(parameter_sets, f)?;
            }
            Encoding::Aac { config, channels, .. } => {
                write!(
                    f,
                    "mpeg4-generic/{clock_rate}/{channels}\r\na=fmtp:{payload_type} streamtype=5;profile-level-id=1"
                )?;
                f.write_str(";mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=")?;
                config.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str("\r\n")?;
            }
            Encoding::MpegVideo => write!(f, "MPV/{clock_rate}\r\n")?,
            Encoding::MpegAudio => write!(f, "MPA/{clock_rate}\r\n")?,
            Encoding::Other { name, .. } => write!(f, "{}/{clock_rate}\r\n", printable(name))?,
        }
        write_control(self.control.as_deref(), f)?;
        self.attributes.iter().try_for_each(|attribute| attribute.fmt(f))
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            None => write!(f, "a={}\r\n", printable(&self.name)),
            Some(value) => write!(f, "a={}:{}\r\n", printable(&self.name), printable(value)),
        }
    }
}

fn write_parameter_sets(sets: &[Vec<u8>], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // profile-level-id is the three bytes after the header of the sequence parameter set (RFC 6184 §8.1).
    if let Some([_, profile, constraints, level, ..]) = sets.first().map(Vec::as_slice) {
        write!(f, ";profile-level-id={profile:02X}{constraints:02X}{level:02X}")?;
    }
    for (nth, set) in sets.iter().enumerate() {
        f.write_str(if nth == 0 { ";sprop-parameter-sets=" } else { "," })?;
        f.write_str(&base64::encode(set))?;
    }
    f.write_str("\r\n")
}

fn write_control(control: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    control.map_or(Ok(()), |control| write!(f, "a=control:{}\r\n", printable(control)))
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
