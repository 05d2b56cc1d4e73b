//! Memory of a GPU that other processes map as well, and what a GPU and its driver must have for it.
//!
//! It is made with the driver's functions for virtual memory (`cuMemCreate` and the like): its descriptor crosses a socket, and
//! the memory lives until the last process has let go of it, whichever ends first.
#![allow(unsafe_code, reason = "calls libcuda")]

use std::fmt;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::Arc;

use super::context::Context;
use super::result::{CudaError, ShareError};
use super::sys::{self, Access, Allocation, DevicePtr, DriverTable, Properties, Sharing};

/// The name of a GPU, or of a part of one, that no other has: the same in every process and container, whatever numbers they
/// give their GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uuid(pub [u8; 16]);

/// What a GPU and its driver have for memory that processes share.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "answers of the driver, none of which follows from another")]
pub struct Shareable {
    /// Which GPU.
    pub uuid: Uuid,
    /// It is a part of a GPU (Multi-Instance GPU), as the driver's name for it says.
    pub part: bool,
    /// Its compute mode lets one process or none use it, and no Multi-Process Service shares it.
    pub alone: bool,
    /// It maps memory at addresses of our choice.
    pub virtual_memory: bool,
    /// Its memory has descriptors.
    pub descriptors: bool,
}

/// Memory of a GPU with a descriptor, mapped in this process for reading and writing.
#[derive(Debug)]
pub struct SharedMemory {
    // In the order in which they are given up.
    mapped: Mapped,
    fd: OwnedFd,
}

/// A part of shared memory that a lane writes to, or that is read back. Its owner must decide who may do so, and when: two
/// writers of one part at the same time leave arbitrary bytes.
#[derive(Clone, Debug)]
pub struct SharedPlace {
    memory: Arc<SharedMemory>,
    at: usize,
    len: usize,
}

/// Memory in its place.
#[derive(Debug)]
struct Mapped {
    range: Range,
    /// The mapping holds the memory; this is the handle's own share in it.
    _handle: MemoryHandle,
}

/// Memory without a place.
#[derive(Debug)]
struct MemoryHandle {
    context: Arc<Context>,
    raw: Allocation,
}

/// Addresses without memory.
#[derive(Debug)]
struct Range {
    context: Arc<Context>,
    at: DevicePtr,
    len: usize,
}

/// What the GPU with this number has for memory that processes share.
///
/// # Errors
/// There is no such GPU, or the driver does not answer.
pub(super) fn shareable(table: &DriverTable, sharing: &Sharing, ordinal: i32) -> Result<Shareable, CudaError> {
    let device = table.device(ordinal)?;
    let mut uuid = sys::RawUuid::default();
    // SAFETY: the place for the answer is writable.
    let code = unsafe { (sharing.device_uuid)(&raw mut uuid, device) };
    table.check("cuDeviceGetUuid", code)?;
    let has = |attribute| table.device_attribute(attribute, device).map(|has| has != 0);
    // Drivers that do not know of the attribute have an error for it.
    let by_mps = has(sys::MPS).unwrap_or(false);
    Ok(Shareable {
        uuid: Uuid(uuid.bytes),
        part: table.device_name(device)?.contains(" MIG "),
        alone: has(sys::COMPUTE_MODE)? && !by_mps,
        virtual_memory: has(sys::VIRTUAL_MEMORY)?,
        descriptors: has(sys::POSIX_DESCRIPTORS)?,
    })
}

impl SharedMemory {
    /// Takes `len` bytes or a little more: as many as make whole pieces of the kind that the GPU maps.
    ///
    /// # Errors
    /// The driver is too old, the GPU cannot share memory, or has not so much of it left.
    pub fn new(context: &Arc<Context>, len: usize) -> Result<Self, ShareError> {
        let sharing = context.sharing()?;
        context.bind()?;
        let wanted = Properties::shareable(context.device());
        let mut piece = 0;
        // SAFETY: the number is writable, and the properties are whole.
        let code = unsafe { (sharing.granularity)(&raw mut piece, &raw const wanted, sys::GRANULARITY_MINIMUM) };
        context.check("cuMemGetAllocationGranularity", code)?;
        let len = len.max(1).next_multiple_of(piece.max(1));
        let handle = MemoryHandle::new(context, sharing, len, &wanted)?;
        let fd = handle.export(sharing)?;
        let mapped = Mapped::new(Range::new(context, sharing, len)?, handle, sharing)?;
        Ok(Self { mapped, fd })
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.mapped.range.len
    }

    /// Whether it has no bytes; it always has.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where it begins, for kernels of this process that write there.
    pub fn address(&self) -> u64 {
        self.mapped.range.at
    }

    /// The descriptor that another process imports it by.
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.mapped.range.context
    }
}

