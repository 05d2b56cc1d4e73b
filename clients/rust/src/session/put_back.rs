//! Puts back a batch that the caller never got, because it was interrupted during the hand-out.
//!
//! Python may raise an exception between any two steps, for a signal for example. So it cannot take a batch and confirm that
//! in one step. A binding for such a language keeps the batch that [`next`](Session::next) returned until the caller has it,
//! and puts it back if the caller never got it.

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

    /// Puts back the end of an epoch that the last [`next`](Self::next) gave: the next call gives it again.
    ///
    /// # Errors
    /// [`Broken::Forked`] in a forked child.
    pub fn put_back_end(&mut self, epoch: u64) -> Result<(), Broken> {
        self.hands.owner().check()?;
        self.inbox.put_back_end(epoch);
        Ok(())
    }
}
