//! Waits of a session: signals and `close()` end them, and functions of the user are called meanwhile.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use forebay_client::{Notice, Watch};
use pyo3::prelude::*;

use crate::error::{Raise, closed};
use crate::log::warn;
use crate::step_door::{Asked, StepHost};

/// Looks for signals and for `close()` between the slices of a wait.
struct Signals<'a> {
    closing: &'a AtomicBool,
    raised: Option<PyErr>,
    /// What is done meanwhile, and what tells that there is more of it.
    steps: Option<&'a StepHost>,
    asked: Option<Asked>,
}

/// Runs a call that may wait, and turns an interruption into the signal's exception.
pub(crate) fn waiting<T: Send, E: Raise>(
    py: Python<'_>,
    closing: &AtomicBool,
    steps: Option<&StepHost>,
    act: impl FnOnce(&mut dyn Watch) -> Result<T, E> + Send,
) -> PyResult<T> {
    let mut signals = Signals { closing, raised: None, steps, asked: None };
    match py.detach(|| act(&mut signals)) {
        Ok(value) => Ok(value),
        Err(error) if error.is_interruption() => Err(signals.raised.unwrap_or_else(|| closed(py))),
        Err(error) => Err(error.raise(py)),
    }
}

impl Watch for Signals<'_> {
    fn keep_waiting(&mut self) -> bool {
        if self.closing.load(Ordering::Relaxed) {
            return false;
        }
        let Some(raised) = Python::try_attach(|py| py.check_signals().err()) else { end_with_the_process() };
        // The first one ends the wait.
        self.raised = self.raised.take().or(raised);
        if let (None, Some(steps)) = (&self.raised, self.steps) {
            match Python::try_attach(|py| steps.serve(py)) {
                Some(Ok(asked)) => self.asked = Some(asked),
                Some(Err(raised)) => self.raised = Some(raised),
                None => end_with_the_process(),
            }
        }
        // A handler, or a function, may have closed the session.
        self.raised.is_none() && !self.closing.load(Ordering::Relaxed)
    }

    fn notice(&mut self, notice: &Notice) {
        // Without an interpreter there is no log to write to.
        let _told = Python::try_attach(|py| warn(py, &notice.to_string()));
    }

    fn wakes_by(&self) -> Option<BorrowedFd<'_>> {
        self.asked.as_ref().map(AsFd::as_fd)
    }
}

/// The interpreter has ended while a daemon thread waited. There is nothing left that it could return to, and the
/// process ends at any moment.
fn end_with_the_process() -> ! {
    loop {
        std::thread::park();
    }
}
