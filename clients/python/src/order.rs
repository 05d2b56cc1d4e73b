//! The order of a shuffled epoch, for samplers: any position of it at once, without a list of all records.

use forebay_plan::{PERMUTATION, Plan};
use forebay_proto::v1::LedgerSpec;
use pyo3::prelude::*;

use crate::error::setting;

/// The records at `count` positions of an epoch with `records` records: `start`, `start + step` and so on.
#[pyfunction]
pub(crate) fn shuffled(
    py: Python<'_>,
    records: u64,
    seed: u64,
    epoch: u64,
    start: u64,
    step: u64,
    count: u64,
) -> PyResult<Vec<u64>> {
    let last = count.checked_sub(1).map(|more| step.checked_mul(more).and_then(|by| by.checked_add(start)));
    if last.is_some_and(|last| last.is_none_or(|last| last >= records)) {
        return Err(setting(py, format!("an epoch of {records} records has no such positions")));
    }
    // The order depends on neither the dataset's contents nor its name.
    let fingerprint = vec![0; 32];
    let spec =
        LedgerSpec { fingerprint, records, shuffle: true, seed, permutation: PERMUTATION, ..LedgerSpec::default() };
    let plan = Plan::new(&spec).map_err(|error| setting(py, error.to_string()))?;
    let order = plan.epoch(epoch);
    Ok((0..count).map(|each| order.record(start + each * step)).collect())
}
