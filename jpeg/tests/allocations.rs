//! A decoder that has seen its largest picture allocates nothing any more, with seek points or without.
#![allow(unsafe_code, reason = "counts what passes by on the way to the system's allocator")]
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

#[path = "turbo/reference.rs"]
mod reference;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use forebay_jpeg::{Decoder, Header, Path, Region, Sampling, Scale, SeekPoints, Spacing};
use reference::Kind;

thread_local! {
    /// Allocations of this thread.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with a count.
struct Counting;

// SAFETY: everything is the system's allocator's; a count without memory of its own changes nothing of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller keeps what the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Pictures of all samplings and several sizes, with tables of their own and the usual ones, and one that is damaged.
fn pictures() -> Vec<Vec<u8>> {
    let samplings = [Sampling::Gray, Sampling::S444, Sampling::S422, Sampling::S420, Sampling::S440, Sampling::S411];
    let mut pictures = Vec::new();
    for (i, sampling) in (0..).zip(samplings) {
        for (width, height, optimised) in [(300 - i, 200, true), (17, 130 + i, false)] {
            let kind = Kind { sampling, width, height, quality: 85, restart: i % 3 * 4, optimised, noise: 90, seed: 7 };
            pictures.push(kind.encode());
        }
    }
    let mut damaged = pictures[2].clone();
    let half = damaged.len() / 2;
    damaged.truncate(half);
    pictures.push(damaged);
    pictures
}

/// Decodes a picture whole and in part, at every scale, without points and with them, and gives how many of these came out.
fn decode(decoder: &mut Decoder, points: &mut SeekPoints, bytes: &[u8], rgb: &mut [u8]) -> usize {
    let header = Header::read(bytes).unwrap();
    let mut good = 0;
    for scale in Scale::ALL {
        let (width, height) = (scale.side(header.width), scale.side(header.height));
        let part = Region { left: width / 3, top: height / 4, width: width.div_ceil(2), height: height.div_ceil(2) };
        for region in [Region::whole(width, height), part] {
            let rows = decoder.begin(&header, bytes, scale, region).read(rgb);
            good += usize::from(rows.is_ok());
            for _ in 0..2 {
                let rows = decoder.begin_seeking(&header, bytes, scale, region, points).read(rgb);
                good += usize::from(rows.is_ok());
                points.changed();
            }
            points.load(&[]);
        }
    }
    good
}

#[test]
fn a_decoder_allocates_nothing_once_it_has_seen_its_largest_picture() {
    let pictures = pictures();
    let mut rgb = vec![0; 300 * 200 * 3];
    for path in Path::available() {
        let mut decoder = Decoder::new(path);
        let mut points = SeekPoints::new(Spacing { every: 2, columns: 100, share: u32::MAX });
        let mut round =
            || pictures.iter().map(|bytes| decode(&mut decoder, &mut points, bytes, &mut rgb)).sum::<usize>();
        let before = COUNT.get();
        let good = round();
        assert!(COUNT.get() > before, "allocations are counted");
        assert!(good >= (pictures.len() - 1) * 24, "only the damaged picture is not decoded");
        let before = COUNT.get();
        assert_eq!(round(), good);
        assert_eq!(COUNT.get() - before, 0, "allocations in the second round on {path:?}");
    }
}
