//! A recipe: a checked list of transforms with the form of its output. Its shape is fixed, or it cannot be made.

use crate::draw::Draw;
use crate::matching::Match;
use crate::origin::Origin;
use crate::output::Output;
use crate::plan::Plan;
use crate::recipe_error::RecipeError;
use crate::record_boxes::RecordBoxes;
use crate::transform::shape::{Shape, Size};
use crate::transform::{Normalize, Python, Transform};
use crate::transform_list::{Input, TransformList};

/// A function in Python of a recipe, and what follows it.
#[derive(Clone, Debug, PartialEq)]
pub struct PythonStep {
    /// Its place in the recipe's list.
    pub place: usize,
    /// The function.
    pub python: Python,
    /// Height and width of the pictures that it gets: packed RGB.
    pub takes: (u32, u32),
    /// Height and width of its results.
    pub gives: (u32, u32),
    /// What becomes of its results.
    pub then: Recipe,
}

/// A checked list of transforms and the forms of its input and output.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    list: TransformList,
    height: u32,
    width: u32,
}

impl Recipe {
    /// Checks the list and fixes the output's shape.
    ///
    /// # Errors
    /// [`RecipeError`]: a value out of range, no fixed shape (rule 6), normalize on whole numbers or not at the end.
    pub fn new(transforms: Vec<Transform>, output: Output) -> Result<Self, RecipeError> {
        match TransformList::with_shape(transforms, output)? {
            (list, Shape::Fixed(height, width)) => Ok(Self { list, height, width }),
            (_, Shape::Open) => Err(RecipeError::NoFixedShape),
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
        Ok(Self { list: self.list.with_input(input)?, ..self })
    }

    /// The same with resizes that calculate in another way.
    ///
    /// # Errors
    /// [`RecipeError::NoTorchFilter`] if torch has no antialiased filter for one of them.
    pub fn with_match(self, matched: Match) -> Result<Self, RecipeError> {
        Ok(Self { list: self.list.with_match(matched)?, ..self })
    }

    /// Place and name of the first transform that boxes, points and masks cannot follow, if there is one.
    pub fn unfollowed(&self) -> Option<(usize, &'static str)> {
        let mut transforms = self.transforms().iter().enumerate();
        transforms.find(|(_, transform)| !transform.is_followed()).map(|(place, transform)| (place, transform.name()))
    }

    /// The same for records with these boxes, if a transform draws by them.
    #[must_use]
    pub fn with_boxes(self, boxes: RecordBoxes) -> Self {
        Self { list: self.list.with_boxes(boxes), ..self }
    }

    /// The boxes that it was given, if it was.
    pub fn boxes(&self) -> Option<&RecordBoxes> {
        self.list.boxes()
    }

    /// The same for one picture of a mosaic, if it has one.
    pub(crate) fn with_quarter(self, quarter: usize) -> Self {
        Self { list: self.list.with_quarter(quarter), ..self }
    }

    /// Place and name of the first transform that draws by the boxes of a record, if there is one. Such a recipe needs
    /// [`with_boxes`](Self::with_boxes).
    pub fn drawing_by_boxes(&self) -> Option<(usize, &'static str)> {
        self.list.drawing_by_boxes()
    }

    /// The pairs of keypoints that change places if the picture is mirrored: those of the first flip that names some.
    pub fn flip_pairs(&self) -> &[[u32; 2]] {
        self.transforms().iter().map(Transform::flip_pairs).find(|pairs| !pairs.is_empty()).unwrap_or_default()
    }

    /// How resizes calculate.
    pub fn matched(&self) -> Match {
        self.list.matched()
    }

    /// How files become pictures.
    pub fn input(&self) -> Input {
        self.list.input()
    }

    /// The list of transforms.
    pub fn transforms(&self) -> &[Transform] {
        self.list.transforms()
    }

    /// Form of the output.
    pub fn output(&self) -> Output {
        self.list.output()
    }

    /// Height, width, channels of one place, whatever the layout.
    pub fn shape(&self) -> (u32, u32, u32) {
        (self.height, self.width, self.output().mode.channels())
    }

    /// Bytes of one place.
    pub fn place_len(&self) -> usize {
        self.output().bytes(self.width, self.height)
    }

    /// The normalisation, if there is one.
    pub fn normalize(&self) -> Option<&Normalize> {
        self.transforms().iter().find_map(Transform::as_normalize)
    }

    /// The list, with the forms of its input and output.
    pub(crate) fn list(&self) -> &TransformList {
        &self.list
    }

    /// The functions in Python that it has, with their places in the list.
    pub fn python(&self) -> impl Iterator<Item = (usize, &Python)> {
        let transforms = self.transforms().iter().enumerate();
        transforms.filter_map(|(place, transform)| Some((place, transform.as_python()?)))
    }

    /// The recipe up to its first function in Python, and each function with the recipe behind it, up to the next one. A recipe
    /// without functions is its own first part.
    pub fn split(&self) -> (Self, Vec<PythonStep>) {
        let places: Vec<usize> = self.python().map(|(place, _)| place).collect();
        let len = self.transforms().len();
        let (mut height, mut width) = (0, 0);
        let mut part = |from: usize, to: usize, before: Shape| {
            let list = self.list.part(from..to);
            let shape = list.transforms().iter().fold(before, |shape, transform| transform.shape(shape));
            if let Shape::Fixed(to_height, to_width) = shape {
                (height, width) = (to_height, to_width);
            }
            Self { list, height, width }
        };
        let first = part(0, places.first().copied().unwrap_or(len), Shape::Open);
        let (mut steps, mut before) = (Vec::new(), (first.height, first.width));
        for (number, (place, python)) in self.python().enumerate() {
            let (height, width) = python.output.map_or(before, Size::square);
            let end = places.get(number + 1).copied().unwrap_or(len);
            let then = part(place + 1, end, Shape::Fixed(height, width));
            let after = (then.height, then.width);
            steps.push(PythonStep { place, python: python.clone(), takes: before, gives: (height, width), then });
            before = after;
        }
        (first, steps)
    }

    /// The plan for a picture that is stored as `width` x `height` pixels, each at least 1, and not turned.
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
        self.plan_into(&Origin::plain((width, height)), draw, &mut plan);
        plan
    }

    /// The plan for a picture, into an old plan, whose memory is used again.
    pub fn plan_into(&self, origin: &Origin, draw: Draw, plan: &mut Plan) {
        self.list.plan_into(origin, draw, plan);
        debug_assert_eq!((plan.height, plan.width), (self.height, self.width), "the recipe's shape is fixed");
    }
}
