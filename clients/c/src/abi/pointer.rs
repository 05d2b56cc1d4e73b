//! Pointers of the caller: each is compared with NULL and read or written in one place.

use std::ffi::{CStr, c_char, c_void};
use std::slice;

use crate::failure::{Failure, Status};

/// Most names that a caller may pass; a stream has at most 256 columns.
const NAMES: usize = 256;

/// A text, or None for NULL.
///
/// # Safety
/// The pointer is NULL or of a text that ends with a zero byte and does not change during the call.
pub(super) unsafe fn text<'a>(what: &str, pointer: *const c_char) -> Result<Option<&'a str>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not NULL, and the caller vouches for the text.
    let text = unsafe { CStr::from_ptr(pointer) };
    let text =
        text.to_str().map_err(|error| Failure::invalid(format!("{what} is not UTF-8: {error}; encode it in UTF-8")))?;
    Ok(Some(text))
}

/// A text that must be there.
///
/// # Safety
/// See [`text`].
pub(super) unsafe fn required<'a>(what: &str, pointer: *const c_char) -> Result<&'a str, Failure> {
    // SAFETY: the caller vouches for what `text` requires.
    let text = unsafe { text(what, pointer) }?;
    text.ok_or_else(|| Failure::invalid(format!("{what} is NULL")))
}

/// A list of texts, or None for NULL.
///
/// # Safety
/// The pointer is NULL or of `count` pointers, each of which `text` can read.
pub(super) unsafe fn texts(
    what: &str,
    pointer: *const *const c_char,
    count: usize,
) -> Result<Option<Vec<String>>, Failure> {
    if pointer.is_null() && count > 0 {
        return Err(Failure::invalid(format!("{what} is NULL, and its count is {count}")));
    }
    if pointer.is_null() {
        return Ok(None);
    }
    if count > NAMES {
        return Err(Failure::invalid(format!("{what} has {count} names, and at most {NAMES} are allowed")));
    }
    // SAFETY: it is not NULL, and the caller vouches for the entries.
    let pointers = unsafe { slice::from_raw_parts(pointer, count) };
    let text = |&pointer: &*const c_char| {
        // SAFETY: the caller vouches for each text.
        unsafe { required(&format!("an entry of {what}"), pointer) }.map(str::to_owned)
    };
    pointers.iter().map(text).collect::<Result<_, _>>().map(Some)
}

/// Reads a struct.
///
/// # Safety
/// The pointer is NULL or of a `T` that does not change during the call.
pub(super) unsafe fn read<T: Copy>(what: &str, pointer: *const T) -> Result<T, Failure> {
    if pointer.is_null() {
        return Err(Failure::invalid(format!("{what} is NULL")));
    }
    // SAFETY: it is not NULL, and the caller vouches for the value. C may have packed it.
    Ok(unsafe { pointer.read_unaligned() })
}

/// Writes a result.
///
/// # Safety
/// The pointer is NULL or of memory for a `T` that nothing else uses during the call.
pub(super) unsafe fn write<T: Copy>(what: &str, pointer: *mut T, value: T) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::invalid(format!("{what} is NULL")));
    }
    // SAFETY: it is not NULL, and the caller vouches for the memory. C may have packed it.
    unsafe { pointer.write_unaligned(value) };
    Ok(())
}

/// Bytes to read.
///
/// # Safety
/// The pointer is NULL or of `length` bytes that do not change during the call.
pub(super) unsafe fn bytes<'a>(what: &str, pointer: *const c_void, length: usize) -> Result<&'a [u8], Failure> {
    if pointer.is_null() || length > isize::MAX.unsigned_abs() {
        return Err(Failure::invalid(format!("{what} is NULL, or longer than memory can be")));
    }
    // SAFETY: it is not NULL, and the caller vouches for the bytes.
    Ok(unsafe { slice::from_raw_parts(pointer.cast(), length) })
}

/// Fills a buffer whose size `length` has, and writes there how many bytes there are. A NULL buffer only asks for that.
///
/// # Safety
/// `length` is NULL or of a size, and the buffer is NULL or has that many bytes. Nothing else uses them during the call.
pub(super) unsafe fn fill(from: &[u8], buffer: *mut c_void, length: *mut usize) -> Result<Status, Failure> {
    // SAFETY: the caller vouches for the length.
    let room = unsafe { read("length", length) }?;
    // SAFETY: the same.
    unsafe { write("length", length, from.len()) }?;
    if buffer.is_null() {
        return Ok(Status::Ok);
    }
    if room < from.len() {
        let message = format!("the buffer has {room} bytes, and {} are needed", from.len());
        return Err(Failure::new(Status::Space, message));
    }
    // SAFETY: the buffer is not NULL and has room for them, and nothing else uses it.
    unsafe { buffer.cast::<u8>().copy_from_nonoverlapping(from.as_ptr(), from.len()) };
    Ok(Status::Ok)
}

/// Fills a buffer with a text and the zero byte at its end. See [`fill`].
///
/// # Safety
/// See [`fill`].
pub(super) unsafe fn fill_text(from: &str, buffer: *mut c_char, length: *mut usize) -> Result<Status, Failure> {
    let mut bytes: Vec<u8> = from.bytes().map(|byte| if byte == 0 { b' ' } else { byte }).collect();
    bytes.push(0);
    // SAFETY: the caller vouches for buffer and length.
    unsafe { fill(&bytes, buffer.cast(), length) }
}
