//! Makes the memory of rings, as `[ring]` says, after a check whether there is enough of it (semantics rule 31).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use forebay_ring::{Backing, Geometry, Memory, NumaBinding, Pages, Region, RegionError, Unpopulated, numa_nodes};
use parking_lot::Mutex;

use crate::memory::{Promisee, Promises, beside};
use crate::settings::{Numa, RingSettings};
use crate::stream::StreamError;

/// Memory that the rings of a process take.
#[derive(Debug)]
pub struct RingMemory {
    settings: Mutex<RingSettings>,
    promises: Arc<Promises>,
    /// What was added is what was promised meanwhile: no two rings are added at once.
    taken: AtomicU64,
}

/// The memory of one ring. Dropping it gives the memory back.
#[derive(Debug)]
pub(super) struct RingMemoryShare {
    of: Arc<RingMemory>,
    bytes: u64,
    /// What the ring takes of the system's free memory.
    promised: u64,
    /// What the ring has not taken of it, once it is made.
    left: OnceLock<Unpopulated>,
}

impl RingMemory {
    /// Without a limit, the system's is asked for before each ring.
    pub fn new(settings: RingSettings, promises: Arc<Promises>) -> Self {
        Self { settings: Mutex::new(settings), promises, taken: AtomicU64::new(0) }
    }

    /// Has other settings, for rings from now on.
    pub fn change(&self, settings: RingSettings) {
        *self.settings.lock() = settings;
    }

    /// Makes a ring, pinnable or not, or says how much memory is needed and what is left. `near` is the NUMA node of the GPU
    /// that copies from the ring or to it.
    pub(super) fn ring(
        self: &Arc<Self>,
        geometry: Geometry,
        incarnation: u64,
        number: u32,
        pinnable: bool,
        near: Option<u32>,
    ) -> Result<(Arc<RingMemoryShare>, Region), StreamError> {
        let settings = self.settings.lock().clone();
        let backing = backing(&settings, pinnable, near, &numa_nodes());
        backing.check().map_err(RegionError::from)?;
        let bytes = u64::try_from(geometry.total_len()).unwrap_or(u64::MAX);
        let share = self.take(bytes, &backing, || Memory::for_ring(&backing))?;
        let region = match Region::backed(geometry.clone(), incarnation, number, backing) {
            Err(error @ RegionError::Bind { .. }) if settings.numa == Numa::Auto => {
                tracing::warn!(%error, "the ring's memory is not bound to the NUMA node of its GPU");
                Region::backed(geometry, incarnation, number, Backing { node: None, ..backing })?
            }
            made => made?,
        };
        share.made(&region);
        Ok((share, region))
    }

    fn take(
        self: &Arc<Self>,
        bytes: u64,
        backing: &Backing,
        system: impl FnOnce() -> std::io::Result<Memory>,
    ) -> Result<Arc<RingMemoryShare>, StreamError> {
        // Huge pages were set aside already. What the system has left has them no more, and no limit makes more of them.
        let set_aside = backing.pages == Pages::Hugetlb;
        // A limit of the process says nothing of what one node has, and a full node has programs killed.
        let on_one_node = matches!(backing.node, Some(NumaBinding::Only(_)));
        self.promises.promise(|promised| {
            let limit = self.settings.lock().memory;
            if let Some(limit) = limit {
                let available = limit.0.saturating_sub(self.taken.load(Ordering::Relaxed));
                Memory { available, limited_by: "ring.memory".into() }.check(bytes)?;
            }
            if set_aside {
                system()?.check(bytes)?;
            } else if limit.is_none() || on_one_node {
                beside(system()?, promised).check(bytes)?;
            }
            self.taken.fetch_add(bytes, Ordering::Relaxed);
            let promised = if set_aside { 0 } else { bytes };
            Ok(Arc::new(RingMemoryShare { of: Arc::clone(self), bytes, promised, left: OnceLock::new() }))
        })
    }
}

/// What a ring is made of, on a machine whose memory is on these nodes.
fn backing(settings: &RingSettings, pinnable: bool, near: Option<u32>, nodes: &[u32]) -> Backing {
    let node = match settings.numa {
        Numa::Node(node) => Some(NumaBinding::Only(node)),
        // With one node there is nothing to choose, and a GPU's node may have no memory.
        Numa::Auto => near.filter(|near| nodes.len() > 1 && nodes.contains(near)).map(NumaBinding::Preferred),
    };
    Backing { pages: settings.pages, node, pinnable }
}

impl RingMemoryShare {
    /// The ring is made: what it takes of the memory is promised no longer.
    fn made(&self, region: &Region) {
        self.left.get_or_init(|| region.unpopulated());
    }
}

impl Promisee for RingMemoryShare {
    fn untaken(&self) -> u64 {
        self.left.get().map_or(self.promised, Unpopulated::bytes)
    }
}

