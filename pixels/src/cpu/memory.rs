//! What a picture will take while it is decoded and its recipe is carried out, before any of it is taken. It follows
//! `Canvas::carry_out` and the resizers; `tests/memory.rs` compares it with what they allocate.

use crate::cpu::Form;
use crate::cpu::canvas::KEEP;
use crate::cpu::load::Stored;
use crate::cpu::probe::Probe;
use crate::draw::Draw;
use crate::fault::Limits;
use crate::interpolation::Interpolation;
use crate::matching::Match;
use crate::origin::Origin;
use crate::output::Mode;
use crate::plan::stage::{self, Frame, Stage};
use crate::plan::{Plan, Rect, Step};
use crate::recipe::Recipe;
use crate::scale::Scale;
use crate::view::ViewOrder;

/// Rows that a resize works on side by side, at most.
const ROWS: u64 = 8;

/// Buffers that each keep a little memory from picture to picture.
const BUFFERS: u64 = 13;

/// Bytes of buffers, as they grow from step to step.
#[derive(Default)]
struct Buffers {
    mode: Mode,
    picture: u64,
    spare: u64,
    resizing: u64,
    floats: u64,
}

/// What pictures take at most while they are decoded and their recipes are carried out, of a [`CpuDecoder`](crate::CpuDecoder).
#[derive(Debug)]
pub struct PictureMemory<'a> {
    plan: &'a mut Plan,
    stages: &'a mut Vec<Stage>,
}

impl<'a> PictureMemory<'a> {
    /// Plan and stages are for work, and their memory is used again.
    pub(super) fn new(plan: &'a mut Plan, stages: &'a mut Vec<Stage>) -> Self {
        Self { plan, stages }
    }

    /// Bytes that [`transform`](crate::CpuDecoder::transform) takes at most beside the kept picture, which is of this origin.
    pub fn transform_bytes(&mut self, origin: &Origin, recipe: &Recipe, draw: Draw, limits: &Limits) -> u64 {
        self.recipe_bytes(origin, recipe, draw, limits, true)
    }

    /// Bytes that [`upright`](crate::CpuDecoder::upright) and then [`transform`](crate::CpuDecoder::transform) take at most of
    /// a picture of this origin, if decoding it takes so many.
    fn upright_bytes(
        &mut self,
        (origin, decode): (&Origin, u64),
        form: Form,
        recipe: &Recipe,
        draw: Draw,
        limits: &Limits,
    ) -> u64 {
        let (width, height) = origin.size;
        let kept @ (to_width, to_height) = form.size(width, height);
        let transform = self.transform_bytes(&Origin { size: kept, ..*origin }, recipe, draw, limits);
        if kept == origin.size {
            return decode.saturating_add(transform);
        }
        let (frame, window) = (Frame::whole(width, height), Rect::whole(to_width, to_height));
        let from = Rect::whole(width, height);
        let mode = form.mode;
        let shrink = resizing(frame, from, kept, window, (Interpolation::Bilinear, Match::Pillow, mode));
        let upright = decode.saturating_add(shrink).saturating_add(bytes(window, mode));
        // Of the first step, what a decoder keeps from picture to picture may be left.
        bytes(window, mode).saturating_add(upright.max(transform.saturating_add(upright.min(BUFFERS * KEEP as u64))))
    }

    /// Bytes that a recipe takes beside the decoded picture. 0 if the limits refuse it, since nothing is done then.
    fn recipe_bytes(&mut self, origin: &Origin, recipe: &Recipe, draw: Draw, limits: &Limits, is_kept: bool) -> u64 {
        let Self { plan, stages, .. } = self;
        let stored = Stored::turned(*origin);
        if limits.check_picture(origin.size.0, origin.size.1).is_err() {
            return 0;
        }
        recipe.plan_into(origin, draw, plan);
        if plan.check(limits).is_err() {
            return 0;
        }
        stage::stages_into(plan, &stored.grid(Scale::Full), stages);
        plan_bytes(plan, stages, (recipe.matched(), recipe.output().mode), is_kept)
    }

    /// Bytes that [`transform_views`](crate::CpuDecoder::transform_views) takes at most beside the kept picture of this origin.
    pub fn transform_views_bytes(&mut self, origin: &Origin, order: ViewOrder<'_>, limits: &Limits) -> u64 {
        self.plans_bytes(origin, order.each(), limits)
    }

    /// Buffers grow from view to view, but no further than all of them together.
    fn plans_bytes<'r>(
        &mut self,
        origin: &Origin,
        views: impl Iterator<Item = (&'r Recipe, Draw)>,
        limits: &Limits,
    ) -> u64 {
        views.map(|(recipe, draw)| self.transform_bytes(origin, recipe, draw, limits)).fold(0, u64::saturating_add)
    }

    /// Bytes that [`decode`](crate::CpuDecoder::decode) takes at most. A few rows that every decoder has are not counted.
    pub fn decode_bytes(&mut self, probe: &Probe, recipe: &Recipe, draw: Draw, limits: &Limits) -> u64 {
        let origin = probe.origin(recipe.input().adjust_orientation);
        probe
            .decode_bytes_in(recipe.output().mode)
            .saturating_add(self.recipe_bytes(&origin, recipe, draw, limits, false))
    }

    /// Bytes that [`upright`](crate::CpuDecoder::upright) and then [`transform`](crate::CpuDecoder::transform) take at most. A
    /// picture that keeps its size is not counted itself, since it is only made if there is room for it elsewhere.
    pub fn keep_bytes(&mut self, probe: &Probe, form: Form, recipe: &Recipe, draw: Draw, limits: &Limits) -> u64 {
        let origin = probe.origin(form.adjust_orientation);
        self.upright_bytes((&origin, probe.decode_bytes_in(form.mode)), form, recipe, draw, limits)
    }

