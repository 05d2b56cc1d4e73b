//! Buffers that are used again. New memory costs more time than the bytes that are put into it.

/// Some buffers, with bytes of earlier uses.
#[derive(Debug)]
pub(crate) struct UsedMemory {
    buffers: Vec<Vec<u8>>,
    /// The most bytes of all of them.
    most: usize,
}

impl UsedMemory {
    /// None yet.
    pub(crate) const fn new(most: usize) -> Self {
        Self { buffers: Vec::new(), most }
    }

    /// One of them, or a new one.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.buffers.pop().unwrap_or_default()
    }

    /// Keeps a buffer. If there is no room for it, the caller frees it, which takes time and needs no lock.
    pub(crate) fn keep(&mut self, buffer: Vec<u8>) -> Option<Vec<u8>> {
        if buffer.capacity() == 0 || self.len().saturating_add(buffer.capacity()) > self.most {
            return Some(buffer);
        }
        self.buffers.push(buffer);
        None
    }

    /// The bytes of all of them.
    pub(crate) fn len(&self) -> usize {
        self.buffers.iter().map(Vec::capacity).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_kept_up_to_a_limit_with_what_is_in_them() {
        let mut used = UsedMemory::new(100);
        assert_eq!(used.take(), b"");
        assert!([60, 40].iter().all(|&len| used.keep(vec![7; len]).is_none()));
        assert_eq!(used.keep(vec![8; 1]), Some(vec![8; 1]));
        assert_eq!(used.keep(Vec::new()), Some(Vec::new()));
        assert_eq!((used.len(), used.take(), used.len()), (100, vec![7; 40], 60));
    }
}
