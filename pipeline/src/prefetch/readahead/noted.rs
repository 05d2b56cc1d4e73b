//! The results of reads: whether the thread that takes records must be woken for one. Most results change nothing for that thread.

/// The result of noting a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noted {
    /// It may be taken next, as soon as it is its epoch's turn.
    Next,
    /// Other records are before it, or it is read again. The batch thread finds it when it takes the last of those before
    /// it.
    Behind,
    /// The read was given up before, and its thread too if it had one. Its result may still count.
    Late,
}

/// The result of passing over reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// How many records.
    pub records: usize,
    /// One of them was the last of its lease: a further one may be wanted.
    pub last: bool,
    /// One of them may be taken next, as soon as it is its epoch's turn.
    pub next: bool,
}
