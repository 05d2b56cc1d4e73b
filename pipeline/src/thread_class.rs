//! The scheduling class of threads that read and decode. It gives trainers priority over them (semantics rule 32).

use thread_priority::ThreadPriority;
use thread_priority::unix::{
    NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};

/// Makes the calling thread `SCHED_BATCH` with nice 10. Where the system refuses, it stays as it is: only others' speed
/// depends on it.
pub(crate) fn background() {
    let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Batch);
    let batch = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy);
    let nice = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 10);
    if batch.is_err() || nice.is_err() {
        tracing::debug!(?batch, ?nice, "the thread keeps its scheduling class");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_32_threads_that_read_and_decode_give_way_and_others_stay() {
        let nice = || rustix::process::getpriority_process(Some(rustix::thread::gettid())).unwrap();
        let before = nice();
        let theirs = std::thread::spawn(move || {
            background();
            (nice(), thread_priority::unix::thread_schedule_policy().unwrap())
        });
        let batch = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Batch);
        assert_eq!(theirs.join().unwrap(), (10.max(before), batch));
        assert_eq!(nice(), before);
    }
}
