//! Parameters of AAC: the AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1).

use crate::rate::FormatError;

/// Sampling rates by their index (Table 1.18).
const RATES: [u32; 13] =
    [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350];
/// Channels by the configuration (Table 1.19); zero defines them elsewhere.
const CHANNELS: [u8; 8] = [0, 1, 2, 3, 4, 5, 6, 8];

/// The parameters of a stream, without the extension by which a decoder may double its rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Parameters {
    /// The sampling rate in hertz.
    pub(super) rate: u32,
    /// The number of channels; zero if the stream defines them itself.
    pub(super) channels: u8,
}

/// Reads an AudioSpecificConfig.
pub(super) fn parameters(config: &[u8]) -> Result<Parameters, FormatError> {
    let fault = || FormatError::new("AAC with an invalid AudioSpecificConfig");
    // The fields before the channels have at most 5 + 6 + 4 + 24 + 4 bits.
    let mut bits = [0; 8];
    let len = config.len().min(8);
    bits[..len].copy_from_slice(&config[..len]);
    let bits = u64::from_be_bytes(bits);
    let mut at = 0;
    let mut field = |width: u32| {
        at += width;
        let value = bits << (at - width) >> (64 - width);
        if at as usize <= 8 * len { Ok(value as u32) } else { Err(fault()) }
    };
    if field(5)? == 31 {
        field(6)?;
    }
    let rate = match field(4)? {
        15 => field(24)?,
        index => *RATES.get(index as usize).ok_or_else(fault)?,
    };
    let channels = *CHANNELS.get(field(4)? as usize).ok_or_else(fault)?;
    if rate == 0 { Err(fault()) } else { Ok(Parameters { rate, channels }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_those_of_rfc_3640_and_ffmpeg() {
        // RFC 3640 §4.5: 6 channels at 48 kHz, AAC LC, and 11B0 in its hexadecimal form; ffmpeg writes 1190 for stereo.
        assert_eq!(parameters(&[0x11, 0xb0]), Ok(Parameters { rate: 48_000, channels: 6 }));
        assert_eq!(parameters(&[0x11, 0x90]), Ok(Parameters { rate: 48_000, channels: 2 }));
        // An explicit rate, of 22255 Hz: 00010 1111 and 24 bits, then one channel.
        assert_eq!(parameters(&[0x17, 0x80, 0x2b, 0x77, 0x88]), Ok(Parameters { rate: 22_255, channels: 1 }));
        for config in [&[][..], &[0x11], &[0x17, 0x80, 0x2b], &[0x16, 0xf0], &[0x11, 0xf8]] {
            assert!(parameters(config).is_err(), "{config:x?}");
        }
    }
}
