//! Pinnable rings: trainers can make them writable for as long as a driver locks their pages, and no longer.
#![allow(unsafe_code, reason = "writes where it must be a signal, and tries mappings that must be refused")]

use std::{
    fs::File,
    os::{
        fd::AsFd,
        unix::{fs::FileExt, process::ExitStatusExt},
    },
    panic::{AssertUnwindSafe, catch_unwind},
    process::{Command, Stdio},
};

use forebay_ring::{Backing, Dtype, Geometry, Header, Layout, Region, Shape, View, ViewError};
use rustix::{
    fs::{MemfdFlags, SealFlags},
    mm::{MapFlags, ProtFlags},
};

const FIXED: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);
/// Says to a child of this test binary that it is one.
const CHILD: &str = "FOREBAY_RING_TEST_WRITES";

fn geometry() -> Geometry {
    let shape = Shape { batch: 3, height: 4, width: 4, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
    Geometry::try_new(shape, 2).expect("a small shape")
}

/// A pinnable ring whose first picture is all fives, and a trainer's view of it.
fn pinnable() -> (Region, View) {
    let region =
        Region::backed(geometry(), 7, 0, Backing { pinnable: true, ..Backing::default() }).expect("a small ring");
    region.populate(0).expect("memory for a slot");
    region.slot(0).expect("a free slot").place_mut(0).fill(5);
    let view = View::map(region.share().expect("a descriptor"), 7, 0).expect("a ring");
    (region, view)
}

/// What this process may do with its slots, as the kernel tells: `rw-s` or `r--s`.
fn access(view: &View) -> String {
    let slots = view.locate().cast::<u8>().addr().get();
    let maps = std::fs::read_to_string("/proc/self/maps").expect("this process's mappings");
    let covers = |line: &&str| {
        let (start, end) = line.split_once(' ').and_then(|(range, _)| range.split_once('-')).expect("a range");
        let at = |hex| usize::from_str_radix(hex, 16).expect("an address");
        (at(start)..at(end)).contains(&slots)
    };
    let line = maps.lines().find(covers).expect("the ring is mapped");
    line.split(' ').nth(1).expect("what may be done").to_owned()
}

#[test]
fn a_pinnable_ring_keeps_its_length_and_takes_no_further_seals() {
    let (region, view) = pinnable();
    let passed = File::from(region.share().unwrap());
    let seals = rustix::fs::fcntl_get_seals(&passed).unwrap();
    assert!(seals.contains(FIXED) && !seals.intersects(SealFlags::WRITE | SealFlags::FUTURE_WRITE), "{seals:?}");
    assert!(passed.set_len(0).is_err());
    assert!(passed.set_len(1 << 40).is_err());
    assert!(rustix::fs::fcntl_add_seals(&passed, SealFlags::FUTURE_WRITE).is_err(), "the seals are sealed");
    assert!(view.is_pinnable());
    assert_eq!(view.images(0)[0], 5);
}

#[test]
fn slots_are_writable_while_their_pages_are_locked_and_read_only_before_and_after() {
    let (region, view) = pinnable();
    assert_eq!(access(&view), "r--s");
    assert_eq!(view.while_writable(|| access(&view)).unwrap(), "rw-s");
    assert_eq!(access(&view), "r--s");
    let panicked = catch_unwind(AssertUnwindSafe(|| view.while_writable(|| panic!("the driver's part"))));
    assert!(panicked.is_err());
    assert_eq!(access(&view), "r--s");
    region.slot(0).unwrap().place_mut(0).fill(6);
    assert_eq!(view.images(0)[0], 6, "it is the same memory as before");
}

#[test]
fn only_one_caller_at_a_time_has_the_slots_writable() {
    let (_region, view) = pinnable();
    let second = view.while_writable(|| view.while_writable(|| ()).unwrap_err()).unwrap();
    assert!(matches!(second, ViewError::Busy { ring: 0 }), "{second}");
    assert_eq!(access(&view), "r--s");
    view.while_writable(|| ()).unwrap();
}

#[test]
fn rule_25_slots_of_a_sealed_ring_are_never_writable() {
    let region = Region::create(geometry(), 7, 0).unwrap();
    let view = View::map(region.share().unwrap(), 7, 0).unwrap();
    assert!(!view.is_pinnable());
    let refused = view.while_writable(|| panic!("it is not called")).unwrap_err();
    assert!(matches!(refused, ViewError::Sealed { ring: 0 }), "{refused}");
}

#[test]
fn rule_25_a_ring_is_writable_only_where_its_seals_and_its_header_both_say_so() {
    let forged = |pinnable, seals| {
        let header = Header { incarnation: 7, ring: 0, geometry: geometry(), pinnable };
        let file = File::from(rustix::fs::memfd_create("forged", MemfdFlags::ALLOW_SEALING).unwrap());
        file.write_all_at(&header.encode(), 0).unwrap();
        file.set_len(geometry().total_len() as u64).unwrap();
        rustix::fs::fcntl_add_seals(&file, seals).unwrap();
        View::map(file, 7, 0)
    };
    let open = forged(false, FIXED).unwrap_err();
    assert!(matches!(open, ViewError::Seals { needed, .. } if needed == FIXED | SealFlags::FUTURE_WRITE), "{open}");
    assert!(matches!(forged(true, SealFlags::SHRINK | SealFlags::SEAL), Err(ViewError::Seals { .. })));
    let closed = forged(true, FIXED | SealFlags::FUTURE_WRITE).unwrap();
    let refused = closed.while_writable(|| panic!("it is not called")).unwrap_err();
    assert!(refused.to_string().starts_with("cannot allow writes to the daemon's ring"), "{refused}");
    assert!(forged(true, FIXED).unwrap().while_writable(|| ()).is_ok());
}

#[test]
fn a_descriptor_of_a_pinnable_ring_can_be_mapped_writable_which_is_why_strangers_get_none() {
    let (region, view) = pinnable();
    let access = ProtFlags::READ | ProtFlags::WRITE;
    let offset = geometry().place(0, 0, None).start as u64;
    // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
    let mapped =
        unsafe { rustix::mm::mmap(std::ptr::null_mut(), 4096, access, MapFlags::SHARED, region.fd().as_fd(), offset) };
    // SAFETY: a page of its own, which no slice of this process is of at the moment.
    unsafe { mapped.unwrap().cast::<u8>().write_volatile(9) };
    assert_eq!(view.images(0)[0], 9);
}

#[test]
fn a_write_after_the_pages_were_locked_is_a_signal() {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "child_that_writes", "--ignored"]).env(CHILD, "yes").stdout(Stdio::null());
    let ended = child.stderr(Stdio::null()).status().unwrap();
    assert_eq!(ended.signal(), Some(libc::SIGSEGV), "{ended}");
}

#[test]
#[ignore = "a process of the test before"]
fn child_that_writes() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let (_region, view) = pinnable();
    let first = view.locate().cast::<u8>().as_ptr();
    // SAFETY: no slice of the slot is alive.
    view.while_writable(|| unsafe { first.write_volatile(1) }).expect("writable for a while");
    // SAFETY: it does not come to a write, or the test before sees that this process ended well.
    unsafe { first.write_volatile(2) };
}
