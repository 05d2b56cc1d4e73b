//! An array of an index: where its parts are in the file. Nothing of it is read before it is asked for.

use std::sync::Arc;

use arrow_schema::DataType;

use crate::index_blocks::{BadIndex, IndexBlocks};
use crate::values::{IndexNumber, StoredNumbers};

/// An array, as Arrow has it.
#[derive(Clone, Debug)]
pub(crate) struct StoredArray {
    pub data_type: DataType,
    pub len: usize,
    /// How many of its values are null.
    pub nulls: usize,
    pub blocks: Arc<IndexBlocks>,
    /// The bits that say which values are not null; empty if none is null.
    pub validity: Extent,
    /// Offsets, and values. A list has only offsets.
    pub buffers: Vec<Extent>,
    /// The array in the lists.
    pub child: Option<Box<StoredArray>>,
}

/// Bytes of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub start: u64,
    pub len: u64,
}

impl StoredArray {
    /// So many numbers of a buffer.
    ///
    /// # Errors
    /// The buffer has fewer.
    pub(crate) fn stored<T: IndexNumber>(&self, buffer: usize, len: usize) -> Result<StoredNumbers, BadIndex> {
        let buffer = self.buffers.get(buffer).copied().unwrap_or_default();
        let needed = (len as u64).checked_mul(size_of::<T>() as u64);
        if needed.is_none_or(|needed| needed > buffer.len) {
            return Err(BadIndex("a column of it is shorter than its records".into()));
        }
        Ok(StoredNumbers { blocks: Arc::clone(&self.blocks), start: buffer.start, len })
    }

    /// Where each list or text begins, and the last one ends.
    ///
    /// # Errors
    /// They cannot be read.
    pub(crate) fn offsets(&self) -> Result<Vec<i64>, BadIndex> {
        // Arrow may leave out the offsets of no value.
        if self.len == 0 {
            return Ok(vec![0]);
        }
        let StoredNumbers { start, len, .. } = self.stored::<i64>(0, self.len.saturating_add(1))?;
        Ok(i64::of_bytes(&self.bytes(Extent { start, len: len as u64 * size_of::<i64>() as u64 })?))
    }

    /// The bytes of a buffer.
    ///
    /// # Errors
    /// They cannot be read.
    pub(crate) fn buffer(&self, buffer: usize) -> Result<Vec<u8>, BadIndex> {
        self.bytes(self.buffers.get(buffer).copied().unwrap_or_default())
    }

    /// Bytes of the index.
    ///
    /// # Errors
    /// They cannot be read.
    pub(crate) fn bytes(&self, extent: Extent) -> Result<Vec<u8>, BadIndex> {
        let failed = || BadIndex("a column of it does not fit into memory".into());
        let len = usize::try_from(extent.len).map_err(|_| failed())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| failed())?;
        bytes.resize(len, 0);
        self.blocks.read(extent.start, &mut bytes)?;
        Ok(bytes)
    }

    /// The places of the values that are null.
    ///
    /// # Errors
    /// They cannot be read.
    pub(crate) fn null_places(&self) -> Result<Vec<bool>, BadIndex> {
        if self.nulls == 0 {
            return Ok(Vec::new());
        }
        let bits = self.bytes(self.validity)?;
        if (bits.len() as u64).saturating_mul(8) < self.len as u64 {
            return Err(BadIndex("a column of it is shorter than its records".into()));
        }
        Ok((0..self.len).map(|place| bits[place / 8] & (1 << (place % 8)) == 0).collect())
    }
}
