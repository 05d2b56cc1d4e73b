//! The boxes of a table: in which form its four numbers are, and the corners that they become.

use forebay_columns::Role;
use forebay_sources::{Options, SourceError};

use crate::numbers::single;
use crate::option_key::OptionKey;

pub(super) const BOXES: OptionKey = OptionKey {
    name: "boxes",
    help: "the form of the column \"boxes\", which then follows the pictures: \"xyxy\", \"xywh\" or \"cxcywh\", each \
           also with \"_fractions\"",
};

/// The column that the option is about.
pub(super) const COLUMN: &str = "boxes";

/// The form of four numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BoxForm {
    /// Left, top, right and bottom.
    Corners,
    /// Left, top, width and height.
    CornerAndSize,
    /// Middle, width and height.
    MiddleAndSize,
}

/// What the four numbers of a box are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BoxFormat {
    form: BoxForm,
    /// They are fractions of the picture's width and height.
    fractions: bool,
}

/// The words of the option. The first is what it is without one: numbers like any others.
const FORMATS: [(&str, Option<BoxFormat>); 7] = [
    ("none", None),
    ("xyxy", Some(format(BoxForm::Corners, false))),
    ("xywh", Some(format(BoxForm::CornerAndSize, false))),
    ("cxcywh", Some(format(BoxForm::MiddleAndSize, false))),
    ("xyxy_fractions", Some(format(BoxForm::Corners, true))),
    ("xywh_fractions", Some(format(BoxForm::CornerAndSize, true))),
    ("cxcywh_fractions", Some(format(BoxForm::MiddleAndSize, true))),
];

const fn format(form: BoxForm, fractions: bool) -> BoxFormat {
    BoxFormat { form, fractions }
}

impl BoxFormat {
    /// The user's choice. `can_be` says whether the table has a column `boxes` of four numbers for each object.
    ///
    /// # Errors
    /// It is no such word, or there is no such column.
    pub(super) fn chosen(options: &Options, can_be: bool) -> Result<Option<Self>, SourceError> {
        let chosen = options.own.choice(BOXES.name, &FORMATS)?;
        if chosen.is_some() && !can_be {
            let expected = "left out, unless group=\"true\" and the column map has \"boxes\" with four columns of the \
                            table, such as columns = { boxes = \"x1,y1,x2,y2\" }";
            return Err(SourceError::bad_option(BOXES.name, options.own.get(BOXES.name).unwrap_or_default(), expected));
        }
        Ok(chosen)
    }

    pub(super) fn role(self) -> Role {
        if self.fractions { Role::FractionBoxes } else { Role::Boxes }
    }

    /// Left, top, right and bottom. Nothing if the box has a negative width or height, or a corner does not fit into f32.
    pub(super) fn corners(self, numbers: [f32; 4]) -> Option<[f32; 4]> {
        let [a, b, c, d] = numbers.map(f64::from);
        let [left, top, right, bottom] = match self.form {
            BoxForm::Corners => [a, b, c, d],
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
        let of = |word: &str| FORMATS.iter().find(|(name, _)| *name == word).and_then(|(_, format)| *format).unwrap();
        for (word, numbers) in [
            ("xyxy", [10.0, 20.0, 40.0, 60.0]),
            ("xywh", [10.0, 20.0, 30.0, 40.0]),
            ("cxcywh_fractions", [25.0, 40.0, 30.0, 40.0]),
        ] {
            assert_eq!(of(word).corners(numbers), Some([10.0, 20.0, 40.0, 60.0]), "{word}");
        }
        assert_eq!(of("xyxy").corners([3.0, 0.0, 2.0, 1.0]), None);
        assert_eq!(of("xywh").corners([f32::MAX, 0.0, f32::MAX, 1.0]), None);
        assert_eq!((of("xywh").role(), of("xywh_fractions").role()), (Role::Boxes, Role::FractionBoxes));
    }
}
