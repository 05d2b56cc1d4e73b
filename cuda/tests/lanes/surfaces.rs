//! Surfaces, memory and contexts: used again only when nothing reads them, within the limit, given back.

use forebay_cuda::NvjpegPlaces;
use forebay_cuda::lane::gpu::Gpu;
use forebay_cuda::lane::size::LaneSize;
use forebay_cuda::lane::worker::Worker;
use forebay_cuda::lane::{LaneError, LaneKind, Refusal};
use forebay_cuda::survey::Places;
use forebay_fake_gpu::{Count, Fake, Knob};
use forebay_pixels::sample::{JpegColors, JpegForm, photograph_rgb};

use crate::{LIMIT, SIZE, all, gpu, jpeg, photographs, whole, worker};

#[test]
fn hardware_that_ignores_the_order_of_its_stream_does_no_harm() {
    let fake = Fake::new();
    fake.set(Knob::IgnoreOrder, 1);
    let gpu = gpu(&fake, LIMIT);
    let files = photographs(30);
    let expected: Vec<_> = files.iter().map(|file| whole(file)).collect();
    for kind in [LaneKind::Hardware, LaneKind::HardwareSingle] {
        let mut worker = Worker::all(&gpu, kind, LaneSize { surfaces: 100_000, ..SIZE }).unwrap().pop().unwrap();
        let before = fake.count(Count::Pictures);
        for _ in 0..10 {
            for (outcome, expected) in all(&mut worker, &files).into_iter().zip(&expected) {
                assert!(outcome.unwrap() == *expected, "{kind}");
            }
        }
        assert_eq!(fake.count(Count::Pictures) - before, 300, "on the same surfaces again and again");
    }
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

/// The fake GPU reads what the host has decoded when its turn comes, and would read the third picture's instead of the first's.
#[test]
fn a_hybrid_worker_reads_the_second_picture_while_the_gpu_is_at_the_first_and_not_the_third() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let mut worker = worker(&gpu, LaneKind::Hybrid);
    let files = photographs(4);
    let refs: Vec<_> = files.iter().map(Vec::as_slice).collect();
    fake.set(Knob::HoldAfter, 1);
    let (decodes, waits) = (fake.count(Count::HostDecodes), fake.count(Count::Waits));
    let decoded = std::thread::scope(|scope| {
        let decoding = scope.spawn(|| worker.whole(&refs).unwrap());
        while fake.count(Count::Waits) == waits {
            std::thread::yield_now();
        }
        assert_eq!(fake.count(Count::HostDecodes) - decodes, 2, "two are decoded when it waits at first");
        fake.set(Knob::HoldAfter, 0);
        decoding.join().unwrap()
    });
    let expected: Vec<_> = files.iter().map(|file| whole(file)).collect();
    let decoded: Vec<_> = decoded.into_iter().map(|picture| picture.unwrap().rgb).collect();
    assert!(decoded == expected);
    assert_eq!(fake.count(Count::Waits) - waits, 3, "for the first, for the second, and for all of them");
}

/// A surface is used again and again. What an engine passes over must not show what was there before.
#[test]
fn a_picture_that_an_engine_passes_over_goes_to_the_next_lane_and_never_shows_another_one() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let forms = [[2, 2], [1, 1]].map(|sampling| JpegForm { sampling, ..JpegForm::default() });
    // From the narrowest picture on: with a part of the pattern, with one word of it, and with more than are looked at.
    for width in [1, 3, 4, 7, 31, 64, 333] {
        let files: Vec<_> = (1..).zip(forms).map(|(number, form)| jpeg(number, width, 40, form)).collect();
        let all_of = |worker: &mut Worker| all(worker, &files);
        for kind in LaneKind::GPU {
            let mut worker = worker(&gpu, kind);
            for round in 0..3 {
                let decoded = all_of(&mut worker);
                assert!(
                    decoded.iter().zip(&files).all(|(made, file)| made.as_ref() == Ok(&whole(file))),
                    "{kind}, {round}"
                );
                fake.set(Knob::SkipWidth, width.into());
                assert_eq!(
                    all_of(&mut worker),
                    [Err(Refusal::NotWritten), Err(Refusal::NotWritten)],
                    "{kind}, {width}"
                );
                fake.set(Knob::SkipWidth, 0);
            }
        }
    }
}

