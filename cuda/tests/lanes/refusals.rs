//! What a lane leaves to the next one, and what is an error of the GPU.

use forebay_cuda::lane::order::{Made, Order, Target};
use forebay_cuda::lane::worker::Worker;
use forebay_cuda::lane::{LaneError, LaneKind, Refusal};
use forebay_fake_gpu::{Count, Fake, Knob};
use forebay_pixels::sample::{JpegColors, JpegForm, photograph_rgb};
use forebay_pixels::{Draw, Limits, OneOrTwo, Output, PillowGaussianBlur, RandomInvert, Recipe, Transform};

use crate::{LIMIT, SIZE, all, gpu, jpeg, photographs, refs, whole, worker};

#[test]
fn what_no_launch_makes_and_what_has_no_room_is_left_to_the_next_lane() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let mut worker = worker(&gpu, LaneKind::Hardware);
    let file = jpeg(1, 64, 48, JpegForm::default());
    let draw = Draw { seed: 0, epoch: 0, record: 0 };
    let mut outcome = |recipe: &Recipe, limits: &Limits| {
        let mut place = vec![0; recipe.place_len()];
        let made = Made::By(recipe, draw, limits);
        worker.decode(&mut [Order { bytes: &file, made, out: Target::Host(&mut place) }]).unwrap()[0]
    };
    let twice = Recipe::new([Transform::training(30), Transform::training(20)].concat(), Output::default()).unwrap();
    let good = Recipe::training(20).unwrap();
    assert_eq!(outcome(&twice, &Limits::default()), Err(Refusal::Transforms));
    let then = |transform| Recipe::new([Transform::training(20), vec![transform]].concat(), Output::default()).unwrap();
    let inverted = then(Transform::RandomInvert(RandomInvert { p: 1.0 }));
    assert_eq!(outcome(&inverted, &Limits::default()), Ok(()), "the kernel changes values");
    let blurred = then(Transform::PillowGaussianBlur(PillowGaussianBlur { radius: OneOrTwo::One(65.0), p: 1.0 }));
    assert_eq!(outcome(&blurred, &Limits::default()), Err(Refusal::LargeBlur));
    assert_eq!(outcome(&good, &Limits { pixels: 100, ..Limits::default() }), Err(Refusal::Transforms));
    assert_eq!(
        outcome(&Recipe::training(900).unwrap(), &Limits::default()),
        Err(Refusal::TooLarge),
        "2.4 MB, of 2 MiB"
    );
    assert_eq!(outcome(&good, &Limits::default()), Ok(()));
}

#[test]
fn a_driver_that_does_not_take_the_kernel_has_no_lane_and_the_reason_names_what_helps() {
    let fake = Fake::new();
    fake.set(Knob::OldDriver, 1);
    let error = Worker::all(&gpu(&fake, LIMIT), LaneKind::Hardware, SIZE).unwrap_err();
    assert!(matches!(error, LaneError::Kernel(_)) && error.to_string().contains("550"), "{error}");
}

#[test]
fn what_a_lane_does_not_take_is_left_to_the_next_with_a_reason_and_the_rest_of_the_batch_is_decoded() {
    use Refusal::{Colours, Damaged, Kind, NotJpeg, Sampling, TooLarge};

    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let plain = JpegForm::default();
    let rgb_pixels = photograph_rgb(1, 32, 24);
    let cmyk: Vec<u8> = (0..32 * 24 * 4).map(|number| u8::try_from(number % 251).unwrap()).collect();
    let encode = |form: JpegForm, pixels: &[u8]| form.encode(pixels, 32, 24).unwrap();
    let files = [
        jpeg(0, 32, 24, plain),
        b"\x89PNG\r\n\x1a\n".to_vec(),
        b"\xFF\xD8\xFF".to_vec(),
        jpeg(1, 32, 24, JpegForm { progressive: true, ..plain }),
        jpeg(1, 32, 24, JpegForm { arithmetic: true, ..plain }),
        encode(JpegForm { colors: JpegColors::Rgb, sampling: [1, 1], ..plain }, &rgb_pixels),
        encode(JpegForm { colors: JpegColors::Cmyk, sampling: [1, 1], ..plain }, &cmyk),
        jpeg(1, 32, 24, JpegForm { sampling: [4, 1], ..plain }),
        jpeg(2, 3000, 2000, plain),
        jpeg(4, 50, 60, plain),
    ];
    let reasons = |kind| -> Vec<_> {
        let outcomes = all(&mut worker(&gpu, kind), &files);
        outcomes.into_iter().map(|outcome| outcome.map(|rgb| rgb.len())).collect()
    };
    let expected = [
        Ok(32 * 24 * 3),
        Err(NotJpeg),
        Err(Damaged),
        Err(Kind),
        Err(Kind),
        Err(Colours),
        Err(Colours),
        Err(Sampling),
        Err(TooLarge),
        Ok(50 * 60 * 3),
    ];
    for kind in [LaneKind::Hardware, LaneKind::HardwareSingle, LaneKind::GpuHuffman] {
        assert_eq!(reasons(kind), expected, "{kind}");
    }
    let mut hybrid = expected;
    hybrid[3] = Ok(32 * 24 * 3);
    assert_eq!(reasons(LaneKind::Hybrid), hybrid);
}

