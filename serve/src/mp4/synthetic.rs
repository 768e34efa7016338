//! Boxes and small videos made by hand, for tests.

/// A box of a type.
pub(crate) fn boxed(kind: &str, body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32 + 8).to_be_bytes(), kind.as_bytes(), body].concat()
}

/// Concatenates 32-bit numbers.
pub(crate) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// The tables of a track of H.264, which a test may change before the video is made.
#[derive(Clone)]
pub(crate) struct Tables {
    pub(crate) entry: Vec<u8>,
    pub(crate) stts: Vec<u32>,
    pub(crate) stss: Vec<u32>,
    pub(crate) stsc: Vec<u32>,
    pub(crate) stsz: Vec<u32>,
    /// Offsets of chunks from the first sample on.
    pub(crate) stco: Vec<u32>,
    pub(crate) edts: Vec<u8>,
    pub(crate) samples: Vec<Vec<u8>>,
}

/// A sample of one NAL unit: its header, and `slice_type` 7 (I), 5 (P) or 6 (B) of its first slice.
pub(crate) fn sample(header: u8, slice_type: u8) -> Vec<u8> {
    // first_mb_in_slice 0 is the bit 1, then an Exp-Golomb code of 5 or 7 bits (ITU-T H.264 §9.1).
    let code = match slice_type {
        7 => 0b1000_1000,
        5 => 0b1001_1000,
        _ => 0b1001_1100,
    };
    [&[0, 0, 0, 7, header, code][..], &[0x55; 5]].concat()
}

impl Tables {
    /// I P B B P at 25 frames a second, in one chunk.
    pub(crate) fn new() -> Tables {
        let samples = vec![sample(0x65, 7), sample(0x41, 5), sample(0x01, 6), sample(0x01, 6), sample(0x41, 5)];
        let avcc = [&[1, 0x42, 0, 0x1e, 0xff, 0xe1, 0, 5, 0x67, 0x42, 0, 0x1e, 1][..], &[1, 0, 2, 0x68, 1]].concat();
        Tables {
            entry: boxed("avc1", &[vec![0; 78], boxed("avcC", &avcc)].concat()),
            stts: vec![0, 1, 5, 40],
            stss: vec![0, 1, 1],
            stsc: vec![0, 1, 1, 5, 1],
            stsz: vec![0, 0, 5, 11, 11, 11, 11, 11],
            stco: vec![0],
            edts: Vec::new(),
            samples,
        }
    }

    /// The video: 1000 ticks a second.
    pub(crate) fn video(&self) -> Vec<u8> {
        let len = self.video_at(0).len() - self.samples.concat().len();
        self.video_at(len as u32)
    }

    fn video_at(&self, first: u32) -> Vec<u8> {
        let offsets: Vec<_> = self.stco.iter().map(|offset| offset.saturating_add(first)).collect();
        let stbl = [
            boxed("stsd", &[words(&[0, 1]), self.entry.clone()].concat()),
            boxed("stts", &words(&self.stts)),
            boxed("stss", &words(&self.stss)),
            boxed("stsc", &words(&self.stsc)),
            boxed("stsz", &words(&self.stsz)),
            boxed("stco", &words(&[&[0, offsets.len() as u32], &offsets[..]].concat())),
        ];
        let mdia = [
            boxed("mdhd", &words(&[0, 0, 0, 1000, 200])),
            boxed("hdlr", &[&words(&[0, 0])[..], b"vide", &[0; 13]].concat()),
            boxed("minf", &boxed("stbl", &stbl.concat())),
        ];
        let tkhd = boxed("tkhd", &words(&[0, 0, 0, 1]));
        let trak = boxed("trak", &[tkhd, self.edts.clone(), boxed("mdia", &mdia.concat())].concat());
        let moov = boxed("moov", &[boxed("mvhd", &words(&[0, 0, 0, 1000, 200])), trak].concat());
        [boxed("ftyp", b"isom"), moov, boxed("mdat", &self.samples.concat())].concat()
    }
}
