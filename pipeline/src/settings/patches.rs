//! The patches of a stream: how many a picture has at most, step by step (semantics rule 65).

/// The lengths that steps have in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchSettings {
    /// The rule and the patch for people.
    pub name: String,
    /// The lengths, each with the places of its steps on all ranks together.
    pub lengths: Vec<(u32, u32)>,
}

/// A step of tokens without room for the pictures that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("A step of {tokens} tokens has no room for {divisor} pictures of {length} patches, which take {needed}.")]
pub struct NoRoomForPatches {
    tokens: u64,
    divisor: u64,
    length: u32,
    needed: u64,
}

impl PatchSettings {
    /// Places of a step of pictures of `length` patches: as many as `tokens` have room for, in multiples of `divisor`.
    ///
    /// ```
    /// use forebay_pipeline::settings::PatchSettings;
    ///
    /// // timm's steps of 32 pictures of 1,024 patches.
    /// let places = [128, 256, 576, 784, 1024].map(|length| PatchSettings::places(32_768, length, 8).unwrap());
    /// assert_eq!(places, [256, 128, 56, 40, 32]);
    /// ```
    ///
    /// # Errors
    /// There is no room for `divisor` pictures.
    pub fn places(tokens: u64, length: u32, divisor: u64) -> Result<u64, NoRoomForPatches> {
        match tokens / u64::from(length.max(1)) / divisor * divisor {
            0 => {
                let needed = divisor.saturating_mul(length.into());
                Err(NoRoomForPatches { tokens, divisor, length, needed })
            }
            places => Ok(places),
        }
    }
}
