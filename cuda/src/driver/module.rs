//! A kernel that was compiled ahead, loaded on a GPU, and its launches.
#![allow(unsafe_code, reason = "calls libcuda")]

use std::ffi::{CStr, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

use super::context::Context;
use super::result::CudaError;
use super::stream::Stream;
use super::sys;

/// A kernel on a GPU. All threads may launch it.
#[derive(Debug)]
pub(crate) struct Kernel {
    context: Arc<Context>,
    module: sys::Module,
    function: sys::Function,
}

// SAFETY: modules and functions are handles of the context, which all threads may use.
unsafe impl Send for Kernel {}
// SAFETY: as above; nothing changes them.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// Loads the first of these forms (a binary for one generation of GPUs, or PTX, which the driver compiles) that the GPU
    /// takes, and finds the kernel in it.
    ///
    /// # Errors
    /// What the driver said of the last one.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn load(context: &Arc<Context>, forms: &[&[u8]], name: &CStr) -> Result<Arc<Self>, CudaError> {
        context.bind()?;
        let (last, others) = forms.split_last().expect("there is a form");
        let taken = others.iter().find_map(|form| load(context, form).ok());
        let module = taken.map_or_else(|| load(context, last), Ok)?;
        let mut kernel = Self { context: Arc::clone(context), module, function: null_mut() };
        // SAFETY: the module lives, the name ends with a zero, and the pointer is writable.
        let code = unsafe { (context.table().module_function)(&raw mut kernel.function, kernel.module, name.as_ptr()) };
        context.check("cuModuleGetFunction", code)?;
        Ok(Arc::new(kernel))
    }

    /// Queues a launch of `blocks` with `threads` threads each, with one argument: an address of the GPU's memory.
    ///
    /// # Safety
    /// The address has the argument that the kernel expects. Until [`Stream::wait`] has returned, nothing else reads, writes
    /// or frees the memory that this argument names.
    ///
    /// # Errors
    /// It cannot be queued, or something before it failed.
    pub(crate) unsafe fn launch(
        &self,
        stream: &mut Stream,
        blocks: (c_uint, c_uint),
        threads: c_uint,
        mut argument: sys::DevicePtr,
    ) -> Result<(), CudaError> {
        self.context.bind()?;
        let mut arguments = [(&raw mut argument).cast::<c_void>()];
        // SAFETY: function and stream live; the driver copies the one argument that the kernel takes before it returns; what it
        // points to is the caller's promise.
        let code = unsafe {
            (self.context.table().launch)(
                self.function,
                blocks.0,
                blocks.1,
                1,
                threads,
                1,
                1,
                0,
                stream.raw(),
                arguments.as_mut_ptr(),
                null_mut(),
            )
        };
        self.context.check("cuLaunchKernel", code)
    }
}

fn load(context: &Context, form: &[u8]) -> Result<sys::Module, CudaError> {
    // The driver reads words of binaries, and text to its end.
    let mut words = vec![0_u64; form.len() / 8 + 1];
    for (word, bytes) in words.iter_mut().zip(form.chunks(8)) {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(whole);
    }
    let mut module = null_mut();
    // SAFETY: the form is whole, aligned, ends with a zero, and lives through the call; the pointer is writable.
    let code = unsafe { (context.table().module_load)(&raw mut module, words.as_ptr().cast()) };
    context.check("cuModuleLoadData", code).map(|()| module)
}

impl Drop for Kernel {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: loaded by `load`, unloaded only here; who launches waits before it lets go of the kernel.
            let _in_a_broken_context = unsafe { (self.context.table().module_unload)(self.module) };
        }
    }
}
