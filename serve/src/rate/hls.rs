//! HLS playlists (RFC 8216): renditions with their rates, or segments with their lengths.

use thalweg_core::time::Span;
use thalweg_core::units::Rate;

use super::FormatError;

/// Limit on links: more than a video of a day in segments of a second has.
const MAX_LINKS: usize = 100_000;

/// The contents of a playlist.
#[derive(Clone, PartialEq, Debug)]
pub enum Playlist {
    /// Playlists of the renditions (§4.3.4).
    Master {
        /// The peak rates (`BANDWIDTH`) and links of the renditions.
        renditions: Vec<(Rate, String)>,
        /// The links of renditions without a rate: other languages, subtitles.
        others: Vec<String>,
    },
    /// Segments (§4.3.3).
    Media(Media),
}

/// Segments of one rendition.
#[derive(Clone, PartialEq, Debug)]
pub struct Media {
    /// Duration of all segments together.
    pub length: Span,
    /// Links of the segments and of their initialization sections, without repetitions in a row.
    pub links: Vec<String>,
    /// Bytes of all segments, if they are ranges of files.
    pub bytes: Option<u64>,
}

impl Playlist {
    /// Parses a playlist.
    ///
    /// # Errors
    /// The text is not a playlist, or a number in it cannot be parsed.
    pub fn parse(text: &str) -> Result<Playlist, FormatError> {
        let mut lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().map(str::trim);
        if lines.next() != Some("#EXTM3U") {
            return Err(FormatError::new("not a playlist: its first line is not #EXTM3U"));
        }
        let mut found = Found::default();
        for (nth, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
            found.line(line).map_err(|why| FormatError::new(format!("line {}: {why}", nth + 2)))?;
        }
        Ok(match found.renditions.is_empty() {
            true => {
                let bytes = Some(found.bytes).filter(|&bytes| bytes > 0);
                Playlist::Media(Media { length: Span::from_nanos(found.nanos), links: found.links, bytes })
            }
            false => Playlist::Master { renditions: found.renditions, others: found.others },
        })
    }

    /// True if it names other playlists.
    pub fn is_master(&self) -> bool {
        matches!(self, Playlist::Master { .. })
    }

    /// All links in it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let (renditions, links) = match self {
            Playlist::Master { renditions, others } => (&renditions[..], others),
            Playlist::Media(media) => (&[][..], &media.links),
        };
        renditions.iter().map(|(_, link)| link).chain(links).map(String::as_str)
    }
}

#[derive(Default)]
struct Found {
    /// The rate of the rendition whose link comes next.
    rate: Option<Rate>,
    renditions: Vec<(Rate, String)>,
    others: Vec<String>,
    nanos: u64,
    bytes: u64,
    links: Vec<String>,
}

impl Found {
    fn line(&mut self, line: &str) -> Result<(), &'static str> {
        if let Some(attributes) = line.strip_prefix("#EXT-X-STREAM-INF:") {
            let rate = attribute(attributes, "BANDWIDTH").ok_or("EXT-X-STREAM-INF without BANDWIDTH")?;
            let bps = rate.parse().ok().filter(|&bps| bps > 0).ok_or("BANDWIDTH is not a number above zero")?;
            self.rate = Some(Rate::from_bps(bps));
        } else if let Some(attributes) = line.strip_prefix("#EXT-X-MEDIA:") {
            self.others.extend(attribute(attributes, "URI").map(str::to_owned));
        } else if let Some(attributes) = line.strip_prefix("#EXT-X-MAP:") {
            self.link(attribute(attributes, "URI").ok_or("EXT-X-MAP without URI")?);
        } else if let Some(length) = line.strip_prefix("#EXTINF:") {
            let seconds = length.split(',').next().and_then(|seconds| seconds.trim().parse::<f64>().ok());
            let seconds = seconds.filter(|seconds| (0.0..=1e6).contains(seconds)).ok_or("EXTINF is not a duration")?;
            self.nanos = self.nanos.saturating_add((seconds * 1e9) as u64);
        } else if let Some(range) = line.strip_prefix("#EXT-X-BYTERANGE:") {
            let bytes = range.split('@').next().and_then(|bytes| bytes.trim().parse::<u64>().ok());
            self.bytes = self.bytes.saturating_add(bytes.ok_or("EXT-X-BYTERANGE is not a number")?);
        } else if !line.starts_with('#') {
            match self.rate.take() {
                Some(rate) => self.renditions.push((rate, line.to_owned())),
                None => self.link(line),
            }
        }
        match self.links.len().max(self.renditions.len()).max(self.others.len()) {
            0..=MAX_LINKS => Ok(()),
            _ => Err("more than 100000 links"),
        }
    }

    fn link(&mut self, link: &str) {
        if self.links.last().is_none_or(|last| last != link) {
            self.links.push(link.to_owned());
        }
    }
}

