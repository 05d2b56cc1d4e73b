//! The segments of a lockstep run: how many ranks read the run, and from which step on (semantics rule 40). Pure.
//!
//! Each segment has ledgers of its own. A load with another number of ranks begins a segment, and ends the one before it.

use forebay_proto::v1::{LockstepSegment, StoredSegments};

/// Layout of the document.
const VERSION: u32 = 1;

/// The segments of one run of a stream, by rising step and generation. There is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments(Vec<LockstepSegment>);

/// What has become of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentEnd {
    /// The run is in this segment.
    Current,
    /// The run continued before this step of this epoch, with another number of ranks.
    Before(u64, u64),
    /// A state from before its beginning was loaded, so nothing in it counts. Or the run was never in it.
    Void,
}

impl Segments {
    /// Of a run that `world_size` ranks begin.
    pub fn of(world_size: u32) -> Self {
        Self(vec![LockstepSegment { epoch: 0, step: 0, world_size, generation: 1 }])
    }

    /// Reads a document. Returns nothing if no build can have written it.
    pub fn from_stored(stored: &StoredSegments) -> Option<Self> {
        let rises = |a: &LockstepSegment, b: &LockstepSegment| a.generation < b.generation && place(a) < place(b);
        let good = stored.version == VERSION && !stored.segments.is_empty() && stored.segments.is_sorted_by(rises);
        let possible = stored.segments.iter().all(|segment| segment.generation > 0 && segment.world_size > 0);
        (good && possible).then(|| Self(stored.segments.clone()))
    }

    /// The document that keeps them.
    pub fn stored(&self) -> StoredSegments {
        StoredSegments { version: VERSION, segments: self.0.clone() }
    }

    /// All of them.
    pub fn all(&self) -> &[LockstepSegment] {
        &self.0
    }

    /// The one that the run is in.
    pub fn current(&self) -> &LockstepSegment {
        self.0.last().expect("there is at least one")
    }

    /// The generation to which ranks of this number belong: the current one, or that of the segment that they may begin.
    pub fn generation_of(&self, world_size: u32) -> u64 {
        let LockstepSegment { world_size: current, generation, .. } = *self.current();
        if world_size == current { generation } else { generation + 1 }
    }

    /// The segment in which a state before this step was taken, if it is one of the run.
    pub fn at(&self, epoch: u64, step: u64) -> Option<&LockstepSegment> {
        self.0.iter().rev().find(|segment| place(segment) <= (epoch, step))
    }

    /// One of `world_size` ranks has loaded a state of another run before this step. The account of the run begins there.
    pub fn begin_again(&mut self, world_size: u32, epoch: u64, step: u64) {
        let generation = self.generation_of(world_size);
        self.0 = vec![LockstepSegment { epoch, step, world_size, generation }];
    }

    /// One of `world_size` ranks has loaded a state before this step. The run continues there, in a new segment if the
    /// number of ranks has changed. If `again` is set, the rank's account begins there, whatever its segment had before.
    pub fn continue_run(&mut self, world_size: u32, epoch: u64, step: u64, again: bool) {
        let generation = self.generation_of(world_size);
        let own = self.0.pop_if(|last| last.generation == generation);
        let begins = own.filter(|own| !again && place(own) < (epoch, step)).map_or((epoch, step), |own| place(&own));
        self.0.retain(|segment| place(segment) < begins);
        self.0.push(LockstepSegment { epoch: begins.0, step: begins.1, world_size, generation });
    }

    /// What has become of the segment with this generation, of `world_size` ranks.
    pub fn end_of(&self, generation: u64, world_size: u32) -> SegmentEnd {
        let is_it = |segment: &LockstepSegment| (segment.generation, segment.world_size) == (generation, world_size);
        match self.0.iter().position(is_it) {
            None => SegmentEnd::Void,
            Some(at) => {
                self.0.get(at + 1).map_or(SegmentEnd::Current, |next| SegmentEnd::Before(next.epoch, next.step))
            }
        }
    }
}

/// A number of ranks in words.
pub fn ranks(world_size: u32) -> String {
    if world_size == 1 { "1 rank".to_owned() } else { format!("{world_size} ranks") }
}

/// Where a segment begins.
const fn place(segment: &LockstepSegment) -> (u64, u64) {
    (segment.epoch, segment.step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(segments: &Segments) -> Vec<(u64, u64, u32, u64)> {
        segments.all().iter().map(|s| (s.epoch, s.step, s.world_size, s.generation)).collect()
    }

    #[test]
    fn rule_40_another_number_of_ranks_begins_a_segment_and_the_same_one_continues_in_its_own() {
        let mut run = Segments::of(4);
        run.continue_run(4, 0, 3, false);
        assert_eq!(places(&run), [(0, 0, 4, 1)]);
        assert_eq!((run.generation_of(4), run.generation_of(2)), (1, 2));
        run.continue_run(2, 0, 5, true);
        assert_eq!(places(&run), [(0, 0, 4, 1), (0, 5, 2, 2)]);
        assert_eq!(run.end_of(1, 4), SegmentEnd::Before(0, 5));
        assert_eq!(run.end_of(2, 2), SegmentEnd::Current);
        // Another number of ranks wanted the same segment, and came too late.
        assert_eq!(run.end_of(2, 8), SegmentEnd::Void);
        run.continue_run(2, 1, 0, false);
        assert_eq!(places(&run), [(0, 0, 4, 1), (0, 5, 2, 2)]);
        // The first number of ranks comes back, and begins a segment of its own.
        run.continue_run(4, 1, 2, true);
        assert_eq!(places(&run), [(0, 0, 4, 1), (0, 5, 2, 2), (1, 2, 4, 3)]);
        assert_eq!(Segments::from_stored(&run.stored()), Some(run));
    }

    #[test]
    fn rule_40_a_state_from_before_a_segment_voids_it() {
        let mut run = Segments::of(4);
        run.continue_run(2, 0, 5, true);
        // The same ranks return to a step before their own beginning.
        run.continue_run(2, 0, 2, true);
        assert_eq!(places(&run), [(0, 0, 4, 1), (0, 2, 2, 2)]);
        assert_eq!(run.end_of(1, 4), SegmentEnd::Before(0, 2));
        run.continue_run(4, 0, 1, true);
        assert_eq!(places(&run), [(0, 0, 4, 1), (0, 1, 4, 3)]);
        assert_eq!(run.end_of(2, 2), SegmentEnd::Void);
        run.continue_run(1, 0, 0, true);
        assert_eq!(places(&run), [(0, 0, 1, 4)]);
    }

    #[test]
    fn a_document_that_no_build_wrote_is_refused() {
        let good = Segments::of(4).stored();
        let second = LockstepSegment { epoch: 0, step: 5, world_size: 2, generation: 2 };
        let with = |segments: &[LockstepSegment]| StoredSegments { segments: segments.to_vec(), ..good.clone() };
        assert!(Segments::from_stored(&with(&[good.segments[0], second])).is_some());
        for bad in [
            with(&[]),
            with(&[second, good.segments[0]]),
            with(&[second, second]),
            with(&[LockstepSegment { world_size: 0, ..second }]),
            with(&[LockstepSegment { generation: 0, ..second }]),
            StoredSegments { version: 2, ..good.clone() },
        ] {
            assert_eq!(Segments::from_stored(&bad), None, "{bad:?}");
        }
    }
}
