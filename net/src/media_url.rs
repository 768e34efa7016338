//! Media inputs and outputs as command-line arguments: `udp://239.1.1.1:5000?iface=eth0`, `file:video.ts`, `-`.

mod udp;

pub use udp::{Host, Udp};

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use thalweg_core::units::Rate;

/// An `--input` or an `--output`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MediaUrl {
    /// Datagrams at an address.
    Udp(Framing, Udp),
    /// A file or a named pipe; an input may be repeated for ever.
    File {
        /// The path.
        path: PathBuf,
        /// True if the input starts again at its end.
        repeat: bool,
    },
    /// Standard input or output.
    Stdio,
    /// An encoder as an input: a command of the shell.
    Exec {
        /// The command.
        command: String,
        /// The media rate at which it begins.
        start: Rate,
        /// The media rate below which it is never asked to go.
        least: Rate,
    },
}

/// The default of [`MediaUrl::Exec`]'s `start`.
pub const START_RATE: Rate = Rate::from_mbps(1);
/// The default of [`MediaUrl::Exec`]'s `least`.
pub const LEAST_RATE: Rate = Rate::from_bps(300_000);

/// The forms of inputs, and of outputs.
const INPUTS: &str = "udp://, ts+udp://, rtp://, file:PATH, exec:COMMAND and -";
const OUTPUTS: &str = "udp://, ts+udp://, rtp://, file:PATH and -";

/// The contents of the datagrams of an [`MediaUrl::Udp`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// `udp://`: any payload. Datagram boundaries are kept; contents are inspected only if a datagram is too long.
    Opaque,
    /// `ts+udp://`: MPEG-TS, seven packets a datagram.
    Ts,
    /// `rtp://`: MPEG-TS in RTP (RFC 2250).
    Rtp,
}

/// The reason that an endpoint or a host could not be parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError(String);

impl MediaUrl {
    /// Parses an `--input`.
    ///
    /// # Errors
    /// The text is not an endpoint, or has a `ttl`.
    pub fn input(text: &str) -> Result<MediaUrl, ParseError> {
        match text.parse()? {
            MediaUrl::Udp(_, Udp { ttl: Some(_), .. }) => {
                Err(ParseError(format!("'{text}': ttl cannot be used with an input")))
            }
            input => Ok(input),
        }
    }

    /// Parses an `--output`.
    ///
    /// # Errors
    /// The text is not an endpoint, or fits an input only.
    pub fn output(text: &str) -> Result<MediaUrl, ParseError> {
        match MediaUrl::parse(text, OUTPUTS)? {
            MediaUrl::Udp(_, Udp { host, .. }) if host.name.is_empty() || host.port == 0 => {
                Err(ParseError(format!("'{text}' is not an output, which needs a host and a port")))
            }
            MediaUrl::File { repeat: true, .. } => Err(ParseError(format!("'{text}': only an input can be looped"))),
            MediaUrl::Exec { .. } => {
                Err(ParseError(format!("'{text}': a command is an input; pipe the output - to it")))
            }
            output => Ok(output),
        }
    }

    /// Parses any of the forms; `forms` are those of which an error reminds.
    fn parse(text: &str, forms: &str) -> Result<MediaUrl, ParseError> {
        const FRAMINGS: &[(&str, Framing)] =
            &[("udp://", Framing::Opaque), ("ts+udp://", Framing::Ts), ("rtp://", Framing::Rtp)];
        if text == "-" {
            return Ok(MediaUrl::Stdio);
        }
        if let Some(path) = text.strip_prefix("file:") {
            let (path, repeat) = path.strip_suffix("?loop").map_or((path, false), |path| (path, true));
            return match path {
                "" => Err(ParseError(format!("'{text}' has no file name"))),
                path => Ok(MediaUrl::File { path: path.into(), repeat }),
            };
        }
        if let Some(command) = text.strip_prefix("exec:") {
            return match command.trim() {
                "" => Err(ParseError(format!("'{text}' has no command"))),
                _ => Ok(MediaUrl::Exec { command: command.to_owned(), start: START_RATE, least: LEAST_RATE }),
            };
        }
        for (scheme, framing) in FRAMINGS {
            if let Some(rest) = text.strip_prefix(scheme) {
                return Ok(MediaUrl::Udp(*framing, rest.parse()?));
            }
        }
        // A path of a file.
        let file =
            if text.is_empty() || text.contains("://") { String::new() } else { format!("; for a file: file:{text}") };
        Err(ParseError(format!("'{text}' is not one of {forms}{file}")))
    }

