//! What a decoder keeps from picture to picture does not grow with their number. A process of its own, since it looks at how
//! much memory that has.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::sample::{JpegForm, photograph_rgb};
use forebay_pixels::{CpuDecoder, JpegChoice, Limits};

/// Bytes of the process that are not files' (proc(5), statm: resident without shared pages).
fn own_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: Vec<u64> = statm.split(' ').map_while(|number| number.parse().ok()).collect();
    (pages[1] - pages[2]) * 4096
}

#[test]
fn rule_31_memory_does_not_grow_with_pictures_good_or_bad() {
    let photo = photograph_rgb(1, 16, 16);
    let files: Vec<Vec<u8>> = [false, true]
        .into_iter()
        .flat_map(|progressive| {
            let good = JpegForm { progressive, ..JpegForm::default() }.encode(&photo, 16, 16).unwrap();
            // A table's length is wrong: libjpeg stops in the middle of the header.
            let mut bad = good.clone();
            let table = bad.windows(2).rposition(|pair| pair == [0xFF, 0xC4]).unwrap();
            bad[table + 4 + 1] = 255;
            [good, bad]
        })
        .collect();
    for choice in [JpegChoice::LIBJPEG_TURBO, JpegChoice::default()] {
        let mut decoder = CpuDecoder::with_jpeg(choice);
        let mut faults = 0;
        let mut decode = |rounds: u32| {
            for bytes in (0..rounds).flat_map(|_| &files) {
                faults += u32::from(decoder.whole(bytes, &Limits::default()).is_err());
            }
        };
        decode(100);
        let before = own_bytes();
        decode(1000);
        let grown = own_bytes().saturating_sub(before);
        // Tables alone would make 7 MB of 4,000 pictures.
        assert!(grown < 2 << 20, "{choice:?}: {grown} bytes more");
        assert_eq!(faults, 2 * 1100, "{choice:?}");
    }
}
