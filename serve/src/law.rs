//! Rate control of connections: TCP Stream in the kernel, TCP Stream over QUIC, or pacing here. It is never replaced by
//! another law silently.

mod claims;
mod connection;
mod kernel;

pub(crate) use self::connection::{ConnectionRate, Download, Transport};
pub use self::kernel::Lack;
pub(crate) use self::kernel::{Change, Kernel};

use thalweg_core::law::window::tcp_stream::Thresholds;
use thalweg_kernel::Name;

/// The requested rate control.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choice {
    /// TCP Stream: in the kernel for TCP, paced here if the kernel does not have it, and its own implementation over
    /// QUIC.
    #[default]
    TcpStream,
    /// The system's congestion control, CUBIC over QUIC, with pacing here.
    Paced,
    /// The system's congestion control alone, CUBIC over QUIC, as fast as the path permits.
    System,
}

/// The rate control of all connections.
#[derive(Debug)]
pub struct Law {
    choice: Choice,
    /// The kernel's law, if it is requested.
    kernel: Option<Kernel>,
    /// The thresholds of TCP Stream over QUIC.
    thresholds: Thresholds,
}

impl Law {
    /// The requested law; if the kernel does not have it, TCP is paced until it does, and the reason is returned.
    pub fn choose(wanted: Option<Choice>, name: &Name) -> (Law, Option<Lack>) {
        let choice = wanted.unwrap_or_default();
        let kernel = (choice == Choice::TcpStream).then(|| Kernel::new(name));
        let lack = kernel.as_ref().and_then(Kernel::recheck).and_then(|change| match change {
            Change::Lost(lack) => Some(lack),
            Change::Back { .. } => None,
        });
        let is_available = kernel.is_some() && lack.is_none();
        // One server, one law: QUIC has the thresholds of the kernel's law, if there is one.
        let thresholds = is_available.then(|| thalweg_kernel::thresholds(name).ok()).flatten().unwrap_or_default();
        (Law { choice, kernel, thresholds }, lack)
    }

    /// The name of the law over TCP.
    pub fn name(&self) -> &str {
        match (&self.kernel, self.choice) {
            (Some(kernel), _) if kernel.is_available() => kernel.name().as_str(),
            (_, Choice::TcpStream | Choice::Paced) => "paced",
            (_, Choice::System) => "system",
        }
    }

    /// The change of the kernel's law since the last look, if there is one.
    pub(crate) fn recheck(&self) -> Option<Change> {
        self.kernel.as_ref()?.recheck()
    }

    /// The name of the law over QUIC, which needs no kernel support.
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
    fn missing_kernel_law_is_reported_in_one_line_and_tcp_is_paced() {
        let none: Name = "no_such_law".parse().expect("a name");
        let (law, lack) = Law::choose(None, &none);
        assert_eq!((law.name(), law.name_over_quic()), ("paced", "tcp_stream"));
        let Lack { word, why } = lack.expect("there is no such control");
        assert_eq!(word, "absent");
        assert!(
            why.contains("no no_such_law") && why.contains("`thalweg kernel load`") && !why.contains('\n'),
            "{why}"
        );
        // Reported once.
        assert_eq!(law.recheck(), None);
        for (choice, name) in [(Choice::Paced, "paced"), (Choice::System, "system")] {
            let (law, lack) = Law::choose(Some(choice), &none);
            assert_eq!((law.name(), law.name_over_quic(), lack), (name, name, None));
        }
    }
}
