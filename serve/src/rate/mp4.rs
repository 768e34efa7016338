//! MP4 (ISO/IEC 14496-12): the length of a video, from its boxes, which with the size of the file gives its rate.
//!
//! The length is in `moov` (`mvhd`), of a fragmented video in `mehd` or in an index over all fragments (`sidx`).
//! Without these, it is the end of the last fragment. If `moov` has the samples (`stts`, `stsz`), a video that is
//! denser for a while gets more than its mean. Only heads of boxes and the few boxes among these are read.

mod fragments;
mod profile;

use std::io::{Read, Seek};

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

use self::fragments::Fragments;
use self::profile::BitRateProfile;
use super::{FormatError, mean};
use crate::mp4::boxes::{Boxes, Head, ticks};

/// The rate that playback needs: bytes over length, or more if the video is dense for longer than a player is ahead.
///
/// # Errors
/// The file is not MP4, is truncated, contradicts itself, or does not state its length.
pub fn rate(video: &mut (impl Read + Seek)) -> Result<Rate, FormatError> {
    let mut boxes = Boxes::new(video)?;
    let mut profile = BitRateProfile::default();
    let length = length(&mut boxes, &mut profile)?;
    let bytes = Bytes(boxes.len());
    Ok(mean(bytes, length)?.max(profile.rate(bytes, length)))
}

fn length(boxes: &mut Boxes<'_, impl Read + Seek>, profile: &mut BitRateProfile) -> Result<Span, FormatError> {
    let (mut fragments, mut has_moov, mut known, mut at) = (Fragments::default(), false, None, 0);
    while let Some(head) = boxes.head(at, boxes.len())? {
        match &head.kind {
            b"moov" => {
                has_moov = true;
                known = movie(boxes, head, &mut fragments, profile)?;
            }
            b"sidx" => {
                if let Some(length) = index(boxes, head)? {
                    return Ok(length);
                }
            }
            // Further boxes are only traversed, to check that none is cut off.
            b"moof" if known.is_none() => fragments.add(boxes, head)?,
            _ => {}
        }
        at = head.end;
    }
    match known.or_else(|| fragments.length()) {
        Some(length) => Ok(length),
        None if has_moov => Err(FormatError::new("it does not state its duration")),
        None => Err(FormatError::new("no moov box: the file is incomplete, or a segment of a video")),
    }
}

/// The length that `moov` states; none if fragments follow and it does not state theirs.
fn movie(
    boxes: &mut Boxes<'_, impl Read + Seek>,
    moov: Head,
    fragments: &mut Fragments,
    profile: &mut BitRateProfile,
) -> Result<Option<Span>, FormatError> {
    let (mut own, mut timescale, mut extended, mut whole) = (None, 0, false, None);
    boxes.each(moov, |boxes, head| {
        match &head.kind {
            b"mvhd" => (own, timescale) = boxes.body(head)?.times()?,
            b"trak" => {
                fragments.track(boxes, head)?;
                profile.track(boxes, head);
            }
            b"mvex" => {
                extended = true;
                boxes.each(head, |boxes, head| {
                    match &head.kind {
                        b"mehd" => {
                            let mut body = boxes.body(head)?;
                            let version = body.version()?;
                            whole = body.number(if version == 1 { 8 } else { 4 }).map(Some)?;
                        }
                        b"trex" => fragments.defaults(boxes.body(head)?)?,
                        _ => {}
                    }
                    Ok(())
                })?;
            }
            _ => {}
        }
        Ok(())
    })?;
    let refusal = if extended { whole.filter(|&ticks| ticks > 0) } else { own };
    refusal.map(|refusal| ticks(refusal, timescale)).transpose()
}

/// The length of an index that covers the video to its end, except for boxes without media after it.
fn index(boxes: &mut Boxes<'_, impl Read + Seek>, sidx: Head) -> Result<Option<Span>, FormatError> {
    let mut body = boxes.body(sidx)?;
    let width = if body.version()? == 1 { 8 } else { 4 };
    body.number(4)?;
    let timescale = body.number(4)?;
    body.number(width)?;
    let first = body.number(width)?;
    let (mut bytes, mut time) = (u128::from(sidx.end) + u128::from(first), 0_u64);
    body.number(2)?;
    for _ in 0..body.number(2)? {
        bytes += u128::from(body.number(4)? & 0x7fff_ffff);
        time += body.number(4)?;
        body.number(4)?;
    }
    // A table of random access (`mfra`) may follow the last fragment.
    let Some(rest) = u64::try_from(bytes).ok().filter(|&end| time > 0 && end <= boxes.len()) else { return Ok(None) };
    match boxes.head(rest, boxes.len()) {
        Ok(None) => ticks(time, timescale).map(Some),
        Ok(Some(head)) if &head.kind == b"mfra" => ticks(time, timescale).map(Some),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests;
