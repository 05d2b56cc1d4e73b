//! The CPU lane: the decoder of `pixels`, within the memory budget for decoding.

use std::sync::Arc;

use forebay_pixels::{
    CpuDecoder, Decoded, Fault, Form, JpegChoice, KeptPicture, Limits, Mode, Origin, Probe, SeekPoints, probe_page,
};

use crate::cache::{Cache, Keep};
use crate::decode::budget::{Budget, BudgetShare};
use crate::decode::left_out::LeftOut;
use crate::decode::tally::Tally;
use crate::decode::{MakeDecode, Picture};
use crate::record::{Content, Input, KeptRecord};
use crate::seek::SeekStore;
use crate::settings::JpegDecoder;

/// A picture smaller than this always finds room: the reserve of 100 MB beside the budgets holds a few per thread.
pub(crate) const SMALL: u64 = 4 << 20;

/// Decodes on the thread that calls it.
#[derive(Debug)]
pub(crate) struct CpuLane {
    decoder: CpuDecoder,
    /// Those of one picture after the other.
    points: SeekPoints,
    shared: CpuShared,
}

/// What the lane's threads share.
#[derive(Clone, Debug)]
pub(crate) struct CpuShared {
    /// The limits for a picture.
    pub limits: Limits,
    /// Memory for decoding.
    pub memory: Arc<Budget>,
    /// Where JPEGs go.
    pub jpeg: JpegChoice,
    /// How many pictures each decoder has decoded.
    pub tally: Arc<Tally>,
    /// How many of their files had more than is in the pixels.
    pub left_out: Arc<LeftOut>,
}

impl CpuShared {
    /// What a lane shares that has these limits and this memory. Our own JPEG decoder is used if it is asked for and right on
    /// this machine.
    pub(crate) fn new(limits: Limits, memory: Arc<Budget>, jpeg: JpegDecoder) -> Self {
        let jpeg = match jpeg {
            JpegDecoder::Auto => checked(),
            JpegDecoder::LibjpegTurbo => JpegChoice::LIBJPEG_TURBO,
        };
        Self { limits, memory, jpeg, tally: Arc::default(), left_out: Arc::default() }
    }

    /// Counts a file whose picture was decoded in this mode, unless it was there decoded.
    fn count(&self, bytes: &[u8], mode: Mode, decoded: &Decoded) {
        self.tally.count(decoded);
        if decoded.by.is_some() {
            self.left_out.count(bytes, mode, &self.limits);
        }
    }
}

fn checked() -> JpegChoice {
    let (choice, complaints) = JpegChoice::checked();
    for complaint in complaints {
        tracing::warn!("{complaint}; please report it. JPEGs are decoded by {}", choice.name());
    }
    choice
}

impl CpuLane {
    /// Makes what the lane's threads decode with.
    pub(crate) fn maker(shared: CpuShared) -> MakeDecode {
        Arc::new(move || {
            let (decoder, points) = (CpuDecoder::with_jpeg(shared.jpeg), SeekPoints::default());
            let mut lane = Self { decoder, points, shared: shared.clone() };
            Box::new(move |picture| lane.decode(picture))
        })
    }