    /// The address of a UDP endpoint, if its host can be resolved.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            MediaUrl::Udp(_, udp) => udp.resolve().ok(),
            MediaUrl::File { .. } | MediaUrl::Stdio | MediaUrl::Exec { .. } => None,
        }
    }
}

impl FromStr for MediaUrl {
    type Err = ParseError;

    /// Parses `udp://`, `ts+udp://` or `rtp://` with `HOST:PORT[?iface=NAME][&ttl=N]`; `file:PATH[?loop]`; `-`;
    /// `exec:COMMAND`.
    fn from_str(text: &str) -> Result<MediaUrl, ParseError> {
        MediaUrl::parse(text, INPUTS)
    }
}

impl fmt::Display for MediaUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MediaUrl::Udp(framing, udp) => write!(f, "{framing}{udp}"),
            MediaUrl::File { path, .. } => write!(f, "file:{}", path.display()),
            MediaUrl::Stdio => f.write_str("-"),
            MediaUrl::Exec { command, .. } => write!(f, "exec:{command}"),
        }
    }
}

impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Framing::Opaque => "udp://",
            Framing::Ts => "ts+udp://",
            Framing::Rtp => "rtp://",
        })
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn documented_forms_are_parsed_and_formatted_back() {
        for text in [
            "udp://127.0.0.1:5000",
            "ts+udp://239.1.1.1:5000?iface=eth0",
            "rtp://[ff15::1%eth0]:5000?ttl=4",
            "udp://239.1.1.1:5000?iface=eth0&ttl=2",
            "udp://studio.example:5000",
            "file:video.ts",
            "file:/a path/with ?marks.ts",
            "exec:ffmpeg -i 'a b.mp4' -f mpegts - | cat",
            "-",
        ] {
            assert_eq!(text.parse::<MediaUrl>().expect(text).to_string(), text);
        }
        assert_eq!("file:a.ts?loop".parse(), Ok(MediaUrl::File { path: "a.ts".into(), repeat: true }));
        assert_eq!("udp://@239.1.1.1:5000".parse::<MediaUrl>(), "udp://239.1.1.1:5000".parse());
        assert_eq!("udp://:5000".parse::<MediaUrl>().expect("any address").to_string(), "udp://:5000");
    }

    #[test]
    fn other_forms_are_refused() {
        for text in [
            "",
            "video.ts",
            "file:",
            "exec:",
            "exec: ",
            "http://127.0.0.1:5000",
            "udp://127.0.0.1",
            "udp://127.0.0.1:65536",
            "udp://::1:5000",
            "udp://[@]:5000",
            "udp://[localhost]:5000",
            "udp://a@b:5000",
            "udp://127.0.0.1:5000?ttl=256",
            "udp://127.0.0.1:5000?interface=eth0",
            "udp://127.0.0.1:5000?iface=",
        ] {
            assert!(text.parse::<MediaUrl>().is_err(), "{text}");
        }
    }

    #[test]
    fn inputs_and_outputs_are_distinguished() {
        for text in ["udp://127.0.0.1:0", "udp://:5000", "file:a.ts?loop", "udp://239.1.1.1:0?iface=lo"] {
            assert!(MediaUrl::input(text).is_ok() && MediaUrl::output(text).is_err(), "{text}");
        }
        let refusal = |parsed: Result<MediaUrl, ParseError>| parsed.expect_err("no scheme").to_string();
        assert_eq!(
            refusal(MediaUrl::output("/a/b.ts")),
            "'/a/b.ts' is not one of udp://, ts+udp://, rtp://, file:PATH and -; for a file: file:/a/b.ts"
        );
        assert!(refusal(MediaUrl::input("http://a/b")).ends_with("file:PATH, exec:COMMAND and -"));
        let distant = "rtp://239.1.1.1:5000?ttl=3";
        assert!(MediaUrl::input(distant).is_err() && MediaUrl::output(distant).is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_formatted_back_or_refused(
            text in r"\PC*|((ts\+)?udp|rtp)://@?\[?[a-z0-9.:%\]@]{0,12}:[0-9]{0,6}/?(\?\PC{0,12})?|file:\PC*",
        ) {
            if let Ok(media_url) = text.parse::<MediaUrl>() {
                let again = match media_url.clone() {
                    MediaUrl::File { path, .. } => MediaUrl::File { path, repeat: false },
                    other => other,
                };
                // A path may itself end in `?loop`.
                if !media_url.to_string().ends_with("?loop") {
                    prop_assert_eq!(media_url.to_string().parse::<MediaUrl>(), Ok(again));
                }
            }
            let _ = text.parse::<Host>();
        }
    }
}
