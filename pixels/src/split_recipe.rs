//! A recipe with functions in Python, in the parts before, between and behind them (semantics rule 59). Which functions are called for
//! a picture is drawn, if they are inside `random_apply` or `random_choice`, and in which order, if they are inside `random_order`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::draw::{Draw, Draws};
use crate::fault::{Fault, Limits};
use crate::interpolation::Interpolation;
use crate::origin::Origin;
use crate::output::Output;
use crate::plan::Plan;
use crate::recipe::Recipe;
use crate::transform::leaves::Passage;
use crate::transform::shape::{Shape, Size};
use crate::transform::{Python, Resize, Transform};

/// A function in Python of a recipe.
#[derive(Clone, Debug, PartialEq)]
pub struct PythonStep {
    /// The function.
    pub python: Python,
    /// Height and width of the pictures that it gets: packed RGB. Nothing if each picture has its own size there.
    pub takes: Option<(u32, u32)>,
    /// Height and width of its results. Nothing if each has the size of its picture, which is not the same for all.
    pub gives: Option<(u32, u32)>,
    /// Whether nothing follows it. Its results then are those of the recipe.
    pub is_last: bool,
    /// Its place in the list, and in each transform that it is in.
    way: Vec<usize>,
    /// The number of its leaf.
    leaf: usize,
}

/// A recipe that is cut at its functions in Python.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitRecipe {
    recipe: Recipe,
    steps: Vec<PythonStep>,
    /// What is done from the beginning (0) or from behind each function (1 and up), up to each function that may be the next one, or to
    /// the end, which has the number of a further function.
    parts: BTreeMap<(usize, usize), Recipe>,
}

impl SplitRecipe {
    /// Cuts a recipe. One without functions has one part.
    pub fn new(recipe: &Recipe) -> Self {
        let mut steps = Vec::new();
        recipe.list().each_python(&mut |python, leaf, before, is_last| {
            let takes = match before {
                Shape::Fixed(height, width) => Some((height, width)),
                Shape::Open => None,
            };
            steps.push(PythonStep {
                python: python.clone(),
                takes,
                gives: python.output.map(Size::square).or(takes),
                is_last,
                way: leaf.way.clone(),
                leaf: leaf.number,
            });
        });
        let end = steps.len();
        let pairs = (0..=end).flat_map(|from| (0..=end).map(move |to| (from, to)));
        let follow =
            |&(from, to): &(usize, usize)| to >= from || are_in_one_order(recipe, &steps[from - 1], &steps[to]);
        let part = |(from, to): (usize, usize)| {
            let behind = from.checked_sub(1).map(|before| steps[before].leaf);
            ((from, to), recipe.part(behind, steps.get(to)))
        };
        let parts = pairs.filter(follow).map(part).collect();
        Self { recipe: recipe.clone(), parts, steps }
    }

    /// The whole.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The functions, in their order.
    pub fn steps(&self) -> &[PythonStep] {
        &self.steps
    }

    /// The number of the function that is called for a picture first (0), or of the next one behind the function before this number, which
    /// is called for it.
    pub fn next(&self, from: usize, draw: Draw) -> Option<usize> {
        let (mut next, mut is_behind) = (None, from == 0);
        self.recipe.list().pass_leaves(draw, &mut |_, _, leaf| {
            if let Some(number) = self.steps.iter().position(|step| step.leaf == leaf) {
                next = next.or_else(|| is_behind.then_some(number));
                is_behind |= number + 1 == from;
            }
        });
        next
    }

    /// What is done from behind the function before this number, or from the beginning for 0, up to the function `to`, or to the end
    /// without one. The size of its results is [open](Recipe::is_open) where each picture has its own. `to` is what [`next`](Self::next) gives, so no function between them is called.
    ///
    /// # Panics
    /// There are no such functions, or no picture passes them in this order.
    pub fn part(&self, from: usize, to: Option<usize>) -> &Recipe {
        &self.parts[&(from, to.unwrap_or(self.steps.len()))]
    }

    /// All that precedes a function. Functions among that are passed over. The size of its results may be [open](Recipe::is_open).
    pub fn before(&self, number: usize) -> Recipe {
        self.recipe.part(None, Some(&self.steps[number]))
    }

    /// What the [plan](Recipe::plan) of the whole recipe has in place of a function that has a size of its own: a resize by the nearest
    /// pixel. Nothing for others.
    pub fn in_place_of(&self, number: usize) -> Option<Recipe> {
        let size = self.steps[number].python.output?;
        let resize = Transform::Resize(Resize { size, interpolation: Interpolation::Nearest });
        Recipe::new(vec![resize], Output::default()).ok()
    }

    /// The random choices of a function, if it is called for a picture.
    pub fn draws(&self, number: usize, draw: Draw) -> Option<Draws> {
        let (place, inside) = self.steps[number].way.split_first()?;
        let mut transform = &self.recipe.transforms()[*place];
        let mut draws = draw.at(*place);
        for &part in inside {
            if !transform.drawn(draws).contains(&part) {
                return None;
            }
            (transform, draws) = (&transform.parts()[part], draws.part(part as u64));
        }
        Some(draws)
    }
}

impl Recipe {
    /// Height and width of a part whose results have them from each picture.
    const OPEN: (u32, u32) = (0, 0);

    /// Whether each of its results has the size that its picture gives it: so may a part of a [`SplitRecipe`] that ends at a function.
    /// [`for_picture`](Self::for_picture) fixes it.
    pub fn is_open(&self) -> bool {
        let (height, width, _) = self.shape();
        (height, width) == Self::OPEN
    }

    /// The recipe for one picture, with the size that its result has. One whose size is fixed stays as it is.
    ///
    /// # Errors
    /// A transform refuses the picture, or a step would make more pixels than the limits allow. A recipe of a fixed size says so when
    /// it is carried out.
    pub fn for_picture(&self, origin: &Origin, draw: Draw, limits: &Limits) -> Result<Cow<'_, Self>, Fault> {
        if !self.is_open() {
            return Ok(Cow::Borrowed(self));
        }
        let mut plan = Plan::default();
        self.plan_into(origin, draw, &mut plan);
        plan.check(limits)?;
        Ok(Cow::Owned(Self::of_part(self.list().clone(), (plan.height, plan.width))))
    }

    /// What is done to a picture from behind a leaf, or from the beginning, up to a function, or to the end.
    fn part(&self, behind: Option<usize>, to: Option<&PythonStep>) -> Self {
        let (height, width, _) = self.shape();
        let size = to.map_or(Some((height, width)), |step| step.takes).unwrap_or(Self::OPEN);
        Self::of_part(self.list().part(Passage { behind, to: to.map(|step| step.leaf) }), size)
    }
}

/// Whether these functions are inside one `random_order`, in which either may be before the other.
fn are_in_one_order(recipe: &Recipe, one: &PythonStep, other: &PythonStep) -> bool {
    let mut transforms = recipe.transforms();
    for (place, of_other) in one.way.iter().zip(&other.way) {
        if place != of_other {
            return false;
        }
        let transform = &transforms[*place];
        if matches!(transform, Transform::RandomOrder(_)) {
            return one.leaf != other.leaf;
        }
        transforms = transform.parts();
    }
    false
}
