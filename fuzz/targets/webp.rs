//! WebP by libwebp: a verdict, the same the second time, and every part of a picture that can be decoded has the pixels of the
//! whole one.
#![no_main]

use forebay_webp::{Head, Part, WebpFault};
use libfuzzer_sys::fuzz_target;

/// Small, so that no case takes long.
const MOST_PIXELS: u64 = 1 << 18;

fuzz_target!(|bytes: &[u8]| {
    let Ok(head) = Head::read(bytes) else { return };
    if u64::from(head.size.0) * u64::from(head.size.1) > MOST_PIXELS {
        return;
    }
    let whole = decode(&head, bytes, head.whole(), 0);
    assert!(decode(&head, bytes, head.whole(), 0xFF) == whole, "every byte is written, the same each time");
    // Damage below a part is not seen.
    let Ok(whole) = whole else { return };
    // What follows a picture is no part of it.
    let place = bytes.last_chunk::<4>().copied().unwrap_or_default();
    let (left, width) = span(head.size.0, place[0], place[1]);
    let (top, height) = span(head.size.1, place[2], place[3]);
    let part = Part { left, top, width, height };
    let held = head.part_for(part);
    let alone = decode(&head, bytes, held, 0).expect("a part of what can be decoded can be decoded");
    for row in 0..height {
        let of_whole = pixels(&head, &whole, head.whole(), part, row);
        assert!(pixels(&head, &alone, held, part, row) == of_whole, "row {row} of {part:?}");
    }
});

fn decode(head: &Head, bytes: &[u8], part: Part, before: u8) -> Result<Vec<u8>, WebpFault> {
    let mut out = vec![before; part.width as usize * part.height as usize * usize::from(head.channels())];
    head.decode(bytes, part, &mut out).map(|()| out)
}

/// Where a part begins and how long it is, in parts of 256 of the picture.
fn span(side: u32, first: u8, len: u8) -> (u32, u32) {
    let first = side * u32::from(first) / 256;
    (first, ((side - first) * u32::from(len) / 256).max(1))
}

/// A row of `part`, where the buffer holds `held`.
fn pixels<'a>(head: &Head, buffer: &'a [u8], held: Part, part: Part, row: u32) -> &'a [u8] {
    let at = (part.top + row - held.top) as usize * held.width as usize + (part.left - held.left) as usize;
    let channels = usize::from(head.channels());
    &buffer[at * channels..][..part.width as usize * channels]
}
