//! Which worker reads which records: `assignment`, with the keys of shards and of lockstep.

use forebay_pipeline::keys;
use forebay_pipeline::settings::{AskedPart, Home, Key, Sharding, StepForm, Who};
use forebay_plan::check_rank;
use forebay_proto::v1::LockstepRank;

use super::Writer;
use super::form::Form;
use crate::config::table::Table;
use crate::config::value::{choice, flag, whole};

/// The keys.
pub(super) const KEYS: &[Key] = keys! {
    /// The name of the run. Left out: the current run continues. `forebay run new train` starts another one.
    run: "str", example: "\"august\"",
        in_python: "In this process's own daemon, None is a fresh run, and a name is a run that is kept on disk: a Loader \
            with the same name continues it.";
    /// How trainers share an epoch. "dynamic": a batch goes to any trainer that asks for one. "static": each trainer has one of
    /// num_shards shards. "lockstep": all ranks of a training job read the same step, whatever their number. Left out: "static"
    /// with num_shards, and "dynamic" without. See docs/distributed.md.
    assignment: "str", example: "\"lockstep\"", home: Home::Other;
    /// Required in lockstep. The number of records in a step of all ranks, a multiple of their number. A rank's batch is its
    /// part.
    global_batch: "int", example: "1024", home: Home::Lockstep, in_python: "A stream has it already.";
    /// Which rank of the job this process is, from 0. Left out: what `torch.distributed`, torchrun or SLURM say.
    rank: "int", who: Who::Trainer, home: Home::Lockstep;
    /// The number of ranks. Left out: as for rank.
    world_size: "int", who: Who::Trainer, home: Home::Lockstep;
    /// Which of num_shards equal shards of the dataset this trainer reads, from 0.
    shard_id: "int", who: Who::Trainer, home: Home::Shard,
        in_python: "Only a `forebay.torch.DataLoader` may leave it and `num_shards` out: it takes them from the job.";
    /// Splits the dataset into this many shards, one per trainer, as DDP needs it. Left out: a batch goes to any trainer that
    /// asks for one.
    num_shards: "int", example: "8", home: Home::Shard;
    /// With num_shards: each trainer reads the same shard in every epoch. Set it if you use a cache.
    stick_to_shard: "bool" = "false", home: Home::Shard, in_python: "Otherwise the shards rotate.";
    /// With num_shards: all shards have the same number of batches.
    pad_last_batch: "bool" = "true", home: Home::Shard,
        in_python: "The last record is repeated for that. `batch.mask` is False for the copies.";
};

/// A value of `assignment`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Assignment {
    Dynamic,
    Static,
    Lockstep,
}

