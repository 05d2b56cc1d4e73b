//! On which nodes trainers read the stream, and who may therefore reset or restore it (semantics rule 38).

use forebay_proto::v1::{AttendReply, AttendRequest, Cause, attend_request::Attendance};

use super::Ledger;
use crate::call_error::CallError;

impl Ledger {
    /// Notes whether a worker has trainers. One that has closed the stream is forgotten: nobody waits for it, and others
    /// need not agree with it.
    pub(crate) fn attend(&mut self, worker: &str, request: &AttendRequest) -> Result<AttendReply, CallError> {
        let attended = match request.attendance() {
            Attendance::Unspecified => {
                return Err(CallError::Invalid("The request does not say whether trainers are there.".to_owned()));
            }
            Attendance::Closed => {
                // It has given all back. What is left all the same is nobody's.
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
        let known = self.workers.get_mut(worker);
        if known.is_some_and(|known| std::mem::replace(&mut known.attended, attended) != attended) {
            self.note(worker);
            self.dirty.workers.insert(worker.to_owned());
            self.touch();
        }
        Ok(AttendReply { progress: Some(self.progress()) })
    }

    /// Refuses what only the sole reader of the stream may do, if a living worker beside this one has trainers. `what` says
    /// what that is, and `instead` what to do.
    pub(super) fn sole_reader(&self, worker: &str, now: u64, what: &str, instead: &str) -> Result<(), CallError> {
        let attended =
            self.index.attended_beside(worker).filter(|(_, heard)| now.saturating_sub(*heard) < self.times.lease_ttl);
        match attended.and_then(|(name, _)| Some((name, self.workers.get(name)?))) {
            None => Ok(()),
            Some((name, other)) => Err(CallError::Invalid(format!(
                "{what}, but node {name:?} ({}) has trainers of the stream as well. {instead}",
                other.whereabouts()
            ))),
        }
    }
}
