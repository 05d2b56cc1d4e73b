//! Lists that are too long for one message travel as pages; here their ends meet again.

use prost::Message;

use crate::v1::{AuditReply, Progress, QuarantineKey, QuarantinedRecord};

/// How many bytes of entries a page has at most, far below what gRPC takes as one message (4 MiB).
const PAGE: usize = 1 << 20;

/// Takes entries until a page is full, and says whether some are left. A page has at least one entry where there is one.
pub fn page<T: Message>(entries: impl Iterator<Item = T>) -> (Vec<T>, bool) {
    let mut entries = entries.peekable();
    let mut page = Vec::new();
    let mut room = PAGE;
    while let Some(entry) = entries.next_if(|entry| page.is_empty() || entry.encoded_len() <= room) {
        room = room.saturating_sub(entry.encoded_len());
        page.push(entry);
    }
    (page, entries.peek().is_some())
}

impl AuditReply {
    /// The first epoch of the page after this one; nothing where this is the last.
    pub fn next_epoch(&self) -> Option<u64> {
        let of_run = self.run.iter().flat_map(|run| &run.epochs);
        self.epochs.iter().chain(of_run).filter(|_| self.more).map(|tally| tally.epoch + 1).max()
    }

    /// Takes the next page in.
    ///
    /// The ledger may go on between two pages. An epoch counts as complete only where it was in all of them: its tally
    /// here may be older than the newest page.
    pub fn append(&mut self, page: Self) {
        let Self {
            spec,
            epochs,
            progress,
            more,
            grains,
            recoveries,
            begins,
            total_epochs,
            ends,
            run,
            has_ended,
            classes,
            selected,
        } = page;
        self.spec = spec.or_else(|| self.spec.take());
        self.grains = grains.or_else(|| self.grains.take());
        self.classes = classes.or_else(|| self.classes.take());
        self.selected = selected.or_else(|| self.selected.take());
        self.begins.extend(begins);
        self.epochs.extend(epochs);
        self.recoveries.extend(recoveries);
        self.more = more;
        self.total_epochs = total_epochs;
        self.ends = ends;
        self.has_ended = has_ended;
        match (&mut self.run, run) {
            (Some(run), Some(page)) => {
                run.epochs.extend(page.epochs);
                run.floor = run.floor.min(page.floor);
                run.segments = page.segments;
            }
            (run, page) => *run = run.take().or(page),
        }
        if let (Some(Progress { floor, .. }), Some(later)) = (&mut self.progress, progress) {
            *floor = later.floor.min(*floor);
        } else {
            self.progress = progress.or(self.progress);
        }
    }
}

impl QuarantinedRecord {
    /// Its place in the list.
    pub fn key(&self) -> QuarantineKey {
        QuarantineKey { epoch: self.epoch, record: self.record }
    }
}

#[cfg(test)]
mod tests {
    use crate::v1::EpochTally;

    use super::*;

    fn bad(record: u64, reason: usize) -> QuarantinedRecord {
        QuarantinedRecord { record, reason: "x".repeat(reason), ..Default::default() }
    }

    #[test]
    fn pages_hold_every_entry_once_and_none_is_longer_than_a_page() {
        let all: Vec<QuarantinedRecord> = (0..5000).map(|record| bad(record, 1000)).collect();
        let (mut seen, mut more, mut pages) = (Vec::new(), true, 0);
        while more {
            let entries;
            (entries, more) = page(all[seen.len()..].iter().cloned());
            assert!(entries.iter().map(Message::encoded_len).sum::<usize>() <= PAGE);
            seen.extend(entries);
            pages += 1;
        }
        assert_eq!((seen, pages), (all, 5));
    }

    #[test]
    fn an_entry_that_is_longer_than_a_page_is_a_page_by_itself() {
        let (entries, more) = page([bad(1, PAGE + 1), bad(2, 1)].into_iter());
        assert_eq!((entries.len(), more), (1, true));
        assert_eq!(page(std::iter::empty::<QuarantinedRecord>()), (Vec::new(), false));
    }

    #[test]
    fn an_epoch_is_complete_only_where_it_was_in_every_page() {
        let reply = |floor, epochs: &[u64], more| AuditReply {
            epochs: epochs.iter().map(|&epoch| EpochTally { epoch, ..Default::default() }).collect(),
            progress: Some(Progress { floor, ..Default::default() }),
            more,
            ..Default::default()
        };
        let mut audit = reply(3, &[0, 1], true);
        assert_eq!(audit.next_epoch(), Some(2));
        audit.append(reply(5, &[2, 3, 4], false));
        assert_eq!((audit.next_epoch(), audit.progress.unwrap().floor), (None, 3));
        assert_eq!(audit.epochs.iter().map(|tally| tally.epoch).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    }
}
