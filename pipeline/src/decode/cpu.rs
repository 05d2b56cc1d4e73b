//! The CPU lane: the decoder of `pixels`, within the memory budget for decoding.

use std::sync::Arc;

use forebay_pixels::{
    CpuDecoder, Decoded, Fault, Form, JpegChoice, KeptPicture, Limits, Origin, Probe, SeekPoints, probe_page,
};

use crate::cache::{Cache, Keep};
use crate::decode::budget::{Budget, BudgetShare};
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
}

impl CpuShared {
    /// What a lane shares that has these limits and this memory. Our own JPEG decoder is used if it is asked for and right on
    /// this machine.
    pub(crate) fn new(limits: Limits, memory: Arc<Budget>, jpeg: JpegDecoder) -> Self {
        let jpeg = match jpeg {
            JpegDecoder::Auto => checked(),
            JpegDecoder::LibjpegTurbo => JpegChoice::LIBJPEG_TURBO,
        };
        Self { limits, memory, jpeg, tally: Arc::default() }
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
        let Self { decoder, shared: CpuShared { limits, tally, .. }, .. } = self;
        let Picture { record, behind, .. } = to;
        let (order, places) = to.views();
        if let Some(Content::Picture(kept)) = cache.find(record) {
            return decoder.transform_views(&kept.picture, order, limits, places).map(|decoded| decoded.origin);
        }
        let (width, height) = form.size(probe.width, probe.height);
        let shrinks = (width, height) != (probe.width, probe.height);
        let room = cache.room(record, KeptPicture::bytes_of(width, height) + behind.len() as u64);
        if room.is_some() || shrinks {
            match decoder.upright(bytes, form, limits) {
                Ok((picture, decoded)) => {
                    tally.count(&decoded);
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
        tally.count(&decoded);
        Ok(decoded.origin)
    }

    /// Decodes a picture into its place.
    fn decode(&mut self, picture: Picture<'_>) -> Result<Origin, Fault> {
        let Picture { input, cache, seek, .. } = picture;
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
        self.shared.tally.count(&decoded);
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
mod tests {
    use forebay_pixels::sample::{self, JpegForm, photograph_rgb};
    use forebay_pixels::{Draw, RandomEqualize, Recipe, Transform};

    use super::*;
    use crate::cache::admission::OVERHEAD;
    use crate::decode::Decode;
    use crate::decode::views::FurtherViews;

    /// What a lane makes of a file with this cache; the second time by what the cache holds, if it does.
    fn twice(lane: &mut Decode, bytes: &[u8], record: u64, cache: &Cache) -> [Result<Vec<u8>, Fault>; 2] {
        let recipe = Recipe::training(32).unwrap();
        let draw = Draw { seed: 0, epoch: 0, record };
        [(); 2].map(|()| {
            let found = cache.find(record);
            let input = found.as_ref().map_or(Input::File(bytes), Content::input);
            let mut out = vec![0; recipe.place_len()];
            let record = draw.record;
            lane(Picture {
                input,
                behind: &[],
                cache: Some(cache),
                seek: None,
                recipe: &recipe,
                record,
                draw,
                out: &mut out,
                further: FurtherViews::default(),
            })
            .map(|_| out)
        })
    }

    fn shared(limits: Limits) -> CpuShared {
        CpuShared::new(limits, Arc::new(Budget::new(128 << 20)), JpegDecoder::Auto)
    }

    fn lane_with(limits: Limits, memory: Arc<Budget>) -> Decode {
        CpuLane::maker(CpuShared { memory, ..shared(limits) })()
    }

    fn lane() -> Decode {
        CpuLane::maker(shared(Limits::default()))()
    }

    #[test]
    fn rule_31_pictures_larger_than_the_budget_are_decoded_and_those_above_the_pixel_limit_refused_by_name() {
        let bytes = sample::photograph(1, 1500, 1200);
        let recipe = Recipe::evaluation(32).unwrap();
        let mut out = vec![0; recipe.place_len()];
        let memory = Arc::new(Budget::new(1));
        let mut decode = |limits| {
            let mut lane = lane_with(limits, Arc::clone(&memory));
            let draw = Draw { seed: 0, epoch: 0, record: 0 };
            let input = Input::File(&bytes);
            lane(Picture {
                input,
                behind: &[],
                cache: None,
                seek: None,
                recipe: &recipe,
                record: 0,
                draw,
                out: &mut out,
                further: FurtherViews::default(),
            })
        };
        decode(Limits::default()).unwrap();
        let refused = decode(Limits { pixels: 1000, ..Limits::default() });
        assert!(matches!(refused, Err(Fault::TooLarge { pixels: 1_800_000, limit: 1000 })), "{refused:?}");
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn rule_8_pixels_depend_neither_on_whether_there_was_room_nor_on_what_is_kept() {
        let mut lane = lane();
        for max_side in [None, Some(120)] {
            let keep = Keep::Decoded(Form { max_side, ..Form::default() });
            let (roomy, full) = (Cache::new(keep, 1 << 20), Cache::new(keep, 0));
            for (record, (width, height)) in [(200, 150), (90, 120), (121, 7)].into_iter().enumerate() {
                let record = record as u64;
                let bytes = sample::photograph(record, width, height);
                let kept = twice(&mut lane, &bytes, record, &roomy);
                assert!(roomy.find(record).is_some() && full.find(record).is_none());
                assert!(kept[0].is_ok() && kept[0] == kept[1], "{width} x {height}, {max_side:?}");
                assert_eq!(twice(&mut lane, &bytes, record, &full), kept, "{width} x {height}, {max_side:?}");
            }
        }
    }

    #[test]
    fn rule_8_pixels_depend_neither_on_seek_points_nor_on_whether_there_was_room_for_them() {
        let bytes = sample::photograph(5, 400, 300);
        let recipe = Recipe::training(32).unwrap();
        let (roomy, full) = (SeekStore::new(1 << 20), SeekStore::new(0));
        let mut lane = lane();
        for epoch in 0..6 {
            let [plain, seeking, without_room] = [None, Some(&roomy), Some(&full)].map(|seek| {
                let (mut out, draw) = (vec![0; recipe.place_len()], Draw { seed: 0, epoch, record: 4 });
                let (input, behind, cache) = (Input::File(&bytes), &[][..], None);
                let picture = Picture {
                    input,
                    behind,
                    cache,
                    seek,
                    recipe: &recipe,
                    record: 4,
                    draw,
                    out: &mut out,
                    further: FurtherViews::default(),
                };
                lane(picture).map(|_| out).unwrap()
            });
            assert!(plain == seeking && plain == without_room, "epoch {epoch}");
        }
        assert_eq!([roomy, full].map(|store| store.figures().pictures), [1, 0]);
    }

    /// Carries a recipe out on a kept picture while another has all of the memory, and tells whether it waited for that.
    fn waits(recipe: &Recipe) -> bool {
        let form = Form::default();
        let (picture, _) =
            CpuDecoder::new().upright(&sample::photograph(1, 1500, 1200), form, &Limits::default()).unwrap();
        assert!(picture.bytes() as u64 > SMALL);
        let kept = KeptRecord { picture, masks: Box::default() };
        let memory = Arc::new(Budget::new(1));
        let all_of_it = memory.take(1);
        let mut lane = lane_with(Limits::default(), Arc::clone(&memory));
        let (mut out, draw) = (vec![0; recipe.place_len()], Draw { seed: 0, epoch: 0, record: 0 });
        let (input, behind) = (Input::Picture(&kept), &[][..]);
        let picture = Picture {
            input,
            behind,
            cache: None,
            seek: None,
            recipe,
            record: 0,
            draw,
            out: &mut out,
            further: FurtherViews::default(),
        };
        std::thread::scope(|scope| {
            let decoding = scope.spawn(|| lane(picture));
            while !decoding.is_finished() && memory.waiting() == 0 {
                std::thread::yield_now();
            }
            let waited = memory.waiting() > 0;
            drop(all_of_it);
            decoding.join().unwrap().unwrap();
            waited
        })
    }

    #[test]
    fn rule_31_a_kept_picture_however_large_waits_only_for_the_memory_that_its_recipe_takes() {
        let evaluation = Recipe::evaluation(32).unwrap();
        assert!(!waits(&evaluation));
        let equalize = Transform::RandomEqualize(RandomEqualize { p: 1.0 });
        let list = [vec![equalize], evaluation.transforms().to_vec()].concat();
        assert!(waits(&Recipe::new(list, evaluation.output()).unwrap()), "it needs a copy of the picture");
    }

    #[test]
    fn pictures_are_counted_when_they_are_decoded_and_not_when_they_were_kept() {
        let shared = shared(Limits::default());
        let mut lane = CpuLane::maker(shared.clone())();
        let bytes = sample::photograph(1, 90, 60);
        let counted = || shared.tally.figures().map(|(_, pictures)| pictures).sum::<u64>();
        for (budget, expected) in [(1 << 20, 1), (0, 2)] {
            let before = counted();
            let cache = Cache::new(Keep::Decoded(Form::default()), budget);
            assert!(twice(&mut lane, &bytes, 7, &cache).iter().all(Result::is_ok));
            assert_eq!(counted() - before, expected, "a cache of {budget} bytes");
        }
    }

    #[test]
    fn each_choice_of_jpeg_decoder_shows_in_the_counts() {
        let recipe = Recipe::training(32).unwrap();
        let files = [JpegForm::default(), JpegForm { arithmetic: true, ..JpegForm::default() }]
            .map(|form| form.encode(&photograph_rgb(1, 90, 60), 90, 60).unwrap());
        for (jpeg, expected) in [
            (JpegDecoder::Auto, [("forebay-jpeg", 1), ("libjpeg-turbo", 1), ("libwebp", 0), ("image", 0), ("jxl", 0)]),
            (
                JpegDecoder::LibjpegTurbo,
                [("forebay-jpeg", 0), ("libjpeg-turbo", 2), ("libwebp", 0), ("image", 0), ("jxl", 0)],
            ),
        ] {
            let shared = CpuShared::new(Limits::default(), Arc::new(Budget::new(1)), jpeg);
            let mut lane = CpuLane::maker(shared.clone())();
            for bytes in &files {
                let (mut out, draw) = (vec![0; recipe.place_len()], Draw { seed: 0, epoch: 0, record: 0 });
                let input = Input::File(bytes);
                lane(Picture {
                    input,
                    behind: &[],
                    cache: None,
                    seek: None,
                    recipe: &recipe,
                    record: 0,
                    draw,
                    out: &mut out,
                    further: FurtherViews::default(),
                })
                .unwrap();
            }
            assert!(shared.tally.figures().eq(expected), "{jpeg:?}");
        }
    }

    #[test]
    fn rule_29_a_picture_that_cannot_be_decoded_whole_is_what_it_is_without_a_cache_and_not_kept() {
        let form = JpegForm { progressive: true, ..JpegForm::default() };
        let bytes = form.encode(&photograph_rgb(1, 90, 60), 90, 60).unwrap();
        let limits = Limits { scans: 2, ..Limits::default() };
        let mut lane = lane_with(limits, Arc::new(Budget::new(128 << 20)));
        for max_side in [None, Some(50)] {
            let cache = Cache::new(Keep::Decoded(Form { max_side, ..Form::default() }), 1 << 20);
            let fault = Err(Fault::TooManyScans { limit: 2 });
            assert_eq!(twice(&mut lane, &bytes, 7, &cache), [fault.clone(), fault]);
            assert!(cache.find(7).is_none());
            assert_eq!(cache.figures().bytes, OVERHEAD, "a note that it is not to be tried again");
        }
    }
}
