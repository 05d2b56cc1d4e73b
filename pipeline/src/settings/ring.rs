//! The memory of all rings.

use forebay_ring::Pages;

use crate::byte_size::ByteSize;

/// What rings are made of, and how much of it they may take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingSettings {
    /// Memory that all rings together may use. If it is left out, the limit is the free memory.
    pub memory: Option<ByteSize>,
    /// The pages of their memory.
    pub pages: Pages,
    /// The NUMA node of their memory.
    pub numa: Numa,
}

/// The NUMA node of a ring's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numa {
    /// The node of the GPU that copies from the ring or to it. Without such a GPU, the kernel chooses.
    #[default]
    Auto,
    /// This node alone.
    Node(u32),
}
