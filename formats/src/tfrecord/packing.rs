//! What is in a `TFRecord`'s data: the checksum is compared, and the picture is taken out.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::UInt32Type;
use forebay_sources::{Options, SourceError};

use super::{TAIL, TfPayload, is_checked, mask, payload};
use crate::checksum::Crc32c;
use crate::faults::Faults;
use crate::index_columns::{BadIndex, IndexColumns, NewColumns};
use crate::packed::Packing;
use crate::values::Values;

/// The columns of an index.
const PICTURE_START: &str = "picture_start";
const PICTURE_LENGTH: &str = "picture_length";

/// Where the picture of a record begins that has none, or is damaged.
const NO_PICTURE: u32 = u32::MAX;

/// Where pictures are in the data of their records.
#[derive(Debug, Default)]
struct PicturePlaces {
    starts: Values<u32>,
    lens: Values<u32>,
}

/// How records are unpacked.
#[derive(Debug)]
pub(super) struct TfPacking {
    is_checked: bool,
    /// Where the picture is in each Example: the first byte, and how many. Not kept where a record is its picture.
    pictures: Option<PicturePlaces>,
    /// Records that are no Example, or lack something, and why.
    pub damaged: Faults,
}

impl TfPacking {
    pub(super) fn new(is_checked: bool, is_example: bool) -> Self {
        let pictures = (is_checked && is_example).then(PicturePlaces::default);
        Self { is_checked, pictures, damaged: Faults::default() }
    }

    /// The next record's picture, within its data. A protocol buffer has fewer than 2^31 bytes; a larger one is damaged.
    pub(super) fn push(&mut self, picture: Option<Range<u64>>) {
        let Some(pictures) = &mut self.pictures else { return };
        let place = picture
            .and_then(|range| Some((u32::try_from(range.start).ok()?, u32::try_from(range.end - range.start).ok()?)));
        let (start, len) = place.unwrap_or((NO_PICTURE, 0));
        pictures.starts.push(start);
        pictures.lens.push(len);
    }

    /// Where the record's picture is in its data: the first byte, and how many. None, if the data are the picture.
    fn picture(&self, record: u64) -> Option<(u32, u32)> {
        let (pictures, place) = (self.pictures.as_ref()?, usize::try_from(record).ok()?);
        Some((pictures.starts.at(place), pictures.lens.at(place)))
    }

    /// Reads it from an index.
    pub(super) fn from_index(columns: &IndexColumns, options: &Options) -> Result<Arc<dyn Packing>, BadIndex> {
        let wrong = |error: SourceError| BadIndex(error.to_string());
        let payload = payload(options).map_err(wrong)?;
        let mut packing = Self::new(is_checked(options).map_err(wrong)?, payload == TfPayload::Example);
        if let Some(pictures) = &mut packing.pictures {
            pictures.starts = columns.numbers::<UInt32Type>(PICTURE_START)?;
            pictures.lens = columns.numbers::<UInt32Type>(PICTURE_LENGTH)?;
        }
        packing.damaged = columns.faults()?;
        Ok(Arc::new(packing))
    }
}

impl Packing for TfPacking {
    /// What is before the picture in an Example.
    fn head_len(&self, record: u64) -> usize {
        self.picture(record).filter(|(start, _)| *start != NO_PICTURE).map_or(0, |(start, _)| start as usize)
    }

    fn unpack(&self, record: u64, head: &[u8], stored: &mut Vec<u8>) -> Result<(), String> {
        if self.is_checked {
            let Some((data, checksum)) = stored.split_last_chunk::<4>() else {
                return Err("it ends before its checksum".into());
            };
            let found = mask(Crc32c::new().with(head).with(data).sum());
            let expected = u32::from_le_bytes(*checksum);
            if found != expected {
                return Err(format!("the checksum of the data is {found:08x}, and the file has {expected:08x}"));
            }
            stored.truncate(stored.len() - usize::try_from(TAIL).unwrap_or(4));
        }
        if let Some(cause) = self.damaged.get(record) {
            return Err(cause.to_owned());
        }
        if let Some((start, len)) = self.picture(record) {
            if head.len() != start as usize || len as usize > stored.len() {
                return Err("it has more than 4 GiB".into());
            }
            stored.truncate(len as usize);
        }
        Ok(())
    }

    fn known_fault(&self, record: u64) -> Option<&str> {
        self.damaged.get(record)
    }

    fn add_to_index(&mut self, columns: &mut NewColumns) {
        let Some(pictures) = &mut self.pictures else { return };
        columns.numbers::<UInt32Type>(PICTURE_START, &mut pictures.starts);
        columns.numbers::<UInt32Type>(PICTURE_LENGTH, &mut pictures.lens);
    }

    fn digest(&self, part: &mut dyn FnMut(&[u8])) {
        let Some(pictures) = &self.pictures else { return };
        part(b"pictures");
        for (start, len) in pictures.starts.iter().zip(pictures.lens.iter()) {
            part(&start.to_le_bytes());
            part(&len.to_le_bytes());
        }
    }
}
