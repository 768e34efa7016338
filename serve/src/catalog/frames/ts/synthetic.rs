//! Transport streams made by hand after ISO/IEC 13818-1, for tests and the fuzzer.

use thalweg_mpegts::psi;

/// PIDs of the streams.
pub(crate) const VIDEO: u16 = 0x100;
pub(crate) const AUDIO: u16 = 0x101;
/// Stream types: H.264, MPEG-2 video, AAC in ADTS, MPEG audio.
pub(crate) const H264: u8 = 0x1b;
pub(crate) const MPEG2: u8 = 0x02;
pub(crate) const ADTS: u8 = 0x0f;
pub(crate) const MPEG_AUDIO: u8 = 0x03;

/// The PID of the program map table.
const MAP: u16 = 0x20;
/// Bytes of a packet's payload without an adaptation field.
const PAYLOAD: usize = 184;

/// Writes packets.
pub(crate) struct Muxer {
    pub(crate) bytes: Vec<u8>,
    /// Continuity counters of the two streams.
    pub(crate) counters: [u8; 2],
}

impl Muxer {
    /// A program with a stream of video and one of audio of these types.
    pub(crate) fn new(video: u8, audio: u8) -> Muxer {
        let mut muxer = Muxer { bytes: Vec::new(), counters: [0; 2] };
        muxer.section(0, 0, &[0, 1, 0xe0 | (MAP >> 8) as u8, MAP as u8]);
        let stream = |kind, pid: u16| [kind, 0xe0 | (pid >> 8) as u8, pid as u8, 0xf0, 0];
        let map = [&[0xe1, 0, 0xf0, 0][..], &stream(video, VIDEO), &stream(audio, AUDIO)].concat();
        muxer.section(2, MAP, &map);
        muxer
    }

    /// A packet with a whole section, whose body is between its common header and its checksum (§2.4.4).
    pub(crate) fn section(&mut self, table: u8, pid: u16, body: &[u8]) {
        let len = body.len() as u8 + 9;
        let mut section = [&[table, 0xb0, len, 0, 1, 0xc1, 0, 0][..], body].concat();
        section.extend(psi::crc(&section).to_be_bytes());
        section.resize(PAYLOAD - 1, 0xff);
        self.bytes.extend([0x47, 0x40 | (pid >> 8) as u8, pid as u8, 0x10, 0]);
        self.bytes.extend(section);
    }

    /// A PES packet, in as many packets as it takes; its times are those of display and decoding.
    pub(crate) fn pes(&mut self, pid: u16, times: Option<(u64, u64)>, payload: &[u8]) {
        let stamp = |mark: u64, at: u64| {
            let [.., a, b, c, d, e] = (mark << 36
                | (at >> 30 & 7) << 33
                | 1 << 32
                | (at >> 15 & 0x7fff) << 17
                | 1 << 16
                | (at & 0x7fff) << 1
                | 1)
            .to_be_bytes();
            [a, b, c, d, e]
        };
        let id = if pid == VIDEO { 0xe0 } else { 0xc0 };
        let header = match times {
            Some((display, decode)) => {
                [&[0, 0, 1, id, 0, 0, 0x80, 0xc0, 10][..], &stamp(3, display), &stamp(1, decode)].concat()
            }
            None => vec![0, 0, 1, id, 0, 0, 0x80, 0, 0],
        };
        let bytes = [&header, payload].concat();
        for (place, part) in bytes.chunks(PAYLOAD).enumerate() {
            self.packet(pid, place == 0, part);
        }
    }

    /// A packet with a payload of at most 184 bytes, filled up by an adaptation field.
    pub(crate) fn packet(&mut self, pid: u16, starts: bool, payload: &[u8]) {
        let counter = &mut self.counters[usize::from(pid == AUDIO)];
        let start = if starts { 0x40 } else { 0 };
        let has_field = if payload.len() < PAYLOAD { 0x20 } else { 0 };
        self.bytes.extend([0x47, start | (pid >> 8) as u8, pid as u8, 0x10 | has_field | *counter]);
        *counter = (*counter + 1) & 15;
        if let Some(more) = (PAYLOAD - payload.len()).checked_sub(1) {
            self.bytes.push(more as u8);
            self.bytes.extend(std::iter::repeat_n(0, more));
        }
        self.bytes.extend(payload);
    }
}
