//! Further views of a record: other results of the same picture, each with its own recipe and its own random choices
//! (semantics rule 48).

use crate::draw::Draw;
use crate::recipe::Recipe;

/// Most views of a record beside its first one.
pub const MOST_VIEWS: usize = 16;

/// A further view of each record.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Its name, which its random choices depend on.
    pub name: String,
    /// What becomes of the picture in it. It takes the picture as the first view's recipe does.
    pub recipe: Recipe,
}

/// What is made of one record, all of it from one decoded picture.
#[derive(Clone, Copy, Debug)]
pub struct ViewOrder<'a> {
    /// The recipe of the first view.
    pub recipe: &'a Recipe,
    /// The further ones.
    pub views: &'a [View],
    /// The record's random choices: those of the first view.
    pub draw: Draw,
}

/// Where the views of one record go, each of its recipe's place length.
#[derive(Debug)]
pub struct ViewPlaces<'a, 'b> {
    /// The first view.
    pub first: &'a mut [u8],
    /// The further ones, in their order.
    pub further: &'a mut [&'b mut [u8]],
}

impl<'a> ViewOrder<'a> {
    /// Each view's recipe with its random choices, the first one first.
    pub(crate) fn each(self) -> impl Iterator<Item = (&'a Recipe, Draw)> {
        let further = self.views.iter().map(move |view| (&view.recipe, self.draw.of_view(&view.name)));
        std::iter::once((self.recipe, self.draw)).chain(further)
    }
}

impl ViewPlaces<'_, '_> {
    /// Each view's place, the first one first.
    pub(crate) fn each(&mut self) -> impl Iterator<Item = &mut [u8]> {
        std::iter::once(&mut *self.first).chain(self.further.iter_mut().map(|place| &mut **place))
    }
}
