//! The decoder's work in this thread, which ends when the picture's time is over: between parts of the file and of the picture.

use std::io::{self, IoSliceMut, Read};
use std::time::Instant;

use jxl::api::{JxlBitstreamInput, JxlParallelRunner, JxlParallelRunnerFun};
use jxl::error::Error;

use crate::fault::{Fault, Limits};

/// The time of a picture, whose work began then.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Clock<'a> {
    pub(in crate::cpu) limits: &'a Limits,
    pub(in crate::cpu) begun: Instant,
}

impl Clock<'_> {
    pub(super) fn check(&self) -> Result<(), Fault> {
        self.limits.check_time(self.begun)
    }

    /// The decoder passes errors of I/O on as they are.
    fn check_io(&self) -> io::Result<()> {
        self.check().map_err(io::Error::other)
    }
}

impl JxlParallelRunner for Clock<'_> {
    fn run(&mut self, num: usize, work: &JxlParallelRunnerFun<'_>) -> Result<(), Error> {
        for part in 0..num {
            self.check_io()?;
            work(part)?;
        }
        Ok(())
    }

    fn num_threads(&self) -> usize {
        1
    }

    fn run_ordered(
        &mut self,
        num: usize,
        _most_threads: Option<usize>,
        work: &JxlParallelRunnerFun<'_>,
    ) -> Result<(), Error> {
        self.run(num, work)
    }
}

/// A file's bytes.
pub(super) struct TimedInput<'a> {
    rest: &'a [u8],
    clock: Clock<'a>,
}

impl<'a> TimedInput<'a> {
    pub(super) fn new(bytes: &'a [u8], clock: Clock<'a>) -> Self {
        Self { rest: bytes, clock }
    }
}

impl JxlBitstreamInput for TimedInput<'_> {
    fn available_bytes(&mut self) -> io::Result<usize> {
        Ok(self.rest.len())
    }

    fn read(&mut self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.clock.check_io()?;
        self.rest.read_vectored(buffers)
    }

    fn skip(&mut self, bytes: usize) -> io::Result<usize> {
        self.clock.check_io()?;
        let (skipped, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.rest = rest;
        Ok(skipped.len())
    }
}
