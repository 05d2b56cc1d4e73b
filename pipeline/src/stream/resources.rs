//! What a stream takes of the resources that all streams of the process share.

use std::sync::Arc;

use forebay_sources::Source;

use crate::cache::{Cache, CacheKey, Caches};
use crate::decode::Pool;
use crate::gpu_ring::Gpus;
use crate::remote_pictures::not_remote;
use crate::seek::{SeekStore, SeekStores};
use crate::settings::{CacheKind, StreamSettings};
use crate::stream::decoders::Decoders;
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
    /// Decoders on other machines, if the configuration has some.
    pub decoders: Option<Arc<Decoders>>,
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

    /// The decoders on other machines that make pictures of a stream with these settings.
    ///
    /// # Errors
    /// They cannot, and the daemon has no decode threads.
    pub(super) fn decoders(
        &self,
        source: &dyn Source,
        (settings, document): (&StreamSettings, &str),
    ) -> Result<Option<Arc<Decoders>>, StreamError> {
        let Some(decoders) = &self.decoders else { return Ok(None) };
        let is_list = !document.contains("\"source\"");
        let what = not_remote(settings, source).or_else(|| is_list.then_some("a list of files"));
        match what {
            None => Ok(Some(Arc::clone(decoders))),
            Some(what) if decoders.makes_here() || settings.num_threads.is_some() => {
                tracing::info!(what, "the decoders of [decode] remote make no pictures of this stream");
                Ok(None)
            }
            Some(what) => Err(StreamError::NotRemote { what }),
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
