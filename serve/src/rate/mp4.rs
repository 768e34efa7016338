//! MP4 (ISO/IEC 14496-12): how long a film is, from its boxes; with the length of the file that is its rate.
//!
//! `moov` says it (`mvhd`), in films of fragments `mehd` or an index over all of them (`sidx`). Where none does, the last
//! fragment tells when it ends. Where `moov` has the samples (`stts`, `stsz`), a film that is denser for a while gets more than
//! its mean. Only heads of boxes and the few among these are read.

mod boxes;
mod course;
mod fragments;

use std::io::{Read, Seek};

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

use self::boxes::{Boxes, Head, ticks};
use self::course::Course;
use self::fragments::Fragments;
use super::{Wrong, mean};

/// What playing a film needs: its bytes over its time, or more where it is dense for longer than a player is ahead.
///
/// # Errors
/// It is no MP4, is cut off, contradicts itself, or does not say how long it is.
pub fn rate(film: &mut (impl Read + Seek)) -> Result<Rate, Wrong> {
    let mut boxes = Boxes::new(film)?;
    let mut course = Course::default();
    let length = length(&mut boxes, &mut course)?;
    let bytes = Bytes(boxes.len());
    Ok(mean(bytes, length)?.max(course.rate(bytes, length)))
}

fn length(boxes: &mut Boxes<'_, impl Read + Seek>, course: &mut Course) -> Result<Span, Wrong> {
    let (mut fragments, mut has_moov, mut known, mut at) = (Fragments::default(), false, None, 0);
    while let Some(head) = boxes.head(at, boxes.len())? {
        match &head.kind {
            b"moov" => {
                has_moov = true;
                known = movie(boxes, head, &mut fragments, course)?;
            }
            b"sidx" => {
                if let Some(length) = index(boxes, head)? {
                    return Ok(length);
                }
            }
            // Those behind are only looked at for whether all of them are there.
            b"moof" if known.is_none() => fragments.add(boxes, head)?,
            _ => {}
        }
        at = head.end;
    }
    match known.or_else(|| fragments.length()) {
        Some(length) => Ok(length),
        None if has_moov => Err(Wrong::new("it does not say how long it is")),
        None => Err(Wrong::new("it has no moov: it was not written to its end, or is a piece of a film")),
    }
}

/// The length that `moov` tells; none where fragments follow and it does not tell theirs.
fn movie(
    boxes: &mut Boxes<'_, impl Read + Seek>,
    moov: Head,
    fragments: &mut Fragments,
    course: &mut Course,
) -> Result<Option<Span>, Wrong> {
    let (mut own, mut timescale, mut extended, mut whole) = (None, 0, false, None);
    boxes.each(moov, |boxes, head| {
        match &head.kind {
            b"mvhd" => (own, timescale) = boxes.body(head)?.times()?,
            b"trak" => {
                fragments.track(boxes, head)?;
                course.track(boxes, head);
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
    let told = if extended { whole.filter(|&ticks| ticks > 0) } else { own };
    told.map(|told| ticks(told, timescale)).transpose()
}

/// The length of an index that covers the film to its end, but for boxes without media behind it.
fn index(boxes: &mut Boxes<'_, impl Read + Seek>, sidx: Head) -> Result<Option<Span>, Wrong> {
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
    // A table of random access (`mfra`) may stand behind the last fragment.
    let Some(rest) = u64::try_from(bytes).ok().filter(|&end| time > 0 && end <= boxes.len()) else { return Ok(None) };
    match boxes.head(rest, boxes.len()) {
        Ok(None) => ticks(time, timescale).map(Some),
        Ok(Some(head)) if &head.kind == b"mfra" => ticks(time, timescale).map(Some),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests;
