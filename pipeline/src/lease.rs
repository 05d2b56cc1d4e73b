//! Keeps leases ahead of the readers. It asks the coordinator for more when the prefetch runs low.

use std::sync::Arc;
use std::time::Duration;

use forebay_delivery::LedgerClient;
use forebay_ledger_client::CallError;
use forebay_plan::Plan;
use forebay_proto::v1::acquire_reply::Answer;
use forebay_proto::v1::{Cause, Lease, Progress, Range, ReturnedRange};
use forebay_sources::Source;
use tokio::sync::oneshot::{self, error::TryRecvError};
use tokio::time::Instant;

use crate::prefetch::Prefetch;
use crate::prefetch::readahead::Span;

/// How leases are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeaseSettings {
    /// Leases ahead of the readers.
    pub ahead: usize,
    /// Places of a batch, in which the tails of epochs are taken (semantics rule 36); 0 if there are none.
    pub batch: u64,
    /// The pause before a request that got a WAIT is repeated, at first.
    pub retry: Duration,
}

impl LeaseSettings {
    /// The pause after so many requests in a row without a lease. A dead daemon's leases are kept for its trainers for a
    /// while (semantics rule 16), and the pause stays short for longer than that. Then it grows tenfold, since an idle
    /// stream has nothing to ask for.
    fn pause(&self, in_vain: u32) -> Duration {
        self.retry * (in_vain / 10).clamp(1, 10)
    }
}

impl Default for LeaseSettings {
    fn default() -> Self {
        Self { ahead: 2, batch: 0, retry: Duration::from_millis(100) }
    }
}

/// Runs until it is cancelled or every epoch is complete. It begins when leases may be asked for.
///
/// # Errors
/// The coordinator refused this worker: another incarnation took its place, or its ledger is gone.
pub(crate) async fn keep(
    ledger: Arc<LedgerClient>,
    prefetch: Arc<Prefetch>,
    plan: Arc<Plan>,
    source: Arc<dyn Source>,
    settings: LeaseSettings,
    mut stop: oneshot::Receiver<()>,
) -> Result<(), CallError> {
    let mut may_ask = ledger.permit().watch();
    tokio::select! {
        _ = &mut stop => return Ok(()),
        _given = may_ask.wait_for(|may| *may) => {}
    }
    let updates = ledger.updates();
    let (mut progress, mut recalled, mut tails) = (updates.progress(), updates.recalled(), updates.tails());
    let generation = progress.borrow().generation;
    let (mut asked_again, mut in_vain) = (Instant::now(), 0_u32);
    // The task waits for a reply under way. Otherwise, a lease in that reply would have no owner until it expires. If the
    // reply may never come, the task does not wait.
    while stop.try_recv() == Err(TryRecvError::Empty) {
        let now = *progress.borrow_and_update();
        prefetch.completed(now.floor);
        prefetch.drained(now.drained);
        let is_recalled = *recalled.borrow_and_update() > target(now);
        let ahead = if is_recalled { 0 } else { settings.ahead };
        let wanted = ahead.saturating_sub(prefetch.leases_ahead(target(now)));
        let asks = wanted > 0 || (*tails.borrow_and_update() > now.floor && !is_recalled);
        if asks && asked_again <= Instant::now() {
            let reply = tokio::select! {
                biased;
                reply = ledger.acquire(u32::try_from(wanted).unwrap_or(u32::MAX), settings.batch) => reply?,
                () = called_off(&mut stop, &ledger) => return Ok(()),
            };
            if reply.progress.is_some_and(|progress| progress.generation > generation) {
                // A trainer of another node has moved the run to another state, and the stream starts again there. A
                // batch from before that must not be among later ones.
                ledger.give_back(reply.leases.iter().map(whole).collect()).await?;
                return Ok(());
            }
            match reply.answer() {
                Answer::Granted => {
                    in_vain = 0;
                    for lease in &reply.leases {
                        tell(source.as_ref(), &plan, lease);
                        if lease.last {
                            prefetch.has_the_last_of(lease.epoch);
                        }
                        prefetch.lease(span(&plan, lease));
                    }
                    continue;
                }
                Answer::DatasetDone => {
                    prefetch.drained(reply.progress.unwrap_or_default().drained);
                    return Ok(());
                }
                Answer::Wait | Answer::EpochEnd | Answer::Unspecified => {
                    in_vain = in_vain.saturating_add(1);
                    asked_again = Instant::now() + settings.pause(in_vain);
                }
            }
        }
        // The stop signal may have come during the reply, and can be received only once.
        if stop.try_recv() != Err(TryRecvError::Empty) {
            return Ok(());
        }
        tokio::select! {
            _ = &mut stop => return Ok(()),
            () = prefetch.hungry() => {}
            changed = progress.changed() => if changed.is_err() { return Ok(()) } else { in_vain = 0 },
            changed = recalled.changed() => if changed.is_err() { return Ok(()) } else { in_vain = 0 },
            changed = tails.changed() => if changed.is_err() { return Ok(()) } else { in_vain = 0 },
            () = tokio::time::sleep_until(asked_again), if asks => {}
        }
        if in_vain == 0 {
            asked_again = asked_again.min(Instant::now() + settings.retry);
        }
    }
    Ok(())
}

