//! Where a list of transforms can be cut: at its functions in Python, also at those inside `random_apply`, `random_choice` and
//! `random_order`. What is between two cuts is counted in *leaves*: a leaf is a transform of the list, or one inside a transform that has
//! a function in it. Their numbers are those of the list as it is written. In `random_order`, a picture passes them in another order.

use super::Transform;
use super::python::Python;
use super::shape::Shape;
use crate::draw::Draws;

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

    /// The numbers of the transforms in it that these draws carry out, in their order.
    pub(crate) fn drawn(&self, draws: Draws) -> Vec<usize> {
        match self {
            Self::RandomApply(apply) => apply.drawn(draws).collect(),
            Self::RandomChoice(choice) => choice.drawn(draws).collect(),
            Self::RandomOrder(order) => order.drawn(draws).collect(),
            _ => Vec::new(),
        }
    }

    /// Calls `passed` with each leaf that these draws carry out, in their order, with its draws and its number. `first` is the number
    /// of its first one.
    pub(crate) fn pass_leaves(&self, draws: Draws, first: usize, passed: &mut dyn FnMut(&Self, Draws, usize)) {
        let parts = self.cut();
        if parts.is_empty() {
            return passed(self, draws, first);
        }
        for number in self.drawn(draws) {
            let before: usize = parts[..number].iter().map(Self::leaves).sum();
            parts[number].pass_leaves(draws.part(number as u64), first + before, passed);
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
                // Any transform of an order may be behind any other one.
                let is_in_order = !matches!(self, Self::RandomOrder(_)) || parts.len() == 1;
                let mut shape = before;
                for (number, part) in parts.iter().enumerate() {
                    at.way.push(number);
                    let ends = is_last && (is_choice || is_in_order && number + 1 == parts.len());
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

/// From where to where a picture passes leaves: from behind one, or from the beginning, up to another one, or to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    pub behind: Option<usize>,
    pub to: Option<usize>,
}

impl Passage {
    /// Says of each leaf that a picture passes, in its order, whether it is between the two.
    pub(crate) fn walk(self) -> impl FnMut(usize) -> bool {
        let (mut behind, mut is_over) = (self.behind, false);
        move |leaf| {
            is_over |= self.to == Some(leaf);
            let has = behind.is_none() && !is_over;
            behind = behind.filter(|behind| *behind != leaf);
            has
        }
    }
}
