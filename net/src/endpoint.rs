//! Where media comes from and goes to, as people write it: `udp://239.1.1.1:5000?iface=eth0`, `file:film.ts`, `-`.

mod udp;

pub use udp::{Host, Udp};

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// An `--input` or an `--output`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Endpoint {
    /// Datagrams at an address.
    Udp(Framing, Udp),
    /// A file or a named pipe; an input may be repeated for ever.
    File {
        /// Its path.
        path: PathBuf,
        /// Whether it starts again at its end.
        repeat: bool,
    },
    /// Standard input or output.
    Stdio,
}

/// What the datagrams of a [`Endpoint::Udp`] are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// `udp://`: anything. Boundaries are kept, nobody looks inside.
    Opaque,
    /// `ts+udp://`: MPEG-TS, seven packets a datagram.
    Ts,
    /// `rtp://`: MPEG-TS in RTP (RFC 2250).
    Rtp,
}

/// Why an endpoint or a host could not be understood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError(String);

impl Endpoint {
    /// Reads an `--input`.
    ///
    /// # Errors
    /// It is none, or says how far to send.
    pub fn input(text: &str) -> Result<Endpoint, ParseError> {
        match text.parse()? {
            Endpoint::Udp(_, Udp { ttl: Some(_), .. }) => {
                Err(ParseError(format!("'{text}' has a ttl, which is for what is sent")))
            }
            input => Ok(input),
        }
    }

    /// Reads an `--output`.
    ///
    /// # Errors
    /// It is none, or only an input.
    pub fn output(text: &str) -> Result<Endpoint, ParseError> {
        match text.parse()? {
            Endpoint::Udp(_, Udp { host, .. }) if host.name.is_empty() || host.port == 0 => {
                Err(ParseError(format!("'{text}' is no output: that needs a host and a port")))
            }
            Endpoint::File { repeat: true, .. } => Err(ParseError(format!("'{text}': only an input can be looped"))),
            output => Ok(output),
        }
    }

    /// Its address, if it has one that can be found.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            Endpoint::Udp(_, udp) => udp.resolve().ok(),
            Endpoint::File { .. } | Endpoint::Stdio => None,
        }
    }
}

impl FromStr for Endpoint {
    type Err = ParseError;

    /// `udp://`, `ts+udp://` or `rtp://` with `HOST:PORT[?iface=NAME][&ttl=N]`; `file:PATH[?loop]`; `-`.
    fn from_str(text: &str) -> Result<Endpoint, ParseError> {
        const FRAMINGS: &[(&str, Framing)] =
            &[("udp://", Framing::Opaque), ("ts+udp://", Framing::Ts), ("rtp://", Framing::Rtp)];
        if text == "-" {
            return Ok(Endpoint::Stdio);
        }
        if let Some(path) = text.strip_prefix("file:") {
            let (path, repeat) = path.strip_suffix("?loop").map_or((path, false), |path| (path, true));
            return match path {
                "" => Err(ParseError(format!("'{text}' names no file"))),
                path => Ok(Endpoint::File { path: path.into(), repeat }),
            };
        }
        for (scheme, framing) in FRAMINGS {
            if let Some(rest) = text.strip_prefix(scheme) {
                return Ok(Endpoint::Udp(*framing, rest.parse()?));
            }
        }
        Err(ParseError(format!("'{text}' is none of udp://, ts+udp://, rtp://, file:PATH or -")))
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Udp(framing, udp) => write!(f, "{framing}{udp}"),
            Endpoint::File { path, .. } => write!(f, "file:{}", path.display()),
            Endpoint::Stdio => f.write_str("-"),
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
    fn every_form_of_the_manual_is_read_and_written_back() {
        for text in [
            "udp://127.0.0.1:5000",
            "ts+udp://239.1.1.1:5000?iface=eth0",
            "rtp://[ff15::1%eth0]:5000?ttl=4",
            "udp://239.1.1.1:5000?iface=eth0&ttl=2",
            "udp://studio.example:5000",
            "file:film.ts",
            "file:/a path/with ?marks.ts",
            "-",
        ] {
            assert_eq!(text.parse::<Endpoint>().expect(text).to_string(), text);
        }
        assert_eq!("file:a.ts?loop".parse(), Ok(Endpoint::File { path: "a.ts".into(), repeat: true }));
        assert_eq!("udp://@239.1.1.1:5000".parse::<Endpoint>(), "udp://239.1.1.1:5000".parse());
        assert_eq!("udp://:5000".parse::<Endpoint>().expect("any address").to_string(), "udp://:5000");
    }

    #[test]
    fn nothing_else_is() {
        for text in [
            "",
            "film.ts",
            "file:",
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
            assert!(text.parse::<Endpoint>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_input_is_told_from_an_output() {
        for text in ["udp://127.0.0.1:0", "udp://:5000", "file:a.ts?loop", "udp://239.1.1.1:0?iface=lo"] {
            assert!(Endpoint::input(text).is_ok() && Endpoint::output(text).is_err(), "{text}");
        }
        let distant = "rtp://239.1.1.1:5000?ttl=3";
        assert!(Endpoint::input(distant).is_err() && Endpoint::output(distant).is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_an_endpoint_that_is_written_back_or_an_error(
            text in r"\PC*|((ts\+)?udp|rtp)://@?\[?[a-z0-9.:%\]@]{0,12}:[0-9]{0,6}/?(\?\PC{0,12})?|file:\PC*",
        ) {
            if let Ok(endpoint) = text.parse::<Endpoint>() {
                let again = match endpoint.clone() {
                    Endpoint::File { path, .. } => Endpoint::File { path, repeat: false },
                    other => other,
                };
                // A path may itself end in what asks for a loop.
                if !endpoint.to_string().ends_with("?loop") {
                    prop_assert_eq!(endpoint.to_string().parse::<Endpoint>(), Ok(again));
                }
            }
            let _ = text.parse::<Host>();
        }
    }
}
