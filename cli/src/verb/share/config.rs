//! The configuration file of `thalweg share`.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use thalweg_core::law::rate::share::{Coupling, Norm, need_of_screen};
use thalweg_core::units::Rate;
use thalweg_net::endpoint::{MAX_STREAMS, Plan, Planned};
use thalweg_net::media_url::{Host, MediaUrl};
use toml::{Table, Value};

use super::options;
use crate::failure::Failure;

/// The longest name of a stream or a group.
const MAX_NAME: usize = 64;
/// The largest side of a screen, in pixels.
const MAX_SIDE: u32 = 65_535;

/// A parsed configuration.
#[derive(Debug)]
pub(super) struct Configuration {
    pub(super) plan: Plan,
    /// The local address to send from.
    pub(super) bind: Option<Host>,
}

impl Configuration {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// The key that is wrong, and the reason; or the name of a receiver is not known.
    pub(super) fn parse(text: &str) -> Result<Configuration, Failure> {
        let mut table: Table = text.parse().map_err(|error: toml::de::Error| usage(one_line(&error, text)))?;
        let coupling = parsed(&mut table, "coupling")?.unwrap_or(Coupling::Measured);
        let norm = parsed(&mut table, "norm")?.unwrap_or(Norm::Sum);
        let bind = parsed(&mut table, "bind")?;
        let streams = match table.remove("stream") {
            Some(Value::Array(streams)) if !streams.is_empty() => streams,
            Some(_) => return Err(usage("stream: must be tables, each begun by [[stream]]")),
            None => return Err(usage("stream: none is given; begin each with [[stream]]")),
        };
        if streams.len() > MAX_STREAMS {
            return Err(usage(format!("stream: {} of them, at most {MAX_STREAMS} are possible", streams.len())));
        }
        // The rest are options for all streams.
        options::check(&table, &OWN).map_err(usage)?;
        let mut plan = Plan { streams: Vec::with_capacity(streams.len()), coupling, norm };
        for (nth, stream) in (1..).zip(streams) {
            let Value::Table(stream) = stream else { return Err(usage("stream: must be tables")) };
            let name = stream
                .get("name")
                .and_then(Value::as_str)
                .map_or(format!("stream {nth}"), |name| format!("stream '{name}'"));
            plan.streams.push(planned(stream, &table).map_err(|failure| of_stream(&name, failure))?);
        }
        check_unique(&plan.streams)?;
        Ok(Configuration { plan, bind })
    }
}

/// Keys beside the options, of the file and of a stream.
const OWN: [&str; 4] = ["coupling", "norm", "bind", "stream"];
const OF_STREAM: [&str; 5] = ["name", "need", "screen", "most", "group"];

/// A stream from its table, with the options for all.
fn planned(mut stream: Table, defaults: &Table) -> Result<Planned, Failure> {
    options::check(&stream, &OF_STREAM).map_err(usage)?;
    let name = name(&mut stream, "name")?.ok_or_else(|| usage("name: is missing"))?;
    let group = name_or(&mut stream, "group", "default")?;
    let need = need(&mut stream)?;
    let most = parsed(&mut stream, "most")?.unwrap_or(need);
    if most < need {
        return Err(usage(format!("most: {most} is below the need, {need}")));
    }
    for key in ["input", "to"] {
        if !stream.contains_key(key) {
            return Err(usage(format!("{key}: is missing")));
        }
    }
    let mut all = defaults.clone();
    all.extend(stream);
    let one = options::parse(&all)?.one_of()?;
    Ok(Planned { name, group, need, most, input: one.input, config: one.config, retry: one.retry, shed: one.shed })
}

