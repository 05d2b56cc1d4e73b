//! The state of a dataset's tasks as JSON, with the names that `ElasticDL` and `DLRover` use, and back.
//!
//! Our own has the ledger's snapshot. One of `DLRover` has lists of tasks instead: what is in none of them is done.

use std::fmt::Write as _;
use std::ops::Range;

use forebay_proto::v1::{Cause, EpochTally, OpenRange, RestoreTasksRequest, Snapshot, TakeSnapshotRequest, Tally};
use forebay_proto::{RecordSum, Turn};
use prost::Message;
use serde_json::{Value, json};

use super::shards::shard;
use crate::error::LedgerError;
use crate::ledger::{Ledger, Load};

/// Most tasks that are listed. Only people read the lists.
const LISTED: usize = 10_000;
/// Most records of a dataset whose state was made elsewhere: those that are done are counted one by one, in some seconds.
const MAX_IMPORTED: u64 = 1 << 31;

/// The state of all tasks of this dataset. What workers have is not done in it.
pub(super) fn write(ledger: &mut Ledger, dataset: &str, batch_size: u64) -> Result<String, LedgerError> {
    let snapshot = snapshot(ledger)?;
    let plan = ledger.plan();
    let out: Vec<(u64, Range<u64>)> = ledger.leases().map(|(_, lease)| (lease.epoch, lease.start..lease.end)).collect();
    let is_out = |open: &&OpenRange| out.iter().any(|(epoch, span)| *epoch == open.epoch && span.start == open.start);
    let (doing, back): (Vec<&OpenRange>, Vec<_>) = snapshot.open.iter().partition(is_out);
    let spans = |open: Vec<&OpenRange>| open.into_iter().map(|open| (open.epoch, open.start..open.end)).collect();
    let mut todo: Vec<(u64, Range<u64>)> = spans(back);
    let (epoch, mut start) = (snapshot.epoch, snapshot.cursor);
    let is_over = ledger.epochs() > 0 && epoch >= ledger.epochs();
    while !is_over && start < plan.epoch_len(epoch) && todo.len() < LISTED {
        let end = match plan.grain_at(epoch, start) {
            Some((places, _)) => places.end,
            None => (start + ledger.lease_size()).min(plan.epoch_len(epoch)),
        };
        todo.push((epoch, start..end));
        start = end;
    }
    let listed = |shards: Vec<(u64, Range<u64>)>| -> Value {
        let records = shards.into_iter().filter_map(|(epoch, positions)| shard(plan, epoch, positions));
        records.take(LISTED).map(|records| json!([records.start, records.end])).collect()
    };
    let spec = plan.spec();
    let checkpoint = json!({
        "dataset_name": dataset,
        "todo": listed(todo),
        "doing": listed(spans(doing)),
        "epoch": ledger.begun(),
        "current_epoch": ledger.begun(),
        "num_epochs": ledger.epochs(),
        "batch_size": batch_size,
        "dataset_size": spec.records,
        "shuffle": spec.shuffle && spec.grains.is_none(),
        "shuffle_shards": spec.grains.is_some(),
        "ledger": hex(&snapshot.encode_to_vec()),
    });
    Ok(checkpoint.to_string())
}

/// Takes the ledger back to a checkpoint, or to the beginning. False if it is there already, by the same load.
pub(super) fn restore(ledger: &mut Ledger, request: &RestoreTasksRequest) -> Result<bool, LedgerError> {
    let RestoreTasksRequest { checkpoint, load_id, .. } = request;
    let load = (!load_id.is_empty()).then(|| Load::of(load_id, checkpoint.as_bytes())).transpose()?;
    if let Some(load) = &load
        && ledger.has_loaded(load)?
    {
        return Ok(false);
    }
    let snapshot = if checkpoint.is_empty() {
        Snapshot { epoch: 0, cursor: 0, open: Vec::new(), tallies: Vec::new(), ..snapshot(ledger)? }
    } else {
        let checkpoint: Value = serde_json::from_str(checkpoint)
            .map_err(|error| LedgerError::Invalid(format!("The checkpoint is not JSON: {error}.")))?;
        match &checkpoint["ledger"] {
            Value::Null => imported(ledger, &checkpoint)?,
            own => own
                .as_str()
                .and_then(unhex)
                .and_then(|bytes| Snapshot::decode(&*bytes).ok())
                .ok_or_else(|| LedgerError::Invalid("The checkpoint's \"ledger\" is damaged.".to_owned()))?,
        }
    };
    ledger.restore(&snapshot, false)?;
    if let Some(load) = load {
        ledger.remember(load);
    }
    Ok(true)
}

