//! Where a list of transforms can be cut: at its functions in Python, also at those inside `random_apply` and `random_choice`. What
//! is between two cuts is counted in *leaves*: a leaf is a transform of the list, or one inside a transform that has a function in it.

use std::ops::Range;

use super::Transform;
use super::python::Python;
use super::shape::Shape;
use crate::draw::Draws;
use crate::plan::Plan;

impl Transform {
    /// The first function in Python that it is, or has in it.
    pub(crate) fn python(&self) -> Option<&Python> {
        match self {
            Self::Python(python) => Some(python),
            _ => self.parts().iter().find_map(Self::python),
        }
    }

    /// Of how many leaves it is.
    pub(crate) fn leaves(&self) -> usize {
        match self.cut() {
            [] => 1,
            parts => parts.iter().map(Self::leaves).sum(),
        }
    }

    /// The transforms in it, if it is cut there.
    pub(crate) fn cut(&self) -> &[Self] {
        if self.python().is_some() { self.parts() } else { &[] }
    }

    /// The numbers of the transforms in it that these draws carry out. Of those without a choice, all.
    pub(crate) fn drawn(&self, draws: Draws) -> Range<usize> {
        match self {
            Self::RandomApply(apply) => apply.drawn(draws),
            Self::RandomChoice(choice) => choice.drawn(draws),
            _ => 0..self.parts().len(),
        }
    }

    /// Adds what those of its leaves do that are in a range, and are drawn. `first` is the number of its first one.
    pub(crate) fn plan_leaves(&self, plan: &mut Plan, draws: Draws, range: &Range<usize>, first: usize) {
        let parts = self.cut();
        if parts.is_empty() && range.contains(&first) {
            return self.plan(plan, draws);
        }
        let (drawn, mut first) = (if parts.is_empty() { 0..0 } else { self.drawn(draws) }, first);
        for (number, part) in parts.iter().enumerate() {
            if drawn.contains(&number) {
                part.plan_leaves(plan, draws.part(number as u64), range, first);
            }
            first += part.leaves();
        }
    }

    /// Calls `found` with each function in Python in it, with the way to it from here, the number of its leaf, and what is known of
    /// the size of its pictures. `is_last` says whether nothing follows this transform. What `found` says is wrong ends the search.
    pub(crate) fn each_python<'a>(
        &'a self,
        at: &mut Leaf,
        (before, is_last): (Shape, bool),
        found: &mut dyn FnMut(&'a Python, &Leaf, Shape, bool),
    ) {
        let parts = self.cut();
        match self {
            Self::Python(python) => found(python, at, before, is_last),
            _ if parts.is_empty() => {}
            _ => {
                let is_choice = matches!(self, Self::RandomChoice(_));
                let mut shape = before;
                for (number, part) in parts.iter().enumerate() {
                    at.way.push(number);
                    let ends = is_last && (is_choice || number + 1 == parts.len());
                    part.each_python(at, (shape, ends), found);
                    at.way.pop();
                    if !is_choice {
                        shape = part.shape(shape);
                    }
                }
                return;
            }
        }
        at.number += 1;
    }
}

/// A leaf: its number in a list, and the way to it: its place in the list, and in each transform that it is in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaf {
    pub number: usize,
    pub way: Vec<usize>,
}
