//! How the records of a source are read ahead: by threads that wait, or by many requests without waiting threads.

/// How the records of a source are read ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// Each read is a call of [`read`](crate::Source::read), for which a thread waits. Choose it for files.
    #[default]
    Threads,
    /// Each read is a call of [`request`](crate::Source::request), for which no thread waits. Choose it for storage that
    /// answers slowly, but many requests at a time.
    Requests {
        /// The most requests that the source makes use of at a time. A setting may allow fewer.
        most: usize,
    },
}