impl SharedPlace {
    /// A part of the memory.
    ///
    /// # Panics
    /// If it does not lie in it.
    pub fn new(memory: &Arc<SharedMemory>, at: usize, len: usize) -> Self {
        assert!(at.checked_add(len).is_some_and(|end| end <= memory.len()), "the place lies in the memory");
        Self { memory: Arc::clone(memory), at, len }
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where it begins, for kernels.
    pub(crate) fn address(&self) -> u64 {
        self.memory.address() + self.at as u64
    }

    /// Whether it is of this context's GPU.
    pub(crate) fn is_of(&self, context: &Context) -> bool {
        self.memory.context().device() == context.device()
    }
}

impl MemoryHandle {
    fn new(context: &Arc<Context>, sharing: &Sharing, len: usize, wanted: &Properties) -> Result<Self, CudaError> {
        let mut raw = 0;
        // SAFETY: the handle is writable, and the properties are whole.
        let code = unsafe { (sharing.create)(&raw mut raw, len, wanted, 0) };
        context.check("cuMemCreate", code)?;
        Ok(Self { context: Arc::clone(context), raw })
    }

    fn export(&self, sharing: &Sharing) -> Result<OwnedFd, CudaError> {
        let mut fd: i32 = -1;
        // SAFETY: for this kind of handle the answer is an int, whose place is writable.
        let code = unsafe { (sharing.export)((&raw mut fd).cast(), self.raw, sys::POSIX_DESCRIPTOR, 0) };
        self.context.check("cuMemExportToShareableHandle", code)?;
        // SAFETY: the driver has opened it for us, and nothing else has its number.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

impl Range {
    fn new(context: &Arc<Context>, sharing: &Sharing, len: usize) -> Result<Self, CudaError> {
        let mut at = 0;
        // SAFETY: the address is writable.
        let code = unsafe { (sharing.reserve)(&raw mut at, len, 0, 0, 0) };
        context.check("cuMemAddressReserve", code)?;
        Ok(Self { context: Arc::clone(context), at, len })
    }
}

impl Mapped {
    fn new(range: Range, handle: MemoryHandle, sharing: &Sharing) -> Result<Self, CudaError> {
        let Range { ref context, at, len } = range;
        // SAFETY: the range is reserved and empty, and the memory is as long.
        let code = unsafe { (sharing.map)(at, len, 0, handle.raw, 0) };
        context.check("cuMemMap", code)?;
        let access = Access::read_write(context.device());
        let mapped = Self { range, _handle: handle };
        // SAFETY: the range is mapped, and there is one description.
        let code = unsafe { (sharing.set_access)(at, len, &raw const access, 1) };
        mapped.range.context.check("cuMemSetAccess", code)?;
        Ok(mapped)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        let Range { context, at, len } = &self.range;
        if let (Ok(sharing), Ok(())) = (context.sharing(), context.bind()) {
            // SAFETY: mapped by `new`; copies into it were waited for by those who made them.
            let _in_a_broken_context = unsafe { (sharing.unmap)(*at, *len) };
        }
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        if let (Ok(sharing), Ok(())) = (self.context.sharing(), self.context.bind()) {
            // SAFETY: reserved by `new`, and nothing is mapped there any more.
            let _in_a_broken_context = unsafe { (sharing.address_free)(self.at, self.len) };
        }
    }
}

impl Drop for MemoryHandle {
    fn drop(&mut self) {
        if let (Ok(sharing), Ok(())) = (self.context.sharing(), self.context.bind()) {
            // SAFETY: made by `new`, released only here.
            let _in_a_broken_context = unsafe { (sharing.release)(self.raw) };
        }
    }
}

impl fmt::Display for Uuid {
    /// As `nvidia-smi -L` writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GPU")?;
        for (number, byte) in self.0.iter().enumerate() {
            if [0, 4, 6, 8, 10].contains(&number) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::library::Library;

    #[test]
    fn a_uuid_is_written_as_the_tools_of_the_driver_write_it() {
        let uuid = Uuid(std::array::from_fn(|place| u8::try_from(place * 17).unwrap()));
        assert_eq!(uuid.to_string(), "GPU-00112233-4455-6677-8899-aabbccddeeff");
    }

    #[test]
    fn a_driver_without_the_functions_is_told_by_the_first_of_them_and_is_no_panic() {
        let Ok(other) = Library::open(Path::new("libm.so.6")) else { return };
        let error = ShareError::from(Sharing::load(&other).unwrap_err()).to_string();
        assert!(error.contains("no function cuDeviceGetUuid_v2") && error.contains("too old"), "{error}");
    }

    /// `cuda.h` of CUDA 12 and 13, 64 bits.
    #[test]
    fn structs_have_the_sizes_of_the_header() {
        assert_eq!((size_of::<sys::Location>(), size_of::<Properties>(), size_of::<Access>()), (8, 32, 12));
    }
}
