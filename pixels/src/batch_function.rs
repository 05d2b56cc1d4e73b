//! A function in Python at the end of a list, which is called with finished batches (semantics rule 59). It is no transform of a
//! picture, so a list keeps it apart from those.

use crate::draw::{Draw, Draws};
use crate::recipe_error::RecipeError;
use crate::transform::{Python, Scope, Transform};

/// A function in Python that is called with each finished batch, behind all transforms of its pictures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchFunction {
    /// The function.
    pub python: Python,
    /// Its place in the list.
    place: usize,
}

impl BatchFunction {
    /// Takes it out of the end of a list.
    ///
    /// # Errors
    /// One of its values is none.
    pub(crate) fn take(transforms: &mut Vec<Transform>) -> Result<Option<Box<Self>>, RecipeError> {
        let is_batch =
            |transform: &mut Transform| matches!(transform, Transform::Python(it) if it.scope == Scope::Batch);
        let Some(last) = transforms.pop_if(is_batch) else { return Ok(None) };
        last.check(transforms.len())?;
        let Transform::Python(python) = last else { unreachable!("it is one") };
        Ok(Some(Box::new(Self { python, place: transforms.len() })))
    }

    /// The random choices of a call.
    pub fn draws(&self, draw: Draw) -> Draws {
        draw.at(self.place)
    }
}
