//! Memory that is used again from picture to picture.

/// Bytes that have to follow the last pixel of what is resized: they are read, and count for nothing.
pub(crate) const SLACK: usize = 32;

/// The first `len` bytes of a buffer, of unspecified content; it grows to that if it must. A fresh buffer is zeroed by the
/// kernel as it is written to, so that a picture that only declares its pixels costs no memory.
pub(crate) fn sized(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        // Before the new memory is taken, the old one is given back.
        drop(std::mem::take(buffer));
        *buffer = vec![0; len];
    }
    &mut buffer[..len]
}

/// The first `len` bytes of a buffer, all zero: for decoders that leave out what a damaged file lacks, where another
/// picture's pixels would show.
pub(crate) fn cleared(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        return sized(buffer, len);
    }
    buffer[..len].fill(0);
    &mut buffer[..len]
}
