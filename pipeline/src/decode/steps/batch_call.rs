//! A finished batch on its way through the function of its stream's batches (semantics rule 59). No thread of the stage or the pool waits
//! for it: those that ask children take it as they take pictures.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel as channel;

use super::StepsShared;
use super::call::CallAnswer;
use super::caller::{Caller, pause};
use super::mishap::Mishap;
use crate::batch_metadata::SettledBatch;
use crate::decode::suspect_order::SuspectOrder;
use crate::worked_batch::{BatchWork, Called, WorkedBatch};

/// What calls the function of batches.
pub(crate) trait BatchCalls: fmt::Debug + Send + Sync {
    /// Has the function called for a batch. The batch comes back to where its call says.
    fn call_batch(&self, call: BatchCall);
}

/// A batch that waits for the function, with all of its columns.
#[derive(Debug)]
pub(crate) struct BatchCall {
    /// The batch, with the right to its slot.
    pub batch: SettledBatch,
    /// What it waits for, and whether it is still wanted.
    pub order: Arc<SuspectOrder>,
    /// Where it goes.
    pub done: channel::Sender<WorkedBatch>,
}

impl BatchCall {
    /// Sends the batch back.
    pub(crate) fn end(self, called: Called) {
        let Self { batch, done, .. } = self;
        // The batch thread outlives its batches, but for a daemon that ends at once.
        let _gone = done.send(WorkedBatch { batch, work: BatchWork::Called(called) });
    }
}

impl Caller {
    /// Has the function of batches called, once more in a fresh child if it fails. It works on a copy, so the batch is as it was. Gives
    /// the call back if another child must take it.
    pub(super) fn batch(&mut self, mut call: BatchCall) -> Option<BatchCall> {
        let order = Arc::clone(&call.order);
        let (mut has_failed, mut is_alone, mut is_spoilt) = (false, false, false);
        loop {
            if order.is_withdrawn() {
                call.end(Called::Withdrawn);
                return None;
            }
            let answer = self.attempt(&order, is_alone, |caller| {
                let shared = Arc::clone(&caller.shared);
                let form =
                    shared.plan.batch.as_ref().expect("only a stream with such a function has its batches called");
                let child = caller.child.as_mut().expect("it was started");
                child.ask_batch(form, &call.batch, &shared.plan.patience(&|| order.is_withdrawn()))?;
                let answer = caller.hear(shared.plan.of_batches(), &order)?;
                if matches!(answer, CallAnswer::Made { .. }) {
                    let child = caller.child.as_ref().expect("it has answered");
                    is_spoilt = child.take_batch(form, &mut call.batch).is_err();
                }
                Ok(answer)
            });
            let function = function(&self.shared);
            let words = match answer {
                Ok(_) if is_spoilt => {
                    call.end(Called::Failed(format!(
                        "The result of the function {function} cannot be read from its memory."
                    )));
                    return None;
                }
                Ok(CallAnswer::Made { .. }) => {
                    order.end_wait();
                    call.end(Called::Done);
                    return None;
                }
                Ok(CallAnswer::Again) => continue,
                Ok(answer) => {
                    order.end_wait();
                    answer.trouble(&function).unwrap_or_default()
                }
                Err(Mishap::Fault(how)) => format!("The function {function} ended its process by {how}."),
                Err(Mishap::Unclear) => {
                    self.drop_child();
                    is_alone = true;
                    continue;
                }
                Err(Mishap::Blameless(why)) => {
                    self.drop_child();
                    tracing::debug!(batch = call.batch.metadata.batch, why, "the function of batches is called again");
                    order.begin_wait(Instant::now(), why);
                    pause(&order);
                    continue;
                }
                Err(Mishap::Changed(words)) => {
                    self.drop_child();
                    if self.others_have_children() {
                        self.has_retired = true;
                        return Some(call);
                    }
                    call.end(Called::Failed(words));
                    return None;
                }
            };
            self.drop_child();
            if order.is_withdrawn() {
                // The end of the stream has ended the call, which is no failure.
                continue;
            }
            if has_failed {
                let batch = call.batch.metadata.batch;
                call.end(Called::Failed(format!(
                    "The function of batches has failed twice with batch {batch}. {words}"
                )));
                return None;
            }
            tracing::warn!(
                batch = call.batch.metadata.batch,
                words,
                "the function of batches failed; it is called once more"
            );
            has_failed = true;
        }
    }
}

/// The name of the function of batches.
fn function(shared: &StepsShared) -> String {
    shared.plan.batch.as_ref().map(|form| form.function().to_owned()).unwrap_or_default()
}
