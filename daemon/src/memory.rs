//! Memory that is promised before it is taken: what asks for more is compared with what the system has left beside what
//! others may still take of theirs (semantics rule 31).

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

/// Something that was promised memory, and takes it little by little.
pub trait Promisee: Send + Sync {
    /// Bytes that it was promised and has not taken yet.
    fn untaken(&self) -> u64;
}

/// What was promised of the system's memory. One for all that this process takes so.
#[derive(Debug, Default)]
pub struct Promises(Mutex<Vec<Weak<dyn Promisee>>>);

impl Promises {
    /// Promises memory to what `make` makes, which is told how much others may still take, and compares what it needs with
    /// what the system has left beside that. Nobody else is promised anything meanwhile.
    ///
    /// Others are asked first, and the system then: what they take between the two is counted twice rather than not at all.
    ///
    /// # Errors
    /// Those of `make`; nothing is promised then.
    pub fn promise<T: Promisee + 'static, E>(&self, make: impl FnOnce(u64) -> Result<Arc<T>, E>) -> Result<Arc<T>, E> {
        let mut promisees = self.0.lock();
        promisees.retain(|promisee| promisee.strong_count() > 0);
        let untaken = promisees.iter().filter_map(Weak::upgrade).map(|promisee| promisee.untaken()).sum();
        let made = make(untaken)?;
        let promisee: Weak<T> = Arc::downgrade(&made);
        promisees.push(promisee);
        Ok(made)
    }
}
