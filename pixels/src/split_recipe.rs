//! A recipe with functions in Python, in the parts before, between and behind them (semantics rule 59). Which functions are called for
//! a picture is drawn, if they are inside `random_apply` or `random_choice`.

use std::ops::Range;

use crate::draw::{Draw, Draws};
use crate::recipe::Recipe;
use crate::transform::Python;
use crate::transform::shape::{Shape, Size};

/// A function in Python of a recipe.
#[derive(Clone, Debug, PartialEq)]
pub struct PythonStep {
    /// The function.
    pub python: Python,
    /// Height and width of the pictures that it gets: packed RGB.
    pub takes: (u32, u32),
    /// Height and width of its results.
    pub gives: (u32, u32),
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
    /// What is done from the beginning (0) or from behind each function (1 and up), up to each function behind that, and to the end.
    parts: Vec<Vec<Recipe>>,
}

impl SplitRecipe {
    /// Cuts a recipe. One without functions has one part.
    pub fn new(recipe: &Recipe) -> Self {
        let mut steps = Vec::new();
        recipe.list().each_python(&mut |python, leaf, before, is_last| {
            let Shape::Fixed(height, width) = before else { return };
            steps.push(PythonStep {
                python: python.clone(),
                takes: (height, width),
                gives: python.output.map_or((height, width), Size::square),
                is_last,
                way: leaf.way.clone(),
                leaf: leaf.number,
            });
        });
        let begins = std::iter::once(0).chain(steps.iter().map(|step| step.leaf + 1));
        let part = |from: usize, to: usize| match steps.get(to) {
            Some(step) => recipe.part(from..step.leaf, step.takes),
            None => recipe.rest(from),
        };
        let parts = begins.enumerate().map(|(after, from)| (after..=steps.len()).map(|to| part(from, to)).collect());
        Self { recipe: recipe.clone(), parts: parts.collect(), steps }
    }

    /// The whole.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The functions, in their order.
    pub fn steps(&self) -> &[PythonStep] {
        &self.steps
    }

    /// The number of the first function that is called for a picture, from this number on.
    pub fn next(&self, from: usize, draw: Draw) -> Option<usize> {
        (from..self.steps.len()).find(|&number| self.draws(number, draw).is_some())
    }

    /// What is done from behind the function before this number, or from the beginning for 0, up to the function `to`, or to the end
    /// without one. `to` is what [`next`](Self::next) gives, so no function between them is called.
    ///
    /// # Panics
    /// There are no such functions, or not in this order.
    pub fn part(&self, from: usize, to: Option<usize>) -> &Recipe {
        &self.parts[from][to.unwrap_or(self.steps.len()) - from]
    }

    /// All that precedes a function. Functions among that are passed over.
    pub fn before(&self, number: usize) -> Recipe {
        let step = &self.steps[number];
        self.recipe.part(0..step.leaf, step.takes)
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
    /// What some leaves do, whose results have this height and width: a picture before a function.
    fn part(&self, leaves: Range<usize>, size: (u32, u32)) -> Self {
        Self::of_part(self.list().part(leaves), size)
    }

    /// What the leaves from one on do.
    fn rest(&self, from: usize) -> Self {
        let (height, width, _) = self.shape();
        let end = self.list().leaves();
        Self::of_part(self.list().part(from..end), (height, width))
    }
}