/// An A100 has one engine with five cores, an H100 seven with one.
#[test]
fn every_core_of_the_engines_has_a_picture_to_decode() {
    let fake = Fake::new();
    for (engines, cores, workers, group) in [(1, 5, 5, 10), (7, 1, 7, 14), (1, 0, 1, 2), (8, 4, 16, 64)] {
        fake.set(Knob::Engines, engines);
        fake.set(Knob::EngineCores, cores);
        let gpu = gpu(&fake, LIMIT);
        assert_eq!(LaneSize::of(LaneKind::HardwareSingle, &gpu, LIMIT).unwrap().workers, workers);
        assert_eq!(worker(&gpu, LaneKind::Hardware).group(), group);
    }
}

/// The fake writes colours of gray pictures wherever it is given room for them.
#[test]
fn gray_pictures_harm_none_of_their_neighbours() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let gray = |index| {
        let form = JpegForm { colors: JpegColors::Gray, ..JpegForm::default() };
        let pixels: Vec<u8> = photograph_rgb(index, 97, 41).into_iter().step_by(3).collect();
        form.encode(&pixels, 97, 41).unwrap()
    };
    let files = [gray(1), jpeg(2, 97, 41, JpegForm::default()), gray(3), gray(4)];
    let expected: Vec<_> = files.iter().map(|file| Ok(whole(file))).collect();
    for kind in LaneKind::GPU {
        let mut worker = worker(&gpu, kind);
        for _ in 0..3 {
            assert!(all(&mut worker, &files) == expected, "{kind}");
        }
    }
}

/// The surfaces of a group that failed hold its pictures, until the next one is decoded into them.
#[test]
fn what_a_group_left_that_failed_is_not_shown_either() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let files: Vec<_> = (1..3).map(|number| jpeg(number, 333, 40, JpegForm::default())).collect();
    for kind in LaneKind::GPU {
        let mut worker = worker(&gpu, kind);
        fake.set(Knob::FailReads, 1);
        assert!(worker.whole(&[&files[0]]).is_err(), "{kind}");
        fake.set(Knob::SkipWidth, 333);
        assert_eq!(all(&mut worker, &files[1..]), [Err(Refusal::NotWritten)], "{kind}");
        fake.set(Knob::SkipWidth, 0);
        assert_eq!(all(&mut worker, &files[1..]), [Ok(whole(&files[1]))], "{kind}");
    }
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
    for limit in [SIZE.surfaces * 2 + SIZE.engines + (1 << 20), 64 << 20, LIMIT] {
        let gpu = gpu(&fake, limit);
        let mut worker = worker(&gpu, LaneKind::Hardware);
        assert!(all(&mut worker, &photographs(20)).iter().all(Result::is_ok));
        let peak = gpu.account().peak();
        assert!(peak <= limit && peak >= SIZE.surfaces, "{peak} of {limit}");
        let (taken, counted) = (fake.count(Count::DeviceBytes), i64::try_from(gpu.account().used()).unwrap());
        assert!((0..=counted).contains(&taken), "{taken} bytes are taken, {counted} are accounted");
    }
    let error = Worker::all(&gpu(&fake, 1 << 20), LaneKind::Hardware, SIZE).unwrap_err();
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
        let mut round = || workers.iter_mut().for_each(|worker| drop(all(worker, &files)));
        // nvJPEG's own memory has grown to what the largest pictures need.
        round();
        let before = [Count::Allocations, Count::HostPieces, Count::Objects].map(|count| fake.count(count));
        (0..5).for_each(|_| round());
        let after = [Count::Allocations, Count::HostPieces, Count::Objects].map(|count| fake.count(count));
        assert_eq!(before, after);
        fake.set(Knob::Memory, 1);
        Worker::all(&gpu, LaneKind::Hybrid, LaneSize { workers: 2, ..SIZE }).unwrap_err();
        let locked = gpu.page_locked() + gpu.account().lockable();
        assert_eq!(locked, LaneKind::GPU.iter().map(|kind| SIZE.page_locked(*kind)).sum::<usize>());
        drop(workers);
        assert_eq!((gpu.page_locked(), gpu.account().lockable(), gpu.account().used()), (0, 0, 0));
    }
    for count in [Count::Contexts, Count::DeviceBytes, Count::HostPieces, Count::Streams, Count::Events, Count::Objects]
    {
        assert_eq!(fake.count(count), 0, "{count:?}");
    }
}

