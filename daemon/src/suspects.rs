//! The process that makes suspects for a daemon (semantics rule 9). The daemon starts it with a socket as its standard input.

use std::io;

use forebay_pipeline::make_suspects;

use crate::config::stream::pictures;

/// Makes what the daemon asks for, until the socket closes.
///
/// # Errors
/// Standard input is no such socket, or what comes over it is no request.
pub fn run() -> io::Result<()> {
    make_suspects(pictures)
}
