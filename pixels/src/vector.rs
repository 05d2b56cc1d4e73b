//! Loops that are compiled once more for each kind of vectors that a CPU may have. Results do not depend on the kind: Rust neither
//! fuses nor reorders the arithmetic of floats.
#![allow(unsafe_code, reason = "instructions that not every CPU has")]

/// What loops are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "other CPUs have vectors of their own at once"))]
pub(crate) enum Vectors {
    /// All CPUs of this architecture.
    Plain,
    Avx2,
    /// AVX-512 with bytes and words.
    Avx512,
}

/// A loop over many values. `run` and all that it calls must be inlined, or they are compiled for the least of all CPUs.
pub(crate) trait VectorLoop {
    /// Does it.
    fn run(self);
}

impl Vectors {
    /// The widest that this CPU has.
    pub(crate) fn widest() -> Self {
        #[cfg(test)]
        return Self::of_this_cpu().min(tests::MOST.get());
        #[cfg(not(test))]
        Self::of_this_cpu()
    }

    fn of_this_cpu() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
                return Self::Avx512;
            }
            if has!("avx2") {
                return Self::Avx2;
            }
        }
        Self::Plain
    }
}

/// Does a loop with the widest vectors that this CPU has.
pub(crate) fn run(work: impl VectorLoop) {
    match Vectors::widest() {
        // SAFETY: the CPU has all that the function is compiled for.
        #[cfg(target_arch = "x86_64")]
        Vectors::Avx512 => unsafe { with_avx512(work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Vectors::Avx2 => unsafe { with_avx2(work) },
        _ => work.run(),
    }
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

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use super::Vectors;

    thread_local! {
        /// What a test allows this thread.
        pub(super) static MOST: Cell<Vectors> = const { Cell::new(Vectors::Avx512) };
    }

    /// What some work gives with each kind of vectors that this CPU has.
    pub(crate) fn with_each<T>(work: impl Fn() -> T) -> Vec<(Vectors, T)> {
        let kinds = [Vectors::Plain, Vectors::Avx2, Vectors::Avx512];
        let found = kinds.into_iter().filter(|kind| *kind <= Vectors::of_this_cpu());
        let made = found.map(|kind| {
            MOST.set(kind);
            (kind, work())
        });
        let made = made.collect();
        MOST.set(Vectors::Avx512);
        made
    }
}
