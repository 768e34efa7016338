//! Variants of a session: its repair, and a key or none.

use thalweg_core::law::redundancy::Law;
use thalweg_core::session::live::{receiver, sender};
use thalweg_lab::path::Path;

use crate::live::auto::auto;
use crate::live::keys::Keys;
use crate::live::props::{geneva, receiver_config, sender_config};
use crate::live::story::Story;

/// The repair and the keys of a story's session.
#[derive(Clone, Copy)]
pub(crate) struct Variant {
    pub(crate) repair: fn() -> Law,
    pub(crate) keys: Option<Keys>,
}

impl Variant {
    /// GENEVA's blocks in the clear.
    pub(crate) fn geneva() -> Variant {
        Variant { repair: geneva, keys: None }
    }

    /// GENEVA's blocks with a key.
    pub(crate) fn geneva_keyed() -> Variant {
        Variant { keys: Some(Keys::new(1)), ..Variant::geneva() }
    }

    /// Repair by its worth, without blocks, in the clear.
    pub(crate) fn auto() -> Variant {
        Variant { repair: auto, keys: None }
    }

    /// Repair by its worth with a key.
    pub(crate) fn auto_keyed() -> Variant {
        Variant { keys: Some(Keys::new(1)), ..Variant::auto() }
    }

    /// True if repair is made of blocks.
    pub(crate) fn has_blocks(self) -> bool {
        matches!(self.repair(), Law::Geneva(_))
    }

    pub(crate) fn repair(self) -> Law {
        (self.repair)()
    }

    /// [`sender_config`] with this repair.
    pub(crate) fn sender(self) -> sender::Config {
        sender::Config { repair: self.repair(), ..sender_config() }
    }

    /// A story of the default configurations.
    pub(crate) fn over(self, forward: Path, reverse: Path) -> Story {
        self.story(self.sender(), receiver_config(), forward, reverse)
    }

    /// A story with this key, if there is one.
    pub(crate) fn story(
        self,
        sender: sender::Config,
        receiver: receiver::Config,
        forward: Path,
        reverse: Path,
    ) -> Story {
        Story::with(self.keys, sender, receiver, forward, reverse)
    }
}

/// Makes a module of each story, with one test for each of the variants.
macro_rules! stories {
    ($variants:tt: $($story:ident),+ $(,)?) => {
        $($crate::live::variant::stories! { @ $story $variants })+
    };
    (@ $story:ident [$($variant:ident),+]) => {
        mod $story {
            $(#[test] fn $variant() { super::$story($crate::live::variant::Variant::$variant()); })+
        }
    };
}
pub(crate) use stories;
