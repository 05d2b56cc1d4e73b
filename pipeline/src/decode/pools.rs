//! The decode pools: one that streams share, and one for each other number of threads that a stream requests.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Weak};

use forebay_pixels::{Format, FurtherKind};
use parking_lot::Mutex;
use thiserror::Error;

use crate::cores::Pins;
use crate::decode::budget::Budget;
use crate::decode::cpu::{CpuLane, CpuShared};
use crate::decode::lanes::{LaneMissing, places};
use crate::decode::suspects::ChildLimits;
use crate::decode::{GpuLanes, Pool};
use crate::memory::Promises;
use crate::settings::DecodeSettings;

/// The pools, with what their threads share.
#[derive(Debug)]
pub struct Pools {
    shared: Arc<Pool>,
    /// By their number of threads; each lives as long as a stream uses it.
    further: Mutex<HashMap<usize, Weak<Pool>>>,
    /// For the decode threads of all pools.
    pins: Pins,
    pin: bool,
    lane: CpuShared,
    children: ChildLimits,
}

/// Why the pools cannot be started.
#[derive(Debug, Error)]
pub enum PoolsError {
    /// A requested lane is missing.
    #[error("{0}")]
    Lane(#[from] LaneMissing),
    /// Threads.
    #[error("the daemon cannot start: {0}")]
    System(#[from] io::Error),
}

impl Pools {
    /// Starts the shared pool, and the GPUs' lanes where the configuration wants them.
    ///
    /// # Errors
    /// The system has no more threads, or a requested lane is missing.
    pub fn start(config: &DecodeSettings, threads: usize, promises: &Promises) -> Result<Self, PoolsError> {
        let gpus = if config.lanes.want_gpu() {
            GpuLanes::open(config, &places(config.nvjpeg.clone()), promises)?
        } else {
            GpuLanes::default()
        };
        let lane = CpuShared::new(config.limits, Arc::new(Budget::new(config.memory.0)), config.jpeg);
        let pins = Pins::default();
        let children = ChildLimits { limits: config.limits, memory: config.memory.0, jpeg: config.jpeg };
        let shared = start(threads, config.pin.then_some(&pins), &lane, gpus, children)?;
        Ok(Self { shared, further: Mutex::default(), pins, pin: config.pin, lane, children })
    }

    /// The pool that the streams share.
    pub fn shared(&self) -> &Arc<Pool> {
        &self.shared
    }

    /// A pool with this number of threads. Beside GPUs it is the shared one: their lanes and the CPU's have one queue, and a
    /// pool has one.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn with(&self, threads: Option<usize>) -> io::Result<Arc<Pool>> {
        let Some(threads) =
            threads.filter(|&threads| threads != self.shared.threads() && self.shared.decoding_gpus().is_empty())
        else {
            return Ok(Arc::clone(&self.shared));
        };
        let mut further = self.further.lock();
        if let Some(pool) = further.get(&threads).and_then(Weak::upgrade) {
            return Ok(pool);
        }
        let pool = start(threads, self.pin.then_some(&self.pins), &self.lane, GpuLanes::default(), self.children)?;
        further.insert(threads, Arc::downgrade(&pool));
        Ok(pool)
    }

    /// How many pictures each decoder has decoded so far.
    pub fn decoded(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.lane.tally.figures()
    }

    /// How many of the pictures that the CPU lane has decoded had content that is not in the pixels: the format of the file, the
    /// content, and the number.
    pub fn left_out(&self) -> impl Iterator<Item = (Format, FurtherKind, u64)> {
        self.lane.left_out.figures()
    }
}

fn start(
    threads: usize,
    pins: Option<&Pins>,
    lane: &CpuShared,
    gpus: GpuLanes,
    children: ChildLimits,
) -> io::Result<Arc<Pool>> {
    let pool = Pool::start(threads, pins, &CpuLane::maker(lane.clone()), (lane.limits, &lane.memory), gpus)?;
    Ok(Arc::new(pool.with_children(children)))
}
