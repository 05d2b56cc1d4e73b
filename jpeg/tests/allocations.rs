//! A decoder that has seen its largest picture allocates nothing any more, with seek points or without. What a progressive
//! picture takes is in proportion to its blocks, and is given back.
#![allow(unsafe_code, reason = "counts what passes by on the way to the system's allocator")]
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

#[path = "turbo/reference.rs"]
mod reference;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use forebay_jpeg::{Decoder, Fault, Header, Path, Region, Sampling, Scale, SeekPoints, Spacing};
use reference::Kind;

thread_local! {
    /// Allocations of this thread, the bytes that it holds, and the most of them so far.
    static COUNT: Cell<usize> = const { Cell::new(0) };
    static HELD: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, with a count.
struct Counting;

impl Counting {
    fn take(freed: usize, taken: usize) {
        COUNT.set(COUNT.get() + 1);
        HELD.set(HELD.get().wrapping_sub(freed).wrapping_add(taken));
        MOST.set(MOST.get().max(HELD.get()));
    }
}

// SAFETY: everything is the system's allocator's; a count without memory of its own changes nothing of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::take(0, layout.size());
        // SAFETY: the caller keeps what the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.set(HELD.get().wrapping_sub(layout.size()));
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::take(layout.size(), size);
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
        let sizes = [(300 - i, 200), (17, 130 + i)];
        for (progressive, (width, height)) in [false, true].into_iter().flat_map(|kind| sizes.map(|size| (kind, size)))
        {
            let (restart, optimised) = (i % 3 * 4, width > 17);
            let kind =
                Kind { sampling, width, height, quality: 85, restart, optimised, progressive, noise: 90, seed: 7 };
            pictures.push(kind.encode());
        }
    }
    let mut damaged = pictures[4].clone();
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

/// A flat gray picture of 4,096 x 4,096 pixels, with a bit for each block in both of its scans: no file is smaller.
fn smallest_file() -> Vec<u8> {
    let mut file = vec![0xFF, 0xD8];
    let code = |kind| [&[kind, 1][..], &[0; 16]].concat();
    let quants = [&[0][..], &[1; 64]].concat();
    let frame = [8, 0x10, 0, 0x10, 0, 1, 1, 0x11, 0].to_vec();
    for (marker, segment, data) in [
        (0xDB, quants, 0),
        (0xC2, frame, 0),
        (0xC4, code(0x00), 0),
        (0xC4, code(0x10), 0),
        (0xDA, vec![1, 1, 0, 0, 0, 0], 512 * 512 / 8),
        (0xDA, vec![1, 1, 0, 1, 63, 0], 512 * 512 / 8),
    ] {
        file.extend([0xFF, marker, 0, u8::try_from(segment.len() + 2).unwrap()]);
        file.extend(segment);
        file.extend(vec![0; data]);
    }
    file.extend([0xFF, 0xD9]);
    file
}

#[test]
fn rule_31_coefficients_take_136_bytes_for_a_block_of_the_region_and_are_given_back() {
    let file = smallest_file();
    let header = Header::read(&file).unwrap();
    let mut decoder = Decoder::default();
    let whole = Region::whole(4096, 4096);
    let corner = Region { left: 4000, top: 0, width: 96, height: 96 };
    let mut rgb = vec![0; 4096 * 4096 * 3];
    // Tables, and the samples of a row of blocks.
    let fixed = 1 << 20;
    for (region, bytes) in [(corner, 12 * 12 * 128 + 12 * 512 * 8), (whole, 512 * 512 * 136)] {
        let before = HELD.get();
        MOST.set(before);
        assert_eq!(decoder.begin(&header, &file, Scale::Full, region).read(&mut rgb), Ok(region.height));
        assert!(rgb[..(region.width * region.height * 3) as usize].iter().all(|&value| value == 128));
        let most = MOST.get() - before;
        assert!((bytes..bytes + fixed).contains(&most), "{most} bytes, {bytes} are for the blocks");
        decoder.trim(0);
        assert!(HELD.get() < before + fixed, "{} bytes are kept", HELD.get() - before);
        rgb.fill(0);
    }
    // The same scans for the largest picture that a header can declare.
    let mut enormous = file;
    let frame = enormous.windows(2).position(|two| two == [0xFF, 0xC2]).unwrap();
    enormous[frame + 5..frame + 9].fill(0xFF);
    let before = HELD.get();
    MOST.set(before);
    assert_eq!(Header::read(&enormous).map(drop), Err(Fault::Truncated));
    assert!(MOST.get() < before + 1024, "{} bytes were taken", MOST.get() - before);
}
