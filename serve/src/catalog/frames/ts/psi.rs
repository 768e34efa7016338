//! The tables that name the streams of a program: the program association table and the program map table (ISO/IEC
//! 13818-1 §2.4.4).

use thalweg_mpegts::packet::Packet;
use thalweg_mpegts::psi::{Entry, Section, entries, maps};

use crate::rate::FormatError;

/// The streams of the first program, once its tables are known.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Tables {
    association: Section,
    map: Section,
    /// The PID of the program map table.
    map_pid: Option<u16>,
    program: Option<Program>,
}

/// The streams of a program that are indexed: their type and PID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Program {
    pub(super) video: (Video, u16),
    pub(super) audio: Option<(Audio, u16)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Video {
    H264,
    Mpeg,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Audio {
    Adts,
    Mpeg,
}

impl Tables {
    /// Adds a packet; the streams of the program, if it is the first time that they are known.
    ///
    /// # Errors
    /// The program has no video, or a codec that is not supported, or its streams change.
    pub(super) fn push(&mut self, packet: &Packet) -> Result<Option<Program>, FormatError> {
        let pid = packet.pid();
        if pid == 0 {
            if let Some(section) = self.association.push(packet, 0) {
                self.map_pid = self.map_pid.or(maps(section).next());
            }
        } else if Some(pid) == self.map_pid
            && let Some(section) = self.map.push(packet, 2)
        {
            let program = streams(section)?;
            if self.program.is_some_and(|known| known != program) {
                return Err(FormatError::new("the streams of its program change midway"));
            }
            let is_new = self.program.replace(program).is_none();
            return Ok(Some(program).filter(|_| is_new));
        }
        Ok(None)
    }
}

/// The first video and the first audio of a program map table that are supported.
fn streams(section: &[u8]) -> Result<Program, FormatError> {
    let entries = entries(section).map_err(|_| FormatError::new("its program map table is truncated"))?;
    let (mut video, mut audio, mut other) = (None, None, [None, None]);
    for Entry { kind, pid, descriptors } in entries {
        match kind {
            0x1b => video = video.or(Some((Video::H264, pid))),
            0x01 | 0x02 => video = video.or(Some((Video::Mpeg, pid))),
            0x0f => audio = audio.or(Some((Audio::Adts, pid))),
            0x03 | 0x04 => audio = audio.or(Some((Audio::Mpeg, pid))),
            _ => {
                if let Some((place, name)) = foreign(kind, descriptors) {
                    other[place] = other[place].or(Some(name));
                }
            }
        }
    }
    match (video, audio, other) {
        (Some(video), Some(_), _) | (Some(video), None, [_, None]) => Ok(Program { video, audio }),
        (None, _, [Some(name), _]) | (Some(_), None, [_, Some(name)]) => Err(FormatError::new(format!(
            "{name} is not supported over RTSP; a transport stream is with H.264 or MPEG-1/2 video, AAC or MPEG audio"
        ))),
        (None, ..) => Err(FormatError::new("it has no video, only audio or data")),
    }
}

/// A codec that is not supported: 0 for video or 1 for audio, and its name. Other types are data.
fn foreign(kind: u8, descriptors: &[u8]) -> Option<(usize, &'static str)> {
    Some(match kind {
        0x10 => (0, "MPEG-4 part 2 video"),
        0x20 => (0, "H.264 with several views"),
        0x24 => (0, "H.265"),
        0x33 => (0, "H.266"),
        0x42 => (0, "AVS video"),
        0xea => (0, "VC-1"),
        0x11 => (1, "AAC in LATM"),
        0x81 => (1, "AC-3"),
        0x82 => (1, "DTS"),
        0x87 => (1, "E-AC-3"),
        // Private data, whose descriptor names the codec (ETSI EN 300 468 §6.1, Table 12).
        0x06 => match tags(descriptors).find(|tag| matches!(tag, 0x6a | 0x7a | 0x7b | 0x7f))? {
            0x6a => (1, "AC-3"),
            0x7a => (1, "E-AC-3"),
            0x7b => (1, "DTS"),
            _ => (1, "audio in private data"),
        },
        _ => return None,
    })
}

fn tags(mut descriptors: &[u8]) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let [tag, len, rest @ ..] = descriptors else { return None };
        descriptors = rest.get(usize::from(*len)..).unwrap_or_default();
        Some(*tag)
    })
}
