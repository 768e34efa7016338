//! Bursts of messages over one connection, and the delay of each message.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::noise;

/// The bytes of a message.
pub const MESSAGE: usize = 1000;

/// The number of messages in a burst.
pub const BURST: usize = 10;

/// The interval between bursts.
pub const EVERY: Duration = Duration::from_millis(267);

/// The time allowed for outstanding messages, one interval after the last burst.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// The bytes of a message's header: its due time and its number. Pseudorandom bytes follow, because forwarders
/// compress.
const HEAD: usize = 16;

/// The bursts that a run writes.
#[derive(Clone, Copy, Debug)]
pub struct Bursts {
    /// The number of bursts at the start that do not count.
    pub warm_up: usize,
    /// The number of bursts that count.
    pub measured: usize,
}

impl Bursts {
    /// The time until all measured bursts are due.
    pub fn time(&self) -> Duration {
        EVERY * (self.warm_up + self.measured) as u32
    }

    /// Writes all bursts, and returns the delay of each message of the measured bursts in seconds: from the time that
    /// its burst was due, when all messages of the burst were to be written at once, until the message has been read
    /// whole and in order. The delay is infinite for messages that were not read within [`TIMEOUT`] after the last
    /// burst. Calls `measured` when the first measured burst is due, and again one interval after the last.
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
        // A writer that is still writing has lost its connection now.
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
        let deadline = start + self.time() + TIMEOUT;
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

/// Reports how late each message is until the connection ends; returns an error message if a message was corrupt.
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
