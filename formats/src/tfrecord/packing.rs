//! What is in a `TFRecord`'s data: the checksum is compared, and the picture is taken out.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{TAIL, masked};
use crate::packed::Packing;

/// How records are unpacked.
#[derive(Debug)]
pub(super) struct TfPacking {
    is_checked: bool,
    /// Where the picture is in each Example: the first byte, and how many. Not kept where a record is its picture.
    pictures: Option<Vec<(u32, u32)>>,
    /// Records that are no Example, or lack something, and why.
    pub damaged: BTreeMap<u64, String>,
}

impl TfPacking {
    pub(super) fn new(is_checked: bool, is_example: bool) -> Self {
        let pictures = (is_checked && is_example).then(Vec::new);
        Self { is_checked, pictures, damaged: BTreeMap::new() }
    }

    /// The next record's picture, within its data. A protocol buffer has fewer than 2^31 bytes; a larger one is damaged.
    pub(super) fn push(&mut self, picture: Option<Range<u64>>) {
        let Some(pictures) = &mut self.pictures else { return };
        let place = picture
            .and_then(|range| Some((u32::try_from(range.start).ok()?, u32::try_from(range.end - range.start).ok()?)));
        pictures.push(place.unwrap_or((u32::MAX, 0)));
    }
}

impl Packing for TfPacking {
    fn unpack(&self, record: u64, stored: &mut Vec<u8>) -> Result<(), String> {
        let place = usize::try_from(record).ok();
        let picture = self.pictures.as_ref().and_then(|pictures| pictures.get(place?).copied());
        if self.is_checked {
            let Some((data, checksum)) = stored.split_last_chunk::<4>() else {
                return Err("it ends before its checksum".into());
            };
            let (found, expected) = (masked(data), u32::from_le_bytes(*checksum));
            if found != expected {
                return Err(format!("the checksum of the data is {found:08x}, and the file has {expected:08x}"));
            }
            stored.truncate(stored.len() - usize::try_from(TAIL).unwrap_or(4));
        }
        if let Some(cause) = self.damaged.get(&record) {
            return Err(cause.clone());
        }
        if let Some((start, len)) = picture {
            let (start, len) = (start as usize, len as usize);
            if start.checked_add(len).is_none_or(|end| end > stored.len()) {
                return Err("it has more than 4 GiB".into());
            }
            stored.truncate(start + len);
            stored.drain(..start);
        }
        Ok(())
    }

    fn digest(&self, part: &mut dyn FnMut(&[u8])) {
        let Some(pictures) = &self.pictures else { return };
        part(b"pictures");
        for (start, len) in pictures {
            part(&start.to_le_bytes());
            part(&len.to_le_bytes());
        }
    }
}