fn snapshot(ledger: &mut Ledger) -> Result<Snapshot, LedgerError> {
    Ok(ledger.take_snapshot(&TakeSnapshotRequest::default())?.snapshot.unwrap_or_default())
}

/// What a checkpoint of `DLRover` means: all but the listed tasks of its last epoch is done, and so are all epochs before.
fn imported(ledger: &mut Ledger, checkpoint: &Value) -> Result<Snapshot, LedgerError> {
    let wrong = |text: &str| LedgerError::Invalid(format!("The checkpoint cannot be used: {text}."));
    if ledger.plan().spec().shuffle {
        return Err(wrong("it lists tasks in the dataset's order. Register the dataset without shuffle"));
    }
    let begun = checkpoint["epoch"].as_u64().ok_or_else(|| wrong("\"epoch\" is no number"))?;
    let (todo, doing) = (tasks(checkpoint, "todo")?, tasks(checkpoint, "doing")?);
    let epoch = begun.saturating_sub(1);
    let range = |cause: Cause| {
        move |span: Range<u64>| OpenRange { epoch, start: span.start, end: span.end, deaths: 0, cause: cause.into() }
    };
    // A worker may have seen the tasks that it had.
    let mut open: Vec<OpenRange> =
        todo.into_iter().map(range(Cause::Unseen)).chain(doing.into_iter().map(range(Cause::TrainerEnded))).collect();
    open.sort_by_key(|open| open.start);
    let records = ledger.plan().epoch_len(epoch);
    let is_apart = open.is_sorted_by(|one, next| one.end <= next.start);
    if !is_apart || open.iter().any(|open| open.start >= open.end || open.end > records) {
        return Err(wrong("a task is empty, is listed twice, or has records that the dataset does not have"));
    }
    if records > MAX_IMPORTED {
        return Err(wrong("the dataset has too many records to count those that are done"));
    }
    let (mut done, mut end) = (RecordSum::default(), 0);
    if begun > 0 {
        for open in &open {
            done += (end..open.start).map(Turn::first).collect();
            end = open.end;
        }
        done += (end..records).map(Turn::first).collect();
    }
    let (sum_high, sum_low) = done.halves();
    let delivered = Some(Tally { count: done.count, sum_high, sum_low });
    let tallies = vec![EpochTally { epoch, delivered, ..EpochTally::default() }];
    let cursor = if begun == 0 { 0 } else { records };
    Ok(Snapshot { epoch, cursor, open, tallies, ..snapshot(ledger)? })
}

/// A list of tasks as pairs of records.
fn tasks(checkpoint: &Value, key: &str) -> Result<Vec<Range<u64>>, LedgerError> {
    let wrong = |text: &str| LedgerError::Invalid(format!("The checkpoint cannot be used: \"{key}\" {text}."));
    let list = checkpoint[key].as_array().ok_or_else(|| wrong("is no list"))?;
    list.iter()
        .map(|pair| match pair.as_array().map(Vec::as_slice) {
            Some([start, end]) => {
                let (start, end) = (start.as_u64(), end.as_u64());
                start.zip(end).map(|(start, end)| start..end).ok_or_else(|| wrong("has something that is no number"))
            }
            Some([_, _, _]) => Err(wrong("has tasks of shuffled records, whose order only their job knows")),
            _ => Err(wrong("has something that is no task")),
        })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes every write");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: &u8| char::from(*digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}
