//! Names in fixed fields: UTF-8, padded with zeros.

/// A name as a field of `N` bytes carries it. `None` if it is longer, or holds a zero byte.
pub(crate) fn pad<const N: usize>(name: &str) -> Option<[u8; N]> {
    let mut padded = [0; N];
    padded.get_mut(..name.len()).filter(|_| !name.contains('\0'))?.copy_from_slice(name.as_bytes());
    Some(padded)
}

/// The name in a field. `None` if it is not UTF-8, or if a byte after the first zero is not zero.
pub(crate) fn unpad<const N: usize>(padded: &[u8; N]) -> Option<&str> {
    let len = padded.iter().position(|byte| *byte == 0).unwrap_or(N);
    let (name, padding) = padded.split_at(len);
    std::str::from_utf8(name).ok().filter(|_| padding.iter().all(|byte| *byte == 0))
}