    /// Decodes a picture that is kept decoded, or would be if there were room. It may have been kept since it was read.
    ///
    /// A larger picture than the form allows is decoded whole and shrunk whether there is room or not, since its pixels
    /// must not depend on that. Any other gives the same pixels from its file; it is decoded whole only where it is kept.
    fn keep(
        &mut self,
        bytes: &[u8],
        probe: &Probe,
        form: Form,
        cache: &Cache,
        to: Picture<'_>,
    ) -> Result<Origin, Fault> {
        let Self { decoder, shared, .. } = self;
        let limits = &shared.limits;
        let Picture { record, behind, .. } = to;
        let (order, places) = to.views();
        if let Some(Content::Picture(kept)) = cache.find(record) {
            return decoder.transform_views(&kept.picture, order, limits, places).map(|decoded| decoded.origin);
        }
        let (width, height) = form.size(probe.width, probe.height);
        let shrinks = (width, height) != (probe.width, probe.height);
        let room = cache.room(record, KeptPicture::bytes_of(width, height, form.mode) + behind.len() as u64);
        if room.is_some() || shrinks {
            match decoder.upright(bytes, form, limits) {
                Ok((picture, decoded)) => {
                    shared.count(bytes, form.mode, &decoded);
                    let kept = Arc::new(KeptRecord { picture, masks: behind.into() });
                    if let Some(room) = room {
                        room.keep(Content::Picture(Arc::clone(&kept)));
                    }
                    return decoder.transform_views(&kept.picture, order, limits, places).map(|decoded| decoded.origin);
                }
                Err(fault) if shrinks => return Err(fault),
                // The damage may lie outside of what the recipe needs of it: as without a cache, that is no fault.
                Err(_) => drop(room),
            }
        }
        let decoded = decoder.decode_views((bytes, None), order, limits, places)?;
        shared.count(bytes, form.mode, &decoded);
        Ok(decoded.origin)
    }

    /// Decodes a picture into its place.
    fn decode(&mut self, picture: Picture<'_>) -> Result<Origin, Fault> {
        let Picture { input, cache, seek, .. } = picture;
        let mode = picture.recipe.output().mode;
        let (limits, memory) = (self.shared.limits, Arc::clone(&self.shared.memory));
        let bytes = match input {
            Input::File(bytes) => bytes,
            // The recipe is carried out on the pixels where they are: only what it makes of them takes memory.
            Input::Picture(kept) => {
                let (order, places) = picture.views();
                let needed = self.decoder.memory().transform_views_bytes(&kept.picture.origin, order, &limits);
                let _share = share(&memory, needed);
                let made = self.decoder.transform_views(&kept.picture, order, &limits, places);
                return made.map(|decoded| decoded.origin);
            }
        };
        let probe = probe_page(bytes, picture.order().recipe.input().page)?;
        // Beyond the limits the decoder refuses before it takes any memory.
        let allowed = probe.check(&limits).is_ok();
        let keeping = cache.filter(|_| allowed).map(|cache| (cache, cache.keep()));
        let needed = match keeping {
            _ if !allowed => 0,
            Some((_, Keep::Decoded(form))) => {
                self.decoder.memory().keep_views_bytes(&probe, form, picture.order(), &limits)
            }
            _ => self.decoder.memory().decode_views_bytes(&probe, picture.order(), &limits),
        };
        let _share = share(&memory, needed);
        if let Some((cache, Keep::Decoded(form))) = keeping {
            return self.keep(bytes, &probe, form, cache, picture);
        }
        let decoded = if let Some(store) = seek {
            self.seek(bytes, store, picture)
        } else {
            let (order, places) = picture.views();
            self.decoder.decode_views((bytes, None), order, &limits, places)
        }?;
        self.shared.count(bytes, mode, &decoded);
        Ok(decoded.origin)
    }

    /// Decodes a file with what the store has of its seek points, and keeps what has changed in them.
    fn seek(&mut self, bytes: &[u8], store: &SeekStore, to: Picture<'_>) -> Result<Decoded, Fault> {
        let Self { decoder, points, shared } = self;
        let record = to.record;
        let (order, places) = to.views();
        if !store.load(record, points) {
            return decoder.decode_views((bytes, None), order, &shared.limits, places);
        }
        let decoded = decoder.decode_views((bytes, Some(&mut *points)), order, &shared.limits, places);
        store.keep(record, points);
        decoded
    }
}

/// What a picture takes from the memory for decoding, if it is not small.
fn share(memory: &Budget, needed: u64) -> Option<BudgetShare<'_>> {
    (needed > SMALL).then(|| memory.take(needed))
}

#[cfg(test)]
mod tests;
