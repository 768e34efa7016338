//! Reports about the keys of a live stream, and the metric that says whether it is encrypted.

use thalweg_core::metric::{Kind, Metric};
use thalweg_core::session::live::carried::Notice;
use thalweg_core::session::secure::Ending;
use thalweg_core::wire::secure::VERSION;

use crate::report::Report;

pub(super) const ENCRYPTED: Metric =
    Metric { name: "encrypted", kind: Kind::Gauge, help: "1 if every datagram is encrypted, 0 if RTP is in the clear" };

/// Describes a notice about the `peer`, a sender or a receiver.
pub(super) fn describe(notice: Notice, peer: &str) -> Report {
    match notice {
        Notice::InTheClear { from } => {
            let text = format!("the {peer} at {from} does not encrypt, and is ignored: does it have a --key-file?");
            Report::new("unencrypted", text).with("from", from)
        }
        Notice::Encrypted { from } => {
            let text = format!("the {peer} at {from} encrypts, and is ignored: start this end with --key-file");
            Report::new("encrypted", text).with("from", from)
        }
        Notice::OtherKey { from } => {
            let text = format!("the {peer} at {from} has another key, and is ignored: do both key files match?");
            Report::new("other_key", text).with("from", from)
        }
        Notice::OtherVersion { from, version } => {
            let text = format!(
                "the {peer} at {from} encrypts by version {version} of the protocol, this program by version {VERSION}: \
                 update Thalweg {}",
                if version < VERSION { "there" } else { "here" }
            );
            Report::new("other_version", text).with("from", from).with_number("version", version.into())
        }
        Notice::Refused(ending) => Report::new("ended", "").with("reason", name(ending)),
        notice => Report::unknown(&notice),
    }
}

/// The name of a refusal in JSON.
fn name(ending: Ending) -> &'static str {
    if let Ending::Version(_) = ending { "version" } else { "refused" }
}
