//! A recipe: a checked list of transforms with the form of its output. Its shape is fixed, or it cannot be made.

use crate::draw::Draw;
use crate::finish::Values;
use crate::matching::Match;
use crate::output::{Dtype, Output};
use crate::plan::Plan;
use crate::recipe_error::{MAX_TRANSFORMS, RecipeError};
use crate::transform::shape::Shape;
use crate::transform::{Normalize, Transform};

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
    matched: Match,
    output: Output,
    values: Values,
    height: u32,
    width: u32,
}

impl Recipe {
    /// Checks the list and fixes the output's shape.
    ///
    /// # Errors
    /// [`RecipeError`]: a value out of range, no fixed shape (rule 6), normalize on whole numbers or not at the end.
    pub fn new(transforms: Vec<Transform>, output: Output) -> Result<Self, RecipeError> {
        let len = transforms.iter().map(Transform::count).sum();
        if len > MAX_TRANSFORMS {
            return Err(RecipeError::TooMany { len });
        }
        // Two recipes that do the same are equal, however their sizes were written.
        let mut transforms: Vec<_> = transforms.into_iter().map(Transform::squared).collect();
        let mut shape = Shape::Open;
        let mut normalize: Option<(usize, Normalize)> = None;
        for (place, transform) in transforms.iter_mut().enumerate() {
            if let Some((place, normalize)) = &normalize {
                let behind = transform.clone().behind(normalize);
                *transform = behind.ok_or(RecipeError::NormalizeNotLast { place: *place })?;
            }
            transform.check(place)?;
            if let Transform::Normalize(found) = transform {
                if output.dtype == Dtype::Uint8 {
                    return Err(RecipeError::NormalizeNeedsFloat { place });
                }
                normalize = Some((place, found.clone()));
            }
            shape = transform.shape(shape);
        }
        match shape {
            Shape::Fixed(height, width) => {
                let values = Values::new(output, normalize.as_ref().map(|(_, normalize)| normalize));
                let (input, matched) = (Input::default(), Match::default());
                Ok(Self { transforms, input, matched, output, values, height, width })
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

    /// The same with resizes that calculate in another way.
    ///
    /// # Errors
    /// [`RecipeError::NoTorchFilter`] if torch has no antialiased filter for one of them.
    pub fn with_match(self, matched: Match) -> Result<Self, RecipeError> {
        let lacking = self.transforms.iter().position(|transform| !transform.has_torch());
        match lacking.filter(|_| matched == Match::Torch) {
            Some(place) => Err(RecipeError::NoTorchFilter { place, name: self.transforms[place].name() }),
            None => Ok(Self { matched, ..self }),
        }
    }

    /// Place and name of the first transform that boxes, points and masks cannot follow, if there is one.
    pub fn unfollowed(&self) -> Option<(usize, &'static str)> {
        let mut transforms = self.transforms.iter().enumerate();
        transforms.find(|(_, transform)| !transform.is_followed()).map(|(place, transform)| (place, transform.name()))
    }

    /// How resizes calculate.
    pub fn matched(&self) -> Match {
        self.matched
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
        self.transforms.iter().find_map(Transform::as_normalize)
    }

    /// What a value of 8 bits becomes.
    pub(crate) fn values(&self) -> &Values {
        &self.values
    }

    /// The plan for a picture of `width` x `height` pixels, each at least 1.
    ///
    /// ```
    /// use forebay_pixels::{Draw, Recipe, Rect, Step};
    ///
    /// let plan = Recipe::evaluation(224)?.plan(500, 375, Draw { seed: 0, epoch: 0, record: 0 });
    /// assert_eq!(plan.steps[1], Step::Cut(Rect { left: 58, top: 16, width: 224, height: 224 }));
    /// # Ok::<(), forebay_pixels::RecipeError>(())
    /// ```
    pub fn plan(&self, width: u32, height: u32, draw: Draw) -> Plan {
        let mut plan = Plan::default();
        self.plan_into(width, height, draw, &mut plan);
        plan
    }

    /// [`Recipe::plan`] into an old plan, whose memory is used again.
    pub fn plan_into(&self, width: u32, height: u32, draw: Draw, plan: &mut Plan) {
        plan.begin(width, height);
        for (place, transform) in self.transforms().iter().enumerate() {
            transform.plan(plan, draw.at(place));
        }
        debug_assert_eq!((plan.height, plan.width, 3), self.shape(), "the recipe's shape is fixed");
    }
}
