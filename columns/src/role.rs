//! The meaning of a column's numbers, if they are places in the picture, or classes.

use crate::{ColumnType, ElementType};

/// What the numbers of a column are. Those that are places in the picture follow it when it is cut, resized, mirrored or
/// turned (semantics rule 45).
///
/// Places are in pixels of the whole picture, from 0 at its left and upper border. A stream's setting says whether that is the
/// picture as seen or as stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// Nothing that follows the picture.
    #[default]
    Plain,
    /// Boxes of left, top, right and below: `f32 [*, 4]`. A right or lower end is not part of its box.
    Boxes,
    /// Points of x and y: `f32` values whose last dimension is 2, such as the polygons `f32 [*][*][*, 2]`.
    Points,
    /// Points of x, y and visibility: `f32` values whose last dimension is 3, such as `f32 [*, 17, 3]`. A visibility of 0
    /// means that the point is not labelled.
    Keypoints,
    /// As [`Boxes`](Self::Boxes), in fractions of the picture's width and height. In a batch they are pixels.
    FractionBoxes,
    /// As [`Points`](Self::Points), in fractions of the picture's width and height. In a batch they are pixels.
    FractionPoints,
    /// As [`Keypoints`](Self::Keypoints), with x and y in fractions of the picture's width and height. In a batch they are
    /// pixels.
    FractionKeypoints,
    /// A number for each pixel of the result: `u8`, `u16` or `i32` `[height, width]`. It is no column of a table: it is decoded
    /// with its picture.
    Mask,
    /// A further view of the picture: values of `[height, width, 3]` or `[3, height, width]`. It is no column of a table: it is
    /// made with its picture.
    View,
    /// Numbers of classes: `i64` values. Sources that become one dataset agree on the numbers (semantics rule 58).
    Classes,
}

impl Role {
    /// Those that a dataset's table can have.
    const ALL: [Self; 9] = [
        Self::Plain,
        Self::Boxes,
        Self::Points,
        Self::Keypoints,
        Self::FractionBoxes,
        Self::FractionPoints,
        Self::FractionKeypoints,
        Self::Mask,
        Self::Classes,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Boxes => "boxes",
            Self::Points => "points",
            Self::Keypoints => "keypoints",
            Self::FractionBoxes => "fraction boxes",
            Self::FractionPoints => "fraction points",
            Self::FractionKeypoints => "fraction keypoints",
            Self::Mask => "mask",
            Self::View => "view",
            Self::Classes => "classes",
        }
    }

    /// The role with this name, if a dataset can give it to a column.
    ///
    /// ```
    /// use forebay_columns::Role;
    ///
    /// assert_eq!(Role::named(Role::FractionBoxes.name()), Some(Role::FractionBoxes));
    /// assert_eq!(Role::named("luck"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether a column of this type can have the role.
    pub fn suits(self, column: &ColumnType) -> bool {
        let is_f32 = column.element() == ElementType::F32;
        match self {
            Self::Plain => true,
            Self::Classes => column.element() == ElementType::I64,
            Self::Boxes | Self::FractionBoxes => is_f32 && column.depth() == 1 && column.dims() == [4],
            Self::Points | Self::FractionPoints => is_f32 && column.dims().last() == Some(&2),
            Self::Keypoints | Self::FractionKeypoints => is_f32 && column.dims().last() == Some(&3),
            Self::Mask => {
                let can_count = [ElementType::U8, ElementType::U16, ElementType::I32].contains(&column.element());
                can_count && column.depth() == 0 && column.dims().len() == 2
            }
            Self::View => column.depth() == 0 && column.dims().len() == 3,
        }
    }

    /// Whether its numbers are places that follow the picture.
    pub fn follows(self) -> bool {
        !matches!(self, Self::Plain | Self::Classes | Self::Mask | Self::View)
    }

    /// Whether its places are written one by one, with those of the pictures.
    pub fn is_of_places(self) -> bool {
        matches!(self, Self::Mask | Self::View)
    }

    /// Whether its numbers are keypoints.
    pub fn is_of_keypoints(self) -> bool {
        matches!(self, Self::Keypoints | Self::FractionKeypoints)
    }

    /// Whether its places count in fractions of the picture's width and height.
    pub fn is_of_fractions(self) -> bool {
        matches!(self, Self::FractionBoxes | Self::FractionPoints | Self::FractionKeypoints)
    }

    /// Whether its boxes say which of the objects are shown.
    pub fn is_of_boxes(self) -> bool {
        matches!(self, Self::Boxes | Self::FractionBoxes)
    }
}
