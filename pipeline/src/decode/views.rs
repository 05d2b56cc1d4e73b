//! The further views of a stream: what becomes of each picture beside `images`, and in which columns (semantics rule 48).

use forebay_pixels::{View, ViewOrder, ViewPlaces};

use crate::decode::Picture;

/// The further views of a stream. Without views it changes nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Views {
    /// What is made of each picture.
    pub views: Vec<View>,
    /// The columns of a batch that have them, in the same order.
    pub columns: Vec<usize>,
}

/// Where the further views of one picture go.
#[derive(Debug, Default)]
pub(crate) struct FurtherViews<'a> {
    /// What is made of the picture.
    pub views: &'a [View],
    /// The bytes of each.
    pub out: &'a mut [&'a mut [u8]],
}

impl<'a> Picture<'a> {
    /// All of its views.
    pub(crate) fn order(&self) -> ViewOrder<'a> {
        ViewOrder { recipe: self.recipe, views: self.further.views, draw: self.draw }
    }

    /// All of its views, and where they go.
    pub(crate) fn views(self) -> (ViewOrder<'a>, ViewPlaces<'a, 'a>) {
        (self.order(), ViewPlaces { first: self.out, further: self.further.out })
    }
}
