//! The shapes that the caller expects of the columns of batches, as Paddle's `dims`. Pure.

use std::fmt;

use thiserror::Error;

/// The shapes of columns, in the order images, labels, further columns of the dataset. The first axis of each is the places of
/// a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dims {
    shapes: Vec<Vec<Option<u32>>>,
}

/// The lengths of a column's axes. None is a length that differs from batch to batch, or from place to place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnAxes {
    name: String,
    axes: Vec<Option<u32>>,
}

/// A shape that has no meaning, or that a column does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("shapes[{number}] {problem}")]
pub struct DimsError {
    /// Which of the shapes.
    number: usize,
    /// What is wrong, as the rest of a sentence.
    problem: String,
}

/// Values per pixel, and the mode that has so many: colours, brightness alone, and each with alpha.
const CHANNELS: [(u32, Option<&str>); 4] = [(3, None), (1, Some("L")), (4, Some("RGBA")), (2, Some("LA"))];

impl Dims {
    /// Reads shapes. -1 means any length. A shape of images has four axes, of which the second or the last is 3 for colours,
    /// 1 for brightness alone, 4 for colours with alpha or 2 for brightness with alpha.
    ///
    /// # Errors
    /// A shape has no meaning for batches of pictures.
    pub fn new(shapes: &[Vec<i64>]) -> Result<Self, DimsError> {
        let shapes: Result<Vec<_>, _> = shapes.iter().enumerate().map(|(number, shape)| read(number, shape)).collect();
        let shapes = shapes?;
        let wrong = |problem: &str| Err(DimsError { number: 0, problem: problem.to_owned() });
        match shapes.first().map(Vec::as_slice) {
            None => wrong("is missing; give the shape of the images first, such as (-1, 224, 224, 3)"),
            Some(images) if channels(images).is_some() => Ok(Self { shapes }),
            Some(shape) => wrong(&format!(
                "is {}; the images come first, with four axes, such as (-1, 224, 224, 3) or (-1, 3, 224, 224)",
                Axes(shape)
            )),
        }
    }

    /// Whether each channel of images is a plane.
    pub(super) fn is_planar(&self) -> bool {
        channels(&self.shapes[0]).is_some_and(|(axis, _)| axis == 1)
    }

    /// The mode of images, if it is not RGB.
    pub(super) fn mode(&self) -> Option<&'static str> {
        channels(&self.shapes[0]).and_then(|(_, mode)| mode)
    }

    /// Height and width of images, if both are given.
    pub(super) fn size(&self) -> Option<(u32, u32)> {
        let sides = if self.is_planar() { [2, 3] } else { [1, 2] };
        let [height, width] = sides.map(|axis| self.shapes[0][axis]);
        Some((height?, width?))
    }

    /// Compares with what the columns have.
    ///
    /// # Errors
    /// The first column that differs, with both shapes.
    pub fn check(&self, columns: &[ColumnAxes]) -> Result<(), DimsError> {
        for (number, shape) in self.shapes.iter().enumerate() {
            let wrong = |problem| Err(DimsError { number, problem });
            let Some(ColumnAxes { name, axes }) = columns.get(number) else {
                let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
                return wrong(format!("is of no column; there are only {}", names.join(", ")));
            };
            let fits = |(expected, found): (&Option<u32>, &Option<u32>)| expected.is_none() || expected == found;
            if shape.len() != axes.len() || !shape.iter().zip(axes).all(fits) {
                return wrong(format!("is {}, but the column \"{name}\" has {}", Axes(shape), Axes(axes)));
            }
        }
        Ok(())
    }
}

impl ColumnAxes {
    /// A column with these axes, the places of a batch first.
    pub fn new(name: &str, axes: impl IntoIterator<Item = Option<u32>>) -> Self {
        Self { name: name.to_owned(), axes: axes.into_iter().collect() }
    }
}

/// The axis of images that has the channels, and their mode if it is not RGB.
fn channels(images: &[Option<u32>]) -> Option<(usize, Option<&'static str>)> {
    let &[_, second, _, last] = images else { return None };
    CHANNELS.into_iter().find_map(|(channels, mode)| {
        let axis = [(3, last), (1, second)].into_iter().find(|(_, len)| *len == Some(channels));
        axis.map(|(axis, _)| (axis, mode))
    })
}

fn read(number: usize, shape: &[i64]) -> Result<Vec<Option<u32>>, DimsError> {
    let wrong = |problem| DimsError { number, problem };
    let axis = |len: &i64| match u32::try_from(*len) {
        Ok(len) if len > 0 => Ok(Some(len)),
        _ if *len == -1 => Ok(None),
        _ => Err(wrong(format!("has an axis of {len}; give -1 for any length, or a length from 1 on"))),
    };
    let axes: Vec<_> = shape.iter().map(axis).collect::<Result<_, _>>()?;
    match axes.first() {
        Some(None) => Ok(axes),
        _ => Err(wrong(format!(
            "is {}; its first axis is the places of a batch, and must be -1. Chain batch() to say how many there are",
            Axes(&axes)
        ))),
    }
}

/// Axes as Python writes a shape, with -1 for any length.
struct Axes<'a>(&'a [Option<u32>]);

impl fmt::Display for Axes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: Vec<String> =
            self.0.iter().map(|axis| axis.map_or_else(|| "-1".to_owned(), |len| len.to_string())).collect();
        let comma = if axes.len() == 1 { "," } else { "" };
        write!(f, "({}{comma})", axes.join(", "))
    }
}
