//! Keys of both ends, and sessions with a key and without.

use thalweg_core::rng::Rng;
use thalweg_core::session::live::carried::{Carried, association};
use thalweg_core::session::live::inside;
use thalweg_core::session::live::receiver::{self, Receiver};
use thalweg_core::session::live::sender::{self, Sender};
use thalweg_core::session::secure::{self, Entropy, Key};
use thalweg_core::time::Time;

/// The key of an end, and the configuration of its associations.
#[derive(Clone, Copy)]
pub(crate) struct Keys {
    pub(crate) config: secure::Config,
    seed: u8,
    /// The number of sources of randomness drawn.
    draws: u8,
}

impl Keys {
    pub(crate) fn new(seed: u8) -> Keys {
        Keys { config: association(), seed, draws: 100 }
    }

    fn key(&self) -> Key {
        Key::shared(&mut Entropy::new([self.seed; 32]))
    }

    fn entropy(&mut self) -> Entropy {
        self.draws += 1;
        let mut seed = [self.seed; 32];
        seed[0] = self.draws;
        Entropy::new(seed)
    }

    /// A sender that calls its receiver, or listens; without keys in the clear.
    pub(crate) fn sender(keys: Option<&mut Keys>, config: sender::Config, now: Time, seed: u64) -> Carried<Sender> {
        let Some(keys) = keys else { return Carried::clear(Sender::new(config, now, &Rng::new(seed))) };
        let (to, listens) = (config.to, config.listens);
        let session = Sender::new(sender::Config { to: inside(to, 0), ..config }, now, &Rng::new(seed));
        let (key, entropy) = (keys.key(), keys.entropy());
        let carried = match listens {
            true => Carried::called(session, (keys.config, &key), entropy),
            false => Carried::calling(session, (keys.config, &key), to, now, entropy),
        };
        carried.expect("a shared key")
    }

    /// A receiver that is called, or calls; without keys in the clear.
    pub(crate) fn receiver(
        keys: Option<&mut Keys>,
        config: receiver::Config,
        now: Time,
        seed: u64,
    ) -> Carried<Receiver> {
        let Some(keys) = keys else { return Carried::clear(Receiver::new(config, &Rng::new(seed))) };
        let (call, key, entropy) = (config.call, keys.key(), keys.entropy());
        let config = receiver::Config { call: call.map(|to| inside(to, 0)), ..config };
        let session = Receiver::new(config, &Rng::new(seed));
        let carried = match call {
            None => Carried::called(session, (keys.config, &key), entropy),
            Some(to) => Carried::calling(session, (keys.config, &key), to, now, entropy),
        };
        carried.expect("a shared key")
    }
}
