//! A batch of rows of an Arrow file: the values of some fields, and where the bytes of the pictures are.

use arrow_array::{ArrayRef, make_array};
use arrow_buffer::{Buffer, MutableBuffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_ipc::RecordBatch;
use arrow_schema::{DataType, Fields};
use forebay_sources::SourceError;

use super::codec::{self, BufferCodec, LENGTH};
use super::layout::{BufferCursor, FieldPlace};
use super::messages::{DAMAGED, MessageBody, Messages};
use crate::contained::contained;
use crate::ranges::FileRanges;
use crate::tables::list_item;

/// A batch whose fields are read one by one.
#[derive(Debug)]
pub(super) struct RowBatch<'a> {
    pub fields: &'a Fields,
    pub header: RecordBatch<'a>,
    pub body: &'a MessageBody,
    pub ranges: &'a FileRanges,
    pub rows: usize,
    /// How its buffers are compressed, if they are.
    pub codec: Option<BufferCodec>,
}

/// Where the bytes of a row's picture are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PictureCell {
    /// The first byte, and how many: in the file, or in the decompressed buffer of a compressed batch.
    At(u64, u64),
    Null,
    /// They would lie outside of the batch.
    Outside,
}

/// Which rows are null, if any is.
struct Nulls(Option<NullBuffer>);

/// A range of the file.
type ByteRange = (u64, u64);

impl<'a> RowBatch<'a> {
    /// The rows of a body that these messages gave.
    ///
    /// # Errors
    /// The message has no rows, or they are compressed in a way that is not known.
    pub(super) fn new(
        messages: &Messages<'_>,
        body: &'a MessageBody,
        ranges: &'a FileRanges,
        fields: &'a Fields,
    ) -> Result<Self, SourceError> {
        let bad = |problem: &str| messages.bad(body.offset, problem);
        let header = messages.message(body)?.header_as_record_batch();
        let header = header.ok_or_else(|| bad("The message before this byte has no rows. Copy the file again."))?;
        let codec = match header.compression().map(BufferCodec::of) {
            Some(None) => {
                return Err(bad(
                    "The rows are compressed in a way that is not known here. Write them with lz4 or zstd.",
                ));
            }
            codec => codec.flatten(),
        };
        let rows = usize::try_from(header.length()).map_err(|_| bad(DAMAGED))?;
        Ok(Self { fields, header, body, ranges, rows, codec })
    }

    /// The values of a field. Nothing, if they cannot be.
    pub(super) fn values(&self, path: &[String]) -> Option<ArrayRef> {
        let place = BufferCursor::default().find(self.fields, path, &self.header)?;
        // The library checks arrays when it builds them, and panics at some that it does not expect.
        let array = contained(|| self.within(&place, self.rows).map(make_array).ok_or("it is damaged"));
        array.ok()
    }

