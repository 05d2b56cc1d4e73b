//! The first frame of a GIF on its screen, as Pillow shows it. The screen is as large as the frame needs. Outside of the
//! frame it has the first colour, unless some colour is transparent.

use std::borrow::Cow;

use super::colours::Colours;

/// Bytes up to the palette of all frames.
const HEAD: usize = 13;

/// The file in the form for its decoder, and the colours outside of the frame. `None` if there is no frame.
pub(super) fn prepared(bytes: &[u8]) -> Option<(Cow<'_, [u8]>, Colours)> {
    let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
    let (global, mut blocks) = rest.split_at_checked(table_len(head[10]))?;
    let mut is_transparent = false;
    loop {
        match blocks {
            [0x21, label, tail @ ..] => {
                // A graphic control extension, whose first bit says that it names a transparent colour.
                if let (0xF9, [1..=255, flags, ..]) = (label, tail) {
                    is_transparent |= flags & 1 != 0;
                }
                blocks = behind_blocks(tail)?;
            }
            [0x2C, frame @ ..] => {
                let (screen, colours) = on_screen(*head, global, frame, is_transparent)?;
                // Almost every screen has room for its first frame.
                let mut file = Cow::Borrowed(bytes);
                if screen != *head {
                    file.to_mut()[..HEAD].copy_from_slice(&screen);
                }
                return Some((file, colours));
            }
            _ => return None,
        }
    }
}

/// The head with a screen that has room for the frame.
fn on_screen(mut head: [u8; HEAD], global: &[u8], frame: &[u8], is_transparent: bool) -> Option<([u8; HEAD], Colours)> {
    let (described, rest) = frame.split_first_chunk::<9>()?;
    let number = |bytes: &[u8], at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    for side in [0, 2] {
        let end = number(described, side).checked_add(number(described, 4 + side))?;
        let screen = number(&head, 6 + side).max(end);
        head[6 + side..8 + side].copy_from_slice(&screen.to_le_bytes());
    }
    let local = rest.get(..table_len(described[8]))?;
    let first = if local.is_empty() { global } else { local };
    let behind = first.first_chunk().copied().unwrap_or([0; 3]);
    Some((head, if is_transparent { Colours::AsDecoded } else { Colours::Behind(behind) }))
}

/// Bytes of the palette that flags announce.
fn table_len(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// What follows a list of blocks, which ends with an empty one.
fn behind_blocks(mut blocks: &[u8]) -> Option<&[u8]> {
    loop {
        let (len, tail) = blocks.split_first()?;
        blocks = tail.get(usize::from(*len)..)?;
        if *len == 0 {
            return Some(blocks);
        }
    }
}
