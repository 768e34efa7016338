//! AAC: its parameters (AudioSpecificConfig, ISO/IEC 14496-3 §1.6.2.1) and its frame headers in a transport stream (ADTS,
//! ISO/IEC 13818-7 §6.2).

use thalweg_core::wire::Error;

/// Sampling rates by their index (Table 1.18).
const RATES: [u32; 13] =
    [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350];
/// Channels by the configuration (Table 1.19); zero defines them elsewhere.
const CHANNELS: [u8; 8] = [0, 1, 2, 3, 4, 5, 6, 8];
/// The object types whose stream begins with the parameters of its extension: SBR and PS (Table 1.16).
const EXTENSIONS: [u8; 2] = [5, 29];
/// An object type of six more bits.
const ESCAPE: u8 = 31;

/// The length of an ADTS header without a checksum.
pub const ADTS_HEADER: usize = 7;

/// The parameters of a stream, without the extension by which a decoder may double its rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// The object type; 2 is AAC LC.
    object_type: u8,
    /// The sampling rate in hertz, never zero.
    rate: u32,
    /// The channel configuration, below 8.
    layout: u8,
}

impl Config {
    /// Parses an AudioSpecificConfig.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Malformed`] if a value is reserved.
    pub fn parse(config: &[u8]) -> Result<Config, Error> {
        let mut bits = Bits::new(config);
        let object_type = bits.object_type()?;
        let rate = bits.rate()?;
        let layout = bits.field(4)? as u8;
        if usize::from(layout) >= CHANNELS.len() {
            return Err(Error::Malformed);
        }
        let config = Config { object_type, rate, layout };
        if !EXTENSIONS.contains(&object_type) {
            return Ok(config);
        }
        bits.rate()?;
        Ok(Config { object_type: bits.object_type()?, ..config })
    }

    /// The sampling rate in hertz.
    pub fn rate(&self) -> u32 {
        self.rate
    }

    /// The number of channels; zero if the stream defines them itself.
    pub fn channels(&self) -> u8 {
        CHANNELS[usize::from(self.layout)]
    }

    /// The headers of this stream's frames.
    ///
    /// # Errors
    /// [`Error::Unknown`] if ADTS has no form for these parameters: an object type other than 1 to 4, a rate without an
    /// index, or channels defined by the stream.
    pub fn adts(&self) -> Result<Adts, Error> {
        let index = RATES.iter().position(|rate| *rate == self.rate).ok_or(Error::Unknown)? as u8;
        if !(1..=4).contains(&self.object_type) || self.layout == 0 {
            return Err(Error::Unknown);
        }
        Ok(Adts([(self.object_type - 1) << 6 | index << 2 | self.layout >> 2, (self.layout & 3) << 6]))
    }
}

/// The headers of a stream's frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Adts(
    /// The third byte, and the first bits of the fourth: profile, index of the rate, channel configuration.
    [u8; 2],
);

impl Adts {
    /// The header of a frame of `len` bytes.
    ///
    /// # Errors
    /// [`Error::Length`] if the frame is longer than 8184 bytes.
    pub fn header(&self, len: usize) -> Result<[u8; ADTS_HEADER], Error> {
        let len = u16::try_from(ADTS_HEADER + len).ok().filter(|len| *len < 1 << 13).ok_or(Error::Length)?;
        let Adts([third, fourth]) = *self;
        // MPEG-4 without a checksum; a buffer fullness of all ones, "variable rate"; one block of data.
        Ok([0xff, 0xf1, third, fourth | (len >> 11) as u8, (len >> 3) as u8, (len << 5) as u8 | 0x1f, 0xfc])
    }
}

/// The first 64 bits of a config, which hold all fields up to the second object type.
struct Bits {
    bits: u64,
    at: u32,
    len: u32,
}

impl Bits {
    fn new(config: &[u8]) -> Bits {
        let mut bytes = [0; 8];
        let len = config.len().min(8);
        bytes[..len].copy_from_slice(&config[..len]);
        Bits { bits: u64::from_be_bytes(bytes), at: 0, len: 8 * len as u32 }
    }

