//! Sixty-four mebibytes each, through paths that do their worst, as a user has it: the default law, the default window.

use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{sleep, spawn};
use std::time::Duration;

use crate::common::Running;
use crate::common::relay::Relay;
use crate::noise::Noise;
use crate::stage::{HARSH, behind, connect, echo, is_long, key, open, program};

const LEN: u64 = 64 << 20;

/// A fifth is lost, each packet by itself.
const FIFTH: &str = r#"{ kind = "loss", rate = 0.2 }"#;

/// A tunnel whose path can be bent while bytes go through it and come back.
struct Stage {
    serve: Running,
    relay: Relay,
    arrived: Arc<AtomicU64>,
}

impl Stage {
    /// Until so many bytes have come back.
    fn until(&self, bytes: u64) {
        while self.arrived.load(Ordering::Relaxed) < bytes {
            sleep(Duration::from_millis(10));
        }
    }
}

/// A link, and behind it what is lost there and back; copies, damage and another order both ways.
fn path(lost: &str, lost_back: &str) -> String {
    let elements = |lost| {
        format!(
            r#"[
    {{ kind = "drop_tail", rate = "50mbit", queue = "150kB" }},
    {lost},
    {{ kind = "duplicate", share = 0.02 }},
    {{ kind = "corrupt", share = 0.001, bytes = 2 }},
    {{ kind = "wire", delay = "10ms" }},
    {{ kind = "reorder", share = 0.05, by = "3ms" }},
]"#
        )
    };
    format!("seed = 1\nforward.element = {}\nreverse.element = {}\n", elements(lost), elements(lost_back))
}

/// All bytes come back as they were, whatever happens `during` it; the last word is the serving side's.
fn carries(name: &str, path: &str, during: impl FnOnce(&Stage) + Send + 'static) {
    if !is_long() {
        return;
    }
    let (key, target) = (key(name), program("127.0.0.1:0", echo));
    let serve = ["tunnel", "serve", "--listen", "127.0.0.1:0", "--to", &target, "--key-file", &key];
    let serve = Running::start(&serve);
    let (_path, at) = behind(name, Some(path), serve.address("listening", "address"));
    let stage = Stage { serve, relay: Relay::start(&at), arrived: Arc::default() };
    let (connect, local) = connect(&stage.relay.near().to_string(), &key, &[]);
    let mut stream = open(&local);
    let (mut writer, arrived) = (stream.try_clone().expect("a copy"), stage.arrived.clone());
    let sent = spawn(move || {
        Noise::new(9).write(&mut writer, LEN).expect("the tunnel takes all");
        writer.shutdown(Shutdown::Write).expect("a connection");
    });
    // A wait that never ends must not hide why the reader failed.
    let bent = spawn(move || {
        during(&stage);
        stage
    });
    assert_eq!(Noise::new(9).recognise(&mut stream, &arrived), Ok(()));
    assert_eq!(arrived.load(Ordering::Relaxed), LEN);
    sent.join().expect("all was sent");
    let stage = bent.join().expect("all was as it should be");
    stage.serve.event("closed");
    connect.event("closed");
}

#[test]
fn a_harsh_path() {
    carries("paths-harsh", HARSH, |_| {});
}

#[test]
fn bursts_of_loss() {
    let bursts = r#"{ kind = "gilbert_elliott", p = 0.02, r = 0.2, loss_bad = 0.9, loss_good = 0.005 }"#;
    carries("paths-bursts", &path(bursts, bursts), |_| {});
}

#[test]
fn five_dark_seconds() {
    carries("paths-dark", &path(FIFTH, FIFTH), |stage| {
        stage.until(LEN / 4);
        stage.relay.darken(true);
        sleep(Duration::from_secs(5));
        stage.relay.darken(false);
    });
}

#[test]
fn an_address_that_changes_midway() {
    carries("paths-moved", &path(FIFTH, FIFTH), |stage| {
        for part in [1, 2] {
            stage.until(LEN * part / 3);
            stage.relay.move_sender();
            stage.serve.event("moved");
        }
    });
}

#[test]
fn a_way_back_that_loses_thirty_percent() {
    carries("paths-back", &path(FIFTH, r#"{ kind = "loss", rate = 0.3 }"#), |_| {});
}
