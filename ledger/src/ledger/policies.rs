//! What the workers of a ledger have in common beside its spec: epochs, and how they treat an epoch's end and bad records
//! (semantics rule 41).

use forebay_proto::v1::{
    Cause, OpenRequest, PictureLimits, Policies,
    policies::{LastBatch, OnError},
};

use super::{Ledger, workers::SILENCE};
use crate::error::LedgerError;

impl Ledger {
    /// Refuses a worker that would read a run in another way than a worker that reads it now. A shard has one worker, so
    /// nobody differs from it.
    ///
    /// # Errors
    /// Epochs or policies differ from those of a worker that lives.
    pub(crate) fn agree(&self, request: &OpenRequest, now: u64) -> Result<(), LedgerError> {
        let differences = self.policy_differences(request);
        if differences.is_empty() || self.plan.part().is_some() {
            return Ok(());
        }
        let Some(other) = self.living_beside(&request.worker, now) else { return Ok(()) };
        let (asks, reads): (Vec<_>, Vec<_>) = differences.into_iter().unzip();
        Err(LedgerError::SpecMismatch(format!(
            "Stream {:?} has {} on node {other:?}, and node {:?} asks for {}. Give all nodes of a run the same epochs, \
             last_batch_policy, on_error, max_failures and batch_size, and the same limits of pictures. To change them, end the stream on the other nodes first.",
            request.stream,
            reads.join(" and "),
            request.worker,
            asks.join(" and ")
        )))
    }

    /// Takes the epochs and policies of a worker with which all that live [agree](Self::agree). Others may have been cut
    /// off with other ones: they are fenced, because they would wait for other epochs. If nobody else reads the run, it goes on
    /// after a failure: its user has seen why.
    pub(crate) fn take_policies(&mut self, request: &OpenRequest, now: u64) {
        if self.living_beside(&request.worker, now).is_none() {
            self.go_on_after_failure();
        }
        if !self.policy_differences(request).is_empty() && self.plan.part().is_none() {
            self.forget_others(&request.worker, Cause::LeaseExpired);
        }
        let policies = match (request.policies, self.policies) {
            // A daemon of an older version does not say all that the others have agreed on.
            (Some(asked), Some(kept)) if self.living_beside(&request.worker, now).is_some() => {
                let batch_size = if asked.batch_size > 0 { asked.batch_size } else { kept.batch_size };
                Some(Policies { batch_size, limits: asked.limits.or(kept.limits), ..asked })
            }
            (asked, kept) => asked.or(kept),
        };
        if (self.epochs, self.policies) != (request.epochs, policies) {
            (self.epochs, self.policies) = (request.epochs, policies);
            self.touch();
            self.settle();
        }
    }

    /// A worker that was heard a moment ago, and is not this one.
    fn living_beside(&self, worker: &str, now: u64) -> Option<&str> {
        let patience = SILENCE.min(self.times.lease_ttl);
        let (other, heard) = self.index.heard_beside(worker)?;
        (now.saturating_sub(heard) < patience).then_some(other)
    }

    /// What the request asks for, and what there is instead.
    fn policy_differences(&self, request: &OpenRequest) -> Vec<(String, String)> {
        let mut all = vec![(epochs(request.epochs), epochs(self.epochs))];
        if let (Some(asked), Some(kept)) = (&request.policies, &self.policies) {
            all.push((last_batch(asked), last_batch(kept)));
            all.push((on_error(asked), on_error(kept)));
            all.push((max_failures(asked), max_failures(kept)));
            // Daemons of older versions do not say these.
            if asked.batch_size > 0 && kept.batch_size > 0 {
                all.push((batch_size(asked), batch_size(kept)));
            }
            if let (Some(asked), Some(kept)) = (&asked.limits, &kept.limits) {
                all.extend(limits(asked).into_iter().zip(limits(kept)));
            }
        }
        all.retain(|(asked, kept)| asked != kept);
        all
    }
}

fn epochs(epochs: u64) -> String {
    if epochs == 0 { "no limit of epochs".to_owned() } else { format!("epochs = {epochs}") }
}

fn last_batch(policies: &Policies) -> String {
    let word = match policies.last_batch() {
        LastBatch::Unspecified => return "no last_batch_policy".to_owned(),
        LastBatch::Partial => "partial",
        LastBatch::Fill => "fill",
        LastBatch::Drop => "drop",
    };
    format!("last_batch_policy = \"{word}\"")
}

fn on_error(policies: &Policies) -> String {
    let word = match policies.on_error() {
        OnError::Unspecified => return "no on_error".to_owned(),
        OnError::Fail => "fail",
        OnError::Skip => "skip",
        OnError::Replace => "replace",
    };
    format!("on_error = \"{word}\"")
}

fn max_failures(policies: &Policies) -> String {
    policies.max_failures.map_or_else(|| "no max_failures".to_owned(), |limit| format!("max_failures = {limit}"))
}

fn batch_size(policies: &Policies) -> String {
    format!("batch_size = {}", policies.batch_size)
}

/// Each limit that decides whether a picture is good, by the name of its setting.
fn limits(limits: &PictureLimits) -> [String; 5] {
    let PictureLimits { pixels, bytes, scans, decode_ms, read_ms } = limits;
    let time = if *decode_ms == 0 { "no time_limit".to_owned() } else { format!("time_limit = \"{decode_ms}ms\"") };
    [
        format!("pixel_limit = {pixels}"),
        format!("byte_limit = {bytes}"),
        format!("scan_limit = {scans}"),
        time,
        format!("read_timeout = \"{read_ms}ms\""),
    ]
}
