//! JPEG XL, whatever the first bytes are: a verdict, the same the second time, with pixels of which none is another picture's.
#![no_main]

use forebay_pixels::{CpuDecoder, Fault, Form, Format, Further, Limits, Mode, probe};
use libfuzzer_sys::fuzz_target;

/// Small, so that no case takes long.
const LIMITS: Limits = Limits { pixels: 1 << 18, bytes: 1 << 20, scans: 20, time: None };

fuzz_target!(|bytes: &[u8]| {
    let bare = [&[0xff, 0x0a], bytes].concat();
    let bytes = if Format::of(bytes) == Ok(Format::Jxl) { bytes } else { &bare };
    let first = pixels(bytes);
    assert!(pixels(bytes) == first, "every byte is written, the same each time");
    if let Ok((size, _)) = first {
        let probed = probe(bytes).expect("what is decoded has a header");
        assert!((probed.width, probed.height) == size, "the header says the picture's size");
    }
    Further::of(bytes, Mode::Rgb, &LIMITS);
});

/// Size and pixels.
type Made = ((u32, u32), Vec<u8>);

fn pixels(bytes: &[u8]) -> Result<Made, Fault> {
    let (picture, _) = CpuDecoder::new().upright(bytes, Form::default(), &LIMITS)?;
    Ok(((picture.width, picture.height), picture.pixels().to_vec()))
}
