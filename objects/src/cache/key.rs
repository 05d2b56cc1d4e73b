//! The name of an entry of the cache.

use std::fmt;

/// The name of an entry: a digest over what the bytes are of, and over their version.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheKey([u8; 32]);

impl CacheKey {
    /// A key for bytes of this kind. The parts say which they are. They must have all that the bytes depend on: the
    /// name of the object, its version, and what was made of it. No two lists of parts have the same key.
    pub fn new<'a>(kind: &'a str, parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("forebay 2026 key of a cache of objects");
        for part in [kind.as_bytes()].into_iter().chain(parts) {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// The key of a part of what this key names.
    #[must_use]
    pub fn part(&self, number: u64) -> Self {
        Self::new("part", [self.0.as_slice(), &number.to_le_bytes()])
    }

    /// A key as it is shown.
    pub(super) fn parse(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(|hash| Self(*hash.as_bytes()))
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from(self.0).to_hex())
    }
}

impl fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CacheKey({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_join_to_the_same_text_have_different_keys() {
        let key = |parts: &[&'static [u8]]| CacheKey::new("a", parts.iter().copied());
        let all = [key(&[b"ab", b"c"]), key(&[b"a", b"bc"]), key(&[b"abc"]), key(&[b"abc", b""]), key(&[])];
        for (place, one) in all.iter().enumerate() {
            assert!(all[..place].iter().all(|other| other != one));
        }
        assert_ne!(CacheKey::new("a", []), CacheKey::new("b", []));
        assert_eq!(key(&[b"abc"]).to_string().len(), 64);
        let parts = [key(&[]).part(0), key(&[]).part(1), key(&[b"abc"]).part(0)];
        assert!(parts[0] != parts[1] && parts[0] != parts[2] && parts[0] != key(&[]));
        assert_eq!(CacheKey::parse(&parts[0].to_string()), Some(parts[0]));
        assert_eq!((CacheKey::parse(""), CacheKey::parse("tmp")), (None, None));
    }
}
