//! The dataset in short, so that a node with another one is told where the two differ (semantics rule 41).

use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Arc, Weak};
use std::{io, iter};

use forebay_ledger_client::Handle;
use forebay_plan::summary_block;
use forebay_proto::v1::{CompareDatasetReply, CompareDatasetRequest, DatasetSummary, OpenRequest};
use forebay_sources::{Container, Locator, Source};

use crate::stream::Stream;
use crate::threads;

/// Records of the largest dataset of which there is a summary. Making one takes about a microsecond for each.
const LIMIT: u64 = 100_000_000;
/// Records between two looks whether it is still needed.
const STRIDE: u64 = 1 << 16;

/// Leaves a summary with the ledger in the background, if the stream is still there when it is made.
pub(super) fn describe(stream: &Arc<Stream>) {
    let (source, weak) = (Arc::clone(stream.dataset.source()), Arc::downgrade(stream));
    tokio::spawn(async move {
        let is_needed = Weak::clone(&weak);
        let made = beside(source, move || is_needed.strong_count() > 0).await;
        let Some(stream) = weak.upgrade() else { return };
        let said = match made {
            Ok(Some(summary)) => stream.delivery.ledger().describe(summary).await.map_err(|error| error.to_string()),
            Ok(None) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = said {
            tracing::debug!(stream = %stream.identity, error, "the ledger has no summary of the dataset");
        }
    });
}

/// Where a dataset that was refused differs from that of the run, as a sentence. Empty if that is not known.
pub(super) async fn difference(ledgers: &Handle, request: &OpenRequest, source: &Arc<dyn Source>) -> String {
    let ask = async |summary| {
        let records = source.len();
        let fingerprint = source.fingerprint().to_vec();
        let (run, stream) = (request.run.clone(), request.stream.clone());
        ledgers.call(CompareDatasetRequest { run, stream, fingerprint, records, summary }).await
    };
    // What is not known is left out of the refusal. A summary is only made if there is one to compare it with.
    let Ok(CompareDatasetReply { differs: true, .. }) = ask(None).await else { return String::new() };
    let Ok(Some(summary)) = beside(Arc::clone(source), || true).await else { return String::new() };
    let (records, bytes) = (source.len(), summary.bytes);
    let Ok(reply @ CompareDatasetReply { differs: true, .. }) = ask(Some(summary)).await else { return String::new() };
    let found = match reply.first {
        None => "Names, sizes and labels of all records are equal: columns, classes or masks differ.".to_owned(),
        Some(first) => differing(source.as_ref(), first.start..first.end),
    };
    format!(
        " The run's dataset has {} records with {} bytes; this one has {records} records with {bytes} bytes. {found}",
        reply.records, reply.bytes
    )
}

fn differing(source: &dyn Source, first: Range<u64>) -> String {
    let Range { start, end } = first;
    if start >= source.len() {
        return format!("This list ends before record {start} of the run's.");
    }
    let last = end.min(source.len()) - 1;
    format!(
        "The lists differ first in records {start} to {last}, which are {} to {} here.",
        source.locator(start),
        source.locator(last)
    )
}

/// Makes a summary on a thread of its own. Nothing for a dataset that is too large, and when it is needed no more.
async fn beside(
    source: Arc<dyn Source>,
    is_needed: impl Fn() -> bool + Send + 'static,
) -> io::Result<Option<DatasetSummary>> {
    if source.len() > LIMIT {
        return Ok(None);
    }
    threads::beside("forebay-summary", move || summary(source.as_ref(), is_needed)).await
}

fn summary(source: &dyn Source, is_needed: impl Fn() -> bool) -> Option<DatasetSummary> {
    let (mut summary, records) =
        (DatasetSummary { block: summary_block(source.len()), ..DatasetSummary::default() }, source.len());
    for span in members(source) {
        let folder = folder(source, span.clone(), &is_needed)?;
        for record in span {
            if record.is_multiple_of(STRIDE) && !is_needed() {
                return None;
            }
            if record.is_multiple_of(summary.block) {
                summary.sums.push(0);
            }
            summary.bytes = summary.bytes.saturating_add(source.size(record));
            if let Some(sum) = summary.sums.last_mut() {
                *sum = sum.wrapping_add(hash(source, record, folder));
            }
        }
    }
    let is_whole = summary.sums.len() as u64 == records.div_ceil(summary.block);
    (is_whole && source.failure().is_none()).then_some(summary)
}

/// The records of each source of the dataset. Each may be mounted elsewhere.
fn members(source: &dyn Source) -> Vec<Range<u64>> {
    let mut next = 0;
    let spans = source.members().iter().map(|member| {
        let start = next;
        next += member.records;
        start..next
    });
    let spans: Vec<_> = spans.collect();
    if spans.is_empty() { iter::once(0..source.len()).collect() } else { spans }
}

/// How many bytes all containers of these records begin with: the folder that has them, which may be another one on each node.
fn folder(source: &dyn Source, records: Range<u64>, is_needed: &impl Fn() -> bool) -> Option<usize> {
    let mut common: Option<Vec<u8>> = None;
    for record in records {
        if record.is_multiple_of(STRIDE) && !is_needed() {
            return None;
        }
        let locator = source.locator(record);
        let path = container(&locator);
        let known = common.get_or_insert_with(|| path.to_vec());
        let same = known.iter().zip(path).take_while(|(a, b)| a == b).count();
        let end = path[..same].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        known.truncate(end);
    }
    common.map(|common| common.len())
}

fn container(locator: &Locator) -> &[u8] {
    match &locator.container {
        Container::File(path) => path.as_os_str().as_bytes(),
        Container::Object { url, .. } => url.as_bytes(),
    }
}

/// What is known of a record before it is read, with its name below the folder.
fn hash(source: &dyn Source, record: u64, folder: usize) -> u64 {
    let mut locator = source.locator(record);
    if let Container::Object { version, .. } = &mut locator.container {
        // It belongs to the copy of the object, and not to the dataset.
        *version = None;
    }
    let mut hasher = blake3::Hasher::new_derive_key("forebay outline 1");
    hasher.update(&locator.name().as_bytes()[folder..]);
    for number in [record, source.size(record)] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(&source.label(record).to_le_bytes());
    let hash = hasher.finalize();
    hash.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use forebay_sources::ReadError;

    use super::*;

    /// Files of eight bytes.
    #[derive(Debug)]
    struct Paths(Vec<String>);

    impl Source for Paths {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }

        fn classes(&self) -> &[String] {
            &[]
        }

        fn label(&self, _record: u64) -> i64 {
            -1
        }

        fn locator(&self, record: u64) -> Locator {
            Locator::file(&self.0[usize::try_from(record).unwrap()])
        }

        fn size(&self, _record: u64) -> u64 {
            8
        }

        fn read(&self, _record: u64, _room: u64, _buf: &mut Vec<u8>) -> Result<(), ReadError> {
            unreachable!("a summary reads nothing")
        }

        fn fingerprint(&self) -> [u8; 32] {
            [0; 32]
        }

        fn shard_name(&self, _record: u64) -> &'static str {
            "paths"
        }
    }

    fn paths(folder: &str, names: impl Iterator<Item = u32>) -> Paths {
        Paths(names.map(|name| format!("{folder}/{}/{name:05}.jpg", name % 2)).collect())
    }

    fn summarised(source: &Paths) -> DatasetSummary {
        summary(source, || true).unwrap()
    }

    #[test]
    fn rule_41_the_same_files_under_another_folder_have_the_same_summary() {
        let here = summarised(&paths("/data/pictures", 0..3000));
        assert_eq!((here.bytes, here.block, here.sums.len()), (24_000, 4, 750));
        assert_eq!(summarised(&paths("/mnt/7/1", 0..3000)), here);
    }

    #[test]
    fn rule_41_what_is_told_begins_with_the_block_of_the_first_other_file() {
        let (all, lacks) = (paths("/a", 0..3000), paths("/b", (0..3000).filter(|name| *name != 1402)));
        let (of_all, of_lacks) = (summarised(&all), summarised(&lacks));
        let first = of_all.sums.iter().zip(&of_lacks.sums).position(|(a, b)| a != b).unwrap();
        assert_eq!(first, 1402 / 4);
        let said = differing(&lacks, 1400..1404);
        assert_eq!(
            said,
            "The lists differ first in records 1400 to 1403, which are /b/0/01400.jpg to /b/0/01404.jpg here."
        );
        assert_eq!(differing(&lacks, 2999..3000), "This list ends before record 2999 of the run's.");
    }

    #[test]
    fn an_summary_that_nobody_needs_any_more_is_not_finished() {
        assert_eq!(summary(&paths("/a", 0..3), || false), None);
    }
}
