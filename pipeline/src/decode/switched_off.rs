//! What the status says of a GPU, or of one of its lanes, that was requested but is not available.

/// A GPU or lane that was requested but does not decode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchedOff {
    /// `GPUs`, `GPU 0`, `hardware on GPU 0`.
    pub name: String,
    /// Why, in words.
    pub reason: String,
}
