//! The header `RTP-Info` (RFC 2326 §12.33): the first packet of each track after a PLAY.

/// The first packet of a track.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RtpInfo {
    /// Its sequence number.
    pub sequence: Option<u16>,
    /// The timestamp at the start of the range that is played.
    pub timestamp: Option<u32>,
}

/// The entries for tracks with these URLs, in their order.
pub(super) fn parse(header: &str, urls: &[String]) -> Vec<RtpInfo> {
    let mut found = vec![RtpInfo::default(); urls.len()];
    for (nth, entry) in header.split(',').enumerate() {
        let value = |name: &str| {
            let mut parameters = entry.split(';').filter_map(|parameter| parameter.trim().split_once('='));
            parameters.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
        };
        let url = value("url").unwrap_or_default();
        // Not all servers write the URL of SETUP; the order is that of the tracks.
        let is_of = |full: &&String| full.as_str() == url || !url.is_empty() && full.ends_with(&format!("/{url}"));
        let track = urls.iter().position(|full| is_of(&full)).unwrap_or(nth);
        if let Some(info) = found.get_mut(track) {
            let number = |name| value(name)?.parse::<u32>().ok();
            *info = RtpInfo { sequence: number("seq").map(|seq| seq as u16), timestamp: number("rtptime") };
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_their_urls() {
        // RFC 2326 §12.33.
        let header = "url=rtsp://foo.com/bar.avi/streamid=0;seq=45102,url=rtsp://foo.com/bar.avi/streamid=1;seq=30211";
        let url = |nth| format!("rtsp://foo.com/bar.avi/streamid={nth}");
        let of = |sequence| RtpInfo { sequence: Some(sequence), timestamp: None };
        assert_eq!(parse(header, &[url(0), url(1)]), [of(45102), of(30211)]);
        assert_eq!(parse(header, &[url(1), url(0)]), [of(30211), of(45102)]);
        let relative = "url=streamid=1;seq=1;rtptime=3450012";
        let found = RtpInfo { sequence: Some(1), timestamp: Some(3_450_012) };
        assert_eq!(parse(relative, &[url(0), url(1)]), [RtpInfo::default(), found]);
        assert_eq!(parse("url=x;seq=9;rtptime=a", &[url(1)]), [of(9)]);
        assert_eq!(parse("", &[url(1)]), [RtpInfo::default()]);
    }
}
