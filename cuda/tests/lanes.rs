//! The lanes of a GPU, on the fake: pictures, refusals, failures, memory, and hardware that ignores the order of its stream.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::sync::Arc;

use forebay_cuda::NvjpegPlaces;
use forebay_cuda::{Context, Driver, SharedMemory, SharedPlace, Stream};
use std::time::Duration;

use forebay_cuda::lane::ceiling::ceiling;
use forebay_cuda::lane::gpu::{Gpu, LaneSize};
use forebay_cuda::lane::self_test::{Passed, SelfTestError, self_test};
use forebay_cuda::lane::worker::{Made, Order, Target, Worker};
use forebay_cuda::lane::{LaneError, LaneKind, Refusal};
use forebay_cuda::survey::Places;
use forebay_fake_gpu::{Count, Fake, Knob};
use forebay_pixels::sample::{JpegColors, JpegForm, photograph_rgb};
use forebay_pixels::{CpuDecoder, Draw, Dtype, Layout, Limits, Output, Recipe, Transform};

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
        let decoded = worker.whole(&refs(&files[outcomes.len()..])).unwrap();
        outcomes.extend(decoded.into_iter().map(|outcome| outcome.map(|whole| whole.rgb)));
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

/// Streams of several forms share a lane, and so a launch.
#[test]
fn pictures_of_several_recipes_in_one_batch_are_the_cpu_lanes_to_the_byte_on_every_lane() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let floats = Output { dtype: Dtype::Float32, layout: Layout::Nchw, ..Output::default() };
    let recipes = [
        Recipe::training(48).unwrap(),
        Recipe::evaluation(20).unwrap(),
        Recipe::new(Transform::training(31), floats).unwrap(),
    ];
    let files = photographs(60);
    let limits = Limits::default();
    let of = |number: usize| (&recipes[number % 3], Draw { seed: 4, epoch: 2, record: number as u64 });
    for kind in LaneKind::ALL.into_iter().filter(|kind| *kind != LaneKind::Cpu) {
        let mut worker = worker(&gpu, kind);
        let mut places: Vec<_> = (0..files.len()).map(|number| vec![0xA5; of(number).0.place_len()]).collect();
        let mut done = 0;
        while done < files.len() {
            let rest = (done..).zip(&files[done..]).zip(&mut places[done..]);
            let mut orders: Vec<_> = rest
                .map(|((number, bytes), out)| Order {
                    bytes,
                    made: Made::By(of(number).0, of(number).1, &limits),
                    out: Target::Host(out),
                })
                .collect();
            let outcomes = worker.decode(&mut orders).unwrap();
            assert!(outcomes.iter().all(Result::is_ok), "{kind}");
            done += outcomes.len();
        }
        for (number, (file, place)) in files.iter().zip(&places).enumerate() {
            let (recipe, draw) = of(number);
            let mut expected = vec![0; recipe.place_len()];
            CpuDecoder::new().decode(file, recipe, draw, &limits, &mut expected).unwrap();
            assert!(*place == expected, "{kind}, picture {number}");
        }
    }
}

#[test]
fn results_are_made_in_shared_memory_where_that_is_their_place_and_beside_them_others_go_to_the_host() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let context = Context::new(&Driver::open(Some(&fake.path())).unwrap(), 0).unwrap();
    let memory = Arc::new(SharedMemory::new(&context, 1).unwrap());
    let recipe = Recipe::training(32).unwrap();
    let (len, limits) = (recipe.place_len(), Limits::default());
    let files = photographs(12);
    let mut worker = worker(&gpu, LaneKind::Hardware);
    let mut stream = Stream::new(&context).unwrap();
    let mut shared: Vec<_> = (0..12).map(|number| SharedPlace::new(&memory, number * len, len)).collect();
    let mut host = vec![vec![0; len]; 12];
    let of = |number: usize| Draw { seed: 4, epoch: 2, record: number as u64 };
    let orders = files.iter().zip(&mut shared).zip(&mut host).enumerate();
    let mut orders: Vec<_> = orders
        .map(|(number, ((bytes, shared), host))| Order {
            bytes,
            made: Made::By(&recipe, of(number), &limits),
            out: if number % 3 == 0 { Target::Host(host) } else { Target::Gpu(shared) },
        })
        .collect();
    assert_eq!(worker.decode(&mut orders).unwrap(), vec![Ok(()); 12]);
    drop(orders);
    for (number, file) in files.iter().enumerate() {
        let (mut expected, mut found) = (vec![0; len], vec![0; len]);
        CpuDecoder::new().decode(file, &recipe, of(number), &limits, &mut expected).unwrap();
        shared[number].read(&mut stream, &mut found).unwrap();
        let (there, elsewhere) = if number % 3 == 0 { (&host[number], &found) } else { (&found, &host[number]) };
        assert!(*there == expected, "picture {number}");
        assert!(elsewhere.iter().all(|byte| *byte == 0), "picture {number} is in its place alone");
    }
}

