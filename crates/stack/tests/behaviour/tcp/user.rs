//! A user of a connection that writes a known stream, reads at its own pace, and checks what it reads.

use rand::{Rng, RngExt};
use std::time::Duration;
use warmcore_stack::tcp::{Connection, End, Event, UserError};

/// The byte at `offset` of the stream of `salt`. Any two places differ soon after.
fn stream_byte(salt: u32, offset: usize) -> u8 {
    ((offset as u32 ^ salt).wrapping_mul(0x9e37_79b1) >> 24) as u8
}

pub(super) struct User {
    /// Which stream is written, and which is read.
    salts: (u32, u32),
    /// Bytes to write, and to expect.
    lengths: (usize, usize),
    written: usize,
    read: usize,
    is_closed: bool,
    saw_end: bool,
    /// Whether each event that comes once has come.
    seen: Vec<Event>,
    /// Most bytes in one call.
    most: usize,
    /// How often it sleeps after reading, and for how long.
    sleepiness: f64,
    sleep: Duration,
    pub(super) wakes: Option<Duration>,
    /// After writing so many bytes it gives up.
    pub(super) aborts_after: Option<usize>,
}

impl User {
    pub(super) fn new(salts: (u32, u32), lengths: (usize, usize), random: &mut impl Rng) -> Self {
        Self {
            salts,
            lengths,
            written: 0,
            read: 0,
            is_closed: false,
            saw_end: false,
            seen: Vec::new(),
            most: random.random_range(1..4000),
            sleepiness: [0.0, 0.0, 0.3][random.random_range(0..3)],
            sleep: Duration::from_millis(random.random_range(1..3000)),
            wakes: None,
            aborts_after: None,
        }
    }

    /// Does what can be done at `now`.
    pub(super) fn acts(
        &mut self,
        now: Duration,
        connection: &mut Connection,
        random: &mut impl Rng,
    ) -> Result<(), String> {
        while let Some(event) = connection.event() {
            self.notes(event)?;
        }
        if self.wakes.is_some_and(|at| now < at) {
            return Ok(());
        }
        self.wakes = None;
        if connection.end().is_some_and(|end| end != End::Closed) {
            return Ok(());
        }
        self.reads(now, connection, random)?;
        self.writes(connection)
    }

    fn notes(&mut self, event: Event) -> Result<(), String> {
        let is_once = !matches!(event, Event::Readable | Event::Writable);
        if is_once && self.seen.contains(&event) {
            return Err(format!("{event:?} came twice"));
        }
        self.seen.push(event);
        Ok(())
    }

    fn reads(
        &mut self,
        now: Duration,
        connection: &mut Connection,
        random: &mut impl Rng,
    ) -> Result<(), String> {
        let mut buffer = vec![0; self.most];
        loop {
            let length = connection.read(&mut buffer).map_err(|error| format!("read: {error}"))?;
            for byte in &buffer[..length] {
                if self.read >= self.lengths.1 || *byte != stream_byte(self.salts.1, self.read) {
                    return Err(format!("byte {} is not what was written", self.read));
                }
                self.read += 1;
            }
            if length == 0 {
                break;
            }
            if random.random_bool(self.sleepiness) {
                self.wakes = Some(now + self.sleep);
                return Ok(());
            }
        }
        if connection.is_at_end() && !self.saw_end {
            self.saw_end = true;
            if self.read != self.lengths.1 {
                return Err(format!("the stream ends after {} of {} bytes", self.read, self.lengths.1));
            }
        }
        Ok(())
    }

    fn writes(&mut self, connection: &mut Connection) -> Result<(), String> {
        if self.is_closed {
            return Ok(());
        }
        while self.written < self.lengths.0 {
            let end = self.lengths.0.min(self.written + self.most);
            let data: Vec<u8> = (self.written..end).map(|at| stream_byte(self.salts.0, at)).collect();
            match connection.write(&data) {
                Ok(0) | Err(UserError::NotConnected) => return Ok(()),
                Ok(length) => self.written += length,
                Err(error) => return Err(format!("write: {error}")),
            }
            if self.aborts_after.is_some_and(|after| self.written >= after) {
                connection.abort();
                return Ok(());
            }
        }
        // A connection that is closed without a peer is over at once.
        if self.seen.contains(&Event::Connected) {
            connection.close();
            self.is_closed = true;
        }
        Ok(())
    }

    /// Whether everything was written and read, and the end of the stream was seen.
    pub(super) fn is_satisfied(&self) -> bool {
        self.saw_end && self.is_closed && self.written == self.lengths.0
    }
}
