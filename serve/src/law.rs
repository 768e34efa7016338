//! How fast a connection is sent to: by TCP Stream in the kernel, TCP Stream over QUIC, or paced here. Never by another law
//! without a word.

mod claims;
mod kernel;
mod lane;

pub use self::kernel::Lack;
pub(crate) use self::kernel::{Change, Kernel};
pub(crate) use self::lane::{Download, Lane, Way};

use thalweg_core::law::window::tcp_stream::Thresholds;
use thalweg_kernel::Name;

use crate::server::Event;

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
    /// The kernel's, if that is asked for.
    kernel: Option<Kernel>,
    /// Those of TCP Stream over QUIC.
    thresholds: Thresholds,
}

impl Law {
    /// The law that is asked for; if the kernel does not have it, TCP is paced until it has, and a line says why.
    pub fn choose(wanted: Option<Choice>, name: &Name) -> (Law, Option<Lack>) {
        let choice = wanted.unwrap_or_default();
        let kernel = (choice == Choice::TcpStream).then(|| Kernel::new(name));
        let lack = kernel.as_ref().and_then(Kernel::look).and_then(|change| match change {
            Change::Lost(lack) => Some(lack),
            Change::Back => None,
        });
        let is_there = kernel.is_some() && lack.is_none();
        // One server, one law: that of the kernel, if it has one.
        let thresholds = is_there.then(|| thalweg_kernel::thresholds(name).ok()).flatten().unwrap_or_default();
        (Law { choice, kernel, thresholds }, lack)
    }

    /// What it is called over TCP.
    pub fn name(&self) -> &str {
        match (&self.kernel, self.choice) {
            (Some(kernel), _) if kernel.is_there() => kernel.name().as_str(),
            (_, Choice::TcpStream | Choice::Paced) => "paced",
            (_, Choice::System) => "system",
        }
    }

    /// What has become of the kernel's since it was looked at last.
    pub(crate) fn look(&self) -> Option<Event> {
        let kernel = self.kernel.as_ref()?;
        kernel.look().map(|change| match change {
            Change::Lost(lack) => Event::LawLost(lack),
            Change::Back => Event::LawBack { name: kernel.name().to_string() },
        })
    }

    /// What it is called over QUIC, which needs no kernel for it.
    pub fn name_over_quic(&self) -> &'static str {
        match self.choice {
            Choice::TcpStream => "tcp_stream",
            Choice::Paced => "paced",
            Choice::System => "system",
        }
    }

    /// The thresholds of TCP Stream over QUIC, if QUIC has it.
    pub(crate) fn thresholds_over_quic(&self) -> Option<Thresholds> {
        (self.choice == Choice::TcpStream).then_some(self.thresholds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_said_in_one_line_and_never_replaced_by_another_control() {
        let none: Name = "no_such_law".parse().expect("a name");
        let (law, lack) = Law::choose(None, &none);
        assert_eq!((law.name(), law.name_over_quic()), ("paced", "tcp_stream"));
        let expected = "this kernel has no no_such_law (`thalweg kernel load` gives it one); films over TCP are paced by this program instead";
        assert_eq!(lack, Some(Lack { word: "absent", why: expected.to_owned() }));
        // It is said once.
        assert_eq!(law.look(), None);
        for (choice, name) in [(Choice::Paced, "paced"), (Choice::System, "system")] {
            let (law, lack) = Law::choose(Some(choice), &none);
            assert_eq!((law.name(), law.name_over_quic(), lack), (name, name, None));
        }
    }
}
