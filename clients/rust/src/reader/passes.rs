//! The state of a reader among the passes over its data. Pure: events of the stream go in, the next action comes out.

/// The passes of one reader.
#[derive(Debug)]
pub(super) struct Passes {
    /// All passes are read as one.
    as_one: bool,
    /// A batch of the current pass was handed out.
    begun: bool,
    end: End,
}

/// What the reader is at the end of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Nothing,
    /// There may be a further pass after this one.
    Pass,
    Stream,
}

impl Passes {
    /// A reader that is at its end after each pass.
    pub(super) fn one_by_one() -> Self {
        Self { as_one: false, begun: false, end: End::Nothing }
    }

    /// A reader that continues from pass to pass without a reset.
    pub(super) fn as_one() -> Self {
        Self { as_one: true, ..Self::one_by_one() }
    }

    /// Whether the stream is not to be asked.
    pub(super) fn is_over(&self) -> bool {
        self.end != End::Nothing
    }

    /// Whether a reset has a pass to end.
    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    /// A batch was handed out.
    pub(super) fn begin(&mut self) {
        self.begun = true;
    }

    /// The stream has told the end of a pass.
    pub(super) fn end(&mut self) {
        self.begun = false;
        if !self.as_one {
            self.end = End::Pass;
        }
    }

    /// The stream has told that no pass follows.
    pub(super) fn finish(&mut self) {
        self.begun = false;
        self.end = End::Stream;
    }

    /// The next pass begins, if the stream has one.
    pub(super) fn reset(&mut self) {
        self.begun = false;
        if self.end == End::Pass {
            self.end = End::Nothing;
        }
    }
}