    /// The next `width` bits, from 1 to 24.
    fn field(&mut self, width: u32) -> Result<u32, Error> {
        let end = self.at + width;
        if end > self.len {
            return Err(Error::Truncated);
        }
        let value = self.bits << self.at >> (64 - width);
        self.at = end;
        Ok(value as u32)
    }

    fn object_type(&mut self) -> Result<u8, Error> {
        match self.field(5)? as u8 {
            ESCAPE => Ok(32 + self.field(6)? as u8),
            object_type => Ok(object_type),
        }
    }

    fn rate(&mut self) -> Result<u32, Error> {
        let rate = match self.field(4)? {
            15 => self.field(24)?,
            index => *RATES.get(index as usize).ok_or(Error::Malformed)?,
        };
        if rate == 0 { Err(Error::Malformed) } else { Ok(rate) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parameters(config: &[u8]) -> Result<(u32, u8), Error> {
        Config::parse(config).map(|config| (config.rate(), config.channels()))
    }

    #[test]
    fn configurations_are_those_of_rfc_3640_and_ffmpeg() {
        // RFC 3640 §4.5: 6 channels at 48 kHz, AAC LC, and 11B0 in its hexadecimal form; ffmpeg writes 1190 for stereo.
        assert_eq!(parameters(&[0x11, 0xb0]), Ok((48_000, 6)));
        assert_eq!(parameters(&[0x11, 0x90]), Ok((48_000, 2)));
        // An explicit rate, of 22255 Hz: 00010 1111 and 24 bits, then one channel.
        assert_eq!(parameters(&[0x17, 0x80, 0x2b, 0x77, 0x88]), Ok((22_255, 1)));
        for config in [&[][..], &[0x11], &[0x17, 0x80, 0x2b], &[0x16, 0xf0], &[0x11, 0xf8]] {
            assert!(parameters(config).is_err(), "{config:x?}");
        }
    }

    #[test]
    fn header_is_that_of_ffmpeg() {
        // ffmpeg -f lavfi -i sine=r=48000 -ac 2 -c:a aac x.ts: AAC LC, a frame of 7 + 256 bytes.
        let lc = Config::parse(&[0x11, 0x90]).unwrap();
        assert_eq!(lc.adts().unwrap().header(256), Ok([0xff, 0xf1, 0x4c, 0x80, 0x20, 0xff, 0xfc]));
        // Explicit SBR (Table 1.16): 00101, 24 kHz (0110), stereo (0010), 48 kHz (0011), LC (00010). The rate of ADTS is
        // that without the extension.
        let sbr = Config::parse(&[0x2b, 0x11, 0x88]).unwrap();
        assert_eq!((sbr.rate(), sbr.channels()), (24_000, 2));
        assert_eq!(sbr.adts().unwrap().header(256), Ok([0xff, 0xf1, 0x58, 0x80, 0x20, 0xff, 0xfc]));
    }

    #[test]
    fn parameters_without_a_form_in_adts_are_refused() {
        let refused = |config: &[u8]| Config::parse(config).unwrap().adts();
        assert_eq!(refused(&[0x17, 0x80, 0x2b, 0x77, 0x88]), Err(Error::Unknown), "a rate without an index");
        assert_eq!(refused(&[0x11, 0x80]), Err(Error::Unknown), "channels of its own");
        assert_eq!(refused(&[0xf9, 0x46, 0x40]), Err(Error::Unknown), "object type 42");
        let lc = Config::parse(&[0x11, 0x90]).unwrap().adts().unwrap();
        assert!(lc.header(8184).is_ok());
        assert_eq!(lc.header(8185), Err(Error::Length));
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_panic(config in prop::collection::vec(any::<u8>(), 0..10), len in 0..9000usize) {
            if let Ok(config) = Config::parse(&config) {
                prop_assert!(config.rate() > 0);
                let _ = config.adts().map(|adts| adts.header(len));
            }
        }
    }
}
