//! Reads the scheduler's events as they come.

use super::event::SchedRecord;
use super::instance::{Instance, TraceError};
use super::joiner::Joiner;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

/// Between two reads: the buffers of `instance` hold what a busy cpu does in seconds.
const PAUSE: Duration = Duration::from_millis(100);

/// The most reads before the caller has a look again.
const READS: u32 = 1024;

/// What was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Recorded {
    /// Events of the scheduler.
    pub events: u64,
    /// Events that were lost, as they came faster than they were read.
    pub lost: u64,
    /// Lines that could not be read.
    pub malformed: u64,
}

/// A recording. Its instance is removed when it is dropped.
pub struct SchedTrace {
    pipe: File,
    buffer: Vec<u8>,
    /// How much of the buffer holds a line whose end has not come yet.
    begun: usize,
    joiner: Joiner,
    recorded: Recorded,
    // Dropped last: an instance whose pipe is open cannot be removed.
    instance: Instance,
}

impl SchedTrace {
    /// Begins to record the scheduler's events on all cpus.
    ///
    /// # Errors
    /// If this process may not trace, or the kernel cannot.
    pub fn start() -> Result<Self, TraceError> {
        let instance = Instance::new()?;
        let pipe = instance.pipe()?;
        instance.record(true)?;
        let (buffer, joiner) = (vec![0; 1 << 20], Joiner::default());
        Ok(Self { pipe, buffer, begun: 0, joiner, recorded: Recorded::default(), instance })
    }

    /// Waits a tenth of a second, and hands over what came; returns whether anything did.
    ///
    /// # Errors
    /// If the trace cannot be read.
    pub fn read(&mut self, on: &mut dyn FnMut(&SchedRecord<'_>)) -> Result<bool, TraceError> {
        // Not by `poll`: each event would wake this thread up, and so cause others.
        std::thread::sleep(PAUSE);
        let mut came = false;
        // What comes faster than it is read would keep us here.
        for _ in 0..READS {
            // A line that fills the buffer is none of the kernel's.
            if self.begun == self.buffer.len() {
                self.recorded.malformed += 1;
                self.begun = 0;
            }
            match self.pipe.read(&mut self.buffer[self.begun..]) {
                Ok(0) => return Ok(came),
                Ok(count) => {
                    came = true;
                    self.lines(self.begun + count, on);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(came),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(came),
                Err(error) => return Err(TraceError::new("read", Path::new("trace_pipe"), error)),
            }
        }
        Ok(came)
    }

    /// Stops recording, hands over the rest, and says how much there was.
    ///
    /// # Errors
    /// If the trace cannot be read.
    pub fn finish(mut self, on: &mut dyn FnMut(&SchedRecord<'_>)) -> Result<Recorded, TraceError> {
        self.instance.record(false)?;
        while self.read(on)? {}
        self.recorded.malformed += self.joiner.end();
        Ok(self.recorded)
    }

    /// Reads the lines in the first `filled` bytes of the buffer, and moves the rest to its beginning.
    fn lines(&mut self, filled: usize, on: &mut dyn FnMut(&SchedRecord<'_>)) {
        let mut from = 0;
        while let Some(length) = self.buffer[from..filled].iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(&self.buffer[from..from + length]);
            self.joiner.line(&line, &mut self.recorded, on);
            from += length + 1;
        }
        self.buffer.copy_within(from..filled, 0);
        self.begun = filled - from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched_trace::SchedEvent;
    use std::time::Instant;

    /// A recording sees what happens and leaves nothing behind; where it is refused, that is so, and said by the right error.
    #[test]
    fn a_recording_sees_this_thread_sleep_and_wake() {
        let mut trace = match SchedTrace::start() {
            Ok(trace) => trace,
            Err(error @ TraceError::NotPermitted { .. }) => {
                let probe = format!("/sys/kernel/tracing/instances/probe-{}", std::process::id());
                let is_allowed = std::fs::create_dir(&probe).is_ok();
                let _ = std::fs::remove_dir(&probe);
                assert!(!is_allowed, "an instance can be made: {error}");
                println!("skipped: {error}");
                return;
            }
            Err(error @ (TraceError::NoTracefs | TraceError::NoEvent(_))) => {
                println!("skipped: {error}");
                return;
            }
            Err(error) => panic!("tracing is neither refused nor missing: {error}"),
        };
        let folder = trace.instance.folder().to_owned();
        assert!(folder.is_dir());
        let own = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        let (mut stops, mut wakes) = (0, 0);
        let mut count = |record: &SchedRecord<'_>| match record.event {
            SchedEvent::Switch { from, .. } if from == own => stops += 1,
            SchedEvent::Woken { thread, .. } if thread == own => wakes += 1,
            _ => {}
        };
        let begun = Instant::now();
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(2));
        }
        while begun.elapsed() < Duration::from_millis(200) {
            trace.read(&mut count).expect("the trace can be read");
        }
        let recorded = trace.finish(&mut count).expect("the trace can be read");
        assert!(stops >= 20 && wakes >= 20, "{stops} stops and {wakes} wake-ups of 20 sleeps");
        assert_eq!(recorded.malformed, 0);
        assert!(!folder.exists(), "the instance is removed");
    }
}