#[test]
fn one_bad_picture_fails_a_call_but_not_its_batch() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let mut files = photographs(40);
    files[17] = jpeg(1, 777, 20, JpegForm::default());
    files[31] = jpeg(1, 888, 20, JpegForm::default());
    fake.set(Knob::FailWidth, 777);
    fake.set(Knob::RefuseWidth, 888);
    for kind in LaneKind::GPU {
        let outcomes = all(&mut worker(&gpu, kind), &files);
        for (number, (file, outcome)) in files.iter().zip(outcomes).enumerate() {
            match number {
                17 => assert_eq!(outcome.unwrap_err(), Refusal::Damaged, "{kind}"),
                31 if kind != LaneKind::Hybrid => assert_eq!(outcome.unwrap_err(), Refusal::NotSupported, "{kind}"),
                _ => assert!(outcome.unwrap() == whole(file), "{kind} {number}"),
            }
        }
    }
}

/// nvJPEG writes planes as it has read the header: larger ones than ours would be written over other pictures, or beyond all.
#[test]
fn a_picture_whose_header_nvjpeg_reads_in_another_way_is_never_decoded() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let files = [1, 555, 2].map(|width| jpeg(1, width, 20, JpegForm::default()));
    fake.set(Knob::WideWidth, 555);
    for kind in LaneKind::GPU {
        let before = fake.count(Count::Pictures);
        let outcomes = all(&mut worker(&gpu, kind), &files);
        assert_eq!(outcomes[1].clone().unwrap_err(), Refusal::NotSupported, "{kind}");
        assert!(outcomes[0].is_ok() && outcomes[2].is_ok(), "{kind}");
        assert_eq!(fake.count(Count::Pictures) - before, 2, "{kind}");
    }
}

#[test]
fn when_every_call_fails_every_picture_is_left_to_the_next_lane_and_afterwards_all_is_well() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let mut worker = worker(&gpu, LaneKind::Hardware);
    let files = photographs(9);
    fake.set(Knob::FailBatches, 8);
    assert!(all(&mut worker, &files).iter().all(Result::is_err));
    fake.set(Knob::FailBatches, 0);
    assert!(all(&mut worker, &files).iter().all(Result::is_ok));
}

#[test]
fn a_broken_gpu_is_an_error_that_says_so_and_that_no_picture_is_blamed_for() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let mut worker = worker(&gpu, LaneKind::Hardware);
    let files = photographs(4);
    fake.set(Knob::BreakAfter, 2);
    worker.whole(&refs(&files)).unwrap();
    let error = worker.whole(&refs(&files)).unwrap_err();
    assert!(error.is_fault() && error.to_string().contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{error}");
}

#[test]
fn a_gpu_without_engines_has_the_lanes_that_need_none() {
    let fake = Fake::new();
    fake.set(Knob::Engines, 0);
    let gpu = gpu(&fake, LIMIT);
    let lacking = LaneKind::GPU.map(|kind| gpu.lacks(kind).is_some());
    assert_eq!(lacking, [true, true, false, false]);
}
