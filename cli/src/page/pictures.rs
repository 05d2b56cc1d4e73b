//! Pictures of records. Child processes draw them, and this process never looks into them: it keeps them for viewers, up to a bound.

mod artist;

use std::collections::VecDeque;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use forebay_proto::v1::DrawingReply;
use parking_lot::Mutex;

use crate::draw_pictures::{DrawOrder, DrawnAs, DrawnPicture};
use crate::failure::Failure;

/// Keeps what was drawn.
#[derive(Debug, Default)]
pub(super) struct PagePictures(Mutex<KeptSheets>);

#[derive(Debug, Default)]
struct KeptSheets {
    /// From the oldest on.
    sheets: VecDeque<(SheetKey, Arc<[ShownPicture]>)>,
}

/// What was drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SheetKey {
    pub(super) daemon: u32,
    pub(super) stream: String,
    pub(super) drawn_as: DrawnAs,
    /// Each record with its repeat.
    pub(super) turns: Vec<(u64, u16)>,
}

/// A picture as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShownPicture {
    pub(super) image: Option<ShownImage>,
    /// What is known of it. It has no image any more.
    pub(super) drawn: DrawnPicture,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownImage {
    /// Its name in URLs, which is made of its bytes.
    pub(super) name: String,
    pub(super) content_type: &'static str,
    pub(super) bytes: Arc<[u8]>,
}

/// Bytes of all images that are kept.
const KEPT: usize = 16 << 20;
/// Letters of an image's name.
const NAME: usize = 32;

impl PagePictures {
    /// Draws these records of a stream, or gives what was drawn of them before.
    pub(super) fn sheet(&self, key: SheetKey, from: DrawingReply) -> Result<Arc<[ShownPicture]>, Failure> {
        if let Some(known) = self.0.lock().sheet(&key) {
            return Ok(known);
        }
        let DrawingReply { settings, pixels, bytes, scans, .. } = from;
        let order = DrawOrder { settings, pixels, bytes, scans, drawn_as: key.drawn_as, turns: key.turns.clone() };
        let drawn = artist::drawn(order).map_err(Failure::Failed)?;
        let sheet: Arc<[ShownPicture]> = drawn.into_iter().map(ShownPicture::from).collect();
        self.0.lock().keep(key, Arc::clone(&sheet));
        Ok(sheet)
    }

    /// An image by its name.
    pub(super) fn image(&self, name: &str) -> Option<ShownImage> {
        let kept = self.0.lock();
        let mut all =
            kept.sheets.iter().flat_map(|(_, sheet)| sheet.iter()).filter_map(|picture| picture.image.as_ref());
        all.find(|image| image.name == name).cloned()
    }
}

impl KeptSheets {
    fn sheet(&self, key: &SheetKey) -> Option<Arc<[ShownPicture]>> {
        self.sheets.iter().find(|(of, _)| of == key).map(|(_, sheet)| Arc::clone(sheet))
    }

    /// Keeps a sheet, and lets go of the oldest ones if there is too much.
    fn keep(&mut self, key: SheetKey, sheet: Arc<[ShownPicture]>) {
        // Another viewer may have had the same drawn.
        self.sheets.retain(|(of, _)| *of != key);
        self.sheets.push_back((key, sheet));
        while self.bytes() > KEPT && self.sheets.len() > 1 {
            self.sheets.pop_front();
        }
    }

    fn bytes(&self) -> usize {
        let images =
            self.sheets.iter().flat_map(|(_, sheet)| sheet.iter()).filter_map(|picture| picture.image.as_ref());
        images.map(|image| image.bytes.len()).sum()
    }
}

impl From<DrawnPicture> for ShownPicture {
    fn from(drawn: DrawnPicture) -> Self {
        let image = STANDARD.decode(&drawn.image).ok().and_then(ShownImage::of);
        Self { image, drawn: DrawnPicture { image: String::new(), ..drawn } }
    }
}

impl ShownImage {
    /// None if the bytes do not begin as an image of the kinds that are drawn.
    fn of(bytes: Vec<u8>) -> Option<Self> {
        let content_type = match bytes.as_slice() {
            [0x89, b'P', b'N', b'G', ..] => "image/png",
            [0xFF, 0xD8, 0xFF, ..] => "image/jpeg",
            _ => return None,
        };
        let mut name = blake3::hash(&bytes).to_hex().to_string();
        name.truncate(NAME);
        Some(Self { name, content_type, bytes: bytes.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(record: u64) -> SheetKey {
        SheetKey { daemon: 1, stream: "train".into(), drawn_as: DrawnAs::Stored, turns: vec![(record, 0)] }
    }

    fn drawn(bytes: &[u8]) -> ShownPicture {
        DrawnPicture { image: STANDARD.encode(bytes), ..DrawnPicture::default() }.into()
    }

    #[test]
    fn what_is_no_image_of_ours_is_none() {
        assert_eq!(drawn(b"\x89PNG....").image.unwrap().content_type, "image/png");
        assert_eq!(drawn(b"\xff\xd8\xff....").image.unwrap().content_type, "image/jpeg");
        for bytes in [&b""[..], b"<svg onload=alert(1)>", b"<!DOCTYPE html>", b"GIF89a"] {
            assert_eq!(drawn(bytes).image, None);
        }
        let shown = ShownPicture::from(DrawnPicture { image: "%%%".into(), why: "bad".into(), ..Default::default() });
        assert_eq!((shown.image, shown.drawn.why.as_str()), (None, "bad"));
    }

    #[test]
    fn the_oldest_images_give_way_and_names_are_those_of_bytes() {
        let kept = PagePictures::default();
        let sheet = |record: u64| -> Arc<[ShownPicture]> {
            let mut bytes = vec![0xFF, 0xD8, 0xFF, u8::try_from(record).unwrap()];
            bytes.resize(1 << 20, 0);
            [drawn(&bytes)].into()
        };
        let name = |record| sheet(record)[0].image.as_ref().unwrap().name.clone();
        for record in [1, 1].into_iter().chain(2..=16) {
            kept.0.lock().keep(key(record), sheet(record));
        }
        assert!(kept.image(&name(1)).is_some() && kept.0.lock().sheet(&key(1)).is_some());
        kept.0.lock().keep(key(17), sheet(17));
        assert!(kept.image(&name(1)).is_none() && kept.0.lock().sheet(&key(1)).is_none());
        assert_eq!(kept.image(&name(17)).unwrap().bytes.len(), 1 << 20);
        assert_eq!((kept.0.lock().sheets.len(), name(2).len()), (16, NAME));
    }
}
