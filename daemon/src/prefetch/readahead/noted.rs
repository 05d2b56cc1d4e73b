//! What a read that came back changes for whoever takes records: most change nothing, and nobody is woken for them.

/// What came of noting a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// It may be taken next, as soon as it is its epoch's turn.
    Next,
    /// Others stand before it. Whoever takes the last of them finds it.
    Behind,
    /// The read was given up before, and its thread with it.
    Late,
}

/// What came of passing over reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// How many records.
    pub records: usize,
    /// One of them was the last of its lease: a further one may be wanted.
    pub last: bool,
    /// One of them may be taken next, as soon as it is its epoch's turn.
    pub next: bool,
}
