//! Loops that are compiled once more for each kind of vectors that a CPU may have. Results do not depend on the kind: Rust neither
//! fuses nor reorders the arithmetic of floats.
#![allow(unsafe_code, reason = "instructions that not every CPU has")]

/// A loop over many values. `run` and all that it calls must be inlined, or they are compiled for the least of all CPUs.
pub(crate) trait VectorLoop {
    /// Does it.
    fn run(self);
}

/// Does a loop with the widest vectors that this CPU has.
pub(crate) fn run(work: impl VectorLoop) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
            // SAFETY: the CPU has all that the function is compiled for.
            return unsafe { with_avx512(work) };
        }
        if has!("avx2") {
            // SAFETY: as above.
            return unsafe { with_avx2(work) };
        }
    }
    work.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn with_avx512(work: impl VectorLoop) {
    work.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2(work: impl VectorLoop) {
    work.run();
}
