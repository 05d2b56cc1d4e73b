//! What is checked when a ledger is opened: the names, and whether it is about the same as the others of its stream.

use forebay_plan::{OrderTable, Plan, SelectionTable, SpecError, differences, nameless};
use forebay_proto::v1::{LedgerSpec, OpenRequest, WorkerProcess};

use super::registry::Registry;
use crate::error::LedgerError;

/// Longest run, stream or worker name, in bytes.
pub(super) const NAME_LEN: usize = 200;
/// Longest host name and boot id of a worker's process, in bytes.
const PROCESS_LEN: usize = 256;

/// The plan of a new ledger. The shards of a stream share one table and one selection, and so do its ranks.
pub(super) fn plan(
    registry: &Registry,
    stream: &str,
    request: &OpenRequest,
    spec: &LedgerSpec,
) -> Result<Plan, LedgerError> {
    let invalid = |error: SpecError| LedgerError::Invalid(error.to_string());
    let shared = registry.of_stream(stream).find_map(|(_, ledger)| ledger.plan().table());
    let table = match shared {
        Some(table) => Some(table),
        None => OrderTable::read(spec, request.grains.as_ref(), request.classes.as_ref()).map_err(invalid)?,
    };
    let shared = registry.of_stream(stream).find_map(|(_, ledger)| ledger.plan().selection().cloned());
    let selection = match shared {
        Some(selection) => Some(selection),
        None => SelectionTable::of_spec(spec, request.selected.as_ref()).map_err(|error| invalid(error.into()))?,
    };
    let plan = Plan::with_selection(spec, table, selection).map_err(invalid)?;
    let (lease_size, step) = (request.lease_size, plan.positions_of_step().unwrap_or(1));
    if !lease_size.is_multiple_of(step) {
        return Err(LedgerError::Invalid(format!(
            "lease_size is {lease_size}, but leases of steps of classes are of whole steps: make it a multiple of {step}."
        )));
    }
    Ok(plan)
}

/// All ledgers of a run's stream agree in everything but the number of the shard, and the number and count of ranks. So do the files of
/// their functions in Python.
pub(super) fn compare(registry: &Registry, stream: &str, request: &OpenRequest, now: u64) -> Result<(), LedgerError> {
    let asked = request.spec.as_ref().map(nameless).unwrap_or_default();
    // They agree with each other.
    if let Some((_, ledger)) = registry.of_stream(stream).next() {
        let mut kept = nameless(ledger.plan().spec());
        if let (Some(kept), Some(asked)) = (&mut kept.shard, &asked.shard) {
            kept.shard_id = asked.shard_id;
        }
        if let (Some(kept), Some(asked)) = (&mut kept.lockstep, &asked.lockstep) {
            (kept.rank, kept.world_size) = (asked.rank, asked.world_size);
        }
        if kept != asked {
            return Err(LedgerError::SpecMismatch(format!(
                "Run {:?} of stream {:?} was made for something else: {}. Undo the change, or begin a new run: \
                 `forebay run new {}` for a service's stream, another \"run\" for a trainer with its own daemon.",
                request.run,
                request.stream,
                differences(&kept, &asked),
                request.stream
            )));
        }
    }
    registry.of_stream(stream).try_for_each(|(_, ledger)| ledger.compare_functions(request, now))
}

/// Names are parts of keys, divided by '/'.
pub(super) fn check_name(what: &str, name: &str) -> Result<(), LedgerError> {
    if name.is_empty() || name.len() > NAME_LEN || name.contains(|c: char| c == '/' || c.is_control()) {
        return Err(LedgerError::Invalid(format!(
            "The {what} name {name:?} cannot be used: it must have 1 to {NAME_LEN} bytes, without '/' and control \
             characters."
        )));
    }
    Ok(())
}

/// What a worker says of its process is stored.
pub(super) fn check_process(process: Option<&WorkerProcess>) -> Result<(), LedgerError> {
    if process.is_some_and(|process| process.host.len().max(process.boot.len()) > PROCESS_LEN) {
        let text = format!("A worker's host and boot may have at most {PROCESS_LEN} bytes each.");
        return Err(LedgerError::Invalid(text));
    }
    Ok(())
}
