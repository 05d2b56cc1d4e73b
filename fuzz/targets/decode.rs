//! Decoding whole pictures, of TIFFs also the second page: a fault or just the pixels that the header promised, and the same the
//! second time: by a decoder that has seen other files, and by one that leaves every JPEG to libjpeg-turbo.
#![no_main]

use std::cell::RefCell;

use forebay_pixels::{Background, CpuDecoder, Fault, Form, JpegChoice, KeptPicture, Limits, probe_page};
use libfuzzer_sys::fuzz_target;

/// Small, so that no case takes long.
const LIMITS: Limits = Limits { pixels: 1 << 20, bytes: 1 << 20, scans: 20, time: None };

thread_local! {
    static USED: RefCell<CpuDecoder> = RefCell::new(CpuDecoder::new());
    static TURBO: RefCell<CpuDecoder> = RefCell::new(CpuDecoder::with_jpeg(JpegChoice::LIBJPEG_TURBO));
}

fuzz_target!(|bytes: &[u8]| {
    for page in 0..2 {
        check(bytes, page);
    }
});

fn check(bytes: &[u8], page: u32) {
    let first = USED.with_borrow_mut(|decoder| whole(decoder, bytes, page));
    if let Ok(picture) = &first {
        let probed = probe_page(bytes, page).expect("what can be decoded has a header");
        assert_eq!((probed.format, probed.width, probed.height), (picture.format, picture.width, picture.height));
        assert_eq!(picture.pixels().len(), picture.width as usize * picture.height as usize * 3);
    }
    assert!(whole(&mut CpuDecoder::new(), bytes, page) == first, "the same by a new decoder");
    let by_turbo = TURBO.with_borrow_mut(|decoder| whole(decoder, bytes, page));
    assert!(by_turbo == first, "pixels and faults do not depend on the decoder");
}

/// The picture alone: which decoder it was is no part of the answer.
fn whole(decoder: &mut CpuDecoder, bytes: &[u8], page: u32) -> Result<KeptPicture, Fault> {
    let form = Form { background: Background::Colour([9, 99, 199]), page, ..Form::default() };
    decoder.upright(bytes, form, &LIMITS).map(|(picture, _)| picture)
}
