//! Bursts of messages over one connection, and how long each message takes.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::noise;

/// Bytes of a message.
pub const MESSAGE: usize = 1000;

/// Messages of a burst.
pub const BURST: usize = 10;

/// From one burst to the next.
pub const EVERY: Duration = Duration::from_millis(267);

/// How long the last message may take.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// When a message was due, and which one it is, in front of bytes that nothing can be foretold of: forwarders compress.
const HEAD: usize = 16;

/// What is written.
#[derive(Clone, Copy, Debug)]
pub struct Bursts {
    /// Bursts that do not count, at the start.
    pub warm_up: usize,
    /// Bursts that count.
    pub measured: usize,
}

impl Bursts {
    /// Until all bursts that are measured are due.
    pub fn time(&self) -> Duration {
        EVERY * (self.warm_up + self.measured) as u32
    }

    /// Writes all bursts. Seconds from the time that a burst was due, when all of its messages were to be written at
    /// once, until each of its messages has been read whole and in order; infinite for those that were not read within
    /// [`PATIENCE`] after the last burst. `measured` is called when the first burst that counts is due, and when the
    /// last has been.
    pub fn run(
        self,
        connection: Connection,
        mut measured: impl FnMut() -> Result<(), String>,
    ) -> Result<Vec<f64>, String> {
        let Connection { mut writer, mut reader, close } = connection;
        let start = Instant::now();
        let (arrivals, arrived) = channel();
        let writing = thread::spawn(move || self.write(&mut *writer, start));
        let reading = thread::spawn(move || read(&mut *reader, start, &arrivals));
        thread::sleep(EVERY * self.warm_up as u32);
        measured()?;
        thread::sleep(self.time().saturating_sub(start.elapsed()));
        measured()?;
        let delays = self.collect(&arrived, start);
        close();
        // A writer that still has something to write has lost its connection now.
        let _ = writing.join();
        match reading.join().expect("the reader does not panic") {
            Some(wrong) => Err(wrong),
            None => Ok(delays),
        }
    }

    fn write(self, writer: &mut dyn Write, start: Instant) -> std::io::Result<()> {
        for burst in 0..self.warm_up + self.measured {
            let due = EVERY * burst as u32;
            thread::sleep(due.saturating_sub(start.elapsed()));
            for nth in 0..BURST {
                writer.write_all(&message(due.as_nanos() as u64, (burst * BURST + nth) as u64))?;
            }
        }
        Ok(())
    }

    fn collect(self, arrived: &Receiver<f64>, start: Instant) -> Vec<f64> {
        let (first, all) = (self.warm_up * BURST, (self.warm_up + self.measured) * BURST);
        let deadline = start + self.time() + PATIENCE;
        let mut delays = Vec::with_capacity(all);
        while delays.len() < all {
            match arrived.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(delay) => delays.push(delay),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        delays.resize(all, f64::INFINITY);
        delays.split_off(first)
    }
}

/// Tells how late each message is, until the connection ends; what was wrong with one, if that is why.
fn read(reader: &mut dyn Read, start: Instant, arrivals: &Sender<f64>) -> Option<String> {
    let mut came = [0; MESSAGE];
    let mut number = 0;
    while reader.read_exact(&mut came).is_ok() {
        let at = start.elapsed();
        let due = u64::from_be_bytes(came[..8].try_into().expect("eight bytes"));
        if came[..] != message(due, number) {
            return Some(format!("message {number} is not what was written"));
        }
        number += 1;
        if arrivals.send(at.saturating_sub(Duration::from_nanos(due)).as_secs_f64()).is_err() {
            break;
        }
    }
    None
}

fn message(due: u64, number: u64) -> Vec<u8> {
    let mut bytes = [due.to_be_bytes(), number.to_be_bytes()].concat();
    let mut seed = number << 32;
    bytes.extend(noise(&mut seed, MESSAGE - HEAD));
    bytes
}
