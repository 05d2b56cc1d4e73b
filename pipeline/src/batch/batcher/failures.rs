//! Decides at which bad record the stream fails.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use forebay_plan::Plan;
use forebay_proto::Turn;

use crate::record::BadRecord;
use crate::settings::OnError;

/// The bad records, as far as they matter.
#[derive(Debug)]
pub(super) struct Failures {
    on_error: OnError,
    /// The stream fails at one more bad record than this.
    most: Option<u64>,
    /// Bad records, as far as their number matters.
    bad: HashSet<u64>,
    /// The plan, if an epoch without a good record fails the stream. It says which records an epoch has.
    plan: Option<Arc<Plan>>,
    /// Bad turns of records of the latest epochs, as far as they matter. One may be read twice.
    bad_of: BTreeMap<u64, HashSet<Turn>>,
}

impl Failures {
    /// None yet.
    pub(super) fn new(on_error: OnError, most: Option<u64>) -> Self {
        Self { on_error, most, bad: HashSet::new(), plan: None, bad_of: BTreeMap::new() }
    }

    /// An epoch by this plan without a good record fails the stream too.
    pub(super) fn needs_one_of(&mut self, plan: Arc<Plan>) {
        self.plan = Some(plan);
    }

    /// Why the stream fails at a bad record, if it does.
    pub(super) fn judge(&mut self, bad: &BadRecord) -> Option<String> {
        let (turn, epoch, text) = (bad.position.turn(), bad.position.epoch, bad.to_string());
        if self.on_error == OnError::Fail {
            return Some(format!(
                "{text}. The stream stops at a bad record because on_error is \"fail\"; \"skip\" or \"replace\" go on"
            ));
        }
        if let Some(whole) = self.whole(epoch) {
            self.bad_of = self.bad_of.split_off(&epoch.saturating_sub(2));
            let bad = self.bad_of.entry(epoch).or_default();
            bad.insert(turn);
            if bad.len() as u64 >= whole {
                let text = format!("{}.", text.trim_end_matches('.'));
                return Some(format!(
                    "Every record of epoch {epoch} is bad, {whole} in all; the last: {text} Mend the dataset, and begin a \
                     new run or load an earlier state"
                ));
            }
        }
        let limit = self.most.filter(|_| !bad.is_skipped())?;
        self.bad.insert(turn.record());
        let count = self.bad.len();
        (count as u64 > limit)
            .then(|| format!("{count} bad records are more than max_failures ({limit}); the last: {text}"))
    }

    /// The number of records of an epoch, if they must not all be bad. Nothing for a shard or a rank: a part says too
    /// little about the dataset, and the other parts would wait for one that fails alone.
    fn whole(&self, epoch: u64) -> Option<u64> {
        let plan = self.plan.as_ref()?;
        let is_a_part = plan.part().is_some_and(|part| part.count() > 1);
        (!is_a_part).then(|| plan.epoch_records(epoch))
    }
}
