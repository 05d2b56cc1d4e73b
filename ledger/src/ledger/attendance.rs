//! Which trainers read the stream on which nodes, and who may therefore reset or restore it (semantics rules 15, 23 and 38).

use std::collections::BTreeSet;

use forebay_proto::v1::{AttendReply, AttendRequest, Cause, attend_request::Attendance};

use super::Ledger;
use crate::error::LedgerError;

/// Most trainers of a worker.
const MOST: usize = 65_536;

impl Ledger {
    /// Notes which trainers a worker has. One that has closed the stream is forgotten: no trainer waits for it, and others
    /// need not agree with it.
    pub fn attend(&mut self, worker: &str, request: &AttendRequest) -> Result<AttendReply, LedgerError> {
        let attended = match request.attendance() {
            Attendance::Unspecified => {
                return Err(LedgerError::Invalid("The request does not say whether trainers are there.".to_owned()));
            }
            Attendance::Closed => {
                // Its trainers come back when it is started again.
                if let Some(ended) = self.workers.get(worker).cloned() {
                    self.miss_trainers(worker, &ended);
                    self.forget_missing();
                }
                // It has given all back. What is left belongs to no worker.
                self.forget(worker, Cause::DaemonStopped);
                self.touch();
                return Ok(AttendReply { progress: Some(self.progress()) });
            }
            Attendance::Ending => {
                self.workers.get_mut(worker).into_iter().for_each(|known| known.ends_itself = true);
                self.touch();
                return Ok(AttendReply { progress: Some(self.progress()) });
            }
            Attendance::Empty => false,
            Attendance::Attended => true,
        };
        if request.trainers.len() > MOST {
            return Err(LedgerError::Invalid(format!("A worker may have at most {MOST} trainers.")));
        }
        let here: BTreeSet<u64> = request.trainers.iter().copied().filter(|trainer| *trainer != 0).collect();
        if let Some(known) = self.workers.get_mut(worker) {
            let names = known.trainers.is_some() || !here.is_empty();
            let trainers = names.then(|| here.clone());
            if (known.attended, &known.trainers) != (attended, &trainers) {
                let before = std::mem::replace(&mut known.trainers, trainers).unwrap_or_default();
                known.attended = attended;
                self.strike_off(|trainer| before.contains(&trainer) && !here.contains(&trainer));
                self.note(worker);
                self.dirty.workers.insert(worker.to_owned());
                self.touch();
            }
            self.trainers_are_back(worker, &here);
        }
        Ok(AttendReply { progress: Some(self.progress()) })
    }

    /// Refuses what only the sole reader of the stream may do, if a living worker beside this one has trainers. `what` says
    /// what that is, and `instead` what to do.
    pub(super) fn sole_reader(&self, worker: &str, now: u64, what: &str, instead: &str) -> Result<(), LedgerError> {
        let attended =
            self.index.attended_beside(worker).filter(|(_, heard)| now.saturating_sub(*heard) < self.times.lease_ttl);
        match attended.and_then(|(name, _)| Some((name, self.workers.get(name)?))) {
            None => Ok(()),
            Some((name, other)) => Err(LedgerError::Invalid(format!(
                "{what}, but node {name:?} ({}) has trainers of the stream as well. {instead}",
                other.whereabouts()
            ))),
        }
    }
}
