//! A player that reads a video from the kernel's TCP.

use std::time::Duration;

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::tcp::{Player, Playing, Video};
use thalweg_net::error::Error;
use thalweg_testbed::{Flow, Hosts};

use super::record::{Second, Watched};
use super::videos::Clip;

/// The playing time that waits before the first frame, as R3CP+ preloads at a round trip of 200 ms and `play`'s store.
const PLAYOUT_DELAY: Span = Span::from_secs(2);

/// Frames per second of both videos.
const FRAMES: f64 = 24.0;

/// A player over TCP.
pub(super) struct Reader {
    flow: Flow,
    player: Player,
    before: (Time, Bytes, Span),
    pub(super) watched: Watched,
}

impl Reader {
    /// Connects, and reads as fast as TCP delivers: the server is never the bottleneck.
    ///
    /// # Errors
    /// The kernel does not have the congestion control.
    pub(super) fn start(hosts: &Hosts, control: &str, clip: Clip) -> Result<Reader, Error> {
        let video = Video {
            size: Bytes(1 << 40),
            rate: Rate::from_bps(1_000 * clip.kbps()),
            playout_delay: PLAYOUT_DELAY,
            rebuffer: Span::from_secs(1),
        };
        let player = Player::new(video, Bytes(1), Time::ZERO);
        let before = (Time::ZERO, Bytes(0), Span::ZERO);
        Ok(Reader { flow: Flow::start(hosts, control)?, player, before, watched: Watched::default() })
    }

    /// Looks at the connection at `elapsed` after its start.
    pub(super) fn look(&mut self, elapsed: Duration) {
        let now = Time::from_nanos(elapsed.as_nanos() as u64);
        let read = self.flow.read();
        self.player.receive(now, read.0);
        let Playing { played, stalled, .. } = self.player.seen(now);
        let watched = &mut self.watched;
        watched.first = watched.first.or_else(|| (played > Span::ZERO).then(|| now.as_secs_f64()));
        watched.still = stalled.as_secs_f64();
        watched.playback = played.as_secs_f64() / (played + stalled).as_secs_f64().max(1e-3);
        let (at, read_before, played_before) = self.before;
        let length = now.since(at);
        if length < Span::from_secs(1) {
            return;
        }
        watched.seconds.push(Second {
            at: now.as_secs_f64(),
            played: FRAMES * played.saturating_sub(played_before).as_secs_f64() / length.as_secs_f64(),
            received_kbps: Rate::of(Bytes(read.0 - read_before.0), length).as_bps() as f64 / 1e3,
            ..Second::default()
        });
        self.before = (now, read, played);
    }
}