    /// Bytes that [`decode_views`](crate::CpuDecoder::decode_views) takes at most. The decoded picture stays while the views
    /// are made.
    pub fn decode_views_bytes(&mut self, probe: &Probe, order: ViewOrder<'_>, limits: &Limits) -> u64 {
        if order.views.is_empty() {
            return self.decode_bytes(probe, order.recipe, order.draw, limits);
        }
        let origin = probe.origin(order.recipe.input().adjust_orientation);
        let decode = probe.decode_bytes_in(order.recipe.output().mode);
        decode.saturating_add(self.transform_views_bytes(&origin, order, limits))
    }

    /// As [`keep_bytes`](Self::keep_bytes), for all views of a record.
    pub fn keep_views_bytes(&mut self, probe: &Probe, form: Form, order: ViewOrder<'_>, limits: &Limits) -> u64 {
        let origin = probe.origin(form.adjust_orientation);
        let kept = Origin { size: form.size(origin.size.0, origin.size.1), ..origin };
        let first = self.keep_bytes(probe, form, order.recipe, order.draw, limits);
        first.saturating_add(self.plans_bytes(&kept, order.each().skip(1), limits))
    }
}

/// Bytes that a plan takes beside its first picture. If that is not kept, but the decoder's own, its memory is used again.
fn plan_bytes(plan: &Plan, stages: &[Stage], (matched, mode): (Match, Mode), is_kept: bool) -> u64 {
    let own = if is_kept { 0 } else { bytes(stages[0].need, mode) };
    let mut buffers = Buffers { mode, picture: own, ..Buffers::default() };
    let last = plan.steps.iter().rposition(|step| !matches!(step, Step::Cut(_)));
    for (number, step) in plan.steps.iter().enumerate() {
        let (Stage { frame, need }, window) = (stages[number], stages[number + 1].need);
        match *step {
            Step::Cut(_) => {}
            Step::Resize { width, height, interpolation } => {
                let taken = resizing(frame, need, (width, height), window, (interpolation, matched, mode));
                buffers.resizing = buffers.resizing.max(taken);
                if last != Some(number) {
                    buffers.write(window);
                }
            }
            Step::Canvas { .. } => buffers.write(window),
            Step::Mirror | Step::Flip => buffers.work_on(need),
            Step::Operate(operation) => {
                buffers.work_on(need);
                // A row of floats, the margins of a blur, and one of its blocks.
                let floats = (u64::from(need.width) + 256 + 32) * 3 * 4;
                buffers.floats = buffers.floats.max(floats).max(operation.own_bytes(need.area() as u64));
            }
            Step::Turn { width, height, .. } => {
                buffers.work_on(need);
                buffers.write(Rect::whole(width, height));
            }
        }
    }
    let Buffers { picture, spare, resizing, floats, .. } = buffers;
    // The two buffers change places, and one of them has been counted with the picture.
    (picture.saturating_add(spare) - own).saturating_add(resizing).saturating_add(floats)
}

impl Buffers {
    /// A step that makes this of the picture.
    fn write(&mut self, window: Rect) {
        self.spare = self.spare.max(bytes(window, self.mode));
        std::mem::swap(&mut self.picture, &mut self.spare);
    }

    /// A step that cuts this out of the picture, and makes another one of its size.
    fn work_on(&mut self, part: Rect) {
        self.picture = self.picture.max(bytes(part, self.mode));
        self.spare = self.spare.max(bytes(part, self.mode));
    }
}

/// Bytes that a resize takes beside its source and its result: its weights, and what is between its passes.
fn resizing(
    frame: Frame,
    need: Rect,
    (width, height): (u32, u32),
    window: Rect,
    (interpolation, matched, mode): (Interpolation, Match, Mode),
) -> u64 {
    let ((_, columns), (_, rows)) = frame.axes(width, height, interpolation);
    let [wide, high] = [window.width, window.height].map(u64::from);
    let [along, down] = [&columns, &rows].map(|axis| u64::from(axis.longest()));
    let line = |pixels: u64| pixels.saturating_mul(mode.pixel_len() as u64) + 64;
    match (interpolation, matched) {
        (Interpolation::Nearest, _) => wide * 4 + line(wide),
        (_, Match::Pillow) => {
            // Four weights of two halves each are read at a time.
            let pairs = |longest: u64| longest.div_ceil(2).next_multiple_of(2) * 8;
            let weights = wide * (pairs(along) + 4) + high * (pairs(down) + 4) + (along + down) * 8;
            let between = if matched.down_first(&columns, &rows) {
                line(need.width.into()) * ROWS
            } else {
                line(wide).saturating_mul(need.height.into())
            };
            // The source with its colours multiplied, and a row with them divided again.
            let multiplied = if mode.has_alpha() { bytes(need, mode) + line(wide) } else { 0 };
            weights.saturating_add(between).saturating_add(line(wide) * ROWS).saturating_add(multiplied)
        }
        (_, Match::Torch) => {
            // A list of weights that grows has up to twice its length.
            let weights = wide * (24 + along * 4) + high * (24 + down * 4) + (along + down) * 8;
            let turned = u64::from(need.width) * 3 * ROWS * 4;
            let between = line(wide).saturating_mul(down + ROWS) * 4;
            (weights * 2).saturating_add(turned).saturating_add(between).saturating_add(line(wide))
        }
    }
}

/// Bytes of a part of a picture of this mode.
fn bytes(part: Rect, mode: Mode) -> u64 {
    part.area() as u64 * mode.pixel_len() as u64
}
