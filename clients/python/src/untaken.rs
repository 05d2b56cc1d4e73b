//! The batch that `next()` handed out last, until Python has taken it over.
//!
//! An exception may come between any two steps of Python: by Ctrl-C, by a signal handler, or by another thread. A batch that
//! it throws away must not count as consumed. So Python says when it has the batch: it stores an attribute right before it
//! returns to its caller. If Python did not confirm the batch, the next call puts it back.

use forebay_client::{Broken, Session};
use pyo3::prelude::*;

use crate::batch::Batch;

/// At most one hand-out, with its number.
#[derive(Debug, Default)]
pub(crate) struct Untaken {
    /// The number of the last hand-out.
    number: u64,
    what: Option<HandOut>,
}

/// A hand-out that can be put back.
#[derive(Debug)]
pub(crate) enum HandOut {
    Batch(Py<Batch>),
    EpochEnd(u64),
}

impl Untaken {
    /// Returns the number with which Python says that it has the batch.
    pub(crate) fn hand_out(&mut self, what: HandOut) -> u64 {
        self.number += 1;
        self.what = Some(what);
        self.number
    }

    /// Python has taken the batch over. None if it was put back meanwhile.
    pub(crate) fn take(&mut self, number: u64) -> Option<HandOut> {
        if number == self.number { self.what.take() } else { None }
    }

    /// Python never took the batch over, so the next call returns it again. The session must not have been used since.
    pub(crate) fn put_back(&mut self, client: &mut Session) -> Result<(), Broken> {
        match self.what.take() {
            Some(HandOut::Batch(batch)) => client.put_back(batch.get().lent()),
            Some(HandOut::EpochEnd(epoch)) => client.put_back_end(epoch),
            None => Ok(()),
        }
    }

    /// Forgets the hand-out: the session ends, and returns everything.
    pub(crate) fn clear(&mut self) -> Option<HandOut> {
        self.what.take()
    }
}
