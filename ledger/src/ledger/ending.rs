//! Epochs that end early, for the trainers of one worker or for all ranks of a run (semantics rules 10 and 40).

use forebay_proto::v1::{AbandonReply, AbandonRequest};

use super::{Ledger, ReturnedPositions, marks::SUMMED_AT_ONCE, tallies::PositionFate};
use crate::error::LedgerError;

/// Epochs, ended one shortly after the other by other ranks, whose late receipts count. It bounds what is kept of them.
const LATE_EPOCHS: u64 = 8;

/// What ended with an epoch.
struct EndedEpoch {
    /// Records that are abandoned.
    abandoned: u64,
    /// What had been leased of them.
    leased: Vec<ReturnedPositions>,
}

impl Ledger {
    /// Ends an epoch: all that is not complete in it counts as abandoned, and its leases are fenced.
    pub(crate) fn abandon(
        &mut self,
        worker: &str,
        request: &AbandonRequest,
        now: u64,
    ) -> Result<AbandonReply, LedgerError> {
        let &AbandonRequest { epoch, generation, .. } = request;
        let instead = "End those first, or let each node read a shard of its own.";
        self.sole_reader(worker, now, &format!("reset() ends epoch {epoch} for a sole reader"), instead)?;
        self.settle();
        if !self.has_begun(epoch) {
            return Err(LedgerError::Invalid(format!(
                "Epoch {epoch} has not begun; the ledger leases epoch {} at most.",
                self.cursor_epoch
            )));
        }
        if generation != 0 && generation != self.generation && self.progress().floor <= epoch {
            return Err(LedgerError::Invalid(format!(
                "Epoch {epoch} is not ended: a state was loaded while reset() was under way. Call reset() again if the epoch \
                 that the stream is in now is to end as well."
            )));
        }
        self.go_on_after_failure();
        self.abandon_shares(epoch);
        let abandoned = self.end_epoch(epoch).abandoned;
        let failure = Some(self.failure.clone());
        Ok(AbandonReply { abandoned, progress: Some(self.progress()), failure })
    }

    /// Ends all that is left of the epochs up to this one, because another rank of the run has ended them (semantics rule 40).
    /// The rank's trainers know nothing of it yet, so receipts count that come while the leases would have lasted.
    pub(crate) fn end_epochs(&mut self, last: u64, now: u64) {
        let first = self.progress().floor;
        if first > last {
            return;
        }
        let mut leased = Vec::new();
        for epoch in first..=last {
            if self.has_begun(epoch) {
                leased.extend(self.end_epoch(epoch).leased);
                self.settle();
            }
        }
        // Receipts of epochs that were ended just before may be under way still.
        leased.extend(std::mem::take(&mut self.abandoned.0).into_iter().filter(|back| back.epoch + LATE_EPOCHS > last));
        leased.sort_by_key(|back| (back.epoch, back.start));
        self.abandoned = (leased, now.saturating_add(self.times.lease_ttl));
        // The rank's daemon begins anew behind them.
        self.generation += 1;
        self.touch();
    }

    /// Whether positions of the epoch may be leased, or were.
    fn has_begun(&self, epoch: u64) -> bool {
        epoch < self.cursor_epoch || (epoch == self.cursor_epoch && !self.exhausted())
    }

    /// Abandons what is not complete of an epoch up to the one that is leased.
    fn end_epoch(&mut self, epoch: u64) -> EndedEpoch {
        let mut leased = Vec::new();
        let holders: Vec<_> = self.index.holders_of(epoch).cloned().collect();
        for name in holders {
            let Some(worker) = self.workers.get_mut(&*name) else { continue };
            worker.leases.retain(|&id, held| {
                let ends = held.lease.epoch == epoch;
                if ends {
                    let back = |span| ReturnedPositions {
                        lease: id,
                        lease_start: held.lease.start,
                        worker: name.to_string(),
                        ..ReturnedPositions::unleased(epoch, span)
                    };
                    leased.extend(held.open.iter().map(back));
                }
                !ends
            });
            self.note(&name);
            self.dirty.workers.insert(name.to_string());
        }
        for unleased in [&mut self.returned, &mut self.tails] {
            leased.extend(unleased.extract_if(.., |back| back.epoch == epoch));
        }
        let mut ranges: Vec<_> = leased.iter().map(|back| back.start..back.end).collect();
        if epoch == self.cursor_epoch {
            let len = self.plan.epoch_len(epoch);
            ranges.push(self.cursor..len);
            self.cursor = len;
        }
        ranges.retain(|range| !range.is_empty());
        if !ranges.is_empty() {
            self.touch();
        }
        // What follows each other in the order is one range for the audit.
        ranges.sort_unstable_by_key(|range| range.start);
        let positions: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        let abandon = |range| {
            // Nobody is answered meanwhile.
            if positions > SUMMED_AT_ONCE {
                return self.account_unsummed(epoch, range, PositionFate::Abandoned);
            }
            self.account_by_plan(epoch, range, |tallies, plan, part, sum| {
                tallies.abandoned += sum;
                tallies.count(plan, epoch, part, PositionFate::Abandoned);
            })
        };
        EndedEpoch { abandoned: ranges.iter().map(abandon).sum(), leased }
    }
}
