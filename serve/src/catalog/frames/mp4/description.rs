//! Sample descriptions (`stsd`): H.264 in `avc1` with its `avcC` (ISO/IEC 14496-15 §5.3.3), AAC in `mp4a` with its
//! `esds` (ISO/IEC 14496-14 §3.1.2, descriptors of ISO/IEC 14496-1 §7.2.6).

use std::io::{Read, Seek};

use thalweg_mpegts::aac;

use super::super::{Codec, Framing};
use crate::mp4::boxes::{Body, Boxes, Head};
use crate::rate::FormatError;

/// Bytes of a visual sample entry before its boxes (ISO/IEC 14496-12 §12.1.3).
const VISUAL: u64 = 78;
/// Bytes of an audio sample entry before its boxes (§12.2.3), and how many more QuickTime's versions 1 and 2 have.
const AUDIO: u64 = 28;
const AUDIO_MORE: [u64; 3] = [0, 16, 36];

/// Tags of descriptors, and the object types of MPEG-4 AAC and of the three profiles of MPEG-2 AAC.
const ES: u8 = 3;
const DECODER_CONFIG: u8 = 4;
const DECODER_SPECIFIC: u8 = 5;
const AAC: [u8; 4] = [0x40, 0x66, 0x67, 0x68];

/// The codec of a track, and the form of its samples.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Description {
    pub(super) codec: Codec,
    pub(super) framing: Framing,
    /// The clock rate of RTP timestamps in hertz.
    pub(super) clock: u32,
}

impl Description {
    /// Reads an `stsd`.
    pub(super) fn read(boxes: &mut Boxes<'_, impl Read + Seek>, stsd: Head) -> Result<Description, FormatError> {
        let mut found = None;
        boxes.each(stsd.after(8)?, |boxes, head| {
            if found.is_some() {
                return Err(FormatError::new("a track has more than one sample description"));
            }
            found = Some(match &head.kind {
                b"avc1" => avc1(boxes, head)?,
                b"mp4a" => mp4a(boxes, head)?,
                other => return Err(unsupported(&name(*other))),
            });
            Ok(())
        })?;
        found.ok_or_else(|| FormatError::new("a track without a sample description"))
    }
}

fn avc1(boxes: &mut Boxes<'_, impl Read + Seek>, entry: Head) -> Result<Description, FormatError> {
    let mut found = None;
    boxes.each(entry.after(VISUAL)?, |boxes, head| {
        if &head.kind == b"avcC" {
            found = Some(avcc(boxes.body(head)?)?);
        }
        Ok(())
    })?;
    found.ok_or_else(|| FormatError::new("H.264 without its parameters (avcC)"))
}

fn avcc(mut body: Body) -> Result<Description, FormatError> {
    body.number(4)?;
    let width = (body.number(1)? & 3) as u8 + 1;
    let mut sets = |mask| -> Result<Vec<Vec<u8>>, FormatError> {
        let count = body.number(1)? & mask;
        (0..count)
            .map(|_| {
                let len = body.number(2)? as usize;
                body.bytes(len).map(<[u8]>::to_vec)
            })
            .collect()
    };
    let (sps, pps) = (sets(0x1f)?, sets(0xff)?);
    if sps.is_empty() || pps.is_empty() || sps.iter().any(|set| set.len() < 4) || pps.iter().any(Vec::is_empty) {
        return Err(FormatError::new("H.264 without parameter sets in its avcC box"));
    }
    Ok(Description { codec: Codec::H264 { sps, pps }, framing: Framing::Lengths(width), clock: 90_000 })
}

fn mp4a(boxes: &mut Boxes<'_, impl Read + Seek>, entry: Head) -> Result<Description, FormatError> {
    let mut fields = boxes.body(entry)?;
    fields.skip(8);
    let more = AUDIO_MORE.get(fields.number(2)? as usize);
    let more = more.ok_or_else(|| FormatError::new("a description of audio of an unknown version"))?;
    let inside = entry.after(AUDIO + more)?;
    let mut esds = None;
    boxes.each(inside, |boxes, head| {
        match &head.kind {
            b"esds" => esds = Some(boxes.body(head)?),
            // QuickTime's: the same box a level deeper.
            b"wave" => boxes.each(head, |boxes, head| {
                if &head.kind == b"esds" {
                    esds = Some(boxes.body(head)?);
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    })?;
    descriptors(esds.ok_or_else(|| FormatError::new("AAC without its parameters (esds)"))?)
}

/// Reads descriptors, of which each but the last has fields of its own before the next.
fn descriptors(mut esds: Body) -> Result<Description, FormatError> {
    esds.version()?;
    length(&mut esds, ES)?;
    esds.number(2)?;
    let flags = esds.number(1)?;
    esds.skip(if flags & 0x80 == 0 { 0 } else { 2 });
    if flags & 0x40 != 0 {
        let url = esds.number(1)? as usize;
        esds.skip(url);
    }
    esds.skip(if flags & 0x20 == 0 { 0 } else { 2 });
    length(&mut esds, DECODER_CONFIG)?;
    match esds.number(1)? as u8 {
        kind if AAC.contains(&kind) => {}
        0x69 | 0x6b => return Err(unsupported("MPEG audio in MP4")),
        kind => return Err(unsupported(&format!("audio of object type {kind:#x}"))),
    }
    esds.skip(12);
    let len = length(&mut esds, DECODER_SPECIFIC)?;
    let config = esds.bytes(len)?.to_vec();
    let parameters = aac::Config::parse(&config);
    let parameters = parameters.map_err(|_| FormatError::new("AAC with an invalid AudioSpecificConfig"))?;
    let codec = Codec::Aac { config, channels: parameters.channels() };
    Ok(Description { codec, framing: Framing::Plain, clock: parameters.rate() })
}

/// Reads the header of a descriptor; its length.
fn length(esds: &mut Body, wanted: u8) -> Result<usize, FormatError> {
    let tag = esds.number(1)?;
    if tag != u64::from(wanted) {
        return Err(FormatError::new(format!("box esds has descriptor {tag} in place of {wanted}")));
    }
    let mut len = 0;
    for _ in 0..4 {
        let byte = esds.number(1)? as usize;
        len = len << 7 | byte & 0x7f;
        if byte & 0x80 == 0 {
            return Ok(len);
        }
    }
    Err(FormatError::new("box esds has a descriptor whose length does not end"))
}

/// The usual name of a sample entry that is refused.
fn name(kind: [u8; 4]) -> String {
    let name = match &kind {
        b"avc2" | b"avc3" | b"avc4" => "H.264 with parameters in its samples",
        b"hvc1" | b"hev1" | b"dvh1" | b"dvhe" => "H.265",
        b"av01" => "AV1",
        b"vp08" => "VP8",
        b"vp09" => "VP9",
        b"mp4v" => "MPEG-4 part 2 video",
        b"encv" | b"enca" => "encrypted media",
        b"ac-3" => "AC-3",
        b"ec-3" => "E-AC-3",
        b"Opus" => "Opus",
        b"fLaC" => "FLAC",
        b"alac" => "ALAC",
        b".mp3" => "MPEG audio",
        _ => return format!("codec {}", kind.escape_ascii()),
    };
    format!("{name} ({})", kind.escape_ascii())
}

fn unsupported(what: &str) -> FormatError {
    FormatError::new(format!("{what} is not supported over RTSP; MP4 is with H.264 (avc1) and AAC (mp4a)"))
}
