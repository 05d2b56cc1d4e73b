//! The frames in AV1 data, counted before any of them is decoded (AV1 bitstream specification, section 5.3).

/// Frames that a picture may be made of. An ordinary one has one, and one of layers up to four.
const MOST: usize = 8;

/// Whether some AV1 data have more frames than any picture should: each of them takes the time of the whole picture. What is no AV1 is
/// left to the decoder.
pub(crate) fn has_too_many_frames(data: &[u8]) -> bool {
    let (mut rest, mut frames) = (data, 0);
    while let Some((&head, after)) = rest.split_first() {
        let kind = head >> 3 & 15;
        // Frame headers, and frames.
        frames += usize::from(matches!(kind, 3 | 6));
        if frames > MOST {
            return true;
        }
        let has_extension = head & 4 != 0;
        let Some(after) = after.get(usize::from(has_extension)..) else { break };
        // Without a size, it is the last one.
        if head & 2 == 0 {
            break;
        }
        let Some((size, after)) = leb128(after) else { break };
        let Some(next) = usize::try_from(size).ok().and_then(|size| after.get(size..)) else { break };
        rest = next;
    }
    false
}

/// A number of seven bits a byte, the lowest ones first.
fn leb128(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (index, byte) in bytes.iter().enumerate().take(8) {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((number, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted_whatever_is_between_them() {
        let frame = [6 << 3 | 2, 3, 1, 2, 3];
        let header = [3 << 3 | 6, 0, 0x80 | 1, 0, 9];
        let (delimiter, tiles) = ([2 << 3 | 2, 0], [4 << 3 | 2, 1, 7]);
        let frames = |count: usize| [&delimiter[..], &[&frame[..], &tiles].concat().repeat(count)].concat();
        assert!(!has_too_many_frames(&frames(8)) && has_too_many_frames(&frames(9)));
        assert!(has_too_many_frames(&[frames(8), header.to_vec()].concat()));
        for end in 0..frames(8).len() {
            assert!(!has_too_many_frames(&frames(8)[..end]));
        }
        assert!(!has_too_many_frames(&[0xff; 40]), "a size beyond the data");
    }
}
