//! Restarts a stream: stops its stages, changes the ledger, and starts the stages again from the ledger's new state.

use std::sync::atomic::Ordering;

use forebay_ledger_client::CallError;
use forebay_proto::v1::RestoreRequest;

use crate::stream::Stream;
use crate::stream::stages::Stopped;

/// Which leases a change of the ledger has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Every lease: the run was moved to another state.
    All,
    /// Some leases, or those before a change that another daemon made. What is left of the others is given back.
    Some,
    /// None: nothing has changed.
    None,
}

/// Stops the stages, changes the ledger, and continues from the ledger's new state. The change says which leases it
/// has ended.
pub(super) async fn restart<F: Future<Output = Result<Ended, CallError>>>(
    stream: &Stream,
    change: impl FnOnce() -> F,
) -> Result<(), CallError> {
    let stopped = stream.pipeline.stop().await;
    restart_stopped(stream, stopped, change).await
}

/// As [`restart`], of stages that are stopped already.
pub(super) async fn restart_stopped<F: Future<Output = Result<Ended, CallError>>>(
    stream: &Stream,
    stopped: Stopped<'_>,
    change: impl FnOnce() -> F,
) -> Result<(), CallError> {
    let Stream { delivery, told_of_failure, generation, .. } = stream;
    delivery.ledger().flush().await;
    let was_told = told_of_failure.begins_again();
    let changed = change().await;
    match changed {
        Ok(ended @ (Ended::All | Ended::Some)) => {
            let progress = delivery.ledger().progress();
            generation.store(progress.generation, Ordering::SeqCst);
            delivery.drop_ready(progress, ended == Ended::All).await;
            delivery.ledger().flush().await;
        }
        Ok(Ended::None) | Err(_) if was_told => told_of_failure.tell(),
        Ok(Ended::None) | Err(_) => {}
    }
    if let Err(error) = stopped.start_again() {
        // The stream would never deliver again. So trainers are told, until a restore or a reset succeeds.
        let error = format!("The stream cannot go on: {error}.");
        delivery.inlet().fail(error.clone());
        return Err(CallError::Invalid(error));
    }
    changed.map(drop)
}

/// Loads a state for a rank. If the state was already loaded for another rank, on any node, the stream only starts
/// again, unless it has done so since.
pub(super) async fn load(stream: &Stream, load: RestoreRequest) -> Result<(), CallError> {
    restart(stream, async || {
        let is_first = stream.delivery.ledger().restore(&load).await?;
        Ok(match (is_first, is_behind(stream)) {
            (true, _) => Ended::All,
            (false, true) => Ended::Some,
            (false, false) => Ended::None,
        })
    })
    .await
}

/// Whether the run was moved to another state since the stream began.
pub(super) fn is_behind(stream: &Stream) -> bool {
    stream.delivery.ledger().progress().generation > stream.generation.load(Ordering::SeqCst)
}
