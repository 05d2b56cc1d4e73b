//! What a dataset of tasks is: checks of what a worker says about it, and the spec of its ledger.

use std::fmt::Write as _;
use std::sync::Arc;

use forebay_proto::v1::register_tasks_request::Remainder;
use forebay_proto::v1::{LedgerSpec, RegisterTasksRequest};

use crate::error::LedgerError;
use forebay_plan::MAX_EPOCH;
use forebay_plan::PERMUTATION;
use forebay_plan::{GRAIN_PERMUTATION, GrainTable};

/// The run of all datasets of tasks, as that of streams whose configuration names none.
const RUN: &str = "default";
/// Most records of a task: their sum takes the coordinator some 0.1 s.
const MAX_TASK: u64 = 1 << 24;
/// Most records of a task that lists them.
const MAX_LISTED: u64 = 1 << 18;
/// Most tasks that are given in a random order.
const MAX_SHUFFLED: u64 = 1 << 24;
/// Where the coordinator chooses, an epoch has at least this many tasks if it has as many batches...
const TASKS: u64 = 32;
/// ...and a task at most this many batches.
const BATCHES: u64 = 10;

/// What a worker has said, checked.
#[derive(Debug)]
pub(crate) struct TaskParams {
    pub(crate) spec: LedgerSpec,
    pub(crate) table: Option<Arc<GrainTable>>,
    /// Records of a task.
    pub(crate) task_size: u64,
}

impl TaskParams {
    /// Checks a request. A dataset that is there keeps its `task_size`.
    ///
    /// # Errors
    /// Some number is impossible, or too large.
    pub(crate) fn check(request: &RegisterTasksRequest, task_size: Option<u64>) -> Result<Self, LedgerError> {
        let invalid = |text: String| Err(LedgerError::Invalid(text));
        let batch = request.batch_size;
        for (what, number, most) in [
            ("batch_size", batch, MAX_TASK),
            ("epochs", request.epochs, MAX_EPOCH),
            ("records", request.records, 1 << 56),
        ] {
            if number == 0 || number > most {
                return invalid(format!("{what} is {number}; it must be from 1 to {most}."));
            }
        }
        let left = if request.remainder() == Remainder::Drop { request.records % batch } else { 0 };
        let records = request.records - left;
        if records == 0 {
            return invalid(format!(
                "The dataset has {} records, less than a batch of {batch}, and remainder = \"drop\" leaves them out. Choose \
                 smaller batches.",
                request.records
            ));
        }
        let batches = match request.batches_per_shard {
            0 => (records / batch / TASKS).clamp(1, BATCHES),
            batches => batches,
        };
        let chosen = batch.saturating_mul(batches).min(records.next_multiple_of(batch));
        let task_size = task_size.unwrap_or(chosen);
        let most = if request.shuffle { MAX_LISTED } else { MAX_TASK };
        if task_size > most {
            return invalid(format!(
                "A task would have {task_size} records; it may have at most {most}. Choose a smaller \
                 num_minibatches_per_shard."
            ));
        }
        let mut spec = LedgerSpec {
            fingerprint: blake3::derive_key("forebay tasks dataset 1", request.dataset.as_bytes()).to_vec(),
            records,
            shuffle: request.shuffle || request.shuffle_shards,
            permutation: PERMUTATION,
            ..LedgerSpec::default()
        };
        let mut table = None;
        if request.shuffle_shards && !request.shuffle {
            if records.div_ceil(task_size) > MAX_SHUFFLED {
                return invalid(format!(
                    "The dataset would have more than {MAX_SHUFFLED} tasks to shuffle. Choose a larger \
                     num_minibatches_per_shard."
                ));
            }
            let starts: Vec<u64> = (0..records.div_ceil(task_size)).map(|task| task * task_size).collect();
            let grains = GrainTable::new(&starts, records).map_err(|error| LedgerError::Invalid(error.to_string()))?;
            (spec.permutation, spec.grains) = (GRAIN_PERMUTATION, Some(grains.order(1)));
            table = Some(Arc::new(grains));
        }
        Ok(Self { spec, table, task_size })
    }
}

/// The ledger of a dataset of tasks. A `/` or a control character in its name is written as `%` and two hexadecimal digits for
/// each byte.
///
/// ```
/// # use forebay_ledger::task_ledger;
/// assert_eq!(task_ledger("mnist"), "default/mnist/all");
/// assert_eq!(task_ledger("project/table"), "default/project%2ftable/all");
/// ```
pub fn task_ledger(dataset: &str) -> String {
    let mut name = format!("{RUN}/");
    for character in dataset.chars() {
        if character == '/' || character == '%' || character.is_control() {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                write!(name, "%{byte:02x}").expect("a String takes every write");
            }
        } else {
            name.push(character);
        }
    }
    name.push_str("/all");
    name
}
