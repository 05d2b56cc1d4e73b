//! Which version of the protocol a connection has. A program speaks its newest version and, from version 15 on, the one
//! before it, so that a trainer and a daemon of neighbouring releases understand each other.

use std::fmt;

/// The newest version of the messages and of the ring's layout that this program speaks.
pub const PROTOCOL: u32 = 15;
/// The oldest version that this program speaks.
pub const OLDEST_PROTOCOL: u32 = 14;
/// The first version whose OFFER says how large the pictures of a batch are.
pub const FIRST_WITH_SIZES: u32 = 15;
/// The version of the ring's layout, which later versions of the messages may share.
pub const LAYOUT_PROTOCOL: u32 = 14;
/// The first version whose ATTACH says which is the oldest version that the trainer speaks.
pub(crate) const FIRST_WITH_OLDEST: u32 = 14;
/// Kinds of messages from here on say nothing that a trainer must know: one that does not know such a kind skips it.
pub const OPTIONAL_KINDS: u32 = 1024;

/// The versions from `oldest` to `newest`, which one side of a connection speaks.
///
/// ```
/// use forebay_ring::{PROTOCOL, Versions};
///
/// let newer = Versions { oldest: PROTOCOL, newest: PROTOCOL + 1 };
/// assert_eq!(Versions::OURS.shared_with(newer), Some(PROTOCOL));
/// assert_eq!(Versions::OURS.shared_with(Versions::one(PROTOCOL + 1)), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The lowest.
    pub oldest: u32,
    /// The highest.
    pub newest: u32,
}

impl Versions {
    /// Those that this program speaks.
    pub const OURS: Self = Self { oldest: OLDEST_PROTOCOL, newest: PROTOCOL };

    /// A single version.
    pub const fn one(version: u32) -> Self {
        Self { oldest: version, newest: version }
    }

    /// The newest version that both sides speak. `None` if there is none, or if `theirs` has no version in it.
    pub fn shared_with(self, theirs: Self) -> Option<u32> {
        let shared = self.newest.min(theirs.newest);
        (shared >= self.oldest.max(theirs.oldest)).then_some(shared)
    }

    /// Whether this is one of them.
    pub fn contains(self, version: u32) -> bool {
        self.shared_with(Self::one(version)).is_some()
    }

    /// Whether all of these are before all of the others.
    pub fn are_before(self, others: Self) -> bool {
        self.newest < others.oldest
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.oldest == self.newest {
            write!(f, "version {}", self.newest)
        } else {
            write!(f, "versions {} to {}", self.oldest, self.newest)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn neighbours_agree_and_others_do_not() {
        let release = |version| Versions { oldest: version - 1, newest: version };
        assert_eq!(release(16).shared_with(release(16)), Some(16));
        assert_eq!(release(16).shared_with(release(15)), Some(15));
        assert_eq!(release(15).shared_with(release(16)), Some(15));
        assert_eq!(release(17).shared_with(release(15)), None);
        assert!(release(15).are_before(release(17)) && !release(15).are_before(release(16)));
    }

    #[test]
    fn the_ring_s_layout_is_one_that_every_version_of_the_messages_reads() {
        assert_eq!((Versions::OURS.to_string(), LAYOUT_PROTOCOL), ("versions 14 to 15".to_owned(), OLDEST_PROTOCOL));
        assert!(
            Versions::OURS.contains(FIRST_WITH_SIZES) && !Versions::one(OLDEST_PROTOCOL).contains(FIRST_WITH_SIZES)
        );
    }

    #[test]
    fn versions_are_named_in_words() {
        assert_eq!(Versions::one(13).to_string(), "version 13");
        assert_eq!(Versions { oldest: 14, newest: 15 }.to_string(), "versions 14 to 15");
    }

    proptest! {
        #[test]
        fn what_is_shared_is_the_newest_that_both_speak(ours: [u8; 2], theirs: [u8; 2]) {
            let of = |[oldest, newest]: [u8; 2]| Versions { oldest: oldest.into(), newest: newest.into() };
            let (one, two) = (of(ours), of(theirs));
            let both = (0..=255).rev().find(|version| {
                [one, two].iter().all(|side| (side.oldest..=side.newest).contains(version))
            });
            prop_assert_eq!(one.shared_with(two), both);
            prop_assert_eq!(two.shared_with(one), both);
        }
    }
}
