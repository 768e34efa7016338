//! Sixty-four mebibytes each through bad paths, with the settings of a user: the default law, the default window.

use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{sleep, spawn};
use std::time::Duration;

use crate::common::Running;
use crate::common::relay::Relay;
use crate::tunnel::noise::Noise;
use crate::tunnel::stage::{HARSH, behind, connect, echo, is_long, key, open, program};

const LEN: u64 = 64 << 20;

/// A fifth of the packets is lost, each independently.
const FIFTH: &str = r#"{ kind = "loss", rate = 0.2 }"#;

/// A tunnel whose path can be changed while bytes go through it and come back.
struct Stage {
    serve: Running,
    relay: Relay,
    arrived: Arc<AtomicU64>,
}

impl Stage {
    /// Waits until so many bytes have come back.
    fn until(&self, bytes: u64) {
        while self.arrived.load(Ordering::Relaxed) < bytes {
            sleep(Duration::from_millis(10));
        }
    }
}

/// A link, followed by the loss of each direction; duplication, corruption and reordering in both.
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

/// Expects all bytes back unchanged, whatever happens `during` the transfer, and a closed connection at both endpoints.
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
    // In a thread of its own: a wait that never ends must not hide the failure of the reader.
    let changes = spawn(move || {
        during(&stage);
        stage
    });
    assert_eq!(Noise::new(9).recognise(&mut stream, &arrived), Ok(()));
    assert_eq!(arrived.load(Ordering::Relaxed), LEN);
    sent.join().expect("all was sent");
    let stage = changes.join().expect("all was as it should be");
    stage.serve.event("closed");
    connect.event("closed");
}

#[test]
fn bytes_are_unchanged_over_a_harsh_path() {
    carries("paths-harsh", HARSH, |_| {});
}

#[test]
fn bytes_are_unchanged_over_bursts_of_loss() {
    let bursts = r#"{ kind = "gilbert_elliott", p = 0.02, r = 0.2, loss_bad = 0.9, loss_good = 0.005 }"#;
    carries("paths-bursts", &path(bursts, bursts), |_| {});
}

#[test]
fn bytes_are_unchanged_after_an_outage_of_five_seconds() {
    carries("paths-dark", &path(FIFTH, FIFTH), |stage| {
        stage.until(LEN / 4);
        stage.relay.set_blackout(true);
        sleep(Duration::from_secs(5));
        stage.relay.set_blackout(false);
    });
}

#[test]
fn bytes_are_unchanged_across_address_changes() {
    carries("paths-moved", &path(FIFTH, FIFTH), |stage| {
        for part in [1, 2] {
            stage.until(LEN * part / 3);
            stage.relay.move_sender();
            stage.serve.event("moved");
        }
    });
}

#[test]
fn bytes_are_unchanged_with_thirty_percent_loss_on_return() {
    carries("paths-back", &path(FIFTH, r#"{ kind = "loss", rate = 0.3 }"#), |_| {});
}