    /// Where the pictures are, row by row. Nothing, if the batch does not describe them.
    pub(super) fn cells(&self, path: &[String]) -> Option<Vec<PictureCell>> {
        let place = BufferCursor::default().find(self.fields, path, &self.header)?;
        let (len, own) = self.node(place.at)?;
        if len != self.rows || !place.rest.is_empty() {
            return None;
        }
        let Nulls(nulls) = self.with_nulls_around(&place.around, own.as_ref(), len)?;
        let numbers = place.at.buffer + 1;
        let mut cells = match place.of {
            DataType::Binary => self.by_offsets::<4>(numbers)?,
            DataType::LargeBinary => self.by_offsets::<8>(numbers)?,
            DataType::BinaryView => self.by_views(numbers, place.at.view_buffers(&self.header)?)?,
            _ => return None,
        };
        for (row, cell) in cells.iter_mut().enumerate() {
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                *cell = PictureCell::Null;
            }
        }
        Some(cells)
    }

    fn by_offsets<const SIZE: usize>(&self, offsets: usize) -> Option<Vec<PictureCell>> {
        if self.rows == 0 {
            return Some(Vec::new());
        }
        let bytes = self.beginning(offsets, self.rows.checked_add(1)?.checked_mul(SIZE)?)?;
        let data = self.content(offsets + 1)?;
        let offset = |at: usize| {
            let mut number = [0; 8];
            number[..SIZE].copy_from_slice(bytes.get(at * SIZE..(at + 1) * SIZE)?);
            // A negative offset of four bytes becomes one that is far outside.
            Some(u64::from_le_bytes(number))
        };
        let cell = |row: usize| {
            let (start, end) = (offset(row)?, offset(row + 1)?);
            Some(if start <= end && end <= data.1 {
                PictureCell::At(data.0 + start, end - start)
            } else {
                PictureCell::Outside
            })
        };
        (0..self.rows).map(cell).collect()
    }

    /// A view has a length, and behind it up to twelve bytes, or four of them, the number of a buffer and a place in it.
    fn by_views(&self, views: usize, buffers: usize) -> Option<Vec<PictureCell>> {
        let bytes = self.beginning(views, self.rows.checked_mul(16)?)?;
        let (views, buffers): (ByteRange, Option<Vec<ByteRange>>) =
            (self.content(views)?, (0..buffers).map(|buffer| self.content(views + 1 + buffer)).collect());
        let buffers = buffers?;
        let cell = |(row, view): (u64, &[u8])| {
            let number = |at: usize| u32::from_le_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]);
            let len = u64::from(number(0));
            if len <= 12 {
                return PictureCell::At(views.0 + row * 16 + 4, len);
            }
            let (buffer, start) = (usize::try_from(number(8)).ok(), u64::from(number(12)));
            match buffer.and_then(|buffer| buffers.get(buffer)) {
                Some(buffer) if start + len <= buffer.1 => PictureCell::At(buffer.0 + start, len),
                _ => PictureCell::Outside,
            }
        };
        Some((0..).zip(bytes.chunks_exact(16)).map(cell).collect())
    }

    /// The values of a field, which has so many. Within a list of structures, these are lists of its values.
    fn within(&self, place: &FieldPlace<'_>, len: usize) -> Option<ArrayData> {
        let data =
            if place.rest.is_empty() { self.array(place.of, &mut place.at.clone())? } else { self.lists(place)? };
        if data.len() != len {
            return None;
        }
        let Nulls(nulls) = self.with_nulls_around(&place.around, data.nulls(), len)?;
        data.into_builder().nulls(nulls).build().ok()
    }

    /// The lists of a field's values, of lists of structures.
    fn lists(&self, place: &FieldPlace<'_>) -> Option<ArrayData> {
        let (len, nulls) = self.node(place.at)?;
        let (item, buffers) = match place.of {
            DataType::List(item) | DataType::LargeList(item) => (item, 2),
            DataType::FixedSizeList(item, _) => (item, 1),
            _ => return None,
        };
        let items = place.at.within(buffers);
        let inner = match item.data_type() {
            DataType::Struct(fields) => {
                let mut inner = items.within(1).find(fields, place.rest, &self.header)?;
                inner.around.insert(0, items);
                inner
            }
            of => FieldPlace { of, rest: place.rest, at: items, around: Vec::new() },
        };
        let values = self.within(&inner, self.node(items)?.0)?;
        let item = list_item(values.data_type().clone());
        let builder = match place.of {
            DataType::List(_) => ArrayData::builder(DataType::List(item)).add_buffer(self.buffer(place.at.buffer + 1)?),
            DataType::LargeList(_) => {
                ArrayData::builder(DataType::LargeList(item)).add_buffer(self.buffer(place.at.buffer + 1)?)
            }
            DataType::FixedSizeList(_, size) => ArrayData::builder(DataType::FixedSizeList(item, *size)),
            _ => return None,
        };
        builder.len(len).nulls(nulls).align_buffers(true).child_data(vec![values]).build().ok()
    }

    /// The array of this type that begins here. The cursor moves behind it.
    fn array(&self, of: &DataType, cursor: &mut BufferCursor) -> Option<ArrayData> {
        let at = *cursor;
        let (len, nulls) = self.node(at)?;
        let mut builder = ArrayData::builder(of.clone()).len(len).nulls(nulls).align_buffers(true);
        let children = |cursor: &mut BufferCursor, types: &[&DataType]| -> Option<Vec<ArrayData>> {
            types.iter().map(|of| self.array(of, cursor)).collect()
        };
        match of {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => {
                builder = builder.add_buffer(self.buffer(at.buffer + 1)?).add_buffer(self.buffer(at.buffer + 2)?);
                cursor.skip(of, &self.header)?;
            }
            DataType::Utf8View | DataType::BinaryView => {
                let count = at.view_buffers(&self.header)?;
                let buffers: Option<Vec<Buffer>> =
                    (0..=count).map(|buffer| self.buffer(at.buffer + 1 + buffer)).collect();
                builder = builder.add_buffers(buffers?);
                cursor.skip(of, &self.header)?;
            }
            DataType::List(field) | DataType::LargeList(field) => {
                builder = builder.add_buffer(self.buffer(at.buffer + 1)?);
                *cursor = at.within(2);
                builder = builder.child_data(children(cursor, &[field.data_type()])?);
            }
            DataType::FixedSizeList(field, _) => {
                *cursor = at.within(1);
                builder = builder.child_data(children(cursor, &[field.data_type()])?);
            }
            DataType::Null => *cursor = at.within(0),
            other if other.is_primitive() || *other == DataType::Boolean => {
                builder = builder.add_buffer(self.buffer(at.buffer + 1)?);
                *cursor = at.within(2);
            }
            _ => return None,
        }
        builder.build().ok()
    }

    /// The length of a field, and which of its values are null.
    fn node(&self, at: BufferCursor) -> Option<(usize, Option<NullBuffer>)> {
        let nodes = self.header.nodes()?;
        let node = (at.node < nodes.len()).then(|| nodes.get(at.node))?;
        let len = usize::try_from(node.length()).ok()?;
        if node.null_count() == 0 || len == 0 {
            return Some((len, None));
        }
        let bits = self.buffer(at.buffer)?;
        if bits.len() < len.div_ceil(8) {
            // The null type has no bits.
            return bits.is_empty().then_some((len, None));
        }
        Some((len, Some(NullBuffer::new(arrow_buffer::BooleanBuffer::new(bits, 0, len)))))
    }

    /// The nulls, with those of the structures around a field of so many values. Nothing, if they cannot be read.
    fn with_nulls_around(&self, around: &[BufferCursor], own: Option<&NullBuffer>, len: usize) -> Option<Nulls> {
        let mut all = own.cloned();
        for structure in around {
            let (of_structure, nulls) = self.node(*structure)?;
            if of_structure != len {
                return None;
            }
            all = NullBuffer::union(all.as_ref(), nulls.as_ref());
        }
        Some(Nulls(all))
    }

    /// Where a buffer is in the file, within the batch's body.
    fn range(&self, number: usize) -> Option<ByteRange> {
        let buffers = self.header.buffers()?;
        let buffer = (number < buffers.len()).then(|| buffers.get(number))?;
        let (offset, len) = (u64::try_from(buffer.offset()).ok()?, u64::try_from(buffer.length()).ok()?);
        let is_inside = offset.checked_add(len).is_some_and(|end| end <= self.body.len);
        is_inside.then_some((self.body.offset + offset, len))
    }

    /// The content of a buffer: where it is in the file, or, if it is compressed, only how long it is.
    fn content(&self, number: usize) -> Option<ByteRange> {
        let (offset, len) = self.range(number)?;
        match self.codec {
            None => Some((offset, len)),
            Some(_) if len == 0 => Some((0, 0)),
            Some(_) => {
                let head = self.ranges.range(offset, len.min(LENGTH))?;
                Some((0, codec::content_len(&head, len)?))
            }
        }
    }

    /// The first bytes of a buffer's content.
    fn beginning(&self, number: usize, len: usize) -> Option<Vec<u8>> {
        if self.codec.is_some() {
            let mut bytes = self.bytes(number)?;
            bytes.truncate(len);
            return (bytes.len() == len).then_some(bytes);
        }
        let (offset, stored) = self.range(number)?;
        if len as u64 <= stored { self.ranges.range(offset, len as u64) } else { None }
    }

    /// The content of a buffer.
    fn bytes(&self, number: usize) -> Option<Vec<u8>> {
        let (offset, len) = self.range(number)?;
        let stored = self.ranges.range(offset, len)?;
        match self.codec {
            None => Some(stored),
            Some(codec) => codec.content(stored, self.rows),
        }
    }

    fn buffer(&self, number: usize) -> Option<Buffer> {
        let bytes = self.bytes(number)?;
        // Aligned for every type.
        let mut aligned = MutableBuffer::with_capacity(bytes.len());
        aligned.extend_from_slice(&bytes);
        Some(aligned.into())
    }
}
