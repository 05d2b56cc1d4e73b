//! The lists of transforms of a stream that have functions in Python: that of its pictures, and those of further views. Each is cut at
//! its functions. What is before the first one that is called is done when the picture is decoded, for all lists at once.

use std::borrow::Cow;

use forebay_pixels::{Draw, Fault, KeptPicture, Limits, Mode, Origin, PythonStep, Recipe, SplitRecipe, View};

use crate::mask_numbers::MaskNumbers;

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct StepList {
    /// The number of its view among the further ones. None: it is that of `images`.
    pub view: Option<usize>,
    /// The name of its view.
    pub name: String,
    pub split: SplitRecipe,
    /// The number of its first function among those of all lists.
    pub first: usize,
}

/// All of them, in the order of the views.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepLists(Vec<StepList>);

/// A picture before a function: the number of its list, its height and width, its pixels, and its masks as they are in the picture there.
#[derive(Debug)]
pub(crate) struct AwaitsStep {
    pub list: usize,
    pub size: (u32, u32),
    pub pixels: Vec<u8>,
    pub masks: Vec<MaskNumbers>,
}

/// What is done with a picture when it is decoded, in place of what its recipes say: up to the first functions that are called for
/// it.
#[derive(Debug, Default)]
pub(crate) struct Beginning<'a>(Vec<Begun<'a>>);

/// The same for one view.
#[derive(Debug)]
struct Begun<'a> {
    view: Option<usize>,
    recipe: Cow<'a, Recipe>,
    draw: Draw,
    /// Where the result goes. None: no function is called, and it is the view itself.
    out: Option<&'a mut [u8]>,
    /// Where its masks go, if a function is called.
    masks: Option<&'a mut Vec<MaskNumbers>>,
}

/// The room for what a function is called with, and what is done with the picture before.
#[derive(Debug)]
pub(crate) struct AwaitsMaking<'r> {
    pub recipe: &'r Recipe,
    /// The random choices of its view.
    pub draw: Draw,
    /// The pixels, if their room was not given to another.
    pub pixels: Option<&'r mut [u8]>,
    pub masks: &'r mut Vec<MaskNumbers>,
}

impl AwaitsStep {
    /// For a picture in this memory.
    pub(crate) fn in_room(pixels: Vec<u8>) -> Self {
        Self { list: 0, size: (0, 0), pixels, masks: Vec::new() }
    }
}

impl StepList {
    /// The random choices of its view.
    pub(crate) fn draw(&self, draw: Draw) -> Draw {
        if self.view.is_some() { draw.of_view(&self.name) } else { draw }
    }

    /// The function that is called next, from this number on.
    pub(crate) fn next(&self, from: usize, draw: Draw) -> Option<usize> {
        self.split.next(from, self.draw(draw))
    }
}

impl StepLists {
    /// Of a stream's recipe, and its further views.
    pub(crate) fn new(recipe: &Recipe, views: &[View]) -> Self {
        let further = views.iter().enumerate().map(|(number, view)| (Some(number), view.name.as_str(), &view.recipe));
        let (mut lists, mut first) = (Vec::new(), 0);
        for (view, name, recipe) in std::iter::once((None, "images", recipe)).chain(further) {
            if recipe.python().next().is_some() {
                let split = SplitRecipe::new(recipe);
                let count = split.steps().len();
                lists.push(StepList { view, name: name.to_owned(), split, first });
                first += count;
            }
        }
        Self(lists)
    }

    /// Whether there is no function.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One list.
    pub(crate) fn list(&self, number: usize) -> &StepList {
        &self.0[number]
    }

    /// All lists.
    pub(crate) fn each(&self) -> impl Iterator<Item = &StepList> {
        self.0.iter()
    }

