//! `forebay man`: a manual page for each command, made from the same table as `--help`.

use std::io::{self, Write as _};
use std::path::PathBuf;

use forebay_printable::printable;

use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Existing folder to write the pages to, such as /usr/local/share/man/man1.
    folder: PathBuf,
}

/// `command` is the whole command line.
pub(crate) fn run(args: &ManArgs, command: clap::Command) -> Result<(), Failure> {
    let folder = printable(&args.folder);
    clap_mangen::generate_to(command, &args.folder)
        .map_err(|error| Failure::Failed(format!("The pages cannot be written to \"{folder}\": {error}.")))?;
    Ok(writeln!(io::stdout(), "{folder}: forebay.1, and a page for each command")?)
}