#[test]
fn what_no_single_launch_makes_and_what_has_no_room_is_left_to_the_next_lane() {
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
    let error = gpu(&fake, LIMIT).workers(LaneKind::Hardware, SIZE).unwrap_err();
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

#[test]
fn pictures_that_do_not_fit_together_take_several_calls() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let mut worker = worker(&gpu, LaneKind::Hardware);
    let large = jpeg(1, 500, 800, JpegForm { sampling: [1, 1], ..JpegForm::default() });
    let files: Vec<_> = std::iter::repeat_n(large, 6).collect();
    assert_eq!(worker.whole(&refs(&files)).unwrap().len(), 1, "two take 2.4 MB, of 2 MiB");
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
    worker.whole(&refs(&files)).unwrap();
    let error = worker.whole(&refs(&files)).unwrap_err();
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
    assert_eq!(self_test(&mut worker), Ok(Passed::default()));
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
            let first = worker.whole(&[&files[0]]).unwrap().pop().unwrap().unwrap();
            let second = worker.whole(&[&files[1]]).unwrap().pop().unwrap().unwrap();
            (first.rgb, second.rgb)
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
        assert_eq!(self_test(&mut worker), Ok(Passed::default()), "the fake decodes as the CPU lane does");
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
fn the_self_test_lets_a_lane_in_that_leaves_rare_samplings_to_the_next_and_none_that_leaves_the_usual_ones() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let mut worker = worker(&gpu, LaneKind::Hardware);
    for (sampling, name) in [(4, "4:4:0"), (3, "gray")] {
        fake.set(Knob::RefuseSampling, sampling + 1);
        let refused = self_test(&mut worker).unwrap().refused;
        assert_eq!(refused.len(), 6, "three sizes, whole and in part: {refused:?}");
        assert!(refused.iter().all(|text| text.contains(name) && text.ends_with("not supported by nvJPEG")));
    }
    for sampling in [0, 2] {
        fake.set(Knob::RefuseSampling, sampling + 1);
        let error = self_test(&mut worker).unwrap_err();
        assert!(matches!(error, SelfTestError::Refused { refusal: Refusal::NotSupported, .. }), "{error}");
    }
}

/// Short batches take memory, or another way, that whole ones do not.
#[test]
fn the_self_test_has_short_batches_as_well() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let mut worker = gpu.workers(LaneKind::Hardware, LaneSize { surfaces: 8 << 20, ..SIZE }).unwrap().pop().unwrap();
    self_test(&mut worker).unwrap();
    assert_eq!(fake.count(Count::Batches), 2 + 5, "two whole rounds, and one of thirty pictures in sevens");
}

/// The fake refuses calls of nvJPEG under any context but the one in which their objects were made, as under none.
#[test]
fn lanes_of_several_gpus_are_made_used_and_given_up_by_threads_that_had_another_gpus_context_or_none() {
    let fake = Fake::new();
    fake.set(Knob::Gpus, 2);
    let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
    let places = Places { driver: Some(fake.path()), nvjpeg };
    let gpus: Vec<_> = Gpu::open_all(&places, LIMIT).unwrap().into_iter().map(Result::unwrap).collect();
    let files = photographs(5);
    for kind in LaneKind::GPU {
        // The handles first, so that nothing but a lane's own calls stands before it.
        assert!(gpus.iter().all(|gpu| gpu.lacks(kind).is_none()));
        assert!(std::thread::scope(|scope| scope.spawn(|| gpus[0].engines()).join()).unwrap().is_ok());
        let of_none = std::thread::scope(|scope| scope.spawn(|| worker(&gpus[0], kind)).join().unwrap());
        let mut workers = [of_none, worker(&gpus[1], kind), worker(&gpus[0], kind)];
        for worker in &mut workers {
            assert!(all(worker, &files).iter().all(Result::is_ok), "{kind}");
        }
    }
    drop(gpus);
    assert_eq!(fake.count(Count::Objects), 0);
}

#[test]
fn the_limit_of_the_gpus_memory_holds_for_us_and_for_nvjpeg_and_too_little_is_said() {
    let fake = Fake::new();
    for limit in [SIZE.surfaces * 2 + (1 << 20), 8 << 20, LIMIT] {
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
        assert_eq!((gpu.page_locked(), gpu.account().used()), (0, 0));
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
    fake.set(Knob::Memory, fake.count(Count::DeviceBytes) + (1 << 16));
    ceiling(&gpu, &files, 3, 5, Duration::ZERO).expect_err("states that cannot be set up hold nobody up");
    assert!(ceiling(&gpu, &files[6..], 2, 5, Duration::ZERO).unwrap() <= 0.0, "there is nothing to decode");
}
