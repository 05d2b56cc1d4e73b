//! The readers of Paddle over a stream: `has_next`, `read_next`, `reset`.
//!
//! A [`Chain`] says which files are read, and how. It becomes the settings of one stream, which does all the work. A
//! [`Reader`] reads that stream, or any other. The state of a reader among its passes is pure (`passes`).

mod chain;
mod dims;
mod passes;

use std::sync::Arc;

use forebay_ring::Layout;
use serde_json::Value;
use thiserror::Error;

use crate::batch::Batch;
use crate::error::{AttachError, Broken, CallError, NextError};
use crate::mapped::Mapped;
use crate::private::PrivateDaemon;
use crate::session::{Next, Session};
use crate::target::{Options, Target};
use crate::watch::Patient;
pub use chain::{Chain, ChainError};
pub use dims::{ColumnAxes, Dims, DimsError};
use passes::Passes;

/// Reads batches one by one.
///
/// A batch counts as consumed when the reader is asked for the next one, by [`has_next`](Self::has_next) or by
/// [`read_next`](Self::read_next).
///
/// ```no_run
/// use std::sync::Arc;
/// use forebay_client::PrivateDaemon;
/// use forebay_client::reader::{Chain, Reader, ReaderError};
///
/// let daemon = Arc::new(PrivateDaemon::new("/usr/bin/forebay"));
/// let chain = Chain::open_files(["/data/train-0.recordio", "/data/train-1.recordio"])?;
/// let chain = chain.with("size", 224).shuffle(1024)?.batch(32)?.multi_pass(90)?.double_buffer()?;
/// let mut reader = Reader::open(&chain, &daemon)?;
/// while reader.has_next()? {
///     let batch = reader.read_next()?;
///     println!("{} pictures, labels {:?}", batch.valid(), batch.labels());
/// }
/// # Ok::<(), ReaderError>(())
/// ```
#[derive(Debug)]
pub struct Reader {
    session: Session,
    passes: Passes,
}

/// Why a reader gives no batch.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReaderError {
    /// The chain asks for what no stream does.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// No stream could be opened.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// See [`NextError`].
    #[error(transparent)]
    Next(#[from] NextError),
    /// See [`CallError`].
    #[error(transparent)]
    Call(#[from] CallError),
    /// See [`Broken`].
    #[error(transparent)]
    Broken(#[from] Broken),
    /// There is no further batch in this pass.
    #[error("the reader is at its end; call reset() to begin the next pass, and has_next() before each read_next()")]
    End,
}

impl Reader {
    /// Opens the files of a chain as a stream of a private daemon.
    ///
    /// # Errors
    /// See [`ReaderError`].
    pub fn open(chain: &Chain, daemon: &Arc<PrivateDaemon>) -> Result<Self, ReaderError> {
        let settings = Value::from(chain.settings()?).to_string();
        let target = Target::Private { daemon: Arc::clone(daemon), number: daemon.number(), settings, files: None };
        let session = Session::attach(target, Options::default(), &mut Patient)?;
        if let Some(ring) = session.rings().next() {
            chain.check(&axes(&ring))?;
        }
        Ok(if chain.has_passes() { Self::across_passes(session) } else { Self::of(session) })
    }

    /// Reads the stream of a session, one pass at a time: after each epoch it is at its end, until it is reset.
    pub fn of(session: Session) -> Self {
        Self { session, passes: Passes::one_by_one() }
    }

    /// Reads all passes of a session's stream as one: it is at its end after the stream's last epoch.
    pub fn across_passes(session: Session) -> Self {
        Self { session, passes: Passes::as_one() }
    }

    /// Whether there is a further batch. Waits until that is known. Asking twice reads nothing more.
    ///
    /// # Errors
    /// See [`ReaderError`]. The next call may succeed where [`Session::next`] says so.
    pub fn has_next(&mut self) -> Result<bool, ReaderError> {
        match self.draw()? {
            Some(batch) => {
                self.session.put_back(&batch)?;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// The next batch.
    ///
    /// # Errors
    /// [`ReaderError::End`] if there is none; else as [`has_next`](Self::has_next).
    pub fn read_next(&mut self) -> Result<Batch, ReaderError> {
        let batch = self.draw()?.ok_or(ReaderError::End)?;
        self.passes.begin();
        Ok(batch)
    }

    /// Begins the next pass. What is left of this one is abandoned, and the audit says so. If nothing of this pass was
    /// read yet, it stays whole.
    ///
    /// # Errors
    /// [`CallError::Failed`] if other trainers are attached to the stream.
    pub fn reset(&mut self) -> Result<(), ReaderError> {
        if self.passes.has_begun() {
            self.session.reset(&mut Patient)?;
        }
        self.passes.reset();
        Ok(())
    }

    /// The session, for its state and its audit. Draw batches from the reader alone.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The next batch, or None at the end.
    fn draw(&mut self) -> Result<Option<Batch>, ReaderError> {
        while !self.passes.is_over() {
            match self.session.next(None, &mut Patient)? {
                Next::Batch(batch) => return Ok(Some(batch)),
                Next::EpochEnd(_) => self.passes.end(),
                Next::Done => self.passes.finish(),
            }
        }
        Ok(None)
    }
}

/// The columns that dims are about: images, labels, and those that the dataset has besides.
fn axes(ring: &Mapped) -> Vec<ColumnAxes> {
    let shape = ring.shape();
    let [height, width, channels] = [shape.height, shape.width, shape.channels].map(Some);
    let images = match shape.layout {
        Layout::Nhwc => [None, height, width, channels],
        Layout::Nchw => [None, channels, height, width],
    };
    let mut columns = vec![ColumnAxes::new("images", images), ColumnAxes::new("labels", [None])];
    columns.extend(ring.columns().fields().iter().map(|field| {
        let of = &field.column_type;
        let open = std::iter::repeat_n(None, 1 + of.depth());
        ColumnAxes::new(&field.name, open.chain(of.dims().iter().copied().map(Some)))
    }));
    columns
}
