//! How a ring's memory is backed: in pages of which size, on which NUMA node, and writable by whom.

use crate::numa::{self, NoNode};

/// The pages of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pages {
    /// Transparent huge pages where the kernel has room for them, small pages elsewhere.
    #[default]
    Thp,
    /// Pages of 2 MiB that the administrator has set aside.
    Hugetlb,
    /// Small pages alone.
    Small,
}

/// A NUMA node for a ring's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumaBinding {
    /// This node while it has memory, then other nodes.
    Preferred(u32),
    /// No other node.
    Only(u32),
}

/// What a ring's memory is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backing {
    /// Its pages.
    pub pages: Pages,
    /// Its node. Without one, the kernel chooses.
    pub node: Option<NumaBinding>,
    /// Its trainers can page-lock it for a GPU that takes writable memory alone. They can write it too, and take its pages
    /// away: it is for trainers whom the daemon trusts as itself, who read and write no slot but as it says.
    pub pinnable: bool,
}

impl NumaBinding {
    /// The node's number.
    pub fn node(self) -> u32 {
        let (Self::Preferred(node) | Self::Only(node)) = self;
        node
    }
}

impl Backing {
    /// Whether this machine has the node.
    ///
    /// # Errors
    /// It has not.
    pub fn check(&self) -> Result<(), NoNode> {
        self.node.map_or(Ok(()), |binding| numa::check(binding.node()))
    }

    /// The node that all the memory has to be on.
    pub(crate) fn only(&self) -> Option<u32> {
        match self.node {
            Some(NumaBinding::Only(node)) => Some(node),
            Some(NumaBinding::Preferred(_)) | None => None,
        }
    }
}
