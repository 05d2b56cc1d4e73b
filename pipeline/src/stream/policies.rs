//! What all daemons of a run have in common beside the dataset and its order, as the ledger compares it (semantics rule 41).

use std::time::Duration;

use forebay_pixels::Limits;
use forebay_plan::LastBatchPolicy;
use forebay_proto::v1::{
    FunctionFile, PictureLimits, Policies,
    policies::{LastBatch, OnError},
};

use crate::settings::{self, MaxFailures, StreamSettings};

/// The policies of a stream over a dataset with so many records, whose pictures are decoded within these limits, and made by these
/// functions in Python.
pub(super) fn of(settings: &StreamSettings, records: u64, decoding: &Limits, functions: Vec<FunctionFile>) -> Policies {
    let last_batch = match settings.last_batch_policy {
        LastBatchPolicy::Partial => LastBatch::Partial,
        LastBatchPolicy::Fill => LastBatch::Fill,
        LastBatchPolicy::Drop => LastBatch::Drop,
    };
    let on_error = match settings.on_error {
        settings::OnError::Fail => OnError::Fail,
        settings::OnError::Skip => OnError::Skip,
        settings::OnError::Replace => OnError::Replace,
    };
    let max_failures = settings.max_failures.map(|limit| most_failures(limit, records));
    let Limits { pixels, bytes, scans, time } = *decoding;
    let limits = PictureLimits {
        pixels,
        bytes,
        scans,
        decode_ms: time.map_or(0, millis),
        read_ms: millis(settings.read_timeout),
    };
    Policies {
        last_batch: last_batch.into(),
        on_error: on_error.into(),
        max_failures,
        batch_size: settings.batch_size.into(),
        limits: Some(limits),
        functions,
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A limit of bad records as a number of them.
pub(super) fn most_failures(limit: MaxFailures, records: u64) -> u64 {
    match limit {
        MaxFailures::Count(count) => count,
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a fraction of the dataset, 0 to 1, rounded down; exact to 2^53 records"
        )]
        MaxFailures::Fraction(fraction) => (records as f64 * fraction) as u64,
    }
}
