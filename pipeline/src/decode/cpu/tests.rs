//! The CPU lane: what it counts, keeps and waits for.

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
    let (picture, _) = CpuDecoder::new().upright(&sample::photograph(1, 1500, 1200), form, &Limits::default()).unwrap();
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
        (
            JpegDecoder::Auto,
            [("forebay-jpeg", 1), ("libjpeg-turbo", 1), ("libwebp", 0), ("image", 0), ("jxl", 0), ("dav1d", 0)],
        ),
        (
            JpegDecoder::LibjpegTurbo,
            [("forebay-jpeg", 0), ("libjpeg-turbo", 2), ("libwebp", 0), ("image", 0), ("jxl", 0), ("dav1d", 0)],
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
