//! A recipe: a checked list of transforms with the form of its output. Its shape is fixed, or it cannot be made.

use serde::Deserialize;
use thiserror::Error;

use crate::cpu::finish::Values;
use crate::transform::{CenterCrop, Normalize, RandomResizedCrop, Resize, Size, Transform};

/// Longest list of transforms.
const MAX_TRANSFORMS: usize = 32;

/// Type of one value of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// 0 to 255.
    #[default]
    Uint8,
    /// IEEE half precision: 0 to 1, or normalised. Rounded from the float32 value to nearest, ties to even.
    Float16,
    /// IEEE single precision: 0 to 1, or normalised.
    Float32,
}

/// Order of the output's dimensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Layout {
    /// Rows of pixels of red, green, blue.
    #[default]
    #[serde(rename = "NHWC")]
    Nhwc,
    /// Three planes.
    #[serde(rename = "NCHW")]
    Nchw,
}

/// Form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Type of a value.
    pub dtype: Dtype,
    /// Order of the dimensions.
    pub layout: Layout,
    /// Red, green, blue under the transparent parts of a picture. Default: black.
    pub background: [u8; 3],
}

/// How a file becomes the picture that the transforms see.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    /// Whether a picture is turned as its EXIF orientation says: DALI's setting, with DALI's default. Pillow and
    /// torchvision leave pictures as they are stored unless asked to.
    pub adjust_orientation: bool,
    /// How many times the pixels of its result a JPEG must keep on each side when it is decoded at 1/2, 1/4 or 1/8 of its
    /// size: Pillow's `reducing_gap` of `Image.thumbnail`, at least 1. 2 is hard to tell from an exact result. None:
    /// pictures are decoded as they are.
    pub reducing_gap: Option<f64>,
}

impl Default for Input {
    fn default() -> Self {
        Self { adjust_orientation: true, reducing_gap: None }
    }
}

/// A checked list of transforms and the forms of its input and output.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    transforms: Vec<Transform>,
    input: Input,
    output: Output,
    values: Values,
    height: u32,
    width: u32,
}

/// Why a list of transforms makes no recipe.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// A value of one transform is out of its range.
    #[error("transform {place} ({name}): {problem}")]
    Value {
        /// Place in the list, from 0.
        place: usize,
        /// Name of the transform.
        name: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// The pictures would differ in size.
    #[error(
        "the transforms give pictures of different sizes, which cannot stand in one batch; add random_resized_crop, \
         center_crop, or resize with [height, width], or set `size`"
    )]
    NoFixedShape,
    /// Normalised values are no whole numbers.
    #[error("transform {place} (normalize) needs a float output; set dtype to \"float16\" or \"float32\"")]
    NormalizeNeedsFloat {
        /// Place in the list, from 0.
        place: usize,
    },
    /// Something follows normalize.
    #[error("transform {place} (normalize) must be the last of the list; move it to the end")]
    NormalizeNotLast {
        /// Place in the list, from 0.
        place: usize,
    },
    /// A gap that would leave fewer pixels than the result has, or none.
    #[error("reducing_gap is {gap}, but must be a number from 1 up, such as 2.0")]
    ReducingGap {
        /// What was asked for.
        gap: String,
    },
    /// The list is too long.
    #[error("the list has {len} transforms; at most {MAX_TRANSFORMS} are allowed")]
    TooMany {
        /// Length of the list.
        len: usize,
    },
}

/// What is known of a picture's size after some transforms.
#[derive(Clone, Copy)]
enum Shape {
    Open,
    Fixed(u32, u32),
}

impl Dtype {
    /// Bytes of one value.
    #[expect(clippy::len_without_is_empty, reason = "a value always has bytes")]
    pub fn len(self) -> usize {
        match self {
            Self::Uint8 => 1,
            Self::Float16 => 2,
            Self::Float32 => 4,
        }
    }
}

