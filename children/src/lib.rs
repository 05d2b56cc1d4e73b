//! Child processes of the daemon. There is one kind of child, and its programs are on top of it: readers in Python (semantics
//! rule 55) in `formats`, what makes suspects (rule 9) and what calls steps in Python (rule 59) in `pipeline`.
//!
//! A [`ChildCommand`] starts a [`ChildProcess`], in a process group of its own. The child has three descriptors: a socket to the
//! daemon as its input, the reading end of a pipe that closes with the daemon as its output, and as its error output a pipe
//! whose lines go into the log. The daemon asks over a [`Channel`], and the child answers in frames. Each wait of the daemon
//! has an end ([`Patience`]). Large answers may come through a [`LentMemory`]. An
//! [`Arena`] has large parts of requests and of answers at fixed places. A [`PeerProcess`] is no child, but is asked as one.
//!
//! One thread watches all children: it passes on their lines, and reaps them. No other thread waits for the end of a child.
#![forbid(unsafe_code)]

mod arena;
mod channel;
mod child;
mod command;
mod frame;
mod lent_memory;
mod lines;
mod patience;
mod peer;
pub mod program;
mod python;
mod refill;
mod watcher;

pub use arena::Arena;
pub use channel::{Channel, Silence};
pub use child::ChildProcess;
pub use command::ChildCommand;
pub use frame::FrameHead;
pub use lent_memory::LentMemory;
pub use patience::Patience;
pub use peer::PeerProcess;
pub use python::PythonModule;
pub use refill::Refill;
pub use watcher::ChildCounts;
