//! The `forebay` command.

fn main() {}
