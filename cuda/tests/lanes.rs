//! The lanes of a GPU, on the fake: pictures, refusals, failures, memory, and hardware that ignores the order of its stream.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_cuda::NvjpegPlaces;
use std::time::Duration;

use forebay_cuda::lane::ceiling::ceiling;
use forebay_cuda::lane::gpu::{Gpu, LaneSize};
use forebay_cuda::lane::self_test::{Difference, SelfTestError, self_test};
use forebay_cuda::lane::worker::Worker;
use forebay_cuda::lane::{LaneError, LaneKind, Refusal};
use forebay_cuda::survey::Places;
use forebay_fake_gpu::{Count, Fake, Knob};
use forebay_pixels::sample::{JpegColors, JpegForm, photograph_rgb};
use forebay_pixels::{CpuDecoder, Limits, Rect};

const LIMIT: usize = 64 << 20;
const SIZE: LaneSize = LaneSize { workers: 1, surfaces: 2 << 20 };

fn gpu(fake: &Fake, limit: usize) -> Gpu {
    let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
    let places = Places { driver: Some(fake.path()), nvjpeg };
    Gpu::open_all(&places, limit).unwrap().pop().unwrap().unwrap()
}

fn worker(gpu: &Gpu, kind: LaneKind) -> Worker {
    gpu.workers(kind, SIZE).unwrap().pop().unwrap()
}

fn jpeg(index: u64, width: u32, height: u32, form: JpegForm) -> Vec<u8> {
    form.encode(&photograph_rgb(index, width, height), width, height).unwrap()
}

/// The pixels of all pictures, or why another lane has to take them, over as many calls as it takes.
fn all(worker: &mut Worker, files: &[Vec<u8>]) -> Vec<Result<Vec<u8>, Refusal>> {
    let mut outcomes = Vec::new();
    while outcomes.len() < files.len() {
        let decoded = worker.decode(&refs(&files[outcomes.len()..])).unwrap();
        outcomes.extend(decoded.into_iter().map(|outcome| outcome.map(|decoded| decoded.whole())));
    }
    outcomes
}

fn whole(bytes: &[u8]) -> Vec<u8> {
    CpuDecoder::new().whole(bytes, &Limits::default()).unwrap().rgb
}

fn refs(files: &[Vec<u8>]) -> Vec<&[u8]> {
    files.iter().map(Vec::as_slice).collect()
}

/// Pictures of many sizes, among them all kinds of edges.
fn photographs(count: u64) -> Vec<Vec<u8>> {
    let forms = [[1, 1], [2, 1], [2, 2], [1, 2]];
    let side = |number: u64, step: u64| u32::try_from(1 + number * step % 97).unwrap();
    (0..count)
        .map(|number| {
            let sampling = forms[usize::try_from(number % 4).unwrap()];
            jpeg(number, side(number, 29), side(number, 41), JpegForm { sampling, ..JpegForm::default() })
        })
        .collect()
}

#[test]
fn planes_become_the_same_pixels_as_on_the_cpu_in_every_sampling_and_size() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let files = photographs(120);
    for kind in LaneKind::GPU {
        let mut worker = worker(&gpu, kind);
        for (file, outcome) in files.iter().zip(all(&mut worker, &files)) {
            assert!(outcome.unwrap() == whole(file), "{kind}");
        }
    }
}

#[test]
fn a_part_of_a_picture_is_the_same_cut_of_the_whole() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    for sampling in [[1, 1], [2, 1], [2, 2], [1, 2]] {
        let file = jpeg(3, 61, 47, JpegForm { sampling, ..JpegForm::default() });
        let decoded = worker(&gpu, LaneKind::Hardware).decode(&[&file]).unwrap().pop().unwrap().unwrap();
        let all = whole(&file);
        for part in [(0, 0, 61, 47), (1, 1, 1, 1), (7, 3, 20, 31), (60, 46, 1, 1), (30, 0, 31, 47)] {
            let (left, top, width, height) = part;
            let mut out = vec![0; (width * height * 3) as usize];
            decoded.rgb(Rect { left, top, width, height }, &mut out);
            for (row, out) in (top..).zip(out.chunks_exact(width as usize * 3)) {
                let at = ((row * 61 + left) * 3) as usize;
                assert_eq!(out, &all[at..][..out.len()], "{sampling:?} {part:?}");
            }
        }
    }
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
                17 => assert_eq!(outcome.unwrap_err(), Refusal::Failed, "{kind}"),
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

