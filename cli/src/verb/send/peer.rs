//! The way to the receiver: an address to send to, or one at which receivers call.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use thalweg_core::session::live::sender::Sender;
use thalweg_net::error::Error;
use thalweg_net::media_url::{Host, Udp};
use thalweg_net::report::Report;
use thalweg_net::udp::{Multicast, Socket, route_to, unspecified};

use super::Args;
use crate::failure::Failure;

/// The end that calls.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct Way {
    /// Address of `thalweg recv --listen`; or, with --plain-rtp, of a multicast group, after whose port
    /// ?iface=NAME&ttl=N, or one of the two, is allowed
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) to: Option<Udp>,
    /// UDP address at which `thalweg recv --call` gets the stream, one receiver at a time; `:PORT` listens on all IPv4
    /// addresses, `[::]:PORT` on all of IPv4 and IPv6. Beyond loopback it needs --key-file or --public
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["plain_rtp", "fec_port", "sdp", "bind"])]
    listen: Option<Host>,
}

/// The socket, and the receiver that it reaches; none if receivers call.
pub(super) struct Peer {
    to: Option<SocketAddr>,
    multicast: Multicast,
    pub(super) socket: Socket,
}

impl Args {
    /// The receiver's address; its errors begin with `option`.
    pub(super) fn receiver(&self, option: &str) -> Result<SocketAddr, Failure> {
        let Some(to) = &self.way.to else { return Err(Failure::Usage(format!("{option} is missing"))) };
        if to.host.name.is_empty() || to.host.port == 0 {
            return Err(Failure::Usage(format!("{option} {to}: needs a host and a port, as in HOST:6000")));
        }
        to.resolve().map_err(|error| Error::io(format!("sending to {to}"))(error).into())
    }

    /// The socket, and the receiver's address if it is known.
    pub(super) fn peer(&self) -> Result<Peer, Failure> {
        match &self.way.listen {
            Some(listen) => self.listening(listen),
            None => self.sending(),
        }
    }

    /// A socket at which receivers call.
    fn listening(&self, listen: &Host) -> Result<Peer, Failure> {
        let tried = format!("listening on {listen}");
        let address = listen.resolve().map_err(Error::io(&tried))?;
        if !address.ip().is_loopback() && !self.encryption.is_given() && !self.public {
            let why = "without a key, the media goes to anyone who calls; add --key-file, or --public to allow that";
            return Err(Failure::Usage(format!("send: --listen {listen}: {why}")));
        }
        let socket = Socket::bind(address).map_err(Error::io(tried))?;
        Ok(Peer { to: None, multicast: Multicast::default(), socket })
    }

    /// The receiver's address, and a socket that can reach it.
    fn sending(&self) -> Result<Peer, Failure> {
        let to = self.receiver("send: --to")?;
        let tried = format!("sending to {to}");
        if let Some(law) = self.protection.rate.as_ref().filter(|_| to.ip().is_multicast()) {
            let why = format!("needs the reports of one receiver, not the multicast group {to}; use --max-rate");
            return Err(Failure::Usage(format!("send: --rate {law}: {why}")));
        }
        if self.encryption.is_given() && to.ip().is_multicast() {
            let why = format!("a key is for one receiver, not for the multicast group {to}");
            return Err(Failure::Usage(format!("send: --key-file: {why}")));
        }
        let multicast = self.way.to.iter().map(|udp| udp.multicast(to)).next().transpose();
        let multicast = multicast.map_err(Error::io(&tried))?.unwrap_or_default();
        let mut socket = match &self.bind {
            None => Socket::sending(unspecified(to), to, multicast).map_err(Error::io(&tried))?,
            Some(bind) => bound(bind, to, multicast)?,
        };
        socket.hear_errors().map_err(Error::io(tried))?;
        Ok(Peer { to: Some(to), multicast, socket })
    }
}

/// A socket at `bind` that can reach `to`.
fn bound(bind: &Host, to: SocketAddr, multicast: Multicast) -> Result<Socket, Failure> {
    let tried = format!("sending from {bind}");
    let from = bind.resolve().map_err(Error::io(&tried))?;
    if from.is_ipv4() != to.is_ipv4() {
        return Err(Failure::Usage(format!("send: --bind {from} cannot reach {to}: one is IPv4, one IPv6")));
    }
    Ok(Socket::sending(from, to, multicast).map_err(Error::io(tried))?)
}

impl Peer {
    /// The receiver's address, or that at which receivers call.
    pub(super) fn address(&self) -> SocketAddr {
        self.to.unwrap_or(self.socket.local())
    }

    /// True if receivers call.
    pub(super) fn is_called(&self) -> bool {
        self.to.is_none()
    }

    /// The opening report about the stream of `input`, which `terms` describe further.
    pub(super) fn opening(&self, input: &str, terms: &str) -> Report {
        let local = self.socket.local();
        match self.to {
            Some(to) => {
                Report::new("sending", format!("sending {input} to {to}, {terms}")).with("to", to).with("from", local)
            }
            None => {
                let text = format!("waiting for a receiver to call on {local}, input {input}, {terms}");
                Report::new("sending", text).with("from", local)
            }
        }
    }

    /// The action of the program, for its errors.
    pub(super) fn action(&self) -> String {
        match self.to {
            Some(to) => format!("sending to {to}"),
            None => format!("sending from {}", self.socket.local()),
        }
    }

    /// Writes the description (SDP) of the session, as it leaves this socket.
    pub(super) fn describe(&self, session: &Sender, file: &Path) -> Result<(), Error> {
        let tried = self.action();
        let mut description = session.description(self.origin().map_err(Error::io(&tried))?);
        description.ttl = self.socket.multicast_ttl().map_err(Error::io(&tried))?;
        let text = description.to_string();
        let written = match file.to_str() {
            Some("-") => io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()),
            _ => std::fs::write(file, text),
        };
        written.map_err(Error::io(format!("writing the session description {}", file.display())))
    }

    /// The address that the receiver sees, as far as this machine knows it.
    fn origin(&self) -> io::Result<IpAddr> {
        match self.socket.local().ip() {
            ip if ip.is_unspecified() => Ok(route_to(self.address(), self.multicast)?.ip()),
            ip => Ok(ip),
        }
    }
}
