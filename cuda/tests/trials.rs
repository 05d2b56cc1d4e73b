//! The tests of lanes that run on a GPU itself: here on the fake, and on this machine's GPUs where it has any. With `GPU_REQUIRED=1` a
//! machine without one fails.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_cuda::NvjpegPlaces;
use forebay_cuda::lane::LaneKind;
use forebay_cuda::lane::gpu::Gpu;
use forebay_cuda::lane::recycle::recycle;
use forebay_cuda::lane::trial::trials;
use forebay_cuda::survey::Places;
use forebay_fake_gpu::{Fake, Knob};

const LIMIT: usize = 512 << 20;
/// The copies of the fake need not be long.
const COPY: usize = 1 << 20;

fn gpu(fake: &Fake) -> Gpu {
    let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
    Gpu::open_all(&Places { driver: Some(fake.path()), nvjpeg }, LIMIT).unwrap().pop().unwrap().unwrap()
}

#[test]
fn every_trial_passes_on_this_machines_gpus() {
    let places = Places { driver: None, nvjpeg: NvjpegPlaces::of_this_machine(None) };
    let required = std::env::var("GPU_REQUIRED").is_ok_and(|value| value == "1");
    let gpus = match Gpu::open_all(&places, LIMIT) {
        Ok(gpus) => gpus,
        Err(error) => {
            assert!(!required, "a GPU is required: {error}");
            println!("skipped: {error}");
            return;
        }
    };
    let gpus: Vec<_> = gpus.into_iter().map(Result::unwrap).collect();
    for (gpu, kind) in gpus.iter().flat_map(|gpu| LaneKind::GPU.map(|kind| (gpu, kind))) {
        if let Some(error) = gpu.lacks(kind) {
            assert!(!required, "GPU {} {kind}: {error}", gpu.ordinal());
            println!("skipped: GPU {} {kind}: {error}", gpu.ordinal());
            continue;
        }
        for trial in trials(gpu, kind, 128 << 20) {
            println!("GPU {} {kind}: {}: {:?}", gpu.ordinal(), trial.name, trial.outcome);
            assert!(trial.outcome.is_ok());
        }
    }
}

#[test]
fn a_good_gpu_passes_every_trial() {
    let fake = Fake::new();
    let gpu = gpu(&fake);
    for kind in LaneKind::GPU {
        let outcomes = trials(&gpu, kind, COPY);
        assert!(outcomes.iter().all(|trial| trial.outcome.is_ok()), "{outcomes:?}");
        let engines = matches!(kind, LaneKind::Hardware | LaneKind::HardwareSingle);
        assert_eq!(outcomes.len(), if engines { 4 } else { 3 });
    }
}

#[test]
fn a_wrong_gpu_fails_what_looks_at_pixels() {
    let fake = Fake::new();
    let gpu = gpu(&fake);
    fake.set(Knob::Wrong, 1);
    for kind in [LaneKind::Hardware, LaneKind::Hybrid] {
        let outcomes = trials(&gpu, kind, COPY);
        let failed = outcomes.into_iter().filter(|trial| trial.outcome.is_err()).map(|trial| trial.name);
        assert_eq!(failed.collect::<Vec<_>>(), ["known pictures", "bad pictures among good ones"]);
    }
}

#[test]
fn without_the_wait_only_hardware_that_keeps_its_order_is_right_and_with_it_all_hardware_is() {
    let fake = Fake::new();
    let gpu = gpu(&fake);
    for kind in [LaneKind::Hardware, LaneKind::HardwareSingle] {
        fake.set(Knob::IgnoreOrder, 0);
        let orderly = recycle(&gpu, kind, 20, 8 << 20).unwrap();
        assert_eq!((orderly.wrong, orderly.without_wait), (0, 0));
        fake.set(Knob::IgnoreOrder, 1);
        fake.set(Knob::LateCopies, 1);
        let hopper = recycle(&gpu, kind, 20, 8 << 20).unwrap();
        assert_eq!((hopper.wrong, hopper.without_wait), (0, 20));
        fake.set(Knob::LateCopies, 0);
    }
}
