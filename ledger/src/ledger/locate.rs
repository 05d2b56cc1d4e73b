//! Where a record is: its positions in the epochs that the ledger is in, and what has become of each (for
//! `forebay status --where`).

use forebay_proto::v1::{LocateReply, RecordPlace, record_place::State};

use super::{LeaseOut, Ledger, Worker};
use crate::error::LedgerError;

impl Ledger {
    /// The record's positions in the first epoch that is not complete, and in the next one if it has begun. Of a run that is
    /// done, those of its last epoch. A ledger of a shard or of a rank has a record in some epochs only.
    pub fn places_of(&mut self, record: u64) -> Result<LocateReply, LedgerError> {
        let records = self.plan.spec().records;
        if record >= records {
            let last = records.saturating_sub(1);
            return Err(LedgerError::Invalid(format!(
                "The dataset has records 0 to {last}; there is no record {record}."
            )));
        }
        let progress = self.progress();
        let done = self.epochs > 0 && progress.floor >= self.epochs;
        let first = if done { self.epochs - 1 } else { progress.floor };
        // Behind the last epoch there is none, although the cursor goes there.
        let end = if self.epochs > 0 { self.epochs - 1 } else { u64::MAX };
        let last = self.cursor_epoch.clamp(first, end);
        let positions =
            |epoch| self.plan.positions_of(epoch, record).into_iter().map(move |position| (epoch, position));
        // Behind the end of the account, they are those of other ranks.
        let is_own = |place: &(u64, u64)| self.ends.is_none_or(|ends| *place < (ends.epoch, ends.position));
        let places: Vec<(u64, u64)> = (first..=last).flat_map(positions).filter(is_own).collect();
        let place = |&(epoch, position): &(u64, u64)| self.place(epoch, position, record);
        Ok(LocateReply { places: places.iter().map(place).collect() })
    }

    /// What has become of one position.
    fn place(&self, epoch: u64, position: u64, record: u64) -> RecordPlace {
        let place = RecordPlace { epoch, position, ..RecordPlace::default() };
        if (epoch, position) >= (self.cursor_epoch, self.cursor) {
            return RecordPlace { state: State::Waiting.into(), ..place };
        }
        let has = |held: &&LeaseOut| {
            held.lease.epoch == epoch && held.open.iter().any(|span| (span.start..span.end).contains(&position))
        };
        let holder = |(name, worker): (&String, &Worker)| {
            let held = worker.leases.values().find(has)?;
            Some(RecordPlace {
                state: State::Leased.into(),
                lease: held.lease.id,
                worker: name.clone(),
                process: worker.process.clone(),
                ..place.clone()
            })
        };
        if let Some(leased) = self.workers.iter().find_map(holder) {
            return leased;
        }
        let back = |back: &&super::ReturnedPositions| back.epoch == epoch && (back.start..back.end).contains(&position);
        if let Some(returned) = self.unleased().find(back) {
            let worker = returned.worker.clone();
            return RecordPlace { state: State::Returned.into(), lease: returned.lease, worker, ..place };
        }
        if let Some(bad) = self.quarantine.get(&(epoch, record)) {
            return RecordPlace { state: State::Bad.into(), reason: bad.reason.clone(), ..place };
        }
        let others = |tallies: &super::Tallies| tallies.dropped.count + tallies.abandoned.count > 0;
        let state = if self.tallies.get(epoch).is_some_and(others) { State::Complete } else { State::Delivered };
        RecordPlace { state: state.into(), ..place }
    }
}