/// The need, as a rate or by a screen.
fn need(stream: &mut Table) -> Result<Rate, Failure> {
    let screen: Option<String> = parsed(stream, "screen")?;
    match (parsed::<Rate>(stream, "need")?, screen) {
        (Some(_), Some(_)) => Err(usage("need: excludes screen")),
        (Some(need), None) if need.as_bps() == 0 => Err(usage("need: must be above zero")),
        (Some(need), None) => Ok(need),
        (None, Some(screen)) => {
            let side = |side: &str| side.trim().parse().ok().filter(|side| (1..=MAX_SIDE).contains(side));
            let sides = screen.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
            let (width, height) =
                sides.ok_or_else(|| usage(format!("screen: '{screen}' is not WIDTHxHEIGHT, as in 1920x1080")))?;
            Ok(need_of_screen(width, height))
        }
        (None, None) => Err(usage("need: is missing; give a bit rate, or screen = \"WIDTHxHEIGHT\"")),
    }
}

/// The value of `key`, removed from the table.
fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(table: &mut Table, key: &str) -> Result<Option<T>, Failure> {
    let Some(value) = table.remove(key) else { return Ok(None) };
    let Value::String(text) = value else { return Err(usage(format!("{key}: must be text in quotes"))) };
    text.parse().map(Some).map_err(|error| usage(format!("{key}: {error}")))
}

fn name(table: &mut Table, key: &str) -> Result<Option<String>, Failure> {
    let name: Option<String> = parsed(table, key)?;
    match name {
        Some(name) if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control) => {
            Err(usage(format!("{key}: must be 1 to {MAX_NAME} printable characters")))
        }
        name => Ok(name),
    }
}

fn name_or(table: &mut Table, key: &str, default: &str) -> Result<String, Failure> {
    Ok(name(table, key)?.unwrap_or_else(|| default.to_owned()))
}

/// Refuses two streams of one name or receiver, and receivers that one socket cannot reach.
fn check_unique(streams: &[Planned]) -> Result<(), Failure> {
    let (mut names, mut receivers): (BTreeMap<&str, ()>, BTreeMap<SocketAddr, &str>) = Default::default();
    for stream in streams {
        let (name, to) = (stream.name.as_str(), stream.config.to);
        if names.insert(name, ()).is_some() {
            return Err(usage(format!("stream '{name}': name: another stream has it")));
        }
        if let Some(other) = receivers.insert(to, name) {
            return Err(usage(format!("stream '{name}': to: {to} is the receiver of '{other}'")));
        }
        if stream.input == MediaUrl::Stdio && streams.iter().filter(|other| other.input == MediaUrl::Stdio).count() > 1
        {
            return Err(usage(format!("stream '{name}': input: another stream reads standard input")));
        }
        if to.is_ipv4() != streams[0].config.to.is_ipv4() {
            return Err(usage(format!("stream '{name}': to: {to}: streams of IPv4 and IPv6 do not share a socket")));
        }
    }
    Ok(())
}

fn of_stream(name: &str, failure: Failure) -> Failure {
    match failure {
        Failure::Usage(text) => Failure::Usage(format!("{name}: {}", text.strip_prefix("send: ").unwrap_or(&text))),
        Failure::Failed(text) => Failure::Failed(format!("{name}: {text}")),
        other => other,
    }
}

fn usage(text: impl Into<String>) -> Failure {
    Failure::Usage(text.into())
}

