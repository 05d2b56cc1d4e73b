//! The border between C's callers and Rust: functions with C's names, answers, and objects that are lent and taken back. The
//! caller must pass valid pointers, as with the real libraries that this one replaces.
#![allow(unsafe_code, reason = "pointers of C's callers")]

use std::ffi::{c_int, c_void};

use crate::dial::Count;

/// Success of both libraries.
pub(crate) const SUCCESS: c_int = 0;

// SAFETY: all functions that it makes have the names and types of libcuda's and libnvjpeg's, which no test has beside this library.
macro_rules! c_functions {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $(
            // SAFETY: see above.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) -> std::ffi::c_int $body
        )*
    };
}
pub(crate) use c_functions;

/// Answers by a place of the caller's.
pub(crate) fn write<T>(to: *mut T, value: T) -> c_int {
    // SAFETY: the caller gives a place for the answer.
    unsafe { to.write(value) };
    SUCCESS
}

/// `len` values of the caller's, which keeps them until the stream has used them.
pub(crate) fn slice<'a, T>(at: *const T, len: usize) -> &'a [T] {
    // SAFETY: the caller gives `len` values, and keeps them.
    unsafe { std::slice::from_raw_parts(at, len) }
}

/// Copies between two places of the caller's, kept until the stream has got here.
pub(crate) fn copy(from: usize, to: usize, len: usize) {
    // SAFETY: the caller gives two places of this length, and keeps them.
    unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, len) }
}

/// Gives an object to the caller, and counts it.
pub(crate) fn hand_out<T>(to: *mut *mut c_void, count: Count, object: T) -> c_int {
    count.add(1);
    write(to, Box::into_raw(Box::new(object)).cast())
}

/// An object that the caller has and has not given back.
pub(crate) fn lent<'a, T>(at: *mut c_void) -> &'a T {
    // SAFETY: made by `hand_out` of the same type, as the caller promises.
    unsafe { &*at.cast::<T>() }
}

/// One of those that the caller uses on one thread at a time.
pub(crate) fn lent_alone<'a, T>(at: *mut c_void) -> &'a mut T {
    // SAFETY: as of `lent`, and no other thread uses it.
    unsafe { &mut *at.cast::<T>() }
}

/// Takes an object back.
pub(crate) fn take_back<T>(at: *mut c_void, count: Count) -> T {
    count.add(-1);
    // SAFETY: made by `hand_out` of the same type, given back once, as the caller promises.
    *unsafe { Box::from_raw(at.cast::<T>()) }
}
