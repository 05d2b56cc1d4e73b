//! What a ring's memory is to others: of a fixed length, read-only for everybody, and only of this daemon.
#![allow(unsafe_code, reason = "tries the mappings that must be refused")]

use std::{
    fs::{File, OpenOptions},
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd},
        unix::fs::{FileExt, MetadataExt},
    },
};

use forebay_ring::{Dtype, Geometry, Header, Layout, Region, Shape, View, ViewError};
use proptest::prelude::*;
use rustix::{
    fs::{MemfdFlags, SealFlags},
    mm::{MapFlags, ProtFlags},
};

fn geometry(slots: u32) -> Geometry {
    let shape = Shape { batch: 3, height: 4, width: 4, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
    Geometry::try_new(shape, slots).expect("a small shape")
}

fn region() -> Region {
    Region::create(geometry(3), 0xABCD, 1).expect("a small ring")
}

/// A memory file as a hostile daemon might pass it.
fn forged(header: &[u8], len: u64, seals: SealFlags) -> File {
    let memory = rustix::fs::memfd_create("forged", MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC);
    let file = File::from(memory.expect("memfd_create"));
    file.write_all_at(header, 0).expect("a header's bytes");
    file.set_len(len).expect("a length");
    rustix::fs::fcntl_add_seals(&file, seals).expect("seals");
    file
}

fn map_writable(fd: BorrowedFd<'_>) -> rustix::io::Result<()> {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no other memory; it is expected to fail.
    unsafe { rustix::mm::mmap(std::ptr::null_mut(), 4096, protection, MapFlags::SHARED, fd, 0) }.map(drop)
}

const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::FUTURE_WRITE).union(SealFlags::SEAL);

#[test]
fn rule_25_nobody_can_write_shrink_or_grow_a_ring_that_was_passed() {
    let region = region();
    let passed = region.share().unwrap();
    assert!(map_writable(passed.as_fd()).is_err());
    let path = format!("/proc/self/fd/{}", passed.as_raw_fd());
    let reopened = OpenOptions::new().read(true).write(true).open(path);
    match reopened {
        // Root, and the daemon's own user where the mode allows it, get a writable descriptor: the seals hold.
        Ok(file) => {
            assert!(map_writable(file.as_fd()).is_err());
            assert!(file.write_at(b"x", 0).is_err());
            assert!(file.set_len(0).is_err());
            assert!(file.set_len(1 << 40).is_err());
        }
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
    }
    assert!(rustix::fs::fcntl_add_seals(&passed, SealFlags::WRITE).is_err(), "the seals are sealed");
    let mut slot = region.slot(0).unwrap();
    slot.place_mut(0).fill(5);
    drop(slot);
    assert_eq!(View::map(passed, 0xABCD, 1).unwrap().images(0)[0], 5, "the daemon itself writes on");
}

#[test]
fn a_ring_has_its_full_length_at_once_and_takes_memory_slot_by_slot() {
    let region = region();
    let file = File::from(region.share().unwrap());
    let used = || file.metadata().unwrap().blocks() * 512;
    assert_eq!(file.metadata().unwrap().len(), geometry(3).total_len() as u64);
    assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o400);
    let header = used();
    assert!(header <= 2 << 20, "{header} bytes for a header: a page, or a huge one");
    let (stride, left) = (geometry(3).stride() as u64, region.unpopulated());
    assert_eq!(left.bytes(), 3 * stride);
    // Its kernel takes every madvise for done, and does most of them not at all.
    if std::env::var_os("QEMU_LD_PREFIX").is_some() {
        return println!("skipped: QEMU makes no memory ready");
    }
    for _ in 0..2 {
        region.populate(0).unwrap();
        assert!((stride..=stride + header).contains(&used()), "{} bytes for a slot of {stride}", used());
        assert_eq!(left.bytes(), 2 * stride);
    }
    drop(region);
    assert_eq!(left.bytes(), 0);
}

#[test]
fn a_ring_of_another_daemon_or_number_is_refused() {
    let region = region();
    assert!(matches!(View::map(region.fd(), 0xABCE, 1), Err(ViewError::Other { .. })));
    let refused = View::map(region.fd(), 0xABCD, 0).unwrap_err();
    assert!(refused.to_string().contains("ring 0 of incarnation abcd"), "{refused}");
}

#[test]
fn memory_that_could_be_pulled_away_is_refused() {
    let header = Header { incarnation: 1, ring: 0, geometry: geometry(1), pinnable: false };
    let len = geometry(1).total_len() as u64;
    for missing in [SealFlags::SHRINK, SealFlags::GROW, SealFlags::FUTURE_WRITE] {
        let seals = SEALS.difference(missing | SealFlags::SEAL);
        let file = forged(&header.encode(), len, seals);
        assert!(matches!(View::map(&file, 1, 0), Err(ViewError::Seals { .. })), "without {missing:?}");
    }
    let plain = tempfile::tempfile().unwrap();
    assert!(View::map(&plain, 1, 0).is_err());
    assert!(View::map(forged(&header.encode(), len, SEALS), 1, 0).is_ok(), "with all of them it is a ring");
}

#[test]
fn memory_of_another_length_than_its_header_says_is_refused() {
    let header = Header { incarnation: 1, ring: 0, geometry: geometry(1), pinnable: false };
    let len = geometry(1).total_len() as u64;
    for found in [len - 1, len + 1, 4096] {
        let refused = View::map(forged(&header.encode(), found, SEALS), 1, 0).unwrap_err();
        assert!(matches!(refused, ViewError::Len { .. }), "{refused}");
    }
    assert!(matches!(View::map(forged(b"", 10, SEALS), 1, 0), Err(ViewError::Header(_))));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Every byte of every tensor of whatever is mapped can be read: no offset leads out of the memory.
    #[test]
    fn a_hostile_header_is_refused_or_harmless(at in 0..Header::LEN, bytes in prop::array::uniform8(any::<u8>())) {
        let header = Header { incarnation: 1, ring: 0, geometry: geometry(1), pinnable: false };
        let mut forged_header = header.encode();
        let end = (at + 8).min(Header::LEN);
        forged_header[at..end].copy_from_slice(&bytes[..end - at]);
        let file = forged(&forged_header, geometry(1).total_len() as u64, SEALS);
        if let Ok(view) = View::map(&file, 1, 0) {
            for slot in 0..view.geometry().slots() {
                let sum: u64 = view.images(slot).iter().map(|byte| u64::from(*byte)).sum();
                prop_assert_eq!(sum, 0);
                prop_assert!(view.claims(slot).iter().all(|claim| claim.len == 0));
            }
        }
    }
}
