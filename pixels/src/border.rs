//! What a picture is surrounded by, where something looks beyond its edges.

use serde::{Deserialize, Serialize};

use crate::paint::Paint;

/// The border of a picture that is laid on a larger canvas: torchvision's padding modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Border {
    /// This value.
    Fill(Paint),
    /// The outermost line, again and again.
    Edge,
    /// The picture mirrored, without the outermost line.
    Reflect,
    /// The picture mirrored, with the outermost line.
    Symmetric,
}

/// A padding mode of the settings. One of them needs a value to fill with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PaddingMode {
    /// A value, which is given beside it.
    #[default]
    Constant,
    /// The outermost line, again and again.
    Edge,
    /// The picture mirrored, without the outermost line.
    Reflect,
    /// The picture mirrored, with the outermost line.
    Symmetric,
}

impl PaddingMode {
    /// The border, with this value if the mode needs one.
    pub(crate) fn border(self, fill: u8) -> Border {
        self.painted(Paint::One(fill))
    }

    /// The same with a value for each channel.
    pub(crate) fn painted(self, fill: Paint) -> Border {
        match self {
            Self::Constant => Border::Fill(fill),
            Self::Edge => Border::Edge,
            Self::Reflect => Border::Reflect,
            Self::Symmetric => Border::Symmetric,
        }
    }
}

impl Border {
    /// The line of a side of `len` that is shown at a place, which may be beyond either end. `None` if a value is shown.
    pub(crate) fn line(self, at: i64, len: u32) -> Option<u32> {
        let last = i64::from(len) - 1;
        let line = match self {
            Self::Fill(_) if (0..=last).contains(&at) => at,
            Self::Fill(_) => return None,
            Self::Edge => at.clamp(0, last),
            Self::Reflect => reflected(at, len.into()),
            Self::Symmetric => {
                let at = at.rem_euclid(2 * i64::from(len));
                at.min(2 * last + 1 - at)
            }
        };
        u32::try_from(line).ok()
    }
}

/// The line of a side that is shown at this place, which may be beyond either end. The last line is not shown twice.
pub(crate) fn reflected(at: i64, len: i64) -> i64 {
    let period = (2 * len - 2).max(1);
    let at = at.rem_euclid(period);
    at.min(period - at).min(len - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_continues_beyond_both_ends_as_numpy_pads() {
        let lines = |border: Border| (-5..8).map(|at| border.line(at, 3)).collect::<Vec<_>>();
        let shown = |lines: [u32; 13]| lines.map(Some).to_vec();
        assert_eq!(lines(Border::Edge), shown([0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2]));
        assert_eq!(lines(Border::Reflect), shown([1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1]));
        assert_eq!(lines(Border::Symmetric), shown([1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1]));
        assert_eq!(lines(Border::Fill(Paint::One(7)))[4..9], [None, Some(0), Some(1), Some(2), None]);
        assert!((-9..9).all(|at| Border::Reflect.line(at, 1) == Some(0)), "one line is all that there is");
    }
}
