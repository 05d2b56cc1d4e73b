//! Where the pixels of a ring stand: in its own slots, or in memory of a GPU.

use bytemuck::{Pod, Zeroable};

/// Where a ring's pixels stand. Labels, records, mask and claims stand in its slots in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Pixels {
    /// [`Pixels::IN_SLOTS`] or [`Pixels::IN_GPU`].
    pub place: u32,
    /// Zero.
    pub reserved: u32,
    /// UUID of the GPU, as the CUDA driver gives it; zeros without one, and so are the others.
    pub device: [u8; 16],
    /// Bytes from one slot's pixels to the next one's. Slot 0's are at the memory's start.
    pub stride: u64,
    /// Bytes of the whole memory, which comes along as a descriptor for `cuMemImportFromShareableHandle`.
    pub total: u64,
}

impl Pixels {
    /// The pixels stand in the slots.
    pub const IN_SLOTS: u32 = 0;
    /// The pixels stand in memory of a GPU; what the slots have for them means nothing.
    pub const IN_GPU: u32 = 1;
    /// A ring whose pixels stand in its slots.
    pub const HOST: Self = Self { place: Self::IN_SLOTS, reserved: 0, device: [0; 16], stride: 0, total: 0 };

    /// A ring whose pixels stand in `total` bytes of this GPU.
    pub fn in_gpu(device: [u8; 16], stride: u64, total: u64) -> Self {
        Self { place: Self::IN_GPU, reserved: 0, device, stride, total }
    }

    /// Whether they stand in memory of a GPU, which has a descriptor of its own; nothing if the fields mean nothing.
    pub(crate) fn has_descriptor(&self) -> Option<bool> {
        match self.place {
            Self::IN_SLOTS if *self == Self::HOST => Some(false),
            Self::IN_GPU if self.reserved == 0 && self.device != [0; 16] && (1..=self.total).contains(&self.stride) => {
                Some(true)
            }
            _ => None,
        }
    }
}
