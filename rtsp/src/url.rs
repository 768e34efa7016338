//! URLs of RTSP (RFC 2326 §3.2), and those of a description relative to them (§C.1.1).

use std::fmt;
use std::str::FromStr;

/// The port where a URL names none (RFC 2326 §9.1).
const PORT: u16 = 554;
/// Limit on the length in bytes.
const MAX_LEN: usize = 4096;

/// The URL of a presentation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Url {
    text: String,
    host: String,
    port: u16,
}

/// The fault of a URL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed(pub &'static str);

impl Url {
    /// The name or address of the server, without the brackets of IPv6.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `HOST:PORT`, IPv6 in brackets.
    pub fn authority(&self) -> String {
        let Url { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }

    /// The URL as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}

impl FromStr for Url {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Url, Malformed> {
        if text.len() > MAX_LEN {
            return Err(Malformed("the URL is longer than 4096 bytes"));
        }
        if text.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return Err(Malformed("a URL has no spaces; write one as %20"));
        }
        let (scheme, rest) = text.split_once("://").ok_or(Malformed("expected rtsp://HOST[:PORT]/NAME"))?;
        match scheme.to_ascii_lowercase().as_str() {
            "rtsp" => {}
            "rtsps" => return Err(Malformed("RTSP over TLS is not implemented; use rtsp://")),
            _ => return Err(Malformed("expected rtsp://HOST[:PORT]/NAME")),
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if path.is_empty() {
            return Err(Malformed("no video is named; expected rtsp://HOST[:PORT]/NAME"));
        }
        if authority.contains('@') {
            return Err(Malformed("users and passwords are not implemented"));
        }
        let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, after)) => (host, after.strip_prefix(':').or(after.is_empty().then_some(""))),
            None => authority.split_once(':').map_or((authority, Some("")), |(host, port)| (host, Some(port))),
        };
        let port = match port.ok_or(Malformed("the host is malformed"))? {
            "" => PORT,
            port => port.parse().ok().filter(|port| *port > 0).ok_or(Malformed("the port is not 1 to 65535"))?,
        };
        if host.is_empty() {
            return Err(Malformed("the host is missing"));
        }
        Ok(Url { text: text.to_owned(), host: host.to_owned(), port })
    }
}

/// The URL that `control` of a description stands for. `base` is that of the description.
// Deviation(RFC 2326 §C.1.1): a base that does not end with a slash is the name of the presentation, to which the name of the
// track is appended. By RFC 1808 it would replace the last part of the base; servers that leave the slash out mean the former.
pub fn resolve(base: &str, control: &str) -> String {
    if control == "*" || control.is_empty() {
        return base.to_owned();
    }
    if control.contains("://") {
        return control.to_owned();
    }
    if control.starts_with('/') {
        let root = base.find("://").and_then(|scheme| base[scheme + 3..].find('/').map(|slash| scheme + 3 + slash));
        return format!("{}{control}", &base[..root.unwrap_or(base.len())]);
    }
    let slash = if base.ends_with('/') { "" } else { "/" };
    format!("{base}{slash}{control}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hosts_and_ports_are_found() {
        let of = |text: &str| text.parse::<Url>().map(|url| (url.host().to_owned(), url.port()));
        let is = |host: &str, port| Ok((host.to_owned(), port));
        assert_eq!(of("rtsp://media.example.com/twister/audiotrack"), is("media.example.com", 554));
        assert_eq!(of("RTSP://192.0.2.1:8554/a.mp4"), is("192.0.2.1", 8554));
        assert_eq!(of("rtsp://[2001:db8::1]/a"), is("2001:db8::1", 554));
        assert_eq!(of("rtsp://[2001:db8::1]:8554/a?b=c"), is("2001:db8::1", 8554));
        let authority = |text: &str| text.parse::<Url>().map(|url| url.authority());
        assert_eq!(authority("rtsp://a/b"), Ok("a:554".to_owned()));
        assert_eq!(authority("rtsp://[2001:db8::1]:8554/a"), Ok("[2001:db8::1]:8554".to_owned()));
    }

    #[test]
    fn malformed_urls_are_refused_with_a_reason() {
        let why = |text: &str| text.parse::<Url>().expect_err(text).0;
        assert_eq!(why("http://a/b"), "expected rtsp://HOST[:PORT]/NAME");
        assert_eq!(why("a.mp4"), "expected rtsp://HOST[:PORT]/NAME");
        assert_eq!(why("rtsps://a/b"), "RTSP over TLS is not implemented; use rtsp://");
        assert_eq!(why("rtsp://a"), "no video is named; expected rtsp://HOST[:PORT]/NAME");
        assert_eq!(why("rtsp://u:p@a/b"), "users and passwords are not implemented");
        assert_eq!(why("rtsp://a:0/b"), "the port is not 1 to 65535");
        assert_eq!(why("rtsp://:5/b"), "the host is missing");
        assert_eq!(why("rtsp://[::1]x/b"), "the host is malformed");
        assert_eq!(why("rtsp://a/b c"), "a URL has no spaces; write one as %20");
    }

    #[test]
    fn controls_are_relative_to_their_base() {
        // RFC 2326 §C.1.1 and §C.3.
        let base = "rtsp://audio.example.com/twister/";
        assert_eq!(resolve(base, "rtsp://other/audio"), "rtsp://other/audio");
        assert_eq!([resolve(base, "*"), resolve(base, "")], [base, base]);
        assert_eq!(resolve(base, "trackID=1"), "rtsp://audio.example.com/twister/trackID=1");
        assert_eq!(resolve("rtsp://h/a.mp4", "track1"), "rtsp://h/a.mp4/track1");
        assert_eq!(resolve(base, "/track1"), "rtsp://audio.example.com/track1");
        assert_eq!(resolve("rtsp://h", "/track1"), "rtsp://h/track1");
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_parsed_or_refused(text in "(rtsp://)?[a-z0-9:/@.\\[\\]]{0,20}\\PC{0,10}", control in "\\PC{0,20}") {
            let _ = text.parse::<Url>();
            resolve(&text, &control);
        }
    }
}