impl Drop for RingMemoryShare {
    fn drop(&mut self) {
        self.of.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use forebay_ring::{Dtype, Layout, Shape};

    use super::*;
    use crate::byte_size::ByteSize;

    fn memory(settings: RingSettings) -> Arc<RingMemory> {
        Arc::new(RingMemory::new(settings, Arc::default()))
    }

    fn limited(bytes: u64) -> RingSettings {
        RingSettings { memory: Some(ByteSize(bytes)), ..RingSettings::default() }
    }

    fn of(pages: Pages) -> Backing {
        Backing { pages, ..Backing::default() }
    }

    fn geometry(slots: u32) -> Geometry {
        let shape = Shape { batch: 1, height: 8, width: 8, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
        Geometry::try_new(shape, slots).unwrap()
    }

    #[test]
    fn rule_31_rings_share_a_limit_and_give_their_part_back() {
        let memory = memory(limited(10));
        let take = |bytes| memory.take(bytes, &of(Pages::Thp), || unreachable!("there is a limit"));
        let first = take(6).unwrap();
        assert!(matches!(take(5), Err(StreamError::Memory(error)) if (error.needed, error.available) == (5, 4)));
        let second = take(4).unwrap();
        drop(first);
        take(6).unwrap();
        drop(second);
    }

    #[test]
    fn rule_31_a_ring_is_compared_with_what_others_have_not_taken_yet() {
        let region = Region::create(geometry(2), 1, 0).unwrap();
        let (slot, ring) = (region.geometry().stride() as u64, region.geometry().total_len() as u64);
        let memory = memory(RingSettings::default());
        let system = || Ok(Memory { available: ring + slot, limited_by: "the test".into() });
        let left = || match memory.take(u64::MAX, &of(Pages::Thp), system) {
            Err(StreamError::Memory(error)) => error.available,
            other => panic!("{other:?}"),
        };
        let share = memory.take(ring, &of(Pages::Thp), system).unwrap();
        assert_eq!(left(), slot, "no page of it is there yet");
        share.made(&region);
        region.populate(1).unwrap();
        assert_eq!(left(), ring, "the system's figure has the first slot; the other one is still to come");
        drop(region);
        assert_eq!(left(), ring + slot);
    }

    #[test]
    fn rule_31_huge_pages_count_for_the_limit_of_rings_but_not_as_the_systems_free_memory() {
        let memory = memory(limited(10));
        let pool = |available| move || Ok(Memory { available, limited_by: "the pool".into() });
        let refused = |bytes, available| match memory.take(bytes, &of(Pages::Hugetlb), pool(available)) {
            Err(StreamError::Memory(error)) => error.limited_by,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(11, 99), "ring.memory");
        assert_eq!(refused(6, 5), "the pool", "no limit makes more of them");
        let share = memory.take(6, &of(Pages::Hugetlb), pool(6)).unwrap();
        assert_eq!(share.untaken(), 0);
        assert_eq!(refused(5, 99), "ring.memory");
        let small = memory.take(4, &of(Pages::Small), || unreachable!("there is a limit")).unwrap();
        assert_eq!(small.untaken(), 4);
    }

    #[test]
    fn rule_31_a_ring_on_one_node_is_compared_with_the_node_too_whatever_the_limit_of_rings() {
        let memory = memory(limited(10));
        let bound = Backing { node: Some(NumaBinding::Only(1)), ..Backing::default() };
        let node = |available| move || Ok(Memory { available, limited_by: "the node".into() });
        assert!(
            matches!(memory.take(6, &bound, node(5)), Err(StreamError::Memory(error)) if error.limited_by == "the node")
        );
        assert_eq!(memory.take(6, &bound, node(6)).unwrap().untaken(), 6);
    }

    #[test]
    fn rule_31_a_ring_larger_than_the_pool_of_huge_pages_is_refused_with_the_file_that_makes_more() {
        let memory = memory(RingSettings { pages: Pages::Hugetlb, ..RingSettings::default() });
        let refused = memory.ring(geometry(1 << 22), 1, 0, false, None).unwrap_err().to_string();
        assert!(refused.contains("8388610 MiB") && refused.contains("nr_hugepages"), "{refused}");
    }

    #[test]
    fn a_node_that_is_not_there_is_refused_by_name_before_any_memory_is_taken() {
        let node = numa_nodes().into_iter().max().unwrap() + 1;
        let memory = memory(RingSettings { numa: Numa::Node(node), ..RingSettings::default() });
        let refused = memory.ring(geometry(2), 1, 0, false, None).unwrap_err().to_string();
        assert!(
            refused.starts_with(&format!("the ring: this machine has no NUMA node {node} with memory")),
            "{refused}"
        );
        assert_eq!(memory.taken.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_ring_is_bound_to_the_configured_node_alone_and_prefers_that_of_its_gpu_where_there_are_several() {
        let of = |numa, near, nodes: &[u32]| {
            backing(&RingSettings { numa, ..RingSettings::default() }, false, near, nodes).node
        };
        assert_eq!(of(Numa::Node(3), Some(1), &[0, 1]), Some(NumaBinding::Only(3)));
        assert_eq!(of(Numa::Auto, None, &[0, 1]), None);
        assert_eq!(of(Numa::Auto, Some(1), &[0, 1]), Some(NumaBinding::Preferred(1)));
        assert_eq!(of(Numa::Auto, Some(1), &[1]), None);
        assert_eq!(of(Numa::Auto, Some(1), &[0, 2]), None, "the GPU's node has no memory");
    }
}
