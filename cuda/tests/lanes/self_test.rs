//! The self-test lets good lanes in.

use forebay_cuda::lane::self_test::{Passed, SelfTestError, self_test};
use forebay_cuda::lane::size::LaneSize;
use forebay_cuda::lane::worker::Worker;
use forebay_cuda::lane::{LaneKind, Refusal};
use forebay_fake_gpu::{Count, Fake, Knob};

use crate::{LIMIT, SIZE, gpu, worker};

/// nvJPEG does Huffman coding on the GPU in batches of more than 50 pictures only.
#[test]
fn the_self_test_of_the_lane_that_does_all_on_the_gpu_has_batches_that_are_decoded_so() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let size = LaneSize { surfaces: 8 << 20, ..SIZE };
    let mut worker = Worker::all(&gpu, LaneKind::GpuHuffman, size).unwrap().pop().unwrap();
    assert_eq!(self_test(&mut worker), Ok(Passed::default()));
    assert!(fake.count(Count::LargestBatch) > 50, "{}", fake.count(Count::LargestBatch));
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

#[test]
fn the_self_test_has_progressive_pictures_for_the_lane_that_takes_them() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    // Only they have this width.
    fake.set(Knob::FailWidth, 117);
    for kind in LaneKind::GPU {
        let refused = self_test(&mut worker(&gpu, kind)).unwrap().refused;
        assert_eq!(refused.len(), if kind == LaneKind::Hybrid { 4 } else { 0 }, "two, whole and in part: {refused:?}");
        assert!(refused.iter().all(|text| text.contains("progressive")), "{refused:?}");
    }
}

/// Short batches take memory, or another way, that whole ones do not.
#[test]
fn the_self_test_has_short_batches_as_well() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let mut worker =
        Worker::all(&gpu, LaneKind::Hardware, LaneSize { surfaces: 8 << 20, ..SIZE }).unwrap().pop().unwrap();
    self_test(&mut worker).unwrap();
    assert_eq!(fake.count(Count::Batches), 2 + 5, "two whole rounds, and one of thirty pictures in sevens");
}

/// A lane with less would be switched off as one that refuses what it has to decode, which is no word of the memory.
#[test]
fn memory_that_is_not_enough_for_what_the_self_test_asks_for_is_told_as_too_low_a_limit() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    for (kind, surfaces) in [(LaneKind::Hardware, 4), (LaneKind::HardwareSingle, 2)] {
        let least = 4 * 128 * 128 * surfaces;
        let size = LaneSize { engines: least, ..SIZE };
        self_test(&mut Worker::all(&gpu, kind, size).unwrap().pop().unwrap()).unwrap();
        let error = Worker::all(&gpu, kind, LaneSize { engines: least - 1, ..SIZE }).unwrap_err();
        assert!(error.to_string().contains("raise decode.gpu_memory_limit"), "{error}");
    }
}
