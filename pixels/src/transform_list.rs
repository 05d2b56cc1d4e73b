//! A checked list of transforms with the forms of its input and output. Its results may differ in size from picture to
//! picture. A [`Recipe`](crate::Recipe) is one whose results do not.

use crate::batch_function::BatchFunction;
use crate::draw::{Draw, Draws};
use crate::finish::Values;
use crate::fit::Fit;
use crate::matching::Match;
use crate::origin::Origin;
use crate::output::{Dtype, Mode, Output};
use crate::patches::Patches;
use crate::plan::Plan;
use crate::recipe_error::{MAX_TRANSFORMS, RecipeError};
use crate::record_boxes::RecordBoxes;
use crate::transform::leaves::{Leaf, Passage};
use crate::transform::shape::Shape;
use crate::transform::{Normalize, Python, Transform};

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
    /// Which page of a TIFF is read, from 0, as Pillow's `seek` counts them. Files of other formats have only page 0.
    pub page: u32,
}

impl Default for Input {
    fn default() -> Self {
        Self { adjust_orientation: true, reducing_gap: None, page: 0 }
    }
}

/// A checked list of transforms for pictures that are handled one by one.
///
/// ```
/// use forebay_pixels::{CpuDecoder, Draw, Limits, Output, TransformList, sample};
///
/// let shorter_side = serde_json::from_str(r#"[{ "resize": { "size": 64 } }]"#)?;
/// let list = TransformList::new(shorter_side, Output::default())?;
/// let bytes = sample::photograph(7, 500, 375);
/// let draw = Draw { seed: 0, epoch: 0, record: 0 };
/// let made = CpuDecoder::new().decode_sized(&bytes, &list, draw, &Limits::default())?;
/// assert_eq!((made.width, made.height), (85, 64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TransformList {
    transforms: Vec<Transform>,
    /// What is done before them, if pictures are fitted to their steps.
    fit: Option<Box<Fit>>,
    input: Input,
    matched: Match,
    output: Output,
    values: Values,
    /// The boxes of the records, for transforms that draw by them.
    boxes: Option<Box<RecordBoxes>>,
    /// The function in Python that is called with finished batches.
    batch_function: Option<Box<BatchFunction>>,
    /// What it is, if it is a part between functions in Python.
    part: Option<Box<ListPart>>,
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq)]
struct ListPart {
    /// The place of its first transform in the list. Random choices follow it.
    first_place: usize,
    /// The number of its first leaf in the list.
    first_leaf: usize,
    /// Which of these leaves it has.
    passage: Passage,
}

impl TransformList {
    /// Checks the list. An empty one leaves pictures as they are.
    ///
    /// # Errors
    /// [`RecipeError`]: a value out of range, normalize on whole numbers or not at the end.
    pub fn new(transforms: Vec<Transform>, output: Output) -> Result<Self, RecipeError> {
        Self::with_shape(None, transforms, output).map(|(list, _)| list)
    }

