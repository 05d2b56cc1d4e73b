//! Probing a header: whatever the bytes, an error, or what decoding then shows: format, size as seen, and the orientation.
#![no_main]

use std::cell::RefCell;

use forebay_pixels::{CpuDecoder, Form, Format, Limits, Orientation, probe};
use libfuzzer_sys::fuzz_target;

/// Small, so that no case takes long.
const LIMITS: Limits = Limits { pixels: 1 << 16, bytes: 1 << 20, scans: 20, time: None };

thread_local! {
    static DECODER: RefCell<CpuDecoder> = RefCell::new(CpuDecoder::new());
}

/// Where the first pixel as seen is stored.
fn first(orientation: Orientation, width: u32, height: u32) -> (u32, u32) {
    let (right, below) = (width - 1, height - 1);
    match orientation {
        Orientation::AsStored | Orientation::Transposed => (0, 0),
        Orientation::Mirrored | Orientation::Left => (right, 0),
        Orientation::Half | Orientation::Transversed => (right, below),
        Orientation::UpsideDown | Orientation::Right => (0, below),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(probed) = probe(bytes) else { return };
    assert_eq!(Format::of(bytes), Ok(probed.format));
    let decode_bytes = probed.decode_bytes();
    let stored = Form { adjust_orientation: false, ..Form::default() };
    let decode =
        |form| DECODER.with_borrow_mut(|decoder| decoder.upright(bytes, form, &LIMITS).map(|(picture, _)| picture));
    let (Ok(seen), Ok(stored)) = (decode(Form::default()), decode(stored)) else { return };
    assert_eq!((probed.format, probed.width, probed.height), (seen.format, seen.width, seen.height));
    assert!(decode_bytes >= seen.pixels().len() as u64);
    assert_eq!(probed.orientation.seen(stored.width, stored.height), (seen.width, seen.height));
    let (x, y) = first(probed.orientation, stored.width, stored.height);
    assert_eq!(seen.pixels()[..3], stored.pixels()[(y as usize * stored.width as usize + x as usize) * 3..][..3]);
});
