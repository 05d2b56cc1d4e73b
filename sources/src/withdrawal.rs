//! How the caller of a request tells the source that it no longer waits for the answer.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

/// The end of a request that is no longer wanted. The caller that made the request calls [`withdraw`](Self::withdraw). A
/// source that can stop reading registers for it with [`on_withdrawal`](Self::on_withdrawal), so that the request frees its
/// memory and its connection.
///
/// ```
/// use std::sync::mpsc;
/// use forebay_sources::{Locator, Request};
///
/// let (sender, answers) = mpsc::channel();
/// let request = Request::new(0, 100, Vec::new(), Locator::file("a.jpg"), move |_, read| sender.send(read).unwrap());
/// let withdrawal = request.withdrawal().clone();
/// // A source that keeps its requests, and drops this one when it is withdrawn.
/// request.withdrawal().clone().on_withdrawal(move || drop(request));
/// withdrawal.withdraw();
/// assert!(answers.recv().unwrap().is_err());
/// ```
#[derive(Clone, Default)]
pub struct Withdrawal {
    state: Arc<Mutex<WithdrawalState>>,
}

#[derive(Default)]
struct WithdrawalState {
    is_withdrawn: bool,
    hooks: Vec<Hook>,
}

/// What a source does when a request is withdrawn.
type Hook = Box<dyn FnOnce() + Send>;

impl Withdrawal {
    /// Says that the caller no longer waits for the answer. The source stops its work inside this call, so it must not be
    /// made under a lock that an answer needs.
    pub fn withdraw(&self) {
        let hooks = {
            let mut state = self.state.lock();
            state.is_withdrawn = true;
            std::mem::take(&mut state.hooks)
        };
        for hook in hooks {
            hook();
        }
    }

    /// Calls `hook` when the request is withdrawn, or at once if that has happened already. It must not block.
    pub fn on_withdrawal(&self, hook: impl FnOnce() + Send + 'static) {
        let mut state = self.state.lock();
        if state.is_withdrawn {
            drop(state);
            return hook();
        }
        state.hooks.push(Box::new(hook));
    }
}

impl fmt::Debug for Withdrawal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Withdrawal").field("is_withdrawn", &self.state.lock().is_withdrawn).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn rule_54_a_withdrawn_request_is_told_once_whenever_its_source_asks() {
        let (sender, told) = mpsc::channel();
        let tell = |what: &'static str| {
            let sender = sender.clone();
            move || sender.send(what).unwrap()
        };
        let withdrawal = Withdrawal::default();
        let other = withdrawal.clone();
        withdrawal.on_withdrawal(tell("before"));
        assert_eq!(told.try_iter().count(), 0);
        other.withdraw();
        other.withdraw();
        assert_eq!(told.try_iter().collect::<Vec<_>>(), ["before"]);
        withdrawal.on_withdrawal(tell("behind"));
        assert_eq!(told.try_iter().collect::<Vec<_>>(), ["behind"]);
    }

    #[test]
    fn what_a_withdrawal_ends_may_use_the_withdrawal() {
        let withdrawal = Withdrawal::default();
        let (sender, told) = mpsc::channel();
        let own = withdrawal.clone();
        withdrawal.on_withdrawal(move || own.on_withdrawal(move || sender.send(()).unwrap()));
        withdrawal.withdraw();
        told.try_recv().unwrap();
    }
}
