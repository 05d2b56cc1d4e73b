//! Opening libcuda and libnvjpeg: the fake ones through the same code, and real ones of several versions where there are any.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::path::PathBuf;

use forebay_cuda::lane::{LaneError, LaneKind};
use forebay_cuda::survey::{Places, hold, survey};
use forebay_cuda::{
    Account, Backend, Context, Driver, DriverError, Handle, Nvjpeg, NvjpegError, NvjpegOpenError, NvjpegPlaces,
    OpenError,
};
use forebay_fake_gpu::{Count, Fake, Knob};

fn places(fake: &Fake) -> Places {
    Places { driver: Some(fake.path()), nvjpeg: nvjpeg(fake.path()) }
}

fn nvjpeg(file: PathBuf) -> NvjpegPlaces {
    NvjpegPlaces { file: Some(file), packages: Vec::new() }
}

#[test]
fn a_machine_without_a_driver_is_told_what_that_costs_and_what_helps() {
    let places = Places { driver: Some("/nowhere/libcuda.so.1".into()), nvjpeg: nvjpeg("/nowhere/x.so".into()) };
    let survey = survey(&places);
    let error = survey.driver.as_ref().unwrap_err().to_string();
    assert!(error.contains("libcuda.so.1") && error.contains("/nowhere"), "{error}");
    assert_eq!(survey.gpus, Ok(Vec::new()));
    let lacks = survey.lacks();
    assert_eq!(lacks.len(), 2, "the driver and nvJPEG: {lacks:?}");
    assert!(lacks[0].remedy.contains("driver") && lacks[1].remedy.contains("nvjpeg"));
}

#[test]
fn gpus_that_are_held_stay_in_use_while_they_are_looked_at_and_none_is_without_a_driver() {
    let fake = Fake::new();
    fake.set(Knob::Gpus, 3);
    fake.set(Knob::DeadGpu, 2);
    let held = hold(&places(&fake));
    assert_eq!((held.len(), fake.count(Count::Contexts)), (2, 2));
    survey(&places(&fake));
    assert_eq!(fake.count(Count::Contexts), 2);
    drop(held);
    assert_eq!(fake.count(Count::Contexts), 0);
    let nowhere = Places { driver: Some("/nowhere/libcuda.so.1".into()), nvjpeg: nvjpeg("/nowhere/x.so".into()) };
    assert!(hold(&nowhere).is_empty());
}

#[test]
fn a_driver_without_a_gpu_is_an_error_and_no_crash() {
    let fake = Fake::new();
    fake.set(Knob::Gpus, 0);
    let Err(DriverError::Cuda(error)) = Driver::open(Some(&fake.path())) else { panic!("it started") };
    assert_eq!(error.to_string(), "cuInit failed with CUDA_ERROR_NO_DEVICE (100)");
}

#[test]
fn a_gpu_is_shown_with_its_engines_and_everything_is_given_back() {
    let fake = Fake::new();
    fake.set(Knob::Gpus, 2);
    fake.set(Knob::Engines, 7);
    let found = survey(&places(&fake));
    let found_gpus = found.gpus.unwrap();
    let gpus: Vec<_> = found_gpus.iter().map(|gpu| (gpu.device.ordinal, gpu.engines.clone())).collect();
    assert_eq!(gpus, [(0, Ok((7, 1))), (1, Ok((7, 1)))]);
    assert_eq!(found_gpus[0].device.capability, (9, 0));
    assert_eq!(found.driver.unwrap().cuda, (13, 0));
    assert_eq!(found.nvjpeg.unwrap().version, (12, 3, 0));
    for count in [Count::Contexts, Count::Objects, Count::DeviceBytes] {
        assert_eq!(fake.count(count), 0, "{count:?}");
    }
}

#[test]
fn a_gpu_without_engines_says_why_and_keeps_the_hybrid_lane() {
    let fake = Fake::new();
    fake.set(Knob::Engines, 0);
    let found = survey(&places(&fake));
    let gpu = &found.gpus.as_ref().unwrap()[0];
    let error = gpu.engines.clone().unwrap_err().to_string();
    assert_eq!(error, "nvjpegCreateExV2 answered architecture mismatch (7)");
    assert_eq!(gpu.decoders.last(), Some(&(LaneKind::Hybrid, Ok(()))));
    let lacks = found.lacks();
    assert!(
        lacks.iter().any(|lack| lack.cost == "no hardware lane on this GPU" && lack.remedy.contains("A100")),
        "{lacks:?}"
    );
}

