//! A track of a description, parsed: `m=` and the lines below it.

use super::attribute::{attribute, keep};
use super::{Encoding, Track, base64};
use crate::units::Rate;
use crate::wire::payload::{mpeg_audio, mpeg_video};
use crate::wire::rtp;

/// A track whose lines are being parsed.
pub(super) struct Draft {
    media: String,
    track: Track,
    /// The value of `a=rtpmap`, and that of `a=fmtp`.
    mapping: Option<String>,
    parameters: String,
}

impl Draft {
    /// The track of an `m=` line; none if it is not RTP.
    pub(super) fn of(value: &str) -> Result<Option<Draft>, &'static str> {
        let mut fields = value.split_whitespace();
        let (media, _port) = (fields.next().ok_or("m= has no type of media")?, fields.next().ok_or("m= has no port")?);
        if !fields.next().ok_or("m= has no protocol")?.starts_with("RTP/") {
            return Ok(None);
        }
        let payload_type = fields.next().and_then(|number| number.parse().ok()).filter(|number| *number < 128);
        let payload_type = payload_type.ok_or("m= has no payload type")?;
        let encoding = Encoding::Other { media: String::new(), name: String::new(), clock_rate: rtp::CLOCK_RATE };
        let track = Track { payload_type, encoding, control: None, bandwidth: None, attributes: Vec::new() };
        Ok(Some(Draft { media: media.to_owned(), track, mapping: None, parameters: String::new() }))
    }

    pub(super) fn line(&mut self, kind: &str, value: &str) -> Result<(), &'static str> {
        match (kind, value) {
            ("b", value) => {
                if let Some(kbps) = value.strip_prefix("AS:") {
                    let kbps: u64 = kbps.trim().parse().map_err(|_| "b=AS is no number")?;
                    self.track.bandwidth = Some(Rate::from_bps(kbps.saturating_mul(1000)));
                }
            }
            ("a", value) => match attribute(value) {
                ("control", Some(value)) => self.track.control = Some(value.to_owned()),
                ("rtpmap", Some(value)) => {
                    if let Some(mapping) = self.own(value) {
                        self.mapping = Some(mapping.to_owned());
                    }
                }
                ("fmtp", Some(value)) => {
                    if let Some(parameters) = self.own(value) {
                        self.parameters = parameters.to_owned();
                    }
                }
                (name, value) => keep(&mut self.track.attributes, name, value)?,
            },
            _ => {}
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Track, &'static str> {
        let encoding = self.encoding()?;
        Ok(Track { encoding, ..self.track })
    }

    /// The rest of a value that begins with the payload type of this track.
    fn own<'a>(&self, value: &'a str) -> Option<&'a str> {
        let (number, rest) = value.split_once(' ')?;
        (number.parse() == Ok(self.track.payload_type)).then(|| rest.trim())
    }

    fn encoding(&self) -> Result<Encoding, &'static str> {
        let Some(mapping) = &self.mapping else {
            return match self.track.payload_type {
                mpeg_video::PAYLOAD_TYPE => Ok(Encoding::MpegVideo),
                mpeg_audio::PAYLOAD_TYPE => Ok(Encoding::MpegAudio),
                // RFC 3551 §6 has its name.
                number @ 0..96 => Ok(self.other(&format!("payload type {number}"), rtp::CLOCK_RATE)),
                _ => Err("the payload type has no a=rtpmap"),
            };
        };
        let mut fields = mapping.split('/');
        let name = fields.next().unwrap_or_default();
        let clock_rate = fields.next().and_then(|rate| rate.trim().parse().ok()).filter(|rate| *rate > 0);
        let clock_rate = clock_rate.ok_or("a=rtpmap has no clock rate")?;
        let channels = fields.next().map_or(Ok(1), |channels| channels.trim().parse());
        let channels = channels.map_err(|_| "a=rtpmap has no number of channels")?;
        let known = match name.to_ascii_lowercase().as_str() {
            "h264" if clock_rate == rtp::CLOCK_RATE => self.h264()?,
            "mpeg4-generic" => self.aac(clock_rate, channels)?,
            "mpv" if clock_rate == rtp::CLOCK_RATE => Some(Encoding::MpegVideo),
            "mpa" if clock_rate == rtp::CLOCK_RATE => Some(Encoding::MpegAudio),
            _ => None,
        };
        Ok(known.unwrap_or_else(|| self.other(name, clock_rate)))
    }

    fn other(&self, name: &str, clock_rate: u32) -> Encoding {
        Encoding::Other { media: self.media.clone(), name: name.to_owned(), clock_rate }
    }

    fn h264(&self) -> Result<Option<Encoding>, &'static str> {
        // Interleaved packets (mode 2) are another format (RFC 6184 §6.4).
        if !matches!(self.parameter("packetization-mode"), None | Some("0" | "1")) {
            return Ok(None);
        }
        let sets = self.parameter("sprop-parameter-sets").unwrap_or_default();
        let sets = sets.split(',').filter(|set| !set.is_empty()).map(base64::decode);
        let parameter_sets = sets.collect::<Option<_>>().ok_or("sprop-parameter-sets is not Base64")?;
        Ok(Some(Encoding::H264 { parameter_sets }))
    }

    fn aac(&self, sampling_rate: u32, channels: u8) -> Result<Option<Encoding>, &'static str> {
        let has = |name, value: &str| self.parameter(name).is_some_and(|other| other.eq_ignore_ascii_case(value));
        let is_hbr = has("mode", "AAC-hbr") && has("sizelength", "13");
        if !is_hbr || !has("indexlength", "3") || !has("indexdeltalength", "3") {
            return Ok(None);
        }
        let config = self.parameter("config").and_then(hexadecimal).ok_or("config is not hexadecimal")?;
        Ok(Some(Encoding::Aac { config, sampling_rate, channels }))
    }

    /// A parameter of `a=fmtp`.
    fn parameter(&self, name: &str) -> Option<&str> {
        let mut parameters = self.parameters.split(';').filter_map(|parameter| parameter.trim().split_once('='));
        parameters.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_matches('"').chars().map(|c| c.to_digit(16).map(|digit| digit as u8));
    let digits = digits.collect::<Option<Vec<_>>>()?;
    let (pairs, rest) = digits.as_chunks();
    (rest.is_empty() && !pairs.is_empty()).then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}
