//! `forebay completions`: shell completions for this command's options, made from the same table as `--help`.

use std::io::{self, Write as _};

use clap_complete::Shell;

use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// `command` is the whole command line.
pub(crate) fn run(args: &CompletionsArgs, mut command: clap::Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "forebay", &mut script);
    Ok(io::stdout().write_all(&script)?)
}