/// Returns when this task must stop and a coordinator in another process does not answer.
async fn called_off(stop: &mut oneshot::Receiver<()>, ledger: &LedgerClient) {
    let mut outage = ledger.outage();
    let _stopped = stop.await;
    if !ledger.has_others() || outage.wait_for(Option::is_some).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The epoch whose leases are wanted next: the first that is not complete, or the one after it.
fn target(progress: Progress) -> u64 {
    if progress.drained > progress.floor { progress.floor + 1 } else { progress.floor }
}

/// Logs which shard was leased, with its name, start and end as the user knows them. It does so only if the order is the
/// dataset's.
fn tell(source: &dyn Source, plan: &Plan, lease: &Lease) {
    let Lease { id, epoch, start, end, deaths, .. } = *lease;
    let shard = source.shard_name(plan.record(epoch, start));
    let shuffled = plan.spec().shuffle;
    tracing::debug!(shard, start, end, epoch, shuffled, lease = id, deaths, "leased");
}

fn whole(lease: &Lease) -> ReturnedRange {
    let range = Some(Range { start: 0, end: lease.end - lease.start });
    ReturnedRange { lease: lease.id, range, cause: Cause::Unseen.into() }
}

/// A lease as it is read.
pub(crate) fn span(plan: &Plan, lease: &Lease) -> Span {
    let epoch = lease.epoch;
    let order = plan.epoch(epoch);
    let bare = order.bare_in(&(lease.start..lease.end));
    Span {
        lease: lease.id,
        epoch,
        start: lease.start,
        len: lease.end.saturating_sub(lease.start),
        bare: bare.into_iter().map(|bare| bare.start - lease.start..bare.end - lease.start).collect(),
        suspect: lease.suspect,
        turn: Arc::new(move |index| order.turn(index)),
    }
}

#[cfg(test)]
mod tests {
    use forebay_plan::{CLASS_PERMUTATION, ClassTable, Leftovers, OrderTable};
    use forebay_proto::v1::LedgerSpec;

    use super::*;

    #[test]
    fn rule_62_a_lease_says_which_positions_of_its_steps_have_no_record() {
        let classes: Vec<u16> = (0..50_u16).map(|record| record % 7 % 3).collect();
        let table = ClassTable::new(classes, 3, &[]).unwrap();
        let spec = LedgerSpec {
            fingerprint: vec![1; 32],
            records: 50,
            shuffle: true,
            permutation: CLASS_PERMUTATION,
            classes: Some(table.order(&[8, 4, 6], Leftovers::Repeat, &[], "")),
            ..LedgerSpec::default()
        };
        let plan = Plan::with_table(&spec, Some(OrderTable::Classes(Arc::new(table)))).unwrap();
        let order = plan.epoch(3);
        let without = |start: u64, end: u64| (start..end).filter(|position| order.own(*position).is_none());
        assert!(
            without(0, plan.positions()).any(|position| position + 8 < plan.positions()),
            "one is inside of the epoch"
        );
        for start in (0..plan.positions()).step_by(8) {
            let lease = Lease { id: 9, epoch: 3, start, end: plan.positions().min(start + 16), ..Lease::default() };
            let span = span(&plan, &lease);
            assert!(span.bare.iter().cloned().flatten().map(|offset| start + offset).eq(without(start, lease.end)));
            assert_eq!((span.start, span.len), (start, lease.end - start));
        }
    }

    #[test]
    fn an_idle_stream_asks_ten_times_a_second_for_two_seconds_and_then_ever_less() {
        let settings = LeaseSettings::default();
        let pauses: Vec<u128> = (1..=200).map(|in_vain| settings.pause(in_vain).as_millis()).collect();
        assert!(pauses[..19].iter().all(|pause| *pause == 100), "{pauses:?}");
        assert!(pauses.is_sorted() && pauses.last() == Some(&1000), "{pauses:?}");
        assert_eq!(settings.pause(u32::MAX).as_millis(), 1000);
    }
}