/// Pinned memory is lent with what is decoded: a call takes no more pictures than one piece of it holds.
#[test]
fn pictures_that_do_not_fit_together_take_several_calls_and_none_waits_for_memory_that_the_last_ones_keep() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let mut worker = worker(&gpu, LaneKind::Hardware);
    let large = jpeg(1, 500, 800, JpegForm { sampling: [1, 1], ..JpegForm::default() });
    let files: Vec<_> = std::iter::repeat_n(large, 6).collect();
    assert_eq!(worker.decode(&refs(&files)).unwrap().len(), 1, "two take 2.4 MB, of 2 MiB");
    let expected = whole(&files[0]);
    assert!(all(&mut worker, &files).into_iter().all(|outcome| outcome.is_ok_and(|rgb| rgb == expected)));
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
    worker.decode(&refs(&files)).unwrap();
    let error = worker.decode(&refs(&files)).unwrap_err();
    assert!(error.is_fault() && error.to_string().contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{error}");
}

#[test]
fn hardware_that_ignores_the_order_of_its_stream_does_no_harm() {
    let fake = Fake::new();
    fake.set(Knob::IgnoreOrder, 1);
    let gpu = gpu(&fake, LIMIT);
    let files = photographs(30);
    let expected: Vec<_> = files.iter().map(|file| whole(file)).collect();
    for kind in [LaneKind::Hardware, LaneKind::HardwareSingle] {
        let mut worker = gpu.workers(kind, LaneSize { workers: 1, surfaces: 100_000 }).unwrap().pop().unwrap();
        let before = fake.count(Count::Pictures);
        for _ in 0..10 {
            for (outcome, expected) in all(&mut worker, &files).into_iter().zip(&expected) {
                assert!(outcome.unwrap() == *expected, "{kind}");
            }
        }
        assert_eq!(fake.count(Count::Pictures) - before, 300, "on the same surfaces again and again");
    }
}

/// nvJPEG does Huffman coding on the GPU in batches of more than 50 pictures only.
#[test]
fn the_self_test_of_the_lane_that_does_all_on_the_gpu_has_batches_that_are_decoded_so() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let size = LaneSize { surfaces: 8 << 20, ..SIZE };
    let mut worker = gpu.workers(LaneKind::GpuHuffman, size).unwrap().pop().unwrap();
    assert_eq!(self_test(&mut worker), Ok(Difference::default()));
    assert!(fake.count(Count::LargestBatch) > 50, "{}", fake.count(Count::LargestBatch));
}

#[test]
fn a_gpu_without_engines_has_the_lanes_that_need_none() {
    let fake = Fake::new();
    fake.set(Knob::Engines, 0);
    let gpu = gpu(&fake, LIMIT);
    let lacking = LaneKind::GPU.map(|kind| gpu.lacks(kind).is_some());
    assert_eq!(lacking, [true, true, false, false]);
}

/// The fake does what Hopper's engines do: whoever queues a batch behind a slow copy, without a wait, reads the wrong picture.
#[test]
fn no_batch_begins_while_the_surfaces_of_the_last_one_are_still_read() {
    let fake = Fake::new();
    fake.set(Knob::IgnoreOrder, 1);
    let gpu = gpu(&fake, LIMIT);
    let mut worker = worker(&gpu, LaneKind::Hardware);
    let files = photographs(2);
    fake.set(Knob::HoldCopies, 1);
    std::thread::scope(|scope| {
        let decoding = scope.spawn(|| {
            let first = worker.decode(&[&files[0]]).unwrap().pop().unwrap().unwrap();
            let second = worker.decode(&[&files[1]]).unwrap().pop().unwrap().unwrap();
            (first.whole(), second.whole())
        });
        while fake.count(Count::Held) == 0 {
            std::thread::yield_now();
        }
        // The copy of the first batch waits; the second one must not have been given to the hardware.
        assert_eq!(fake.count(Count::Batches), 1);
        fake.set(Knob::HoldCopies, 0);
        assert_eq!(decoding.join().unwrap(), (whole(&files[0]), whole(&files[1])));
    });
}

