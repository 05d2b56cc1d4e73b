//! What the batches of a stream follow.

use forebay_delivery::BadPlace;
use forebay_plan::LastBatchPolicy;

use crate::batch::draft::Fill;
use crate::settings::OnError;

/// What the batches of a stream follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Places of a batch.
    pub batch_size: u32,
    /// What a bad record does.
    pub on_error: OnError,
    /// The stream fails at one more bad record than this.
    pub max_failures: Option<u64>,
    /// Dynamic assignment, with its policy for the last batch; static gives every batch its form.
    pub dynamic: Option<LastBatchPolicy>,
}

impl Rules {
    /// What the place of a bad record shows.
    pub(crate) fn bad_place(&self) -> BadPlace {
        match (self.is_fixed(), self.on_error) {
            (true, _) => BadPlace::Copy,
            (false, OnError::Replace) => BadPlace::CopyOrNext,
            (false, OnError::Fail | OnError::Skip) => BadPlace::Next,
        }
    }

    /// Whether each position has its batch and place, so that none ever moves up.
    pub(super) fn is_fixed(&self) -> bool {
        self.dynamic.is_none()
    }

    /// Whether a bad record keeps its place.
    pub(super) fn keeps_places(&self) -> bool {
        self.is_fixed() || self.on_error == OnError::Replace
    }

    /// What a bad record leaves behind in its place.
    pub(super) fn left_behind(&self) -> Fill {
        match self.on_error {
            OnError::Replace => Fill::Bad,
            OnError::Fail | OnError::Skip => Fill::Hole,
        }
    }
}
