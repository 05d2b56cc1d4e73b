//! What a flip does with keypoints: by which rule it moves them, and which of them change places.

use serde::Deserialize;

/// The most keypoints that an object may have.
const MOST_KEYPOINTS: u32 = 10_000;

/// Where a keypoint at `at` goes in a picture that is mirrored, and whose side has the length `side`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeypointFlip {
    /// To `side - at`: whole numbers are the corners of pixels, as for boxes.
    #[default]
    Corners,
    /// To `side - 1 - at`: whole numbers are the centers of pixels, as torchvision's `KeyPoints` have it.
    Centers,
}

impl KeypointFlip {
    /// How far a keypoint is from where its picture's points are, if it was so far from them before the flip.
    pub(crate) fn shifted(self, before: f64) -> f64 {
        match self {
            Self::Corners => -before,
            Self::Centers => -1.0 - before,
        }
    }
}

/// What is wrong with pairs of keypoints that change places.
pub(super) fn pairs_problem(pairs: &[[u32; 2]]) -> Option<String> {
    let mut numbers: Vec<u32> = pairs.as_flattened().to_vec();
    numbers.sort_unstable();
    let twice = numbers.windows(2).find(|two| two[0] == two[1]);
    let far = numbers.last().filter(|number| **number >= MOST_KEYPOINTS);
    twice.map(|two| format!("flip_pairs has keypoint {} twice", two[0])).or_else(|| {
        far.map(|number| format!("flip_pairs has keypoint {number}, but must have numbers below {MOST_KEYPOINTS}"))
    })
}
