//! The first line of `thalweg serve`: addresses, videos and law.

use std::net::{IpAddr, SocketAddr};

use thalweg_net::error::Error;
use thalweg_net::media_url::Host;
use thalweg_net::report::Report;
use thalweg_serve::{Server, machine};

use super::status::figures;
use crate::failure::Failure;

/// The hosts as they were given.
pub(super) struct Names {
    pub(super) http: String,
    pub(super) rtsp: String,
}

/// The name of a host as it was given; empty without one.
pub(super) fn named(host: Option<&Host>) -> String {
    host.map_or(String::new(), |host| host.name.clone())
}

/// The address of a host.
pub(super) fn resolve(host: Option<Host>) -> Result<Option<SocketAddr>, Failure> {
    let resolved = host.map(|host| host.resolve().map_err(Error::io(format!("serve: listening on {host}"))));
    Ok(resolved.transpose()?)
}

/// The opening report: the addresses and the number of the videos.
pub(super) fn opening(server: &Server, secure: bool, names: &Names, folder: &str) -> Report {
    let http = if secure { "https" } else { "http" };
    let own = machine::addresses();
    let servers = [(http, server.local(), &names.http), ("rtsp", server.rtsp(), &names.rtsp)];
    let (mut text, mut urls) = (Vec::new(), Vec::new());
    for (scheme, local, name) in servers {
        let Some(local) = local else { continue };
        let (elsewhere, here) = places(local, name, &own);
        let url = |place: &String| format!("{scheme}://{place}/");
        text.extend(elsewhere.iter().map(url));
        text.extend(here.iter().map(|here| format!("{} (on this machine)", url(here))));
        urls.push(elsewhere.first().or(here.as_ref()).map(url).unwrap_or_default());
    }
    let videos = figures(server.ledger()).get("videos");
    let forms = match (server.local(), server.rtsp()) {
        (_, None) => "MP4, WebM, HLS or DASH",
        (None, _) => "MP4 or MPEG transport streams",
        _ => "MP4, WebM, HLS, DASH or MPEG transport streams",
    };
    let serving = match videos {
        0.0 => format!("serving {folder}, which has no videos yet ({forms}),"),
        1.0 => format!("serving 1 video of {folder}"),
        _ => format!("serving {videos} videos of {folder}"),
    };
    let law = server.law().name();
    let mut report = Report::new("listening", format!("{serving} at {}; law {law}", text.join(", ")));
    if let Some(local) = server.local().or(server.rtsp()) {
        report = report.with("address", local);
    }
    report = report.with("url", urls.first().map_or("", String::as_str));
    if let Some(rtsp) = server.rtsp() {
        report = report.with("rtsp_address", rtsp).with("rtsp_url", urls.last().map_or("", String::as_str));
    }
    report.with("folder", folder).with("law", law).with_number("videos", videos)
}

/// Hosts and ports for browsers on other machines, and for those on this machine if they differ.
fn places(local: SocketAddr, name: &str, own: &[IpAddr]) -> (Vec<String>, Option<String>) {
    let (any, port) = (local.ip(), local.port());
    if !any.is_unspecified() {
        let named = !name.is_empty() && name.parse::<IpAddr>().is_err() && !name.contains('%');
        return (vec![if named { format!("{name}:{port}") } else { local.to_string() }], None);
    }
    // A socket at the unspecified address of IPv6 takes IPv4, too.
    let reached = own.iter().filter(|own| any.is_ipv6() || own.is_ipv4());
    (reached.map(|own| SocketAddr::new(*own, port).to_string()).collect(), Some(format!("localhost:{port}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_addresses_are_reachable_from_other_machines() {
        let own = ["198.51.100.7", "2001:db8::7"].map(|own| own.parse().expect("an address"));
        let at = |local: &str, name| places(local.parse().expect("an address"), name, &own);
        let (v4, v6) = ("198.51.100.7:80".to_owned(), "[2001:db8::7]:80".to_owned());
        let here = Some("localhost:80".to_owned());
        assert_eq!(at("0.0.0.0:80", ""), (vec![v4.clone()], here.clone()));
        assert_eq!(at("[::]:80", "::"), (vec![v4, v6], here));
        assert_eq!(at("127.0.0.1:80", "localhost"), (vec!["localhost:80".to_owned()], None));
        assert_eq!(at("192.0.2.1:80", "192.0.2.1"), (vec!["192.0.2.1:80".to_owned()], None));
        assert_eq!(places("0.0.0.0:80".parse().expect("an address"), "", &[]).0, [""; 0]);
    }
}
