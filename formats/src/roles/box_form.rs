//! The form of four numbers that are a box, and the corners that they become.

use forebay_columns::Role;

use crate::numbers::single;

/// The form of four numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BoxForm {
    /// Left, top, right and bottom.
    Corners,
    /// Top, left, bottom and right.
    CornersFromTop,
    /// Left, top, width and height.
    CornerAndSize,
    /// Middle, width and height.
    MiddleAndSize,
}

/// What the four numbers of a box are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoxFormat {
    form: BoxForm,
    /// They are fractions of the picture's width and height.
    fractions: bool,
}

/// The words of the user.
const FORMATS: [(&str, BoxFormat); 8] = [
    ("xyxy", BoxFormat::CORNERS),
    ("xywh", BoxFormat::CORNER_AND_SIZE),
    ("cxcywh", format(BoxForm::MiddleAndSize, false)),
    ("yxyx", format(BoxForm::CornersFromTop, false)),
    ("xyxy_fractions", BoxFormat::CORNER_FRACTIONS),
    ("xywh_fractions", format(BoxForm::CornerAndSize, true)),
    ("cxcywh_fractions", format(BoxForm::MiddleAndSize, true)),
    ("yxyx_fractions", format(BoxForm::CornersFromTop, true)),
];

const fn format(form: BoxForm, fractions: bool) -> BoxFormat {
    BoxFormat { form, fractions }
}

impl BoxFormat {
    /// Corners in pixels.
    pub(crate) const CORNERS: Self = format(BoxForm::Corners, false);
    /// Corners in fractions of the picture's size.
    pub(super) const CORNER_FRACTIONS: Self = format(BoxForm::Corners, true);
    /// Left, top, width and height in pixels.
    pub(super) const CORNER_AND_SIZE: Self = format(BoxForm::CornerAndSize, false);

    /// The format of this word.
    pub(crate) fn named(word: &str) -> Option<Self> {
        FORMATS.iter().find(|(name, _)| *name == word).map(|(_, format)| *format)
    }

    /// All words.
    pub(crate) fn words() -> impl Iterator<Item = &'static str> {
        FORMATS.iter().map(|(name, _)| *name)
    }

    pub(crate) fn role(self) -> Role {
        if self.fractions { Role::FractionBoxes } else { Role::Boxes }
    }

    /// Left, top, right and bottom. Nothing if the box has a negative width or height, or a corner does not fit into f32.
    pub(crate) fn corners(self, [a, b, c, d]: [f64; 4]) -> Option<[f32; 4]> {
        let [left, top, right, bottom] = match self.form {
            BoxForm::Corners => [a, b, c, d],
            BoxForm::CornersFromTop => [b, a, d, c],
            BoxForm::CornerAndSize => [a, b, a + c, b + d],
            BoxForm::MiddleAndSize => [a - c / 2.0, b - d / 2.0, a + c / 2.0, b + d / 2.0],
        };
        let corners = [single(left)?, single(top)?, single(right)?, single(bottom)?];
        (left <= right && top <= bottom).then_some(corners)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_gives_the_same_corners() {
        let of = |word: &str| BoxFormat::named(word).unwrap();
        for (word, numbers) in [
            ("xyxy", [10.0, 20.0, 40.0, 60.0]),
            ("yxyx", [20.0, 10.0, 60.0, 40.0]),
            ("xywh", [10.0, 20.0, 30.0, 40.0]),
            ("cxcywh_fractions", [25.0, 40.0, 30.0, 40.0]),
        ] {
            assert_eq!(of(word).corners(numbers), Some([10.0, 20.0, 40.0, 60.0]), "{word}");
        }
        assert_eq!(of("xyxy").corners([3.0, 0.0, 2.0, 1.0]), None);
        assert_eq!(of("xywh").corners([f64::from(f32::MAX), 0.0, f64::from(f32::MAX), 1.0]), None);
        assert_eq!((of("xywh").role(), of("xywh_fractions").role()), (Role::Boxes, Role::FractionBoxes));
        assert_eq!(BoxFormat::named("none"), None);
    }
}
