//! AVIF: a verdict, the same the second time, and every part of a picture has the pixels of the whole one.
#![no_main]

use forebay_avif::{AvifFault, Head, Part};
use libfuzzer_sys::fuzz_target;

/// Small, so that no case takes long.
const MOST_PIXELS: u64 = 1 << 18;

fuzz_target!(|bytes: &[u8]| {
    let Ok(head) = Head::read(bytes) else { return };
    if u64::from(head.size.0) * u64::from(head.size.1) > MOST_PIXELS {
        return;
    }
    let whole = Part::whole(head.size);
    let first = decode(&head, bytes, whole, 0);
    assert!(decode(&head, bytes, whole, 0xFF) == first, "every byte is written, the same each time");
    let Ok(pixels) = first else { return };
    // The last bytes are often data that do not decide the size.
    let place = bytes.last_chunk::<4>().copied().unwrap_or_default();
    let (left, width) = span(head.size.0, place[0], place[1]);
    let (top, height) = span(head.size.1, place[2], place[3]);
    let part = Part { left, top, width, height };
    let alone = decode(&head, bytes, part, 0).expect("a part of what can be decoded can be decoded");
    for row in 0..height {
        assert!(line(&alone, part, part, row) == line(&pixels, whole, part, row), "row {row} of {part:?}");
    }
});

/// A part with alpha, which is opaque if there is none.
fn decode(head: &Head, bytes: &[u8], part: Part, before: u8) -> Result<Vec<u8>, AvifFault> {
    let decoded = head.decode(bytes)?;
    let mut out = vec![before; part.width as usize * part.height as usize * 4];
    decoded.to_rgba(part, &mut out);
    Ok(out)
}

/// Where a part begins and how long it is, in parts of 256 of the picture.
fn span(side: u32, first: u8, len: u8) -> (u32, u32) {
    let first = side * u32::from(first) / 256;
    (first, ((side - first) * u32::from(len) / 256).max(1))
}

/// A row of `part`, where the buffer holds `held`.
fn line(buffer: &[u8], held: Part, part: Part, row: u32) -> &[u8] {
    let at = (part.top + row - held.top) as usize * held.width as usize + (part.left - held.left) as usize;
    &buffer[at * 4..][..part.width as usize * 4]
}
