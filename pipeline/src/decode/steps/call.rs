//! One call of a function, and what became of it.

use serde_json::Value;

use crate::mask_numbers::MaskNumbers;

/// One call: which function, and of which picture.
#[derive(Clone, Debug)]
pub(super) struct Call<'a> {
    pub step: usize,
    pub view: &'a str,
    pub record: u64,
    pub epoch: u64,
    pub repeat: u16,
    pub seed: u128,
    /// Height and width of the picture.
    pub size: (u32, u32),
    pub pixels: &'a [u8],
    pub masks: &'a [MaskNumbers],
    pub label: i64,
    /// What the columns have, as functions get it.
    pub columns: Vec<Value>,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CallAnswer {
    /// The result is in the arena: a picture, or floats as in a batch. `beside` is what was returned with it.
    Made { are_floats: bool, beside: Vec<u8> },
    /// The function raised this, with the end of its traceback.
    Raised(String),
    /// The function wants the record to be left out, and says this.
    Skipped(String),
    /// Its result is none.
    Wrong(String),
    /// The machine lacks something.
    Lack(String),
    /// The child got no more memory.
    NoMemory,
    /// The function has imported something that is seeded before a call: it is to be called again with what it got.
    Again,
}

impl CallAnswer {
    /// Why this function has given no result, if it has not.
    pub(super) fn trouble(self, function: &str) -> Option<String> {
        match self {
            Self::Made { .. } | Self::Again => None,
            Self::Skipped(words) => Some(format!("The function {function} has skipped it: {words}.")),
            Self::Raised(words) => Some(format!("The function {function} raised {words}")),
            Self::Wrong(words) => Some(format!("The result of the function {function} cannot be used: {words}.")),
            Self::Lack(words) => Some(words),
            Self::NoMemory => Some("MemoryError".to_owned()),
        }
    }
}
