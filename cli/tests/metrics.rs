//! `docs/metrics.md` documents every metric and every event, each in its section.

use std::fs;
use std::path::{Path, PathBuf};

use thalweg_core::metric::Metric;
use thalweg_net::endpoint::{Endpoint, ReceiverEndpoint, SenderEndpoint, ShareEndpoint, TcpAccept, TunnelEndpoint};
use thalweg_play::PlayEndpoint;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The rows of the table below a heading.
fn rows(heading: &str) -> Vec<String> {
    let page = fs::read_to_string(root().join("docs/metrics.md")).expect("docs/metrics.md");
    let (_, section) = page.split_once(&format!("## {heading}\n")).expect(heading);
    let section = section.split("\n## ").next().expect("its text");
    section.lines().filter(|line| line.starts_with("| ")).map(str::to_owned).collect()
}

fn expect_listed(metrics: impl Iterator<Item = &'static Metric>, heading: &str) {
    let rows = [rows("Both sides"), rows(heading)].concat();
    for metric in metrics {
        // The first cell names the metrics of the row.
        let names_metric =
            |row: &String| row.split(" | ").next().is_some_and(|cell| cell.contains(&format!("`{}`", metric.name)));
        assert!(rows.iter().any(names_metric), "docs/metrics.md lacks {} under {heading}", metric.name);
    }
}

#[test]
fn every_metric_is_documented_for_its_endpoint() {
    expect_listed(SenderEndpoint::metrics(), "Sender");
    let of_share =
        ShareEndpoint::metrics().filter(|metric| SenderEndpoint::metrics().all(|other| other.name != metric.name));
    expect_listed(of_share, "Share");
    expect_listed(ReceiverEndpoint::metrics(), "Receiver");
    expect_listed(TunnelEndpoint::<TcpAccept>::metrics(), "Tunnel and pipe");
    expect_listed(PlayEndpoint::metrics(), "Play");
    expect_listed(thalweg_serve::Ledger::METRICS.iter(), "Serve");
}

/// The events that a source file makes, each with the keys that follow it.
fn events(file: &str) -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(root().join(file)).expect(file);
    let quoted =
        |text: &str| text.trim_start().strip_prefix('"').and_then(|text| text.split('"').next().map(str::to_owned));
    let pieces = text.split("Report::new(").skip(1);
    pieces
        .filter_map(|piece| {
            let piece = piece.split("\n        Event::").next().unwrap_or(piece);
            let keys = piece.split(".with").skip(1).filter_map(|call| quoted(call.split_once('(')?.1));
            Some((quoted(piece)?, keys.collect()))
        })
        .collect()
}

#[test]
fn every_event_is_documented_with_its_keys() {
    let rows = rows("Events");
    for (side, file) in [
        ("send", "net/src/endpoint/sender/reports.rs"),
        ("send", "cli/src/verb/send/peer.rs"),
        ("share", "cli/src/verb/share.rs"),
        ("share", "net/src/endpoint/share.rs"),
        ("share", "net/src/endpoint/share/stream.rs"),
        ("share", "net/src/endpoint/share/groups.rs"),
        ("recv", "net/src/endpoint/receiver.rs"),
        ("recv", "net/src/endpoint/keys.rs"),
        ("recv", "net/src/output/recording.rs"),
        ("recv", "cli/src/verb/recv.rs"),
        ("tunnel", "net/src/endpoint/tunnel/reports.rs"),
        ("tunnel", "cli/src/verb/tunnel.rs"),
        ("tunnel", "cli/src/verb/pipe.rs"),
        ("play", "play/src/endpoint.rs"),
        ("play", "play/src/endpoint/reports.rs"),
        ("play", "play/src/endpoint/server.rs"),
        ("play", "cli/src/verb/play.rs"),
        ("serve", "cli/src/verb/serve.rs"),
    ] {
        let events = events(file);
        assert!(!events.is_empty(), "{file}");
        for (event, keys) in events {
            let of = |side: &str| rows.iter().find(|row| row.starts_with(&format!("| {side} | `{event}` |")));
            let row = of(side).or_else(|| of("both"));
            let row = row.unwrap_or_else(|| panic!("docs/metrics.md has no row for {event} of {side}"));
            for key in keys {
                assert!(row.contains(&format!("`{key}`")), "docs/metrics.md does not tell of {key} of {event}");
            }
        }
    }
}
