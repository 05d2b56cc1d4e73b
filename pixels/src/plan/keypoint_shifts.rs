//! How keypoints are moved in a plan, in addition to the picture's own moves: a flip may take them elsewhere than other points.

/// The moves, each to the right and down.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KeypointShifts {
    /// In the end.
    pub(crate) last: [f64; 2],
    /// Before a step that cannot be followed by such a move, by its number.
    before: Vec<(usize, [f64; 2])>,
}

impl KeypointShifts {
    /// None. The memory is used again.
    pub(super) fn begin(&mut self) {
        self.before.clear();
        self.last = [0.0; 2];
    }

    /// The picture is made this many times as wide and as high.
    pub(super) fn scale(&mut self, across: f64, down: f64) {
        self.last[0] *= across;
        self.last[1] *= down;
    }

    /// What is due so far is done before the step of this number.
    pub(super) fn settle(&mut self, step: usize) {
        let shift = std::mem::take(&mut self.last);
        if shift.iter().any(|by| *by != 0.0) {
            self.before.push((step, shift));
        }
    }

    /// The move before this step, if there is one.
    pub(crate) fn before(&self, step: usize) -> Option<[f64; 2]> {
        self.before.iter().find(|(number, _)| *number == step).map(|(_, shift)| *shift)
    }

    /// Whether there are any.
    pub(super) fn is_some(&self) -> bool {
        self.last.iter().any(|by| *by != 0.0) || !self.before.is_empty()
    }
}
