//! How long the daemon waits for a child. Every wait has an end.

use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// How often it is looked whether an answer is still wanted.
const LOOK: Duration = Duration::from_millis(100);

/// A deadline, and whether the answer is still wanted.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    /// None, if it is beyond the end of the clock.
    deadline: Option<Instant>,
    is_withdrawn: Option<&'a dyn Fn() -> bool>,
}

impl<'a> Patience<'a> {
    /// Waits until then.
    pub fn until(deadline: Instant) -> Self {
        Self { deadline: Some(deadline), is_withdrawn: None }
    }

    /// Waits for this time, from now on.
    pub fn lasting(time: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(time), is_withdrawn: None }
    }

    /// Waits no longer once this is true. A wait notices it within a tenth of a second.
    #[must_use]
    pub fn unless(self, is_withdrawn: &'a dyn Fn() -> bool) -> Self {
        Self { is_withdrawn: Some(is_withdrawn), ..self }
    }

    /// The time that is left.
    ///
    /// # Errors
    /// There is none, or the answer is not wanted any more.
    fn left(&self) -> io::Result<Duration> {
        let left = self.deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
        let is_over = left.is_zero() || self.is_withdrawn.is_some_and(|is_withdrawn| is_withdrawn());
        if is_over { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }

    /// Waits until one of these can be used: which of them can.
    ///
    /// # Errors
    /// None can in time.
    pub(crate) fn wait<const N: usize>(&self, fds: [(BorrowedFd<'_>, PollFlags); N]) -> io::Result<[bool; N]> {
        let mut polled = fds.map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags));
        loop {
            let left = self.left()?;
            let left = if self.is_withdrawn.is_some() { left.min(LOOK) } else { left };
            // A time that the system cannot express has no end.
            let timeout = Timespec::try_from(left).ok();
            match poll(&mut polled, timeout.as_ref()) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(polled.map(|polled| !polled.revents().is_empty())),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl fmt::Debug for Patience<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Patience").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::Write as _;
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn a_wait_ends_with_its_deadline_or_when_the_answer_is_not_wanted_any_more() {
        let (reader, mut writer) = io::pipe().unwrap();
        let fds = [(reader.as_fd(), PollFlags::IN)];
        let late = |patience: Patience<'_>| patience.wait(fds).unwrap_err().kind();
        assert_eq!(late(Patience::lasting(Duration::from_millis(5))), io::ErrorKind::TimedOut);
        let looks = Cell::new(0);
        let is_withdrawn = || looks.replace(looks.get() + 1) == 2;
        assert_eq!(late(Patience::lasting(Duration::MAX).unless(&is_withdrawn)), io::ErrorKind::TimedOut);
        assert_eq!(looks.get(), 3);
        writer.write_all(b"x").unwrap();
        assert_eq!(Patience::lasting(Duration::MAX).wait(fds).unwrap(), [true]);
        assert_eq!(late(Patience::until(Instant::now())), io::ErrorKind::TimedOut);
    }
}
