//! Keys of a terminal: its lines are not edited while they are read.

use std::io::{self, IsTerminal, Stdin};

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use thalweg_net::poll::{Interests, Ready};

/// Bytes read at a time.
const READ: usize = 64;

/// A key that has a meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Key {
    /// Space: playback stops or continues.
    Pause,
    /// Left: 10 s back.
    Back,
    /// Right: 10 s ahead.
    Ahead,
    /// q: the end.
    Quit,
}

/// Standard input, a terminal, until its modes are restored by the drop.
pub struct Keys {
    stdin: Stdin,
    modes: Termios,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}

impl Keys {
    /// The keys of standard input, if it is a terminal and this process is in its foreground.
    pub fn open() -> Option<Keys> {
        let stdin = io::stdin();
        if !stdin.is_terminal() || tcgetpgrp(&stdin).ok()? != getpgrp() {
            return None;
        }
        let modes = tcgetattr(&stdin).ok()?;
        let mut raw = modes.clone();
        // Signals of the keyboard remain.
        raw.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        // A read returns at once.
        raw.special_codes[SpecialCodeIndex::VMIN] = 0;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&stdin, OptionalActions::Now, &raw).ok()?;
        Some(Keys { stdin, modes })
    }

    /// Registers the descriptor.
    pub(crate) fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        interests.read(&self.stdin);
    }

    /// The keys that were pressed.
    pub(crate) fn read(&self, ready: &mut Ready) -> Vec<Key> {
        let mut buf = [0; READ];
        match ready.take().then(|| rustix::io::read(&self.stdin, &mut buf)) {
            Some(Ok(len)) => keys(&buf[..len]),
            _ => Vec::new(),
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.stdin, OptionalActions::Now, &self.modes);
    }
}

/// The keys of typed bytes. Arrows are sequences of ECMA-48, in either mode of the cursor keys.
fn keys(mut bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    while let Some((&first, mut rest)) = bytes.split_first() {
        match (first, rest) {
            (b' ', _) => keys.push(Key::Pause),
            (b'q' | b'Q', _) => keys.push(Key::Quit),
            (0x1b, [b'[' | b'O', code, after @ ..]) => {
                keys.extend(match code {
                    b'D' => Some(Key::Back),
                    b'C' => Some(Key::Ahead),
                    _ => None,
                });
                rest = after;
            }
            _ => {}
        }
        bytes = rest;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_are_sequences_of_either_mode() {
        assert_eq!(keys(b" \x1b[D\x1bOC\x1b[Aqx\x1b"), [Key::Pause, Key::Back, Key::Ahead, Key::Quit]);
        assert_eq!(keys(b"\x1b["), []);
    }
}
