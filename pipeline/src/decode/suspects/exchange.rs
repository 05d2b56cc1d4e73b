//! A suspect's job as a request to a child, and the child's answer as what is in its place.

use forebay_pixels::{MaskDepth, Orientation, Origin, PARTNERS, Recipe, RecordBoxes};
use forebay_proto::v1::child_setup::Jpeg;
use forebay_proto::v1::{
    ChildAwaiting, ChildColumn, ChildMask, ChildOrigin, ChildPartner, ChildReply, ChildRequest, ChildSetup,
};

use super::ChildLimits;
use crate::decode::job::DecodeJob;
use crate::decode::masks::Masks;
use crate::decode::suspect_order::SuspectOrder;
use crate::mask_numbers::{MaskNumbers, mask_len};
use crate::mosaic::Partners;
use crate::record::Input;
use crate::settings::JpegDecoder;
use crate::step_lists::AwaitsMaking;

/// How the pictures of a job's stream are made.
pub(super) fn setup(job: &DecodeJob, order: &SuspectOrder, children: &ChildLimits) -> ChildSetup {
    let limits = children.limits;
    let jpeg = match children.jpeg {
        JpegDecoder::Auto => Jpeg::Auto,
        JpegDecoder::LibjpegTurbo => Jpeg::LibjpegTurbo,
    };
    let masks = job.pictures.masks.targets.iter().map(|target| {
        let depth = match target.depth {
            MaskDepth::U8 => 1,
            MaskDepth::U16 => 2,
            MaskDepth::I32 => 4,
        };
        ChildMask { name: target.name.clone(), mask: narrow(target.mask), depth }
    });
    ChildSetup {
        settings: order.settings.clone(),
        pixels: limits.pixels,
        bytes: limits.bytes,
        scans: limits.scans,
        time_us: limits.time.map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX)),
        jpeg: jpeg.into(),
        masks_of_source: narrow(job.pictures.masks.of_source),
        masks: masks.collect(),
        boxes_in_fractions: recipes(job).any(|recipe| recipe.boxes().is_some_and(RecordBoxes::in_fractions)),
    }
}

/// One record to be made. Of the partners of a mosaic, only those that are `shown` go with it.
pub(super) fn request(job: &DecodeJob, setup: Option<ChildSetup>, shown: [bool; PARTNERS]) -> ChildRequest {
    let Input::File(content) = job.content.input() else { unreachable!("a kept picture is no suspect") };
    let mosaic = job.content.mosaic();
    let partners = mosaic.and_then(|content| content.partners()).into_iter().flatten();
    let partners = partners.zip(shown).map(|(partner, is_shown)| ChildPartner {
        record: partner.record,
        content: partner.bytes.clone().filter(|_| is_shown),
    });
    let mut boxes = Vec::new();
    if let Some(of) = recipes(job).find_map(|recipe| recipe.boxes()) {
        of.each(job.draw.record, &mut |corners| boxes.extend(corners));
    }
    let recipe = &job.pictures.recipe;
    let (bucket_height, bucket_width) = if recipe.is_ragged() {
        // The child needs to know no more of the place than its room.
        (1, narrow(job.place.pixels_len() / recipe.output().bytes(1, 1)))
    } else {
        recipe.step_size().unwrap_or((0, 0))
    };
    ChildRequest {
        setup,
        seed: job.draw.seed,
        epoch: job.draw.epoch,
        key: job.draw.record,
        record: job.record,
        content: content.to_vec(),
        is_mosaic: mosaic.is_some(),
        partners: partners.collect(),
        boxes,
        bucket_height,
        bucket_width,
    }
}

fn recipes(job: &DecodeJob) -> impl Iterator<Item = &Recipe> {
    std::iter::once(&*job.pictures.recipe).chain(job.pictures.views.views.iter().map(|view| &view.recipe))
}

/// Puts what a child has made into the job's place. False, if it is not what was asked for.
pub(super) fn write(reply: &ChildReply, job: &mut DecodeJob) -> bool {
    let Some(made_of) = reply.origin.as_ref().map(origin) else { return !reply.fault.is_empty() };
    let columns =
        job.pictures.masks.targets.iter().map(|target| target.column).chain(job.pictures.views.columns.iter().copied());
    let columns: Vec<usize> = columns.collect();
    let place = &mut job.place;
    let picture = place.as_mut();
    if picture.len() != reply.picture.len() || columns.len() != reply.columns.len() {
        return false;
    }
    picture.copy_from_slice(&reply.picture);
    if let Some((steps, stepping)) = job.pictures.steps.as_ref().zip(job.stepping.as_mut()) {
        let Ok(mut beginning) = steps.begin(stepping, job.draw, &|| Ok(made_of)) else { return false };
        let has_all = beginning.awaiting().count() == reply.awaiting.len();
        let mut both = beginning.awaiting().zip(&reply.awaiting);
        if !(has_all && both.all(|(room, made)| take_awaiting(room, made, &job.pictures.masks))) {
            return false;
        }
    }
    columns.into_iter().zip(&reply.columns).all(|(column, made)| {
        let (validity, values) = place.column(column);
        let fits = values.len() == made.values.len();
        if fits {
            *validity = made.valid.into();
            values.copy_from_slice(&made.values);
        }
        fits
    })
}

/// Takes what a child has made for a function. False, if it is not what was asked for.
fn take_awaiting(room: AwaitsMaking<'_>, made: &ChildAwaiting, masks: &Masks) -> bool {
    let AwaitsMaking { recipe, pixels: Some(pixels), masks: numbers, .. } = room else { return false };
    let (height, width, _) = recipe.shape();
    let lens = masks.targets.iter().map(|target| mask_len((height, width), target.depth));
    let fits = pixels.len() == made.pixels.len() && made.masks.iter().map(|mask| mask.values.len()).eq(lens);
    if fits {
        pixels.copy_from_slice(&made.pixels);
        let mask = |mask: &ChildColumn| MaskNumbers { is_there: mask.valid, numbers: mask.values.clone() };
        *numbers = made.masks.iter().map(mask).collect();
    }
    fits
}

/// What the picture was made of, and those beside it in a mosaic. Nothing if the record is bad.
pub(super) fn made_of(reply: &ChildReply) -> Option<(Origin, Option<Box<Partners>>)> {
    let own = reply.origin.as_ref().map(origin)?;
    let mut partners = reply.has_partners.then(Box::<Partners>::default);
    for partner in &reply.partners {
        let place = usize::try_from(partner.place).ok();
        let of_place = place.and_then(|place| partners.as_mut()?.get_mut(place));
        if let (Some(of_place), Some(made)) = (of_place, &partner.origin) {
            *of_place = Some((partner.record, origin(made)));
        }
    }
    Some((own, partners))
}

fn origin(made: &ChildOrigin) -> Origin {
    let orientation = |number: u32| Orientation::from_exif(u16::try_from(number).unwrap_or(0));
    Origin {
        stored: (made.stored_width, made.stored_height),
        orientation: orientation(made.orientation),
        turned: orientation(made.turned),
        size: (made.width, made.height),
    }
}

/// The same as a message.
pub(super) fn told(origin: &Origin) -> ChildOrigin {
    let Origin { stored, orientation, turned, size } = *origin;
    ChildOrigin {
        stored_width: stored.0,
        stored_height: stored.1,
        orientation: orientation as u32,
        turned: turned as u32,
        width: size.0,
        height: size.1,
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
