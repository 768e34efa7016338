//! Standard input and output through a tunnel.

use std::io::{self, ErrorKind, IsTerminal};

use thalweg_core::session::mux;
use thalweg_core::session::tunnel::Id;

use super::tunnel::{LocalSide, LocalStream};
use crate::inherited;
use crate::watch::Watch;

/// The one connection of a pipe.
#[derive(Debug)]
pub struct StandardIo {
    /// Present until the connection takes it.
    stream: Option<Stdio>,
    opens: bool,
    is_taken: bool,
}

/// Standard input and output as one outlet.
#[derive(Debug)]
pub struct Stdio {
    /// None if the input is at its end from the beginning.
    input: Option<inherited::Stream>,
    /// None once the output has ended.
    output: Option<inherited::Stream>,
}

impl StandardIo {
    /// Opens the connection itself if `opens`, or waits for the peer's.
    ///
    /// # Errors
    /// There is no standard input or output.
    pub fn open(opens: bool) -> io::Result<StandardIo> {
        // A terminal is not read while the output is none: it would keep both ends from ever ending.
        let is_idle = io::stdin().is_terminal() && !io::stdout().is_terminal();
        let input = if is_idle { None } else { Some(inherited::Stream::stdin()?) };
        let stream = Stdio { input, output: Some(inherited::Stream::stdout()?) };
        Ok(StandardIo { stream: Some(stream), opens, is_taken: false })
    }

    fn take(&mut self) -> Option<Stdio> {
        self.is_taken |= self.stream.is_some();
        self.stream.take()
    }
}

impl LocalSide for StandardIo {
    type LocalStream = Stdio;

    const SIDE: &'static str = "pipe";
    const IS_SINGLE: bool = true;
    const REFUSAL: mux::Reason = mux::Reason::Taken;

    fn watch(&self, _watch: &Watch, _token: u64) -> io::Result<()> {
        Ok(())
    }

    fn accept(&mut self) -> io::Result<Option<Stdio>> {
        Ok(if self.opens { self.take() } else { None })
    }

    fn admit(&mut self, _id: Id) -> io::Result<Stdio> {
        let stream = if self.opens { None } else { self.take() };
        stream.ok_or_else(|| io::Error::other("this pipe is in use"))
    }

    fn is_over(&self) -> bool {
        self.is_taken
    }

    fn survives(&self, was_up: bool) -> bool {
        was_up || !self.opens
    }
}

impl LocalStream for Stdio {
    fn name(&self) -> String {
        "standard input and output".to_owned()
    }

    fn settle(&mut self, watch: &Watch, token: u64) -> io::Result<bool> {
        for stream in [&self.input, &self.output].into_iter().flatten() {
            stream.watch(watch, token)?;
        }
        Ok(true)
    }

    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.input.as_mut().map_or(Ok(0), |input| input.read(buf))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.as_mut().map_or(Err(ErrorKind::BrokenPipe.into()), |output| output.write(bytes))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.output = None;
        inherited::end_stdout()
    }

    fn abort(self, _why: &str) {}
}