impl Recipe {
    /// Checks the list and fixes the output's shape.
    ///
    /// # Errors
    /// [`RecipeError`]: a value out of range, no fixed shape (rule 6), normalize on whole numbers or not at the end.
    pub fn new(transforms: Vec<Transform>, output: Output) -> Result<Self, RecipeError> {
        if transforms.len() > MAX_TRANSFORMS {
            return Err(RecipeError::TooMany { len: transforms.len() });
        }
        let mut shape = Shape::Open;
        for (place, transform) in transforms.iter().enumerate() {
            transform.check(place)?;
            if matches!(transform, Transform::Normalize(_)) {
                if output.dtype == Dtype::Uint8 {
                    return Err(RecipeError::NormalizeNeedsFloat { place });
                }
                if place + 1 != transforms.len() {
                    return Err(RecipeError::NormalizeNotLast { place });
                }
            }
            shape = shape.after(transform);
        }
        match shape {
            Shape::Fixed(height, width) => {
                let values = Values::new(output, transforms.last().and_then(Transform::as_normalize));
                Ok(Self { transforms, input: Input::default(), output, values, height, width })
            }
            Shape::Open => Err(RecipeError::NoFixedShape),
        }
    }

    /// What `size=` means with shuffle: a random part resized to a square, mirrored half the time, uint8 NHWC.
    ///
    /// # Errors
    /// [`RecipeError::Value`] if `size` is out of range.
    pub fn training(size: u32) -> Result<Self, RecipeError> {
        Self::new(Transform::training(size), Output::default())
    }

    /// What `size=` means without shuffle: shorter side `size * 256 / 224`, the middle square, uint8 NHWC.
    ///
    /// # Errors
    /// [`RecipeError::Value`] if `size` is out of range.
    pub fn evaluation(size: u32) -> Result<Self, RecipeError> {
        Self::new(Transform::evaluation(size), Output::default())
    }

    /// The same with another input.
    ///
    /// # Errors
    /// [`RecipeError::ReducingGap`] if it is below 1 or no number.
    pub fn with_input(self, input: Input) -> Result<Self, RecipeError> {
        match input.reducing_gap {
            Some(gap) if !(gap >= 1.0 && gap.is_finite()) => Err(RecipeError::ReducingGap { gap: gap.to_string() }),
            _ => Ok(Self { input, ..self }),
        }
    }

    /// How files become pictures.
    pub fn input(&self) -> Input {
        self.input
    }

    /// The list of transforms.
    pub fn transforms(&self) -> &[Transform] {
        &self.transforms
    }

    /// Form of the output.
    pub fn output(&self) -> Output {
        self.output
    }

    /// Height, width, channels of one place, whatever the layout.
    pub fn shape(&self) -> (u32, u32, u32) {
        (self.height, self.width, 3)
    }

    /// Bytes of one place.
    pub fn place_len(&self) -> usize {
        self.height as usize * self.width as usize * 3 * self.output.dtype.len()
    }

    /// The normalisation, if there is one.
    pub fn normalize(&self) -> Option<&Normalize> {
        self.transforms.last().and_then(Transform::as_normalize)
    }

    /// What a value of 8 bits becomes.
    pub(crate) fn values(&self) -> &Values {
        &self.values
    }
}

impl Shape {
    fn after(self, transform: &Transform) -> Self {
        match (transform, self) {
            (
                Transform::RandomResizedCrop(RandomResizedCrop { size, .. })
                | Transform::CenterCrop(CenterCrop { size }),
                _,
            ) => fixed(*size),
            (Transform::Resize(resize), Self::Fixed(height, width)) => {
                let (width, height) = resize.target(width, height);
                Self::Fixed(height, width)
            }
            (Transform::Resize(Resize { size: Size::HeightWidth([height, width]), .. }), _) => {
                Self::Fixed(*height, *width)
            }
            (Transform::Pad(pad), Self::Fixed(height, width)) => {
                let (least_height, least_width) = pad.size.square();
                Self::Fixed(height.max(least_height), width.max(least_width))
            }
            (_, shape) => shape,
        }
    }
}

fn fixed(size: Size) -> Shape {
    let (height, width) = size.square();
    Shape::Fixed(height, width)
}
