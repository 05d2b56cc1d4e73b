//! Where the pixels of a ring are: in its own slots, or in memory of a GPU.

use bytemuck::{Pod, Zeroable};

/// Where a ring's pixels are. Labels, records, mask and claims are in its slots in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Pixels {
    /// [`Pixels::IN_SLOTS`] or [`Pixels::IN_GPU`].
    pub place: u32,
    /// Zero.
    pub reserved: u32,
    /// UUID of the GPU, as the CUDA driver gives it. Without a GPU, this and the fields below are zero.
    pub device: [u8; 16],
    /// Bytes from one slot's pixels to the next one's. Slot 0's are at the memory's start.
    pub stride: u64,
    /// Bytes of the whole memory, which comes along as a descriptor for `cuMemImportFromShareableHandle`.
    pub total: u64,
}

impl Pixels {
    /// The pixels are in the slots.
    pub const IN_SLOTS: u32 = 0;
    /// The pixels are in memory of a GPU; the slots' own bytes for them mean nothing.
    pub const IN_GPU: u32 = 1;
    /// A ring whose pixels are in its slots.
    pub const HOST: Self = Self { place: Self::IN_SLOTS, reserved: 0, device: [0; 16], stride: 0, total: 0 };

    /// A ring whose pixels are in `total` bytes of this GPU.
    pub fn in_gpu(device: [u8; 16], stride: u64, total: u64) -> Self {
        Self { place: Self::IN_GPU, reserved: 0, device, stride, total }
    }

    /// Whether they are in memory of a GPU, which has a descriptor of its own. `None` if the fields are invalid.
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