/// Reads the keys. Each mistake is reported, and something is given all the same.
pub(super) fn read(table: &mut Table<'_, '_>, writer: Writer, form: Option<&Form>) -> Sharding {
    let assignment = table.take(
        "assignment",
        choice(&[("dynamic", Assignment::Dynamic), ("static", Assignment::Static), ("lockstep", Assignment::Lockstep)]),
    );
    let shards = shards(table, writer);
    let is_static = matches!(shards, Sharding::Static { .. });
    if assignment == Some(Assignment::Lockstep) {
        if is_static {
            table.mistake("num_shards", "cannot be combined with assignment = \"lockstep\"; leave it out.");
        }
        return lockstep(table, writer, form);
    }
    match assignment {
        Some(Assignment::Dynamic) if is_static => {
            table.mistake("assignment", "is \"dynamic\", but num_shards asks for shards; give one of the two.");
        }
        Some(Assignment::Static) if !is_static && !table.has("num_shards") => {
            table.mistake("assignment", "is \"static\", which needs num_shards.");
        }
        _ => {}
    }
    let of_ranks: &[&'static str] = if writer == Writer::Loader { &["rank", "world_size"] } else { &[] };
    for key in ["global_batch"].iter().chain(of_ranks).copied() {
        if table.take(key, whole(0..=u32::MAX)).is_some() {
            table.mistake(key, "has an effect only with assignment = \"lockstep\"; leave it out, or give both.");
        }
    }
    shards
}

/// The places of a batch: in lockstep, a rank's part of a step.
pub(super) fn batch_size(table: &mut Table<'_, '_>, sharding: Sharding, form: Option<&Form>) -> Option<u32> {
    let given = table.take("batch_size", whole(1..=1 << 20));
    let Sharding::Lockstep { global_batch, .. } = sharding else {
        if let Some(form) = form {
            return step(table, "batch_size", given, form, 1);
        }
        if given.is_none() && !table.has("batch_size") {
            table.mistake("batch_size", "is missing; give the number of records in a batch, such as 256.");
        }
        return given;
    };
    if given.is_some() {
        table.mistake(
            "batch_size",
            "is global_batch divided by the number of ranks, with assignment = \"lockstep\"; leave it out.",
        );
    }
    Some((global_batch / sharding.part(None).map_or(1, |rank| rank.count).max(1)).max(1))
}

/// The places of the largest step of a form, which is what this key has.
fn step(table: &mut Table<'_, '_>, key: &'static str, given: Option<u32>, form: &Form, ranks: u32) -> Option<u32> {
    let (is_there, of) = (table.has(key), form.key());
    let possible = if let Form::Buckets(_) = form { "pixels in buckets" } else { "tokens in patches" };
    match form.budget() {
        Some(budget) if is_there => {
            table.mistake(key, format!("follows from the {budget} of {of}; leave one of the two out."));
        }
        None if !is_there => {
            let problem = format!("is missing; give the number of records in a step, such as 256, or {possible}.");
            table.mistake(key, problem);
        }
        _ => {}
    }
    if given.is_none() && form.budget().is_none() {
        return None;
    }
    let places = form.most_places(given.unwrap_or(1), ranks);
    places.map_err(|problem| table.mistake(of, format!("do not fit: {problem}"))).ok()
}

/// The form of a stream whose steps have so many places at most.
pub(super) fn form(form: &Form, sharding: Sharding, batch_size: u32) -> StepForm {
    let ranks = sharding.part(None).map_or(1, |rank| rank.count);
    match sharding {
        Sharding::Lockstep { global_batch, .. } => form.settings(global_batch, ranks),
        Sharding::Dynamic | Sharding::Static { .. } => form.settings(batch_size, 1),
    }
}

fn lockstep(table: &mut Table<'_, '_>, writer: Writer, form: Option<&Form>) -> Sharding {
    let given = table.take("global_batch", whole(1..=1 << 20));
    let global_batch = if let Some(form) = form {
        let world_size = table.values().get("world_size").filter(|_| writer == Writer::Loader);
        let ranks = world_size.and_then(serde_json::Value::as_u64).and_then(|ranks| u32::try_from(ranks).ok());
        if form.budget().is_some() && !form.has_divisor() && writer == Writer::Configuration {
            let problem = "needs divisor in lockstep: a number that all numbers of ranks divide, such as 8.";
            table.mistake(form.key(), problem);
        }
        step(table, "global_batch", given, form, ranks.unwrap_or(1))
    } else {
        if given.is_none() && !table.has("global_batch") {
            let problem = "is missing; give the number of records in a step of all ranks, such as 1024.";
            table.mistake("global_batch", problem);
        }
        given
    };
    let is_known = global_batch.is_some();
    let global_batch = global_batch.unwrap_or(1);
    if writer == Writer::Configuration {
        return Sharding::Lockstep { global_batch, rank: None };
    }
    let [number, count] = ["rank", "world_size"].map(|key| {
        let value = table.take(key, whole(0..=1 << 20));
        if value.is_none() && !table.has(key) {
            table.mistake(key, "is missing; assignment = \"lockstep\" needs rank and world_size.");
        }
        value
    });
    let rank = number.zip(count).map(|(number, count)| AskedPart { number, count });
    if let Some(AskedPart { number, count }) = rank.filter(|_| is_known) {
        let asked = LockstepRank { global_batch: global_batch.into(), rank: number, world_size: count };
        if let Err(problem) = check_rank(&asked) {
            table.mistake("world_size", format!("{problem}"));
        }
    }
    Sharding::Lockstep { global_batch, rank }
}

fn shards(table: &mut Table<'_, '_>, writer: Writer) -> Sharding {
    let num_shards = table.take("num_shards", whole(1..=1 << 20));
    let shard_id = match writer {
        Writer::Loader => table.take("shard_id", whole(0..=1 << 20)),
        Writer::Configuration => None,
    };
    let stick_to_shard = table.take_or("stick_to_shard", false, flag);
    let pad_last_batch = table.take_or("pad_last_batch", true, flag);
    match (num_shards, shard_id) {
        (Some(num_shards), Some(id)) if id >= num_shards => {
            let last = num_shards - 1;
            table.mistake("shard_id", format!("is {id}, but the shards of num_shards = {num_shards} are 0 to {last}."));
        }
        (Some(_), None) if writer == Writer::Loader && !table.has("shard_id") => {
            table.mistake("num_shards", "needs shard_id; give both, or neither for dynamic assignment.");
        }
        (None, Some(_)) if !table.has("num_shards") => {
            table.mistake("shard_id", "needs num_shards; give both, or neither for dynamic assignment.");
        }
        _ => {}
    }
    let Some(num_shards) = num_shards else {
        let dynamic = !table.has("num_shards");
        if dynamic && stick_to_shard {
            table.mistake("stick_to_shard", "has an effect only with num_shards; leave it out, or give both.");
        }
        if dynamic && !pad_last_batch {
            table.mistake(
                "pad_last_batch",
                "has an effect only with num_shards; without it, last_batch_policy decides.",
            );
        }
        return Sharding::Dynamic;
    };
    Sharding::Static { shard_id, num_shards, stick_to_shard, pad_last_batch }
}
