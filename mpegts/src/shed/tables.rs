//! The streams of video that the tables of a transport stream name.

use std::collections::BTreeMap;

use super::picture::Codec;
use super::video::Video;
use crate::packet::Packet;
use crate::psi::{Entry, Section, entries, maps};

/// Limit on the programs of a stream, and on its streams of video.
const MAX_PROGRAMS: usize = 64;
/// The PIDs below are of tables (Table 2-3).
const FIRST_PID: u16 = 0x10;
/// The PID of the program association table.
const ASSOCIATION: u16 = 0;

/// The tables while they arrive.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Tables {
    association: Section,
    /// The program map tables by their PIDs.
    maps: BTreeMap<u16, Section>,
}

impl Tables {
    /// True if `pid` is that of a table.
    pub(super) fn contains(&self, pid: u16) -> bool {
        pid < FIRST_PID || self.maps.contains_key(&pid)
    }

    /// Takes a packet of a table, and keeps in `videos` the streams of video that the tables name.
    pub(super) fn push(&mut self, packet: &Packet, videos: &mut BTreeMap<u16, Video>) {
        let pid = packet.pid();
        if pid == ASSOCIATION {
            let Some(section) = self.association.push(packet, 0) else { return };
            let named: Vec<u16> = maps(section).filter(|pid| *pid >= FIRST_PID).take(MAX_PROGRAMS).collect();
            self.maps.retain(|pid, _| named.contains(pid));
            for pid in named {
                self.maps.entry(pid).or_default();
            }
            videos.retain(|pid, video| self.maps.contains_key(&video.map) && !self.maps.contains_key(pid));
        } else if let Some(named) = self.videos(packet) {
            videos.retain(|of, video| video.map != pid || named.contains_key(of));
            for (of, codec) in named.into_iter().filter(|(of, _)| !self.contains(*of)) {
                let is_below_limit = videos.len() < MAX_PROGRAMS;
                match videos.get_mut(&of) {
                    Some(video) => video.set_codec(codec),
                    None if is_below_limit => drop(videos.insert(of, Video::new(pid, codec))),
                    None => {}
                }
            }
        }
    }

    /// The streams of video of the program map table that `packet` completes, if it does.
    fn videos(&mut self, packet: &Packet) -> Option<BTreeMap<u16, Codec>> {
        let section = self.maps.get_mut(&packet.pid())?.push(packet, 2)?;
        let entries = entries(section).ok()?;
        let is_other = |pid| entries.iter().any(|entry| entry.pid == pid && codec(entry).is_none());
        let videos = entries.iter().filter(|entry| !is_other(entry.pid));
        Some(videos.filter_map(|entry| codec(entry).map(|codec| (entry.pid, codec))).collect())
    }
}

/// The codec of a stream of video, by its type (Table 2-34); none of another stream.
fn codec(entry: &Entry<'_>) -> Option<Codec> {
    match entry.kind {
        0x1b => Some(Codec::H264),
        0x01 | 0x02 => Some(Codec::Mpeg),
        // MPEG-4 part 2, H.265, H.266, AVS, AVS2, AVS3, VC-1.
        0x10 | 0x24 | 0x33 | 0x42 | 0xd2 | 0xd4 | 0xea => Some(Codec::Other),
        _ => None,
    }
}