    /// The same, and what is known of the size of its results.
    pub(crate) fn with_shape(
        fit: Option<Fit>,
        transforms: Vec<Transform>,
        output: Output,
    ) -> Result<(Self, Shape), RecipeError> {
        let len = transforms.iter().map(Transform::count).sum();
        if len > MAX_TRANSFORMS {
            return Err(RecipeError::TooMany { len });
        }
        // Two lists that do the same are equal, however their sizes were written.
        let mut transforms: Vec<_> = transforms.into_iter().map(Transform::squared).collect();
        let batch_function = BatchFunction::take(&mut transforms)?;
        let mut shape = Shape::behind(fit.as_ref());
        let is_mosaic = matches!(transforms.first(), Some(Transform::Mosaic(_)));
        let (mut normalize, mut follows_python) = (None::<(usize, Normalize)>, false);
        for (place, transform) in transforms.iter_mut().enumerate() {
            if let Some((place, normalize)) = &normalize {
                let behind = transform.clone().behind(normalize);
                *transform = behind.ok_or(RecipeError::NormalizeNotLast { place: *place })?;
            }
            transform.check(place)?;
            let problem = transform.mode_problem(output.mode).or_else(|| transform.mosaic_problem(place, is_mosaic));
            if let Some(problem) = problem.or_else(|| transform.python_problem(shape, &mut follows_python)) {
                return Err(RecipeError::Value { place, name: transform.name(), problem });
            }
            if let Transform::Normalize(found) = transform {
                if output.dtype == Dtype::Uint8 {
                    return Err(RecipeError::NormalizeNeedsFloat { place });
                }
                normalize = Some((place, found.clone()));
            }
            shape = transform.shape(shape);
        }
        let values = Values::new(output, normalize.as_ref().map(|(_, normalize)| normalize));
        let (input, matched) = (Input::default(), Match::default());
        let fit = fit.map(Box::new);
        Ok((Self { transforms, fit, input, matched, output, values, boxes: None, batch_function, part: None }, shape))
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
    /// [`RecipeError::NoTorchFilter`] if torch has no antialiased filter for one of them, and [`RecipeError::NoTorchMode`] for
    /// other modes than RGB.
    pub fn with_match(self, matched: Match) -> Result<Self, RecipeError> {
        if matched == Match::Torch && self.output.mode != Mode::Rgb {
            return Err(RecipeError::NoTorchMode { mode: self.output.mode.name() });
        }
        if matched == Match::Torch && self.fit.as_ref().is_some_and(|fit| !fit.has_torch()) {
            return Err(RecipeError::NoTorchBuckets);
        }
        let lacking = self.transforms.iter().position(|transform| !transform.has_torch());
        match lacking.filter(|_| matched == Match::Torch) {
            Some(place) => Err(RecipeError::NoTorchFilter { place, name: self.transforms[place].name() }),
            None => Ok(Self { matched, ..self }),
        }
    }

    /// The list of transforms.
    pub fn transforms(&self) -> &[Transform] {
        &self.transforms
    }

    /// What is done before the transforms, if pictures are fitted to their steps.
    pub(crate) fn fit(&self) -> Option<&Fit> {
        self.fit.as_deref()
    }

    /// How pictures become patches, if they do.
    pub(crate) fn patches(&self) -> Option<&Patches> {
        match self.fit() {
            Some(Fit::Patches(patches)) => Some(patches),
            Some(Fit::Cover(_) | Fit::Ragged { .. }) | None => None,
        }
    }

    /// Whether each picture has a size of its own, and takes all of its place.
    pub(crate) fn is_ragged(&self) -> bool {
        matches!(self.fit(), Some(Fit::Ragged { .. }))
    }

    /// The same for other steps.
    #[must_use]
    pub(crate) fn with_fit(self, fit: Fit) -> Self {
        Self { fit: Some(Box::new(fit)), ..self }
    }

    /// How files become pictures.
    pub fn input(&self) -> Input {
        self.input
    }

    /// The boxes of the records, if it was given them.
    pub(crate) fn boxes(&self) -> Option<&RecordBoxes> {
        self.boxes.as_deref()
    }

    /// How resizes calculate.
    pub fn matched(&self) -> Match {
        self.matched
    }

    /// Form of the output.
    pub fn output(&self) -> Output {
        self.output
    }

    /// What a value of 8 bits becomes.
    pub(crate) fn values(&self) -> &Values {
        &self.values
    }

    /// The same for one picture of a mosaic.
    #[must_use]
    pub(crate) fn with_quarter(mut self, quarter: usize) -> Self {
        if let Some(Transform::Mosaic(mosaic)) = self.transforms.first_mut() {
            mosaic.quarter = quarter;
        }
        self
    }

    /// The same for records with these boxes. Without them, a transform that draws by boxes finds none.
    #[must_use]
    pub(crate) fn with_boxes(self, boxes: RecordBoxes) -> Self {
        Self { boxes: Some(Box::new(boxes)), ..self }
    }

    /// Place and name of the first transform that draws by the boxes of a record, if there is one.
    pub fn drawing_by_boxes(&self) -> Option<(usize, &'static str)> {
        let mut transforms = self.transforms.iter().enumerate();
        transforms.find(|(_, transform)| transform.draws_by_boxes()).map(|(place, transform)| (place, transform.name()))
    }

    /// The plan for a picture, into an old plan, whose memory is used again.
    pub fn plan_into(&self, origin: &Origin, draw: Draw, plan: &mut Plan) {
        let (width, height) = origin.size;
        plan.begin(width, height);
        if let Some(boxes) = &self.boxes {
            boxes.place(draw.record, origin, plan);
        }
        if let Some(fit) = &self.fit {
            fit.plan(plan, origin, draw);
        }
        let Some(part) = &self.part else {
            for (place, transform) in self.transforms.iter().enumerate() {
                transform.plan(plan, draw.at(place));
            }
            if let Some(fit) = &self.fit {
                fit.check(plan, origin, draw);
            }
            return;
        };
        let mut has = part.passage.walk();
        self.pass_leaves(draw, &mut |transform, draws, leaf| {
            if has(leaf) {
                transform.plan(plan, draws);
            }
        });
    }

    /// Calls `passed` with each leaf that is carried out for a picture, in their order, with its draws and its number.
    pub(crate) fn pass_leaves(&self, draw: Draw, passed: &mut dyn FnMut(&Transform, Draws, usize)) {
        let (first_place, mut leaf) = self.part.as_deref().map_or((0, 0), |part| (part.first_place, part.first_leaf));
        for (place, transform) in self.transforms.iter().enumerate() {
            transform.pass_leaves(draw.at(first_place + place), leaf, passed);
            leaf += transform.leaves();
        }
    }

    /// The first function of pictures in Python that it has, if it has one. A part between functions has none that is called.
    pub fn python(&self) -> Option<&Python> {
        self.transforms.iter().find_map(Transform::python).filter(|_| self.part.is_none())
    }

    /// The function that is called with finished batches, if it has one.
    pub fn batch_function(&self) -> Option<&BatchFunction> {
        self.batch_function.as_deref()
    }

    /// Calls `found` with each function of pictures in Python, with its leaf, the shape of its pictures, and whether nothing follows it.
    pub(crate) fn each_python<'a>(&'a self, found: &mut dyn FnMut(&'a Python, &Leaf, Shape, bool)) {
        let (mut leaf, mut shape) = (Leaf::default(), Shape::behind(self.fit()));
        for (place, transform) in self.transforms.iter().enumerate() {
            leaf.way.push(place);
            transform.each_python(&mut leaf, (shape, place + 1 == self.transforms.len()), found);
            leaf.way.pop();
            shape = transform.shape(shape);
        }
    }

    /// What a picture goes through from behind a leaf, or from the beginning, up to another leaf, or to the end, with the random choices
    /// that it has here. Only the last part has the form of the output; pictures between the parts are packed RGB.
    pub(crate) fn part(&self, passage: Passage) -> Self {
        let output = Output { background: self.output.background, ..Output::default() };
        let is_last = passage.to.is_none();
        let (output, values) = if is_last { (self.output, self.values.clone()) } else { (output, Values::Uint8) };
        let ends = self.transforms.iter().scan(0, |end, transform| {
            *end += transform.leaves();
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        // Of a transform with the leaf in it, other leaves may be in the part.
        let place = |leaf: usize| ends.partition_point(|end| *end <= leaf);
        let is_whole = |place: usize| self.transforms[place].cut().is_empty();
        let first = passage.behind.map(place).map_or(0, |place| place + usize::from(is_whole(place)));
        let last = passage.to.map(place).map_or(ends.len(), |place| place + usize::from(!is_whole(place)));
        let first_leaf = first.checked_sub(1).map_or(0, |before| ends[before]);
        let behind = passage.behind.filter(|leaf| *leaf >= first_leaf);
        Self {
            transforms: self.transforms[first..last].to_vec(),
            fit: self.fit.clone().filter(|_| passage.behind.is_none()),
            output,
            values,
            boxes: self.boxes.clone(),
            batch_function: None,
            part: Some(Box::new(ListPart { first_place: first, first_leaf, passage: Passage { behind, ..passage } })),
            ..*self
        }
    }
}
