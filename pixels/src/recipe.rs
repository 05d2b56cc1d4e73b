//! A recipe: a checked list of transforms with the form of its output. Its shape is fixed, or it cannot be made.

use crate::batch_function::BatchFunction;
use crate::draw::Draw;
use crate::fit::Fit;
use crate::matching::Match;
use crate::origin::Origin;
use crate::output::{Dtype, Layout, Output};
use crate::patches::Patches;
use crate::plan::Plan;
use crate::recipe_error::RecipeError;
use crate::record_boxes::RecordBoxes;
use crate::transform::shape::Shape;
use crate::transform::{Normalize, Python, Transform};
use crate::transform_list::{Input, TransformList};

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
        match TransformList::with_shape(None, transforms, output)? {
            (list, Shape::Fixed(height, width)) => Ok(Self { list, height, width }),
            (_, Shape::Open) => Err(RecipeError::NoFixedShape),
        }
    }

    /// The recipe of pictures that fit their steps: each is resized first, to its bucket or to whole patches, and the transforms
    /// must leave its size as it is then.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), [`RecipeError::NotOfBucket`], and with patches [`RecipeError::NotOfPatches`] and
    /// [`RecipeError::PatchLayout`]. Ragged pictures have [`RecipeError::RaggedOutput`] and [`RecipeError::RaggedSize`].
    pub fn fitting(fit: Fit, transforms: Vec<Transform>, output: Output) -> Result<Self, RecipeError> {
        if matches!(fit, Fit::Patches(_)) && output.layout == Layout::Nchw {
            return Err(RecipeError::PatchLayout);
        }
        if matches!(fit, Fit::Ragged { .. }) && (output.layout, output.dtype) != (Layout::Nhwc, Dtype::Uint8) {
            return Err(RecipeError::RaggedOutput);
        }
        let (list, _) = TransformList::with_shape(Some(fit), transforms, output)?;
        Self::of_fit(list, fit)
    }

    /// The same for a step whose places have this height and width: those of another bucket, or another number of patches. A
    /// recipe that is none of steps stays as it is.
    ///
    /// # Errors
    /// [`RecipeError::NotOfBucket`] if the transforms change the size of these, and [`RecipeError::NotOfPatches`] if these are no
    /// such patches.
    pub fn in_step(&self, height: u32, width: u32) -> Result<Self, RecipeError> {
        let Some(fit) = self.list.fit().copied() else { return Ok(self.clone()) };
        let fit = fit.with_place((height, width)).ok_or(RecipeError::NotOfPatches)?;
        Self::of_fit(self.list.clone().with_fit(fit), fit)
    }

    /// Height and width of the places of its step, if it is one of steps: those of a bucket, or the number of patches and the pixels
    /// of one.
    pub fn step_size(&self) -> Option<(u32, u32)> {
        self.list.fit().map(Fit::place)
    }

    /// How pictures become patches, if they do.
    pub fn patches(&self) -> Option<&Patches> {
        self.list.patches()
    }

    /// Whether each picture has a size of its own, and takes all of its place.
    pub fn is_ragged(&self) -> bool {
        self.list.is_ragged()
    }

    /// Height and width of the result of a picture of this height and width, each at least 1, if they follow from these alone.
    ///
    /// ```
    /// use forebay_pixels::{Fit, Output, Recipe};
    ///
    /// let shorter_side = serde_json::from_str(r#"[{ "resize": { "size": 64 } }]"#)?;
    /// let recipe = Recipe::fitting(Fit::Ragged { pixels: 1 }, shorter_side, Output::default())?;
    /// assert_eq!(recipe.made_size(375, 500), Some((64, 85)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn made_size(&self, height: u32, width: u32) -> Option<(u32, u32)> {
        made_size(self.transforms(), (height, width))
    }

    fn of_fit(list: TransformList, fit: Fit) -> Result<Self, RecipeError> {
        if let Fit::Ragged { .. } = fit {
            let follows = |transform: &&Transform| {
                // What gives these sizes only by chance gives one of them another one.
                let one = std::slice::from_ref(*transform);
                [(7, 11), (1013, 409)].into_iter().all(|size| made_size(one, size).is_some())
            };
            if let Some(place) = list.transforms().iter().position(|transform| !follows(&transform)) {
                return Err(RecipeError::RaggedSize { place, name: list.transforms()[place].name() });
            }
        }
        let made = |(height, width)| {
            list.transforms().iter().fold(Shape::Fixed(height, width), |shape, transform| transform.shape(shape))
        };
        for (bucket_height, bucket_width) in fit.sizes() {
            match (made((bucket_height, bucket_width)), fit) {
                (Shape::Fixed(height, width), _) if (height, width) == (bucket_height, bucket_width) => {}
                (_, Fit::Patches(_) | Fit::Ragged { .. }) => return Err(RecipeError::NotOfPatches),
                (Shape::Open, Fit::Cover(_)) => return Err(RecipeError::NoFixedShape),
                (Shape::Fixed(height, width), Fit::Cover(_)) => {
                    return Err(RecipeError::NotOfBucket { height, width, bucket_height, bucket_width });
                }
            }
        }
        let (height, width) = fit.place();
        Ok(Self { list, height, width })
    }

    /// The row and the column at which the part begins that a bucket's picture shows of the resized one. They are counted in
    /// that picture mirrored as the result is. Nothing if it is no recipe of a bucket. `plan` is for work, and becomes that of the
    /// picture.
    pub fn corner(&self, origin: &Origin, draw: Draw, plan: &mut Plan) -> Option<(u32, u32)> {
        let Some(Fit::Cover(cover)) = self.list.fit() else { return None };
        self.plan_into(origin, draw, plan);
        Some(cover.corner(origin.size, draw, plan.turns()))
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

    /// A part of a recipe, whose results have this height and width.
    pub(crate) fn of_part(list: TransformList, (height, width): (u32, u32)) -> Self {
        Self { list, height, width }
    }

    /// The function in Python that is called with finished batches, if it has one.
    pub fn batch_function(&self) -> Option<&BatchFunction> {
        self.list.batch_function()
    }

    /// The functions of pictures in Python that it has, also inside other transforms, in their order.
    pub fn python(&self) -> impl Iterator<Item = &Python> {
        let mut found = Vec::new();
        self.list.each_python(&mut |python, _, _, _| found.push(python));
        found.into_iter()
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
        debug_assert!(
            self.is_open()
                || self.patches().is_some()
                || self.is_ragged()
                || (plan.height, plan.width) == (self.height, self.width),
            "the recipe's shape is fixed"
        );
    }
}

/// Height and width behind these transforms, if they follow from those before alone.
fn made_size(transforms: &[Transform], (height, width): (u32, u32)) -> Option<(u32, u32)> {
    match transforms.iter().fold(Shape::Fixed(height, width), |shape, transform| transform.shape(shape)) {
        Shape::Fixed(height, width) => Some((height, width)),
        Shape::Open => None,
    }
}
