//! Where a private daemon keeps the ledger of a Loader, and which names of runs it takes.

use std::path::Path;

use forebay_printable::printable;

use crate::config::StreamSection;
use crate::daemon::ledgers::Ledgers;

/// Most bytes of a run's name, as in the ledger.
const RUN_LEN: usize = 200;

/// A Loader without a run has a ledger of its own in the trainer's memory; a named run has a file, in which the
/// dataset's path tells one Loader's ledger from another's.
///
/// # Errors
/// The run's name cannot be used, or there is no folder for named runs. Nothing was made then.
pub(super) fn private_ledger(
    runs: Option<&Path>,
    name: &str,
    section: &StreamSection,
    files: Option<&[u8]>,
) -> Result<(Ledgers, String, String), String> {
    let Some(run) = &section.run else { return Ok((Ledgers::Kept, "private".into(), name.into())) };
    // The ledger would refuse such a name too, but only when its file is there.
    if run.contains(|c: char| c == '/' || c.is_control()) || run.starts_with('.') || run.len() > RUN_LEN {
        let run = printable(run);
        let reason = format!(
            "run \"{run}\" cannot be used as a file name; leave out slashes, control characters and a leading dot, and use at \
             most {RUN_LEN} bytes"
        );
        return Err(reason);
    }
    let Some(folder) = runs else {
        let reason = "a named run needs a folder for its ledger: set XDG_STATE_HOME or HOME".to_owned();
        return Err(reason);
    };
    // A single source has the name that it had before there could be several.
    let sources = section.dataset.source.as_ref().map(|sources| sources.join("\0")).unwrap_or_default();
    let stream = blake3::hash(files.unwrap_or(sources.as_bytes())).to_hex()[..16].to_owned();
    Ok((Ledgers::File(folder.join(format!("{run}.redb"))), run.clone(), stream))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn rule_01_a_run_whose_name_is_refused_leaves_no_file() {
        let (folder, ring) = (tempfile::tempdir().unwrap(), Config::default().ring);
        let ledger = |run: &str| {
            let settings = serde_json::json!({ "source": "x", "batch_size": 1, "size": 8, "run": run });
            let section = StreamSection::from_json(settings.to_string().as_bytes(), &ring).unwrap();
            private_ledger(Some(folder.path()), "loader-0", &section, None)
        };
        for run in ["a/b", ".a", "a\nb", "a\0b", "a\u{1b}[31mb", "\u{7f}", "a\u{85}", &"x".repeat(RUN_LEN + 1)] {
            let reason = ledger(run).map(|(_, run, _)| run).unwrap_err();
            assert!(reason.contains("leave out slashes") && !reason.contains(char::is_control), "{reason:?}");
        }
        for run in ["august", "a b", "\u{fc}ber-\u{1f600}", &"x".repeat(RUN_LEN)] {
            assert_eq!(ledger(run).unwrap().1, run);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
