//! What is said if a dataset whose records are no files has no masks: why, and where masks can be.

use forebay_sources::{Options, SourceError};

/// What to do for each scheme whose records may have none. Without a line of its own, a scheme has the last one.
const REMEDIES: [(&str, &str); 6] = [
    ("tfrecord", "given with payload=example: then a mask is a feature of the Example"),
    ("recordio", "given with payload=example: then a mask is a feature of the Example"),
    (
        "mxnet",
        "left out: a record of MXNet has one picture and its labels, and no mask. Write the records as samples of tars, or \
         in another format that has masks",
    ),
    (
        "zip",
        "left out: a zip has only pictures here. Unpack it, so that masks are files in a folder, or write samples of tars",
    ),
    ("odps", "left out: a row has one picture. A reader of your own (python:) can give masks with its records"),
    ("", "left out: this format has no masks"),
];

/// The error for this scheme. It names the first column of masks.
pub(super) fn of(scheme: &str, options: &Options) -> SourceError {
    let remedy = REMEDIES.iter().find(|(own, _)| *own == scheme).or(REMEDIES.last());
    let (name, parts) = options.masks.targets().next().unwrap_or_default();
    SourceError::bad_option(&format!("masks.{name}"), &parts.join(";"), remedy.map_or("left out", |(_, words)| words))
}
