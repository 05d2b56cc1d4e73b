//! Defines a dataset: the trait [`Source`], how a dataset is opened, and the errors of a dataset or of one of its
//! records. The sources themselves are in `forebay-formats`.
#![forbid(unsafe_code)]

mod backoff;
mod condition;
mod disk_cache;
mod error;
mod grains;
mod locator;
mod member;
mod object_roots;
mod options;
mod oversight;
mod parts;
mod point_files;
mod pulse;
mod read_error;
mod reading;
mod request;
mod selection;
mod sizes;
mod withdrawal;

use std::fmt;

use forebay_columns::Table;

pub use backoff::Backoff;
pub use condition::{Condition, ConditionError};
pub use disk_cache::DiskCache;
pub use error::{LineProblem, SourceError};
pub use grains::Grains;
pub use locator::{Container, Locator, Part};
pub use member::Member;
pub use object_roots::{ObjectRoots, is_straight};
pub use options::{ColumnMap, IndexChoice, Labels, Options, OwnOptions, ReaderFolders};
pub use oversight::{MOST_EXAMPLES, Oversight, OversightKind};
pub use parts::{MaskColumn, RecordParts};
pub use point_files::{PointFiles, PointsAbout};
pub use pulse::{Pulse, Pulses};
pub use read_error::{ReadError, ReadErrorKind, Retry};
pub use reading::Reading;
pub use request::Request;
pub use selection::Selection;
pub use sizes::{PictureSize, SizeColumns, Sizes};
pub use withdrawal::Withdrawal;

/// An ordered, fingerprinted list of records, numbered `0..len()`.
///
/// The contract, which the suite of `forebay-formats` checks on every implementation:
///
/// * A source is read by many threads at once; nothing but [`read`](Self::read) blocks or touches a disk.
/// * [`read`](Self::read) and [`request`](Self::request) give the same of a record. Both may always be called, whatever
///   [`reading`](Self::reading) says.
/// * The order, labels and classes never change while it is open, and are the same each time the same dataset is
///   opened, on whatever machine.
/// * Record numbers come from the plan, which knows `len()`: a number beyond it is a mistake of the caller and panics.
/// * What is wrong with one record is an error of `read`, never of opening.
/// * What is wrong with more than the record (the system, the storage, the whole dataset) is an outage: its
///   error says [`Retry::Later`].
pub trait Source: fmt::Debug + Send + Sync {
    /// Number of records; never 0.
    fn len(&self) -> u64;

    /// What makes the whole dataset useless from now on, if something was found: sentences that name the file and say what to
    /// do. It is no record's fault. Whatever the dataset has said of a record may be wrong, unless there was no failure behind
    /// it. Once there is one, there always is.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Always false: a dataset without records is not opened.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Names of the classes, if labels or the column `classes` are indices into this list. Otherwise empty.
    fn classes(&self) -> &[String];

    /// The record's label, or -1 if the dataset has no labels.
    fn label(&self, record: u64) -> i64;

    /// Where the record is read from, as an error or the quarantine names it.
    fn locator(&self, record: u64) -> Locator;

    /// The record's size in bytes, as far as it is known without reading the record. The prefetch budget uses it.
    fn size(&self, record: u64) -> u64;

    /// Replaces the contents of `buf` with the record's stored bytes, at most `room` of them. If the record is larger
    /// now, the error is [`ReadErrorKind::Larger`], and no memory is allocated for it. Blocks; called from prefetch
    /// threads. After an error, `buf` is empty. If the dataset has masks, the bytes are [`RecordParts`].
    ///
    /// `buf` may have the bytes of another record, more or fewer of them, and room for more. Its length is the source's to set.
    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError>;

    /// How records are read ahead.
    fn reading(&self) -> Reading {
        Reading::Threads
    }

    /// Requests what [`read`](Self::read) gives, and answers the request when it is there.
    ///
    /// A source whose [`reading`](Self::reading) is [`Reading::Requests`] returns at once from this call, and answers from
    /// a thread of its own. It may answer before the call returns if it has the record. It gives up what takes too long and
    /// answers with an outage. It does not need to repeat a request after an outage: its caller does, after pauses that
    /// grow. If the request is withdrawn, it stops reading and drops the request. No other source has to implement this: by
    /// default, the call reads and answers.
    fn request(&self, mut request: Request) {
        let read = self.read(request.record, request.room, &mut request.buf);
        request.answer(read);
    }

    /// 32 bytes over the paths, sizes, labels and targets of all records, in order (semantics rule 2).
    fn fingerprint(&self) -> [u8; 32];

    /// The columns that the dataset has beside pictures and labels, with the values of all records.
    fn targets(&self) -> &Table {
        const { &Table::EMPTY }
    }

    /// Takes these columns out of the dataset, for a source that puts others in their place. From then on, the dataset may have
    /// none.
    fn take_targets(&mut self) -> Table {
        self.targets().clone()
    }

    /// The masks that records may have, which are read with them.
    fn masks(&self) -> &[MaskColumn] {
        &[]
    }

    /// Which records are read at once.
    fn grains(&self) -> Grains<'_> {
        Grains::Records
    }

    /// The records that are read, if not all of them are (semantics rule 66). They have the numbers that they have in the dataset, and
    /// all else of the dataset is as it is without a selection.
    fn selection(&self) -> Option<&Selection> {
        None
    }

    /// The sources that the dataset is made of, if several were put together. Their records follow each other.
    fn members(&self) -> &[Member] {
        &[]
    }

    /// The seek points of the dataset's pictures, if an index has them. What they say of a record is a hint: it may be missing,
    /// or of what the record was before.
    fn point_files(&self) -> PointFiles {
        PointFiles::default()
    }

    /// The sizes of the dataset's pictures, if an index or a column has them. A record's file may have another size by now.
    fn sizes(&self) -> Sizes {
        Sizes::default()
    }

    /// Replaces the contents of `buf` with the first bytes of what [`read`](Self::read) gives: at least so many, if there are
    /// so many. Errors are those of `read`, which the default calls. Sources that read records one by one read less.
    fn read_head(&self, record: u64, _most: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        self.read(record, u64::MAX, buf)
    }

    /// What the dataset has beside its records that is not used, as far as it was found when the records were.
    fn oversights(&self) -> Vec<Oversight> {
        Vec::new()
    }

    /// The shard that the record belongs to, under the name that the user knows: the CSV file or the folder.
    fn shard_name(&self, record: u64) -> &str;
}
