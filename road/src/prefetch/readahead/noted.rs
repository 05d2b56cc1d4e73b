//! The result of a read, and whether the thread that takes records must be woken for it. Most results change nothing
//! for that thread.

/// What came of noting a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noted {
    /// It may be taken next, as soon as it is its epoch's turn.
    Next,
    /// Others stand before it, or it is read again. Whoever takes the last of them finds it.
    Behind,
    /// The read was given up before, and its thread with it. What it gave may count all the same.
    Late,
}

/// What came of passing over reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// How many records.
    pub records: usize,
    /// One of them was the last of its lease: a further one may be wanted.
    pub last: bool,
    /// One of them may be taken next, as soon as it is its epoch's turn.
    pub next: bool,
}
