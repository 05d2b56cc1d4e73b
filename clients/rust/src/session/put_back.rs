//! What the caller never had: it was interrupted between the hand-out and the moment at which it had the batch.
//!
//! A language that raises exceptions between any two steps, as Python does for a signal, cannot take a batch over and
//! say so in one step. Whoever binds to it keeps what [`next`](Session::next) gave until the caller has it, and puts
//! back what it never had.

use super::Session;
use crate::batch::Batch;
use crate::error::Broken;

impl Session {
    /// Puts back the batch that the last [`next`](Self::next) gave, as if it had not been handed out: it comes next,
    /// and [`state`](Self::state) does not count it as consumed. Call it before anything else of the session. Nothing
    /// happens to a batch that was acknowledged or given back.
    ///
    /// # Errors
    /// [`Broken::Forked`] in a forked child.
    pub fn put_back(&mut self, batch: &Batch) -> Result<(), Broken> {
        self.hands.owner().check()?;
        if self.hands.put_back(batch.ticket()) {
            self.inbox.put_back(batch.offer());
            self.untaken = Some(batch.again());
        }
        Ok(())
    }

    /// Puts back the end of an epoch that the last [`next`](Self::next) gave: it is told again.
    ///
    /// # Errors
    /// [`Broken::Forked`] in a forked child.
    pub fn put_back_end(&mut self, epoch: u64) -> Result<(), Broken> {
        self.hands.owner().check()?;
        self.inbox.put_back_end(epoch);
        Ok(())
    }
}
