//! Benchmarks of Forebay, and in `tests/` what holds for the workspace as a whole.

pub mod gate;
pub mod served;
pub mod workspace;
