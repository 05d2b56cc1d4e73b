//! libcuda's functions that lock pages of the host. Nothing is locked, but what a driver refuses is refused: memory that is not
//! there, and memory that this process may only read, unless the caller says so and the GPU can do it.
#![allow(unsafe_code, non_snake_case, reason = "functions with C's names")]

use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_void};

use parking_lot::Mutex;

use crate::boundary::{SUCCESS, c_functions};
use crate::cuda::{INVALID, NOT_SUPPORTED};
use crate::dial::{Count, Knob};

const ALREADY_REGISTERED: c_int = 712;
const NOT_REGISTERED: c_int = 713;
/// The flag for memory that is only read.
const READ_ONLY: c_uint = 8;

/// Ranges that are locked, by their start, and whether as memory that is only read.
static REGISTERED: Mutex<Option<HashMap<usize, bool>>> = Mutex::new(None);

/// Whether this process may do something, as `w` for writing, with all bytes of a range.
fn may(right: char, at: usize, len: usize) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut next = at;
    for (start, end, rights) in maps.lines().filter_map(mapping) {
        if (start..end).contains(&next) && rights.contains(right) {
            next = end;
        }
    }
    next >= at.saturating_add(len)
}

/// Of a line such as `7f00-7f10 r--s 0000 00:01 5 /memfd:forebay`: where it begins and ends, and the rights.
fn mapping(line: &str) -> Option<(usize, usize, &str)> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let at = |digits| usize::from_str_radix(digits, 16).ok();
    Some((at(start)?, at(end)?, rest.split(' ').next()?))
}

c_functions! {
    fn cuMemHostRegister_v2(at: *mut c_void, len: usize, flags: c_uint) {
        let read_only = flags & READ_ONLY != 0;
        if Knob::NoRegister.on() || read_only && Knob::NoReadOnly.on() {
            return NOT_SUPPORTED;
        }
        if len == 0 || !may(if read_only { 'r' } else { 'w' }, at as usize, len) {
            return INVALID;
        }
        let mut registered = REGISTERED.lock();
        let registered = registered.get_or_insert_default();
        if registered.contains_key(&(at as usize)) {
            return ALREADY_REGISTERED;
        }
        registered.insert(at as usize, read_only);
        Count::Registered.add(1);
        Count::ReadOnly.add(i64::from(read_only));
        SUCCESS
    }
    fn cuMemHostUnregister(at: *mut c_void) {
        let Some(read_only) = REGISTERED.lock().get_or_insert_default().remove(&(at as usize)) else {
            return NOT_REGISTERED;
        };
        Count::Registered.add(-1);
        Count::ReadOnly.add(-i64::from(read_only));
        SUCCESS
    }
}
