//! Gives up the last positions of an epoch unread, when they are too few for a batch and the policy drops them. So a storage that
//! does not give them holds nothing up.

use super::stage::ReadStage;
use super::{ReadAhead, ReadTicket};
use crate::record::Position;

impl<B> ReadAhead<B> {
    /// Takes all that was not taken of the first epoch with something to take, up to `limit`, if nothing of that epoch is left to
    /// lease and there are no more positions than `most` says. Their reads give nothing any more.
    pub(crate) fn leave_rest(&mut self, limit: u64, most: impl Fn(u64) -> u64) -> Vec<Position> {
        let first = self.epochs.range_mut(..=limit).find(|(_, epoch)| !epoch.is_empty());
        let Some((&number, epoch)) = first.filter(|(number, _)| **number < self.drained) else { return Vec::new() };
        let in_spans: u64 = epoch.spans.iter().map(|(span, next)| span.len - next).sum();
        let count = in_spans + epoch.tickets.len() as u64;
        if !epoch.bare.is_empty() || count > most(number) {
            return Vec::new();
        }
        let mut left_out = Vec::new();
        for ReadTicket { position, stage, .. } in epoch.tickets.drain(..) {
            left_out.push(position);
            match stage {
                ReadStage::Done(Ok(read)) => self.used = self.used.saturating_sub(read.reserved),
                // Its room comes back with its thread, or with its answer.
                ReadStage::Reading { reserved, lost: false, .. } => self.in_flight.remove(reserved),
                ReadStage::Waiting(_) => self.again -= 1,
                ReadStage::Done(Err(_)) | ReadStage::Reading { .. } => {}
            }
        }
        for (span, next) in epoch.spans.drain(..) {
            left_out.extend((next..span.len).map(|offset| span.position(offset)));
        }
        left_out
    }
}
