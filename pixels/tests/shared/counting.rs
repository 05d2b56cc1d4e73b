//! An allocator that counts what passes by, for tests of what decoding really takes. libjpeg-turbo, which is C, allocates elsewhere
//! and is not seen here.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that this thread has, and the most that it had.
    pub(crate) static BYTES: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
}

/// The system's allocator, with a count.
struct Counting;

fn count(more: usize, less: usize) {
    let (now, most) = BYTES.get();
    let now = now + i64::try_from(more).unwrap_or(i64::MAX) - i64::try_from(less).unwrap_or(i64::MAX);
    BYTES.set((now, most.max(now)));
}

// SAFETY: everything is the system's allocator's; a count without memory of its own changes nothing of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller keeps what the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What any decoder takes for its tables, and for a few rows of these pictures.
pub(crate) const FIXED: u64 = 512 << 10;

/// The most bytes that this took at once, beside those that were there.
pub(crate) fn most<T>(act: impl FnOnce() -> T) -> (T, u64) {
    let (before, _) = BYTES.get();
    BYTES.set((before, before));
    let result = act();
    (result, u64::try_from(BYTES.get().1 - before).unwrap())
}
