//! `forebay parity`, which is in the Python package, and the name that it had.

use std::ffi::OsString;

use crate::failure::Failure;

/// Arguments that the Python package reads.
#[derive(Debug, clap::Args)]
pub(crate) struct ParityArgs {
    /// What the package's command reads: `python -m forebay.parity --help` lists it.
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Where the command is: the package's own `forebay` carries it out before this binary is asked.
const PLACE: &str = "It is in the Python package, because it needs Pillow. Install the package's wheel (docs/install.md) and \
                     Pillow, and run its `forebay parity`, or `python -m forebay.parity`.";

pub(crate) fn run(_: &ParityArgs) -> Result<(), Failure> {
    Err(Failure::Usage(format!("This binary has no parity. {PLACE}")))
}

pub(crate) fn renamed(_: &ParityArgs) -> Result<(), Failure> {
    Err(Failure::Usage(format!("`forebay compare` is now `forebay parity`. {PLACE}")))
}
