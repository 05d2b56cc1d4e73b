//! Several views of one picture: it is decoded once, as far as any of them needs it.

use forebay_jpeg::SeekPoints;

use crate::cpu::canvas::PlanInput;
use crate::cpu::{CpuDecoder, Loaded, PictureFile, Stored, Wanted, load};
use crate::decoded::Decoded;
use crate::draw::Draw;
use crate::fault::{Fault, Limits};
use crate::origin::Origin;
use crate::picture::KeptPicture;
use crate::plan::Plan;
use crate::plan::stage::Stage;
use crate::recipe::Recipe;
use crate::scale::Scale;
use crate::view::{ViewOrder, ViewPlaces};

/// The plan of one view, with memory that is used again.
#[derive(Debug, Default)]
pub(super) struct PlannedView {
    plan: Plan,
    stages: Vec<Stage>,
}

impl CpuDecoder {
    /// As [`decode_seeking`](Self::decode_seeking), for all views of a record. A view has the bytes that `decode` gives for its
    /// recipe and its draws, if that recipe has no `reducing_gap`: with further views, pictures are decoded at their full size.
    ///
    /// # Errors
    /// The picture's [`Fault`]. The places may hold anything then.
    ///
    /// # Panics
    /// If there is not a place for each view, of the place length of its recipe.
    pub fn decode_views(
        &mut self,
        (bytes, points): (&[u8], Option<&mut SeekPoints>),
        order: ViewOrder<'_>,
        limits: &Limits,
        mut places: ViewPlaces<'_, '_>,
    ) -> Result<Decoded, Fault> {
        let file = PictureFile { bytes, points };
        if order.views.is_empty() {
            return self.decode_file(file, order.recipe, order.draw, limits, places.first);
        }
        check(order, &mut places);
        let outcome = self.decode_each(file, order, limits, places);
        self.canvas.trim();
        outcome
    }

    fn decode_each(
        &mut self,
        file: PictureFile<'_>,
        order: ViewOrder<'_>,
        limits: &Limits,
        mut places: ViewPlaces<'_, '_>,
    ) -> Result<Decoded, Fault> {
        let Self { jpeg, canvas, views, .. } = self;
        views.resize_with(views.len().max(order.views.len() + 1), PlannedView::default);
        let wanted = |stored: &Stored, _: bool| -> Result<Wanted, Fault> {
            let mut part = None;
            for ((recipe, draw), PlannedView { plan, stages }) in order.each().zip(&mut *views) {
                let need = Wanted::of(recipe.pipeline(), draw, stored, false, limits, plan, stages)?.part;
                part = Some(part.map_or(need, |part| need.union(part)));
            }
            Ok(Wanted { scale: Scale::Full, part: part.expect("there is a first view") })
        };
        let (input, background) = (order.recipe.input(), order.recipe.output().background);
        let Loaded { decoded, held, begun } = load(jpeg, canvas, file, input, background, limits, wanted)?;
        limits.check_time(begun)?;
        let picture = canvas.set_aside();
        let made = order.each().zip(&*views).zip(places.each()).try_for_each(|(((recipe, _), planned), out)| {
            let look = || limits.check_time(begun);
            let plan = (&planned.plan, &*planned.stages);
            canvas.carry_out(PlanInput::aside(&picture, held), plan, recipe.pipeline(), out, look)?;
            look()
        });
        canvas.take_back(picture);
        made.map(|()| decoded)
    }

    /// As [`transform`](Self::transform), for all views of a record.
    ///
    /// # Errors
    /// A step would make more pixels than the limits allow. The places may hold anything then.
    ///
    /// # Panics
    /// If there is not a place for each view, of the place length of its recipe.
    pub fn transform_views(
        &mut self,
        picture: &KeptPicture,
        order: ViewOrder<'_>,
        limits: &Limits,
        mut places: ViewPlaces<'_, '_>,
    ) -> Result<Decoded, Fault> {
        check(order, &mut places);
        let mut decoded = None;
        for ((recipe, draw), out) in order.each().zip(places.each()) {
            decoded = Some(self.transform(picture, recipe, draw, limits, out)?);
        }
        Ok(decoded.expect("there is a first view"))
    }

    /// Bytes that [`transform_views`](Self::transform_views) takes at most beside the kept picture of this origin.
    pub fn transform_views_bytes(&mut self, origin: &Origin, order: ViewOrder<'_>, limits: &Limits) -> u64 {
        self.plans_bytes(origin, order.each(), limits)
    }

    /// Buffers grow from view to view, but no further than all of them together.
    pub(crate) fn plans_bytes<'r>(
        &mut self,
        origin: &Origin,
        views: impl Iterator<Item = (&'r Recipe, Draw)>,
        limits: &Limits,
    ) -> u64 {
        views.map(|(recipe, draw)| self.transform_bytes(origin, recipe, draw, limits)).fold(0, u64::saturating_add)
    }
}

fn check(order: ViewOrder<'_>, places: &mut ViewPlaces<'_, '_>) {
    let lens = order.each().map(|(recipe, _)| recipe.place_len());
    assert!(lens.eq(places.each().map(|place| place.len())), "each view has a place of its recipe's place length");
}
