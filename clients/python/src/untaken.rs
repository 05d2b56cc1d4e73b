//! What `next()` gave last, until Python has taken it over.
//!
//! An exception may come between any two steps of Python: a Ctrl-C, a signal's handler that raises, another thread that
//! raises here. A hand-out that it throws away must not count as consumed. So Python says when it has it, by storing an
//! attribute right before it returns to its caller, and what it never said that of is put back by the next call.

use forebay_client::{Broken, Session};
use pyo3::prelude::*;

use crate::batch::Batch;

/// At most one hand-out, with its number.
#[derive(Debug, Default)]
pub(crate) struct Untaken {
    /// Of the last hand-out.
    number: u64,
    what: Option<HandOut>,
}

/// What can be put back.
#[derive(Debug)]
pub(crate) enum HandOut {
    Batch(Py<Batch>),
    EpochEnd(u64),
}

impl Untaken {
    /// Gives the number by which Python says that it has it.
    pub(crate) fn hand_out(&mut self, what: HandOut) -> u64 {
        self.number += 1;
        self.what = Some(what);
        self.number
    }

    /// Python has it. None where it was put back meanwhile.
    pub(crate) fn take(&mut self, number: u64) -> Option<HandOut> {
        if number == self.number { self.what.take() } else { None }
    }

    /// Python never took it over: it comes again. With the session that is given, nothing else was done since.
    pub(crate) fn put_back(&mut self, client: &mut Session) -> Result<(), Broken> {
        match self.what.take() {
            Some(HandOut::Batch(batch)) => client.put_back(batch.get().lent()),
            Some(HandOut::EpochEnd(epoch)) => client.put_back_end(epoch),
            None => Ok(()),
        }
    }

    /// The session ends, and gives everything back.
    pub(crate) fn clear(&mut self) -> Option<HandOut> {
        self.what.take()
    }
}
