//! How fast a connection is sent to: by TCP Stream in the kernel, TCP Stream over QUIC, or paced here. Never by another law
//! without a word.

mod claims;
mod lane;

pub(crate) use self::lane::{Lane, Way};

use rustix::net::{AddressFamily, SocketType, socket, sockopt};
use thalweg_kernel::{Name, Rates};

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choice {
    /// TCP Stream: in the kernel for TCP, paced here where the kernel does not have it, and of its own over QUIC.
    #[default]
    TcpStream,
    /// The system's control, CUBIC over QUIC, and what it sends is paced here.
    Paced,
    /// The system's control alone, CUBIC over QUIC, as fast as the path bears.
    System,
}

/// The law of all connections.
#[derive(Debug)]
pub struct Law {
    choice: Choice,
    /// This control of the kernel's, which is told each connection's rate.
    kernel: Option<(Name, Rates)>,
}

impl Law {
    /// The law that is asked for; if the kernel does not have it, TCP is paced, and a line says why.
    pub fn choose(wanted: Option<Choice>, name: &Name) -> (Law, Option<String>) {
        let choice = wanted.unwrap_or_default();
        match (choice == Choice::TcpStream).then(|| kernel(name).map(|rates| (name.clone(), rates))) {
            None => (Law { choice, kernel: None }, None),
            Some(Ok(kernel)) => (Law { choice, kernel: Some(kernel) }, None),
            Some(Err(why)) => {
                let why = format!("{why}; films over TCP are paced by this program instead");
                (Law { choice, kernel: None }, Some(why))
            }
        }
    }

    /// What it is called over TCP.
    pub fn name(&self) -> &str {
        match (&self.kernel, self.choice) {
            (Some((name, _)), _) => name.as_str(),
            (None, Choice::TcpStream | Choice::Paced) => "paced",
            (None, Choice::System) => "system",
        }
    }

    /// What it is called over QUIC, which needs no kernel for it.
    pub fn name_over_quic(&self) -> &'static str {
        match self.choice {
            Choice::TcpStream => "tcp_stream",
            Choice::Paced => "paced",
            Choice::System => "system",
        }
    }

    /// Whether QUIC has TCP Stream.
    pub(crate) fn is_tcp_stream_over_quic(&self) -> bool {
        self.choice == Choice::TcpStream
    }
}

fn kernel(name: &Name) -> Result<Rates, String> {
    let probe = socket(AddressFamily::INET, SocketType::STREAM, None).map_err(|error| format!("no socket: {error}"))?;
    let lacks = |_| format!("this kernel has no {name} (`thalweg kernel load` gives it one)");
    sockopt::set_tcp_congestion(&probe, name.as_str()).map_err(lacks)?;
    Rates::open(name).map_err(|error| format!("{name} cannot be told how fast films are played: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_said_in_one_line_and_never_replaced_by_another_control() {
        let none: Name = "no_such_law".parse().expect("a name");
        let (law, why) = Law::choose(None, &none);
        assert_eq!((law.name(), law.name_over_quic()), ("paced", "tcp_stream"));
        let expected = "this kernel has no no_such_law (`thalweg kernel load` gives it one); films over TCP are paced by this program instead";
        assert_eq!(why.as_deref(), Some(expected));
        for (choice, name) in [(Choice::Paced, "paced"), (Choice::System, "system")] {
            let (law, why) = Law::choose(Some(choice), &none);
            assert_eq!((law.name(), law.name_over_quic(), why), (name, name, None));
        }
    }
}
