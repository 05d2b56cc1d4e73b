//! How many pictures an image sequence has: the boxes of its tracks (ISO/IEC 14496-12, section 8).

use crate::boxes::{Reader, boxes, only};
use crate::fault::AvifFault;

/// The pictures of the first track that has pictures; 0 if there is none.
pub(crate) fn pictures(moov: &[u8]) -> Result<u32, AvifFault> {
    for track in boxes(moov, false)?.iter().filter(|boxed| boxed.kind == *b"trak") {
        let media = inside(track.body, *b"mdia")?;
        let handler = inside(media, *b"hdlr")?.get(8..12);
        if handler == Some(b"pict") {
            let sizes = inside(inside(inside(media, *b"minf")?, *b"stbl")?, *b"stsz")?;
            let mut sizes = Reader::new(sizes);
            sizes.take(8)?;
            return sizes.long();
        }
    }
    Ok(0)
}

fn inside(body: &[u8], kind: [u8; 4]) -> Result<&[u8], AvifFault> {
    only(&boxes(body, false)?, kind)?.ok_or(AvifFault::Corrupt("a track has no such box"))
}