#[test]
fn the_self_test_lets_a_good_lane_in_and_switches_a_wrong_one_off() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    for kind in LaneKind::GPU {
        let mut worker = worker(&gpu, kind);
        assert_eq!(self_test(&mut worker), Ok(Difference::default()), "the fake decodes as the CPU lane does");
        fake.set(Knob::Wrong, 1);
        let error = self_test(&mut worker).unwrap_err();
        assert!(matches!(error, SelfTestError::Wrong { .. }), "{error}");
        fake.set(Knob::Wrong, 0);
    }
    fake.set(Knob::FailBatches, 6);
    let error = self_test(&mut worker(&gpu, LaneKind::Hardware)).unwrap_err();
    assert!(matches!(error, SelfTestError::Refused { refusal: Refusal::Failed, .. }), "{error}");
}

#[test]
fn the_limit_of_the_gpus_memory_holds_for_us_and_for_nvjpeg_and_too_little_is_said() {
    let fake = Fake::new();
    for limit in [SIZE.surfaces + (1 << 20), 8 << 20, LIMIT] {
        let gpu = gpu(&fake, limit);
        let mut worker = worker(&gpu, LaneKind::Hardware);
        assert!(all(&mut worker, &photographs(20)).iter().all(Result::is_ok));
        let peak = gpu.account().peak();
        assert!(peak <= limit && peak >= SIZE.surfaces, "{peak} of {limit}");
        assert_eq!(
            fake.count(Count::DeviceBytes),
            i64::try_from(gpu.account().used()).unwrap(),
            "all of it is accounted"
        );
    }
    let error = gpu(&fake, 1 << 20).workers(LaneKind::Hardware, SIZE).unwrap_err();
    assert!(matches!(error, LaneError::Memory { limit: 1_048_576, .. }), "{error}");
    assert!(error.to_string().contains("gpu_memory_limit"), "{error}");
}

#[test]
fn nothing_is_allocated_once_a_lane_runs_and_everything_is_given_back_at_its_end() {
    let fake = Fake::new();
    let files = photographs(60);
    {
        let gpu = gpu(&fake, LIMIT);
        let mut workers: Vec<_> = LaneKind::GPU.into_iter().map(|kind| worker(&gpu, kind)).collect();
        let before = [Count::Allocations, Count::HostPieces, Count::Objects].map(|count| fake.count(count));
        for _ in 0..5 {
            for worker in &mut workers {
                all(worker, &files);
            }
        }
        let after = [Count::Allocations, Count::HostPieces, Count::Objects].map(|count| fake.count(count));
        assert_eq!(before, after);
        fake.set(Knob::Memory, 1);
        gpu.workers(LaneKind::Hybrid, LaneSize { workers: 2, ..SIZE }).unwrap_err();
        assert_eq!(gpu.page_locked(), LaneKind::GPU.len() * SIZE.page_locked());
        drop(workers);
        assert_eq!(gpu.page_locked(), 0);
    }
    for count in [Count::Contexts, Count::DeviceBytes, Count::HostPieces, Count::Streams, Count::Events, Count::Objects]
    {
        assert_eq!(fake.count(count), 0, "{count:?}");
    }
}

#[test]
fn the_bare_loop_counts_what_it_decodes_and_leaves_out_what_the_engines_do_not_take() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let mut files = photographs(6);
    files.push(b"no JPEG".to_vec());
    assert!(ceiling(&gpu, &files, 2, 5, Duration::ZERO).unwrap() > 0.0);
    assert_eq!(fake.count(Count::Pictures), 10, "one batch of five for each of two states");
    assert!(ceiling(&gpu, &files[6..], 2, 5, Duration::ZERO).unwrap() <= 0.0, "there is nothing to decode");
}