/// The reason of a syntax error, with its line.
fn one_line(error: &toml::de::Error, text: &str) -> String {
    let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    format!("line {line}: {}", error.message().replace('\n', ", "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use thalweg_core::session::live::Latency;
    use thalweg_core::time::Span;

    use super::*;

    const TWO: &str = r#"
        latency = "150ms"
        coupling = "rfc8699"
        [[stream]]
        name = "tv"
        input = "udp://127.0.0.1:5001"
        to = "127.0.0.1:6001"
        need = "9mbit"
        most = "20mbit"
        [[stream]]
        name = "phone"
        input = "udp://127.0.0.1:5002"
        to = "127.0.0.1:6002"
        screen = "640x480"
        latency = "90ms"
        group = "hall"
        set = ["p_max=0.05"]
    "#;

    fn refused(text: &str) -> String {
        match Configuration::parse(text) {
            Err(Failure::Usage(text) | Failure::Failed(text)) => text,
            Err(_) => panic!("another failure"),
            Ok(_) => panic!("{text} is accepted"),
        }
    }

    #[test]
    fn options_of_send_are_for_all_streams_or_for_one() {
        let Ok(Configuration { plan, bind }) = Configuration::parse(TWO) else { panic!("it is valid") };
        assert_eq!((plan.coupling, plan.norm, bind.is_none()), (Coupling::Rfc8699, Norm::Sum, true));
        let [tv, phone] = &plan.streams[..] else { panic!("two streams") };
        assert_eq!((tv.need, tv.most, tv.group.as_str()), (Rate::from_mbps(9), Rate::from_mbps(20), "default"));
        assert_eq!((phone.most, phone.group.as_str()), (need_of_screen(640, 480), "hall"));
        let latencies = [150, 90].map(|millis| Latency::Fixed(Span::from_millis(millis)));
        assert_eq!([tv, phone].map(|stream| stream.config.latency), latencies);
        assert_eq!(tv.config.to, SocketAddr::from(([127, 0, 0, 1], 6001)));
    }

    #[test]
    fn wrong_key_is_named_in_one_line() {
        for (from, to, expected) in [
            ("\"9mbit\"", "\"0\"", "stream 'tv': need: '0' is not a rate"),
            ("\"9mbit\"", "\"0mbit\"", "stream 'tv': need: must be above zero"),
            ("\"9mbit\"", "9", "stream 'tv': need: must be text in quotes"),
            ("\"20mbit\"", "\"8mbit\"", "stream 'tv': most: "),
            ("need = \"9mbit\"", "", "stream 'tv': need: is missing"),
            ("need = \"9mbit\"", "need = \"9mbit\"\nscreen = \"1x1\"", "stream 'tv': need: excludes screen"),
            ("640x480", "640", "stream 'phone': screen: '640' is not WIDTHxHEIGHT"),
            ("latency = \"150ms\"", "latncy = \"150ms\"", "latncy: unknown key; expected one of coupling, "),
            ("need = \"9mbit\"", "needs = \"9mbit\"", "stream 'tv': needs: unknown key; expected one of name, need, "),
            ("latency = \"90ms\"", "latency = \"1ms\"", "stream 'phone': invalid value '1ms' for '--latency"),
            ("latency = \"90ms\"", "rate = \"tfrc\"", "stream 'phone': rate: "),
            ("latency = \"90ms\"", "json = true", "stream 'phone': json: unknown key"),
            ("\"phone\"", "\"tv\"", "stream 'tv': name: another stream has it"),
            ("name = \"phone\"", "", "stream 2: name: is missing"),
            ("127.0.0.1:6002", "127.0.0.1:6001", "stream 'phone': to: 127.0.0.1:6001 is the receiver of 'tv'"),
            ("127.0.0.1:6002", "[::1]:6002", "stream 'phone': to: [::1]:6002: streams of IPv4 and IPv6"),
            ("127.0.0.1:6002", "239.1.1.1:6002", "stream 'phone': to: 239.1.1.1:6002 is a multicast group"),
            ("to = \"127.0.0.1:6002\"", "", "stream 'phone': to: is missing"),
            ("rfc8699", "nada", "coupling: 'nada' is not fixed, "),
            ("udp://127.0.0.1:5002", "udp://127.0.0.1:6002", "stream 'phone': to: 127.0.0.1:6002 leads back to input"),
            ("udp://127.0.0.1:5002", "exec:", "stream 'phone': invalid value 'exec:' for '--input"),
            ("[[stream]]", "[stream", "line 4: "),
            ("p_max=0.05", "k=3", "stream 'phone': --set k=3: "),
        ] {
            let text = TWO.replacen(from, to, 1);
            let error = refused(&text);
            assert!(error.starts_with(expected), "{from} -> {to}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
        assert!(refused("").starts_with("stream: none is given"));
        assert!(refused("stream = 3").starts_with("stream: must be tables"));
    }

    proptest! {
        #[test]
        fn any_text_is_a_configuration_or_is_refused(text in r#"(\[\[stream\]\]\n|[a-z]{1,8} = ("[a-z0-9:./x]{0,20}"|[0-9]{1,4}|true|\[\]|\{\})\n|\PC*){0,12}"#) {
            let _ = Configuration::parse(&text);
        }
    }
}
