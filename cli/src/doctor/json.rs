//! The survey of a machine as JSON. docs/operating.md describes the fields. They keep their names and meanings, and new
//! fields may be added.

use std::fmt::Display;
use std::path::Path;

use forebay_cuda::survey::{FoundGpu, Survey};
use forebay_road::Gpus;
use serde_json::{Value, json};

pub(super) fn survey(survey: &Survey, rings: &Gpus) -> Value {
    let driver = survey.driver.as_ref().ok();
    let nvjpeg = survey.nvjpeg.as_ref().ok();
    let nvcuvid = survey.nvcuvid.as_ref().and_then(|found| found.as_ref().ok());
    let lacks = survey.lacks().into_iter();
    json!({
        "driver": driver.map(|found| json!({ "path": path(&found.path), "cuda": version(&[found.cuda.0, found.cuda.1]) })),
        "nvjpeg": nvjpeg.map(|found| {
            let (major, minor, patch) = found.version;
            json!({ "path": path(&found.path), "version": version(&[major, minor, patch]) })
        }),
        "nvcuvid": nvcuvid.map(|found| json!({ "path": path(found) })),
        "gpus": survey.gpus.iter().flatten().map(|found| gpu(found, rings)).collect::<Value>(),
        "missing": lacks
            .map(|lack| json!({ "what": lack.what, "cost": lack.cost, "remedy": lack.remedy }))
            .collect::<Value>(),
    })
}

fn gpu(found: &FoundGpu, rings: &Gpus) -> Value {
    let FoundGpu { device, engines, decoders, kernel } = found;
    let (major, minor) = device.capability;
    let engines = engines.as_ref().ok().map(|(engines, cores)| json!({ "engines": engines, "cores": cores }));
    json!({
        "gpu": device.ordinal,
        "name": device.name,
        "bus": device.bus,
        "memory_bytes": device.memory,
        "compute_capability": version(&[major, minor]),
        "multiprocessors": device.multiprocessors,
        "nvjpg": engines,
        "lanes": decoders.iter().map(|(kind, found)| (kind.to_string(), outcome(found))).collect::<Value>(),
        "kernel": outcome(kernel),
        "placement": outcome(&rings.can_hold(device.ordinal)),
        "locks_read_only_memory": device.locks_read_only,
    })
}

/// Whether something is available, and why not.
fn outcome<T, E: Display>(outcome: &Result<T, E>) -> Value {
    json!({ "available": outcome.is_ok(), "reason": outcome.as_ref().err().map(ToString::to_string) })
}

fn path(path: &Path) -> Value {
    path.to_string_lossy().into()
}

fn version(parts: &[i32]) -> String {
    parts.iter().map(i32::to_string).collect::<Vec<_>>().join(".")
}
