//! Probing a header: whatever the bytes, an error or a picture's size, and no more work than the bytes are worth.
#![no_main]

use forebay_pixels::{Format, probe};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(probed) = probe(bytes) {
        assert_eq!(Format::of(bytes), Ok(probed.format));
        assert!(probed.decode_bytes() >= u64::from(probed.width) * u64::from(probed.height) * 3);
    }
});
