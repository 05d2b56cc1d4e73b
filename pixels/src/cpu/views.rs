//! Several views of one picture: it is decoded once, as far as any of them needs it.

use super::canvas::{Canvas, PlanInput};
use super::jpeg::JpegDecoders;
use super::load::{Loaded, PictureFile, Stored, Wanted, load};
use crate::decoded::Decoded;
use crate::fault::{Fault, Limits};
use crate::plan::Plan;
use crate::plan::stage::Stage;
use crate::scale::Scale;
use crate::view::{ViewOrder, ViewPlaces};

/// The plan of one view, with memory that is used again.
#[derive(Debug, Default)]
struct PlannedView {
    plan: Plan,
    stages: Vec<Stage>,
}

/// The plans of all views of a picture.
#[derive(Debug, Default)]
pub(super) struct PlannedViews(Vec<PlannedView>);

impl PlannedViews {
    /// Decodes a picture as far as any of its views needs it, and makes each.
    pub(super) fn decode(
        &mut self,
        (jpeg, canvas): (&mut JpegDecoders, &mut Canvas),
        file: PictureFile<'_>,
        order: ViewOrder<'_>,
        limits: &Limits,
        mut places: ViewPlaces<'_, '_>,
    ) -> Result<Decoded, Fault> {
        let Self(views) = self;
        views.resize_with(views.len().max(order.views.len() + 1), PlannedView::default);
        let wanted = |stored: &Stored, _: bool| -> Result<Wanted, Fault> {
            let mut part = None;
            for ((recipe, draw), PlannedView { plan, stages }) in order.each().zip(&mut *views) {
                let need = Wanted::of(recipe.list(), draw, stored, false, limits, plan, stages)?.part;
                part = Some(part.map_or(need, |part| need.union(part)));
            }
            Ok(Wanted { scale: Scale::Full, part: part.expect("there is a first view") })
        };
        let (input, output) = (order.recipe.input(), order.recipe.output());
        let Loaded { decoded, held, begun } = load(jpeg, canvas, file, input, output, limits, wanted)?;
        limits.check_time(begun)?;
        let picture = canvas.set_aside();
        let made = order.each().zip(&*views).zip(places.each()).try_for_each(|(((recipe, _), planned), out)| {
            let look = || limits.check_time(begun);
            let plan = (&planned.plan, &*planned.stages);
            canvas.carry_out(PlanInput::aside(&picture, held), plan, recipe.list(), out, look)?;
            look()
        });
        canvas.take_back(picture);
        made.map(|()| decoded)
    }
}

/// Looks whether each view has its place.
pub(super) fn check(order: ViewOrder<'_>, places: &mut ViewPlaces<'_, '_>) {
    let lens = order.each().map(|(recipe, _)| (!recipe.is_ragged()).then(|| recipe.place_len()));
    let fits = lens.zip(places.each()).all(|(len, place)| len.is_none_or(|len| len == place.len()));
    assert!(
        fits && places.each().count() == order.each().count(),
        "each view has a place of its recipe's place length"
    );
}
