//! Where the values of a field are in a batch of rows: the number of its node, and of its first buffer.

use arrow_ipc::RecordBatch;
use arrow_schema::{DataType, Fields, UnionMode};

/// Where a field begins, counted over all fields before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BufferCursor {
    pub node: usize,
    pub buffer: usize,
    /// Fields with views, which have as many buffers as the batch says.
    views: usize,
}

/// A field in a batch, with the structures around it.
#[derive(Debug)]
pub(super) struct FieldPlace<'a> {
    /// Its type.
    pub of: &'a DataType,
    /// The names that lead from it to a field within a list of structures. None, if it is the field that was looked for.
    pub rest: &'a [String],
    pub at: BufferCursor,
    /// The structures, from the outermost.
    pub around: Vec<BufferCursor>,
}

impl BufferCursor {
    /// Finds the field to which these names lead, or the outermost list around it. Nothing, if there is none, or if the batch
    /// lacks a number.
    pub(super) fn find<'a>(
        mut self,
        fields: &'a Fields,
        path: &'a [String],
        batch: &RecordBatch<'_>,
    ) -> Option<FieldPlace<'a>> {
        let (first, rest) = path.split_first()?;
        for field in fields {
            if field.name() != first {
                self.skip(field.data_type(), batch)?;
                continue;
            }
            let DataType::Struct(inner) = field.data_type() else {
                return Some(FieldPlace { of: field.data_type(), rest, at: self, around: Vec::new() });
            };
            let mut place = self.within(1).find(inner, rest, batch)?;
            place.around.insert(0, self);
            return Some(place);
        }
        None
    }

    /// What comes behind the node and so many buffers.
    pub(super) fn within(self, buffers: usize) -> Self {
        Self { node: self.node + 1, buffer: self.buffer + buffers, ..self }
    }

    /// How many buffers a field of views has beside its own two.
    pub(super) fn view_buffers(&self, batch: &RecordBatch<'_>) -> Option<usize> {
        let counts = batch.variadicBufferCounts()?;
        let count = (self.views < counts.len()).then(|| counts.get(self.views))?;
        // Each is described by 16 bytes of the message.
        usize::try_from(count).ok().filter(|count| *count <= batch.buffers().map_or(0, |buffers| buffers.len()))
    }

    /// Moves behind a field of this type.
    pub(super) fn skip(&mut self, of: &DataType, batch: &RecordBatch<'_>) -> Option<()> {
        let own = match of {
            DataType::Null | DataType::RunEndEncoded(..) => 0,
            DataType::Struct(_) | DataType::FixedSizeList(..) | DataType::Union(_, UnionMode::Sparse) => 1,
            DataType::Binary
            | DataType::LargeBinary
            | DataType::Utf8
            | DataType::LargeUtf8
            | DataType::ListView(_)
            | DataType::LargeListView(_) => 3,
            DataType::BinaryView | DataType::Utf8View => 2 + self.view_buffers(batch)?,
            // A dictionary's own values are in other messages.
            _ => 2,
        };
        *self = self.within(own);
        match of {
            DataType::BinaryView | DataType::Utf8View => self.views += 1,
            DataType::Struct(fields) => fields.iter().try_for_each(|field| self.skip(field.data_type(), batch))?,
            DataType::Union(fields, _) => {
                fields.iter().try_for_each(|(_, field)| self.skip(field.data_type(), batch))?;
            }
            DataType::List(field)
            | DataType::LargeList(field)
            | DataType::ListView(field)
            | DataType::LargeListView(field)
            | DataType::FixedSizeList(field, _)
            | DataType::Map(field, _) => self.skip(field.data_type(), batch)?,
            DataType::RunEndEncoded(ends, values) => {
                self.skip(ends.data_type(), batch)?;
                self.skip(values.data_type(), batch)?;
            }
            _ => {}
        }
        Some(())
    }
}
