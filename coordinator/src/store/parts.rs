//! Texts and bytes one after the other, each with its length before it. What is read may come from outside.

/// Adds a part.
pub(super) fn put(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend((part.len() as u64).to_le_bytes());
    bytes.extend(part);
}

/// Takes a part. Nothing if there is none, or if it is longer than what is there.
pub(super) fn take<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (len, after) = rest.split_first_chunk::<8>()?;
    let (part, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
    *rest = after;
    Some(part)
}
