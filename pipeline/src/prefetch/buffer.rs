//! The content of a record after it was taken from the prefetch.

use std::mem;
use std::sync::Arc;

use super::loaded::Loaded;
use super::shared::PrefetchShared;
use crate::mosaic::MosaicContent;
use crate::record::Input;
use crate::remote::answer::AnsweredPicture;

/// The content of one record. Dropping it returns its room to the budget, and its memory to the next read.
#[derive(Debug)]
pub(crate) struct Buffer {
    loaded: Loaded,
    reserved: u64,
    shared: Arc<PrefetchShared>,
}

impl Buffer {
    /// What was loaded, with its room in the budget.
    pub(super) fn new(loaded: Loaded, reserved: u64, shared: Arc<PrefetchShared>) -> Self {
        Self { loaded, reserved, shared }
    }

    /// As a decoder takes it.
    pub(crate) fn input(&self) -> Input<'_> {
        self.loaded.input()
    }

    /// What was read for its mosaic, if the stream has mosaics.
    pub(crate) fn mosaic(&self) -> Option<&MosaicContent> {
        match &self.loaded {
            Loaded::Mosaic(content) => Some(content),
            Loaded::Read(_) | Loaded::Kept(_) | Loaded::Made(_) => None,
        }
    }

    /// The picture, if a decoder on another machine has made it.
    pub(crate) fn made(&self) -> Option<&AnsweredPicture> {
        match &self.loaded {
            Loaded::Made(made) => Some(made),
            Loaded::Read(_) | Loaded::Mosaic(_) | Loaded::Kept(_) => None,
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let nothing = Loaded::Read(Vec::new());
        self.shared.give_back(self.reserved, mem::replace(&mut self.loaded, nothing));
    }
}