/// The value of an attribute (§4.2), without its quotes.
fn attribute<'a>(mut list: &'a str, name: &str) -> Option<&'a str> {
    loop {
        let (known, rest) = list.split_once('=')?;
        let (value, rest) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => rest.split_at(rest.find(',').unwrap_or(rest.len())),
        };
        if known.trim() == name {
            return Some(value.trim());
        }
        list = rest.trim_start().strip_prefix(',')?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 8216 §8.4 and §8.6, together.
    #[test]
    fn renditions_have_their_bandwidth_and_quotes_may_hold_commas() {
        let text = "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"aac\",NAME=\"English, BANDWIDTH=7\",URI=\"main/en.m3u8\"\n\
                    #EXT-X-STREAM-INF:BANDWIDTH=1280000,CODECS=\"a,b\",AVERAGE-BANDWIDTH=1000000\nlow.m3u8\n\
                    # a comment\n#EXT-X-STREAM-INF:CODECS=\"mp4a.40.5\",BANDWIDTH=7680000\r\n\nhi.m3u8\n";
        let renditions = [(1_280_000, "low.m3u8"), (7_680_000, "hi.m3u8")];
        let renditions = renditions.map(|(bps, link)| (Rate::from_bps(bps), link.to_owned())).to_vec();
        assert_eq!(Playlist::parse(text), Ok(Playlist::Master { renditions, others: vec!["main/en.m3u8".to_owned()] }));
    }

    /// RFC 8216 §8.1.
    #[test]
    fn segment_durations_are_summed() {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n\n#EXTINF:9.009,\nfirst.ts\n#EXTINF:9.009,title\nsecond.ts\n\
                    #EXTINF:3.003\nthird.ts\n#EXT-X-ENDLIST";
        let links = ["first.ts", "second.ts", "third.ts"].map(str::to_owned).to_vec();
        let expected = Playlist::Media(Media { length: Span::from_millis(21_021), links, bytes: None });
        assert_eq!(Playlist::parse(text), Ok(expected));
    }

    #[test]
    fn byte_ranges_of_one_file_are_summed() {
        let text = "#EXTM3U\n#EXT-X-MAP:URI=\"a.mp4\",BYTERANGE=\"700@0\"\n#EXTINF:4,\n#EXT-X-BYTERANGE:1000@700\na.mp4\n\
                    #EXTINF:4,\n#EXT-X-BYTERANGE:3000\na.mp4\n";
        let links = vec!["a.mp4".to_owned()];
        let expected = Playlist::Media(Media { length: Span::from_secs(8), links, bytes: Some(4000) });
        assert_eq!(Playlist::parse(text), Ok(expected));
    }

    #[test]
    fn invalid_playlists_are_refused_with_the_line_number() {
        for (text, expected) in [
            ("", "#EXTM3U"),
            ("#EXTM3U\n#EXT-X-STREAM-INF:CODECS=\"a\"\na", "line 2: EXT-X-STREAM-INF without BANDWIDTH"),
            ("#EXTM3U\n\n#EXT-X-STREAM-INF:BANDWIDTH=0\na", "line 3: BANDWIDTH is not"),
            ("#EXTM3U\n#EXTINF:-1,\na", "line 2: EXTINF is not"),
            ("#EXTM3U\n#EXTINF:1e300,\na", "line 2: EXTINF is not"),
            ("#EXTM3U\n#EXT-X-BYTERANGE:x\na", "line 2: EXT-X-BYTERANGE is not"),
            ("#EXTM3U\n#EXT-X-MAP:URI=\"a\n", "line 2: EXT-X-MAP without URI"),
        ] {
            let refusal = Playlist::parse(text).expect_err(text).to_string();
            assert!(refusal.contains(expected) && refusal.lines().count() == 1, "{refusal}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_playlist_or_is_refused(
            lines in prop::collection::vec(r#"\PC{0,40}|#EXT(INF|-X-(STREAM-INF|MEDIA|MAP|BYTERANGE)):[A-Z0-9=,"@.-]{0,40}"#, 0..20)
        ) {
            let _ = Playlist::parse(&format!("#EXTM3U\n{}", lines.join("\n")));
            let _ = Playlist::parse(&lines.join("\n"));
        }
    }
}
