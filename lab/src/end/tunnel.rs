//! The two ends of a tunnel flow: a lossless session with a writer, and one with a reader.

use core::net::SocketAddr;

use thalweg_core::law::ParameterError;
use thalweg_core::rng::Rng;
use thalweg_core::session::secure::{Entropy, Key};
use thalweg_core::session::tunnel::{self, Config, Tunnel};
use thalweg_core::time::Time;

use super::bytes::{Reader, Writer, Writes};
use super::lossless::Lossless;
use super::session::End;

/// The sending endpoint of a tunnel flow.
pub type Sender = End<Lossless, Writer>;

/// The receiving endpoint of a tunnel flow.
pub type Receiver = End<Lossless, Reader>;

/// The protection of datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cipher {
    /// The association of tunnels: handshake, AES-256-GCM, new keys.
    #[default]
    Aes,
    /// None: the tunnel's stream alone, without handshake and connections, in datagrams of the same size. A session of
    /// the lab; on sockets there is none.
    None,
}

/// The parameters of a tunnel flow.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameters {
    /// The configuration of both ends.
    pub config: Config,
    /// The protection of datagrams.
    pub cipher: Cipher,
    /// The data that is sent.
    pub writes: Writes,
}

impl Parameters {
    /// Both ends of a flow that starts at `start`; keys, ids and tokens follow from `rng`.
    ///
    /// # Errors
    /// A value of the configuration is out of its range; the error names it.
    pub fn ends(&self, flow: u32, start: Time, rng: &Rng) -> Result<(Sender, Receiver), String> {
        let [client, server] = [5_000, 7_000].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let (near, far) = match self.cipher {
            Cipher::Aes => {
                let [mut key, near, far] = ["key", "client", "server"].map(|name| entropy(rng, name));
                let (key, config) = (Key::shared(&mut key), || self.config.clone());
                let refused = |error: tunnel::Error| error.to_string();
                let mut tunnel = Tunnel::connect(config(), &key, server, start, near).map_err(refused)?;
                let connection = Some(tunnel.open(start).map_err(|error| error.to_string())?);
                let near = Lossless::Tunnel { tunnel: tunnel.into(), connection };
                let tunnel = Tunnel::serve(config(), &key, far).map_err(refused)?.into();
                (near, Lossless::Tunnel { tunnel, connection: None })
            }
            Cipher::None => {
                let end =
                    |peer| self.config.stream(start).map(|stream| Lossless::Stream { stream: stream.into(), peer });
                let refused = |error: ParameterError| error.to_string();
                (end(server).map_err(refused)?, end(client).map_err(refused)?)
            }
        };
        let writer = Writer::new(self.writes.clone(), start);
        Ok((End::new(flow, server, near, writer).starting(start), End::new(flow, client, far, Reader::default())))
    }

    /// Checks that there can be such a session.
    ///
    /// # Errors
    /// Names the value that is out of its range.
    pub fn check(&self) -> Result<(), String> {
        self.ends(0, Time::ZERO, &Rng::new(0)).map(drop)
    }
}

/// The source of an end's keys, ids and tokens.
fn entropy(rng: &Rng, name: &str) -> Entropy {
    let (mut draws, mut seed) = (rng.fork(name), [0; 32]);
    seed.chunks_exact_mut(8).for_each(|bytes| bytes.copy_from_slice(&draws.u64().to_be_bytes()));
    Entropy::new(seed)
}