    /// The functions of all lists.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &PythonStep> {
        self.0.iter().flat_map(|list| list.split.steps())
    }

    /// Whether a function gets pictures that have their own sizes.
    pub(crate) fn are_open(&self) -> bool {
        self.steps().any(|step| step.takes.is_none())
    }

    /// What is done with a picture when it is decoded. `awaiting` gets room for what functions are called with. `origin` says what the
    /// recipes are carried out on: it is asked only if the size before a function depends on that.
    ///
    /// # Errors
    /// It does not say that, or what a function would get is above the limits.
    pub(crate) fn begin<'a>(
        &'a self,
        draw: Draw,
        (origin, limits): (&dyn Fn() -> Result<Origin, Fault>, &Limits),
        awaiting: &'a mut Vec<AwaitsStep>,
    ) -> Result<Beginning<'a>, Fault> {
        let called = |list: &StepList| list.next(0, draw);
        let parts = self.0.iter().map(|list| {
            let part = list.split.part(0, called(list));
            if part.is_open() { part.for_picture(&origin()?, list.draw(draw), limits) } else { Ok(Cow::Borrowed(part)) }
        });
        let parts = parts.collect::<Result<Vec<_>, Fault>>()?;
        let wanted: Vec<usize> = (0..self.0.len()).filter(|&number| called(&self.0[number]).is_some()).collect();
        awaiting.truncate(wanted.len());
        awaiting.resize_with(wanted.len(), || AwaitsStep::in_room(Vec::new()));
        for (room, &list) in awaiting.iter_mut().zip(&wanted) {
            let (height, width, _) = parts[list].shape();
            (room.list, room.size) = (list, (height, width));
            fill(&mut room.pixels, parts[list].place_len());
        }
        let mut rooms = awaiting.iter_mut();
        let begun = self.0.iter().zip(parts).map(|(list, recipe)| {
            let room = called(list).and_then(|_| rooms.next());
            let (out, masks) = room.map(|room| (room.pixels.as_mut_slice(), &mut room.masks)).unzip();
            Begun { view: list.view, recipe, draw: list.draw(draw), out, masks }
        });
        Ok(Beginning(begun.collect()))
    }
}

impl<'a> Beginning<'a> {
    /// Takes the place of a recipe and of the room for its result, which it gives, and of those of the further views.
    pub(crate) fn replace<'b>(
        &'b mut self,
        (mut recipe, mut out): (&'b Recipe, &'b mut [u8]),
        (views, others): (&mut Vec<View>, &mut [&'b mut [u8]]),
    ) -> (&'b Recipe, &'b mut [u8])
    where
        'a: 'b,
    {
        for begun in &mut self.0 {
            match begun.view {
                None => {
                    recipe = &begun.recipe;
                    out = begun.out.take().unwrap_or(out);
                }
                Some(view) => {
                    views[view].recipe = begun.recipe.as_ref().clone();
                    if let Some(own) = begun.out.take() {
                        others[view] = own;
                    }
                }
            }
        }
        (recipe, out)
    }

    /// The room for what functions are called with, in the order of the views.
    pub(crate) fn awaiting(&mut self) -> impl Iterator<Item = AwaitsMaking<'_>> {
        self.0.iter_mut().filter_map(|Begun { recipe, draw, out, masks, .. }| {
            Some(AwaitsMaking { recipe, draw: *draw, pixels: out.as_deref_mut(), masks: masks.as_deref_mut()? })
        })
    }

    /// Whether a function is called for `images`. Their masks then follow what the functions return.
    pub(crate) fn calls_for_images(&self) -> bool {
        self.0.iter().any(|begun| begun.view.is_none() && begun.masks.is_some())
    }

    /// Whether a list of a further view is among them.
    pub(crate) fn has_views(&self) -> bool {
        self.0.iter().any(|begun| begun.view.is_some())
    }
}

/// Makes room for so many bytes, and for the few that a picture has behind its pixels. The bytes may be those of an earlier picture:
/// all of them are written before they are read.
pub(crate) fn fill(pixels: &mut Vec<u8>, len: usize) {
    let behind = usize::try_from(KeptPicture::bytes_of(0, 0, Mode::Rgb)).unwrap_or_default();
    if pixels.capacity() < len + behind {
        // Nothing of them has to be copied.
        *pixels = Vec::new();
        pixels.reserve_exact(len + behind);
    }
    pixels.resize(len, 0);
}
