//! The functions of a batch: what it is, views on its columns, release.

use std::ffi::c_char;

use super::pointer::{fill_text, required, write};
use super::{BatchHandle, BatchInfo, guarded};
use crate::batch::{BATCHES, OpenBatch};
use crate::failure::{Failure, Status};
use crate::view::View;

/// What a batch is.
///
/// # Safety
/// `info` is NULL or of room for a `forebay_batch_facts`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forebay_batch_info(batch: *const BatchHandle, info: *mut BatchInfo) -> Status {
    guarded(|| {
        let batch = BATCHES.get(number(batch))?;
        let facts = BatchInfo {
            epoch: batch.lent.epoch(),
            number: batch.lent.seq(),
            shown: batch.lent.shown() as u64,
            valid: batch.lent.valid() as u64,
            columns: batch.columns() as u64,
            reserved: [0; 4],
        };
        // SAFETY: the caller vouches for the room.
        unsafe { write("info", info, facts) }?;
        Ok(Status::Ok)
    })
}

/// The name of a column, counted from 0, with a zero byte at its end. The first four are `images`, `labels`, `records` and
/// `mask`.
///
/// `*length` is the size of the buffer. After the call it is the number of bytes that the name has, with its zero byte. With
/// a NULL buffer, the call only tells that. 64 bytes are enough for every name.
///
/// # Safety
/// `length` is NULL or of the buffer's size, and `buffer` is NULL or has that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forebay_batch_column_name(
    batch: *const BatchHandle,
    column: usize,
    buffer: *mut c_char,
    length: *mut usize,
) -> Status {
    guarded(|| {
        let batch = BATCHES.get(number(batch))?;
        // SAFETY: the caller vouches for buffer and length.
        unsafe { fill_text(batch.name(column)?, buffer, length) }
    })
}

/// A view on a column, by its name.
///
/// The first dimension is the places of the batch. A ragged column has the rows of all its lists instead, one list after the
/// other: `forebay_batch_offsets` says where each begins.
///
/// # Safety
/// `column` is NULL or of a text, and `view` is NULL or of room for a `forebay_view`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forebay_batch_view(
    batch: *const BatchHandle,
    column: *const c_char,
    view: *mut View,
) -> Status {
    // SAFETY: the caller vouches for name and room.
    unsafe { look(batch, column, view, OpenBatch::view) }
}

/// Offsets of a level of a ragged column, counted from 1: list `i` is the rows from offset `i` up to, but not including,
/// offset `i + 1`. With several levels, it is the lists of the level after this one. The offsets of level 1 are those of the
/// places.
///
/// # Safety
/// `column` is NULL or of a text, and `view` is NULL or of room for a `forebay_view`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forebay_batch_offsets(
    batch: *const BatchHandle,
    column: *const c_char,
    level: usize,
    view: *mut View,
) -> Status {
    // SAFETY: the caller vouches for name and room.
    unsafe { look(batch, column, view, |batch, name| batch.offsets(name, level)) }
}

/// For each place, whether it has a value of a column: 0 where the value is missing. The first four columns have none.
///
/// # Safety
/// `column` is NULL or of a text, and `view` is NULL or of room for a `forebay_view`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forebay_batch_validity(
    batch: *const BatchHandle,
    column: *const c_char,
    view: *mut View,
) -> Status {
    // SAFETY: the caller vouches for name and room.
    unsafe { look(batch, column, view, OpenBatch::validity) }
}

/// The batch was consumed: its records count as delivered, its views become invalid, and its slot can be filled again.
///
/// Call it when nothing reads the views any more, also no copy to a GPU. NULL does nothing. A batch that outlives its session
/// must be released too.
#[unsafe(no_mangle)]
pub extern "C" fn forebay_release(batch: *mut BatchHandle) -> Status {
    guarded(|| {
        if !batch.is_null() {
            let taken = BATCHES.take(number(batch))?;
            taken.lent.ack()?;
        }
        Ok(Status::Ok)
    })
}

/// The batch was not consumed: its records are delivered again, here or to another trainer. Its views become invalid. NULL
/// does nothing.
///
/// The status is `FOREBAY_STATUS_INVALID` if the batch counts as consumed already, because `forebay_next` was called since.
/// It is released all the same.
#[unsafe(no_mangle)]
pub extern "C" fn forebay_reject(batch: *mut BatchHandle) -> Status {
    guarded(|| {
        if !batch.is_null() {
            let taken = BATCHES.take(number(batch))?;
            taken.lent.decision().reject()?;
        }
        Ok(Status::Ok)
    })
}

/// Writes a view on a column.
///
/// # Safety
/// `column` is NULL or of a text, and `view` is NULL or of room for a view.
unsafe fn look(
    batch: *const BatchHandle,
    column: *const c_char,
    view: *mut View,
    find: impl FnOnce(&OpenBatch, &str) -> Result<View, Failure>,
) -> Status {
    guarded(|| {
        let batch = BATCHES.get(number(batch))?;
        // SAFETY: the caller vouches for the text.
        let name = unsafe { required("column", column) }?;
        // SAFETY: the caller vouches for the room.
        unsafe { write("view", view, find(&batch, name)?) }?;
        Ok(Status::Ok)
    })
}

/// The number that a handle is.
fn number(batch: *const BatchHandle) -> u64 {
    batch.addr() as u64
}