/// The engines' memory is as wide as the widest picture and as high as the highest, and nvJPEG's allocator has no part in it.
#[test]
fn the_engines_memory_is_counted_and_a_picture_for_which_it_would_be_more_goes_to_the_next_lane() {
    let fake = Fake::new();
    fake.set(Knob::Engines, 7);
    let plain = JpegForm { sampling: [1, 1], ..JpegForm::default() };
    let sizes = [(900, 40), (40, 900), (300, 200), (960, 40), (40, 960)];
    let files: Vec<_> = sizes.iter().map(|(width, height)| jpeg(1, *width, *height, plain)).collect();
    for kind in [LaneKind::Hardware, LaneKind::HardwareSingle] {
        let gpu = gpu(&fake, LIMIT);
        let engines = if kind == LaneKind::Hardware { SIZE.engines } else { SIZE.engines / 7 };
        let mut worker = Worker::all(&gpu, kind, LaneSize { engines, ..SIZE }).unwrap().pop().unwrap();
        let refusals: Vec<_> = all(&mut worker, &files).into_iter().map(Result::err).collect();
        let too_large = Some(Refusal::TooLarge);
        assert_eq!(refusals, [None, None, None, too_large, too_large], "{kind}: 947 pixels are the most");
        let (taken, counted) = (fake.count(Count::DeviceBytes), i64::try_from(gpu.account().used()).unwrap());
        assert!((0..=counted).contains(&taken), "{kind}: {taken} bytes are taken, {counted} are accounted");
    }
}

/// Whatever the surfaces of a worker hold, alone or with others, nvJPEG gets memory for, whatever other workers do meanwhile.
#[test]
fn rule_31_nvjpegs_memory_of_the_host_and_of_the_gpu_grows_with_the_pictures_within_what_the_lane_may_take() {
    let fake = Fake::new();
    for kind in LaneKind::GPU {
        let gpu = gpu(&fake, LIMIT);
        let size = LaneSize::within(LIMIT, kind, 2, 2 << 20).unwrap();
        let mut workers = Worker::all(&gpu, kind, size).unwrap();
        let may_lock = size.page_locked(kind);
        let at_first = gpu.page_locked();
        for worker in &mut workers {
            let files =
                [jpeg(1, 800, 800, JpegForm { sampling: [1, 1], ..JpegForm::default() }), photographs(1).remove(0)];
            assert!(all(worker, &files).iter().all(Result::is_ok), "{kind}");
        }
        let hybrid = if kind == LaneKind::Hybrid { 2 * 2 * 3 * 800 * 800 } else { 0 };
        assert!(gpu.page_locked() >= at_first + hybrid && gpu.page_locked() <= may_lock, "{kind}");
        assert_eq!(gpu.page_locked() + gpu.account().lockable(), may_lock, "{kind}");
        assert!(gpu.account().peak() <= LIMIT, "{kind}");
    }
}

#[test]
fn a_picture_for_which_nvjpeg_gets_no_memory_is_left_to_the_next_lane_and_the_others_are_decoded() {
    let fake = Fake::new();
    let files = [jpeg(1, 40, 30, JpegForm::default()), jpeg(2, 700, 700, JpegForm::default())];
    for kind in [LaneKind::GpuHuffman, LaneKind::Hybrid] {
        // Surfaces, results and tables, and a megabyte, where the second picture takes two.
        let gpu = gpu(&fake, 2 * SIZE.surfaces + SIZE.surfaces / 8 + (1 << 20));
        let outcomes = all(&mut worker(&gpu, kind), &files);
        assert_eq!(outcomes[0].as_ref().unwrap(), &whole(&files[0]), "{kind}");
        assert_eq!(outcomes[1], Err(Refusal::Memory), "{kind}");
    }
}

/// nvJPEG's answer to a missing allocator of either kind is "invalid parameter", though its header says that null is CUDA's own.
#[test]
fn every_backend_is_started_with_allocators_of_both_kinds() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    assert!(LaneKind::GPU.iter().all(|kind| gpu.lacks(*kind).is_none()));
}
