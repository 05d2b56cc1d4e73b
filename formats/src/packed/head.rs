//! Memory for what is before a record's content. Each thread keeps its own, so that reading a record allocates nothing.

use std::cell::Cell;

/// Memory beyond this is not kept.
const MOST: usize = 1 << 20;

thread_local! {
    static MEMORY: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Lends so many bytes, which are 0.
pub(super) fn with_head<T>(len: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    let mut memory = MEMORY.take();
    memory.clear();
    memory.resize(len, 0);
    let done = work(&mut memory);
    if memory.capacity() <= MOST {
        MEMORY.set(memory);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_empty_and_kept_unless_it_is_large() {
        let at = |len| {
            with_head(len, |head| {
                assert!(head.len() == len && head.iter().all(|byte| *byte == 0));
                head.fill(7);
                head.as_ptr()
            })
        };
        let first = at(100);
        assert_eq!((at(40), at(100)), (first, first));
        at(MOST + 1);
        assert_eq!(MEMORY.take().capacity(), 0);
    }
}
