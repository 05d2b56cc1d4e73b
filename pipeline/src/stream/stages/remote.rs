//! Where the decoders of other machines come into a stream's stages (semantics rule 60).

use std::sync::Arc;

use super::Stages;
use crate::prefetch::Prefetch;
use crate::remote::share::RemoteShare;
use crate::remote_pictures::answer_len;
use crate::stream::decoders;

/// Bytes that are read ahead for each decode thread of a daemon that has decoders on other machines too.
const BESIDE_DECODERS: u64 = 8 << 20;

impl Stages {
    /// Bytes that are read ahead. Beside decoders, what is read here is decoded here, so little of it is enough: the decoders make
    /// what this daemon's threads leave.
    pub(super) fn read_budget(&self) -> u64 {
        let budget = self.prefetch.budget.0;
        let beside = BESIDE_DECODERS.saturating_mul(self.pool.threads() as u64);
        if self.remote().is_some() { budget.min(beside) } else { budget }
    }

    /// What is shared with the task that asks decoders, if they make this stream's pictures.
    pub(super) fn remote(&self) -> Option<Arc<RemoteShare>> {
        let decoders = self.decoders.as_ref()?;
        let makes_here = decoders.makes_here() || self.settings.num_threads.is_some();
        Some(Arc::new(RemoteShare::new(answer_len(&self.settings), makes_here)))
    }

    /// Starts the task that asks them. It ends when the prefetch is closed.
    pub(super) fn ask_decoders(&self, prefetch: &Arc<Prefetch>) {
        let Some(asked) = self.decoders.clone() else { return };
        let source = self.dataset.source();
        let setup = decoders::setup(&self.document, &self.settings, source.as_ref(), self.pool.limits());
        let fingerprint = source.fingerprint();
        let number = fingerprint.first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
        let roster = Arc::clone(&self.meters.roster);
        tokio::spawn(decoders::drive((asked, roster), setup, number, Arc::clone(prefetch)));
    }
}
