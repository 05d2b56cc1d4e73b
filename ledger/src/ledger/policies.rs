//! What the workers of a ledger have in common beside its spec, in the words of the configuration: epochs, and how they treat an
//! epoch's end and bad records (semantics rule 41).

use forebay_proto::v1::{
    FunctionFile, PictureLimits, Policies,
    policies::{LastBatch, OnError},
};

/// Digits of a sum that are shown.
const SHOWN: usize = 12;

/// Each policy that is asked for, with the one that is kept.
pub(super) fn compared(asked: &Policies, kept: &Policies) -> Vec<(String, String)> {
    let mut all = vec![
        (last_batch(asked), last_batch(kept)),
        (on_error(asked), on_error(kept)),
        (max_failures(asked), max_failures(kept)),
    ];
    // Daemons of older versions do not say these.
    if asked.batch_size > 0 && kept.batch_size > 0 {
        all.push((batch_size(asked), batch_size(kept)));
    }
    if let (Some(asked), Some(kept)) = (&asked.limits, &kept.limits) {
        all.extend(limits(asked).into_iter().zip(limits(kept)));
    }
    all.extend(files(asked, kept));
    all
}

/// The files of the functions that both have. Nodes may have other transforms, but not another function of the same name.
pub(super) fn files(asked: &Policies, kept: &Policies) -> Vec<(String, String)> {
    let both = asked.functions.iter().flat_map(|asked| {
        let kept = kept.functions.iter().filter(|kept| kept.function == asked.function);
        kept.map(|kept| (file(asked), file(kept)))
    });
    both.collect()
}

/// What is agreed on when a worker asks for this beside others that have agreed on the rest.
pub(super) fn joined(asked: &Policies, kept: &Policies) -> Policies {
    // A daemon of an older version does not report everything.
    let batch_size = if asked.batch_size > 0 { asked.batch_size } else { kept.batch_size };
    let is_new = |kept: &&FunctionFile| asked.functions.iter().all(|asked| asked.function != kept.function);
    let functions = asked.functions.iter().chain(kept.functions.iter().filter(is_new)).cloned().collect();
    Policies { batch_size, limits: asked.limits.or(kept.limits), functions, ..*asked }
}

/// How many epochs a run has.
pub(super) fn epochs(epochs: u64) -> String {
    if epochs == 0 { "no limit of epochs".to_owned() } else { format!("epochs = {epochs}") }
}

fn last_batch(policies: &Policies) -> String {
    let word = match policies.last_batch() {
        LastBatch::Unspecified => return "no last_batch_policy".to_owned(),
        LastBatch::Partial => "partial",
        LastBatch::Fill => "fill",
        LastBatch::Drop => "drop",
    };
    format!("last_batch_policy = \"{word}\"")
}

fn on_error(policies: &Policies) -> String {
    let word = match policies.on_error() {
        OnError::Unspecified => return "no on_error".to_owned(),
        OnError::Fail => "fail",
        OnError::Skip => "skip",
        OnError::Replace => "replace",
    };
    format!("on_error = \"{word}\"")
}

fn max_failures(policies: &Policies) -> String {
    policies.max_failures.map_or_else(|| "no max_failures".to_owned(), |limit| format!("max_failures = {limit}"))
}

fn batch_size(policies: &Policies) -> String {
    format!("batch_size = {}", policies.batch_size)
}

/// The file of a function, as much of it as tells files apart.
fn file(file: &FunctionFile) -> String {
    let FunctionFile { function, sha256 } = file;
    let sum = sha256.get(..SHOWN).unwrap_or(sha256);
    format!("the function {function} in a file with the SHA-256 sum {sum:?}")
}

/// Each limit that decides whether a picture is good, by the name of its setting.
fn limits(limits: &PictureLimits) -> [String; 5] {
    let PictureLimits { pixels, bytes, scans, decode_ms, read_ms } = limits;
    let time = if *decode_ms == 0 { "no time_limit".to_owned() } else { format!("time_limit = \"{decode_ms}ms\"") };
    [
        format!("pixel_limit = {pixels}"),
        format!("byte_limit = {bytes}"),
        format!("scan_limit = {scans}"),
        time,
        format!("read_timeout = \"{read_ms}ms\""),
    ]
}
