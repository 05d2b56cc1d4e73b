//! A lease that is out: which of it was made, and how many deaths in a row the rest has been through (semantics rule 9).

use std::ops::Range;

use super::LeaseOut;

impl LeaseOut {
    /// What is open of it, each part with the deaths in a row that it has been through.
    pub(super) fn parts(&self) -> impl Iterator<Item = (Range<u64>, u32)> {
        let deaths = self.lease.deaths;
        let parts = self.open.iter().flat_map(|span| self.made.parts(&span).collect::<Vec<_>>());
        parts.map(move |(part, is_made)| (part, if is_made { 0 } else { deaths }))
    }

    /// Whether all of a part is in finished batches.
    pub(super) fn is_made(&self, part: &Range<u64>) -> bool {
        self.is_settled || self.made.parts(part).all(|(_, is_made)| is_made)
    }

    /// Notes that these positions are in a finished batch. Answers whether that was news.
    pub(super) fn note_made(&mut self, positions: &Range<u64>) -> bool {
        if self.lease.deaths == 0 {
            return false;
        }
        let inside = self.open.parts(positions).filter(|(_, is_open)| *is_open);
        let new: Vec<_> = inside.flat_map(|(part, _)| self.made.parts(&part).collect::<Vec<_>>()).collect();
        let mut is_news = false;
        for (part, _) in new.into_iter().filter(|(_, is_made)| !is_made) {
            self.made.insert(part);
            is_news = true;
        }
        is_news
    }

    /// Takes positions out that are not open any more. Gives the deaths in a row that they have been through.
    pub(super) fn take_deaths(&mut self, positions: &Range<u64>) -> u32 {
        let deaths = if self.is_made(positions) { 0 } else { self.lease.deaths };
        self.made.cut(positions);
        deaths
    }
}
