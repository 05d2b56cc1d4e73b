//! Batches in the making by epoch: which are being made, and the one that gives its slot to an earlier epoch (semantics rule
//! 11).

use crate::batch::batcher::Batcher;
use crate::batch::draft::Draft;
use crate::record::Position;

impl Batcher {
    /// The youngest batch in the making that is of an epoch behind this one.
    pub(crate) fn youngest_after(&self, epoch: u64) -> Option<u64> {
        let later = |(_, draft): &(&u64, &Draft)| draft.epoch() > epoch;
        self.drafts.iter().rev().find(later).map(|(batch, _)| *batch)
    }

    /// Whether pictures of the epoch are being made.
    pub(crate) fn is_busy_with(&self, epoch: u64) -> bool {
        self.of_epoch(epoch).any(|(_, draft)| draft.is_busy())
    }

    /// Gives a batch in the making up, whose slot the caller takes. Gives the positions that it answers for. If they all
    /// `come_back` to this daemon, its epoch ends behind them: the batches before it may wait for their records.
    pub(crate) fn withdraw(&mut self, batch: u64, come_back: bool) -> Vec<Position> {
        let Some(draft) = self.drafts.remove(&batch) else { return Vec::new() };
        self.open.retain(|_, open| *open != batch);
        self.seats.retain(|_, seat| *seat != batch);
        if come_back {
            self.goes_on(draft.epoch());
        }
        self.settle(draft.epoch());
        draft.owned().chain(draft.without()).collect()
    }
}
