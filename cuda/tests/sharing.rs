//! Memory that crosses between processes, on the fake: made and given back whole, seen through its descriptor, and refused by name.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::ptr::NonNull;
use std::sync::Arc;

use forebay_cuda::{Context, Driver, Registered, ShareError, SharedMemory, Stream};
use forebay_fake_gpu::{Count, Fake, Knob};

const PIECE: usize = 2 << 20;

fn context(fake: &Fake) -> Arc<Context> {
    Context::new(&Driver::open(Some(&fake.path())).unwrap(), 0).unwrap()
}

/// Everything that is made is given back.
#[track_caller]
fn nothing_is_left(fake: &Fake) {
    for count in [
        Count::Contexts,
        Count::DeviceBytes,
        Count::Registered,
        Count::SharedHandles,
        Count::SharedRanges,
        Count::SharedMaps,
        Count::Streams,
        Count::Events,
    ] {
        assert_eq!(fake.count(count), 0, "{count:?}");
    }
}

#[test]
fn what_is_written_is_seen_through_the_descriptor_also_when_the_writer_has_gone() {
    let fake = Fake::new();
    let file = {
        let context = context(&fake);
        let memory = SharedMemory::new(&context, PIECE + 1).unwrap();
        assert_eq!(memory.len(), 2 * PIECE, "whole pieces");
        let mut stream = Stream::new(&context).unwrap();
        stream.write(&[(&[7], PIECE), (&[8, 9], PIECE + 1), (&[], 2 * PIECE)], &memory).unwrap();
        assert_eq!(fake.count(Count::Waits), 1, "for all of them");
        fake.set(Knob::FailUploads, 1);
        let error = stream.write(&[(&[1], PIECE), (&[2], PIECE)], &memory).unwrap_err();
        assert!(error.is_out_of_memory() && !error.is_fault(), "{error}");
        assert_eq!(fake.count(Count::Waits), 2, "also for those before one that fails");
        File::from(memory.fd().try_clone().unwrap())
    };
    nothing_is_left(&fake);
    let mut seen = [0; 4];
    file.read_exact_at(&mut seen, PIECE as u64).unwrap();
    assert_eq!(seen, [7, 8, 9, 0]);
}

#[test]
#[should_panic(expected = "the copy lies in the memory")]
fn a_copy_beyond_the_memory_is_not_made() {
    let fake = Fake::new();
    let context = context(&fake);
    let memory = SharedMemory::new(&context, PIECE).unwrap();
    let _written = Stream::new(&context).unwrap().write(&[(&[0; 2], PIECE - 1)], &memory);
}

#[test]
fn memory_that_the_gpu_does_not_have_is_refused_and_leaves_nothing_behind() {
    let fake = Fake::new();
    let context = context(&fake);
    fake.set(Knob::Memory, 3 << 20);
    let error = SharedMemory::new(&context, 2 * PIECE).unwrap_err();
    assert_eq!(error.to_string(), "cuMemCreate failed with CUDA_ERROR_OUT_OF_MEMORY (2)");
    fake.set(Knob::NoDescriptors, 1);
    let error = SharedMemory::new(&context, PIECE).unwrap_err();
    assert_eq!(error.to_string(), "cuMemExportToShareableHandle failed with CUDA_ERROR_NOT_SUPPORTED (801)");
    drop(context);
    nothing_is_left(&fake);
}

#[test]
fn a_gpu_says_what_it_has_for_shared_memory_and_which_one_it_is() {
    let fake = Fake::new();
    fake.set(Knob::Gpus, 2);
    let driver = Driver::open(Some(&fake.path())).unwrap();
    let [first, second] = [0, 1].map(|ordinal| driver.shareable(ordinal).unwrap());
    assert_ne!(first.uuid, second.uuid);
    assert!(first.virtual_memory && first.descriptors && !first.part && !first.alone);
    for knob in [Knob::NoVirtualMemory, Knob::NoDescriptors, Knob::Part, Knob::ComputeMode] {
        fake.set(knob, 1);
    }
    let lacking = driver.shareable(0).unwrap();
    assert!(!lacking.virtual_memory && !lacking.descriptors && lacking.part && lacking.alone);
    assert!(matches!(driver.shareable(2), Err(ShareError::Cuda(error)) if error.code == 101));
}

#[test]
fn page_locked_memory_is_unlocked_before_its_owner_goes() {
    let fake = Fake::new();
    let context = context(&fake);
    let owner = Arc::new(vec![0_u8; 5000]);
    let at = NonNull::from(owner.as_slice()).cast();
    let locked = Registered::new(&context, at, 5000, Arc::clone(&owner)).unwrap();
    assert_eq!((locked.len(), fake.count(Count::Registered), Arc::strong_count(&owner)), (5000, 1, 2));
    let again = Registered::new(&context, at, 5000, ()).unwrap_err();
    assert!(again.to_string().starts_with("cuMemHostRegister failed"), "{again}");
    drop(locked);
    assert_eq!(Arc::strong_count(&owner), 1);
    let empty = Registered::new(&context, at, 0, ()).unwrap();
    assert!(empty.is_empty(), "the driver takes no range without bytes; there is nothing to lock");
    fake.set(Knob::NoRegister, 1);
    let refused = Registered::new(&context, at, 5000, ()).unwrap_err();
    assert!(matches!(refused, ShareError::Cuda(error) if error.code == 801));
    drop((empty, context));
    nothing_is_left(&fake);
}
