//! Masks: no PNG makes the decoder panic, and the same bytes give the same numbers the second time, by memory that has been
//! used.
#![no_main]

use std::cell::RefCell;

use forebay_pixels::{
    Annotated, Draw, Limits, MaskDecoder, MaskDepth, MaskFault, MaskOrder, Orientation, Origin, Recipe,
};
use libfuzzer_sys::fuzz_target;

/// Small, so that no case takes long.
const LIMITS: Limits = Limits { pixels: 1 << 20, bytes: 1 << 20, scans: 20, time: None };

thread_local! {
    static USED: RefCell<MaskDecoder> = RefCell::new(MaskDecoder::default());
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, png)) = bytes.split_first() else { return };
    let Some(&[.., a, b, c, d, e, f, g, h]) = png.first_chunk::<24>() else { return };
    let (width, height) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
    // The picture is as large as the mask says that it is, as seen.
    let orientation = Orientation::from_exif(u16::from(first % 8) + 1);
    let (wide, high) = orientation.seen(width, height);
    if u64::from(width) * u64::from(height) == 0 || u64::from(width) * u64::from(height) > LIMITS.pixels {
        return;
    }
    let recipe = Recipe::training(16).expect("its shape is fixed");
    let origin = Origin::of_recipe((wide, high), orientation, &recipe);
    let draw = Draw { seed: 1, epoch: 2, record: first.into() };
    let order = MaskOrder { origin: &origin, recipe: &recipe, draw, annotated: Annotated::AsSeen, fill: 255 };
    for depth in [MaskDepth::U8, MaskDepth::U16, MaskDepth::I32] {
        let decode = |decoder: &mut MaskDecoder| -> Result<Vec<u8>, MaskFault> {
            let mut numbers = vec![0; 16 * 16 * depth.size()];
            decoder.decode(png, depth, &order, &LIMITS, &mut numbers).map(|()| numbers)
        };
        let first = USED.with_borrow_mut(decode);
        assert!(decode(&mut MaskDecoder::default()) == first, "the same by a new decoder");
    }
});
