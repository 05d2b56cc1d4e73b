//! What a stream takes of the resources that all streams of the process share.

use std::sync::Arc;

use forebay_sources::Source;

use crate::cache::{Cache, CacheKey, Caches};
use crate::decode::Pool;
use crate::gpu_ring::Gpus;
use crate::seek::{SeekStore, SeekStores};
use crate::settings::{CacheKind, StreamSettings};
use crate::stream::{RingMemory, StreamError};

/// The resources that streams share.
#[derive(Clone, Debug)]
pub struct SharedResources {
    /// Threads that decode.
    pub pool: Arc<Pool>,
    /// Where the ring's memory is taken from.
    pub memory: Arc<RingMemory>,
    /// The caches of this process.
    pub caches: Arc<Caches>,
    /// The seek points of this process.
    pub seeks: Arc<SeekStores>,
    /// The GPUs that may hold rings.
    pub gpus: Arc<Gpus>,
}

impl SharedResources {
    /// A GPU that decodes pictures: the requested one, or else the first.
    ///
    /// # Errors
    /// No lane is on the requested GPU.
    pub(super) fn decoding_gpu(&self, asked: Option<i32>) -> Result<Option<i32>, StreamError> {
        let gpus: Vec<_> = self.pool.decoding_gpus().into_iter().collect();
        match asked {
            Some(asked) if !gpus.contains(&asked) => {
                let there = match &gpus[..] {
                    [] => "this daemon decodes on no GPU".into(),
                    [only] => format!("this daemon decodes on GPU {only} alone"),
                    _ => format!("this daemon decodes on the GPUs {gpus:?}"),
                };
                Err(StreamError::DecodeGpu { asked, there })
            }
            asked => Ok(asked.or_else(|| gpus.first().copied())),
        }
    }

    /// The cache of a stream, if its settings want one.
    ///
    /// # Errors
    /// There is too little memory for it.
    pub(super) fn cache(
        &self,
        source: &dyn Source,
        settings: &StreamSettings,
    ) -> Result<Option<Arc<Cache>>, StreamError> {
        let Some(wanted) = &settings.cache else { return Ok(None) };
        let keep = wanted.keep(&settings.recipe);
        Ok(Some(self.caches.open(CacheKey::new(source, keep, wanted.memory))?))
    }

    /// Where seek points are kept. Pictures that are kept decoded need none.
    pub(super) fn seek(&self, source: &dyn Source, settings: &StreamSettings) -> Option<Arc<SeekStore>> {
        let keeps_pictures = settings.cache.as_ref().is_some_and(|cache| cache.kind == CacheKind::Decoded);
        if keeps_pictures { None } else { self.seeks.open(source) }
    }
}
