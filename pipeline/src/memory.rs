//! Memory that is promised before it is used. A new request is compared with what the system has left, less what
//! earlier promises may still use (semantics rule 31).

use std::io;
use std::sync::{Arc, Weak};

use forebay_ring::{Memory, TooLittle};
use parking_lot::Mutex;

/// An object that was promised memory, and uses it gradually.
pub trait Promisee: Send + Sync {
    /// Bytes that were promised and are not used yet.
    fn untaken(&self) -> u64;
}

/// The promises of the system's memory. A process has one such list.
#[derive(Debug, Default)]
pub struct Promises(Mutex<Vec<Weak<dyn Promisee>>>);

/// What the system has left in addition to what was promised.
pub(crate) fn beside(system: Memory, promised: u64) -> Memory {
    let Memory { available, mut limited_by } = system;
    if promised > 0 {
        limited_by += ", less what caches and other rings may still take,";
    }
    Memory { available: available.saturating_sub(promised), limited_by }
}

impl Promises {
    /// Reserves memory for what `make` builds. `make` gets the number of bytes that others were promised and may still
    /// take. It must compare its need with what the system has left beside those. No other promise is made meanwhile.
    ///
    /// The promises are counted first, and the system's free memory is read afterwards. So bytes that others take between
    /// the two are counted twice, but never missed.
    ///
    /// # Errors
    /// Those of `make`. Then nothing is promised.
    pub fn promise<T: Promisee + 'static, E>(&self, make: impl FnOnce(u64) -> Result<Arc<T>, E>) -> Result<Arc<T>, E> {
        let mut promisees = self.0.lock();
        let made = make(untaken(&mut promisees))?;
        let promisee: Weak<T> = Arc::downgrade(&made);
        promisees.push(promisee);
        Ok(made)
    }

    /// Makes something that takes so much memory at once, if the system has it in addition to what was promised.
    ///
    /// # Errors
    /// The system cannot be asked. The inner error says that it has too little memory, and nothing is made.
    pub fn take<T>(
        &self,
        bytes: u64,
        system: impl FnOnce() -> io::Result<Memory>,
        make: impl FnOnce() -> T,
    ) -> io::Result<Result<T, TooLittle>> {
        let mut promisees = self.0.lock();
        let untaken = untaken(&mut promisees);
        Ok(beside(system()?, untaken).check(bytes).map(|()| make()))
    }
}

/// What was promised and not taken yet, by all promisees that still exist.
fn untaken(promisees: &mut Vec<Weak<dyn Promisee>>) -> u64 {
    promisees.retain(|promisee| promisee.strong_count() > 0);
    promisees.iter().filter_map(Weak::upgrade).map(|promisee| promisee.untaken()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Promised(u64);

    impl Promisee for Promised {
        fn untaken(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn rule_31_what_is_taken_at_once_is_compared_with_what_is_left_beside_what_was_promised() {
        let promises = Promises::default();
        let system = || Ok(Memory { available: 100, limited_by: "the test".into() });
        let take = |bytes| promises.take(bytes, system, || bytes).unwrap();
        assert_eq!(take(100), Ok(100));
        let promised = promises.promise(|_| Ok::<_, ()>(Arc::new(Promised(30)))).unwrap();
        assert_eq!(take(70), Ok(70));
        let refused = take(71).unwrap_err();
        assert_eq!((refused.needed, refused.available), (71, 70));
        drop(promised);
        assert_eq!(take(100), Ok(100));
    }
}
