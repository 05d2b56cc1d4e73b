//! What the status says of a GPU, or of one of its lanes, that was requested but is not available.

/// Something of the GPUs that is asked for and does not decode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchedOff {
    /// `GPUs`, `GPU 0`, `hardware on GPU 0`.
    pub name: String,
    /// Why, in words.
    pub reason: String,
}
