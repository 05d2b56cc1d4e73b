//! How far records fill their batches, where pictures have different sizes: tokens a second, and the share of padding.

use std::time::Duration;

use forebay_proto::v1::StepFill;
use serde::Serialize;

/// The unit of streams whose pictures are cut into patches.
const PATCHES: &str = "patches";
/// The unit of streams whose pictures each have a size of their own, and whose places may be empty.
const PICTURES: &str = "pictures";

/// What was published between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct FillRates {
    /// Patches of records. Nothing if pictures are not cut into patches.
    tokens_per_second: Option<f64>,
    /// Which share of the room of batches, from 0 to 1, no record has filled. Nothing if all pictures have one size, or no batch was
    /// published.
    padding: Option<f64>,
    /// What this share is of.
    #[serde(skip)]
    rest: &'static str,
}

impl FillRates {
    /// Between two readings of a stream with this time in between.
    pub(crate) fn between(was: Option<&StepFill>, is: Option<&StepFill>, time: Duration) -> Self {
        let Some(StepFill { unit, filled, room }) = is else { return Self::default() };
        let (filled_before, room_before) = was.map_or((0, 0), |was| (was.filled, was.room));
        let (filled, room) = (filled.saturating_sub(filled_before), room.saturating_sub(room_before));
        let is_patches = unit == PATCHES;
        let rest = match unit.as_str() {
            PATCHES => "padding",
            PICTURES => "empty",
            _ => "copies",
        };
        Self {
            tokens_per_second: is_patches.then(|| float(filled) / time.as_secs_f64().max(f64::EPSILON)),
            padding: (room > 0).then(|| 1.0 - float(filled.min(room)) / float(room)),
            rest,
        }
    }

    /// For the end of a line. Empty if there is nothing to tell.
    pub(crate) fn text(&self) -> String {
        let tokens = self.tokens_per_second.map(|rate| format!(", {rate:.0} tokens/s"));
        let padding = self.padding.map(|share| format!(", {:.1} % {}", share * 100.0, self.rest));
        [tokens, padding].into_iter().flatten().collect()
    }
}

#[allow(clippy::cast_precision_loss, reason = "a count of patches, far below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(unit: &str, filled: u64, room: u64) -> StepFill {
        StepFill { unit: unit.into(), filled, room }
    }

    #[test]
    fn patches_have_a_rate_of_tokens_and_both_forms_a_share_that_is_not_filled() {
        let two = Duration::from_secs(2);
        let (was, is) = (fill(PATCHES, 1_000, 2_000), fill(PATCHES, 4_000, 6_000));
        let rates = FillRates::between(Some(&was), Some(&is), two);
        assert_eq!((rates.tokens_per_second, rates.padding), (Some(1_500.0), Some(0.25)));
        assert_eq!(rates.text(), ", 1500 tokens/s, 25.0 % padding");
        // A stream that was opened in between counts from its beginning.
        assert_eq!(FillRates::between(None, Some(&is), two).text(), ", 2000 tokens/s, 33.3 % padding");

        let copies = FillRates::between(None, Some(&fill("places", 60, 64)), two);
        assert_eq!((copies.tokens_per_second, copies.text().as_str()), (None, ", 6.2 % copies"));
        assert_eq!(FillRates::between(None, Some(&fill(PICTURES, 3, 4)), two).text(), ", 25.0 % empty");
    }

    #[test]
    fn nothing_is_told_of_pictures_of_one_size_and_no_share_before_the_first_batch() {
        let one = Duration::from_secs(1);
        assert_eq!(FillRates::between(None, None, one), FillRates::default());
        assert_eq!(FillRates::default().text(), "");
        let same = fill(PATCHES, 7, 9);
        assert_eq!(FillRates::between(Some(&same), Some(&same), one).text(), ", 0 tokens/s");
    }
}