/// A cause, words of what it costs, and words of what helps, for each thing that may be missing.
#[test]
fn each_cause_has_its_own_cost_and_its_own_remedy() {
    let cases = [
        (Knob::Gpus, 0, "CUDA_ERROR_NO_DEVICE", "no GPU is used", "CUDA_VISIBLE_DEVICES"),
        (Knob::NoCount, 1, "does not tell of its GPUs", "no GPU is used", "nvidia-smi"),
        (Knob::DeadGpu, 1, "cannot be taken into use", "no ring can be in it", "compute mode"),
        (Knob::OldDriver, 1, "does not take our kernel", "no lane decodes on this GPU", "550"),
        (Knob::Unstarted, 7, "starts no decoder", "no lane decodes on this GPU", "is free"),
        (Knob::Unstarted, 1, "has no hybrid lane", "no hybrid lane on this GPU", "is free"),
    ];
    for (knob, value, what, cost, remedy) in cases {
        let fake = Fake::new();
        fake.set(knob, value);
        let lacks = survey(&places(&fake)).lacks();
        // The video library is not looked for beside a driver that is named, and no lack of it is told.
        let [lack] = lacks.as_slice() else { panic!("{what}: {lacks:?}") };
        assert!(lack.what.contains(what) && lack.cost.contains(cost) && lack.remedy.contains(remedy), "{lack:?}");
    }
}

#[test]
fn an_nvjpeg_of_a_later_cuda_than_the_drivers_is_told_as_that_where_it_does_not_start() {
    let fake = Fake::new();
    fake.set(Knob::Version, 14_000);
    fake.set(Knob::Unstarted, 7);
    let lacks = survey(&places(&fake)).lacks();
    assert!(lacks.last().unwrap().remedy.contains("later CUDA than the driver"), "{lacks:?}");
}

#[test]
fn an_nvjpeg_that_loses_memory_is_refused_by_its_version() {
    let fake = Fake::new();
    fake.set(Knob::Version, 11_005);
    let error = Nvjpeg::open(&nvjpeg(fake.path())).unwrap_err();
    assert!(matches!(error, NvjpegOpenError::TooOld { version: (11, 5), .. }), "{error}");
    fake.set(Knob::Version, 11_006);
    assert_eq!(Nvjpeg::open(&nvjpeg(fake.path())).unwrap().version(), (11, 6, 0));
}

#[test]
fn another_library_under_the_name_is_told_by_the_function_that_it_lacks() {
    let other = if cfg!(target_env = "gnu") { "libm.so.6" } else { "libc.so" };
    let error = Nvjpeg::open(&nvjpeg(other.into())).unwrap_err();
    let NvjpegOpenError::Open(OpenError::Symbol { symbol, path }) = error else { panic!("{error}") };
    assert_eq!(symbol, "nvjpegGetProperty");
    assert!(path.is_absolute(), "the file that the loader found: {}", path.display());
}

/// Real libraries, which `FOREBAY_NVJPEG_FILES` lists, by colons.
fn real_libraries() -> Vec<PathBuf> {
    let files = std::env::var_os("FOREBAY_NVJPEG_FILES").unwrap_or_default();
    std::env::split_paths(&files).filter(|file| !file.as_os_str().is_empty()).collect()
}

/// Real libraries need no GPU to be opened and asked for their version.
#[test]
fn real_libraries_have_every_function_and_say_their_version() {
    let files = real_libraries();
    if files.is_empty() {
        println!("skipped: FOREBAY_NVJPEG_FILES names no library");
    }
    for file in files {
        let nvjpeg = Nvjpeg::open(&nvjpeg(file.clone())).unwrap();
        let (major, minor, patch) = nvjpeg.version();
        println!("{}: {major}.{minor}.{patch}", file.display());
        assert!(file.to_str().unwrap().ends_with(&format!(".{major}")), "its name has its major version");
    }
}

/// They look at what they are given before they look for a GPU: what is wrong with it shows on a machine without one.
#[test]
fn real_libraries_take_what_a_handle_is_made_with_and_miss_the_gpu_alone() {
    let files = real_libraries();
    if files.is_empty() || Driver::open(None).is_ok() {
        println!(
            "skipped: FOREBAY_NVJPEG_FILES names no library, or this machine has a GPU, whose own tests show more"
        );
        return;
    }
    let fake = Fake::new();
    let context = Context::new(&Driver::open(Some(&fake.path())).unwrap(), 0).unwrap();
    for file in files {
        let nvjpeg = Nvjpeg::open(&nvjpeg(file.clone())).unwrap();
        for backend in [Backend::Hybrid, Backend::GpuHybrid, Backend::Hardware] {
            let error = Handle::new(&nvjpeg, &context, &Account::new(&context, 1 << 20), backend).unwrap_err();
            let LaneError::Nvjpeg(NvjpegError { status, .. }) = error else { panic!("{error}") };
            assert_eq!(status, 6, "{}, {backend:?}: 2 is for what it is given", file.display());
        }
    }
}
