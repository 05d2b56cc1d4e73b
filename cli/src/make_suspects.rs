//! `forebay make-suspects`: what a daemon runs in its child processes. It is not for people, and no help shows it.

use crate::failure::Failure;

pub(crate) fn run() -> Result<(), Failure> {
    forebay_daemon::suspects::run().map_err(|error| {
        Failure::Failed(format!("A daemon runs this command with a socket as its standard input: {error}."))
    })
}
